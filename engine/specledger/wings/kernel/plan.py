"""The compiled kernel of one actor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from specledger.compile.plan import Actor, Plan
from specledger.core.entries import Entries
from specledger.expr import RecordType
from specledger.wings.kernel.documents.admission import Admission
from specledger.wings.kernel.documents.facts import Vocabulary
from specledger.wings.kernel.documents.signatures import Signing
from specledger.wings.kernel.probes.check import Probe
from specledger.wings.kernel.reasons.narration import Narration
from specledger.wings.kernel.reasons.procedure import DecisionPoint


class KernelPlan(Struct, frozen=True):
    """A compiled kernel: the governor's admission of documents, and what an agent and its probes need under it.

    Attributes:
        probes: In the scenario's order.
        weigh: `(observation, memory, action, predicted state, decision point) -> score`, where a rule is broken.
        unused: `state -> variables that the declared procedure does not read`.
        is_choice: Whether a label may be that of an action of the world.
        deterministic: Whether the agent draws nothing.
        ms_per_tick: Kernel time of one step.
        gate_docs: What each invariant about documents demands, in the words of its spec.
        signing: How tokens are signed with a key; None where a secret from the run's seed signs them.
    """

    admission: Admission
    vocabulary: Vocabulary
    narration: Narration
    probes: Sequence[Probe]
    weigh: Callable[[Any, Any, Mapping[str, Any], Any, DecisionPoint], int]
    unused: Callable[[Any], list[str]]
    is_choice: Callable[[str], bool]
    deterministic: bool
    ms_per_tick: int
    gate_docs: Mapping[str, str]
    signing: Signing | None = None


class Control(Struct, frozen=True):
    """What decides for an actor: a kernel, and what makes its controller in one run."""

    kernel: KernelPlan
    make: Callable[[Plan, Actor, Entries], Any]

    def __call__(self, plan: Plan, actor: Actor, entries: Entries) -> Any:
        """The controller of an actor under this kernel in one run."""
        return self.make(plan, actor, entries)


class Challenged(Struct, frozen=True):
    """What challenges the calls of a recorded agent: its probes, and what asks in one run.

    Attributes:
        names: The type of what their `when` reads.
    """

    probes: Sequence[Probe]
    names: RecordType
    make: Callable[[Plan, Actor, Sequence[Probe]], Any]

    def __call__(self, plan: Plan, actor: Actor, entries: Entries) -> Any:
        """What asks about the calls in one run."""
        return self.make(plan, actor, self.probes)


def kernel_of(actor: Actor) -> KernelPlan:
    """The kernel of an actor that has one."""
    assert isinstance(actor.controller, Control)  # noqa: S101 - the caller asks for an actor under a kernel
    return actor.controller.kernel


def with_kernel(actor: Actor, kernel: KernelPlan) -> Actor:
    """An actor under another kernel than its own."""
    assert isinstance(actor.controller, Control)  # noqa: S101 - as above
    return replace(actor, controller=replace(actor.controller, kernel=kernel))


def probes_of(actors: Sequence[Actor]) -> list[Probe]:
    """The probes of those actors that have any."""
    probes: list[Probe] = []
    for actor in actors:
        if isinstance(actor.controller, Control):
            probes += actor.controller.kernel.probes
        elif isinstance(actor.controller, Challenged):
            probes += actor.controller.probes
    return probes
