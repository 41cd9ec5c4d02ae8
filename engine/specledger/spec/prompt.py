"""The `prompt` kind: what a model is told, to propose laws or to decide as an agent.

In every text `{{place}}` stands for a fact, and `{{place|words}}` for those words where there is none.
Source: law proposer, section 5.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from specledger.spec.base import Model, Name, Spec

Words = Annotated[str, StringConstraints(min_length=1, max_length=65_536)]
Place = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$", max_length=120)]
Remembered = Literal["accepted_laws", "falsified_laws", "unknown_laws", "counterexamples"]


class Section(Model):
    """A text, and a line for each element of a list below it; a list without elements is left out, or says `none`.

    Attributes:
        text: The text that stands first.
        each: The list of which each element becomes a line.
        item: The line for an element.
        none: The text where the list has no elements; without it such a section is left out.
    """

    text: Words | None = None
    each: Place | None = None
    item: Words | None = None
    none: Words | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Section:
        if self.text is None and self.each is None:
            raise ValueError("a section has `text`, `each`, or both")
        if (self.each is None) != (self.item is None):
            raise ValueError("`each` and `item` go together")
        if self.none is not None and self.each is None:
            raise ValueError("`none` goes with `each`")
        return self


class Memory(Section):
    """A section about what is remembered."""

    each: Remembered
    item: Words


class Prompt(Spec):
    """A prompt/v1 document.

    About laws: a system instruction, what stays the same, and what is remembered. About decisions: a system
    instruction, what is said at each decision, and what is added where an offer is made. About calls of a recording: a
    system instruction, how what happened before a call is shown, and what is added to ask for the reasons of a choice.

    Attributes:
        about: Whether it asks for laws, for decisions, or about calls of a recording.
        universe: The universe that its words speak of; for any other universe it is refused.
        scramble: What is exchanged for neutral words.
        system: The system instruction.
        static: The first part of the prompt, the same for the same request.
        dynamic: The second part, about what is remembered.
        offer: What is added where an offer is made, with `about: decisions`.
        reasons: What is added to ask for the reasons of a choice, with `about: calls`.
    """

    spec: Literal["prompt/v1"]
    about: Literal["laws", "decisions", "calls"] = "laws"
    universe: Name | None = None
    scramble: Annotated[list[Literal["symbols", "names"]], Field(max_length=2)] = Field(default_factory=list)
    system: Annotated[list[Section], Field(min_length=1, max_length=64)]
    static: Annotated[list[Section], Field(min_length=1, max_length=64)]
    dynamic: Annotated[list[Memory], Field(max_length=16)] = Field(default_factory=list)
    offer: Annotated[list[Section], Field(max_length=16)] = Field(default_factory=list)
    reasons: Annotated[list[Section], Field(max_length=16)] = Field(default_factory=list)

    @model_validator(mode="after")
    def _fits(self) -> Prompt:
        if self.about != "laws" and (self.universe or self.scramble or self.dynamic):
            raise ValueError(f"a prompt about {self.about} has no `universe`, `scramble` and `dynamic`")
        if self.about != "decisions" and self.offer:
            raise ValueError(f"a prompt about {self.about} has no `offer`")
        if (self.about == "calls") != bool(self.reasons):
            raise ValueError("a prompt about calls has `reasons`, and no other one has")
        return self
