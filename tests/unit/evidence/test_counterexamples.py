"""Failing cases: what shows a failure for the first time, with the receipts that belong to it, and nothing else."""

import json
import tracemalloc

import pytest

from specledger.evidence.counterexamples import MOST_CASES, Cases, parts_of
from specledger.evidence.kind import RUN, SUITE
from specledger.verify.checks import Broken
from specledger.verify.derived_files import check_counterexamples

KINDS = {kind.name: kind for kind in (RUN, SUITE)}


def commit(t=0, episode=0):
    return ("commit", {"episode": episode, "t": t})


def step(t=0, *, episode=0, chosen=0, broken=(), errors=(None,)):
    violations = [{"invariant": name, "severity": "warn"} for name in (*["progress"][: chosen is None], *broken)]
    decisions: list[dict[str, object]] = [
        {"rejected": [], "error": None if one is None else {"code": one}} for one in errors
    ]
    return ("step", {"episode": episode, "t": t, "chosen": chosen, "violations": violations, "decisions": decisions})


def probe(verdict="FAIL", name="p"):
    return ("probe", {"probe": name, "verdict": verdict})


def closed(broken=()):
    return ("episode_end", {"violations": [{"invariant": name} for name in broken]})


BEGIN: list[tuple[str, dict[str, object]]] = [("start", {}), ("episode", {})]
ERROR = ("error", {"code": "E_X", "episode": 0, "t": 0})
DRIFT, AUDIT = ("drift", {"t": 0}), ("audit", {"entry_id": "1"})

RUNS = {
    "nothing fails": ([commit(), step(), closed(), ("end", {})], {}),
    "an invariant": ([commit(), step(broken="ab"), closed()], {3: (["invariant:a", "invariant:b"], [2, 3])}),
    "all that belongs to a step": (
        [DRIFT, commit(), AUDIT, probe(), step(), closed()],
        {6: (["probe:p"], [2, 3, 4, 5, 6])},
    ),
    "a step before does not belong to it": ([commit(), step(), commit(1), step(1, chosen=None)], {5: (["progress"], [4, 5])}),
    "a decision that could not be judged": ([commit(), step(errors=[None, "E_Y"])], {3: (["error:E_Y"], [2, 3])}),
    "an error": ([commit(), ERROR, closed()], {3: (["error:E_X"], [2, 3])}),
    "a probe that could not be evaluated": ([probe("ERROR"), step()], {3: (["probe:p"], [2, 3])}),
    "probes that say less": ([probe("INCONCLUSIVE"), probe("PASS"), step()], {}),
    "an episode": ([step(), closed("a")], {3: (["invariant:a"], [3])}),
    "a probe after the last step": ([step(), probe(), closed()], {4: (["probe:p"], [3, 4])}),
    "the same once more": ([step(broken="a"), step(1, broken="a"), step(2, broken="ab")], {2: (["invariant:a"], [2]), 4: (["invariant:a", "invariant:b"], [4])}),
    "an episode begins anew": ([commit(), ("episode", {}), step(broken="a")], {4: (["invariant:a"], [4])}),
    "many": ([step(t, broken=[str(t)]) for t in range(120)], {t + 2: ([f"invariant:{t}"], [t + 2]) for t in range(MOST_CASES)}),
}  # fmt: skip


def lines_of(told):
    return [
        json.dumps({"body": body, "type": type_}, sort_keys=True, separators=(",", ":")).encode()
        for type_, body in told
    ]


def cases_of(find, told):
    cases = Cases(find)
    for type_, body in told:
        cases.add(type_, body)
    return cases.kept


def shown(kind, told):
    lines = lines_of(told)
    files = {path: b"".join(parts) for path, parts in parts_of(cases_of(KINDS[kind].cases, told), lines)}
    found = {}
    for path, data in files.items():
        document = json.loads(data)
        assert data == json.dumps(document, sort_keys=True, separators=(",", ":")).encode() + b"\n"
        numbers = [one["seq"] for one in document["receipts"]]
        assert [(one["type"], one["body"]) for one in document["receipts"]] == [told[at] for at in numbers]
        assert path == f"counterexamples/{numbers[-1]:08d}.json"
        found[numbers[-1]] = document["causes"], numbers
    return found


@pytest.mark.parametrize("name", RUNS)
def test_what_fails_in_a_run_is_shown_once(name):
    told, expected = RUNS[name]
    assert shown("scenario", BEGIN + told) == expected


def test_the_files_of_a_bundle_are_those_that_its_receipts_show(tmp_path):
    told = [*BEGIN, step(broken="a"), step(1, broken="b")]
    cases, lines = cases_of(KINDS["scenario"].cases, told), lines_of(told)
    files = {path: b"".join(parts) for path, parts in parts_of(cases, lines)}
    (tmp_path / "counterexamples").mkdir()
    for path, data in files.items():
        (tmp_path / path).write_bytes(data)
    assert check_counterexamples(tmp_path, list(files), cases, lines) == "2 files"
    first, last = files
    for paths, message in (([first], f"{last} is missing"), ([*files, "z"], "z shows no new failure")):
        with pytest.raises(Broken, match=f"E_COUNTEREXAMPLES: {message}"):
            check_counterexamples(tmp_path, paths, cases, lines)
    for data in (files[first][:-1], files[first] + b" "):
        (tmp_path / first).write_bytes(data)
        with pytest.raises(Broken, match=f"{first} is not what the receipts show"):
            check_counterexamples(tmp_path, list(files), cases, lines)


def test_a_suite_has_no_failing_cases_of_its_own():
    assert shown("suite", [("run", {"verdict": "FAIL"})]) == {}


@pytest.mark.slow
def test_a_step_of_very_many_receipts_is_not_held():
    """Whoever sends evidence puts what they like before a step is over: 20,000 probes are ten megabytes of values."""

    def told():
        yield from BEGIN
        for _ in range(20_000):
            yield "probe", {"probe": "p", "verdict": "FAIL", "said": [[]] * 20}
        yield step()

    tracemalloc.start()
    try:
        lines = (line for receipt in told() for line in lines_of([receipt]))
        ((path, parts),) = parts_of(cases_of(RUN.cases, told()), lines)
        size, most = sum(map(len, parts)), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert path == "counterexamples/00020002.json"
    assert size > 2_000_000
    assert most < 500_000


@pytest.mark.parametrize("body", [{"chosen": 0}, {"chosen": 0, "decisions": [], "violations": [{"invariant": ["a"]}]}])
def test_a_receipt_of_another_form_raises(body):
    with pytest.raises((KeyError, TypeError)):
        cases_of(RUN.cases, [("step", body)])


@pytest.mark.parametrize(
    ("kind", "result", "expected"),
    [
        ("scenario", {"verdict": "PASS", "warnings": {}}, False),
        ("scenario", {"verdict": "PASS", "warnings": {"a": 1}}, True),
        ("scenario", {"verdict": "FAIL", "warnings": {}}, True),
        ("scenario", {"verdict": "ERROR", "warnings": {}}, True),
        ("suite", {"verdict": "FAIL"}, False),
    ],
)
def test_receipts_are_read_again_only_where_they_can_show_a_failure(kind, result, expected):
    assert KINDS[kind].may_fail(result) is expected
