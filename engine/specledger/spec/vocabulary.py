"""The `vocabulary` kind: the only forms in which the effect of a change may be claimed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from specledger.spec.base import Spec

Form = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200, pattern=r"^[^<>]*<[a-z]+>([^<>]+<[a-z]+>)*[^<>]*$"),
    Field(description="text with the slots <choice>, and <counterfactual> or <variable> and <direction>"),
]


class Vocabulary(Spec):
    """A vocabulary/v1 document."""

    spec: Literal["vocabulary/v1"]
    forms: Annotated[list[Form], Field(min_length=1, max_length=32)]
