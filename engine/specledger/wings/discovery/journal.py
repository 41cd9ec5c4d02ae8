"""The journal of a discovery: a SQLite file that holds each answer and each step's result before it is used.

A discovery that was killed resumes from its journal, and asks no question again that was answered. One process at a
time has a journal open; the others are refused.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected, code, printable
from specledger.core.digest import tagged
from specledger.evidence.resume import engine_digest

E_STORE_OPEN = code("E_STORE_OPEN", "a journal cannot be opened")
E_STORE_BUSY = code("E_STORE_BUSY", "a journal is in use")
E_STORE_BROKEN = code("E_STORE_BROKEN", "a journal is damaged")
E_STORE_CHANGED = code("E_STORE_CHANGED", "a discovery was changed since its journal was begun")
E_STORE_FOREIGN = code("E_STORE_FOREIGN", "a file is no journal")
E_STORE_VERSION = code("E_STORE_VERSION", "a journal was written by another engine")
E_STORE_FULL = code("E_STORE_FULL", "a journal cannot be written")

SCHEMA: Final = 2
"""The version of the tables; another one is refused."""

APPLICATION: Final = 0x73706563
"""The application id in the header of the file."""

ROW_TAG: Final = "specledger/store-row/v1"
MOST_ROW: Final = 67_108_864
"""Bytes of a row's document at most."""

PATIENCE: Final = 5.0
"""Seconds to wait for a locked file."""

EXTENT: Final = ("iterations", "stop")
"""Fields of a discovery that say how long it runs. No step's result depends on them, so they may change."""

_ROOT: Final = "the discovery"
_SHOWN: Final = 4  # changes
_SHOWN_VALUE: Final = 40  # characters

_TABLES: Final = (
    "CREATE TABLE head (engine TEXT NOT NULL, specs BLOB NOT NULL, digest TEXT NOT NULL)",
    "CREATE TABLE answers (iteration INTEGER NOT NULL, question TEXT NOT NULL, document BLOB NOT NULL, "
    "digest TEXT NOT NULL, PRIMARY KEY (iteration, question))",
    "CREATE TABLE results (position INTEGER NOT NULL, kind TEXT NOT NULL, document BLOB NOT NULL, "
    "digest TEXT NOT NULL, PRIMARY KEY (position, kind))",
)


class Journal:
    """An open journal."""

    def __init__(self, path: str | None, specs: Mapping[str, Any]) -> None:
        """Open the journal of a discovery; create it if there is none, in memory if it has no path."""
        self.shown = "the journal" if path is None else printable(path)
        if path is not None and os.path.lexists(path) and not os.path.isfile(path):
            raise self._refused(E_STORE_OPEN, "it is no plain file")
        with self._guarded():
            self._connection = sqlite3.connect(path or ":memory:", timeout=PATIENCE, isolation_level=None)
        try:
            with self._guarded():
                self._connection.execute("PRAGMA synchronous = EXTRA")  # a commit is on the disk, its folder too
                self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # until the connection is closed
                with self._writing("BEGIN EXCLUSIVE"):
                    self._enter(specs)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file, and let others open it."""
        self._connection.close()

    def answer(self, iteration: int, question: str) -> Any:
        """The answer to a question of an iteration; None if there is none."""
        return self._one(
            "SELECT document, digest FROM answers WHERE iteration = ? AND question = ?", iteration, question
        )

    def answers(self) -> list[tuple[int, str, Any]]:
        """All answers, by iteration: (iteration, digest of the question, document)."""
        query = "SELECT iteration, question, document, digest FROM answers ORDER BY iteration, question"
        with self._guarded():
            rows = self._connection.execute(query).fetchall()
        return [(iteration, question, self._read(*row)) for iteration, question, *row in rows]

    def keep_answer(self, iteration: int, question: str, document: Any) -> None:
        """Make an answer durable."""
        self._keep("INSERT INTO answers VALUES (?, ?, ?, ?)", document, iteration, question)

    def result(self, position: int, kind: str) -> Any:
        """The result of a step; None if there is none."""
        return self._one("SELECT document, digest FROM results WHERE position = ? AND kind = ?", position, kind)

    def keep_result(self, position: int, kind: str, document: Any) -> None:
        """Make the result of a step durable."""
        self._keep("INSERT INTO results VALUES (?, ?, ?, ?)", document, position, kind)

    def forget(self, answers: Sequence[tuple[int, str]], position: int) -> None:
        """Delete answers, by iteration and question, and the results from a position on."""
        with self._guarded(), self._writing("BEGIN"):
            self._connection.executemany("DELETE FROM answers WHERE iteration = ? AND question = ?", answers)
            self._connection.execute("DELETE FROM results WHERE position >= ?", (position,))

    def _one(self, query: str, *key: Any) -> Any:
        with self._guarded():
            row = self._connection.execute(query, key).fetchone()
        return None if row is None else self._read(*row)

    def _keep(self, statement: str, document: Any, *key: Any) -> None:
        data = canonical_bytes(document)
        with self._guarded():
            self._connection.execute(statement, (*key, data, tagged(ROW_TAG, data)))

    def _read(self, data: Any, digest: Any) -> Any:
        if not isinstance(data, bytes) or tagged(ROW_TAG, data) != digest:
            raise self._refused(E_STORE_BROKEN, "a row does not have the digest that was stored with it")
        try:
            return parse_canonical(data, limit=MOST_ROW)
        except NotCanonical as error:
            raise self._refused(E_STORE_BROKEN, str(error)) from None

    def _enter(self, specs: Mapping[str, Any]) -> None:
        """Check whose journal it is; create the tables in an empty file."""
        tables = [name for (name,) in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if not tables:
            data = canonical_bytes(specs)
            for statement in _TABLES:
                self._connection.execute(statement)
            self._connection.execute(
                "INSERT INTO head VALUES (?, ?, ?)", (engine_digest(), data, tagged(ROW_TAG, data))
            )
            self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {SCHEMA}")
            return
        if self._pragma("application_id") != APPLICATION:
            message = f"it is not a journal; it has the tables {', '.join(sorted(tables)[:3])}"
            raise self._refused(E_STORE_FOREIGN, message)
        version = self._pragma("user_version")
        heads = self._connection.execute("SELECT engine, specs, digest FROM head").fetchall()
        if (version, [engine for engine, *_ in heads]) != (SCHEMA, [engine_digest()]):
            raise self._refused(E_STORE_VERSION, "it was written by an engine with other source files")
        changed = list(_changes(self._read(*heads[0][1:]), specs))
        if changed:
            more = f"; and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
            message = f"it holds this discovery as it was before a change: {'; '.join(changed[:_SHOWN])}{more}"
            hint = "undo the changes to resume it, or name another --journal or --out to begin a new discovery"
            raise self._refused(E_STORE_CHANGED, message, hint)

    def _pragma(self, name: str) -> Any:
        return self._connection.execute(f"PRAGMA {name}").fetchone()[0]

    @contextmanager
    def _writing(self, begin: str) -> Iterator[None]:
        self._connection.execute(begin)
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Report errors of the database as diagnostics."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._refused(_code_of(str(error).lower()), str(error)) from None
        except (TypeError, ValueError, OverflowError):  # a column holds another type than the tables have
            raise self._refused(E_STORE_BROKEN, "a row is not what was stored") from None

    def _refused(self, code_: str, message: str, hint: str | None = None) -> Rejected:
        return Rejected([Diagnostic(code_, f"{self.shown}: {message}", hint=hint)])


def _code_of(words: str) -> str:
    """The code of an error message of SQLite."""
    if "locked" in words or "busy" in words:
        return E_STORE_BUSY
    if any(word in words for word in ("not a database", "malformed", "no such column", "no such table", "constraint")):
        return E_STORE_BROKEN
    if any(word in words for word in ("full", "readonly", "read-only", "disk i/o")):
        return E_STORE_FULL
    return E_STORE_OPEN


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """The fields in which two resolved discoveries differ, except those of `EXTENT`, one line each."""
    old, new = _named(before), _named(after)
    for name in sorted(old.keys() & new.keys()):  # a spec of one of them alone shows in a reference
        without = EXTENT if name == _ROOT else ()
        was, now = ({key: specs[name][key] for key in specs[name] if key not in without} for specs in (old, new))
        for path, old_value, new_value in _differences(was, now):
            yield f"`{path}` of {name} is {_value(new_value)}, was {_value(old_value)}"


def _named(document: Mapping[str, Any]) -> dict[str, Any]:
    """The specs of a bundle by kind and name, with such names as references; a name that two share keeps its digest."""
    keys = {key: key.partition("@")[0] for key in document["specs"]}
    shared = {name for name in keys.values() if list(keys.values()).count(name) > 1}
    names = {key: key if name in shared else name for key, name in keys.items()} | {document["root"]: _ROOT}

    def renamed(value: Any) -> Any:
        if isinstance(value, str):
            return names.get(value, value)
        if isinstance(value, list):
            return [renamed(member) for member in value]
        return {key: renamed(member) for key, member in value.items()} if isinstance(value, dict) else value

    return {names[key]: renamed(data) for key, data in document["specs"].items()}


def _differences(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The paths at which two JSON values differ; lists of different lengths differ as a whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from _differences(pair[0], pair[1], f"{path}.{index}")
    elif old != new:
        yield path, old, new


def _value(value: Any) -> str:
    if value is None:
        return "the default"
    text = printable(canonical_bytes(value).decode())
    return text if len(text) <= _SHOWN_VALUE else text[:_SHOWN_VALUE] + "..."
