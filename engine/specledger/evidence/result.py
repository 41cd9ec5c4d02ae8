"""The result of a run, computed from its receipts alone.

The writer of a bundle and its verifier use the same code, so a recorded result is never trusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from specledger.core.calibration import Calibration, held_claims, outcomes
from specledger.core.events import GuardDecision, KeptStatus, Severity, breached, owned
from specledger.core.faults import FaultLimit
from specledger.core.verdict import Verdict
from specledger.evidence.doubts import Claims, is_doubtful
from specledger.evidence.receipts import recording, run
from specledger.evidence.receipts.guard import Guarded
from specledger.evidence.receipts.kernel import Probe
from specledger.evidence.receipts.start import Expectation, Start

_FIGURES: Final = ("episodes", "successes", "steps", "proposals", "drifts", "checks", "errors")
_COUNTED: Final = {"drift": "drifts", "error": "errors"}
GUARD: Final = "guard"
"""The violation that a call counts as which was made though a guard denies it."""


class Fold(Protocol):
    """What adds the receipts of one kind up to a result."""

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Count one receipt."""

    def result(self) -> dict[str, Any]:
        """The figures, of which one is the `verdict`."""


class Tally:
    """Folds receipts (type and body) into the figures of a result."""

    def __init__(self) -> None:
        self._figures = dict.fromkeys(_FIGURES, 0)
        self._gates: Counter[str] = Counter()
        self._violations: Counter[str] = Counter()
        self._warnings: Counter[str] = Counter()
        self._invariants: Counter[str] = Counter()
        self._probes: dict[str, Counter[str]] = {}
        self._faults: Counter[str] = Counter()
        self._limit = FaultLimit.of(None)
        self._most_faults = 0
        self._recorded = False
        self._idle: set[str] = set()
        self._acted: set[str] = set()
        self._unread: Counter[str] = Counter()
        self._rules: dict[str, recording.RuleCounts] = {}
        self._fatal: set[str] = set()
        self._unknown: Counter[str] = Counter()
        self._unjudged: dict[str, Counter[str]] = {}
        self._guard: Counter[str] = Counter()
        self._stated: dict[str, Calibration] = {}
        self._claims: dict[str, Claims] = {}
        self._endings: set[str] = set()
        self._expected: Expectation = {}
        self._agents: dict[str, Counter[str]] = {}
        self._last: tuple[int, int] | None = None
        self._failed = False
        self._ended = False
        self._takes: Mapping[str, Callable[[Any], None]] = {
            "start": self._start,
            "step": self._step,
            "rules": self._judged,
            "guard": self._guarded,
            "probe": self._probe,
            "episode_end": self._episode_end,
        }

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Count one receipt."""
        take = self._takes.get(type_)
        if take is not None:
            take(body)
        elif type_ in _COUNTED:
            self._figures[_COUNTED[type_]] += 1
        elif type_ == "end":
            self._ended = True

    def _start(self, body: Start) -> None:
        self._agents = {name: Counter(acted=0, proposals=0) for name in body.get("agents", ())}
        self._expected = body.get("expect", {})
        self._recorded = "recording" in body
        self._limit = FaultLimit.of(body.get("agent_faults"))
        self._invariants.update(invariant["scope"] for invariant in body["invariants"])
        self._gates.update(dict.fromkeys(body["gates"], 0))
        for rule in body.get("rules", ()):
            counts: recording.RuleCounts = {"held": 0, "broken": 0, "unjudged": 0}
            self._rules[rule["name"]] = {**counts, "unable": rule["unable"]} if "unable" in rule else counts
        self._fatal = {rule["name"] for rule in body.get("rules", ()) if Severity(rule["severity"]).impact.fails_run}

    def _episode_end(self, body: run.EpisodeEnd) -> None:
        self._figures["episodes"] += 1
        if self._expected:
            self._endings.add(body["ended"])
        self._figures["successes"] += 1 if body["success"] else 0
        self._figures["checks"] += self._invariants["episode"] - sum(body["idle"].values())
        self._breaches(body)
        self._faults.update(fault["reason"] for fault in body.get("faults", ()))
        self._most_faults = max(self._most_faults, len(body.get("faults", ())))
        self._unread.update(body.get("unread", {}))
        self._unknown.update(body.get("unknown", {}))
        self._unknown.update([body["gap"]["reason"]] if "gap" in body else [])
        self._leave_open(body.get("unjudged", []))

    def _step(self, body: run.Step) -> None:
        """Count a decision; those of several agents at one t are one step, and their figures name the agent."""
        position, judged = None, True
        if body["chosen"] is not None:
            self._acted.add(body.get("agent", ""))
        elif not self._recorded:  # of a recording, what was tried is a fact, whatever came of it
            self._idle.add(body.get("agent", ""))
        if "agent" in body:
            position, judged = (body["episode"], body["t"]), body["success"] is not None
            self._agents[body["agent"]].update(acted=body["chosen"] is not None, proposals=len(body["decisions"]))
        self._figures["steps"] += position is None or position != self._last
        self._last = position
        self._figures["proposals"] += len(body["decisions"])
        self._figures["checks"] += self._invariants["step"] if judged else 0
        for decision in body["decisions"]:
            for failing in decision["rejected"]:
                self._gates[owned(body, failing["gate"])] += 1
            for gap in decision.get("unjudged", ()):
                self._unjudged.setdefault(owned(body, gap["gate"]), Counter())[gap["reason"]] += 1
            if decision["error"] is not None:
                self._figures["errors"] += 1
        self._breaches(body)
        self._leave_open(body.get("unjudged", []))

    def _leave_open(self, gaps: list[recording.UnjudgedInvariant]) -> None:
        """Count invariants that read what a recording leaves out: they were not checked."""
        for gap in gaps:
            self._unjudged.setdefault(gap["invariant"], Counter())[gap["reason"]] += 1
        self._figures["checks"] -= len(gaps)

    def _judged(self, body: run.Rules) -> None:
        """Count what rules say; one whose breach fails the run is a check where it was judged."""
        checks, fatal = 0, self._fatal
        for name, times in body["held"].items():
            self._rules[name]["held"] += times
            if name in fatal:
                checks += times
        for breach in body["broken"]:
            self._rules[breach["rule"]]["broken"] += 1
            checks += breach["rule"] in fatal
            counter = self._violations if Severity(breach["severity"]).impact.fails_run else self._warnings
            counter[breach["rule"]] += 1
        for outcome in body["unjudged"]:
            self._rules[outcome["rule"]]["unjudged"] += 1
        for kept in body.get("withheld", ()):
            self._keep(kept["rule"], KeptStatus(kept["status"]))
        self._figures["checks"] += checks

    def _keep(self, rule: str, status: KeptStatus) -> None:
        """Count a verdict that was made before a value was withheld: it stays, with that remark."""
        counts = self._rules[rule]
        counts["withheld"] = counts.get("withheld", 0) + 1
        self._figures["checks"] += rule in self._fatal
        if status is KeptStatus.HELD:
            counts["held"] += 1
        else:
            counts["broken"] += 1
            (self._violations if rule in self._fatal else self._warnings)[rule] += 1

    def _guarded(self, body: Guarded) -> None:
        """Count what a guard decided: a check, unless it could not be judged; a denied call that was made is a breach.

        What was denied because it could not be judged was not made, which leaves nothing open.
        """
        bypassed = body["made"] and body["decision"] == GuardDecision.DENY
        self._guard.update(made=int(body["made"]), denied=int(not body["made"]), bypassed=int(bypassed))
        self._figures["checks"] += not (body["made"] and body["unjudged"])
        if bypassed:
            self._violations[GUARD] += 1

    def _probe(self, body: Probe) -> None:
        """A probe is a check; one that could not be evaluated is an error."""
        verdict, name = Verdict(body["verdict"]), owned(body, body["probe"])
        self._probes.setdefault(name, Counter())[verdict.value] += 1
        self._stated.setdefault(name, Calibration()).add(outcomes(body["evidence"]))
        if held_claims(body["evidence"]) != (0, 0):
            self._claims.setdefault(name, Claims()).add(body)
        self._figures["checks"] += 1
        self._figures["errors"] += 1 if verdict is Verdict.ERROR else 0
        self._failed |= verdict is Verdict.FAIL

    def _breaches(self, body: run.Step | run.EpisodeEnd) -> None:
        for breach in body["violations"]:
            counter = self._violations if Severity(breach["severity"]).impact.fails_run else self._warnings
            counter[breached(body, breach)] += 1

    @property
    def status(self) -> Verdict:
        """The verdict of the receipts, whatever was expected.

        ERROR if anything could not be evaluated or the run did not end; after more agent faults than the scenario bears
        FAIL or INCONCLUSIVE, as it says; FAIL on a fatal breach, a step without an admissible action or a probe that
        failed, INCONCLUSIVE if nothing was checked, a probe never passed or is doubtful, faults or denials kept
        an agent from ever acting, something could not be judged, a rule can notice nothing, or a recording not be read
        or followed, else PASS.
        """
        if self._figures["errors"] or not self._ended:
            return Verdict.ERROR
        if not self._limit.holds(self._faults.total(), self._most_faults):
            return Verdict.FAIL if self._limit.fails else Verdict.INCONCLUSIVE
        if self._violations or self._failed:
            return Verdict.FAIL
        unclear = any(Verdict.PASS.value not in counts for counts in self._probes.values())
        doubted = (is_doubtful(claims.counts(), self._probes[name]) for name, claims in self._claims.items())
        unclear = unclear or any(doubted)
        unclear = unclear or not self._idle <= self._acted or bool(self._unknown)
        unclear = unclear or any(map(recording.is_open, self._rules.values())) or bool(self._unjudged)
        return Verdict.PASS if self._figures["checks"] and not unclear else Verdict.INCONCLUSIVE

    @property
    def met(self) -> bool | None:
        """Whether the run ended as its scenario expects; None where nothing is expected."""
        if not self._expected:
            return None
        wanted = self._expected.get("verdict", Verdict.PASS), self._expected.get("ended")
        return self._ended and wanted[0] == self.status and (not wanted[1] or self._endings == {wanted[1]})

    @property
    def verdict(self) -> Verdict:
        """PASS or FAIL by what was expected; else the status. A run that did not end is an ERROR.

        What is inconclusive or an error, and was not expected to be, refutes no expectation: it is that itself.
        """
        status, met = self.status, self.met
        if met is None or not self._ended:
            return status
        wanted = self._expected.get("verdict", Verdict.PASS)
        if status in {Verdict.INCONCLUSIVE, Verdict.ERROR} and status != wanted:
            return status
        return Verdict.PASS if met else Verdict.FAIL

    def result(self) -> dict[str, Any]:
        """The figures as canonical JSON: verdict, counts, rejections by gate, violations by invariant.

        `claims` is by challenge how many of the tested claims held, and what makes it doubtful (`doubts`). Where
        something was expected also `status` and `met`; where an agent was less than sure, its `calibration`.
        """
        stated = {name: calibration.result() for name, calibration in self._stated.items() if calibration.doubts}
        return {
            "verdict": self.verdict.value,
            **({} if self.met is None else {"status": self.status.value, "met": self.met}),
            **self._figures,
            "rejections": dict(self._gates),
            "violations": dict(self._violations),
            "warnings": dict(self._warnings),
            **({"agents": {name: dict(counts) for name, counts in self._agents.items()}} if self._agents else {}),
            **({"probes": {name: dict(counts) for name, counts in self._probes.items()}} if self._probes else {}),
            **({"claims": {name: claims.counts() for name, claims in self._claims.items()}} if self._claims else {}),
            **({"faults": dict(self._faults)} if self._faults else {}),
            **({"unread": dict(self._unread)} if self._unread else {}),
            **({"rules": {name: dict(counts) for name, counts in self._rules.items()}} if self._rules else {}),
            **({"unjudged": {name: dict(gaps) for name, gaps in self._unjudged.items()}} if self._unjudged else {}),
            **({"unknown": dict(self._unknown)} if self._unknown else {}),
            **({"guard": dict(self._guard)} if self._guard else {}),
            **({"calibration": stated} if stated else {}),
        }
