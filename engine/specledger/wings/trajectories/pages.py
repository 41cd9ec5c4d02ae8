"""Trajectories on the page of a run: messages, calls and results in order, with the rules at their call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import UNSET

from specledger.core.canonical import parse_canonical
from specledger.core.diagnostics import counted
from specledger.core.events import KeptStatus
from specledger.evidence.layout import MAX_LINE, TRAJECTORIES
from specledger.evidence.receipts.run import Rules
from specledger.evidence.recordings import BEGINNING
from specledger.report.extension import ShownTrajectory
from specledger.report.sections import Block, Cell, Quoted, Row, RowLink, Section, Words, anchor
from specledger.wings.trajectories.findings import located
from specledger.wings.trajectories.lines import read_lines
from specledger.wings.trajectories.model import Call, Entry, Finding, Kept, Message, Trajectory, Withheld
from specledger.wings.trajectories.rules.nested import json_text

MOST_TRAJECTORIES: Final = 25
MOST_ENTRIES: Final = 300
_SHOWN: Final = 300
"""What a page shows at most: trajectories, entries of each, characters of an entry before it is opened."""

_GROUP: Final = "Trajectories with broken or open rules"
Notes = Mapping[str, Sequence[tuple[str, str, Mapping[str, Any]]]]
"""By the id of a call, empty for messages: `(mark, rule, what was said)`."""


def trajectory_names(evidence: Path) -> Sequence[str]:
    """What each trajectory is called: its log, and which of several in it."""
    with (evidence / TRAJECTORIES).open("rb") as lines:
        heads: list[Any] = [parse_canonical(line[:-1], limit=MAX_LINE) for line in lines if line.startswith(BEGINNING)]
    return [located(head["trajectory"]["file"], 0, head["trajectory"]["id"], "") for head in heads]


def trajectory_sections(evidence: Path, receipts: Sequence[Rules]) -> Iterator[ShownTrajectory]:
    """A section for each trajectory in which a rule was broken or left open, the first ones; one row for each entry."""
    wanted: dict[int, list[Rules]] = defaultdict(list)
    for rules in receipts:
        if rules["episode"] in wanted or len(wanted) < MOST_TRAJECTORIES:
            wanted[rules["episode"]].append(rules)
    if not wanted:
        return
    with (evidence / TRAJECTORIES).open("rb") as lines:
        for episode, trajectory in enumerate(read_lines(lines)):
            if episode in wanted:
                yield _section(episode, trajectory, wanted[episode])
            if episode >= max(wanted):
                return


def _section(episode: int, trajectory: Trajectory, receipts: Sequence[Rules]) -> ShownTrajectory:
    notes: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = defaultdict(list)
    for rules in receipts:
        for breach in rules["broken"]:
            notes[breach["call"]].append(("broken", breach["rule"], breach))
        for kept in rules.get("withheld", ()):
            if kept["status"] == KeptStatus.BROKEN:
                reason = {"reason": "broken before a value was withheld, as recorded"}
                notes[kept["call"]].append(("broken", kept["rule"], reason))
        for outcome in rules["unjudged"]:
            notes[outcome["call"]].append(("cannot tell", outcome["rule"], outcome))
    tools = {entry.id: entry.tool for entry in trajectory.entries if isinstance(entry, Call)}
    shown = trajectory.entries[:MOST_ENTRIES]
    rows = [_row(number, entry, tools, notes) for number, entry in enumerate(shown, 1)]
    left = len(trajectory.entries) - len(shown)
    title = located(trajectory.file, 0, trajectory.id, "")
    intro = f"Of the format {trajectory.format}. Receipts, which count from 0, call it episode {episode}."
    if left:
        intro += f" {counted(left, 'entry')} more {'is' if left == 1 else 'are'} in the evidence alone."
    if notes[""]:
        said = "; ".join(f"{rule}: {outcome['reason']}" for _, rule, outcome in notes[""])
        intro += f" Of messages: {said}"
    heads = ("entry", "what", "text", "rules")
    id_, called = (
        f"trajectory-{episode}",
        ((at, entry.id) for at, entry in enumerate(shown, 1) if isinstance(entry, Call)),
    )
    links = {call: RowLink(anchor(id_, str(at)), f"entry {at}") for at, call in called}
    return ShownTrajectory(episode, Section(id_, title, intro, heads, rows, group=_GROUP), links)


def _row(number: int, entry: Entry, tools: Mapping[str, str], notes: Notes) -> Row:
    what, content = _content(entry, tools)
    said = notes.get(entry.id, ()) if isinstance(entry, Call) else ()
    marks = [mark for mark, _, _ in said]
    mark = "broken" if "broken" in marks else marks[0] if marks else ""
    text = content if isinstance(content, str) else json_text(content)
    details: list[tuple[str, Cell]] = []
    if len(text) > _SHOWN:
        details.append(("whole text", Block(content)))
    if isinstance(entry, Call) and said:
        details.append(("call", Quoted(entry.id)))
    for _, rule, outcome in said:
        details.append((rule, Quoted(outcome["reason"], 2000)))
        if outcome.get("source"):
            details.append(("found in", Quoted(outcome["source"], 2000)))
    rules = ", ".join(rule for _, rule, _ in said)
    return Row(str(number), mark, (Words(what), Quoted(text, _SHOWN), Words(rules)), details)


def _content(entry: Entry, tools: Mapping[str, str]) -> tuple[str, Any]:
    """What an entry is, and its text or value."""
    if isinstance(entry, Message):
        return f"{entry.speaker.value}{f' ({entry.actor})' if entry.actor else ''}", _value(entry.text)
    if isinstance(entry, Finding):
        return entry.code, entry.message
    if isinstance(entry, Kept):
        return f"kept verdict of {entry.rule}", f"{entry.status} before a value was withheld"
    if isinstance(entry, Call):
        return f"call {entry.tool}", _value(entry.arguments)
    failed = " (denied)" if entry.denied else " (failed)" if entry.error else ""
    return f"result of {tools.get(entry.call, 'no call')}{failed}", _value(entry.content)


def _value(value: Any) -> Any:
    if value is UNSET:
        return "not recorded"
    return f"withheld: {value.digest}" if isinstance(value, Withheld) else value
