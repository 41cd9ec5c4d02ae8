"""How often the probes under a kernel ask an agent, before it runs."""

from __future__ import annotations

from specledger.compile.plan import Plan, Questions
from specledger.wings.kernel.plan import KernelPlan
from specledger.wings.kernel.probes.judgement import PREDICTIONS, too_few
from specledger.wings.kernel.probes.rehearsal import count_questions
from specledger.wings.kernel.spec.probe import Probe, compares_with_declared


def questions_of(kernel: KernelPlan, plan: Plan) -> Questions:
    """What the probes of a kernel ask its agent in a run, and the commitments that they want opened.

    Only a model's spec says before the run that it is deterministic.
    """
    probes = [probe.spec for probe in kernel.probes]
    model = None if plan.outside is None else plan.outside.model
    counted = count_questions(kernel, plan, deterministic=model is not None and model.deterministic)
    return Questions(
        asked=counted.asked,
        opened=counted.opened,
        most_asked=plan.episodes * sum(_questions(plan, kernel, probe) for probe in probes),
        most_opened=plan.episodes * sum(_times(plan, probe) for probe in probes if _demands(probe, "reveal")),
        reasons=counted.reasons,
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

    What compares with a declared procedure asks nothing where none is declared. A direction is asked about twice.
    """
    asked, spec = plan.outside, probe.challenge
    if spec is None:
        return _times(plan, probe)
    if compares_with_declared(spec) and kernel.narration.declared is None:
        return 0
    model = None if asked is None else asked.model
    settled = model is not None and model.deterministic
    same, repeats = max(1, spec.arms.same), spec.repeats
    if not settled:
        same, repeats = max(same, spec.noisy.same), max(repeats, spec.noisy.repeats)
    aims = 1 if spec.of == "declared" else spec.draw.most * (1 + (spec.of == "claims"))
    declares = kernel.narration.declared is not None
    explained = spec.explain if declares and spec.of in PREDICTIONS and spec.ask == "agent" else 0
    once = same + aims * repeats if spec.test.most is None else max(spec.test.most, same + aims * repeats)
    once += (spec.on == "fresh") - (spec.of == "declared") + explained + spec.arms.placebos + _demands(probe, "restate")
    return _times(plan, probe) * once
