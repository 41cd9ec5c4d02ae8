"""What went wrong in a run, for people: where it stands in the specs, and why an expression has no value.

Receipts hold the code and the expression of an error, never its message, which may name values. For the few errors that
a command prints, their episodes are made once more, up to the last of these errors.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Final

from msgspec.structs import replace

from specledger.compile.plan import Judgement, Plan
from specledger.compile.scenario import compile_scenario
from specledger.core.events import Event, KeptStatus, Severity, breached, owned
from specledger.core.verdict import Verdict
from specledger.evidence.receipts import run, typed
from specledger.evidence.receipts.kernel import Probe
from specledger.evidence.receipts.places import Decided
from specledger.expr import EvaluationError, listening
from specledger.kinds.running import Incident
from specledger.load import Bundle
from specledger.run.loop import separate
from specledger.run.scenario_run import make_run

MOST_INCIDENTS: Final = 5
"""Incidents that a finished run keeps, the most severe; the receipts hold all of them."""

_PROBE_RANK: Final = 1
_KEPT_RANK: Final = 1
_KEPT: Final = "broken before a value was withheld"


def incidents_of(event: Event) -> list[Incident]:
    """The failures in an event: errors, broken invariants, failed probes."""
    if event.type == "commit":
        return []
    if event.type == "error":
        error = typed(run.EvaluationError, event.body)
        return [Incident(error["episode"], error["t"], error["code"], error["expression"], error.get("offset"))]
    if event.type == "probe":
        probe = typed(Probe, event.body)
        name, failed = owned(probe, probe["probe"]), probe["verdict"] in (Verdict.FAIL, Verdict.ERROR)
        return [Incident(probe["episode"], probe["t"], name, probe["cause"], rank=_PROBE_RANK)] if failed else []
    if event.type == "rules":
        rules = typed(run.Rules, event.body)
        at = rules["episode"], rules["t"]
        kept = [verdict["rule"] for verdict in rules.get("withheld", ()) if verdict["status"] == KeptStatus.BROKEN]
        broken = [
            Incident(*at, breach["rule"], breach["reason"], rank=Severity(breach["severity"]).impact.rank)
            for breach in rules["broken"]
        ]
        return [*broken, *(Incident(*at, rule, _KEPT, rank=_KEPT_RANK) for rule in kept)]
    if event.type == "step":
        step = typed(run.Step, event.body)
        causes = [decision["error"] for decision in step["decisions"] if decision["error"] is not None]
        at = step["episode"], step["t"]
        errors = [Incident(*at, cause["code"], cause["expression"], cause["offset"]) for cause in causes]
        return [*errors, *_violations(step, step["t"])]
    return _violations(end := typed(run.EpisodeEnd, event.body), end["steps"]) if event.type == "episode_end" else []


def _violations(body: run.Step | run.EpisodeEnd, t: int) -> list[Incident]:
    return [
        Incident(
            body["episode"], t, breached(body, breach), breach["witness"], rank=Severity(breach["severity"]).impact.rank
        )
        for breach in body["violations"]
    ]


class WorstIncidents:
    """The most severe of the incidents of a run so far, in their order.

    Of equally severe ones the first of each invariant, probe or failed expression is kept before any second one.
    """

    def __init__(self) -> None:
        self.kept: list[Incident] = []
        self._settled = False

    def add(self, event: Event) -> None:
        """Take an event."""
        if self._settled or not (more := incidents_of(event)):
            return
        seen: Counter[tuple[str, object]] = Counter()
        ranked = []
        for incident in (*self.kept, *more):
            cause = incident.what, incident.detail if incident.offset is not None else None
            ranked.append((incident.rank, seen[cause], incident))
            seen[cause] += 1
        chosen = [incident for _, _, incident in sorted(ranked, key=itemgetter(0, 1))[:MOST_INCIDENTS]]
        self.kept = sorted(chosen, key=lambda incident: (incident.rank, incident.episode, incident.t))
        self._settled = _is_settled(self.kept)


def _is_settled(kept: Sequence[Incident]) -> bool:
    """Whether no incident can take the place of a kept one: all are of the gravest rank, and none of another's name."""
    return len({incident.what for incident in kept if not incident.rank}) == MOST_INCIDENTS


def explained(bundle: Bundle, incidents: Sequence[Incident]) -> tuple[Incident, ...]:
    """Incidents of a run with their places in files, and with why expressions have no value.

    Why is not known of a run that would ask an agent from outside again, or sign again.
    """
    wanted = [incident for incident in incidents if incident.offset is not None]
    plan = compile_scenario(bundle) if wanted else None
    again: list[tuple[Incident, str | None]] = []
    if plan is not None and plan.outside is None and plan.recording is None and not plan.signed:
        for episode in {incident.episode: None for incident in wanted}:
            again += _reasons(bundle, plan, episode, [incident for incident in wanted if incident.episode == episode])
    explanations = []
    for incident in incidents:
        why = next((reason for other, reason in again if other == incident), None)
        again.remove((incident, why)) if why is not None else None
        explanations.append(replace(incident, at=_place(bundle, incident), detail=_detail(bundle, incident), why=why))
    return tuple(explanations)


def _reasons(bundle: Bundle, plan: Plan, episode: int, wanted: Sequence[Incident]) -> Iterator[tuple[Incident, str]]:
    """The errors of an episode, up to the last one that is wanted, each with its message."""
    judged: list[EvaluationError] = []
    raised = deque[EvaluationError](maxlen=1)
    actors = [replace(actor, judge=_overheard(actor.judge, judged)) for actor in plan.actors]
    last = max(incident.t for incident in wanted)
    episodes = range(episode, episode + 1) if separate(plan) else None
    with listening(raised.append):
        for event in make_run(bundle, replace(plan, actors=tuple(actors)), wanted=episodes):
            at = typed(Decided, event.body)
            if at.get("episode", episode) != episode:
                judged.clear()
                continue
            if at.get("t", 0) > last:
                return
            for incident in incidents_of(event):
                heard = judged if event.type == "step" else [*raised]
                error = next((judgement_error for judgement_error in heard if _is_of(judgement_error, incident)), None)
                if error is not None:
                    yield incident, error.message
                    judged[:] = [judgement_error for judgement_error in judged if judgement_error is not error]


def _overheard(judge: Callable[..., list[Judgement]], errors: list[EvaluationError]) -> Callable[..., list[Judgement]]:
    """The same judge, which adds the errors of its judgements to a list."""

    def judge_set(*given: Any) -> list[Judgement]:
        judgements = judge(*given)
        errors.extend(judgement.error for judgement in judgements if judgement.error is not None)
        return judgements

    return judge_set


def _is_of(error: EvaluationError, incident: Incident) -> bool:
    expression = None if error.text is None else error.text.value
    return (error.code, expression, error.offset) == (incident.what, incident.detail, incident.offset)


def _detail(bundle: Bundle, incident: Incident) -> Any:
    """The detail; for an episode without a start, of which receipts hold the code alone, why the world refuses it."""
    if incident.detail is not None or not incident.what.startswith(("E_START", "E_MAP")):
        return incident.detail
    try:
        compile_scenario(bundle).start(incident.episode)
    except EvaluationError as error:
        return error.message
    return None


def _place(bundle: Bundle, incident: Incident) -> str | None:
    """Where the expression that failed was written; None if nothing failed or it was written in no file."""
    if incident.offset is None:
        return None
    for spec in bundle.specs.values():
        for path, expression in spec.expressions():
            if expression == incident.detail:
                return str(spec.text(*path).span(incident.offset, incident.offset + 1))
    return None
