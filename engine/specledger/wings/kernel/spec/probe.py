"""The `probe` kind: an offer that breaks a rule, or a challenge of stated reasons; where, how often, what to expect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints, model_validator

from specledger.spec.base import QFIXED_ONE, Constant, Expression, Identifier, Model, QFixed, Spec
from specledger.spec.world import Effect, Function, VariableName

Place = Literal["before_propose", "after_commit", "after_token", "after_act", "call"]
PLACES: Final[Mapping[str, str]] = {
    "before_propose": "before the agent proposes",
    "after_commit": "after the agent has committed to its proposals",
    "after_token": "after the permission to act was given",
    "after_act": "after the action",
    "call": "at a call of the recording",
}
"""Where a probe is made, in words."""
Count = Annotated[int, Field(ge=0, le=64)]
EditText = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
"""A sentence that is put into a recording."""


Pointer = Annotated[str, StringConstraints(pattern=r"^(/([^~/]|~[01])*)*$", max_length=400)]
"""A JSON Pointer (RFC 6901)."""


class Edit(Model):
    """An operation of JSON Patch (RFC 6902) on a proposal; `to` is an expression that gives the value instead.

    Attributes:
        op: The operation of JSON Patch.
        path: The JSON Pointer to what is changed.
        from: The JSON Pointer to what is moved or copied.
        value: The value that is put there.
        to: An expression that gives the value.
    """

    op: Literal["add", "remove", "replace", "move", "copy", "test"]
    path: Pointer
    source: Pointer | None = Field(default=None, alias="from")
    value: Any = None
    to: Expression | None = None

    @model_validator(mode="after")
    def _fits(self) -> Edit:
        if (self.op in ("move", "copy")) != (self.source is not None):
            raise ValueError("`from` goes with `move` and `copy`")
        if self.to is not None and (self.value is not None or self.op not in ("add", "replace", "test")):
            raise ValueError("`to` gives the value of `add`, `replace` or `test`, where no `value` is written")
        puts = self.op in ("add", "replace") and self.to is None
        if puts and not self.path and not isinstance(self.value, dict):
            raise ValueError("what is put in place of the whole document must be a mapping")
        return self


class Call(Model):
    """A call on the actuator: with no token, the one of this decision, one of an earlier decision, or another's.

    Attributes:
        token: Which token the call presents: none, that of this decision (`own`), of an earlier one (`stale`), or of
            another kernel (`other`).
        action: Whether it calls for the chosen action, or for the best other one.
    """

    token: Literal["none", "own", "stale", "other"]
    action: Literal["chosen", "other"] = "chosen"


class Offer(Model):
    """A way around a rule, and what it pays: effects on the state that the agent predicts for its choice.

    The way is an edit of the proposal, or a call on the actuator. `text` says it in words to an agent from outside.

    Attributes:
        text: What an agent from outside is told in words.
        edit: The changes of the proposal, as a JSON Patch.
        call: The call on the actuator.
        breaches: What must deny it: an invariant, `schema`, `scope`, `evaluation`, `token` (any refused execution),
            or the reason of a refusal such as `expired`.
        pays: What it does to the state that the agent predicts.
    """

    text: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    edit: Annotated[list[Edit], Field(min_length=1, max_length=64)] | None = None
    call: Call | None = None
    breaches: Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=120)]
    pays: list[Effect]

    @property
    def does(self) -> str:
        """What it asks for, as receipts name it: `call none chosen`, `edit replace /trace/fork_snapshots`."""
        if self.call is not None:
            return f"call {self.call.token} {self.call.action}"
        return " ".join(["edit", *(f"{operation.op} {operation.path}" for operation in self.edit or ())])

    @model_validator(mode="after")
    def _one_way(self) -> Offer:
        if (self.edit is None) == (self.call is None):
            raise ValueError("an offer has exactly one of `edit` and `call`")
        return self


class Draw(Model):
    """How many of the possible subjects are challenged: a number drawn from `least` to `most`, each at most once.

    Attributes:
        least: How many are challenged at least.
        most: How many are challenged at most.
    """

    least: Annotated[int, Field(ge=1, le=64)] = 1
    most: Annotated[int, Field(ge=1, le=64)] = 1

    @model_validator(mode="after")
    def _in_order(self) -> Draw:
        if self.least > self.most:
            raise ValueError("`least` is greater than `most`")
        return self


class Arms(Model):
    """What is asked beside the challenge: the same again (the null arm), and what no claim names (the placebo arm).

    `placebo` is the number of variables that are drawn and changed, or the names of those that are; of these, one that
    a claim names or that is not there is left out.

    Attributes:
        same: How often the same question is asked again, once at least.
        placebo: How many variables that no claim names are changed, or which ones.
    """

    same: Count = 0
    placebo: Count | Annotated[list[VariableName], Field(min_length=1, max_length=64)] = 0

    @property
    def placebos(self) -> int:
        """How many variables the placebo arm changes at most."""
        return self.placebo if isinstance(self.placebo, int) else len(self.placebo)


Share = Annotated[QFixed, Field(gt=0, le=QFIXED_ONE // 2)]
"""A share above 0, at most 0.5."""


class NoiseTest(Model):
    """When misses of an agent that may draw, or is not sure, are no noise: the error of the test, and how far it asks.

    Without `most` there is one look at what was asked. With it the same questions are asked again, and looked at, until
    the test decides or `most` questions were asked. `effect` is the share of misses that it is to notice: an
    agent passes of which it is shown that its predictions come at more than `1 - effect` times the stated rate (1 where
    it states none).

    Attributes:
        error: The rate of false convictions that the test allows.
        effect: The share of misses that it is to notice.
        most: How many questions are asked at most; there is one look, if left out.
    """

    error: Share = 5_000
    effect: Annotated[QFixed, Field(gt=0, le=QFIXED_ONE)] | None = None
    most: Annotated[int, Field(ge=2, le=1000)] | None = None


class Noisy(Model):
    """How often an agent is asked at least whose answers may differ: about each change, and the same question again.

    The default is the fewest with which one of three claims, each with a direction, can be shown false although no
    confidence is stated: 6 / 2^11 is below 0.005.

    Attributes:
        repeats: How often each change is asked about at least.
        same: How often the same question is asked at least.
    """

    repeats: Annotated[int, Field(ge=1, le=64)] = 11
    same: Annotated[int, Field(ge=1, le=64)] = 11


class EventEdit(Model):
    """A change of what came before a recorded call: of the last entry of a sort, such as the result of a tool.

    A sentence is added at its end, it becomes another text, or of its sentences the first ones are kept, a share of
    them. In a text `{other}` stands for a choice that is not the present one; it is drawn.

    Attributes:
        of: What is changed: the request, a result, or the agent's words.
        tool: The tool whose result is changed.
        adds: A sentence that is added at the end.
        becomes: The text that takes its place.
        keeps: The share of its sentences that is kept, from the first on.
    """

    of: Literal["request", "result", "words"]
    tool: Annotated[str | None, StringConstraints(min_length=1, max_length=200)] = None
    adds: EditText | None = None
    becomes: EditText | None = None
    keeps: Annotated[QFixed, Field(ge=0, lt=QFIXED_ONE)] | None = None

    @model_validator(mode="after")
    def _one_change(self) -> EventEdit:
        if sum(change is not None for change in (self.adds, self.becomes, self.keeps)) != 1:
            raise ValueError("an edit has exactly one of `adds`, `becomes` and `keeps`")
        if self.tool is not None and self.of != "result":
            raise ValueError("`tool` says whose `result` is changed")
        return self


class Challenge(Model):
    """Another state, the agent asked again, and what else it must show.

    `of` says what is changed: what a drawn claim names (`claims`), what a counterfactual names (`counterfactuals`),
    a variable that the declared procedure does not read (`unused`), or nothing (`declared`: the declared procedure
    is run instead). `on` says where: in this state, or at the start of an episode that the run never plays. `ask` says
    whose answer to the change is compared: the agent's, or that of the procedure that it declares. The null arm is
    asked at least once; `noisy` holds unless the agent declares itself deterministic and its null arm agrees. `explain`
    is how many variables that the declared procedure does not read are changed, to see whether it explains an agent
    that always did what it declares where its predictions failed; with 0 that makes no difference.

    At a call of a recording `unused` are the changes that `edit` lists. One that moves the choice is held against the
    model unless it names, asked for its reasons there, what was changed.

    Attributes:
        of: What is changed: what drawn claims or counterfactuals say, variables that the declared procedure does not
            read (`unused`), or nothing (`declared`: that procedure is run instead).
        edit: The changes of what came before a recorded call, with `at: call` alone.
        draw: How many of the possible subjects are challenged, drawn from `least` to `most`.
        on: Whether this state is changed, or the start of an episode that is never played.
        ask: Whose answer to the change is compared: the agent's, or that of the procedure that it declares.
        demand: What else the agent must show: that commitments open (`reveal`), that the trace comes out equal and
            ends in the choice of the plan (`trace`), that it gives the same reasons again (`restate`).
        arms: What is asked beside the challenge.
        repeats: How often each change is asked about.
        noisy: How often an agent is asked at least whose answers may differ: about each change, and the same
            question.
        explain: How many variables that the declared procedure does not read are changed to explain misses.
        test: When misses are no noise.
    """

    of: Literal["claims", "counterfactuals", "unused", "declared"]
    edit: Annotated[list[EventEdit], Field(max_length=16)] = Field(default_factory=list)
    draw: Draw = Field(default_factory=Draw)
    on: Literal["here", "fresh"] = "here"
    ask: Literal["agent", "declared"] = "agent"
    demand: list[Literal["reveal", "trace", "restate"]] = Field(default_factory=list)
    arms: Arms = Field(default_factory=Arms)
    repeats: Annotated[int, Field(ge=1, le=64)] = 1
    noisy: Noisy = Field(default_factory=Noisy)
    explain: Count = 8
    test: NoiseTest = Field(default_factory=NoiseTest)


def compares_with_declared(challenge: Challenge) -> bool:
    """Whether a challenge needs the procedure that the agent declares, and asks nothing without one."""
    of_procedure = challenge.of == "declared" or (challenge.of == "unused" and not challenge.edit)
    return of_procedure or challenge.ask == "declared" or "trace" in challenge.demand


class Probe(Spec):
    """A probe/v1 document. `steps` is how many steps of an episode it is drawn for; all, if left out.

    At a `call` of a recording the model that its agent `asks` is asked which call it makes there, and why. What came
    before the call is then changed as it says, and it is asked again.

    Attributes:
        at: The place in the loop where it is made; `call` is a recorded decision.
        constants: Named values that expressions read.
        functions: Pure functions that expressions call.
        steps: How many steps of an episode it is drawn for; all, if left out.
        when: Where it is made; everywhere, if left out. It reads the state, the step `t` and the most steps
            `horizon`.
        offer: A way around a rule.
        challenge: A question about stated reasons.
        expect: What passes.
    """

    spec: Literal["probe/v1"]
    at: Place
    constants: Mapping[Identifier, Constant] = Field(default_factory=dict)
    functions: Mapping[Identifier, Function] = Field(default_factory=dict)
    steps: Annotated[int, Field(ge=1, le=1000)] | None = None
    when: Expression = "true"
    offer: Offer | None = None
    challenge: Challenge | None = None
    expect: Expression

    @model_validator(mode="after")
    def _one_sort(self) -> Probe:
        if (self.offer is None) == (self.challenge is None):
            raise ValueError("a probe has exactly one of `offer` and `challenge`")
        offer = self.offer
        if offer is not None and offer.edit is not None and self.at != "before_propose":
            raise ValueError("an edit of the proposal is offered at before_propose")
        if offer is not None and offer.call is not None and offer.call.token == "own":
            _own_token(self.at, offer.call)
        if self.at == "call":
            _of_a_call(self.challenge)
        elif self.challenge is not None and self.challenge.edit:
            raise ValueError("`edit` changes what came before a call: the probe is made `at: call`")
        if self.challenge is not None and self.at == "before_propose":
            raise ValueError("a challenge needs a proposal: it is made after the commitment")
        return self


def _of_a_call(challenge: Challenge | None) -> None:
    """A model that is asked about a call states reasons, and declares no procedure."""
    if challenge is None or challenge.of not in ("claims", "unused") or challenge.ask != "agent":
        raise ValueError("at a call what is challenged are the claims of the model that is asked, or what is `unused`")
    if (challenge.of == "unused") != bool(challenge.edit):
        raise ValueError("`edit` lists what is `unused` at a call")
    if challenge.on != "here" or challenge.demand or not isinstance(challenge.arms.placebo, int):
        raise ValueError("at a call there is no `on: fresh`, no `demand`, and no placebo by name")


def _own_token(at: Place, call: Call) -> None:
    """The token of this decision must have been issued, and not be offered for what it was issued for."""
    if at not in ("after_token", "after_act"):
        raise ValueError("the token of this decision is offered at after_token or after_act")
    if at == "after_token" and call.action == "chosen":
        raise ValueError("at after_token the own token for the chosen action breaks no rule")
