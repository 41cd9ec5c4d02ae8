"""What asking a model costs in a run, before it is made: calls at most, tokens, and money where there is a price."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from specledger.compile.plan import Plan
from specledger.oracles.model_agent import ModelPlan, question_tokens
from specledger.oracles.service_client import cost_of
from specledger.run.outside_agent import greeting
from specledger.spec.base import format_qfixed
from specledger.spec.probe import Probe


def model_cost(plans: Iterable[Plan]) -> dict[str, Any]:
    """What the runs whose agents are models cost together, as JSON values.

    Returns:
        Nothing if no agent is a model. Else `model`: `calls` at most; `prompt_tokens`, estimated from the first
        observation; `output_tokens` at most; `cost` at most, where every model has a price.
    """
    asked = [(plan, None if plan.outside is None else plan.outside.model) for plan in plans]
    costs = [_cost(plan, model) for plan, model in asked if model is not None]
    if not costs:
        return {}
    calls, prompt, output = (sum(figures) for figures in zip(*(one[:3] for one in costs), strict=True))
    money = [one[3] for one in costs if one[3] is not None]
    found: dict[str, Any] = {"calls": calls, "prompt_tokens": prompt, "output_tokens": output}
    return {"model": found | ({"cost": format_qfixed(sum(money))} if len(money) == len(costs) else {})}


def _cost(plan: Plan, asked: ModelPlan) -> tuple[int, int, int, int | None]:
    """Calls, tokens of prompts and of answers, and money in millionths, if there is a price."""
    probes = () if plan.kernel is None else plan.kernel.probes
    calls = plan.episodes * (plan.horizon + sum(most_questions(probe.spec, plan.horizon) for probe in probes))
    prompt = calls * question_tokens(asked, greeting(plan), plan.observe(plan.start(0)))
    output = 0 if asked.service is None else calls * asked.service.max_output_tokens
    price = None if asked.service is None else asked.service.price
    return calls, prompt, output, None if price is None else cost_of(price, prompt, output)


def most_questions(probe: Probe, horizon: int) -> int:
    """How many questions a probe asks in an episode at most, beside the decisions of the run."""
    times = horizon if probe.steps is None else min(probe.steps, horizon)
    spec = probe.challenge
    if spec is None:
        return times
    aims = 1 if spec.of == "declared" else spec.draw.most
    once = (spec.on == "fresh") + spec.arms.same + spec.arms.placebo + aims * spec.repeats + ("restate" in spec.demand)
    return times * once
