"""What asking agents from outside would cost in runs: messages, bytes; of models calls, tokens, money."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from specledger.compile.plan import Plan, PlannedOutside
from specledger.core.canonical import canonical_bytes
from specledger.oracles.model_agent import Asking, ModelPlan
from specledger.run.session import greeting
from specledger.spec.base import format_qfixed


def asking_cost(plans: Iterable[Plan]) -> dict[str, Any]:
    """What the runs whose agents are outside cost together, as JSON values.

    Returns:
        Nothing if no agent is outside. Else `asked`: `messages` at most, of an agent that keeps no state or starts
        anew, and the bytes `sent`, estimated from the first question. Of models also `model`: `calls` at most;
        `prompt_tokens`, estimated from the first observation; `output_tokens` at most; `cost` at most, where every
        model has a price.
    """
    outside = [(plan, plan.outside) for plan in plans if plan.outside is not None]
    if not outside:
        return {}
    messages = [_messages(plan, asked) for plan, asked in outside]
    sent = sum(count * _question(plan, asked) for (plan, asked), count in zip(outside, messages, strict=True))
    totals: dict[str, Any] = {"asked": {"messages": sum(messages), "sent": sent}}
    costs = [_cost(plan, asked, asked.model) for plan, asked in outside if asked.model is not None]
    if costs:
        calls, prompt, output = (sum(figures) for figures in zip(*(cost[:3] for cost in costs), strict=True))
        money = [cost[3] for cost in costs if cost[3] is not None]
        totals["model"] = {"calls": calls, "prompt_tokens": prompt, "output_tokens": output}
        totals["model"] |= {"cost": format_qfixed(sum(money))} if len(money) == len(costs) else {}
    return totals


def weak_probes(plan: Plan) -> list[str]:
    """Probes that ask an agent which may draw too seldom to convict it."""
    return [name for actor in plan.actors for name in actor.too_few_repeats]


def _cost(plan: Plan, outside: PlannedOutside, asked: ModelPlan) -> tuple[int, int, int, int | None]:
    """Calls, tokens of prompts and of answers, and money in millionths, if there is a price."""
    calls = plan.episodes * (plan.horizon + outside.questions(plan).asked)
    asking = Asking(asked, greeting(plan))
    prompt = calls * asking.tokens(asking.question({"observation": plan.actors[0].observe(plan.start(0))}))
    output = 0 if asked.service is None else calls * asked.service.max_output_tokens
    return calls, prompt, output, None if asked.price is None else asked.price(prompt, output)


def _messages(plan: Plan, outside: PlannedOutside) -> int:
    """`hello`; for each episode `reset`, the decisions, the questions of probes, the commitments to be opened."""
    asked, opened = outside.questions(plan)
    return 1 + plan.episodes * (1 + plan.horizon + asked + opened)


def _question(plan: Plan, outside: PlannedOutside) -> int:
    """The bytes of the first question."""
    start = plan.start(0)
    shown: dict[str, Any] = {"observation": plan.actors[0].observe(start), **outside.shown(start)}
    return len(canonical_bytes(shown))
