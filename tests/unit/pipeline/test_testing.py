"""What a test of a case finds: its verdict with the first failed check, and its pin, each as a finding at a place."""

import pytest

from specledger.kinds import load
from specledger.pipeline.testing import find_failures
from tests.toys import CLIMB

NAME = "climb.yaml:2:7"
LOW = "governor.invariants.bounded.with.top=0"
BROKEN = 'climb is FAIL: invariant/bounded failed 2 of 2 times, first in episode 0, step 0: broken {"n":1}'

VERDICTS = {
    "a pass": ([], []),
    "a broken invariant": ([LOW], [("E_TEST_VERDICT", BROKEN, "bounded.yaml:5:10")]),
    "one that is broken later": (
        ["governor.invariants.bounded.with.top=1"],
        [("E_TEST_VERDICT", BROKEN.replace("2 of 2", "2 of 4").replace("step 0", "step 1").replace(":1}", ":2}"), "bounded.yaml:5:10")],
    ),
    "no progress": (
        ["governor.with.stamina=1"],
        [("E_TEST_VERDICT", 'climb is FAIL: progress failed 4 of 6 times, first in episode 0, step 1: nothing was admitted {"step_1":["too_tired","too_far"]}', NAME)],
    ),
    "nothing that was checked": (
        ["governor.invariants=[]"],
        [("E_TEST_VERDICT", "climb is INCONCLUSIVE: no check failed, and too little was checked", NAME)],
    ),
    "an error": (
        ["governor.with.dread=2"],
        [("E_TEST_VERDICT", "climb is ERROR: evaluation, 6 errors, the first E_EVAL_DIVISION_BY_ZERO 1 / (DREAD - next.n) > 1 (governor/warden gates.3.deny), first in episode 0, step 0: E_EVAL_DIVISION_BY_ZERO 1 / (DREAD - next.n) > 1", NAME)],
    ),
}  # fmt: skip


def found(*sets, **options):
    (bundle,) = load(CLIMB / "climb.yaml", set=list(sets))
    return [(one.code, one.message, str(one.span).rpartition("/")[2]) for one in find_failures(bundle, **options)]


@pytest.mark.parametrize(("sets", "findings"), VERDICTS.values(), ids=VERDICTS)
def test_a_verdict_that_is_no_pass_is_told_by_its_first_failed_check(sets, findings):
    assert found(*sets) == findings


def test_a_trusted_case_that_asks_nobody_is_tested_as_any_other(tmp_path):
    assert found(LOW, trusted=True) == [("E_TEST_VERDICT", BROKEN, "bounded.yaml:5:10")]
    assert [code for code, *_ in found(goldens=tmp_path, trusted=True)] == ["E_GOLDEN_DIFFERS"]


@pytest.mark.medium
def test_a_pin_is_compared_and_written_only_if_it_shall_be(tmp_path):
    missing = ("E_GOLDEN_DIFFERS", "climb: nothing is pinned yet", NAME)
    assert found(goldens=tmp_path) == [missing]
    assert list(tmp_path.iterdir()) == []
    assert found(goldens=tmp_path, update=True) == []
    assert sorted(file.name for file in tmp_path.iterdir()) == ["climb.json", "climb.jsonl"]
    assert found(goldens=tmp_path) == []
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    changed = "changed specs: scenario/climb; receipt 0 differs at body.seed: recorded 3, replayed 4"
    assert found("seed=4", goldens=tmp_path) == [("E_GOLDEN_DIFFERS", f"climb: {changed}", NAME)]
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before
    assert found("seed=4", goldens=tmp_path, update=True) == []
    assert found("seed=4", goldens=tmp_path) == []


def test_a_difference_and_a_verdict_are_both_told_and_a_written_pin_hides_no_verdict(tmp_path):
    assert [code for code, *_ in found(LOW, goldens=tmp_path)] == ["E_GOLDEN_DIFFERS", "E_TEST_VERDICT"]
    assert [code for code, *_ in found(LOW, goldens=tmp_path, update=True)] == ["E_TEST_VERDICT"]


def test_how_to_accept_is_the_hint_of_a_difference_alone(tmp_path):
    (bundle,) = load(CLIMB / "climb.yaml", set=[LOW])
    failures = find_failures(bundle, tmp_path, accept="spec golden --update")
    assert [failure.hint for failure in failures] == ["to accept it: spec golden --update", None]
