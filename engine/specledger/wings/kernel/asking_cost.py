"""How often the probes under a kernel ask an agent, before it runs."""

from __future__ import annotations

from specledger.compile.plan import Plan, Questions
from specledger.wings.kernel.plan import KernelPlan
from specledger.wings.kernel.probes.judgement import PREDICTIONS, too_few
from specledger.wings.kernel.spec.probe import Probe


def questions_of(kernel: KernelPlan, plan: Plan) -> Questions:
    """What the probes of a kernel ask its agent in an episode at most, and the commitments that they want opened."""
    probes = [probe.spec for probe in kernel.probes]
    return Questions(
        asked=sum(_questions(plan, kernel, probe) for probe in probes),
        opened=sum(_times(plan, probe) for probe in probes if _demands(probe, "reveal")),
    )


def weak_probes(kernel: KernelPlan, *, outside: bool) -> tuple[str, ...]:
    """Probes that ask an agent which may draw too seldom to convict it."""
    if kernel.deterministic and not outside:
        return ()
    challenges = [(probe.spec.name, probe.spec.challenge) for probe in kernel.probes]
    return tuple(name for name, challenge in challenges if challenge is not None and too_few(challenge) is not None)


def _times(plan: Plan, probe: Probe) -> int:
    return plan.horizon if probe.steps is None else min(probe.steps, plan.horizon)


def _demands(probe: Probe, what: str) -> bool:
    return probe.challenge is not None and what in probe.challenge.demand


def _questions(plan: Plan, kernel: KernelPlan, probe: Probe) -> int:
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
    declares = kernel.narration.declared is not None
    explained = spec.explain if declares and spec.of in PREDICTIONS and spec.ask == "agent" else 0
    once = same + aims * repeats if spec.test.most is None else max(spec.test.most, same + aims * repeats)
    once += (spec.on == "fresh") - (spec.of == "declared") + explained + spec.arms.placebos + _demands(probe, "restate")
    return _times(plan, probe) * once
