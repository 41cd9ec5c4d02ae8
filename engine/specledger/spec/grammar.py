"""A grammar: documents that can be counted and walked, as rules whose alternatives are JSON with places.

A place `{{rule}}` stands for what a rule makes. Where it is a whole text, the value itself stands there, whatever it
is; inside a longer text it is written out. Every place is filled on its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from specledger.spec.base import Identifier, Model


class Grammar(Model):
    """What is enumerated: every document that `start` makes, the cheap ones first.

    An alternative is any value, or `{cost, is}` with that value: it costs 1, or its `cost`, and what its places cost.
    """

    start: Identifier
    grammar: Annotated[
        Mapping[Identifier, Annotated[list[Any], Field(min_length=1, max_length=512)]],
        Field(min_length=1, max_length=128),
    ]
