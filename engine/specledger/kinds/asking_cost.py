"""What asking agents from outside would cost in runs: messages, bytes; of models calls, tokens, money."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from specledger.compile.plan import Plan
from specledger.core.canonical import canonical_bytes
from specledger.oracles.model_agent import ModelPlan, question_tokens
from specledger.probes.judgement import PREDICTIONS, too_few
from specledger.run.session import greeting
from specledger.spec.base import format_qfixed
from specledger.spec.probe import Probe


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
    messages = [_messages(plan) for plan, _ in outside]
    sent = sum(count * _question(plan) for (plan, _), count in zip(outside, messages, strict=True))
    found: dict[str, Any] = {"asked": {"messages": sum(messages), "sent": sent}}
    costs = [_cost(plan, asked.model) for plan, asked in outside if asked.model is not None]
    if costs:
        calls, prompt, output = (sum(figures) for figures in zip(*(one[:3] for one in costs), strict=True))
        money = [one[3] for one in costs if one[3] is not None]
        found["model"] = {"calls": calls, "prompt_tokens": prompt, "output_tokens": output}
        found["model"] |= {"cost": format_qfixed(sum(money))} if len(money) == len(costs) else {}
    return found


def weak_probes(plan: Plan) -> list[str]:
    """Probes that ask an agent which may draw too seldom to convict it."""
    kernels = [
        actor.kernel for actor in plan.actors if actor.kernel and (actor.outside or not actor.kernel.deterministic)
    ]
    challenges = [(probe.spec.name, probe.spec.challenge) for kernel in kernels for probe in kernel.probes]
    return [name for name, challenge in challenges if challenge is not None and too_few(challenge) is not None]


def _cost(plan: Plan, asked: ModelPlan) -> tuple[int, int, int, int | None]:
    """Calls, tokens of prompts and of answers, and money in millionths, if there is a price."""
    calls = plan.episodes * (plan.horizon + sum(_questions(plan, probe.spec) for probe in _probes(plan)))
    prompt = calls * question_tokens(asked, greeting(plan), plan.actors[0].observe(plan.start(0)))
    output = 0 if asked.service is None else calls * asked.service.max_output_tokens
    return calls, prompt, output, None if asked.price is None else asked.price(prompt, output)


def _messages(plan: Plan) -> int:
    """`hello`; for each episode `reset`, the decisions, the questions of probes, the commitments to be opened."""
    opened = sum(_times(plan, probe.spec) for probe in _probes(plan) if _demands(probe.spec, "reveal"))
    asked = sum(_questions(plan, probe.spec) for probe in _probes(plan))
    return 1 + plan.episodes * (1 + plan.horizon + asked + opened)


def _question(plan: Plan) -> int:
    """The bytes of the first question."""
    start = plan.start(0)
    shown: dict[str, Any] = {"observation": plan.actors[0].observe(start)}
    if plan.actors[0].kernel is not None:
        shown["env"] = plan.actors[0].kernel.narration.views.env(start)
    return len(canonical_bytes(shown))


def _probes(plan: Plan) -> Iterable[Any]:
    return () if plan.actors[0].kernel is None else plan.actors[0].kernel.probes


def _times(plan: Plan, probe: Probe) -> int:
    return plan.horizon if probe.steps is None else min(probe.steps, plan.horizon)


def _demands(probe: Probe, what: str) -> bool:
    return probe.challenge is not None and what in probe.challenge.demand


def _questions(plan: Plan, probe: Probe) -> int:
    """How many questions a probe asks in an episode at most, beside the decisions of the run.

    Only a model's spec says before the run that it is deterministic. A direction is asked about twice.
    """
    asked, spec = plan.outside, probe.challenge
    if spec is None:
        return _times(plan, probe)
    model = None if asked is None else asked.model
    settled = model is not None and model.deterministic
    same, repeats = max(1, spec.arms.same), spec.repeats
    if not settled:
        same, repeats = max(same, spec.noisy.same), max(repeats, spec.noisy.repeats)
    twice = spec.of == "claims" and (model is None or any("<direction>" in form for form in model.forms))
    aims = 1 if spec.of == "declared" else spec.draw.most * (1 + twice)
    kernel = plan.actors[0].kernel
    declares = kernel is not None and kernel.narration.declared is not None
    explained = spec.explain if declares and spec.of in PREDICTIONS and spec.ask == "agent" else 0
    once = same + aims * repeats if spec.test.most is None else max(spec.test.most, same + aims * repeats)
    once += (spec.on == "fresh") - (spec.of == "declared") + explained + spec.arms.placebos + _demands(probe, "restate")
    return _times(plan, probe) * once
