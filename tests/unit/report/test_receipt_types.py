"""The types of receipts are those of the pinned ones: every field, and no other."""

import json
from pathlib import Path

import pytest

from specledger.expr import RecordType, conforms
from specledger.expr.typed_dicts import record_type
from specledger.kinds import KINDS

ROOT = Path(__file__).parents[3] / "fixtures"
PINNED = {
    "scenario": ["golden", "misbehaviour", "guard"],
    "suite": ["suites"],
    "law": ["laws"],
    "discovery": ["discovery"],
}
RARE = {"scenario": {"error"}}
"""Types of receipts that no pinned run has."""


def pinned(kind):
    for path in (path for folder in PINNED[kind] for path in (ROOT / folder).glob("**/*.jsonl")):
        yield from map(json.loads, path.read_bytes().splitlines())


def wrong(value, type_, place="body"):
    """Where a value does not fit."""
    if isinstance(type_, RecordType) and isinstance(value, dict):
        if not type_.fields.keys() - type_.optional <= value.keys() <= type_.fields.keys():
            return f"{place}: {sorted(value.keys() ^ type_.fields.keys())}"
        return next((found for key in value if (found := wrong(value[key], type_.fields[key], f"{place}.{key}"))), "")
    return "" if conforms(value, type_) else f"{place}: {str(value)[:200]} is no {type_}"


@pytest.mark.parametrize("kind", KINDS.runnable())
def test_pinned_receipts_have_these_fields(kind):
    types = {type_: record_type(class_, type_) for type_, class_ in KINDS[kind].report.receipts.items()}
    seen = set()
    for receipt in pinned(kind):
        seen.add(receipt["type"])
        body = receipt["body"]
        if body.get("success", False) is None:  # of several agents, the last one of a turn is judged
            assert receipt["type"] == "step"
            assert "agent" in body
            body = {**body, "success": False}
        assert wrong(body, types[receipt["type"]]) == ""
    assert types.keys() - seen == RARE.get(kind, set())
