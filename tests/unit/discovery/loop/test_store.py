"""The store: one owner at a time, one result for ever, and a database that does not fit is refused."""

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Timer

import pytest
import sqlalchemy

from specledger.core.diagnostics import Rejected
from specledger.discovery import database
from specledger.discovery import store as module
from specledger.discovery.database import LEAST_WAIT, shown_url, url_of
from specledger.discovery.leases import Kept
from specledger.discovery.store import Claim, Store

SPECS, OTHER = "ab" * 32, "cd" * 32
POSTGRES = os.environ.get("SPECLEDGER_POSTGRES_URL")
"""A database of its own, whose tables of a store are dropped."""


def wiped(url):
    engine = sqlalchemy.create_engine(url_of(url))
    module._TABLES.drop_all(engine)
    engine.dispose()
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Where a new store can be."""
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite")
    if POSTGRES is None:
        pytest.skip("no PostgreSQL is reachable: SPECLEDGER_POSTGRES_URL names none")
    return wiped(POSTGRES)


@pytest.fixture
def opened(place):
    """Opens the store as often as it is asked, as so many processes would."""
    held = []

    def open_store(specs=SPECS, lease=60.0):
        held.append(Store(place, specs, lease))
        return held[-1]

    yield open_store
    for one in held:
        one.close()


def codes(function, *arguments):
    with pytest.raises(Rejected) as caught:
        function(*arguments)
    return [found.code for found in caught.value.diagnostics]


def test_work_has_one_owner_and_one_result(opened):
    mine, yours = opened(), opened()
    claim = mine.claim(0, "propose", "me")
    assert claim == Claim(0, "propose", "me", 1)
    assert yours.claim(0, "propose", "you") is None
    assert yours.claim(0, "close", "you") == Claim(0, "close", "you", 1)
    assert mine.finish(claim, {"laws": []})
    assert not mine.finish(claim, {"laws": [1]})
    assert yours.claim(0, "propose", "you") is None
    assert yours.results(0) == [(0, "propose", {"laws": []})]
    assert yours.done() == 1


def test_a_lease_that_ran_out_is_taken_over_and_the_late_result_refused(opened):
    mine, yours = opened(lease=0.0), opened()
    late = mine.claim(3, "propose", "me")
    claim = yours.claim(3, "propose", "you")
    assert claim == Claim(3, "propose", "you", 2)
    assert not mine.renew(late)
    assert not mine.finish(late, {"from": "me"})
    assert yours.results(0) == []
    assert yours.finish(claim, {"from": "you"})
    assert not mine.finish(late, {"from": "me"})
    assert mine.results(0) == [(3, "propose", {"from": "you"})]


def test_the_same_owner_after_a_takeover_is_another_one(opened):
    store = opened(lease=0.0)
    first, second = store.claim(0, "propose", "me"), store.claim(0, "propose", "me")
    assert (first.fence, second.fence) == (1, 2)
    assert not store.finish(first, {})
    assert store.finish(second, {})


def test_a_lease_is_renewed_while_its_work_is_done(opened, monkeypatch):
    store, now = opened(lease=10.0), [1000]
    monkeypatch.setattr(module, "now_ms", lambda: now[0])
    claim = store.claim(0, "propose", "me")
    with Kept(store, claim, 0.03) as kept:
        now[0] += 9_000
        for _ in range(200):
            if store.renew(claim) and kept._over.wait(0.02):
                break
            break
    now[0] += 9_000
    assert store.claim(0, "propose", "you") is None
    now[0] += 2_000
    assert store.claim(0, "propose", "you") is not None


def test_what_a_group_holds_is_given_back(opened):
    store = opened()
    mine = [store.claim(0, "propose", "host:1:7/0"), store.claim(1, "propose", "host:1:7/1")]
    assert store.claim(2, "propose", "host:1:77/0") is not None
    store.finish(mine[0], {})
    store.release("host:1:7")
    again = [store.claim(position, "propose", "you") for position in range(3)]
    assert [claim and claim.position for claim in again] == [None, 1, None]


def test_the_first_answer_counts(opened):
    mine, yours = opened(), opened()
    assert mine.answer(0) is None
    assert mine.keep_answer(0, {"text": "a"}) == {"text": "a"}
    assert yours.keep_answer(0, {"text": "b"}) == {"text": "a"}
    mine.keep_answer(1, {"text": "\x00 and \ud7ff"})
    assert yours.answers() == [(0, {"text": "a"}), (1, {"text": "\x00 and \ud7ff"})]


def test_many_claim_at_once_and_each_work_has_one_owner(opened):
    stores, start = [opened() for _ in range(6)], Barrier(6)

    def claim_all(number):
        start.wait()
        return [p for p in range(12) if stores[number].claim(p, "propose", f"w{number}") is not None]

    with ThreadPoolExecutor(6) as pool:
        found = [position for taken in pool.map(claim_all, range(6)) for position in taken]
    assert sorted(found) == list(range(12))


def test_many_open_a_new_store_at_once(place, monkeypatch):
    monkeypatch.setattr(database, "LEAST_WAIT", 120.0)  # a slow disk is no failure
    start = Barrier(6)

    def open_store(_):
        start.wait()
        return Store(place, SPECS, 60.0)

    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(open_store, range(6)))
    assert stores[0].claim(0, "propose", "me") is not None
    for store in stores:
        store.close()


def test_another_discovery_or_version_is_refused(opened, place, monkeypatch):
    opened()
    assert codes(opened, OTHER) == ["E_STORE_FOREIGN"]
    monkeypatch.setattr(module, "SCHEMA", 2)
    assert codes(opened) == ["E_STORE_VERSION"]
    monkeypatch.setattr(module, "SCHEMA", 1)
    monkeypatch.setattr(module, "__version__", "9.9")
    assert codes(opened) == ["E_STORE_VERSION"]


# SQLite alone


def written(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_store_is_in_write_ahead_mode(tmp_path):
    store = Store(str(tmp_path / "a"), SPECS, 1.0)
    with store._reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    store.close()


def half(path):
    Store(str(path), SPECS, 1.0).close()
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def altered(path):
    store = Store(str(path), SPECS, 1.0)
    assert store.claim(0, "propose", "me") is not None
    store.finish(Claim(0, "propose", "me", 1), {"laws": [1]})
    store.close()
    written(path, "UPDATE specledger_work SET document = CAST('{\"laws\":[2]}' AS BLOB)")


def spoilt(change):
    """One piece of work, one of whose columns holds what no store writes."""

    def spoil(path):
        store = Store(str(path), SPECS, 1.0)
        assert store.claim(0, "propose", "me") is not None
        store.finish(Claim(0, "propose", "me", 1), {"laws": []})
        store.claim(1, "propose", "me")
        store.release("me")
        store.close()
        written(path, f"UPDATE specledger_work SET {change}")

    return spoil


COLUMNS = {
    "a text": "document = 'abc'",
    "a text that is JSON": "document = CAST(document AS TEXT)",
    "no document": "document = NULL",
    "another digest": "digest = 5",
    "a number that is none": "fence = 'abc'",
    "a number that is too large": "fence = 9223372036854775807",
    "a time that is none": "expires = 'abc'",
}


@pytest.mark.parametrize("change", COLUMNS.values(), ids=COLUMNS)
def test_a_column_of_another_type_is_damage(tmp_path, change):
    spoilt(change)(tmp_path / "store")
    store = Store(str(tmp_path / "store"), SPECS, 1.0)

    def use():
        store.results(0)
        store.claim(1, "propose", "me")

    assert codes(use) == ["E_STORE_BROKEN"]
    store.close()


BAD = {
    "no database": (lambda path: path.write_bytes(b"hello" * 2000), "E_STORE_BROKEN"),
    "half of it": (half, "E_STORE_BROKEN"),
    "a changed row": (altered, "E_STORE_BROKEN"),
    "without its tables": (
        lambda path: written(path, "CREATE TABLE specledger_discovery (id INTEGER)"),
        "E_STORE_BROKEN",
    ),
    "somebody's tables": (lambda path: written(path, "CREATE TABLE songs (name TEXT)"), "E_STORE_FOREIGN"),
    "a folder": (lambda path: path.mkdir(), "E_STORE_OPEN"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_damaged_or_foreign_file_is_refused_and_left_as_it_is(tmp_path, name):
    spoil, code = BAD[name]
    path = tmp_path / "store"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None

    def use():
        store = Store(str(path), SPECS, 0.2)
        try:
            store.results(0)
        finally:
            store.close()

    assert codes(use) == [code]
    assert before is None or path.read_bytes() == before


PLACES = {
    "no folder": "/nowhere/at/all/store",
    "no URL": "://",
    "no such database": "nosuch://host/name",
    "nobody listens": "postgresql://user:hidden-word@127.0.0.1:9/name",
    "a password as an option": "postgresql://127.0.0.1:9/name?user=me&password=hidden-word",
    "a password in words of the driver": "postgresql://127.0.0.1:9/name?passfile=x&connect_timeout=1&pass=hidden-word",
    "a mistyped URL": "postgresql:/user:hidden-word@host/name",
    "a mistyped URL with options": "postgresql:/host/name?password=hidden-word",
    "no port": "postgresql://user:hidden-word@host:port/name",
    "a user with a sign in the password": "postgresql://user:word@hidden-word@127.0.0.1:9/name",
    "an option that is no number": "sqlite:///q.sqlite?timeout=abc",
    "an option that is no truth value": "sqlite:///q.sqlite?uri=maybe",
    "an option that is too large": "sqlite:///q.sqlite?detect_types=99999999999999999999",
    "in memory": "sqlite://",
    "in memory by name": "sqlite:///:memory:",
    "in memory by an option": "sqlite:///file:x?mode=memory&uri=true",
    "in memory as a path": ":memory:",
    "an empty path": "",
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_place_that_is_none(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Rejected) as caught:
        Store(place, SPECS, 0.2)
    (found,) = caught.value.diagnostics
    assert found.code == "E_STORE_OPEN"
    assert "hidden-word" not in found.message


def test_a_url_is_shown_without_what_may_be_a_password():
    url = url_of("postgresql://user:hidden-word@host:5/name?password=hidden-word&user=me")
    assert shown_url(url) == "postgresql+psycopg://host:5/name"


def test_a_short_lease_is_no_short_wait(tmp_path):
    store = Store(str(tmp_path / "a"), SPECS, 0.001)
    with store._reading() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 1000 * LEAST_WAIT
    store.close()


def test_a_new_file_that_another_process_makes_a_store_of_is_waited_for(tmp_path):
    other = sqlite3.connect(tmp_path / "a", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    engine = database.connect(url_of(str(tmp_path / "a")), 0.0)
    timer = Timer(0.1, other.execute, ["ROLLBACK"])
    timer.start()
    with engine.connect() as connection:
        connection.connection.cursor().execute("PRAGMA busy_timeout = 0")  # as where SQLite does not wait by itself
        database.write_ahead(connection)
    timer.join()
    engine.dispose()
    other.close()


def test_a_locked_database(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "LEAST_WAIT", 0.1)
    store = Store(str(tmp_path / "a"), SPECS, 0.2)
    other = sqlite3.connect(tmp_path / "a", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert codes(store.claim, 0, "propose", "me") == ["E_STORE_BUSY"]
    other.execute("ROLLBACK")
    assert store.claim(0, "propose", "me") is not None
    other.close()
    store.close()


def test_a_store_that_cannot_be_written(tmp_path):
    store = Store(str(tmp_path / "a"), SPECS, 0.2)
    with store._engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA query_only = ON")
        connection.commit()
    assert codes(store.claim, 0, "propose", "me") == ["E_STORE_FULL"]
    store.close()
