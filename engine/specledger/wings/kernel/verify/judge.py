"""The second evaluator on a kernel: its invariants about documents, and its probes.

`when` and `require` of an invariant are judged at each ruling, `when` of a probe at each step, and `expect` from the
probe's receipt, for each answer to a challenge and for each offer. Scores, and whether a refusal was logged, are in no
receipt: they come from replay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from specledger.compile.plan import Actor, State
from specledger.core.causes import Cause
from specledger.core.verdict import Verdict
from specledger.evidence.receipts.kernel import Probe as ProbeReceipt
from specledger.evidence.receipts.kernel import ProbeEvidence, Trial
from specledger.expr import Checked, EvaluationError, RecordType
from specledger.verify.judge import given_by
from specledger.verify.judged import UNVALUED, Count
from specledger.verify.reference import Names, Reference
from specledger.wings.kernel.documents.invariant import DocumentInvariant
from specledger.wings.kernel.plan import Challenged, KernelPlan, kernel_of, with_kernel
from specledger.wings.kernel.probes.check import Probe

_ALWAYS: Final = "true"
"""A condition of which there is no verdict: it is what is left out."""

ENDED: Final = "probes that ended in an error"
UNASKED: Final = "probes that asked nothing"
UNCHANGED: Final = "challenges that changed nothing"
OTHERWISE: Final = "offers that were not denied for their breach"


class KernelJudge:
    """Records what the rules of a kernel are given, and judges each verdict."""

    def __init__(self, count: Count, reference: Reference, state: RecordType) -> None:
        self._count = count
        self._reference = reference
        self._state = state
        self.ruled: frozenset[str] = frozenset()
        self._probe: Probe | None = None
        self._given: list[Mapping[str, Any]] = []
        self._unvalued = False

    def observed(self, kernel: KernelPlan) -> KernelPlan:
        """The kernel with its rules replaced by recorded ones."""
        self.ruled = frozenset(item.name for item in kernel.admission.invariants)
        invariants = tuple(replace(item, judge=partial(self._ruled, item)) for item in kernel.admission.invariants)
        admission = replace(kernel.admission, invariants=invariants)
        return replace(kernel, admission=admission, probes=self.probes(kernel.probes))

    def probes(self, probes: Sequence[Probe]) -> list[Probe]:
        """Probes whose conditions are recorded."""
        return [replace(item, when=partial(self._due, item), expect=partial(self._expected, item)) for item in probes]

    def _ruled(self, invariant: DocumentInvariant, state: State, document: Any, facts: Any) -> dict[str, Any] | None:
        """What an invariant finds in a document, after the other engine was asked."""
        with self._valued():
            finding = invariant.judge(state, document, facts)
        names = Names(self._reference, {**given_by(state, self._state), "document": document, "found": facts})
        when, require = invariant.rules
        recorded = "kept" if finding is None else "broken"

        def verdict() -> str:
            return "broken" if names.truth(when) and not names.truth(require) else "kept"

        self._count.compare(f"invariant {invariant.name}", recorded, verdict, names, invariant.rules)
        return finding

    def _due(self, probe: Probe, state: State, t: int) -> bool:
        """Whether a probe is made, after the other engine was asked."""
        self._probe, self._given, self._unvalued = probe, [], False
        with self._valued():
            triggered = probe.when(state, t)
        when, _ = probe.rules
        if when.text.value != _ALWAYS:
            names = Names(self._reference, {**given_by(state, self._state), **probe.clock(t)})
            self._compare_truth(f"`when` of probe {probe.spec.name}", ("made", "not made"), triggered, names, when)
        return triggered

    @contextmanager
    def _valued(self) -> Iterator[None]:
        """While our engine evaluates: where it finds no value, that is what is recorded, and nothing is judged."""
        try:
            yield
        except EvaluationError:
            self._unvalued = True
            self._count.open[UNVALUED] += 1
            raise

    def _expected(self, probe: Probe, values: dict[str, Any]) -> bool:
        """Keep what `expect` is given until its receipt comes."""
        self._given.append(values)
        with self._valued():
            return probe.expect(values)

    def see(self, body: ProbeReceipt) -> None:
        """Judge what a probe's receipt says of what was expected."""
        given, self._given = self._given, []
        evidence = body["evidence"]
        if body["verdict"] == Verdict.ERROR:
            self._count.without[ENDED] += not self._unvalued
        elif "trials" in evidence:
            asked = [trial for trial in evidence["trials"] if trial["after"] is not None or _is_named(trial)]
            self._count.without += {UNCHANGED: len(evidence["trials"]) - len(asked)}
            for number, (trial, values) in enumerate(zip(asked, given, strict=True)):
                read = values if _is_named(trial) else _answered(evidence, trial, values)
                self._compare(body, f", answer {number}", trial["held"], read)
        elif "taken" not in evidence:
            self._count.without[UNASKED] += 1
        elif body["cause"] in (Cause.UNDENIED, Cause.UNRELATED):
            self._count.without[OTHERWISE] += 1
        else:
            denied = evidence["denied"] is None or evidence["denied"]  # null: nothing was attempted, so nothing passed
            recorded = {"taken": evidence["taken"], "denied": denied}
            self._compare(body, "", body["verdict"] == Verdict.PASS, {**given[0], **recorded})

    def _compare(self, body: ProbeReceipt, which: str, satisfied: bool | None, values: Mapping[str, Any]) -> None:
        assert self._probe is not None  # noqa: S101 - its receipt comes after it was made
        _, expect = self._probe.rules
        names = Names(self._reference, values)
        what = f"probe {body['probe']} (episode {body['episode']}, step {body['t']}{which})"
        self._compare_truth(what, ("held", "not held"), bool(satisfied), names, expect)

    def _compare_truth(self, what: str, words: tuple[str, str], recorded: bool, names: Names, rule: Checked) -> None:
        """Compare a truth with that of one rule; `words` say that it is true, and that it is not."""

        def word(holds: bool) -> str:
            return words[0] if holds else words[1]

        self._count.compare(what, word(recorded), lambda: word(names.truth(rule)), names, (rule,))


def _is_named(trial: Trial) -> bool:
    """Whether the expectation did not hold, and the model named what was changed."""
    return trial.get("reason") == Cause.NAMED


def _answered(evidence: ProbeEvidence, trial: Trial, mutations: Mapping[str, Any]) -> dict[str, Any]:
    """What `expect` reads in a challenge: choices and claims as recorded, scores as replay makes them."""
    before = trial["after"] if evidence.get("of") == "declared" else evidence["before"]
    choices = {"before": before, "after": trial["after"], "declared": trial["declared"]}
    read: dict[str, Any] = {name: {**mutations[name], "choice": choice} for name, choice in choices.items()}
    return {**read, "claim": {"variable": trial["variable"], "choice": trial["predicted"]}}


def observe(actor: Actor, count: Count, reference: Reference, state: RecordType) -> tuple[Actor, KernelJudge]:
    """An actor under a kernel whose rules are recorded, and what judges them."""
    if isinstance(actor.controller, Challenged):
        judge = KernelJudge(count, reference, actor.controller.names)
        asked = replace(actor.controller, probes=judge.probes(actor.controller.probes))
        return replace(actor, controller=asked), judge
    judge = KernelJudge(count, reference, state)
    return with_kernel(actor, judge.observed(kernel_of(actor))), judge
