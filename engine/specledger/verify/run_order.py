"""The order of the receipts of a run: states, part chains, audit entries, commitments and decisions, without specs.

The totals that a run declares equal those of its receipts: length, rejections, violations and success.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from specledger.compile.plan import Plan
from specledger.core.binding import (
    GENESIS,
    leaves_of,
    part_tip,
    proposal_digest,
    scope_digest,
    set_root,
    state_digest,
    token_document,
)
from specledger.core.diagnostics import counted
from specledger.core.entries import entry_hash
from specledger.core.events import (
    BROKEN_OFF,
    PROGRESS,
    Ended,
    GuardCause,
    GuardDecision,
    KeptStatus,
    Severity,
    owned,
    progress_violation,
)
from specledger.core.faults import FAULT
from specledger.evidence.receipts import run, typed
from specledger.evidence.receipts.guard import Guarded
from specledger.evidence.receipts.kernel import AuditEntry, Probe
from specledger.evidence.receipts.places import Position
from specledger.evidence.receipts.start import Start
from specledger.verify.checks import E_COMMITMENT, E_ENDS, E_STATE, Broken, equal, require, require_equal
from specledger.verify.extension import controlled
from specledger.verify.recorded import Recorded

Body = Mapping[str, Any]

_NOUNS: Final = {"commit": "commitment", "token": "token", "probe": "probe"}
_ENDINGS: Final = (*Ended,)
_OF_STEPS: Final = frozenset({"drift", "probe", "commit", "step", "rules", "guard"})
"""The types of receipts that name their step."""

Listener = Callable[[str, Body], None]
"""Receives the type and the body of each receipt that is in order."""


class RunOrder:
    """Checks that each receipt of a run continues the ones before it.

    Several agents have a turn each in every step, in the order of `start`, or one turn together. In a turn every
    commitment precedes the first decision, and the last decision has the judgement on the state after it.

    Attributes:
        entries: How many audit entries there are among the receipts.
        head: The hash of the last one, or of the entry that the first one follows.
    """

    def __init__(self, listen: Listener | None = None, first: int = 0) -> None:
        """Begin before the first receipt of a run, or of a shard of it whose first episode has the number `first`."""
        self.entries, self.head = 0, GENESIS
        self._listen = listen
        self._held: Counter[str] = Counter()  # receipts by type, and tokens
        self._ended = self._open = self._fatal = False
        self._episode, self._t, self._state = first - 1, 0, ""  # the episode, the step and the state that come next
        self._turn = self._decided = self._judged = 0  # within the step, the turn and the episode
        self._committed: list[run.Commit] = []  # the commitments of this turn
        self._prevented: Counter[tuple[int, str]] = Counter()  # agent faults for which nothing was decided
        self._success: int | None = None
        self._steps = 0  # of all episodes
        self._tips: dict[str, str] = {}
        self._plan: Callable[[], Plan] | None = None
        self._takes: Mapping[str, Callable[[Any], None]] = {
            "start": self._start,
            "episode": self._begin,
            "drift": self._drift,
            "audit": self._entered,
            "probe": self._probe,
            "commit": self._commit,
            "step": self._step,
            "rules": self._ruled,
            "guard": self._guarded,
            "error": self._error,
            "episode_end": self._close,
            "end": self._end,
        }

    def know(self, recorded: Recorded) -> None:
        """Judge the receipts of probes by the specs of the run, too."""
        self._plan = lambda: recorded.plan

    def describe(self) -> str:
        """How many commitments, tokens and probes were checked; of what there is none, nothing was."""
        counts = {noun: self._held[noun] for noun in ("commit", "token", "probe")}
        there = [counted(count, _NOUNS[noun]) for noun, count in counts.items() if count]
        lacking = [f"{_NOUNS[noun]}s" for noun, count in counts.items() if not count]
        absent = [f"nothing to check: {', '.join(lacking)}"] if lacking else []
        return "; ".join([*([", ".join(there)] if there else []), *absent])

    def add(self, type_: str, body: Body) -> None:
        """Take one receipt.

        Raises:
            Broken: It does not continue the run.
            KeyError, TypeError: It lacks a field, or is of an unknown type.
        """
        if self._ended:
            raise Broken(E_ENDS, f"{type_!r} after the end")
        if type_ in _OF_STEPS:
            at = typed(Position, body)
            episode, t = at["episode"], at["t"]
            comes_next = self._open and episode == self._episode and t == self._t
            if not (comes_next and type(episode) is int and type(t) is int):
                raise Broken(E_STATE, f"{type_!r} is not of the step that comes next")
        self._takes[type_](body)
        self._held[type_] += 1
        self._held["token"] += type_ == "step" and typed(run.Step, body).get("token") is not None
        if self._listen is not None:
            self._listen(type_, body)

    def _start(self, body: Start) -> None:
        self._first, self._recorded = body, "recording" in body
        self._gates = dict.fromkeys(body["gates"], 0)
        self._all_gates = Counter(self._gates)
        self._invariants = {
            (invariant["scope"], invariant["name"]): invariant["severity"] for invariant in body["invariants"]
        }
        known = all(severity in (*Severity,) for severity in self._invariants.values())
        require(known, "an invariant has an unknown severity", E_STATE)
        self._rules = {rule["name"]: rule["severity"] for rule in body.get("rules", ())}
        known = all(severity in (*Severity,) for severity in self._rules.values())
        require(known, "a rule has an unknown severity", E_STATE)
        self._due = {(drift["drift"], t) for drift in body["drifts"] for t in drift["schedule"]}
        agents = body.get("agents", [""])  # one agent has no name
        self._turns = [agents] if body.get("turns") == "simultaneous" else [[name] for name in agents]
        if "audit" in body:
            self.head = body["audit"]["head"]

    def _begin(self, body: run.Episode) -> None:
        begins = not self._open and equal(body["episode"], self._episode + 1)
        require(begins, "an episode begins out of order", E_STATE)
        require_equal(body, {"digest": state_digest(body["state"])}, "the start of an episode", E_STATE)
        self._episode, self._open, self._state = body["episode"], True, body["digest"]
        self._t = self._turn = self._decided = self._judged = 0
        self._committed, self._success, self._fatal = [], None, False
        self._tips = dict.fromkeys(body["parts"], GENESIS)

    def _drift(self, body: run.Drift) -> None:
        require(self._between and not self._turn, "a drift comes after a commitment or an action", E_STATE)
        require((body["drift"], body["t"]) in self._due, f"the drift at t = {body['t']} was not due", E_STATE)
        require_equal(body, {"before": self._state}, "a drift", E_STATE)
        self._state = body["after"]

    def _entered(self, body: AuditEntry) -> None:
        wanted = {"prev_entry_hash": self.head, "entry_hash": entry_hash(body)}
        require_equal(body, wanted, "an audit entry", E_STATE)
        self.entries, self.head = self.entries + 1, body["entry_hash"]

    def _probe(self, body: Probe) -> None:
        agent = body.get("agent", "")
        require(agent in self._turns[self._turn], "a probe is of an agent out of turn", E_STATE)
        if self._plan is not None:
            actors = [actor for actor in self._plan().actors if actor.name == agent and actor.controller is not None]
            require(actors, f"the run has no probe {body['probe']!r:.80}", E_STATE)
            controlled().check_probe(body, actors)

    @property
    def _between(self) -> bool:
        """Whether every commitment was followed by its decision."""
        return not self._committed and not self._decided

    def _ruled(self, body: run.Rules) -> None:
        kept = body.get("withheld", ())
        outcomes, held = (*body["broken"], *body["unjudged"], *kept), body["held"]
        if kept:
            require(all(one["status"] in (*KeptStatus,) for one in kept), "a kept verdict is none", E_STATE)
            require(self._recorded, "verdicts are kept where nothing was withheld", E_STATE)
        counted = all(type(times) is int and times > 0 for times in held.values())
        if not counted or not (held or outcomes):
            raise Broken(E_STATE, f"the rules at t = {body['t']} say nothing")
        if not (held.keys() <= self._rules.keys() and {one["rule"] for one in outcomes} <= self._rules.keys()):
            raise Broken(E_STATE, f"a rule at t = {body['t']} is none of the run's")
        for breach in body["broken"]:
            if breach["severity"] != self._rules[breach["rule"]]:
                severity = {"severity": self._rules[breach["rule"]]}
                require_equal(breach, severity, f"the rule {breach['rule']!r}", E_STATE)

    def _guarded(self, body: Guarded) -> None:
        allowed, denied = (equal(body["decision"], decision.value) for decision in GuardDecision)
        said = allowed or (denied and (body["denied_by"] or body["unjudged"]))
        follows = self._recorded and bool(self._committed) and type(body["made"]) is bool
        caused = any(equal(body["cause"], cause.value) for cause in GuardCause)
        fits = said and follows and caused and not (allowed and body["denied_by"])
        require(fits, f"what a guard decided at t = {body['t']} does not follow from what it says", E_STATE)
        known: dict[str, Collection[str]] = {"gate": self._gates, "rule": self._rules}
        known["invariant"] = [name for _, name in self._invariants]
        named = all(one["name"] in known.get(one["of"], ()) for one in body["denied_by"])
        require(named, f"a guard denies at t = {body['t']} by nothing of the run's", E_STATE)

    def _commit(self, body: run.Commit) -> None:
        due = self._turns[self._turn]
        follows = not self._decided and len(self._committed) < len(due)
        require(follows, "a commitment is not followed by its decision", E_STATE)
        require(body.get("agent", "") == due[len(self._committed)], "a commitment is out of turn", E_STATE)
        self._committed.append(body)

    def _step(self, body: run.Step) -> None:
        t, due, acted = body["t"], self._turns[self._turn], body["chosen"] is not None
        if self._first.get("commit") != "none":
            if len(self._committed) != len(due):
                raise Broken(E_COMMITMENT, f"not every commitment precedes the decision at t = {t}")
            check_decision(self._committed[self._decided], body, recorded=self._recorded)
        own, judged = body.get("agent", "") == due[self._decided], body["success"] is not None
        self._decided += 1
        goes_on = self._recorded or self._first.get("on_denied") == "tell"
        stopped = [] if acted or FAULT in body or goes_on else [progress_violation(t, body["decisions"])]
        broken = body["violations"][len(stopped) :]
        reported = equal(body["violations"][: len(stopped)], stopped) if stopped else type(broken) is list
        if not reported or (broken and any(breach["invariant"] == PROGRESS for breach in broken)):
            raise Broken(E_STATE, f"the violations at t = {t} do not say whether something was chosen")
        if not (own and (judged if self._decided == len(due) else not judged and not broken)):
            message = f"a decision at t = {t} is out of turn, or is judged before or after the end of it"
            raise Broken(E_STATE, message)
        if body["before"] != self._state or not (acted or body["after"] == self._state):
            require_equal(body, {"before": self._state, "after": self._state}, "a step", E_STATE)
        if FAULT in body:
            self._prevent(body)
        for name, receipt in body["parts"].items():
            self._part(name, receipt, t)
        if t >= self._first["horizon"] or (self._fatal and not self._recorded):
            raise Broken(E_STATE, f"a step at t = {t} is after the end")
        for decision in body["decisions"]:
            for failing in decision["rejected"]:
                gate = owned(body, failing["gate"])
                require(gate in self._gates, f"a gate at t = {t} is none of the run's", E_STATE)
                self._gates[gate] += 1
            for left in decision.get("unjudged", ()):
                named = left["gate"] == "cost" or owned(body, left["gate"]) in self._gates
                require(self._recorded and named, f"a gate at t = {t} is not judged, which is none", E_STATE)
        self._left_open("step", body)
        self._breaches("step", broken)
        self._state = body["after"]
        if body["success"] is True and self._success is None:
            self._success = t
        if judged:
            self._committed, self._decided, self._turn, self._judged = [], 0, self._turn + 1, self._judged + 1
        if self._turn == len(self._turns):
            self._turn, self._t = 0, t + 1

    def _prevent(self, body: run.Step) -> None:
        """Take a step in which an agent fault kept the agent from deciding, which the scenario bears."""
        reasons = [failing["reason"] for decision in body["decisions"] for failing in decision["rejected"]]
        borne = isinstance(self._first.get("agent_faults"), Mapping) and body["chosen"] is None
        message = f"the step at t = {body['t']} has an agent fault that kept nobody from deciding"
        require(borne and body[FAULT] in reasons, message, E_STATE)
        self._prevented[body["t"], body[FAULT]] += 1

    def _part(self, name: str, receipt: Mapping[str, Any], t: int) -> None:
        bare = {key: value for key, value in receipt.items() if key != "tip_after"}
        tip, refused = self._tips[name], {} if receipt["accepted"] else {"after": receipt["before"]}
        wanted = {"tip": tip, "tip_after": part_tip(tip, bare), **refused}
        require_equal(receipt, wanted, f"the part {name!r} at t = {t}", E_STATE)
        self._tips[name] = receipt["tip_after"]

    def _breaches(self, scope: str, violations: list[run.Violation]) -> None:
        for breach in violations:
            severity = self._invariants.get((scope, breach["invariant"]), "none of the run's")
            require_equal(breach, {"severity": severity}, f"the invariant {breach['invariant']!r}", E_STATE)
            self._fatal = self._fatal or (scope == "step" and Severity(severity).impact.ends_episode)

    def _left_open(self, scope: str, body: run.Step | run.EpisodeEnd) -> None:
        """Take invariants of a recording that were not judged: they are some of the run's, and not broken."""
        if "unjudged" not in body:
            return
        broken = {breach["invariant"] for breach in body["violations"]}
        for left in body["unjudged"]:
            name = left["invariant"]
            named = self._recorded and (scope, name) in self._invariants and name not in broken
            require(named, f"the invariant {name!r:.40} is not judged, and is none or broken", E_STATE)

    def _error(self, body: run.EvaluationError) -> None:
        require_equal(body, {"episode": self._episode + (not self._open)}, "an error", E_STATE)

    def _close(self, body: run.EpisodeEnd) -> None:
        ended, number = body["ended"], self._episode + (not self._open)
        require(ended in _ENDINGS, f"episode {number} ended as {ended!r:.40}, which is no way to end", E_STATE)
        broken_off = ended in BROKEN_OFF
        acted = self._between and (not self._turn or ended in (Ended.FATAL, Ended.UNTIL))
        whole = (self._open or ended == Ended.ERROR) and (acted or broken_off)
        require(whole, f"episode {number} was not begun, or ends before every agent acted", E_STATE)
        steps, success = 0, None  # of an episode that an error kept from beginning
        if self._open:
            steps, success = self._t + (self._turn > 0 or self._decided > 0), self._success
            require_equal(body, {"steps": steps, "state": self._state}, f"episode {number}", E_STATE)
        fatal = self._open and self._fatal
        if broken_off:  # the watchdog's violation is of no spec
            named = [(violation["invariant"], violation["severity"]) for violation in body["violations"]]
            own = [] if ended in (Ended.ERROR, Ended.UNKNOWN) else [("watchdog", Severity.FATAL)]
            require(named == own, f"episode {number} was broken off with other violations", E_STATE)
        else:
            self._breaches("episode", body["violations"])
        self._left_open("episode", body)
        wanted = {"episode": number, "first_success": success, "success": success is not None, "gates": self._gates}
        require_equal(body, wanted, f"episode {number}", E_STATE)
        reached = (ended == Ended.FATAL) == fatal and (ended != Ended.HORIZON or steps == self._first["horizon"])
        if self._recorded:  # as long as its trajectory, which replay reads
            reached = ended in (Ended.HORIZON, Ended.ERROR, Ended.UNKNOWN) and (ended == Ended.UNKNOWN) == (
                "gap" in body
            )
        elif ended == Ended.UNKNOWN:
            reached = False
        require(reached, f"episode {number} did not end as {ended!r}", E_STATE)
        faults = Counter((fault["t"], fault["reason"]) for fault in body.get("faults", ()))
        require(not self._prevented - faults, f"episode {number} lacks an agent fault that a step has", E_STATE)
        self._prevented = Counter()
        for fault in body.get("faults", ()):
            require(0 <= fault["t"] <= steps, f"episode {number} has an agent fault after its end", E_STATE)
        for name, idle in body["idle"].items():
            most = self._judged * (("step", name) in self._invariants) + (("episode", name) in self._invariants)
            rare = type(idle) is int and 0 < idle <= most
            require(rare, f"episode {number} has an invariant idle too often", E_STATE)
        self._all_gates.update(self._gates)
        self._gates = dict.fromkeys(self._gates, 0)
        self._steps += steps
        self._episode, self._open = number, False

    def _end(self, body: run.End) -> None:
        episodes, gates = self._episode + 1, dict(self._all_gates)
        whole = not self._open and equal(self._first["episodes"], episodes)
        require(whole, f"the run promised {self._first['episodes']} episodes", E_STATE)
        require_equal(body, {"episodes": episodes, "steps": self._steps, "gates": gates}, "the end", E_STATE)
        self._ended = True


def check_decision(commit: run.Commit, step: run.Step, *, recorded: bool = False) -> None:
    """Recompute everything that binds a decision to its committed proposal set.

    A call of a recording was made although a gate rejects it, or failed although none does.
    """
    t, proposals, chosen = step["t"], commit["proposals"], step["chosen"]
    leaves = leaves_of(proposals)
    root = set_root(leaves)
    if commit["root"] != root:
        require_equal(commit, {"root": root}, f"the commitment at t = {t}", E_COMMITMENT)
    if len(step["decisions"]) != len(proposals):
        raise Broken(E_COMMITMENT, f"there is not one decision for each proposal at t = {t}")
    admitted = [not decision["rejected"] and decision["error"] is None for decision in step["decisions"]]
    digest = token = None
    if chosen is None:
        require(
            recorded or not any(admitted), f"nothing was chosen at t = {t}, though something was admitted", E_COMMITMENT
        )
    else:
        if not (type(chosen) is int and 0 <= chosen < len(proposals) and (recorded or admitted[chosen])):
            raise Broken(E_COMMITMENT, f"the choice at t = {t} is outside the set, or was rejected")
        digest = proposal_digest(leaves[chosen])
        scope = scope_digest(step["episode"], t, proposals[chosen]["action"]["op"], step.get("agent", ""))
        token = token_document(digest, root, scope)
    if step["chosen_hash"] != digest or step["token"] != token:
        require_equal(step, {"chosen_hash": digest, "token": token}, f"the step at t = {t}", E_COMMITMENT)
