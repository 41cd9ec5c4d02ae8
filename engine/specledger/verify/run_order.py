"""The order of the receipts of a run: states, part chains, audit entries, commitments and decisions, without specs.

The totals that a run declares equal those of its receipts: length, rejections, violations and success.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from specledger.core.binding import (
    GENESIS,
    leaf,
    part_tip,
    proposal_digest,
    scope_digest,
    set_root,
    state_digest,
    token_document,
)
from specledger.core.entries import entry_hash
from specledger.core.events import owned
from specledger.verify.checks import E_COMMITMENT, E_ENDS, E_STATE, Broken
from specledger.verify.turns import Turns


class DeclaredTotals:
    """Compares declarations of the first receipt and of each end of an episode with the receipts between."""

    def __init__(self) -> None:
        self._episodes = self._horizon = 0
        self._gates: dict[str, int] = {}
        self._all_gates: Counter[str] = Counter()
        self._invariants: dict[tuple[str, str], str] = {}
        self._due: dict[str, set[int]] = {}
        self._first: int | None = None
        self._fatal = False
        self._steps = self._judged = 0

    def start(self, body: Mapping[str, Any]) -> None:
        """Take what the run promises."""
        self._episodes, self._horizon = body["episodes"], body["horizon"]
        self._gates = dict.fromkeys(body["gates"], 0)
        self._all_gates.update(self._gates)
        self._invariants = {(one["scope"], one["name"]): one["severity"] for one in body["invariants"]}
        for drift in body["drifts"]:
            self._due.setdefault(drift["drift"], set()).update(drift["schedule"])

    def begin(self) -> None:
        """An episode begins."""
        self._first, self._fatal, self._steps, self._judged = None, False, 0, 0

    def drift(self, body: Mapping[str, Any]) -> None:
        """A drift happens when the run said that it is due.

        Raises:
            Broken: E_STATE.
        """
        _demand(body["t"] in self._due.get(body["drift"], ()), f"the drift at t = {body['t']} was not due")

    def step(self, body: Mapping[str, Any]) -> None:
        """A step is one of those that there may be, and names gates and invariants of the run.

        Raises:
            Broken: E_STATE.
        """
        t = body["t"]
        _demand(t < self._horizon and not self._fatal, f"there is a step at t = {t}, after the episode's end")
        gates = self._gates
        for decision in body["decisions"]:
            for failing in decision["rejected"]:
                gate = owned(body, failing["gate"])
                _demand(gate in gates, f"a gate at t = {t} is none of the run's")
                gates[gate] += 1
        self._breaches("step", body["violations"])
        self._steps, self._judged = t + 1, self._judged + (body["success"] is not None)
        if body["success"] is True and self._first is None:
            self._first = t

    def close(self, body: Mapping[str, Any]) -> None:
        """The end of an episode says what its steps came to.

        Raises:
            Broken: E_STATE.
        """
        number, ended = body["episode"], body["ended"]
        _demand(_same(body["first_success"], self._first), f"episode {number} names another first success")
        _demand(body["success"] is (self._first is not None), f"episode {number} claims another success")
        _demand((ended == "fatal") == self._fatal, f"episode {number} ended otherwise than it says")
        whole = ended != "horizon" or self._steps == self._horizon
        _demand(whole, f"episode {number} has {self._steps} steps, and the horizon is {self._horizon}")
        if ended in ("horizon", "until", "fatal"):
            self._breaches("episode", body["violations"])
        _demand(_counted(body["gates"], self._gates), f"episode {number} counts other rejections")
        for fault in body.get("faults", ()):
            _demand(0 <= fault["t"] <= self._steps, f"episode {number} has an agent fault after its end")
        self._all_gates.update(self._gates)
        self._gates = dict.fromkeys(self._gates, 0)
        for name, idle in body["idle"].items():
            step, episode = ("step", name) in self._invariants, ("episode", name) in self._invariants
            most = self._judged * step + episode
            _demand(type(idle) is int and 0 < idle <= most, f"episode {number} has an invariant idle too often")
        self.begin()

    def end(self, body: Mapping[str, Any]) -> None:
        """The run is as long as it promised, and counts its rejections.

        Raises:
            Broken: E_STATE.
        """
        _demand(_same(body["episodes"], self._episodes), f"the run promised {self._episodes} episodes")
        _demand(_counted(body["gates"], self._all_gates), "the run counts other rejections")

    def _breaches(self, scope: str, violations: list[Mapping[str, Any]]) -> None:
        for breach in violations:
            severity = self._invariants.get((scope, breach["invariant"]))
            _demand(severity is not None and breach["severity"] == severity, "a broken invariant is none of the run's")
            self._fatal = self._fatal or (scope == "step" and severity == "fatal")


def _same(recorded: Any, found: int | None) -> bool:
    return type(recorded) is type(found) and recorded == found


def _counted(recorded: Any, found: Mapping[str, int]) -> bool:
    return recorded == found and all(type(count) is int for count in recorded.values())


def _demand(holds: bool, message: str) -> None:
    if not holds:
        raise Broken(E_STATE, message)


Listener = Callable[[str, Mapping[str, Any]], None]
"""Receives the type and the body of each receipt that is in order."""


class RunOrder:
    """Checks that each receipt of a run continues the ones before it.

    Attributes:
        entries: The hashes of the audit entries among the receipts.
    """

    def __init__(self, listen: Listener | None = None, first: int = 0) -> None:
        """Begin before the first receipt.

        Args:
            listen: Receives each receipt that is in order.
            first: The number of the first episode, in a shard of a run.
        """
        self.entries: list[str] = []
        self._listen = listen
        self._totals = DeclaredTotals()
        self._state = ""
        self._episode = first - 1
        self._open = False
        self._steps = 0
        self._turns = Turns()
        self._begin_turns: Callable[[], Turns] = Turns
        self._tips: dict[str, str] = {}
        self._entry = GENESIS
        self._ended = False

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Take one receipt.

        Raises:
            Broken: It does not continue the run.
            KeyError, TypeError: It lacks a field, or is of an unknown type.
        """
        if self._ended:
            raise Broken(E_ENDS, f"{type_!r} after the end")
        takes = {
            "start": self._start,
            "episode": self._begin,
            "drift": self._drift,
            "audit": self._entered,
            "probe": self._probe,
            "commit": self._committed,
            "step": self._step,
            "error": self._error,
            "episode_end": self._close,
            "end": self._end,
        }
        takes[type_](body)
        if self._listen is not None:
            self._listen(type_, body)

    def _start(self, body: Mapping[str, Any]) -> None:
        self._totals.start(body)
        commits, several = body.get("commit", "proposals") != "none", body.get("turns") == "simultaneous"
        self._begin_turns = partial(Turns, body.get("agents", [""]), simultaneous=several, commits=commits)
        if "audit" in body:
            self._entry = body["audit"]["head"]

    def _begin(self, body: Mapping[str, Any]) -> None:
        self._totals.begin()
        begins = not self._open and _equals(body["episode"], self._episode + 1)
        _demand(begins, "an episode begins out of order")
        _demand(body["digest"] == state_digest(body["state"]), "the digest of the start state is wrong")
        self._episode, self._open, self._turns = body["episode"], True, self._begin_turns()
        self._state = body["digest"]
        self._tips = dict.fromkeys(body["parts"], GENESIS)

    def _drift(self, body: Mapping[str, Any]) -> None:
        self._place(body)
        _demand(self._turns.begins, f"the drift at t = {body['t']} comes after a commitment or an action")
        self._totals.drift(body)
        _demand(body["before"] == self._state, f"the drift at t = {body['t']} begins in another state")
        self._state = body["after"]

    def _entered(self, body: Mapping[str, Any]) -> None:
        _demand(body["prev_entry_hash"] == self._entry, "an audit entry does not follow the one before it")
        _demand(body["entry_hash"] == entry_hash(body), "an audit entry has another hash than its own")
        self._entry = body["entry_hash"]
        self.entries.append(self._entry)

    def _probe(self, body: Mapping[str, Any]) -> None:
        placed = self._open and _equals(body["episode"], self._episode) and _equals(body["t"], self._turns.t)
        _demand(placed and self._turns.knows(body.get("agent", "")), "a probe is out of order")

    def _committed(self, body: Mapping[str, Any]) -> None:
        self._place(body)
        self._turns.commit(body)

    def _step(self, body: Mapping[str, Any]) -> None:
        t = body["t"]
        self._place(body)
        commit, last = self._turns.decide(body)
        if commit is not None:
            check_decision(commit, body)
        unjudged = body["success"] is None and not body["violations"]
        _demand(last or unjudged, f"the decision at t = {t} is judged before its turn is over")
        _demand(not last or body["success"] is not None, f"the turn at t = {t} ends without a judgement")
        _demand(body["before"] == self._state, f"the step at t = {t} begins in another state")
        if body["chosen"] is None:
            _demand(body["after"] == body["before"], f"nothing was done at t = {t}, but the state changed")
        for name, receipt in body["parts"].items():
            self._part(name, receipt, t)
        self._totals.step(body)
        self._state = body["after"]

    def _part(self, name: str, receipt: Mapping[str, Any], t: int) -> None:
        _demand(receipt["tip"] == self._tips[name], f"the chain of {name!r} is broken at t = {t}")
        bare = {key: value for key, value in receipt.items() if key != "tip_after"}
        tip = part_tip(receipt["tip"], bare)
        _demand(receipt["tip_after"] == tip, f"the tip of {name!r} at t = {t} is wrong")
        _demand(receipt["accepted"] or receipt["before"] == receipt["after"], f"{name!r} moved at t = {t}, refused")
        self._tips[name] = tip

    def _error(self, body: Mapping[str, Any]) -> None:
        number = self._episode if self._open else self._episode + 1
        _demand(_equals(body["episode"], number), "an error outside an episode")

    def _close(self, body: Mapping[str, Any]) -> None:
        begun = self._open and _equals(body["episode"], self._episode)
        failed = not self._open and _equals(body["episode"], self._episode + 1) and body["ended"] == "error"
        _demand(begun or failed, "an episode ends that was not begun")
        broken_off = body["ended"] in ("error", "hang", "died")
        _demand(self._turns.between or broken_off, "a commitment is not followed by its decision")
        whole = self._turns.begins or broken_off or body["ended"] in ("fatal", "until")
        _demand(whole, f"episode {body['episode']} ends before every agent acted")
        steps = 0 if failed else self._turns.steps
        _demand(_equals(body["steps"], steps) or failed, f"episode {body['episode']} counts other steps than it has")
        _demand(body["state"] == self._state or failed, f"episode {body['episode']} ends in another state")
        self._totals.close(body)
        self._steps += steps
        self._episode, self._open = body["episode"], False

    def _end(self, body: Mapping[str, Any]) -> None:
        self._totals.end(body)
        ends = not self._open and _equals(body["episodes"], self._episode + 1)
        _demand(ends, "the run ends in mid-episode")
        _demand(_equals(body["steps"], self._steps), "the run counts other steps than it has")
        self._ended = True

    def _place(self, body: Mapping[str, Any]) -> None:
        placed = self._open and _equals(body["episode"], self._episode) and _equals(body["t"], self._turns.t)
        _demand(placed, "a receipt is out of order")


def _equals(value: Any, number: int) -> bool:
    """Whether a value is this integer; JSON's `false` is none, though Python's equals 0."""
    return type(value) is int and value == number


def check_decision(commit: Mapping[str, Any], step: Mapping[str, Any]) -> None:
    """Recompute everything that binds a decision to its committed proposal set.

    Raises:
        Broken: E_COMMITMENT, if the root, the chosen digest, the token or the admission is wrong.
    """
    t = step["t"]
    proposals = commit["proposals"]
    leaves = [leaf(index, proposal) for index, proposal in enumerate(proposals)]
    if set_root(leaves) != commit["root"]:
        raise Broken(E_COMMITMENT, f"the stored proposals at t = {t} are not those committed to")
    if len(step["decisions"]) != len(proposals):
        raise Broken(E_COMMITMENT, f"{len(proposals)} proposals but {len(step['decisions'])} decisions at t = {t}")
    chosen = step["chosen"]
    admitted = [not decision["rejected"] and decision["error"] is None for decision in step["decisions"]]
    if chosen is None:
        if any(admitted) or step["token"] is not None or step["chosen_hash"] is not None:
            raise Broken(
                E_COMMITMENT, f"nothing was chosen at t = {t}, though something was admitted or a token issued"
            )
        return
    if type(chosen) is not int or not 0 <= chosen < len(proposals):
        raise Broken(E_COMMITMENT, f"the choice at t = {t} is outside the set")
    if not admitted[chosen]:
        raise Broken(E_COMMITMENT, f"the proposal chosen at t = {t} was rejected")
    digest = proposal_digest(leaves[chosen])
    if step["chosen_hash"] != digest:
        raise Broken(E_COMMITMENT, f"the digest of the proposal chosen at t = {t} is wrong")
    scope = scope_digest(step["episode"], t, proposals[chosen]["action"]["op"], step.get("agent", ""))
    if step["token"] != token_document(digest, commit["root"], scope):
        raise Broken(E_COMMITMENT, f"the token at t = {t} is not bound to the proposal, the commitment and the scope")
