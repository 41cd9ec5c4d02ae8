"""Metrics of an agent in a run: the probes of each episode, what was broken or refused, and the steps that failed.

An episode passes if each probe of its scenario was made in it and every verdict is PASS.

Source: toy-pseudo-axion, Metrics and outputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NotRequired, TypedDict

from specledger.core.calibration import Calibration
from specledger.core.canonical import parse_json
from specledger.core.events import PROGRESS, Severity, owned
from specledger.core.statistics import ONE, divide, wilson
from specledger.core.verdict import Verdict
from specledger.evidence.counterexamples import Step, Steps
from specledger.evidence.receipts import run, typed
from specledger.evidence.receipts.kernel import AuditEntry, Probe
from specledger.report.evidence import bodies_in
from specledger.report.held_claims import claims_shown
from specledger.suites.episodes import read_entry, read_probe

Body = Mapping[str, Any]

_Fact = Literal["t", "verdict", "cause", "answers", "questions", "claims", "vague", "held", "tested"]

_OF_PROBE: Final[tuple[_Fact, ...]] = (
    "t",
    "verdict",
    "cause",
    "answers",
    "questions",
    "claims",
    "vague",
    "held",
    "tested",
)
"""The fields of a probe that the record of an episode holds."""

_CALL: Final = "call"
"""The place of a probe of a recorded decision."""

METERED: Final = ("episode", "probe", "episode_end")
"""The types of receipts that totals are made from."""

_DECIDED: Final = (Verdict.PASS, Verdict.FAIL)

_REFUSED: Final = "refused:"  # how the code of a refused execution begins


class _Closing(TypedDict):
    """What closes a step: a `step` or an `error`."""

    episode: int
    t: int
    code: NotRequired[str]
    before: NotRequired[str]
    violations: NotRequired[list[run.Violation]]


class RunMetrics:
    """Folds the receipts of one run.

    Attributes:
        entries: The entries of its audit log, in order.
        counterexamples: The first steps that failed, each as a document.
    """

    def __init__(self, name: str, scenario: str, probes: Sequence[str], most: int | None = 0) -> None:
        """Begin the run of a name; so many counterexamples are kept, all with None."""
        self.run = name
        self._scenario = scenario
        self._most = most
        self._named = tuple(dict.fromkeys(probes))
        self.episodes: list[dict[str, Any]] = []
        self.entries: list[AuditEntry] = []
        self.counterexamples: list[dict[str, Any]] = []
        self.failed = 0
        self._probes: list[Probe] = []
        self._steps = Steps()
        self._broken: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._violated: Counter[str] = Counter()

    def read(self, folder: Path, *types: str) -> RunMetrics:
        """Take the receipts of the bundle in a folder, of some types alone, or all."""
        for type_, body in bodies_in(folder, *types):
            self.add(type_, body)
        return self

    def add(self, type_: str, body: Body) -> None:
        """Take one receipt; KeyError, TypeError, AttributeError or ValueError if it is malformed."""
        step = self._steps.add(0, type_, body)
        if type_ == "episode":
            self._probes = []
            self._broken, self._refused, self._violated = Counter(), Counter(), Counter()
        elif type_ == "probe":
            probe = typed(Probe, body)
            self._probes.append({**probe, "probe": owned(probe, probe["probe"])})
        elif type_ == "audit":
            self._enter(typed(AuditEntry, body))
        elif step is not None and type_ != "episode_end":
            closing = typed(_Closing, body)
            self._violated.update(_broken_in(closing.get("violations", ())))
            self._close_step(step, closing)
        elif type_ == "episode_end":
            end = typed(run.EpisodeEnd, body)
            self._violated.update(_broken_in(end.get("violations", ())))
            self.episodes.append(self._episode(end))

    def _enter(self, entry: AuditEntry) -> None:
        self.entries.append(entry)
        read = read_entry(entry)
        self._broken.update(
            witness["invariant"] for witness in read["witnesses"] if Severity(witness["severity"]).impact.fails_run
        )
        self._refused.update(code.removeprefix(_REFUSED) for code in read["codes"] if code.startswith(_REFUSED))

    def _close_step(self, step: Step, body: _Closing) -> None:
        failed = step.failed_probes
        wrong = {
            "error": body.get("code"),
            "rejected": [
                owned(taken_step, rejection["gate"])
                for taken_step in (typed(run.Step, data) for data in step.bodies("step"))
                for decision in taken_step["decisions"]
                for rejection in decision["rejected"]
            ],
            "violations": list(body.get("violations", ())),
        }
        if not failed and not any(wrong.values()):
            return
        self.failed += 1
        if self._most is None or len(self.counterexamples) < self._most:
            position = {"run": self.run, "episode": body["episode"], "t": body["t"], "before": body.get("before")}
            what = {"probes": failed, **wrong, **_submitted(step), "audit": _entries(step)}
            self.counterexamples.append({**position, **what})

    def _episode(self, body: run.EpisodeEnd) -> dict[str, Any]:
        read = [read_probe(probe) for probe in self._probes]
        by_probe: dict[str, list[dict[str, Any]]] = {name: [] for name in self._named}
        for probe in read:
            by_probe[probe["probe"]].append({name: probe[name] for name in _OF_PROBE})
        clean = all(
            results and all(result["verdict"] == Verdict.PASS for result in results) for results in by_probe.values()
        )
        return {
            "run": self.run,
            "scenario": self._scenario,
            "episode": body["episode"],
            "ended": body["ended"],
            "success": body["success"],
            "passed": clean if by_probe else None,
            "probes": by_probe,
            "invariant_failures": dict(sorted(self._broken.items())),
            "token_failures": dict(sorted(self._refused.items())),
            "violations": dict(sorted(self._violated.items())),
            "spent": body.get("spent", {}),
            **({"decisions": decisions} if (decisions := sum(probe["at"] == _CALL for probe in self._probes)) else {}),
            "replay": {
                "equal": sum(result["equal"] for result in read),
                "nodes": sum(result["nodes"] for result in read),
            },
        }


def _broken_in(violations: Iterable[run.Violation]) -> list[str]:
    """The invariants that are broken; that nothing was admitted is told as what was rejected."""
    return [name for violation in violations if (name := violation["invariant"]) != PROGRESS]


def _entries(step: Step) -> list[Mapping[str, Any]]:
    """The entries of the audit log; of several agents each names the one whose decision it is about."""
    entries: list[Mapping[str, Any]] = []
    waiting: list[Mapping[str, Any]] = []
    for type_, body in step.receipts:
        if type_ == "audit":
            waiting.append(body)
        elif type_ == "step":
            decided = typed(run.Step, body)
            entries += [{"agent": decided["agent"], **entry} if "agent" in decided else entry for entry in waiting]
            waiting = []
    return entries + waiting


def _submitted(step: Step) -> dict[str, Any]:
    """The state that was shown, the proposal and its trace; None for what cannot be read."""
    commits = [typed(run.Commit, body) for body in step.bodies("commit")]
    proposals = commits[-1]["proposals"] if commits else []
    text = proposals[0].get("document") if proposals else None
    document = _parsed(text) if isinstance(text, str) else None
    if not isinstance(document, dict):
        return {"state": None, "proposal": text if document is None else document, "trace": None}
    return {"state": document.get("env"), "proposal": document, "trace": document.get("trace")}


def _parsed(text: str) -> Any:
    try:
        return parse_json(text.encode())
    except ValueError:
        return None


def totals(agents: Mapping[str, Sequence[RunMetrics]]) -> dict[str, dict[str, Any]]:
    """The totals of each agent over its runs."""
    return {
        agent: total([episode for metrics in runs for episode in metrics.episodes]) for agent, runs in agents.items()
    }


def total(episodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The totals of episodes: how many passed all probes, and each probe; shares are in millionths."""
    spent = sum((Counter(episode["spent"]) for episode in episodes), Counter[str]())
    names = dict.fromkeys(name for episode in episodes for name in episode["probes"])
    judged = [episode["passed"] for episode in episodes if episode["passed"] is not None]
    equal = sum(episode["replay"]["equal"] for episode in episodes)
    nodes = sum(episode["replay"]["nodes"] for episode in episodes)
    return {
        "episodes": len(episodes),
        "successes": sum(episode["success"] for episode in episodes),
        "passed": _rate(sum(judged), len(judged)),
        "probes": {name: _of_probe([episode["probes"].get(name, []) for episode in episodes]) for name in names},
        **({"spent": {name: spent[name] for name in episodes[0]["spent"]}} if spent else {}),
        "replay_fidelity": {"equal": equal, "nodes": nodes, "share": divide(equal * ONE, nodes) if nodes else None},
        **{
            name: dict(sorted(sum((Counter(episode[name]) for episode in episodes), Counter[str]()).items()))
            for name in ("invariant_failures", "token_failures", "violations")
        },
    }


def _of_probe(by_episode: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """One probe over episodes: its verdicts, and in how many of those decided it, or its answers alone, failed."""
    results = [result for episode in by_episode for result in episode]

    def failed(name: str) -> dict[str, Any]:
        decided = [episode for episode in by_episode if any(result[name] in _DECIDED for result in episode)]
        return _rate(sum(any(result[name] == Verdict.FAIL for result in episode) for episode in decided), len(decided))

    stated, tested = Calibration(), sum(result["tested"] for result in results)
    stated.add((claim["confidence"], claim["held"]) for result in results for claim in result["claims"])
    return {
        "verdicts": dict(sorted(Counter(result["verdict"] for result in results).items())),
        "causes": dict(sorted(Counter(result["cause"] for result in results if result["cause"]).items())),
        "failed": failed("verdict"),
        **({"answers_failed": failed("answers")} if any(result["answers"] for result in results) else {}),
        "undecided": sum(
            bool(episode) and all(result["verdict"] not in _DECIDED for result in episode) for episode in by_episode
        ),
        "not_made": sum(not episode for episode in by_episode),
        "questions": sum(result["questions"] for result in results),
        **({"vague": vague} if (vague := sum(result["vague"] for result in results)) else {}),
        **({"claims": claims_shown(sum(result["held"] for result in results), tested)} if tested else {}),
        **({"calibration": stated.result()} if stated.doubts else {}),
    }


def _rate(count: int, of: int) -> dict[str, Any]:
    """A count, the share, and Wilson's 95 % interval; both None without cases."""
    if not of:
        return {"count": count, "of": of, "value": None, "wilson": None}
    low, high = wilson(count, of)
    return {"count": count, "of": of, "value": divide(count * ONE, of), "wilson": {"low": low, "high": high}}
