"""Traces a run from its receipts: one line for each step, one whole step, or one field of every step."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, Rejected, code, suggest
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.evidence.layout import SCENARIO
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.guard import Guarded
from specledger.evidence.receipts.kernel import Probe
from specledger.evidence.receipts.places import Decided
from specledger.evidence.receipts.run import Commit, Step
from specledger.evidence.receipts.suite import Run
from specledger.load import Bundle
from specledger.report.evidence import Evidence
from specledger.report.markup import shorten
from specledger.report.model import malformed_receipts, receipts_of
from specledger.report.states import states
from specledger.report.units import Tree, express, of_variable, units_of, within

E_TRACE_KIND = code("E_TRACE_KIND", "only a run has steps")
E_TRACE_STEP = code("E_TRACE_STEP", "there is no such step")
E_TRACE_FIELD = code("E_TRACE_FIELD", "no receipt has such a field")

FORMAT: Final = "specledger/trace/v1"

MOST_LINES: Final = 10_000
"""The largest number of lines."""
STATE: Final = "state"
"""What a path begins with that leads into the recomputed state after a step."""
LONGEST: Final = 160
"""Characters of one value on a line."""
MOST_REASONS: Final = 4
"""Gates with their reasons on a line; the others are counted."""
_FIXED: Final[Mapping[str, tuple[str, Sequence[str]]]] = {
    "step": ("cost", ("step", "cost", "total")),
    "drift": ("changed", ("drift", "changed")),
}
"""By the type of a receipt the fact of its line that may hold fixed-point numbers, and its path in the receipt."""

Body = Mapping[str, Any]

_WORD: Final = re.compile(r'"([^"]*)"|([^.]+)')


class StepLine(Struct, frozen=True):
    """One line of a trace: the type and the number of a receipt, where in the run it is, and what is shown, as JSON."""

    kind: str
    episode: int
    t: int | None
    seq: int
    facts: Mapping[str, Any]


class Trace(Struct, frozen=True):
    """Lines of a run, and the number of further lines."""

    lines: tuple[StepLine, ...]
    more: int

    def in_units(self, specs: Bundle, field: str | None) -> Trace:
        """The same lines for people: with the fixed-point numbers of what they show in units."""
        units = units_of(specs)
        return Trace(tuple(_in_units(line, units, field) for line in self.lines), self.more)


def step_in_units(receipts: Sequence[Mapping[str, Any]], specs: Bundle) -> list[dict[str, Any]]:
    """The receipts of a step with their fixed-point numbers in units."""
    units = units_of(specs)
    return [{**receipt, "body": _body_in_units(receipt["type"], receipt["body"], units)} for receipt in receipts]


def _body_in_units(type_: str, body: Body, units: Mapping[str, Tree]) -> Any:
    shown = express(body, units.get(type_))
    if type_ == "step":
        step = typed(Step, body)
        shown["violations"] = _witnessed(step["violations"], "invariant", units.get("witness"))
        shown["decisions"] = [
            {**decision, "rejected": _witnessed(decision["rejected"], "gate", units.get("gate"))}
            for decision in step["decisions"]
        ]
    if type_ == "probe":
        evidence = typed(Probe, body)["evidence"]
        trials = [
            {**trial, "value": express(trial["value"], of_variable(units, trial["variable"]))}
            for trial in evidence.get("trials", ())
        ]
        shown = {**body, "evidence": {**evidence, **({"trials": trials} if trials else {})}}
    return shown


def _witnessed(findings: Sequence[Mapping[str, Any]], by: str, units: Tree) -> list[dict[str, Any]]:
    """Violations or rejections, each with the fixed-point numbers of its witness in units."""
    return [{**finding, "witness": express(finding["witness"], within(units, [finding[by]]))} for finding in findings]


def value_in_units(value: Any, specs: Bundle, field: str) -> Any:
    """The value of one field with its fixed-point numbers in units."""
    return express(value, within(units_of(specs), _words(field)))


def _in_units(line: StepLine, units: Mapping[str, Tree], field: str | None) -> StepLine:
    facts = dict(line.facts)
    if field is not None:
        facts["value"] = express(facts["value"], within(units, _words(field)))
    elif line.kind in _FIXED:
        fact, path = _FIXED[line.kind]
        facts[fact] = express(facts[fact], within(units, path))
    return replace(line, facts=facts)


def trace_run(evidence: Evidence, episode: int | None, most: int, field: str | None = None) -> Trace:
    """At most so many lines of a run, of one episode or all; with a path those of the receipts that have the field."""
    lines: list[StepLine] = []
    more = 0
    for line in trace_lines(evidence, field):
        if episode is not None and line.episode != episode:
            continue
        if len(lines) < most:
            lines.append(line)
        else:
            more += 1
    if not lines and field is not None:
        hint = _suggest_field(evidence, field)
        raise Rejected([Diagnostic(E_TRACE_FIELD, f"no receipt has the field {field}", hint=hint)])
    if not lines and episode is not None:
        last = evidence.manifest["result"]["episodes"] - 1
        hint = f"it has the episode{'s 0 to' if last else ''} {last}"
        raise Rejected([Diagnostic(E_TRACE_STEP, f"there is no episode {episode}", hint=hint)])
    return Trace(tuple(lines), more)


def trace_lines(evidence: Evidence, field: str | None = None) -> Iterator[StepLine]:
    """Every line of a run, or of the receipts that have a field."""
    words = None if field is None else _words(field)
    lines = _states(evidence, words) if words is not None and words[0] == STATE else _lines(evidence, words)
    return _refusing(evidence, lines)


def trace_step(evidence: Evidence, episode: int, t: int, field: str | None = None) -> Any:
    """The receipts of one step, or with a path the value of one field.

    Returns:
        The receipts of the step, each `{type, seq, digest, body}`, and as the last `{type: state, seq, body}` the
        recomputed state after it; or the value.
    """
    receipts = [
        {"type": item.type, "seq": item.seq, "digest": item.digest, "body": item.body}
        for item in _refusing(evidence, receipts_of(evidence))
        if _position(item.body) == (episode, t)
    ]
    if not receipts:
        positions = [_position(receipt.body) for receipt in receipts_of(evidence)]
        steps = [t for number, t in positions if number == episode and t is not None]
        last = max((number for number, _ in positions if number is not None), default=0)
        others = f"the run has the episodes 0 to {last}" if last else "the run has the episode 0 alone"
        hint = f"it has the steps {min(steps)} to {max(steps)}" if steps else others
        raise Rejected([Diagnostic(E_TRACE_STEP, f"there is no step {t} in episode {episode}", hint=hint)])
    words = [] if field is None else _words(field)
    if field is None or words[0] == STATE:
        after = (item for item in states(evidence) if item[:2] == (episode, t))
        receipts += [{"type": STATE, "seq": seq, "body": state} for _, _, seq, state in _refusing(evidence, after)]
    if field is None:
        return receipts
    for receipt in receipts:
        if receipt["type"] == words[0]:
            present, value = _follow(receipt["body"], words[1:])
            if present:
                return value
    message = f"no receipt of step {t} in episode {episode} has the field {field}"
    raise Rejected([Diagnostic(E_TRACE_FIELD, message, hint=_suggest_field(evidence, field))])


def _position(body: Body) -> tuple[int | None, int | None]:
    """The episode and the step of a receipt, if it has them."""
    at = typed(Decided, body)
    return at.get("episode"), at.get("t")


def _refusing(evidence: Evidence, items: Iterator[Any]) -> Iterator[Any]:
    """What is read from a run's receipts; Rejected as E_TRACE_KIND, or as E_REPORT_RECEIPTS if one is malformed."""
    if evidence.kind != SCENARIO:
        message = f"evidence of the kind {evidence.kind} has no steps"
        raise Rejected([Diagnostic(E_TRACE_KIND, message, hint=_first_run(evidence))])
    with malformed_receipts():
        yield from items


def _first_run(evidence: Evidence) -> str:
    """What can be traced instead: the bundle of a run of a suite."""
    runs = [typed(Run, body)["place"] for type_, body in evidence.bodies() if type_ == "run" and "place" in body]
    if not runs:
        return "`spec report` shows it"
    more = f", the first of {len(runs)}" if len(runs) > 1 else ""
    return f"its runs have steps: spec trace {evidence.place / runs[0]}{more}"


def _states(evidence: Evidence, words: list[str]) -> Iterator[StepLine]:
    """The lines of the states after the steps, or of a field of them."""
    for episode, t, seq, state in states(evidence):
        present, value = _follow(state, words[1:])
        if present:
            yield StepLine(STATE, episode, t, seq, {"value": value})


def _suggest_field(evidence: Evidence, field: str) -> str:
    """The path that was probably meant: the type of a receipt was left out, or a key is misspelt."""
    words = _words(field)
    known: dict[str, None] = {}
    for type_, body in evidence.bodies():
        if _follow(body, words)[0]:
            return f"did you mean `{type_}.{field}`?"
        known |= dict.fromkeys([type_, *(f"{type_}.{key}" for key in body)])
    near = suggest(".".join(words[:2]), known)
    types = dict.fromkeys(name.partition(".")[0] for name in known)
    begins = f"a path begins with the type of a receipt ({', '.join(types)}), or with `{STATE}`"
    return f"did you mean `{near}`?" if near else begins


def _lines(evidence: Evidence, words: list[str] | None) -> Iterator[StepLine]:
    proposals: dict[str, list[Any]] = {}
    for seq, (type_, body) in enumerate(evidence.bodies()):
        if words is not None:
            present, value = _follow(body, words[1:]) if type_ == words[0] else (False, None)
            if present and "episode" in body:
                at = typed(Decided, body)
                yield StepLine(type_, at["episode"], at.get("t"), seq, {"value": value})
        elif type_ == "commit":
            commit = typed(Commit, body)
            proposals[commit.get("agent", "")] = commit["proposals"]
        elif type_ in _FACTS:
            at = typed(Decided, body)
            t = None if type_ in ("episode", "episode_end") else at.get("t")
            of = at.get("agent", "")
            if type_ == "step":
                facts = _step_facts(typed(Step, body), proposals.get(of, []))
            elif type_ == "guard":
                facts = _guard_facts(typed(Guarded, body))
            else:
                facts = {name: body.get(name) for name in _FACTS[type_]}
            yield StepLine(type_, at["episode"], t, seq, {**({"agent": of} if of else {}), **facts})


_FACTS: Final[Mapping[str, tuple[str, ...]]] = {
    "step": (),
    "drift": ("drift", "changed"),
    "probe": ("probe", "verdict", "cause"),
    "guard": (),
    "error": ("code", "expression"),
    "episode": (),
    "episode_end": ("ended", "steps", "success", "first_success"),
}
"""The fields of a receipt that a line shows, by its type; a step and a decision of a guard are summarized."""


def _step_facts(body: Step, proposals: list[Any]) -> dict[str, Any]:
    rejected = Counter[tuple[str, str]]()
    admitted = 0
    for decision in body["decisions"]:
        failing = decision["rejected"]
        rejected.update((str(rejection["gate"]), shown(rejection["reason"])) for rejection in failing)
        admitted += not failing and decision["error"] is None
    chosen, cost = body["chosen"], body["cost"]
    return {
        "proposed": len(body["decisions"]),
        "admitted": admitted,
        "errors": sum(decision["error"] is not None for decision in body["decisions"]),
        "rejected": [
            {"gate": gate, "reason": reason, "count": count}
            for (gate, reason), count in sorted(rejected.items(), key=lambda item: (-item[1], item[0]))
        ],
        "chosen": chosen,
        "action": None if chosen is None else proposals[chosen].get("action", proposals[chosen]),
        "cost": None if cost is None else cost["total"],
        "success": body["success"],
        "violations": [violation["invariant"] for violation in body["violations"]],
    }


def _guard_facts(body: Guarded) -> dict[str, Any]:
    """The decision about a call, and each gate, rule or invariant that objects with its reason."""
    objections = [*body["denied_by"], *body["unjudged"]]
    reasons = "; ".join(f"{objection['name']}: {shown(objection['reason'])}" for objection in objections)
    return {
        "guard": body["decision"],
        "call": body["call"],
        "tool": body["tool"],
        "by": reasons,
        "made": body["made"],
        "cause": body["cause"],
    }


def shown(value: Any) -> str:
    """A value on one line, shortened; a string as it is."""
    return shorten(value if isinstance(value, str) else canonical_bytes(value, FLOATS_ANYWHERE).decode(), LONGEST)


def _words(field: str) -> list[str]:
    """The keys and indices of a path; Rejected as E_TRACE_FIELD if there are none."""
    words = [quoted or plain for quoted, plain in _WORD.findall(field)]
    if not words:
        raise Rejected([Diagnostic(E_TRACE_FIELD, "the path of a field is empty")])
    return words


def _follow(value: Any, words: list[str]) -> tuple[bool, Any]:
    """Whether a value has a path, and the value there."""
    for word in words:
        if isinstance(value, Mapping) and word in value:
            value = value[word]
        elif isinstance(value, list) and word.isascii() and word.isdigit() and int(word[:9]) < len(value):
            value = value[int(word)]
        else:
            return False, None
    return True, value
