"""The schemas of the kinds of this wing are those that its models give: every key, default and bound is in them."""

from pathlib import Path

import pytest

from specledger.core.canonical import pretty
from specledger.kinds import KINDS
from specledger.load.schemas import schema_for

SCHEMAS = next(parent for parent in Path(__file__).parents if (parent / "schemas").is_dir()) / "schemas/kinds"


@pytest.mark.parametrize("kind", ["law", "template", "universe"])
def test_a_model_gives_the_schema_that_ships(kind):
    shipped = (SCHEMAS / f"{kind}.schema.json").read_text(encoding="utf-8")
    assert pretty(schema_for(kind, KINDS[kind].model)) == shipped
