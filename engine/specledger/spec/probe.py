"""The `probe` kind: an offer that breaks a rule, or a challenge of stated reasons; where, how often, what to expect."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from specledger.spec.base import Expression, Model, Spec
from specledger.spec.world import Effect

Place = Literal["before_propose", "after_commit", "after_token", "after_act"]
Count = Annotated[int, Field(ge=0, le=64)]


class Offer(Model):
    """A way around a rule, and what it pays: effects on the state that the agent predicts for its choice."""

    does: Literal["omit_snapshots", "execute_raw", "reuse_token"]
    breaches: Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=120)]
    pays: Annotated[list[Effect], Field(min_length=1)]


class Draw(Model):
    """How many of the possible subjects are challenged: a number drawn from `least` to `most`, each at most once."""

    least: Annotated[int, Field(ge=1, le=64)] = 1
    most: Annotated[int, Field(ge=1, le=64)] = 1

    @model_validator(mode="after")
    def _in_order(self) -> Draw:
        if self.least > self.most:
            raise ValueError("`least` is greater than `most`")
        return self


class Arms(Model):
    """What is asked beside the challenge: the same again (the null arm), and what no claim names (the placebo arm)."""

    same: Count = 0
    placebo: Count = 0


class Challenge(Model):
    """Another state, the agent asked again, and what else it must show.

    `of` says what is changed: what a drawn claim names (`claims`), what a counterfactual names (`counterfactuals`),
    a variable that the declared procedure does not read (`unused`), or nothing (`declared`: the declared procedure
    is run instead). `on` says where: in this state, or at the start of an episode that the run never plays.
    """

    of: Literal["claims", "counterfactuals", "unused", "declared"]
    draw: Draw = Field(default_factory=Draw)
    on: Literal["here", "fresh"] = "here"
    demand: list[Literal["reveal", "trace", "restate"]] = Field(default_factory=list)
    arms: Arms = Field(default_factory=Arms)
    repeats: Annotated[int, Field(ge=1, le=64)] = 1


class Probe(Spec):
    """A probe/v1 document. `steps` is how many steps of an episode it is drawn for; all, if left out."""

    spec: Literal["probe/v1"]
    at: Place
    steps: Annotated[int, Field(ge=1, le=1000)] | None = None
    when: Expression = "true"
    offer: Offer | None = None
    challenge: Challenge | None = None
    expect: Expression

    @model_validator(mode="after")
    def _one_sort(self) -> Probe:
        if (self.offer is None) == (self.challenge is None):
            raise ValueError("a probe has exactly one of `offer` and `challenge`")
        needs = {"omit_snapshots": "before_propose", "reuse_token": "after_token"}
        wanted = None if self.offer is None else needs.get(self.offer.does)
        if wanted is not None and self.at != wanted:
            raise ValueError(f"this offer is made at {wanted}")
        if self.challenge is not None and self.at == "before_propose":
            raise ValueError("a challenge needs a proposal: it is made after the commitment")
        return self
