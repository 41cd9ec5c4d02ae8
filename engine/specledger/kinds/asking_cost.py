"""What asking agents from outside would cost in runs: messages, bytes; of models calls, tokens, money."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from specledger.compile.plan import Plan, PlannedOutside
from specledger.core.canonical import canonical_bytes
from specledger.oracles.model import BYTES_A_TOKEN
from specledger.oracles.model_agent import Asking, ModelPlan
from specledger.run.session import greeting
from specledger.spec.base import format_qfixed

_CALL: Final = 40  # bytes of a call beside its reasons


class _Cost(NamedTuple):
    """What one run of a model costs: expected figures, and at most; money in millionths, 0 without a price."""

    calls: int
    most_calls: int
    prompt: int
    output: int
    most_output: int
    cost: int
    most_cost: int


def asking_cost(plans: Iterable[Plan]) -> dict[str, Any]:
    """What the runs whose agents are outside cost together, as JSON values.

    Returns:
        Nothing if no agent is outside. Else `asked`: `messages` at most, of an agent that keeps no state or starts
        anew, and the bytes `sent`, estimated from the first question. Of models also `model`: `calls`, as of a model
        whose reasons hold, and `calls_at_most`; `prompt_tokens` and `output_tokens`, estimated from the first question
        and from the reasons that it demands; `output_tokens_at_most`; where every model has a price `cost` and
        `cost_at_most`, and the dates of the prices, if they have one.
    """
    outside = [(plan, plan.outside) for plan in plans if plan.outside is not None]
    if not outside:
        return {}
    messages = [_messages(plan, asked) for plan, asked in outside]
    sent = sum(count * _question(plan, asked) for (plan, asked), count in zip(outside, messages, strict=True))
    totals: dict[str, Any] = {"asked": {"messages": sum(messages), "sent": sent}}
    models = [(plan, asked, asked.model) for plan, asked in outside if asked.model is not None]
    if models:
        cost = _Cost(*map(sum, zip(*(_cost(*each) for each in models), strict=True)))
        totals["model"] = {
            "calls": cost.calls,
            "calls_at_most": cost.most_calls,
            "prompt_tokens": cost.prompt,
            "output_tokens": cost.output,
            "output_tokens_at_most": cost.most_output,
        }
        totals["model"] |= _money(cost, [model for _, _, model in models])
    return totals


def _money(cost: _Cost, models: Sequence[ModelPlan]) -> dict[str, Any]:
    prices = [None if model.service is None else model.service.price for model in models]
    if None in prices:
        return {}
    dates = sorted({price.as_of for price in prices if price is not None and price.as_of is not None})
    money = {"cost": format_qfixed(cost.cost), "cost_at_most": format_qfixed(cost.most_cost)}
    return money | ({"prices_as_of": ", ".join(dates)} if dates else {})


def weak_probes(plan: Plan) -> list[str]:
    """Probes that ask an agent which may draw too seldom to convict it."""
    return [name for actor in plan.actors for name in actor.too_few_repeats]


def _cost(plan: Plan, outside: PlannedOutside, asked: ModelPlan) -> _Cost:
    questions, decisions = outside.questions(plan), plan.episodes * plan.horizon
    calls, most_calls = decisions + questions.asked, decisions + questions.most_asked
    asking = Asking(asked, greeting(plan))
    start = plan.start(0)
    shown = {"observation": plan.actors[0].observe(start), **outside.shown(start)}
    tokens = asking.tokens(asking.question(shown))
    answer = -(-(questions.reasons + _CALL) // BYTES_A_TOKEN)
    longest = 0 if asked.service is None else asked.service.max_output_tokens
    prompt, output, most_output = calls * tokens, calls * answer, most_calls * longest
    price = asked.price or (lambda _prompt, _output: 0)
    cost, most_cost = price(prompt, output), price(most_calls * tokens, most_output)
    return _Cost(calls, most_calls, prompt, output, most_output, cost, most_cost)


def _messages(plan: Plan, outside: PlannedOutside) -> int:
    """`hello`; for each episode `reset`, the decisions, the questions of probes, the commitments to be opened."""
    questions = outside.questions(plan)
    return 1 + plan.episodes * (1 + plan.horizon) + questions.most_asked + questions.most_opened


def _question(plan: Plan, outside: PlannedOutside) -> int:
    """The bytes of the first question."""
    start = plan.start(0)
    shown: dict[str, Any] = {"observation": plan.actors[0].observe(start), **outside.shown(start)}
    return len(canonical_bytes(shown))
