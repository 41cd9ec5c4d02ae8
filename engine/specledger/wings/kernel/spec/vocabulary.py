"""The `vocabulary` kind: the only forms in which the effect of a change may be claimed."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, model_validator

from specledger.spec.base import Model, Spec

_SLOTS: Final = "<choice>, and <counterfactual> or <variable> and <direction>"

Form = Annotated[
    str,
    StringConstraints(
        min_length=1, max_length=200, pattern=r"^([^<>]|[-=]>)*<[a-z]+>(([^<>]|[-=]>)+<[a-z]+>)*([^<>]|[-=]>)*$"
    ),
    Field(
        json_schema_extra={
            "$comment": "text with the slots <choice>, and <counterfactual> or <variable> and <direction>"
        }
    ),
]


NodeKind = Annotated[str, StringConstraints(pattern=r"^[a-z]+(_[a-z]+)*$", max_length=60)]


class TraceWords(Model):
    """The version of a trace, and the kinds of its nodes: what was seen, declared, weighed and chosen.

    Attributes:
        version: The version of a trace.
        seen: The kind of nodes that say what was seen.
        declared: The kind of nodes that say what was declared.
        weighed: The kind of nodes that say what was weighed.
        chosen: The kind of the node that says what was chosen.
    """

    version: Annotated[str, StringConstraints(min_length=1, max_length=20)] = "0.2"
    seen: NodeKind = "observation"
    declared: NodeKind = "assumption"
    weighed: NodeKind = "evaluation"
    chosen: NodeKind = "inference"

    @model_validator(mode="after")
    def _different(self) -> TraceWords:
        if len({self.seen, self.declared, self.weighed, self.chosen}) < len(("seen", "declared", "weighed", "chosen")):
            raise ValueError("the kinds of nodes are four different words")
        return self


Word = Annotated[str, StringConstraints(min_length=1, max_length=40, pattern=r"^[!-~]+( [!-~]+)*$")]
OneOrMore = Word | Annotated[list[Word], Field(min_length=1, max_length=16)]


class Directions(Model):
    """The words of each direction; those of a value stand before it.

    Of several words the first is written, and claims of documents are read by it. The others are read in reasons of a
    model.

    Attributes:
        increases: The words for a greater value.
        decreases: The words for a smaller value.
        removed: The words for a value that is taken away.
        becomes: The words before a new value.
    """

    increases: OneOrMore = "increases"
    decreases: OneOrMore = "decreases"
    removed: OneOrMore = "is removed"
    becomes: OneOrMore = "becomes"

    def words(self) -> dict[str, list[str]]:
        """All words of each direction, the one that is written first."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: [words] if isinstance(words, str) else list(words) for name, words in given.items()}

    @model_validator(mode="after")
    def _different(self) -> Directions:
        words = self.words().values()
        first = sorted(each[0] for each in words)
        if any(after.startswith(before) for before, after in pairwise(first)):
            raise ValueError("the words of directions are different, and none begins with another one")
        named = [word.casefold() for each in words for word in each]
        if len(set(named)) < len(named):
            raise ValueError("each word stands for one direction, and stands there once")
        return self


class Vocabulary(Spec):
    """A vocabulary/v1 document.

    Attributes:
        forms: The forms of a claim: text with `<choice>`, and `<counterfactual>` or `<variable>` and
            `<direction>`.
        trace: The words of a trace.
        directions: The words for directions.
    """

    spec: Literal["vocabulary/v1"]
    forms: Annotated[list[Form], Field(min_length=1, max_length=32)]
    trace: TraceWords = Field(default_factory=TraceWords)
    directions: Directions = Field(default_factory=Directions)
