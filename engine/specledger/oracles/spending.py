"""What it costs to ask an agent from outside, without a clock: messages, bytes; of a model calls, tokens and money."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specledger.core.canonical import parse_json
from specledger.oracles.answer import Answer
from specledger.oracles.model import ModelAnswer, TokenUsage

if TYPE_CHECKING:
    from specledger.spec.model import Service

_OF_MESSAGES: Final = ("messages", "sent", "received")
_OF_CALLS: Final = ("calls", "input_tokens", "output_tokens")
SPENT: Final = (*_OF_MESSAGES, *_OF_CALLS, "cost")
"""The figures: how many messages, their bytes, the bytes of the answers; of a model the calls, their tokens (thinking
is output), and their price in millionths of the currency."""


class AskedCalls(NamedTuple):
    """What asking a model about the calls of a recording takes, if its reasons hold.

    Attributes:
        decisions: The calls that it is asked about.
        calls, most_calls: How often it is asked; at most, whatever it answers.
        prompt, output: Tokens of all questions and of all answers, about.
        service: How the model is asked; None for one that is no service.
    """

    decisions: int
    calls: int
    most_calls: int
    prompt: int
    output: int
    service: Service | None


class Spending:
    """Adds up what was asked, from messages and recorded answers alone."""

    def __init__(self, *, model: bool = False, price: Callable[[int, int], int] | None = None) -> None:
        """Begin with nothing.

        Args:
            model: Whether the answers hold what a model answered.
            price: Of tokens of questions and of answers, in millionths; None without a price.
        """
        self._names = _OF_MESSAGES + (_OF_CALLS if model else ()) + (("cost",) if price else ())
        self._model, self._price = model, price
        self._counts: Counter[str] = Counter()

    def add(self, sent: int, answer: Answer) -> None:
        """Count a message of so many bytes and its answer."""
        self._counts.update(messages=1, sent=sent, received=answer.size)
        usage = _usage(answer) if self._model else None
        if usage is not None:
            output = usage.output_tokens + usage.thinking_tokens
            self._counts.update(calls=1, input_tokens=usage.prompt_tokens, output_tokens=output)
            self._counts["cost"] += 0 if self._price is None else self._price(usage.prompt_tokens, output)

    def take(self) -> dict[str, int]:
        """What was counted since the last time, by the names of `SPENT` that apply."""
        counts, self._counts = self._counts, Counter()
        return {name: counts[name] for name in self._names}


def _usage(answer: Answer) -> TokenUsage | None:
    """The tokens of the call that an answer was made of; None if it was made of none, or does not say."""
    try:
        document: Any = parse_json(answer.received or b"")
        return ModelAnswer.read(document["source"]["answer"]).usage
    except (ValueError, KeyError, TypeError):
        return None
