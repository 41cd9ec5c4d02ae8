"""What `spec diff`, `spec trace` and `spec verify` print, from hand-made results."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from specledger.cli import verify as command
from specledger.cli.inspection import _lines, _parse_step, _parted, _step_words, _trace_line
from specledger.cli.options import OutputFormat
from specledger.cli.verify import _check_usage, _named, _verify_several
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.verdict import Verdict
from specledger.load.library import E_REF_MISSING
from specledger.report.diff import Difference
from specledger.report.receipt_diff import Change, Divergence, ReceiptDiff
from specledger.report.trace import StepLine

SAME = ReceiptDiff((), 0, None)
ONE = (Change("x", "1", None),)
NONE_LEFT = {"specs": 0, "results": 0, "checks": 0, "sources": 0}


def difference(**changes):
    given: dict[str, Any] = {"kinds": ("scenario",) * 2, "names": ("a", "b"), "specs": (), "results": (), "checks": ()}
    return Difference(**{**given, "receipts": SAME, "run": None, "sources": (), "more": NONE_LEFT, **changes})


DIFFERENCES = {
    "nothing": ({}, ["a: the same specs, receipts and result"]),
    "sources alone": (
        {"sources": ONE},
        ["a: the same specs, receipts and result, from other sources", "sources", "  x: 1 -> nothing"],
    ),
    "specs": ({"specs": ONE}, ["specs", "  x: 1 -> nothing", "receipts: the same"]),
    "a result": ({"results": ONE}, ["result", "  x: 1 -> nothing", "receipts: the same"]),
    "checks and sources": (
        {"checks": ONE, "sources": (Change("f:1", None, "2"),), "more": {**NONE_LEFT, "checks": 3}},
        ["sources", "  f:1: nothing -> 2", "checks", "  x: 1 -> nothing", "  and 3 more", "receipts: the same"],
    ),
    "the start": (
        {"receipts": ReceiptDiff(ONE, 1, None)},
        ["start", "  x: 1 -> nothing", "  and 1 more", "receipts after the start: the same"],
    ),
    "a run": (
        {"run": ("runs/a", ReceiptDiff(ONE, 0, None))},
        ["receipts: the same", "start of runs/a", "  x: 1 -> nothing", "runs/a after the start: the same"],
    ),
}


@pytest.mark.parametrize(("changes", "lines"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_a_difference_in_lines(changes, lines):
    assert list(_lines(difference(**changes), {})) == lines


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"sources": ONE}, True),
        ({"specs": ONE}, False),
        ({"results": ONE}, False),
        ({"checks": ONE}, False),
    ],
)
def test_comments_of_sources_are_no_difference(changes, same):
    assert difference(**changes).same is same


@pytest.mark.parametrize(
    ("episode", "t", "number", "more", "head", "left"),
    [
        (0, 3, 1, 0, "receipts part at 5 (step, episode 0, step 3)", []),
        (None, None, 20, 0, "receipts part at 5 (step)", []),
        (0, None, 21, 2, "receipts part at 5 (step, episode 0)", ["  and 3 more"]),
        (None, 0, 1, 1, "receipts part at 5 (step, step 0)", ["  and 1 more"]),
    ],
)
def test_where_receipts_part(episode, t, number, more, head, left):
    parted = Divergence(5, "step", episode, t, ONE * number, more, None)
    lines = list(_parted("receipts", ReceiptDiff((), 0, parted), {}))
    assert lines == [head, *["  x: 1 -> nothing"] * min(number, 20), *left]


@pytest.mark.parametrize(
    ("step", "episode", "place"),
    [
        ("22", None, (0, 22)),
        ("22", 3, (3, 22)),
        ("2:22", None, (2, 22)),
        ("2:22", 2, (2, 22)),
        ("999999999", 0, (0, 999999999)),
    ],
)
def test_a_step_is_named_alone_or_with_its_episode(step, episode, place):
    assert _parse_step(step, episode) == place


@pytest.mark.parametrize("step", ["", ":", "a", "1:", ":1", "1:2:3", "-1", "1234567890", "\u0661", "1.5"])
def test_what_is_no_step(step):
    with pytest.raises(typer.BadParameter, match="is no step such as 22 or 0:22"):
        _parse_step(step, None)


def test_a_step_of_another_episode():
    with pytest.raises(typer.BadParameter, match="is not in --episode 0"):
        _parse_step("2:22", 0)


FACTS = {"proposed": 3, "admitted": 1, "rejected": [], "errors": 0, "chosen": 0, "action": {"op": "go"}}
QUIET = {**FACTS, "cost": None, "success": False, "violations": []}


def rejected(number):
    return [{"gate": f"g{index}", "reason": "r", "count": index} for index in range(number)]


STEPS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "usual": ({}, ["proposed 3", 'chose 0 {"op":"go"}']),
    "of an agent": ({"agent": "a"}, ["a", "proposed 3", 'chose 0 {"op":"go"}']),
    "nothing chosen": ({"chosen": None}, ["proposed 3", "chose nothing"]),
    "four reasons": (
        {"rejected": rejected(4), "chosen": None},
        ["proposed 3", "admitted 1 (g0: r 0; g1: r 1; g2: r 2; g3: r 3)", "chose nothing"],
    ),
    "five reasons": (
        {"rejected": rejected(5), "chosen": None},
        ["proposed 3", "admitted 1 (g0: r 0; g1: r 1; g2: r 2; g3: r 3; 1 more)", "chose nothing"],
    ),
    "all": (
        {"errors": 2, "cost": {"total": 0}, "success": True, "violations": ["a", "b"]},
        ["proposed 3", "errors 2", 'chose 0 {"op":"go"}', 'cost {"total":0}', "success", "VIOLATES a, b"],
    ),
}


@pytest.mark.parametrize(("facts", "words"), STEPS.values(), ids=STEPS)
def test_a_step_in_words(facts, words):
    assert list(_step_words({**QUIET, **facts})) == words


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (StepLine("episode", 0, None, 1, {"value": 7}), "     0:-  7"),
        (StepLine("drift", 12, 345, 1, {"drift": "slip", "changed": None, "why": ""}), "  12:345  drift slip"),
        (StepLine("probe", 0, 0, 1, {"verdict": "PASS", "zero": 0}), "     0:0  probe  verdict PASS  zero 0"),
        (StepLine("step", 0, 1, 1, QUIET), '     0:1  proposed 3  chose 0 {"op":"go"}'),
    ],
)
def test_a_line_of_a_trace(line, text):
    assert _trace_line(line) == text


USAGE = {
    "one bundle": (1, "human", False, False, False, None),
    "several": (2, "sarif", False, False, True, None),
    "a proof of several": (2, "human", True, False, False, "--proof and --inclusion are for one bundle"),
    "the inclusion of several": (2, "human", False, True, False, "--proof and --inclusion are for one bundle"),
    "inclusion": (1, "sarif", False, True, False, None),
    "inclusion with more": (1, "human", False, True, True, "--inclusion goes with"),
    "a proof": (1, "json", True, False, True, None),
    "a proof for other tools": (1, "junit", True, False, False, "--proof goes with --format human or json alone"),
}


@pytest.mark.parametrize(("number", "form", "proving", "inclusion", "aside", "refusal"), USAGE.values(), ids=USAGE)
def test_options_that_exclude_each_other(number, form, proving, inclusion, aside, refusal):
    def examine():
        _check_usage([Path("b")] * number, OutputFormat(form), proving=proving, inclusion=inclusion, aside=aside)

    if refusal is None:
        examine()
    else:
        with pytest.raises(typer.BadParameter, match=refusal):
            examine()


def test_levels_have_names():
    assert sorted(_named(["L1", "L4", "L1"])) == ["L1", "L4"]
    with pytest.raises(typer.BadParameter, match="'L6' is no level; there are L0, L1"):
        _named(["L0", "L6"])


ENDS = [
    (["PASS", "PASS"], 0, 0, "2 bundles: 2 verified"),
    (["PASS", "FAIL"], 0, 1, "2 bundles: 1 verified, 1 refuted"),
    (["PASS", "INCONCLUSIVE"], 0, 3, "2 bundles: 1 verified, 1 not decided"),
    (["PASS"], 1, 2, "2 bundles: 1 verified, 1 no evidence"),
    (["FAIL"], 1, 1, "2 bundles: 1 refuted, 1 no evidence"),
    ([], 2, 2, "2 bundles: 2 no evidence"),
]


@pytest.mark.parametrize(("verdicts", "wrong", "status", "total"), ENDS)
def test_several_bundles_end_as_the_worst(verdicts, wrong, status, total, monkeypatch):
    printed: list[str] = []
    errors: list[str] = []
    monkeypatch.setattr(command, "print_text", printed.append)
    monkeypatch.setattr(command, "print_error", errors.append)
    monkeypatch.setattr(command, "_print_line", lambda path, verification: None)
    left = iter([*map(Verdict, verdicts), *[None] * wrong])

    def verify_one(path) -> Any:
        verdict = next(left)
        if verdict is None:
            raise Rejected([Diagnostic(E_REF_MISSING, "no evidence")])
        return SimpleNamespace(verdict=verdict, checks=[], intact=True)

    paths = [Path(f"b{number}") for number in range(len(verdicts) + wrong)]
    assert int(_verify_several(paths, verify_one, OutputFormat.HUMAN)) == status
    assert printed == [total]
    assert len(errors) == bool(wrong)
