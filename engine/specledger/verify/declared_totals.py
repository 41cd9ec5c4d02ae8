"""The totals that a run declares equal those of its receipts: length, rejections, violations and success."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from specledger.verify.checks import E_STATE, Broken


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
        self._steps = 0

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
        self._first, self._fatal, self._steps = None, False, 0

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
                _demand(failing["gate"] in gates, f"a gate at t = {t} is none of the run's")
                gates[failing["gate"]] += 1
        self._breaches("step", body["violations"])
        self._steps += 1
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
        self._all_gates.update(self._gates)
        self._gates = dict.fromkeys(self._gates, 0)
        for name, idle in body["idle"].items():
            step, episode = ("step", name) in self._invariants, ("episode", name) in self._invariants
            most = self._steps * step + episode
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
