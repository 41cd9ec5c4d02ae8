"""The second evaluator on a kernel: invariants of documents, and the conditions and expectations of probes.

`when` and `require` of an invariant are judged at each ruling; `when` of a probe at each step, by whether the probe was
made; `expect` from its receipt, for each answer to a challenge and for each offer. Scores, and whether a refusal was
logged, are in no receipt: they come from replay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Final

from specledger.compile.plan import KernelPlan, State
from specledger.core.verdict import Verdict
from specledger.expr import EvaluationError, RecordType
from specledger.gates.invariant import DocumentInvariant
from specledger.probes.check import Probe
from specledger.probes.runner import UNDENIED
from specledger.verify.judged import UNVALUED, Count
from specledger.verify.reference import Names, Reference

_ALWAYS: Final = "true"
"""A condition of which there is no verdict: it is what is left out."""

ENDED: Final = "probes that ended in an error"
UNASKED: Final = "probes that asked nothing"
UNCHANGED: Final = "challenges that changed nothing"
OTHERWISE: Final = "offers that were not denied for their breach"
"""What is counted as no expression's verdict."""


class KernelJudge:
    """Stands beside a kernel, sees what its rules are given, and has each verdict judged."""

    def __init__(self, count: Count, reference: Reference, state: RecordType) -> None:
        self._count = count
        self._reference = reference
        self._state = state
        self.ruled: frozenset[str] = frozenset()
        self._probe: Probe | None = None
        self._given: list[Mapping[str, Any]] = []
        self._unvalued = False

    def beside(self, kernel: KernelPlan) -> KernelPlan:
        """The kernel with its rules replaced by recorded ones."""
        self.ruled = frozenset(one.name for one in kernel.admission.invariants)
        invariants = tuple(replace(one, judge=partial(self._ruled, one)) for one in kernel.admission.invariants)
        probes = [
            replace(one, when=partial(self._due, one), expect=partial(self._expected, one)) for one in kernel.probes
        ]
        return replace(kernel, admission=replace(kernel.admission, invariants=invariants), probes=probes)

    def _names(self, state: State, **given: Any) -> Names:
        return Names(self._reference, {**fields_of(state, self._state), "now": state, **given})

    def _ruled(self, invariant: DocumentInvariant, state: State, document: Any, found: Any) -> dict[str, Any] | None:
        """What an invariant finds in a document, after the other engine was asked."""
        with self._valued():
            finding = invariant.judge(state, document, found)
        names = self._names(state, document=document, found=found)
        when, require = invariant.rules

        def verdict() -> str:
            return "broken" if names.truth(when) and not names.truth(require) else "kept"

        said = "kept" if finding is None else "broken"
        self._count.compare(f"invariant {invariant.name}", said, verdict, self._reference, invariant.rules)
        return finding

    def _due(self, probe: Probe, state: State) -> bool:
        """Whether a probe is made, after the other engine was asked."""
        self._probe, self._given, self._unvalued = probe, [], False
        with self._valued():
            made = probe.when(state)
        when, _ = probe.rules
        if when.text.value != _ALWAYS:
            names = self._names(state)

            def verdict() -> str:
                return "made" if names.truth(when) else "not made"

            said = "made" if made else "not made"
            self._count.compare(f"`when` of probe {probe.spec.name}", said, verdict, self._reference, (when,))
        return made

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

    def see(self, body: Mapping[str, Any]) -> None:
        """Judge what a probe's receipt says of what was expected.

        Args:
            body: That of the receipt, which was found to be the recorded one.
        """
        given, self._given = self._given, []
        evidence = body["evidence"]
        if body["verdict"] == Verdict.ERROR:
            self._count.without[ENDED] += not self._unvalued
        elif "trials" in evidence:
            asked = [trial for trial in evidence["trials"] if trial["after"] is not None]
            self._count.without += {UNCHANGED: len(evidence["trials"]) - len(asked)}
            for number, (trial, values) in enumerate(zip(asked, given, strict=True)):
                self._compare(body, f", answer {number}", trial["held"], _answered(evidence, trial, values))
        elif "taken" not in evidence:
            self._count.without[UNASKED] += 1
        elif body["cause"] == UNDENIED:
            self._count.without[OTHERWISE] += 1
        else:
            recorded = {name: evidence[name] for name in ("taken", "denied")}
            self._compare(body, "", body["verdict"] == Verdict.PASS, {**given[0], **recorded})

    def _compare(self, body: Mapping[str, Any], which: str, held: bool, values: Mapping[str, Any]) -> None:
        assert self._probe is not None  # noqa: S101 - its receipt comes after it was made
        _, expect = self._probe.rules
        names = Names(self._reference, values)

        def verdict() -> str:
            return "held" if names.truth(expect) else "not held"

        place = f"episode {body['episode']}, step {body['t']}{which}"
        said = "held" if held else "not held"
        self._count.compare(f"probe {body['probe']} ({place})", said, verdict, self._reference, (expect,))


def _answered(evidence: Mapping[str, Any], trial: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """What `expect` reads in a challenge: choices and claims as recorded, scores as replay makes them."""
    choices = {"before": evidence["before"], "after": trial["after"], "declared": trial["declared"]}
    read: dict[str, Any] = {name: {**made[name], "choice": choice} for name, choice in choices.items()}
    return {**read, "claim": {"variable": trial["variable"], "choice": trial["predicted"]}}


def fields_of(state: State, type_: RecordType) -> dict[str, Any]:
    """The fields of a state that expressions read by their names alone."""
    return {name: state[name] for name in type_.fields if name in state}
