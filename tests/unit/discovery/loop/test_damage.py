"""A store that was altered by somebody who knows its form: no evidence comes of it, and it is said to be damaged."""

import sqlite3

import pytest

from specledger.core.canonical import canonical_bytes, parse_canonical
from specledger.core.diagnostics import Rejected
from specledger.core.digest import tagged
from specledger.discovery.discovery_state import Record
from specledger.discovery.store import ROW_TAG, Store
from specledger.discovery.worker import commit


@pytest.fixture(scope="module")
def made(small, tmp_path_factory):
    """Where the store of the small discovery is, after it has ended."""
    return tmp_path_factory.mktemp("made") / "store"


@pytest.fixture
def altered(small, worker, quick, made, tmp_path):
    """The store after some rows were changed, each with the digest that it then has."""
    bundle = small[0]
    if not made.exists():
        first = Store(str(made), bundle.digest, 60.0)
        worker(first).work()
        first.close()
    held = []

    def alter(table, where, change):
        path = tmp_path / "store"
        with sqlite3.connect(made) as source, sqlite3.connect(path) as copy:
            source.backup(copy)
            (data,) = copy.execute(f"SELECT document FROM {table} WHERE {where}").fetchone()
            if change is None:
                copy.execute(f"DELETE FROM {table} WHERE {where}")
            else:
                new = canonical_bytes(change(parse_canonical(data)))
                copy.execute(f"UPDATE {table} SET document = ?, digest = ? WHERE {where}", (new, tagged(ROW_TAG, new)))
        copy.close()
        held.append(Store(str(path), bundle.digest, 60.0))
        return held[-1]

    yield alter
    for one in held:
        one.close()


def put(*path, value):
    """A change of one member of a document."""

    def change(document):
        place = document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        return document

    return change


ANSWERS, WORK = "specledger_answers", "specledger_work"
FIRST, ESCALATION = "position = 0", "position = 3"

ANSWER = {
    "no answer": None,
    "another text": put("answer", "text", value="[]"),
    "to another question": put("request", value="ab" * 32),
    "a list": lambda document: [document],
    "nothing": lambda document: None,
    "a usage that is none": put("answer", "usage", value=5),
}


@pytest.mark.parametrize("change", ANSWER.values(), ids=ANSWER)
def test_no_evidence_without_the_answers_that_it_states(altered, told, change):
    with pytest.raises(Rejected) as caught:
        told(altered(ANSWERS, "iteration = 1", change))
    assert [found.code for found in caught.value.diagnostics] == ["E_STORE_BROKEN"]


RESULT = {
    "an empty object": (FIRST, lambda document: {}),
    "an empty list": (FIRST, lambda document: []),
    "null": (FIRST, lambda document: None),
    "laws that are none": (FIRST, put("laws", value=[5])),
    "a document that is no law": (FIRST, put("laws", 0, "document", value={})),
    "a verdict without a status": (FIRST, put("laws", 0, "verdict", value={})),
    "no usage": (FIRST, put("proposal", "answer", "usage", value={})),
    "a proposal without warnings": (FIRST, lambda document: document["proposal"].pop("warnings") and document),
    "another iteration": (FIRST, put("proposal", "iteration", value=1)),
    "another memory": (FIRST, put("proposal", "snapshot", value="ab" * 32)),
    "a law that was never accepted": (ESCALATION, put("laws", 0, "law", value="law/x@0")),
    "another kind": (ESCALATION, put("proposal", value={})),
}


@pytest.mark.parametrize(("where", "change"), RESULT.values(), ids=RESULT)
def test_a_result_that_no_step_comes_to_is_damage(altered, told, small, where, change):
    store = altered(WORK, where, change)
    for use in (lambda: told(store), lambda: commit(Record(small[1].plan), store)):
        with pytest.raises(Rejected) as caught:
            use()
        assert [found.code for found in caught.value.diagnostics] == ["E_STORE_BROKEN"]


def test_what_was_not_altered_is_told(altered, told, facts):
    assert told(altered(WORK, FIRST, lambda document: document)) == facts
