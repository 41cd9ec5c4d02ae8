"""The `model` kind: who is asked: a service, a script, an enumeration, or a record of one of them.

Source: law proposer, section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints, Tag, model_validator

from specledger.spec.base import Day, Expression, Identifier, Model, QFixed, Reference, RefTo, Spec, by_key


class Grammar(Model):
    """What is enumerated: every document that `start` makes, the cheap ones first.

    An alternative is any value, or `{cost, is}` with that value: it costs 1, or its `cost`, and what its places cost.

    Attributes:
        start: The rule that makes the documents.
        grammar: The alternatives of each rule.
    """

    start: Identifier
    grammar: Annotated[
        Mapping[Identifier, Annotated[list[Any], Field(min_length=1, max_length=512)]],
        Field(min_length=1, max_length=128),
    ]


Failure = Literal[
    "blocked",
    "empty",
    "withheld",
    "truncated",
    "malformed",
    "timed_out",
    "refused",
    "cut_off",
    "rate_limited",
    "unavailable",
    "unauthorised",
    "invalid",
    "redirected",
    "too_large",
    "exhausted",
    "over_limit",
]
"""Why there is no answer that can be used; `oracles.model.FAILURES` has a page for each."""

MOST_TIMES: Final = 10_000_000
"""How often a scripted text may be repeated."""

Probability = Annotated[QFixed, Field(ge=0, le=1_000_000)]
Temperature = Annotated[QFixed, Field(ge=0, le=2_000_000)]


KeyVariable = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]*_API_KEY$", max_length=100)]
"""The name of an environment variable that holds a key; only names that end in `_API_KEY` can be read by a spec."""

ModelName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=120)]
Money = Annotated[QFixed, Field(ge=0, le=1_000_000_000_000)]


class Price(Model):
    """What a million tokens cost, in the currency of `Limits.money`; thinking is output. `as_of` is its date.

    Attributes:
        input: What a million tokens of a prompt cost.
        output: What a million tokens of an answer cost.
        as_of: The date of the price.
    """

    input: Money
    output: Money
    as_of: Day | None = None


NO_DATE: Final = "no date"
"""What is shown of a price without `as_of`."""


class Limits(Model):
    """What the calls of one run, or of one discovery, may use in all; further calls fail as `over_limit`.

    Attributes:
        tokens: How many tokens all calls may use.
        money: How much all calls may cost, in the currency of the price.
    """

    tokens: Annotated[int | None, Field(ge=1, le=1_000_000_000_000)] = None
    money: Money | None = None


class Service(Model):
    """What all services have: how answers are sampled, and how patiently, how often and at what cost one asks.

    Attributes:
        temperature, top_p: How it samples.
        seed: For services that sample reproducibly; null sends none.
        max_output_tokens: Tokens of an answer at most, those of thinking included.
        json_mode: Whether it may answer nothing but JSON; of no effect where it is offered functions.
        deadline_ms: Milliseconds until there must be an answer, all tries and waits together.
        retries: How often it is asked again after HTTP 429 or 5xx.
        per_minute: Calls in a minute at most, of all processes of this user together; null for any number.
        concurrency: Calls at once at most, of all processes of this user together; null for any number.
        key: The environment variable that holds the key.
        limits, price: What may be used in all, and what it costs.
    """

    temperature: Temperature = 700_000
    top_p: Probability = 950_000
    seed: Annotated[int | None, Field(ge=0, le=2_147_483_647)] = None
    max_output_tokens: Annotated[int, Field(ge=1, le=1_048_576)] = 8192
    json_mode: bool = True
    deadline_ms: Annotated[int, Field(ge=100, le=3_600_000)] = 60_000
    retries: Annotated[int, Field(ge=0, le=10)] = 3
    per_minute: Annotated[int | None, Field(ge=1, le=100_000)] = None
    concurrency: Annotated[int | None, Field(ge=1, le=64)] = None
    key: KeyVariable | None = None
    limits: Limits = Field(default_factory=Limits)
    price: Price | None = None

    @model_validator(mode="after")
    def _priced(self) -> Service:
        if self.limits.money is not None and self.price is None:
            raise ValueError("a limit of `money` needs a `price`")
        return self


SERVICES: Final = ("gemini", "openai")
"""The keys of a model under which a service is described."""


class GeminiConfig(Service):
    """How a Gemini model is asked; without `key` it is in GEMINI_API_KEY or GOOGLE_API_KEY.

    Attributes:
        model: The service's name of the model.
        top_k: How it samples.
        thinking_budget: Tokens for thinking; 0 for none, -1 for as many as it likes, null for its own default.
        api_version: The version of the service's interface, which is part of the address.
    """

    model: ModelName = "gemini-2.5-flash"
    api_version: Literal["v1beta", "v1"] = "v1beta"
    top_k: Annotated[int, Field(ge=1, le=1000)] = 40
    thinking_budget: Annotated[int | None, Field(ge=-1, le=1_048_576)] = None


class OpenAIConfig(Service):
    """How a model behind an OpenAI-compatible endpoint is asked (chat completions).

    Attributes:
        model: The service's name of the model.
        endpoint: The address before `/chat/completions`; null for OPENAI_BASE_URL, or the service's own. Any other
            address than these and this machine must be allowed by the user.
        tokens_field: How the service calls `max_output_tokens`.
        tool_choice: What it is told about functions; some services do not know `required`.
        reasoning_effort: Sent if given.
    """

    model: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@-]*$", max_length=200)]
    endpoint: Annotated[str | None, StringConstraints(pattern=r"^https?://[!-~]+$", max_length=500)] = None
    tokens_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    tool_choice: Literal["required", "auto"] = "required"
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None


class ScriptedText(Model):
    """An answer word for word, broken ones included; `times` of it in a row.

    Attributes:
        text: The answer, word for word.
        times: How many times in a row it is given.
    """

    text: Annotated[str, StringConstraints(max_length=524_288)]
    times: Annotated[int, Field(ge=1, le=MOST_TIMES)] = 1


class ScriptedLaws(Model):
    """An answer that is a JSON array of laws; the whole list `times` times.

    Attributes:
        laws: The laws of the answer.
        times: How many times the whole list stands in it.
    """

    laws: Annotated[list[Mapping[str, Any]], Field(max_length=1000)]
    times: Annotated[int, Field(ge=1, le=MOST_TIMES)] = 1


class ScriptedFailure(Model):
    """No answer, for this reason; `text` is what came before it.

    Attributes:
        failure: Why there is no answer.
        detail: What the service says of it.
        text: What came before it.
    """

    failure: Failure
    detail: Annotated[str, StringConstraints(max_length=500)] = ""
    text: Annotated[str | None, StringConstraints(max_length=524_288)] = None


Answer = Annotated[
    Annotated[ScriptedFailure, Tag("failure")]
    | Annotated[ScriptedText, Tag("text")]
    | Annotated[ScriptedLaws, Tag("laws")],
    by_key("failure", "text", "laws"),
]


class Rule(Model):
    """An answer wherever a condition holds, over `turn`, `count`, `prompt`, `accepted`, `falsified` and `unknown`.

    Attributes:
        when: Where it answers.
        answer: The answer.
    """

    when: Expression
    answer: Answer


class Script(Model):
    """A deterministic model: the first rule that holds answers; where none does, the turn's own answer.

    `then` says what comes where the answers are used up: the last one again, all of them anew, or none.

    Attributes:
        answers: The answers by turn.
        rules: Rules of which the first that holds answers, before `answers`.
        then: What comes where the answers are used up: the last one again, all of them anew, or none.
    """

    answers: Annotated[list[Answer], Field(max_length=10_000)] = Field(default_factory=list)
    rules: Annotated[list[Rule], Field(max_length=256)] = Field(default_factory=list)
    then: Literal["exhausted", "repeat", "cycle"] = "exhausted"

    @model_validator(mode="after")
    def _says_something(self) -> Script:
        if not self.answers and not self.rules:
            raise ValueError("a script has `answers` or `rules`")
        if not self.answers and self.then != "exhausted":
            raise ValueError("without `answers` there is nothing to repeat")
        return self


class Cassette(Model):
    """A record of a model's answers, in a file beside the spec; what is not in it is asked only to record.

    Attributes:
        records: The model whose answers are recorded.
        file: The file of the record, beside the spec.
    """

    records: Annotated[Reference, RefTo("model")]
    file: Annotated[
        str,
        StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9][A-Za-z0-9_.-]*)*\.jsonl$", max_length=200),
    ]


class LanguageModel(Spec):
    """A model/v1 document.

    `answers` is how it makes a call where it is offered functions: by `tools` of the service, as one `json` object in
    its text, or by the `label` that is most probable as its answer, which is asked for the function and for each
    argument with finitely many values. A cassette answers as the model that it records.

    Attributes:
        gemini: A Gemini model is asked.
        openai: A model behind an OpenAI-compatible endpoint is asked.
        scripted: A script answers.
        enumerate: Documents are enumerated from a grammar, without any model.
        cassette: A record of a model answers.
        answers: How it makes a call where it is offered functions.
    """

    spec: Literal["model/v1"]
    gemini: GeminiConfig | None = None
    openai: OpenAIConfig | None = None
    scripted: Script | None = None
    enumerate: Grammar | None = None
    cassette: Cassette | None = None
    answers: Literal["tools", "json", "label"] = "tools"

    @model_validator(mode="after")
    def _one_body(self) -> LanguageModel:
        bodies = (self.gemini, self.openai, self.scripted, self.enumerate, self.cassette)
        if sum(body is not None for body in bodies) != 1:
            raise ValueError("a model has exactly one of `gemini`, `openai`, `scripted`, `enumerate` and `cassette`")
        if self.answers != "tools" and (self.enumerate is not None or self.cassette is not None):
            raise ValueError("`answers` is of a service or a script: a cassette answers as the model that it records")
        return self
