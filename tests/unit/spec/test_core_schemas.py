"""The schemas of the kinds of the core are those that its models give: every key, default and bound is in them."""

from pathlib import Path

import pytest

from specledger.core.canonical import pretty
from specledger.kinds import KINDS
from specledger.load.schemas import schema_for

SCHEMAS = Path(__file__).parents[3] / "schemas/kinds"
CORE = [
    "agent", "drift", "governor", "invariant", "library", "model", "profile", "prompt", "scenario", "suite", "world",
]  # fmt: skip


@pytest.mark.parametrize("kind", CORE)
def test_a_model_gives_the_schema_that_ships(kind):
    shipped = (SCHEMAS / f"{kind}.schema.json").read_text(encoding="utf-8")
    assert pretty(schema_for(kind, KINDS[kind].model)) == shipped
