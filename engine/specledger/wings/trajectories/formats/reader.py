"""Reading a log by a compiled format. What no clause of the format reads is a finding."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from msgspec import UNSET, Struct

from specledger.core.log_json import as_text
from specledger.wings.trajectories.building import Builder, string, text_of
from specledger.wings.trajectories.findings import E_LOG_FAILED
from specledger.wings.trajectories.formats.plans import ClausePlan, FormatPlan, Roots, elements, nodes
from specledger.wings.trajectories.model import Finding, Trajectory
from specledger.wings.trajectories.room import MOST_DEFECTS, Room
from specledger.wings.trajectories.source import Source
from specledger.wings.trajectories.stamps import stamp_of

_MOST_KEYS: Final = 8
_LONGEST_TEXT: Final = 400
_BUILDER: Final = 2000
"""What a trajectory takes without its entries."""


class _Entry(Struct, frozen=True):
    """An entry with what is above it, and its line."""

    roots: dict[str, Any]
    line: int


def read_by(plan: FormatPlan, source: Source) -> Iterator[Trajectory]:
    """The trajectories of a log by a format."""
    if "trajectories" in plan.paths:
        yield from _read_nested(plan, source)
    else:
        yield from _read_flat(plan, source)


def _read_nested(plan: FormatPlan, source: Source) -> Iterator[Trajectory]:
    """Each record holds trajectories."""
    defects = Builder(source.name, source.name, plan.name, Room(MOST_DEFECTS))
    number = 0
    for record in source.records():
        if defects.room.full:
            break
        if isinstance(record, Finding):
            defects.add(record)
            continue
        _note_failures(plan.of_records, {"record": record.value}, defects, record.line)
        trajectories = elements(plan.paths["trajectories"], {"record": record.value})
        if not trajectories:
            defects.record(f"`{plan.paths['trajectories'].text}` leads to nothing", record.line)
        for trajectory in trajectories:
            number += 1
            roots = {"record": record.value, "trajectory": trajectory}
            entries = list(_entries(plan, roots, record.line))
            name = _text(plan, "id", roots) or (source.name if number == 1 else f"{source.name}:{number}")
            builder = Builder(name, source.name, plan.name)
            if not entries:
                builder.record(f"`{plan.paths['entries'].text}` leads to nothing", record.line)
            _read_entries(plan, builder, entries)
            _note_failures(plan.of_trajectories, roots, builder, record.line)
            yield builder.finish()
    if defects.entries:
        yield defects.finish()


def _read_flat(plan: FormatPlan, source: Source) -> Iterator[Trajectory]:
    """All records are of one trajectory, or of those that `by` tells apart."""
    builders: dict[str, Builder] = {}
    waiting: dict[str, list[_Entry]] = {}
    room, unread = Room(), Room()
    defects = Builder(source.name, source.name, plan.name, room)
    for record in source.records():
        if room.full or unread.full:
            break
        if isinstance(record, Finding):
            defects.add(record)
            continue
        _note_failures(plan.of_records, {"record": record.value}, defects, record.line)
        entries = list(_entries(plan, {"record": record.value}, record.line))
        if not entries:
            defects.record(f"`{plan.paths['entries'].text}` leads to nothing", record.line)
        for entry in entries:
            if _ignored(plan, entry):
                continue
            key = _text(plan, "by", entry.roots)
            name = key or _text(plan, "id", entry.roots) or source.name
            if key not in builders:
                builders[key] = Builder(name, source.name, plan.name, room)
                room.take_value(name, _BUILDER)
            builder = builders[key]
            if "order" in plan.paths:
                if unread.take_value(entry.roots["entry"]):
                    waiting.setdefault(key, []).append(entry)
            else:
                _read_entries(plan, builder, [entry])
    for key, builder in builders.items():
        _read_entries(plan, builder, waiting.get(key, []))
        if unread.full:
            builder.add(unread.finding(0))
        if len(builders) == 1:
            builder.entries.extend(defects.entries)
            defects.entries.clear()
        yield builder.finish()
    if defects.entries:
        yield defects.finish()


def _note_failures(clauses: tuple[ClausePlan, ...], roots: Roots, builder: Builder, line: int) -> None:
    for clause in clauses:
        if clause.condition.holds(roots):
            _note_failure(clause, roots, builder, line)


def _note_failure(clause: ClausePlan, roots: Roots, builder: Builder, line: int) -> None:
    """Add a finding of what the log says that failed, in its words as far as they go."""
    path = clause.paths.get("text")
    values = [] if path is None else nodes(path, roots)
    words = next((text for value in values if (text := string(value) or as_text(value))), None)
    conditions = (clause.of_items, clause.condition)
    tested = [path for plan in conditions for path in (*(path for path, _ in plan.when), *plan.has)]
    said = f"by `{tested[0].text}`" if words is None else f"with: {' '.join(words.split())[:_LONGEST_TEXT]}"
    builder.finding(E_LOG_FAILED, f"the log says that this failed, {said}", line)


def _ignored(plan: FormatPlan, entry: _Entry) -> bool:
    """Whether an entry is about nothing that the format reads, and the format says so."""
    about = [clause for clause in plan.clauses if clause.condition.holds(entry.roots)]
    return bool(about) and all(clause.sort == "ignore" and clause.each is None for clause in about)


def _entries(plan: FormatPlan, roots: Roots, line: int) -> Iterator[_Entry]:
    path = plan.paths.get("entries")
    for entry in [roots["record"]] if path is None else elements(path, roots):
        yield _Entry({**roots, "entry": entry}, line)


def _text(plan: FormatPlan, key: str, roots: Roots) -> str:
    """The text or number at a path of the format; empty where there is none."""
    path = plan.paths.get(key)
    values = [] if path is None else nodes(path, roots)
    return string(values[0]) or as_text(values[0]) or "" if values else ""


def _read_entries(plan: FormatPlan, builder: Builder, entries: list[_Entry]) -> None:
    if "order" in plan.paths:
        entries = _ordered(plan, builder, entries)
    for entry in entries:
        _EntryReader(plan, builder, entry).read()


def _ordered(plan: FormatPlan, builder: Builder, entries: list[_Entry]) -> list[_Entry]:
    """The entries by what `order` leads to, numbers before texts; one without it is the last, with a finding."""
    keyed: list[tuple[tuple[int, Decimal, str], _Entry]] = []
    for entry in entries:
        text = _text(plan, "order", entry.roots)
        if not text:
            builder.record(f"`{plan.paths['order'].text}` leads to nothing, so the entry stands last", entry.line)
        keyed.append((_rank(text), entry))
    return [entry for _, entry in sorted(keyed, key=lambda pair: pair[0])]


def _rank(text: str) -> tuple[int, Decimal, str]:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return (2 if not text else 1, Decimal(0), text)
    return (0, number, "") if number.is_finite() else (1, Decimal(0), text)


class _EntryReader:
    """One entry, as clauses read it."""

    def __init__(self, plan: FormatPlan, builder: Builder, entry: _Entry) -> None:
        self._plan, self._builder, self._entry = plan, builder, entry
        self._batch = 0
        self._time = stamp_of(_text(plan, "time", entry.roots))
        self._actor = _text(plan, "actor", entry.roots)

    def read(self) -> None:
        """Read the entry by every clause that is about it."""
        about = [clause for clause in self._plan.clauses if clause.condition.holds(self._entry.roots)]
        taken: dict[str, set[int]] = {}
        for clause in about:
            if clause.each is None:
                self._read(clause, self._entry.roots)
                continue
            indices = taken.setdefault(clause.each.text, set())
            for index, item in enumerate(elements(clause.each, self._entry.roots)):
                roots = {**self._entry.roots, "item": item}
                if clause.of_items.holds(roots):
                    indices.add(index)
                    self._read(clause, roots)
        if not about:
            self._defect(f"no clause of the format {self._plan.name} reads this entry: {_described(self._entry)}")
        for clause in about:
            if clause.each is not None and clause.each.text in taken:
                read = taken.pop(clause.each.text)
                for index in range(len(elements(clause.each, self._entry.roots))):
                    if index not in read:
                        self._defect(
                            f"no clause of the format {self._plan.name} reads item {index + 1} of `{clause.each.text}`"
                        )

    def _defect(self, message: str) -> None:
        self._builder.record(message, self._entry.line)

    def _read(self, clause: ClausePlan, roots: Roots) -> None:
        if clause.sort == "message":
            self._read_message(clause, roots)
        elif clause.sort == "call":
            self._read_call(clause, roots)
        elif clause.sort == "result":
            self._read_result(clause, roots)
        elif clause.sort == "finding":
            _note_failure(clause, roots, self._builder, self._entry.line)

    def _value(self, clause: ClausePlan, key: str, roots: Roots) -> Any:
        """What stands at a path of a clause: UNSET if nothing; of several, the first, with a finding."""
        path = clause.paths.get(key)
        values = [] if path is None else nodes(path, roots)
        if len(values) > 1:
            self._defect(f"`{path.text if path else key}` leads to {len(values)} values, not to one")
        return values[0] if values else UNSET

    def _read_message(self, clause: ClausePlan, roots: Roots) -> None:
        values = nodes(clause.paths["text"], roots)
        texts = [text_of(value) for value in values]
        if not all(isinstance(text, str) for text in texts):
            self._defect(f"`{clause.paths['text'].text}` leads to something that is no text")
        words = "\n".join(text for text in texts if isinstance(text, str))
        self._builder.message(clause.speaker, words, actor=self._actor, line=self._entry.line, time=self._time)

    def _read_call(self, clause: ClausePlan, roots: Roots) -> None:
        name = self._value(clause, "name", roots)
        if not isinstance(name, str) or not name:
            self._defect(f"`{clause.paths['name'].text}` is no name of a tool")
            return
        given = self._value(clause, "arguments", roots)
        id_ = self._value(clause, "id", roots)
        own = string(id_) or as_text(id_) or ""
        arguments = given if given is UNSET else self._builder.parsed(given, self._entry.line, clause.plain, call=own)
        together = self._value(clause, "batch", roots)
        if together is not UNSET:
            batch = self._builder.batch_of(repr(together))
        else:
            batch = self._batch = self._batch or self._builder.begin_batch()
        own = self._builder.call(
            name,
            arguments,
            id=own or None,
            batch=batch,
            actor=self._actor,
            parent=self._actor if self._builder.has_call(self._actor) else "",
            line=self._entry.line,
            time=self._time,
        )
        content = self._value(clause, "result", roots)
        failed = self._failed(clause, roots)
        if "result" in clause.paths and (content is not UNSET or failed):
            self._builder.result(own, _content(content), error=failed, line=self._entry.line)

    def _read_result(self, clause: ClausePlan, roots: Roots) -> None:
        values = nodes(clause.paths["call"], roots) if "call" in clause.paths else []
        if len(values) > 1:
            self._defect(
                f"a result is that of {len(values)} calls, so it is that of none: `{clause.paths['call'].text}`"
            )
            return
        call = string(values[0]) or as_text(values[0]) if values else None
        if not call and "name" in clause.paths:
            call = self._builder.first_waiting(string(self._value(clause, "name", roots)))
        if not call:
            self._defect("a result names no call")
            return
        content = _content(self._value(clause, "content", roots))
        failed = self._failed(clause, roots)
        self._builder.result(call, content, error=failed, line=self._entry.line, time=self._time)

    @staticmethod
    def _failed(clause: ClausePlan, roots: Roots) -> bool | None:
        """Whether the call failed; None if the log does not say."""
        if clause.failed is None or not clause.failed.recorded(roots):
            return None
        return clause.failed.holds(roots)


def _content(value: Any) -> Any:
    return value if value is UNSET else text_of(value)


def _described(entry: _Entry) -> str:
    value = entry.roots["entry"]
    if not isinstance(value, dict):
        return f"it is no object but {type(value).__name__}"
    keys = ", ".join(sorted(value)[:_MOST_KEYS])
    return f"its keys are {keys}"[:400]
