"""The interface of models: requests, answers, usage of tokens, failures.

A failure of a model is data with a reason, never an exception. The text of an answer is untrusted.
Source: law proposer, section 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Protocol

from msgspec import Meta, Struct, convert, field
from msgspec.structs import asdict

from specledger.core.canonical import MAX_INTEGER, canonical_bytes
from specledger.core.digest import hash_json, tagged
from specledger.oracles.failures import FAILURES, MOST_TEXT, TOO_LARGE

MOST_DETAIL: Final = 500
"""Characters of a word more about a failure."""

MOST_CALLS: Final = 8
"""Calls of an answer that are kept."""

BYTES_A_TOKEN: Final = 4
"""Bytes of UTF-8 that are taken for a token where nobody counts."""

REQUEST_TAG: Final = "specledger/request/v1"
TEXT_TAG: Final = "specledger/text/v1"

_FINISH: Final = 64  # characters of why a model stopped
_CALLED: Final = 200  # characters of the name of a function
_ANSWER: Final = ("text", "failure", "detail", "finish")
_NO_ANSWER: Final = "no answer of a model"

Tokens = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]
"""A number of tokens."""


class TokenUsage(Struct, frozen=True):
    """What a call cost (law proposer, section 4).

    Attributes:
        output_tokens: Tokens of what came, without thinking.
        thinking_tokens: Tokens that the model spent before answering.
        estimated: Whether the figures were guessed from lengths instead of counted by the service.
    """

    prompt_tokens: Tokens
    output_tokens: Tokens
    thinking_tokens: Tokens = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """All tokens of the call."""
        return self.prompt_tokens + self.output_tokens + self.thinking_tokens


NO_TOKENS: Final = TokenUsage(0, 0)
"""The cost of a call that did not reach the service."""


class Known(Struct, frozen=True):
    """What the asker knew, for a model that answers by rules; it says nothing that the prompt may not say.

    Attributes:
        count: How many laws are asked for.
        accepted, falsified, unknown: The names of the laws in the snapshot, in its order.
    """

    count: int = 0
    accepted: tuple[str, ...] = ()
    falsified: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class Tool(Struct, frozen=True):
    """A function that a model is offered: its name, what it does, and the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class Call(Struct, frozen=True):
    """A call of an offered function: its name, and its arguments as JSON text; both are hostile input."""

    name: str
    arguments: str


class ModelRequest(Struct, frozen=True):
    """One question to a model.

    Attributes:
        turn: Its number, from 0: the same prompt asked twice is two questions.
        schema: A JSON Schema that the answer shall conform to, or None; how a model is held to it is its own matter.
        temperature: Instead of the model's own, in millionths; None for the model's own.
        tools: The functions that it is offered, one of which it must call; none of them is ever executed.
        labels: The labels of which one is the answer; empty where it answers in words.
    """

    turn: int
    system: str
    prompt: str
    schema: Mapping[str, Any] | None = None
    temperature: int | None = None
    known: Known = field(default_factory=Known)
    tools: tuple[Tool, ...] = ()
    labels: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The question as JSON values, texts by their hashes: small enough to be kept beside an answer."""
        return {
            "turn": self.turn,
            "system": tagged(TEXT_TAG, self.system.encode(errors="surrogatepass")),
            "prompt": tagged(TEXT_TAG, self.prompt.encode(errors="surrogatepass")),
            "schema": None if self.schema is None else hash_json(dict(self.schema)),
            "temperature": self.temperature,
            "known": hash_json(asdict(self.known)),
            **({"tools": hash_json([asdict(tool) for tool in self.tools])} if self.tools else {}),
            **({"labels": list(self.labels)} if self.labels else {}),
        }

    def key(self, identity: Mapping[str, Any]) -> str:
        """The digest of the question and of who is asked: what an answer is recorded and found under."""
        return request_key(identity, self.document())


def request_key(identity: Mapping[str, Any], request: Mapping[str, Any]) -> str:
    """The key of a request that is given as `ModelRequest.document` writes it."""
    return tagged(REQUEST_TAG, canonical_bytes({"model": dict(identity), "request": dict(request)}))


class ModelAnswer(Struct, frozen=True):
    """What a model answered, or why not; made by `answered` and `failed`, which keep it within its bounds.

    Attributes:
        text: What came; None only with a failure. Hostile input: it may hold any character but lone surrogates. Empty
            beside calls is no failure.
        detail: A word more about a failure, for people; printed escaped only.
        finish: Why the model stopped, in the service's own word, or None.
    """

    text: str | None
    failure: str | None = None
    detail: str = ""
    usage: TokenUsage = NO_TOKENS
    finish: str | None = None
    calls: tuple[Call, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether its text is a whole answer."""
        return self.failure is None

    def document(self) -> dict[str, Any]:
        """The answer as JSON values."""
        calls = {"calls": [asdict(call) for call in self.calls]} if self.calls else {}
        return {**{name: getattr(self, name) for name in _ANSWER}, "usage": asdict(self.usage), **calls}

    @classmethod
    def read(cls, document: Any) -> ModelAnswer:
        """The answer that a document holds.

        Raises:
            ValueError: `document` wrote no such document.
        """
        try:
            answer = convert(document, cls)
        except ValueError:
            raise ValueError(_NO_ANSWER) from None
        text, failure = answer.text, answer.failure
        kept = (
            answered(text, answer.usage, answer.finish, answer.calls) if failure is None and text is not None else None
        )
        if failure is not None and failure in FAILURES:
            kept = failed(failure, answer.detail, answer.usage, answer.finish, text)
        if kept != answer or answer.document() != document:
            raise ValueError(_NO_ANSWER)
        return answer


def answered(
    text: str, usage: TokenUsage = NO_TOKENS, finish: str | None = None, calls: Sequence[Call] = ()
) -> ModelAnswer:
    """The answer that a text is, with the calls beside it; one that is too large is a failure."""
    kept = _whole(text)
    capped_calls = tuple(Call(_cut(call.name, _CALLED) or "", _whole(call.arguments)) for call in calls[:MOST_CALLS])
    if len(canonical_bytes([kept, *(call.arguments for call in capped_calls)])) > MOST_TEXT + 2:
        return failed(TOO_LARGE, "", usage, finish)
    return ModelAnswer(kept, None, "", usage, _cut(finish, _FINISH), capped_calls)


def failed(
    failure: str, detail: str = "", usage: TokenUsage = NO_TOKENS, finish: str | None = None, text: str | None = None
) -> ModelAnswer:
    """No answer, with its reason; what came of a text is kept as far as it is not too large.

    Raises:
        ValueError: The failure is not one of `FAILURES`.
    """
    if failure not in FAILURES:
        raise ValueError(f"{failure!r} is not a failure of a model")
    kept = None if text is None else _whole(text)
    if kept is not None and len(canonical_bytes(kept)) > MOST_TEXT:
        kept = None
    return ModelAnswer(kept, failure, _cut(detail, MOST_DETAIL) or "", usage, _cut(finish, _FINISH))


class Model(Protocol):
    """A model that can be asked."""

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Ask once.

        Raises:
            Rejected: A mistake of the user: no key, a miss in a cassette, an untrusted file.
        """


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: a token for every four bytes begun.

    A prompt that replay must make again is cut by this, never by a service's own count.
    """
    return -(-len(text.encode(errors="replace")) // BYTES_A_TOKEN)


def estimated_usage(request: ModelRequest, text: str) -> TokenUsage:
    """The estimated cost of a call, where there is no count."""
    asked = estimate_tokens(request.system) + estimate_tokens(request.prompt)
    return TokenUsage(asked, estimate_tokens(text), estimated=True)


def _whole(text: str) -> str:
    """The text with every lone surrogate replaced, which has no UTF-8 form."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _cut(word: str | None, most: int) -> str | None:
    return None if word is None else _whole(word)[:most]
