"""Episodes of a run, folded from its receipts, as the measures of a suite read them.

Whether a choice was bound to its committed set is recomputed. Malformed receipts raise KeyError, TypeError or the like.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from specledger.core.binding import leaf, proposal_digest, scope_digest, set_root, token_document
from specledger.core.calibration import VAGUE, held_claims, outcomes
from specledger.core.canonical import plain_form
from specledger.core.causes import Cause
from specledger.core.events import KeptStatus
from specledger.core.unknown import UNKNOWN, Unknown
from specledger.core.weight import footprint
from specledger.evidence.receipts import run, typed
from specledger.evidence.receipts.kernel import (
    Asked,
    AuditEntry,
    Explanation,
    Placebo,
    Probe,
    ProbeEvidence,
    TraceReplay,
)
from specledger.evidence.receipts.start import Start, StartedRule
from specledger.expr import EvaluationError
from specledger.expr.errors import E_EVAL_LIMIT
from specledger.oracles.spending import SPENT
from specledger.suites.episode_types import (
    ArmFacts,
    Breach,
    DriftFacts,
    EntryFacts,
    EpisodeFacts,
    ProbeFacts,
    RuleFacts,
    StepFacts,
    Stretch,
    TrajectoryFacts,
)
from specledger.suites.truth import NO_TRUTH, Truth

Body = Mapping[str, Any]

NOT_YET: Final = -1
"""`first_success` of an episode without success, and `chosen` of a step without a choice."""


MAX_FACTS: Final = 80_000_000
"""Bytes, about, of what one episode tells that grows with it. Beyond, reading any of it has no value."""
MOST_OF_BYTE: Final = 36
"""Bytes of memory at most for each byte of a fact's form: nearly that for an empty text within many lists."""
GROWING: Final = ("steps", "drifts", "stretches", "probes", "entries", "rules")


class Episodes:
    """Folds the receipts of one run into its episodes.

    Attributes:
        trajectories: The ids of those that the run has gone through; kept only where a suite labels them.
    """

    def __init__(self, heading: Mapping[str, Any], truth: Truth = NO_TRUTH) -> None:
        """Begin a run whose episodes all have a heading: `run`, `arm`, `scenario`, `seed`; `truth` labels them."""
        self._heading, self._truth = heading, truth
        self.trajectories: list[str] = []
        self._horizon = 0
        self._start: Any = None
        self._steps: list[StepFacts] = []
        self._drifts: list[DriftFacts] = []
        self._probes: list[ProbeFacts] = []
        self._entries: list[EntryFacts] = []
        self._commits: dict[str, run.Commit] = {}
        self._left, self._most, self._unmeasured = MAX_FACTS, 0, list[Any]()
        self._started: list[StartedRule] = []
        self._rules: dict[str, RuleFacts] = {}
        self._trajectory: TrajectoryFacts = {"id": "", "file": "", "format": "", "gap": "", "unread": 0}

    def read(self, receipts: Iterable[tuple[str, Body]]) -> Iterator[EpisodeFacts]:
        """The episodes of receipts (type and body), each as soon as it has ended."""
        for type_, body in receipts:
            episode = self.add(type_, body)
            if episode is not None:
                yield episode

    def add(self, type_: str, body: Body) -> EpisodeFacts | None:
        """Take one receipt; an episode if it ends one that had a start."""
        if type_ == "start":
            start = typed(Start, body)
            self._horizon, self._started = start["horizon"], start.get("rules", [])
        elif type_ == "episode":
            self._begin(typed(run.Episode, body))
        elif type_ == "drift":
            self._keep(self._drifts, _read_drift(typed(run.Drift, body)))
        elif type_ == "probe":
            self._keep(self._probes, read_probe(typed(Probe, body)))
        elif type_ == "audit":
            self._keep(self._entries, read_entry(typed(AuditEntry, body)))
        elif type_ == "rules":
            self._take_rules(typed(run.Rules, body))
        elif type_ == "commit":
            commit = typed(run.Commit, body)
            self._commits[commit.get("agent", "")] = commit
        elif type_ == "step":
            step = typed(run.Step, body)
            self._keep(self._steps, _read_step(step, self._commits.pop(step.get("agent", ""), None)))
        elif type_ == "episode_end" and self._start is not None:
            episode, self._start = self._close(typed(run.EpisodeEnd, body)), None
            return episode
        return None

    def _begin(self, body: run.Episode) -> None:
        self._start, self._commits = body["state"], {}
        self._steps, self._drifts, self._probes, self._entries = [], [], [], []
        self._left, self._most, self._unmeasured = MAX_FACTS, 0, []
        self._rules = {rule["name"]: _unheard(rule) for rule in self._started}
        if "trajectory" in body:
            known = body["trajectory"]
            self._trajectory = {
                "id": known["id"],
                "file": known["file"],
                "format": known["format"],
                "gap": "",
                "unread": 0,
            }
            if self._truth.labels:
                self.trajectories.append(known["id"])
            label = self._truth.label(known["id"])
            if label is not None:
                self._trajectory["label"] = label

    def _keep(self, facts: list[Any], fact: Any) -> None:
        """Keep a fact of the episode; once they take too much memory, none of those that grow with it are kept.

        Facts are measured once what they take at most, by their forms, may be too much.
        """
        if self._left < 0:
            return
        facts.append(fact)
        self._unmeasured.append(fact)
        form = plain_form(fact)
        self._most += MAX_FACTS if form is None else MOST_OF_BYTE * len(form)
        if self._most > self._left:
            for unmeasured in self._unmeasured:
                self._left -= footprint(unmeasured, self._left)
            self._unmeasured, self._most = [], 0
            if self._left < 0:
                for kept in (self._steps, self._drifts, self._probes, self._entries):
                    kept.clear()

    def _take_rules(self, body: run.Rules) -> None:
        for name, count in body["held"].items():
            self._rules[name]["held"] += count
        for broken in body["broken"]:
            rule = self._rules[broken["rule"]]
            rule["broken"] += 1
            self._keep(rule["calls"], broken["call"])
        for kept in body.get("withheld", ()):
            rule = self._rules[kept["rule"]]
            if kept["status"] == KeptStatus.HELD:
                rule["held"] += 1
            else:
                rule["broken"] += 1
                self._keep(rule["calls"], kept["call"])
        for unjudged in body["unjudged"]:
            self._rules[unjudged["rule"]]["unjudged"] += 1

    def _close(self, body: run.EpisodeEnd) -> EpisodeFacts:
        ends = [drift["t"] for drift in self._drifts] + [self._steps[-1]["t"] + 1 if self._steps else 0]
        for drift, end in zip(self._drifts, ends[1:], strict=True):
            drift["end"] = end
        opening: Stretch = {"drift": "", "t": 0, "end": ends[0]}
        stretches: list[Stretch] = [
            {"drift": drift["drift"], "t": drift["t"], "end": drift["end"]} for drift in self._drifts
        ]
        episode = {
            **self._heading,
            "horizon": self._horizon,
            "episode": body["episode"],
            "ended": body["ended"],
            "success": body["success"],
            "first_success": NOT_YET if body["first_success"] is None else body["first_success"],
            "breaches": _breaches(body),
            "start": self._start,
            "steps": self._steps,
            "drifts": self._drifts,
            "stretches": [opening, *stretches],
            "probes": self._probes,
            "entries": self._entries,
            "trajectory": {
                **self._trajectory,
                "gap": body["gap"]["reason"] if "gap" in body else "",
                "unread": sum(body.get("unknown", {}).values()),
            },
            "rules": list(self._rules.values()),
            "spent": dict.fromkeys(SPENT, 0) | body.get("spent", {}),
        }
        if self._left < 0:
            too_much = EvaluationError(E_EVAL_LIMIT, f"an episode tells more than {MAX_FACTS} bytes")
            episode |= dict.fromkeys(GROWING, too_much)
        return cast("EpisodeFacts", episode)


def _unheard(rule: StartedRule) -> RuleFacts:
    """A rule that had no opportunity yet."""
    return {"rule": rule["name"], "severity": rule["severity"], "held": 0, "broken": 0, "unjudged": 0, "calls": []}


def _read_drift(body: run.Drift) -> DriftFacts:
    """A drift whose stretch has not ended."""
    return {
        "drift": body["drift"],
        "t": body["t"],
        "changed": body["changed"],
        "rebases": body.get("rebases", []),
        "end": NOT_YET,
    }


_NO_TRACE: Final[TraceReplay] = {"nodes": 0, "equal": 0, "ends": False}
_NOT_EXPLAINED: Final[Explanation] = {"here": "", "asked": 0, "changed": 0}


def read_probe(body: Probe) -> ProbeFacts:
    """What a probe says: its verdict; what the answers alone amount to, and how much of a trace came out equal.

    What was not asked for is an empty text and 0 nodes. `questions` counts what the agent was asked, `claims` are those
    that were put to the test, once for each answer; of `tested` claims `held` held; `vague` counts those that say
    nothing, `unmoved` the predicted changes that did not come. `changes`, `same` and `placebo` count the answers after
    a change, to the same question again, and in the placebo arm, and how many of them are not the choice before; of a
    change that the agent names as its reason the answer is not kept, but it was another one, and `missed`.
    """
    evidence: ProbeEvidence = {**body["evidence"]}
    satisfied, tested = held_claims(evidence)
    trace, trials = evidence.get("trace", _NO_TRACE), evidence.get("trials", ())
    named = sum(trial.get("reason") == Cause.NAMED for trial in trials)
    answered = [trial for trial in trials if trial["after"] is not None]
    return {
        "probe": body["probe"],
        "t": body["t"],
        "verdict": body["verdict"],
        "cause": body["cause"],
        "agent": body.get("agent", ""),
        "answers": evidence.get("answers", ""),
        "nodes": trace["nodes"],
        "equal": trace["equal"],
        "questions": _questions(evidence),
        "unmoved": sum(trial["after"] == evidence["before"] != trial["predicted"] != "" for trial in trials),
        "changes": {
            "asked": len(answered) + named,
            "moved": sum(trial["after"] != evidence["before"] for trial in answered) + named,
            "missed": sum(trial["held"] is False for trial in answered) + named,
        },
        "same": _arm(evidence.get("null", _NOT_ASKED)),
        "placebo": _arm(evidence.get("placebo", _NOT_ASKED)),
        "vague": sum(trial.get("reason") == VAGUE for trial in trials),
        "held": satisfied,
        "tested": tested,
        "claims": [{"confidence": confidence, "held": satisfied} for confidence, satisfied in outcomes(evidence)],
    }


_NOT_ASKED: Final[Asked] = {"asked": 0, "changed": 0}


def _arm(answers: Asked | Placebo) -> ArmFacts:
    return {"asked": answers["asked"], "moved": answers["changed"]}


def _questions(evidence: ProbeEvidence) -> int:
    """How often the agent was asked for a choice: the one before, the null arm, trials, placebo arm, explanation.

    Where the declared procedure is run on the same state, the first trial is about the choice before.
    """
    if "trials" not in evidence:
        return int("taken" in evidence)
    explained = evidence.get("explanation", _NOT_EXPLAINED)["asked"]
    asked = evidence["null"]["asked"] + evidence["placebo"]["asked"] + explained - (evidence["of"] == "declared")
    return 1 + asked + sum(trial["after"] is not None for trial in evidence["trials"])


def read_entry(body: AuditEntry) -> EntryFacts:
    """What an entry of a kernel's log says: its event, its ruling, the codes of its notes, and what was broken."""
    decision = body["kernel_decision"]
    return {
        "event": body["event"],
        "verdict": decision["verdict"],
        "codes": str.split(decision["notes"], " ")[1:],
        "witnesses": [
            {"invariant": breach["invariant"], "severity": breach["severity"]} for breach in body["witnesses"]
        ],
    }


def _read_step(body: run.Step, commit: run.Commit | None) -> StepFacts:
    decisions = body["decisions"]
    chosen = body["chosen"]
    step: StepFacts = {
        "t": body["t"],
        "agent": body.get("agent", ""),
        "chosen": NOT_YET if chosen is None else chosen,
        "proposals": len(decisions),
        "admitted": sum(1 for decision in decisions if not decision["rejected"] and decision["error"] is None),
        "errors": sum(1 for decision in decisions if decision["error"] is not None),
        "rejections": [
            {"proposal": index, "gate": failing["gate"], "reason": failing["reason"]}
            for index, decision in enumerate(decisions)
            for failing in decision["rejected"]
        ],
        "bound": chosen is None or (commit is not None and is_bound(commit, body)),
        "success": body["success"] is True,
        "violations": _breaches(body),
        "parts": {name: {k: v for k, v in part.items() if k not in _CHAINED} for name, part in body["parts"].items()},
        "potentials": {name: change for name, change in body.get("potentials", {}).items() if _is_known(change)},
        "rebases": [rebase for rebase in body.get("rebases", []) if _is_known(rebase)],
    }
    if chosen is not None:
        step["cost"] = body["cost"]
        if _is_known(body["record"]):
            step["record"] = body["record"]
        if commit is not None and _is_known(commit["proposals"][chosen]["action"]):
            step["action"] = commit["proposals"][chosen]["action"]
    return step


def _is_known(record: Body | None) -> bool:
    """Whether a record has all of its members: of a recording some may be left out, here or as evidence has that."""
    return not any(
        type(value) is Unknown or (type(value) is dict and value.keys() == {UNKNOWN})
        for value in (record or {}).values()
    )


_CHAINED: Final = frozenset({"before", "after", "tip", "tip_after"})


def _breaches(body: run.Step | run.EpisodeEnd) -> list[Breach]:
    return [{"invariant": breach["invariant"], "severity": breach["severity"]} for breach in body["violations"]]


def is_bound(commit: run.Commit, step: run.Step) -> bool:
    """Whether a choice is one of the proposals committed to before, by every digest of choice, set and token."""
    chosen, proposals = step["chosen"], commit["proposals"]
    if type(chosen) is not int or not 0 <= chosen < len(proposals) or commit["t"] != step["t"]:
        return False
    leaves = [leaf(index, proposal) for index, proposal in enumerate(proposals)]
    digest = proposal_digest(leaves[chosen])
    scope = scope_digest(step["episode"], step["t"], proposals[chosen]["action"]["op"], step.get("agent", ""))
    bound: bool = (
        set_root(leaves) == commit["root"]
        and step["chosen_hash"] == digest
        and step["token"] == token_document(digest, commit["root"], scope)
    )
    return bound
