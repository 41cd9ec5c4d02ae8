"""Which constants of a spec are changed, and to what; and a few of them against the rows that state them."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.profile_constants import constants, line_of, other
from tools.profile_facts import Facts
from tools.profile_mutation import LATE, NEITHER, PROFILES, RUN, attempt, recorded
from tools.profile_notices import Place, is_about, noticed, place_of, reason_for, reasons, write
from tools.profile_witnesses import LIMIT, Witness, noticed_by, rows_of, witnesses

EXPIRY = ["--profiles", "toy-pseudo-axion", "--controls", "expiry", "--files", "specs/governor/axion-kernel.yaml"]
ROOT = Path(__file__).parents[3]

SPEC = """
spec: suite/v1
doc: 3 of 4
constants: {MOST: 200, SHARE: {qfixed: 0.05}, ON: true}
checks:
  - {id: at-1, require: "f.value >= 7 && x1 != 'v2'", message: after 9}
  - require: >-
      size(a) == 0 ||
      a[12] < 1.50
map: {drawing: "#1#", name: n 1}
"""


def test_numbers_and_truth_values_are_changed_and_words_are_not():
    found = constants(SPEC)
    assert [one.old for one in found] == ["200", "0.05", "true", "7", "0", "12", "1.50"]
    assert all(SPEC[one.start : one.end] == one.old for one in found)
    assert line_of(SPEC, found[-1]).text == "a[12] < 1.50"


@pytest.mark.parametrize(
    ("said", "changed"),
    [("0", "1"), ("1", "2"), ("200", "400"), ("0.05", "0.10"), ("0.0", "1.0"), ("true", "false"), ("false", "true")],
)
def test_a_changed_constant_is_another_one(said, changed):
    assert other(said) == changed


def test_a_constant_is_found_again_by_its_line_and_column():
    twice = "a: 1\nb: {least: 16}\nc: {d: 2}\nb: {least: 16}\n"
    places = [place_of("specs/a.yaml", twice, one) for one in constants(twice)]
    assert [(place.line, place.occurrence, place.column) for place in places] == [
        ("a: 1", 0, 3),
        ("b: {least: 16}", 0, 11),
        ("c: {d: 2}", 0, 7),
        ("b: {least: 16}", 1, 11),
    ]


def test_a_reason_is_about_the_constants_that_its_expression_holds():
    known = [{"file": "specs/a/*", "matches": r"most: \d+", "reason": "a bound"}]
    line = "{least: 1, most: 3}"
    least, most = (place_of("specs/a/b.yaml", line, one) for one in constants(line))
    assert (reason_for(least, known), reason_for(most, known)) == ("", "a bound")
    assert reason_for(most._replace(file="specs/b/b.yaml"), known) == ""


def test_what_noticed_a_constant_is_read_as_it_was_written(monkeypatch, tmp_path):
    monkeypatch.setattr("tools.profile_notices.NOTICED", tmp_path / "noticed.yaml")
    known = {
        Place("specs/a.yaml", "x: 'a: \"b\" # 1'", 0, 3): "tests/a.py::test_a",
        Place("specs/a.yaml", "x: 2", 1, 3): "evidence of hazard: clatl-plan v-task receipts/v-task.1",
    }
    write(known)
    assert noticed() == known


def every_place():
    """The places of all constants of the specs that profiles are about."""
    for file in Facts(ROOT, PROFILES).files:
        text = (ROOT / file).read_text(encoding="utf-8")
        yield from (place_of(file, text, one) for one in constants(text))


@pytest.mark.medium
def test_whatever_is_written_down_is_about_constants_that_are_there():
    places, known, by_place = set(every_place()), reasons(), noticed()
    tests = {check for _, row in rows_of(ROOT, [*PROFILES], []) for check in row.get("checks", ())}
    assert [reason for reason in known if not any(is_about(reason, place) for place in places)] == []
    assert by_place.keys() - places == set()
    assert {by for by in by_place.values() if not by.startswith("evidence of ")} - tests == set()
    assert {place for place in by_place if reason_for(place, known)} == set()


@pytest.fixture(scope="module")
def asked_once(tmp_path_factory):
    """A folder with the shipped specs, and what the rows of three profiles ask of them."""
    folder = tmp_path_factory.mktemp("small")
    shutil.copytree(ROOT / "specs", folder / "specs")
    return folder, Facts(
        folder, ["toy-pseudo-axion", "clatl-overview", "clatl-plan"], ["timeout", "rate-limit", "usage", "alpha"]
    )


@pytest.fixture
def small(asked_once):
    """That folder, whose specs a test may change."""
    folder, _ = asked_once
    shutil.rmtree(folder / "specs")
    shutil.copytree(ROOT / "specs", folder / "specs")
    return asked_once


@pytest.mark.medium
@pytest.mark.parametrize(
    ("file", "old", "new", "by"),
    [
        ("governor/axion-kernel", "watchdog_ms: 200", "watchdog_ms: 2000", "toy-pseudo-axion timeout.1"),
        ("governor/axion-kernel", "{allowed_ops: [move], max_calls: 1", "{allowed_ops: [move], max_calls: 2", "toy-pseudo-axion rate-limit.1"),
        ("scenario/simple", "seed: 42", "seed: 43", "clatl-overview usage.1"),
        ("drift/goal-drift", "default: 20", "default: 21", "clatl-overview usage.1"),
        ("scenario/simple", "horizon: 50", "horizon: -1", "refused E_SPEC_VALUE"),
        ("scenario/small-budget", "budget: 10.0", "budget: 11.0", "clatl-plan alpha.3"),
        ("scenario/simple", "episodes: 3", "episodes: 4", ""),
    ],
)  # fmt: skip
def test_a_rule_about_specs_is_asked_of_a_changed_folder(file, old, new, by, small):
    folder, facts = small
    path = folder / f"specs/{file}.yaml"
    text = path.read_text(encoding="utf-8")
    assert facts.refuted(f"specs/{file}.yaml") == ""
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert facts.refuted(f"specs/{file}.yaml") == by


def test_a_constant_is_put_back_and_told_with_what_noticed_it(small):
    folder, facts = small
    file = "specs/governor/axion-kernel.yaml"
    before = (folder / file).read_text(encoding="utf-8")
    constant = next(one for one in constants(before) if one.old == "200")
    one = attempt(folder, file, constant, facts, recorded)
    line = before.count("\n", 0, constant.start) + 1
    assert str(one) == f"{file}:{line}: 200 -> 400 in `watchdog_ms: 200`: noticed by a rule: toy-pseudo-axion timeout.1"
    assert (folder / file).read_text(encoding="utf-8") == before


@pytest.mark.parametrize(("said", "outcome"), [("", NEITHER), (LIMIT, LATE), ("tests/a.py::test_a", RUN)])
def test_what_is_noticed_by_nothing_in_time_is_told_apart(said, outcome, small):
    folder, facts = small
    file = "specs/agent/pseudo.yaml"
    constant = constants((folder / file).read_text(encoding="utf-8"))[0]
    assert attempt(folder, file, constant, facts, lambda *_: said).outcome == outcome


def test_goldens_are_no_witness():
    class Silent:
        def __init__(self):
            self.commands = []

        def run(self, *words, limit=None):
            self.commands.append(words[-1])
            return 0, ""

        def reads(self):
            return frozenset({"specs/a.yaml"})

    copy: Any
    copy, row = Silent(), {"checks": ["tests/golden/test_goldens.py::test_a", "tests/unit/test_b.py::test_b"]}
    assert [one.name for one in witnesses(copy, [("profile", row)])] == ["tests/unit/test_b.py"]
    assert copy.commands == ["tests/unit/test_b.py::test_b"]


def test_tests_that_run_out_of_time_are_told_apart_from_tests_that_fail():
    class Late:
        limit = 300

        def run(self, *words, limit):
            self.allowed = limit
            return 124, ""

    copy: Any
    copy, slow = Late(), Witness("a", {"tests/a.py::test_a": 200.0}, {}, frozenset({"specs/a.yaml"}), 200.0)
    assert noticed_by(copy, "specs/a.yaml", [slow]) == "a limit of time"
    assert copy.allowed == 800


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a copy is made of a commit")
@pytest.mark.parametrize(
    "words", [["--stated"], [*EXPIRY, "--sample", "4"]], ids=["all, by what is written", "a few, run"]
)
def test_each_constant_is_noticed_or_has_a_reason(words):
    command = [sys.executable, "-m", "tools.profile_mutation", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(", 0 not decided in time, 0 neither\n")
