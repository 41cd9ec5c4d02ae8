"""The results of runs, suites, laws and discoveries, computed from receipts alone.

The writer of a bundle and its verifier use the same code, so a recorded result is never trusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, Protocol

from specledger.core.calibration import Calibration, held_claims, outcomes
from specledger.core.events import Severity, breached, owned
from specledger.core.faults import FAULT, FaultLimit
from specledger.core.verdict import Verdict
from specledger.evidence.receipts import discovery, law, run, typed
from specledger.evidence.receipts.kernel import Probe
from specledger.evidence.receipts.law import ACCEPTED, LawStatus


class Fold(Protocol):
    """What adds the receipts of one kind up to a result."""

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Count one receipt."""

    def result(self) -> dict[str, Any]:
        """The figures, of which one is the `verdict`."""


class Tally:
    """Folds receipts (type and body) into the figures of a result."""

    def __init__(self) -> None:
        self._figures: Counter[str] = Counter()
        self._gates: Counter[str] = Counter()
        self._violations: Counter[str] = Counter()
        self._warnings: Counter[str] = Counter()
        self._invariants: Counter[str] = Counter()
        self._probes: dict[str, Counter[str]] = {}
        self._faults: Counter[str] = Counter()
        self._limit = FaultLimit.of(None)
        self._most_faults = 0
        self._prevented: set[str] = set()
        self._acted: set[str] = set()
        self._unread: Counter[str] = Counter()
        self._stated: dict[str, Calibration] = {}
        self._claims: dict[str, Counter[str]] = {}
        self._endings: set[str] = set()
        self._expected: run.Expectation = {}
        self._agents: dict[str, Counter[str]] = {}
        self._last: tuple[int, int] | None = None
        self._failed = False
        self._ended = False

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Count one receipt."""
        if type_ == "start":
            self._start(typed(run.Start, body))
        elif type_ == "drift":
            self._figures["drifts"] += 1
        elif type_ == "step":
            self._step(typed(run.Step, body))
        elif type_ == "probe":
            self._probe(typed(Probe, body))
        elif type_ == "error":
            self._figures["errors"] += 1
        elif type_ == "episode_end":
            self._episode_end(typed(run.EpisodeEnd, body))
        elif type_ == "end":
            self._ended = True

    def _start(self, body: run.Start) -> None:
        self._agents = {name: Counter(acted=0, proposals=0) for name in body.get("agents", ())}
        self._expected = body.get("expect", {})
        self._limit = FaultLimit.of(body.get("agent_faults"))
        self._invariants.update(invariant["scope"] for invariant in body["invariants"])
        self._gates.update(dict.fromkeys(body["gates"], 0))

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

    def _step(self, body: run.Step) -> None:
        """Count a decision; those of several agents at one t are one step, and their figures name the agent."""
        position, judged = None, True
        if body["chosen"] is not None:
            self._acted.add(body.get("agent", ""))
        elif FAULT in body:
            self._prevented.add(body.get("agent", ""))
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
            if decision["error"] is not None:
                self._figures["errors"] += 1
        self._breaches(body)

    def _probe(self, body: Probe) -> None:
        """A probe is a check; one that could not be evaluated is an error."""
        verdict, name = Verdict(body["verdict"]), owned(body, body["probe"])
        self._probes.setdefault(name, Counter())[verdict.value] += 1
        self._stated.setdefault(name, Calibration()).add(outcomes(body["evidence"]))
        satisfied, tested = held_claims(body["evidence"])
        if tested:
            self._claims.setdefault(name, Counter()).update(held=satisfied, tested=tested)
        self._figures["checks"] += 1
        self._figures["errors"] += 1 if verdict is Verdict.ERROR else 0
        self._failed |= verdict is Verdict.FAIL

    def _breaches(self, body: run.Step | run.EpisodeEnd) -> None:
        for breach in body["violations"]:
            fatal = Severity(breach["severity"]) is Severity.FATAL
            counter = self._violations if fatal else self._warnings
            counter[breached(body, breach)] += 1

    @property
    def status(self) -> Verdict:
        """The verdict of the receipts, whatever was expected.

        ERROR if anything could not be evaluated or the run did not end; after more agent faults than the scenario bears
        FAIL or INCONCLUSIVE, as it says; FAIL on a fatal breach, a step without an admissible action or a probe that
        failed, INCONCLUSIVE if nothing was checked, a probe never passed or faults kept an agent from ever acting, else
        PASS.
        """
        if self._figures["errors"] or not self._ended:
            return Verdict.ERROR
        if not self._limit.holds(self._faults.total(), self._most_faults):
            return Verdict.FAIL if self._limit.fails else Verdict.INCONCLUSIVE
        if self._violations or self._failed:
            return Verdict.FAIL
        unclear = any(Verdict.PASS.value not in counts for counts in self._probes.values())
        unclear = unclear or not self._prevented <= self._acted
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
        """PASS or FAIL by what was expected; else the status. A run that did not end is an ERROR."""
        if self.met is None or not self._ended:
            return self.status
        return Verdict.PASS if self.met else Verdict.FAIL

    def result(self) -> dict[str, Any]:
        """The figures as canonical JSON: verdict, counts, rejections by gate, violations by invariant.

        `claims` is by challenge how many of the claims that were tested held. Where something was expected also
        `status` and `met`; where an agent was less than sure, its `calibration`.
        """
        stated = {name: calibration.result() for name, calibration in self._stated.items() if calibration.doubts}
        names = ("episodes", "successes", "steps", "proposals", "drifts", "checks", "errors")
        return {
            "verdict": self.verdict.value,
            **({} if self.met is None else {"status": self.status.value, "met": self.met}),
            **{name: self._figures[name] for name in names},
            "rejections": dict(self._gates),
            "violations": dict(self._violations),
            "warnings": dict(self._warnings),
            **({"agents": {name: dict(counts) for name, counts in self._agents.items()}} if self._agents else {}),
            **({"probes": {name: dict(counts) for name, counts in self._probes.items()}} if self._probes else {}),
            **({"claims": {name: dict(counts) for name, counts in self._claims.items()}} if self._claims else {}),
            **({"faults": dict(self._faults)} if self._faults else {}),
            **({"unread": dict(self._unread)} if self._unread else {}),
            **({"calibration": stated} if stated else {}),
        }


OUTCOMES: Final[Mapping[str, Verdict]] = {
    LawStatus.PROVED: Verdict.PASS,
    LawStatus.PASS: Verdict.PASS,
    LawStatus.FAIL: Verdict.FAIL,
    LawStatus.UNKNOWN: Verdict.INCONCLUSIVE,
    LawStatus.ERROR: Verdict.ERROR,
}
"""The verdict of a law without an expectation, by its status; see `judged`."""


def judged(status: str, reason: str | None) -> Verdict:
    """The verdict of a law without an expectation: one that could not be evaluated is an ERROR."""
    return Verdict.ERROR if reason == "evaluation_error" else OUTCOMES[status]


class LawTally:
    """Folds the facts of one trial: the status, and whether it is the expected one."""

    def __init__(self) -> None:
        self._figures: dict[str, Any] = {"status": None, "reason": None, "met": None}
        self._cases = 0
        self._ended = False

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Count one fact."""
        if type_ == "cases":
            self._cases = typed(law.Cases, body)["count"]
        elif type_ == "verdict":
            verdict = typed(law.Judged, body)["verdict"]
            self._figures |= {"status": verdict["status"], "reason": verdict["reason"]}
        elif type_ == "end":
            self._figures["met"] = typed(law.End, body)["met"]
            self._ended = True

    @property
    def verdict(self) -> Verdict:
        """ERROR if the trial did not end; PASS or FAIL by what was expected; else by the status."""
        if not self._ended or self._figures["status"] not in OUTCOMES:
            return Verdict.ERROR
        if self._figures["met"] is not None:
            return Verdict.PASS if self._figures["met"] is True else Verdict.FAIL
        return judged(self._figures["status"], self._figures["reason"])

    def result(self) -> dict[str, Any]:
        """The figures as canonical JSON."""
        return {"verdict": self.verdict.value, **self._figures, "cases": self._cases}


class DiscoveryTally:
    """Folds the facts of one discovery: iterations, laws by what became of them, and what was expected."""

    def __init__(self) -> None:
        self._figures: Counter[str] = Counter()
        self._laws: dict[str, str] = {}
        self._shares: dict[str, int] = {}
        self._expected: dict[str, bool] = {}
        self._stopped: str | None = None
        self._ended = False

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Count one fact."""
        if type_ == "iteration":
            self._iteration(typed(discovery.Iteration, body))
        elif type_ == "law":
            self._law(typed(discovery.TriedLaw, body))
        elif type_ == "escalation":
            escalated = typed(discovery.Escalation, body)
            self._figures["escalations"] += 1
            self._judge(escalated["law"], escalated["verdict"])
        elif type_ == "stop":
            self._stopped = typed(discovery.Stop, body)["reason"]
        elif type_ == "expected":
            expected = typed(discovery.Expected, body)
            self._expected[expected["law"]] = expected["found"] is not None
        elif type_ == "end":
            self._ended = True

    def _law(self, body: discovery.TriedLaw) -> None:
        self._figures["evaluations"] += 1
        if body["late"] is None:
            self._judge(body["law"], body["verdict"])
        else:
            self._figures["late"] += 1

    def _iteration(self, body: discovery.Iteration) -> None:
        self._figures["iterations"] += 1
        self._figures["failures"] += 1 if body["answer"]["failure"] is not None else 0
        self._figures["rejected"] += len(body["rejections"])
        self._figures["redundant"] += len(body["redundant"])
        usage = body["answer"]["usage"]
        self._figures["tokens"] += usage["prompt_tokens"] + usage["output_tokens"] + usage["thinking_tokens"]

    def _judge(self, key: str, verdict: law.Verdict | None) -> None:
        self._laws[key] = LawStatus.ERROR.value if verdict is None else verdict["status"]
        content = None if verdict is None else verdict["content"]
        self._shares[key] = 0 if content is None else content["share"]

    @property
    def verdict(self) -> Verdict:
        """ERROR if it did not end or a law gave an error; else PASS or FAIL by what was expected.

        Where nothing was expected: PASS if a law was accepted, else INCONCLUSIVE.
        """
        statuses = self._laws.values()
        if not self._ended or LawStatus.ERROR in statuses:
            return Verdict.ERROR
        if self._expected:
            return Verdict.PASS if all(self._expected.values()) else Verdict.FAIL
        return Verdict.PASS if any(status in ACCEPTED for status in statuses) else Verdict.INCONCLUSIVE

    def result(self) -> dict[str, Any]:
        """The figures as canonical JSON.

        `content` is the sum of the shares of the accepted laws, in millionths.
        """
        names = ("iterations", "failures", "rejected", "redundant", "late", "evaluations", "escalations", "tokens")
        statuses = list(self._laws.values())
        content = sum(self._shares[key] for key, status in self._laws.items() if status in ACCEPTED)
        return {
            "verdict": self.verdict.value,
            **{name: self._figures[name] for name in names},
            "laws": {status.value: statuses.count(status) for status in LawStatus},
            "content": content,
            "stopped": self._stopped,
            "expected": dict(self._expected),
        }
