"""The rules of policies in the report on a run: what each held, broke or left open, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from specledger.core.diagnostics import counted
from specledger.core.events import KeptStatus, Severity
from specledger.evidence.receipts import recording, run, typed
from specledger.evidence.receipts.recording import is_open, why_unable
from specledger.evidence.receipts.start import Start
from specledger.load import Bundle
from specledger.report.evidence import Evidence
from specledger.report.extension import ShownTrajectory, rule_words, trajectory_sections
from specledger.report.markup import shorten
from specledger.report.model import LONGEST, Check, Receipt
from specledger.report.observations import Observations, as_int, as_name
from specledger.report.outcome import Outcome
from specledger.report.sections import (
    NEVER_CHECKED,
    Cell,
    Count,
    Prose,
    Quoted,
    Row,
    RowLink,
    Section,
    Words,
    beside,
    open_first,
    without_opportunity,
)
from specledger.report.specs import spec_details

_MOST_REASONS: Final = 5


class RuleReading:
    """Folds what the rules of policies say in a run."""

    def __init__(self, evidence: Evidence, observations: Observations) -> None:
        """Read the rules of the policies that the evidence holds."""
        self._evidence, self._observations = evidence, observations
        self._counts: Mapping[str, recording.RuleCounts] = evidence.manifest["result"].get("rules", {})
        self._written = dict(_written(evidence.specs))
        self._reasons: dict[str, Counter[str]] = {name: Counter() for name in self._counts}
        self._severities: dict[str, str] = {}
        self._receipts: list[run.Rules] = []

    def begin(self, start: Start) -> None:
        """Take the first receipt."""
        self._severities = {rule["name"]: rule["severity"] for rule in start.get("rules", ())}

    def add(self, receipt: Receipt) -> None:
        """Take a receipt of rules."""
        body = typed(run.Rules, receipt.body)
        for outcome in body["unjudged"]:
            self._reasons[outcome["rule"]][as_name(outcome["reason"])] += 1
        for breach in body["broken"]:
            reason = f"call {breach['call']}: {breach['reason']}" if breach["call"] else breach["reason"]
            self._observations.note(f"rule/{breach['rule']}", receipt, reason, breach["value"])
        for kept in body.get("withheld", ()):
            if kept["status"] == KeptStatus.BROKEN:
                self._observations.note(f"rule/{kept['rule']}", receipt, "broken before a value was withheld", "")
        if body["broken"] or body["unjudged"]:
            self._receipts.append(body)

    def checks(self) -> Iterator[Check]:
        """A check for each rule."""
        for name, counts in self._counts.items():
            held, broken, unjudged = (as_int(counts[kind]) for kind in ("held", "broken", "unjudged"))
            outcome, why = Outcome.PASSED, ""
            if broken:
                outcome = Outcome.FAILED
            elif unjudged:
                outcome, why = Outcome.CANNOT_TELL, self._open(name)
            elif is_open(counts):
                outcome, why = Outcome.CANNOT_TELL, f"it {as_name(why_unable(counts['unable']))}"
            elif not held:
                outcome, why = Outcome.UNTESTED, f"{self._never()}: no call was about it"
            why = why or _as_recorded(counts)
            key, rule = self._written.get(name, (None, {}))
            says = str(rule.get("doc", "")) or self._in_words(name) or name
            warns = name in self._severities and not Severity(self._severities[name]).impact.fails_run
            check = Check(f"rule/{name}", says, key, outcome, held + broken, broken, why, warning=warns)
            yield self._observations.of(check)

    def _never(self) -> str:
        """That a rule had no opportunity in all the calls of a recording, or the steps of a simulation."""
        noun = "call" if "trajectories" in _agent(self._evidence.specs) else "step"
        return without_opportunity(as_int(self._evidence.manifest["result"]["steps"]), noun)

    def _open(self, name: str) -> str:
        reasons = (f"{reason} ({times})" for reason, times in self._reasons[name].most_common(_MOST_REASONS))
        return shorten("; ".join(reasons), LONGEST)

    def sections(self) -> Iterator[Section]:
        """The rules, and the trajectories in which they were broken or left open; nothing without policies."""
        recorded = "trajectories" in _agent(self._evidence.specs)
        shown = [*trajectory_sections(self._evidence.place, self._receipts)] if recorded else []
        if self._counts:
            rows = [self._row(check, shown) for check in self.checks()]
            heads = ("rule", "says", "severity", "judged", "broken", "not judged")
            intro = "A rule is judged at each call or message that it is about."
            yield Section("rules", "Rules", intro, heads, open_first(rows))
        yield from (trajectory.section for trajectory in shown)

    def _entries(self, rule: str, shown: Sequence[ShownTrajectory]) -> Iterator[RowLink]:
        """The first call that broke a rule, or left it open, in the table of its trajectory."""
        calls = {trajectory.episode: trajectory.calls for trajectory in shown}
        broken = [(judged["episode"], outcome) for judged in self._receipts for outcome in judged["broken"]]
        unjudged = [(judged["episode"], outcome) for judged in self._receipts for outcome in judged["unjudged"]]
        for episode, outcome in (*broken, *unjudged):
            link = calls.get(episode, {}).get(outcome["call"])
            if outcome["rule"] == rule and link is not None:
                yield link
                return

    def _in_words(self, name: str) -> str:
        """A rule in sentences; empty if the evidence does not hold its policy."""
        if name not in self._written:
            return ""
        words = rule_words(self._evidence.specs.specs[self._written[name][0]], name.rpartition(".")[2])
        return shorten(words, LONGEST)

    def _said(self, name: str) -> Iterator[tuple[str, Cell]]:
        """What a rule says: its `doc` and expressions, and all of it in sentences."""
        if name in self._written:
            _, rule = self._written[name]
            yield from spec_details(rule)
            yield "in words", Prose(self._in_words(name))

    def _row(self, check: Check, shown: Sequence[ShownTrajectory]) -> Row:
        name = check.id.partition("/")[2]
        unjudged = as_int(self._counts[name]["unjudged"])
        mark = (
            "broken"
            if check.failures
            else "cannot tell"
            if is_open(self._counts[name])
            else "as recorded"
            if "withheld" in self._counts[name]
            else "held"
            if check.opportunities
            else NEVER_CHECKED
        )
        cells: Sequence[Cell] = (
            beside(Prose(check.says), self._never() if check.outcome is Outcome.UNTESTED else ""),
            Words(self._severities.get(name, "")),
            Count(check.opportunities),
            Count(check.failures),
            Count(unjudged),
        )
        details = [*self._said(name)]
        if unjudged:
            title = f"not judged {counted(unjudged, 'time')}"
            details.append((title, Quoted(self._open(name))))
        elif is_open(self._counts[name]):
            word, _, why = as_name(why_unable(self._counts[name]["unable"])).partition(": ")
            details.append((word, Quoted(why)))
        if words := _as_recorded(self._counts[name]):
            details.append(("withheld", Words(words)))
        receipts = self._observations.links(check.id)
        places = [*self._entries(name, shown), *receipts]
        return Row(name, mark, cells, details, places, max(check.failures, len(receipts)) + len(places) - len(receipts))


def _as_recorded(counts: recording.RuleCounts) -> str:
    """How many verdicts of a rule nobody can check again; empty if there are none."""
    kept = as_int(counts.get("withheld", 0))
    return f"judged before a value was withheld, and not checked again: {counted(kept, 'time')}" if kept else ""


def _written(specs: Bundle) -> Iterator[tuple[str, tuple[str, Mapping[str, Any]]]]:
    """Each rule of a policy by its name, with the key of its spec."""
    for path, key in specs.main.refs.items():
        if path[0] == "policies":
            spec = specs.specs[key]
            for name, rule in spec.data["rules"].items():
                yield f"{spec.name}.{name}", (key, rule)


def _agent(specs: Bundle) -> Mapping[str, Any]:
    key = specs.main.refs.get(("agent",))
    return {} if key is None else specs.specs[key].data
