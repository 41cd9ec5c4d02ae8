"""The database that a store is in: which one a path or a URL names, and what it says when it fails.

Decides what is shown of a place, so that no password is, how SQLite is connected to, and which code a failure has.
Refuses to know the tables.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import exc

from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.discovery.clock import now_ms, pause
from specledger.discovery.codes import E_STORE_BROKEN, E_STORE_BUSY, E_STORE_FULL, E_STORE_OPEN

LEAST_WAIT: Final = 5.0
"""Seconds for which a locked database is waited for at least, however short a lease is."""

UNFIT: Final = (exc.ArgumentError, ValueError, TypeError, OverflowError, AttributeError, ImportError)
"""What a driver raises, beside its own errors, at options of a URL that it cannot read."""

READING: Final = "specledger_reading"
"""The option of a connection that is not written to."""

_DRIVERS: Final = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
"""The driver that is meant where a URL names none."""

_AGAIN: Final = 0.02  # seconds before the mode of a file is asked for again

_SECRETS: Final = ("@", "password")  # what a place holds that may hold a password


def url_of(place: str) -> sa.URL:
    """The URL of a database.

    Args:
        place: A path, or a URL as SQLAlchemy reads it.

    Raises:
        Rejected: E_STORE_OPEN, without repeating what may hold a password.
    """
    if "://" not in place:
        if not Path(place).absolute().parent.is_dir():
            named = "what --store names" if any(word in place.lower() for word in _SECRETS) else place
            raise Rejected([Diagnostic(E_STORE_OPEN, f"{named}: there is no such folder")])
        return sa.URL.create("sqlite", database=place)
    try:
        url = sa.make_url(place)
    except (exc.ArgumentError, ValueError):
        raise Rejected([Diagnostic(E_STORE_OPEN, "what --store names is no URL of a database")]) from None
    return url.set(drivername=_DRIVERS.get(url.drivername, url.drivername))


def shown_url(url: sa.URL) -> str:
    """A URL in words: no user, no password, no options, and nothing of one that hides a password elsewhere."""
    bare = sa.URL.create(url.drivername, host=url.host, port=url.port, database=url.database)
    words = bare.render_as_string()
    return "the store" if any(word in words.lower() for word in _SECRETS) else words


def connect(url: sa.URL, lease: float) -> sa.Engine:
    """What connects to a database, before it does.

    Args:
        url: The database.
        lease: Seconds for which work is claimed.

    Raises:
        SQLAlchemyError: There is no such driver.
        ValueError, TypeError, ...: One of `UNFIT`, for an option that cannot be read.
    """
    if url.get_backend_name() != "sqlite":
        return sa.create_engine(url, pool_pre_ping=True)
    engine = sa.create_engine(url, connect_args={"timeout": max(lease, LEAST_WAIT)})
    sa.event.listen(engine, "connect", _prepare)
    sa.event.listen(engine, "begin", _begin)
    return engine


def is_kept(connection: sa.Connection) -> bool:
    """Whether what a SQLite database holds is in a file, and not gone with its connection."""
    return any(row[1] == "main" and row[2] for row in connection.exec_driver_sql("PRAGMA database_list"))


def write_ahead(connection: sa.Connection) -> None:
    """Have readers of a SQLite file wait for no writer; it stays with the file.

    SQLite gives up at once where two change the mode of one file, instead of waiting.

    Raises:
        OperationalError: The file cannot be had in `LEAST_WAIT`.
    """
    last = now_ms() + int(1000 * LEAST_WAIT)
    while True:
        try:
            connection.connection.cursor().execute("PRAGMA journal_mode = WAL")
        except sqlite3.Error as error:
            if code_of(str(error)) != E_STORE_BUSY or now_ms() > last:
                raise exc.OperationalError(None, None, error) from None
            pause(_AGAIN)
        else:
            return


def _prepare(connection: Any, record: Any) -> None:
    """A connection to SQLite begins its transactions itself, and what it commits is on the disk."""
    connection.isolation_level = None
    connection.execute("PRAGMA synchronous = FULL").close()


def _begin(connection: sa.Connection) -> None:
    """Whoever writes owns the database from the first statement on, so that two never wait for one another."""
    reading = connection.get_execution_options().get(READING)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def code_of(words: str) -> str:
    """The code of what a database says."""
    low = words.lower()
    if "locked" in low or "busy" in low:
        return E_STORE_BUSY
    if "not a database" in low or "malformed" in low or "no such column" in low or "no such table" in low:
        return E_STORE_BROKEN
    if "full" in low or "readonly" in low or "read-only" in low or "disk i/o" in low:
        return E_STORE_FULL
    return E_STORE_OPEN


def words_of(error: BaseException, url: sa.URL) -> str:
    """The first line of what a driver says, unless it repeats what may be a password."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    asked = [value for name, value in url.query.items() if "pass" in name.lower()]
    hidden = ["@", url.password, *(part for value in asked for part in ([value] if isinstance(value, str) else value))]
    return type(error).__name__ if any(word and word in lines[0] for word in hidden) else lines[0]
