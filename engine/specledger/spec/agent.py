"""The `agent` kind: what is remembered, what is proposed, how proposals are scored, their claims; or who is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from specledger.spec.base import (
    POLICY_MS,
    QFIXED_ONE,
    Constant,
    Expression,
    Expressions,
    Identifier,
    Model,
    Name,
    QFixed,
    Reference,
    RefTo,
    Score,
    Spec,
)
from specledger.spec.memory import Memory, Write
from specledger.spec.world import Function, VariableName

Word = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
"""A program or an argument; no shell reads it."""

Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]
"""The name of an environment variable."""


class Candidate(Model):
    """A family of actions to propose: one for every combination of `for_each` values, where `when` holds.

    Attributes:
        op: The action that is proposed.
        for_each: A list of values for each argument; there is a proposal for every combination.
        when: Which combinations are proposed; all, if left out.
    """

    op: Identifier
    for_each: Expressions = Field(default_factory=dict)
    when: Expression = "true"


class Requests(Model):
    """The scope that an agent asks for; as much as is granted, where it does not say.

    Attributes:
        max_calls: How many executions it asks for.
        per_ms: Within how many milliseconds they are counted.
        expiry_ms: For how many milliseconds it asks.
    """

    max_calls: Annotated[int | None, Field(ge=1, le=1000)] = None
    per_ms: Annotated[int | None, Field(ge=1, le=86_400_000)] = None
    expiry_ms: Annotated[int | None, Field(ge=1, le=864_000_000)] = None


class AgentDraw(Model):
    """A value from a list: drawn uniformly by a named stream, or the next one each time that a decision is asked about.

    With `order: asked` the decision itself takes the first value, the first question about it the second, and what is
    asked beyond the list its last one.

    Attributes:
        from: The list that the value is taken from.
        stream: The stream of random values that draws it.
        order: With `asked`, the next element each time that a decision is asked about.
    """

    source: Expression = Field(alias="from")
    stream: Name | None = None
    order: Literal["asked"] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> AgentDraw:
        if (self.stream is None) == (self.order is None):
            raise ValueError("a value is taken by a `stream` or in an `order`")
        return self


class Narration(Model):
    """Who explains: the agent that is asked what would change its choice, and the one whose procedure is declared.

    Both are this agent itself if left out; `declares` is `by` if only that is given. `steps` says how many steps a plan
    has at most, `requests` the scope that is asked for. `nonces` says where those of its fork snapshots come from: a
    `fresh` one for each, the same one `reused`, or a `late` one that is drawn when the commitment is to be opened.
    `confidence` is the rate at which it says that the predicted choice of each claim comes; it states none if left out.

    Attributes:
        by: The agent that is asked what would change its choice; this one, if left out.
        declares: The agent whose procedure is declared.
        vary: The variables that it tries to change when it looks for reasons.
        claims: How many claims it states at most.
        steps: How many steps its plan has at most.
        requests: The scope that is asked for.
        nonces: Where the nonces of its fork snapshots come from.
        confidence: The rate at which the predicted choice of each claim comes, as it says.
    """

    by: Annotated[Reference | None, RefTo("agent")] = None
    declares: Annotated[Reference | None, RefTo("agent")] = None
    vary: Annotated[list[VariableName], Field(min_length=1, max_length=64)]
    claims: Annotated[int, Field(ge=0, le=16)] = 3
    steps: Annotated[int, Field(ge=1, le=16)] = 1
    requests: Requests = Field(default_factory=Requests)
    nonces: Literal["fresh", "reused", "late"] = "fresh"
    confidence: Annotated[QFixed, Field(ge=0, le=QFIXED_ONE)] | None = None


class Outside(Model):
    """An agent that is asked outside: a Python function, a program that answers lines of JSON, or a language model.

    `declares` names the agent whose procedure it claims to follow; its traces and what is checked of them come from it.
    `requests` is the scope that is asked for with its statements. A model is told the words of `prompt`; `reasons` is
    the vocabulary in which its reasons are read, and `deterministic` says that it gives the same answer to the same
    question.

    Attributes:
        python: A Python function that is asked, as `module:name`.
        command: A program that answers lines of JSON, with its arguments.
        deadline_ms: How many milliseconds an answer may take.
        start_ms: How many milliseconds longer the first answer of a process may take.
        environment: The environment variables that the program sees.
        declares: The agent whose procedure it claims to follow.
        requests: The scope that is asked for with its statements.
        model: The language model that is asked.
        prompt: What the model is told.
        reasons: The vocabulary in which the model's reasons are read.
        deterministic: Whether the model gives the same answer to the same question.
    """

    python: Annotated[
        str | None,
        StringConstraints(
            pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*$", max_length=300
        ),
    ] = None
    command: Annotated[list[Word] | None, Field(min_length=1, max_length=64)] = None
    deadline_ms: Annotated[int, Field(ge=1, le=600_000)] = POLICY_MS
    start_ms: Annotated[int, Field(ge=0, le=600_000)] = 2_000
    environment: Annotated[list[Variable], Field(max_length=64)] = Field(default_factory=list)
    declares: Annotated[Reference | None, RefTo("agent")] = None
    requests: Requests = Field(default_factory=Requests)
    model: Annotated[Reference | None, RefTo("model")] = None
    prompt: Annotated[Reference | None, RefTo("prompt")] = None
    reasons: Annotated[Reference | None, RefTo("vocabulary")] = None
    deterministic: bool = False

    @model_validator(mode="after")
    def _one_of_three(self) -> Outside:
        if sum(option is not None for option in (self.python, self.command, self.model)) != 1:
            raise ValueError("an agent from outside has exactly one of `python`, `command` and `model`")
        words = (self.prompt, self.reasons)
        if self.model is not None and None in words:
            raise ValueError("an agent that is a model has a `prompt` and `reasons`")
        if self.model is None and (words != (None, None) or self.deterministic):
            raise ValueError("`prompt`, `reasons` and `deterministic` are keys of an agent that is a model")
        return self


def _inside(pattern: str) -> str:
    if pattern.startswith("/") or "\\" in pattern or ".." in pattern.split("/"):
        raise ValueError("this may lead outside the project: write it relative to the project's folder, without `..`")
    return pattern


LogPattern = Annotated[str, StringConstraints(min_length=1, max_length=1024), AfterValidator(_inside)]
"""A file or a pattern of files, relative to the folder of the project, and not above it."""


ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.:/-]*$", max_length=200)]
"""The name of a tool as logs and services write it."""


class AskedAgain(Model):
    """The model that is asked again which call it makes, by probes that are made at a `call` of a recording.

    It is told the words of `prompt`, and offered the tools of the trajectory and those of `tools`, each with what it
    does. Two calls are the same choice if they are of one tool and the arguments in `compare` are equal.
    `deterministic` says that it gives the same answer to the same question.

    Attributes:
        model: The model that is asked.
        prompt: What it is told.
        tools: Tools that it is offered beside those of the trajectory, each with what it does.
        compare: The arguments of each tool by which two calls are the same choice.
        deterministic: Whether it gives the same answer to the same question.
    """

    model: Annotated[Reference, RefTo("model")]
    prompt: Annotated[Reference, RefTo("prompt")]
    tools: Annotated[
        Mapping[ToolName, Annotated[str, StringConstraints(min_length=1, max_length=1000)]], Field(max_length=100)
    ] = Field(default_factory=dict)
    compare: Annotated[Mapping[ToolName, list[Word]], Field(max_length=100)] = Field(default_factory=dict)
    deterministic: bool = False


class Recording(Model):
    """Logs of what an agent did; nothing of it is executed again.

    `files` are patterns such as `logs/*.jsonl`, relative to the folder that holds `specs/agent/`, or to that of the
    spec where it lies elsewhere; `spec run --trajectories` names others. Their `format` is recognised if it is left
    out. A call of a tool that the world has no action for is the action `otherwise`, which has the one argument `tool`.
    `asks` is the model that answers the probes of the scenario.

    Attributes:
        files: The logs: files or patterns such as `logs/*.jsonl`, relative to the folder of the project.
        format: The format of the logs; it is recognised if left out.
        tools: All tools that it had, each with the JSON Schema of its arguments, or null. A call that does not fit
            them, or a rule that can notice nothing with them, keeps a run from PASS.
        otherwise: The action that stands for a call of a tool that the world has no action for.
        asks: The model that answers the probes about recorded calls.
    """

    files: Annotated[list[LogPattern], Field(max_length=256)] = Field(default_factory=list)
    format: Name | None = None
    tools: Annotated[Mapping[Word, Mapping[str, Any] | None] | None, Field(min_length=1, max_length=10_000)] = None
    otherwise: Identifier | None = None
    asks: AskedAgain | None = None


class Agent(Spec):
    """An agent/v1 document: a procedure, who is asked `outside`, or the `trajectories` that it left.

    Attributes:
        constants: Named values that expressions read.
        functions: Pure functions that expressions call.
        memory: What is kept from step to step.
        remember: What is written into the memory after acting.
        draw: Values that are drawn for each decision.
        let: Values that are computed once for each observation.
        predicts: Whether `each`, `claims` and `score` read the state `now` and the `next` one that a proposal
            leads to.
        candidates: The actions that it proposes.
        each: Values that are computed once for each proposal.
        claims: What it predicts of each proposal, exactly as the governor's `claims` ask for.
        score: Its own preference among proposals; the governor decides what it counts.
        narration: How it explains itself to a kernel.
        outside: Who is asked for decisions, in place of a procedure.
        trajectories: Logs of what it did, in place of a procedure.
    """

    spec: Literal["agent/v1"]
    constants: Mapping[Identifier, Constant] = Field(default_factory=dict)
    functions: Mapping[Identifier, Function] = Field(default_factory=dict)
    memory: Memory | None = None
    remember: list[Write] = Field(default_factory=list)
    draw: Mapping[Identifier, AgentDraw] = Field(default_factory=dict)
    let: Expressions = Field(default_factory=dict)
    predicts: bool = False
    candidates: list[Candidate] = Field(default_factory=list)
    each: Expressions = Field(default_factory=dict)
    claims: Expressions = Field(default_factory=dict)
    score: Score | None = None
    narration: Narration | None = None
    outside: Outside | None = None
    trajectories: Recording | None = None

    @model_validator(mode="after")
    def _one_body(self) -> Agent:
        if self.trajectories is not None:
            if self.model_fields_set - {*Spec.model_fields, "trajectories"}:
                raise ValueError("an agent that is recorded as `trajectories` has no other body")
        elif self.outside is None:
            if not self.candidates or self.score is None:
                raise ValueError(
                    "an agent has `candidates` and a `score`, or it is asked `outside`, or recorded as `trajectories`"
                )
        elif self.model_fields_set - {*Spec.model_fields, "outside"}:
            raise ValueError("an agent that is asked `outside` has no other body")
        return self
