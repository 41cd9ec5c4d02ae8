"""How often the probes under a kernel ask an agent, before it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from specledger.compile.plan import Plan, Questions, State
from specledger.core.canonical import canonical_bytes
from specledger.oracles.statement import REASON_DOCS
from specledger.wings.kernel.plan import KernelPlan
from specledger.wings.kernel.probes.judgement import PREDICTIONS, too_few
from specledger.wings.kernel.probes.rehearsal import MOST_EPISODES, count_questions
from specledger.wings.kernel.reasons.claims import Views
from specledger.wings.kernel.spec.probe import Probe, compares_with_declared

_TOKEN: Final = {"": " " * 1024}  # as long as a token that an offer hands out


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
        shown=_shown(kernel, plan),
    )


def _shown(kernel: KernelPlan, plan: Plan) -> tuple[tuple[dict[str, Any], ...], ...]:
    """For start states what a question shows there, then with each thing that may make it longer.

    That is each variable at the longest of its alternatives, a denial by all gates at once, and the longest offer.
    """
    views, more = kernel.narration.views, list[dict[str, Any]]()
    offers = [probe.offer.message(_TOKEN) for probe in kernel.probes if probe.offer]
    if offers:
        more.append({"offer": max(offers, key=lambda offer: len(canonical_bytes(offer)))})
    if plan.on_denied == "tell":
        reason = max(REASON_DOCS, key=lambda name: len(REASON_DOCS[name]))
        docs = [(gate, kernel.gate_docs.get(gate) or REASON_DOCS[reason]) for gate in kernel.admission.gates]
        more.append({"denied": [{"gate": gate, "reason": reason, "doc": doc} for gate, doc in docs]})
    fresh = any(probe.spec.challenge is not None and probe.spec.challenge.on == "fresh" for probe in kernel.probes)
    starts = map(plan.start, range(min(plan.episodes, MOST_EPISODES) * (1 + fresh)))
    return tuple(
        (base, *(base | fields for fields in more), *(views.shown(state) for state in _longest(views, start)))
        for start in starts
        for base in (views.shown(start),)
    )


def _longest(views: Views, state: State) -> Iterator[State]:
    """The state with each variable changed to the longest of its alternatives that an edit brings about."""
    for name in views.names(state):
        for value in sorted(views.alternatives(state, name), key=lambda value: -len(canonical_bytes(value))):
            mutation = views.mutate(state, name, value)
            if mutation is not None:
                yield mutation[0]
                break


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
    spec = probe.challenge
    if spec is None:
        return _times(plan, probe)
    if compares_with_declared(spec) and kernel.narration.declared is None:
        return 0
    same, repeats = max(spec.arms.same, spec.noisy.same), max(spec.repeats, spec.noisy.repeats)
    aims = 1 if spec.of == "declared" else spec.draw.most * (1 + (spec.of == "claims"))
    declares = kernel.narration.declared is not None
    explained = spec.explain if declares and spec.of in PREDICTIONS and spec.ask == "agent" else 0
    once = same + aims * repeats if spec.test.most is None else max(spec.test.most, same + aims * repeats)
    once += (spec.on == "fresh") - (spec.of == "declared") + explained + spec.arms.placebos + _demands(probe, "restate")
    return _times(plan, probe) * once
