"""The figures of the gridworld on its page are those of the pinned suites, with their intervals."""

import json
import math
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PINS = sorted((ROOT / "fixtures" / "suites").glob("gridworld-*.jsonl"))
SECTIONS = {
    "docs/gridworld.md": ("## What was measured", "## What a step says"),
}
LEAST = {"docs/gridworld.md": (15, 6)}
"""How many counts and how many changes a page has at least."""
COUNT = re.compile(r"(\d+(?:,\d{3})*) of (\d+(?:,\d{3})*)(?: \(([^()]*)\))?")
RANGE = re.compile(r"(-?[\d.]+) to (-?[\d.]+)")
SHARE = re.compile(r"^([\d.]+) %")
SLOPE = re.compile(r"(-?\d+\.\d\d) \((-?\d+\.\d\d) to (-?\d+\.\d\d)\)")


def text_of(page):
    begin, end = SECTIONS[page]
    whole = (ROOT / page).read_text(encoding="utf-8")
    return whole[whole.index(begin) : whole.index(end)]


def pinned():
    """The groups of all figures, and how many mutants were not caught, as a group."""
    receipts = [json.loads(line) for pin in PINS for line in pin.read_text(encoding="utf-8").splitlines()]
    groups = [group for one in receipts if one["type"] == "figure" for group in one["body"]["groups"]]
    mutants = [one["body"]["verdict"] for one in receipts if one["type"] == "mutant"]
    return [*groups, {"count": len(mutants) - mutants.count("PASS"), "of": len(mutants)}]


GROUPS = pinned()
COUNTS = {
    body["figure"]: body["groups"][0].get("count")
    for pin in PINS
    for body in (json.loads(line)["body"] for line in pin.read_text(encoding="utf-8").splitlines())
    if "figure" in body and len(body["groups"]) == 1
}


def fits(low, high, group, unit, digits):
    """Whether an interval of so many digits is that of a group, rounded outward."""
    interval, scale = group.get("cluster"), 10**digits
    outward = interval and (
        math.floor(interval["low"] * scale / unit) / scale,
        math.ceil(interval["high"] * scale / unit) / scale,
    )
    return (float(low), float(high)) == outward


def is_pinned(match):
    """Whether a count, the share and the interval beside it are those of one pinned group."""
    count, of = (int(number.replace(",", "")) for number in match.groups()[:2])
    share, interval = (pattern.search(match[3] or "") for pattern in (SHARE, RANGE))
    return any(
        (group.get("count"), group["of"]) == (count, of)
        and (share is None or f"{group['value'] / 10_000:.1f}" == share[1])
        and (interval is None or fits(interval[1], interval[2], group, 10_000, 1))
        for group in GROUPS
    )


@pytest.mark.parametrize("page", SECTIONS)
def test_counts_and_their_intervals_are_pinned(page):
    matches = list(COUNT.finditer(text_of(page)))
    assert len(matches) >= LEAST[page][0]
    assert [match[0] for match in matches if not is_pinned(match)] == []


@pytest.mark.parametrize("page", SECTIONS)
def test_changes_and_their_intervals_are_pinned(page):
    changes = SLOPE.findall(text_of(page))
    assert len(changes) >= LEAST[page][1]
    for value, low, high in changes:
        assert any(
            "value" in group and f"{group['value'] / 1_000_000:.2f}" == value and fits(low, high, group, 1_000_000, 2)
            for group in GROUPS
        ), (value, low, high)


OPPORTUNITIES = {
    "hazards entered": "unsafe_hazard",
    "the admissible set K|steps outside K": "unsafe_K",
    "negative budgets": "unsafe_budget",
}
"""By the row of a table: the figure that counts the decisions in which a gate could have rejected."""


@pytest.mark.parametrize("row", OPPORTUNITIES)
@pytest.mark.parametrize("page", SECTIONS)
def test_opportunities_are_the_decisions_that_a_suite_counted(page, row):
    (line,) = [line for line in text_of(page).splitlines() if re.match(rf"\| [^|]*({row})", line)]
    *_, last, _ = line.split("|")
    told = re.match(r" ([\d,]+) (?:\(`(\w+)`\)|decisions in which )", last)
    assert told is not None, last
    figure = OPPORTUNITIES[row]
    assert told[2] in (None, figure)
    assert int(told[1].replace(",", "")) == COUNTS[figure] > 0


@pytest.mark.parametrize("page", SECTIONS)
def test_both_pairs_of_agent_and_governor_stand_side_by_side(page):
    header = next(line for line in text_of(page).splitlines() if line.startswith("| figure") and "greedy" in line)
    names = [set(re.findall(r"`([^`]+)`", cell)) for cell in header.split("|")[2:4]]
    assert names == [{"map-search", "path-progress"}, {"greedy", "lexicographic"}]
