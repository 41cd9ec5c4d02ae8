"""The summary of a bundle: its figures are those of the receipts, and what evidence says is never markup."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.evidence.result import Tally
from specledger.kinds import MODELS
from specledger.report.evidence import read_evidence
from specledger.report.figures import decimal, share
from specledger.report.markdown import MOST_ROWS, quote, summarise

HOSTILE = "<script>alert(1)</script>|`` ` [x](javascript:1) \u202e\x1b[31m\n# x"


def rows(text, title):
    section = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`*") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table[2:]]


def outside_code(line):
    """What of a line stands in no code span, after CommonMark 6.1."""
    opening = re.search("`+", line)
    if opening is None:
        return line
    closing = re.compile(f"(?<!`){opening[0]}(?!`)").search(line, opening.end())
    if closing is None:
        return line[: opening.end()] + outside_code(line[opening.end() :])
    return line[: opening.start()] + outside_code(line[closing.end() :])


@pytest.fixture(scope="module")
def of_run(trap):
    return summarise(read_evidence(trap, MODELS))


@pytest.fixture(scope="module")
def of_suite(heights):
    return summarise(read_evidence(heights, MODELS))


def test_a_run_is_summed_up(of_run, trap, read):
    result = json.loads((trap / "manifest.json").read_bytes())["result"]
    assert of_run.startswith("# `concave`: PASS\n")
    assert {gate: int(count) for gate, count, _ in rows(of_run, "Gates")} == result["rejections"]
    assert rows(of_run, "Episodes") == [["0", "100", "horizon", "30", "0"]]
    assert [row[2] for row in rows(of_run, "Invariants")] == ["0"] * 5
    price = [one["body"]["cost"] for one in read(trap) if one["type"] == "step"]
    assert {item: int(total) for item, total in rows(of_run, "Budget")} == {
        item: sum(cost[item] for cost in price) for item in price[0]
    }


@pytest.fixture
def changed(trap, monkeypatch):
    """The summary of a run after a change of what its receipts tell and add up to; they were checked before it."""

    def summed(change):
        evidence, tally = read_evidence(trap, MODELS), Tally()
        told = list(evidence.told())
        change({type_: [body for one, body in told if one == type_] for type_, _ in told})
        for type_, body in told:
            tally.add(type_, body)
        monkeypatch.setattr(type(evidence), "told", lambda self: iter(told))
        return summarise(replace(evidence, manifest={**evidence.manifest, "result": tally.result()}))

    return summed


def test_what_was_broken_is_counted_where_it_was(changed):
    def change(told):
        breach = {"invariant": "no-bump", "severity": "fatal", "witness": {}}
        told["step"][3]["violations"] += [breach]
        told["episode_end"][0]["violations"] += [breach, {**breach, "invariant": "other", "severity": "warn"}]

    text = changed(change)
    assert text.startswith("# `concave`: FAIL\n")
    assert rows(text, "Episodes") == [["0", "100", "horizon", "30", "3"]]
    broken = {name: int(count) for name, _, count in rows(text, "Invariants")}
    assert {name: count for name, count in broken.items() if count} == {"no-bump": 2, "other": 1}


def test_what_was_checked_is_said(of_run, of_suite):
    made = rows(of_run, "Evidence")
    assert [row[2] for row in made] == ["passed"] * (len(made) - 1) + ["not made"]
    assert len(made) >= 7
    assert made[-1][3] == "replay was not requested"
    for text in (of_run, of_suite):
        assert text.endswith("\nNot replayed; who made it was not checked.\n")


def test_a_suite_is_summed_up(of_suite, heights, read):
    told: dict[str, list] = {}
    for one in read(heights):
        told.setdefault(one["type"], []).append(one["body"])
    assert of_suite.startswith("# `heights`: PASS\n")
    [climbs] = rows(of_suite, "Checks")
    assert climbs[:3] == ["PASS", "climbs", str(told["check"][0]["opportunities"])]
    assert json.loads(climbs[3]) == told["check"][0]["witness"]
    assert rows(of_suite, "Mutants") == [["no-bound", "caught", "climbs", "heights"]]
    assert [row[0] for row in rows(of_suite, "Runs")] == ["long.climb.3", "long.climb.4"]
    figures = {row[0]: row[1:] for row in rows(of_suite, "Figures")}
    groups = {one["figure"]: one["groups"][0] for one in told["figure"]}
    arrives = groups["arrives"]
    low, high = (share(arrives["wilson"][end]) for end in ("low", "high"))
    assert figures["arrives"][:3] == ["rate", share(arrives["value"]), f"{arrives['count']} of {arrives['of']}"]
    assert figures["arrives"][3].startswith(f"{low} to {high}")
    assert figures["high"][:3] == ["mean", decimal(groups["high"]["value"]), str(groups["high"]["of"])]
    assert figures["never"][3].endswith(f"; below {share(groups['never']['bound'])}")
    assert figures["nothing"][1] == "none"
    own = [one["result"]["rejections"] for one in told["run"][:2]]
    assert {gate: int(count) for gate, count, _ in rows(of_suite, "Gates")} == {
        gate: sum(one[gate] for one in own) for gate in own[0]
    }


def test_text_in_receipts_stays_text(changed):
    def change(told):
        told["episode_end"][0]["ended"] = HOSTILE
        told["start"][0]["invariants"][0]["name"] = HOSTILE
        for decision in told["step"][0]["decisions"]:
            for one in decision["rejected"]:
                one |= {"gate": HOSTILE}

    text = changed(change)
    assert "script" in text
    for line in text.splitlines():
        assert not set(outside_code(line)) & set("<>[]\u202e\x1b"), line
    assert [row[3] for row in rows(text, "Episodes")] == ["30"]


@given(st.text(min_size=1))
def test_a_quoted_text_is_one_code_span(text):
    shown = quote(text)
    assert outside_code(shown) == ""
    assert "\n" not in shown
    assert len(shown) < 5000
    assert not re.search(r"(?<!\\)\|", shown)


def test_long_tables_are_cut(of_suite, heights, monkeypatch):
    evidence = read_evidence(heights, MODELS)
    told = list(evidence.told())
    check = next(body for type_, body in told if type_ == "check")
    monkeypatch.setattr(type(evidence), "told", lambda self: iter([*told, *[("check", check)] * MOST_ROWS]))
    text = summarise(evidence)
    assert len(rows(text, "Checks")) == MOST_ROWS
    assert "\nAnd 1 more.\n" in text


@pytest.mark.parametrize(
    ("millionths", "places", "shown"),
    [
        (0, 3, "0.000"),
        (1, 3, "0.000"),
        (500, 3, "0.001"),
        (-1, 3, "0.000"),
        (-1_500_000, 3, "-1.500"),
        (999_999, 2, "1.00"),
    ],
)
def test_decimals(millionths, places, shown):
    assert decimal(millionths, places) == shown
