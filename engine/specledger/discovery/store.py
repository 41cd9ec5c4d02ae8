"""The store of a discovery: what a model answered and what became of each piece of work, shared by all workers.

Decides that an answer is kept before anybody looks at it, that a piece of work has one owner at a time and one result
for ever, and what a database that does not fit is refused with. Refuses to know what answers and results say. Not a
row is changed once it has its result, so that a worker may be killed anywhere; only at its user's word, while nobody
works, is something taken back.

Work is claimed by a lease: an owner, a time, and a number that grows with every owner. A lease that ran out is taken
over; the earlier owner's result is then refused, because the number is another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import exc

from specledger import __version__
from specledger.core.canonical import MAX_INTEGER, NotCanonical, canonical_bytes, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.digest import tagged
from specledger.discovery.clock import now_ms
from specledger.discovery.codes import (
    E_STORE_BROKEN,
    E_STORE_BUSY,
    E_STORE_FOREIGN,
    E_STORE_OPEN,
    E_STORE_VERSION,
)
from specledger.discovery.database import (
    READING,
    UNFIT,
    code_of,
    connect,
    is_kept,
    shown_url,
    url_of,
    words_of,
    write_ahead,
)
from specledger.discovery.plan import CLOSE

SCHEMA: Final = 1
"""The version of the tables; another one is refused."""

ROW_TAG: Final = "specledger/store-row/v1"
MOST_ROW: Final = 67_108_864
"""Bytes of an answer or a result at most."""

_TABLES: Final = sa.MetaData()
_HEAD: Final = sa.Table(
    "specledger_discovery",
    _TABLES,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("tables_version", sa.Integer, nullable=False),
    sa.Column("engine", sa.String(64), nullable=False),
    sa.Column("specs", sa.String(64), nullable=False),
)
_ANSWERS: Final = sa.Table(
    "specledger_answers",
    _TABLES,
    sa.Column("iteration", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("document", sa.LargeBinary, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
)
_WORK: Final = sa.Table(
    "specledger_work",
    _TABLES,
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String(16), primary_key=True),
    sa.Column("owner", sa.String(200)),
    sa.Column("expires", sa.BigInteger, nullable=False),
    sa.Column("fence", sa.Integer, nullable=False),
    sa.Column("document", sa.LargeBinary),
    sa.Column("digest", sa.String(64)),
)


_MAKING: Final = 0x73706563  # the lock of PostgreSQL under which tables are made


@dataclass(frozen=True, slots=True)
class Claim:
    """A piece of work that somebody owns for a while.

    Attributes:
        position, kind: Which one.
        owner: Who.
        fence: How many have owned it, this one included.
    """

    position: int
    kind: str
    owner: str
    fence: int


class Store:
    """An open store. It holds connections: a process that was forked opens its own.

    Attributes:
        shown: The database in words, without a password.
    """

    def __init__(self, place: str, specs: str, lease: float) -> None:
        """Open the store of a discovery, and make it if there is none.

        Args:
            place: A path, or a URL as SQLAlchemy reads it.
            specs: The digest of the discovery's specs.
            lease: Seconds for which work is claimed, and for which a locked database is waited for, though
                never shorter than `LEAST_WAIT`.

        Raises:
            Rejected: It cannot be opened, or it is none of this discovery: one of the `E_STORE_...` codes.
        """
        self._lease_ms = int(lease * 1000)
        self._url = url_of(place)
        self.shown = shown_url(self._url)
        try:
            self._lite = self._url.get_backend_name() == "sqlite"
            self._engine = connect(self._url, lease)
        except (exc.SQLAlchemyError, *UNFIT) as error:
            raise self._refused(E_STORE_OPEN, words_of(error, self._url)) from None
        try:
            self._open()
            self._enter(specs)
        except Rejected:
            self.close()
            raise

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    # Answers

    def answer(self, iteration: int) -> Any:
        """The answer that an iteration got, or None."""
        with self._reading() as connection:
            found = connection.execute(
                sa.select(_ANSWERS.c.document, _ANSWERS.c.digest).where(_ANSWERS.c.iteration == iteration)
            ).first()
        return None if found is None else self._read(*found)

    def keep_answer(self, iteration: int, document: Any) -> Any:
        """Keep what an iteration was answered.

        Returns:
            The answer that counts: this one, or the one that was kept before, by whoever asked first.
        """
        data = canonical_bytes(document)
        try:
            with self._writing() as connection:
                values = {"iteration": iteration, "document": data, "digest": tagged(ROW_TAG, data)}
                connection.execute(sa.insert(_ANSWERS).values(**values))
        except exc.IntegrityError:
            return self.answer(iteration)
        return document

    def answers(self) -> list[tuple[int, Any]]:
        """All answers, by iteration."""
        columns = (_ANSWERS.c.iteration, _ANSWERS.c.document, _ANSWERS.c.digest)
        query = sa.select(*columns).where(_ANSWERS.c.iteration >= 0).order_by(_ANSWERS.c.iteration)
        with self._reading() as connection:
            rows = connection.execute(query).all()
        return [(iteration, self._read(document, digest)) for iteration, document, digest in rows]

    def spare(self, iteration: int) -> Any:
        """The answer that an iteration got before something that it looked at was taken back, or None."""
        return self.answer(_apart(iteration))

    def forget(self, failed: Sequence[int], later: Sequence[int], positions: Sequence[int], beyond: int) -> None:
        """Take back what is to be got again.

        Args:
            failed: Iterations whose answers are dropped.
            later: Iterations whose answers are kept apart.
            positions: Work whose results are dropped.
            beyond: So is all work from this position on, and the closing one wherever it is.

        Raises:
            Rejected: E_STORE_BUSY, if somebody works.
        """
        held = _WORK.c.digest.is_(None) & _WORK.c.owner.is_not(None) & (_WORK.c.expires > now_ms())
        with self._writing() as connection:
            if connection.execute(sa.select(_WORK.c.position).where(held)).first() is not None:
                raise self._refused(E_STORE_BUSY, "somebody works on the discovery, so nothing of it is taken back")
            for iteration in failed:
                connection.execute(sa.delete(_ANSWERS).where(_ANSWERS.c.iteration == iteration))
            for iteration in later:
                connection.execute(sa.delete(_ANSWERS).where(_ANSWERS.c.iteration == _apart(iteration)))
                aside = sa.update(_ANSWERS).where(_ANSWERS.c.iteration == iteration)
                connection.execute(aside.values(iteration=_apart(iteration)))
            connection.execute(sa.delete(_WORK).where((_WORK.c.position >= beyond) | (_WORK.c.kind == CLOSE)))
            for position in positions:
                connection.execute(sa.delete(_WORK).where(_WORK.c.position == position))

    # Work

    def claim(self, position: int, kind: str, owner: str) -> Claim | None:
        """Own a piece of work that nobody has done and nobody owns at present; None if there is nothing to own."""
        place = (_WORK.c.position == position) & (_WORK.c.kind == kind)
        expires = now_ms() + self._lease_ms
        try:
            with self._writing() as connection:
                row = connection.execute(
                    sa.select(_WORK.c.owner, _WORK.c.expires, _WORK.c.fence, _WORK.c.digest).where(place)
                ).first()
                if row is None:
                    first = {"position": position, "kind": kind, "owner": owner, "expires": expires, "fence": 1}
                    connection.execute(sa.insert(_WORK).values(**first))
                    return Claim(position, kind, owner, 1)
                if not (_is_count(row.expires) and _is_count(row.fence)):
                    raise self._refused(E_STORE_BROKEN, "a row is not what was stored")
                if row.digest is not None or (row.owner is not None and row.expires > now_ms()):
                    return None
                taken = connection.execute(
                    sa.update(_WORK)
                    .where(place, _WORK.c.fence == row.fence, _WORK.c.digest.is_(None))
                    .values(owner=owner, expires=expires, fence=row.fence + 1)
                )
                return Claim(position, kind, owner, row.fence + 1) if taken.rowcount == 1 else None
        except exc.IntegrityError:  # another database lets two insert at once: one of them comes too late
            return None

    def renew(self, claim: Claim) -> bool:
        """Own a piece of work for longer; False if somebody else has taken it over."""
        with self._writing() as connection:
            held = connection.execute(sa.update(_WORK).where(_mine(claim)).values(expires=now_ms() + self._lease_ms))
            return held.rowcount == 1

    def finish(self, claim: Claim, document: Any) -> bool:
        """Keep the result of a piece of work; False, and nothing is kept, if somebody else has taken it over."""
        data = canonical_bytes(document)
        with self._writing() as connection:
            kept = connection.execute(
                sa.update(_WORK)
                .where(_mine(claim), _WORK.c.digest.is_(None))
                .values(document=data, digest=tagged(ROW_TAG, data), owner=None)
            )
            return kept.rowcount == 1

    def release(self, owner: str) -> None:
        """Give back what an owner, or any worker of a group of this name, holds and has not done."""
        names = (_WORK.c.owner == owner) | _WORK.c.owner.startswith(f"{owner}/", autoescape=True)
        with self._writing() as connection:
            connection.execute(sa.update(_WORK).where(names, _WORK.c.digest.is_(None)).values(owner=None))

    def results(self, position: int) -> list[tuple[int, str, Any]]:
        """What is done from a position on, in order: position, kind, result."""
        columns = (_WORK.c.position, _WORK.c.kind, _WORK.c.document, _WORK.c.digest)
        query = sa.select(*columns).where(_WORK.c.position >= position, _WORK.c.digest.is_not(None))
        with self._reading() as connection:
            rows = connection.execute(query.order_by(_WORK.c.position, _WORK.c.kind)).all()
        return [(place, kind, self._read(document, digest)) for place, kind, document, digest in rows]

    def done(self) -> int:
        """How many pieces of work have their result."""
        query = sa.select(sa.func.count()).select_from(_WORK).where(_WORK.c.digest.is_not(None))
        with self._reading() as connection:
            return int(connection.execute(query).scalar_one())

    # The database

    def _open(self) -> None:
        """Connect for the first time: what a URL asks of a driver may be found wrong only here.

        Raises:
            Rejected: E_STORE_OPEN, also if nothing would be kept; or what the database says.
        """
        with self._guarded():
            try:
                with self._engine.connect() as connection:
                    kept = not self._lite or is_kept(connection)
            except UNFIT as error:
                raise self._refused(E_STORE_OPEN, words_of(error, self._url)) from None
        if not kept:
            hint = "name a file: sqlite:///q.sqlite, or a path"
            raise self._refused(E_STORE_OPEN, "it is in memory, so every answer would be lost at the end", hint)

    def _enter(self, specs: str) -> None:
        if self._is_new():
            self._make(specs)
        with self._reading() as connection:
            row = connection.execute(sa.select(_HEAD)).first()
        if row is None:
            raise self._refused(E_STORE_BROKEN, "its first table is empty")
        if row.tables_version != SCHEMA or row.engine != __version__:
            made = f"tables {row.tables_version} of engine {row.engine}"
            raise self._refused(E_STORE_VERSION, f"it has {made}; this is {SCHEMA} of {__version__}")
        if row.specs != specs:
            message = f"it is that of the discovery {row.specs[:16]}, not of {specs[:16]}"
            hint = "a change of the specs, more iterations too, makes another discovery: name another --store or --out"
            raise self._refused(E_STORE_FOREIGN, message, hint)

    def _is_new(self) -> bool:
        """Whether there are no tables of a store yet.

        Raises:
            Rejected: E_STORE_FOREIGN, if a file holds other tables; nothing of it is changed.
        """
        with self._reading() as connection:
            names = set(sa.inspect(connection).get_table_names())
        if names and self._lite and _HEAD.name not in names:
            raise self._refused(E_STORE_FOREIGN, f"it has other tables: {', '.join(sorted(names)[:3])}")
        return _HEAD.name not in names

    def _make(self, specs: str) -> None:
        if self._lite:
            with self._guarded(), self._engine.connect() as connection:
                write_ahead(connection)
        with self._writing() as connection:
            if connection.dialect.name == "postgresql":  # there tables can be made twice at once
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MAKING)))
            if sa.inspect(connection).has_table(_HEAD.name):
                return
            _TABLES.create_all(connection)
            head = {"id": 1, "tables_version": SCHEMA, "engine": __version__, "specs": specs}
            connection.execute(sa.insert(_HEAD).values(**head))

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with self._guarded(), self._engine.connect() as connection:
            yield connection.execution_options(**{READING: True})

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        with self._guarded(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Make findings of what the database says."""
        try:
            yield
        except exc.IntegrityError:
            raise
        except exc.DBAPIError as error:
            words = words_of(error.orig if error.orig is not None else error, self._url)
            raise self._refused(code_of(words), words) from None
        except (TypeError, ValueError, OverflowError):  # a column of another type than the tables have
            raise self._refused(E_STORE_BROKEN, "a row is not what was stored") from None

    def _read(self, data: Any, digest: Any) -> Any:
        if not isinstance(data, bytes) or tagged(ROW_TAG, data) != digest:
            raise self._refused(E_STORE_BROKEN, "a row is not what was stored")
        try:
            return parse_canonical(data, limit=MOST_ROW)
        except NotCanonical as error:
            raise self._refused(E_STORE_BROKEN, str(error)) from None

    def _refused(self, code: str, message: str, hint: str | None = None) -> Rejected:
        return Rejected([Diagnostic(code, f"{self.shown}: {message}", hint=hint)])


def _apart(iteration: int) -> int:
    """The number under which an answer is kept that no iteration has at present."""
    return -1 - iteration


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_INTEGER


def _mine(claim: Claim) -> sa.ColumnElement[bool]:
    place = (_WORK.c.position == claim.position) & (_WORK.c.kind == claim.kind)
    return place & (_WORK.c.owner == claim.owner) & (_WORK.c.fence == claim.fence)
