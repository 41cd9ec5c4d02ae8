"""How a pin differs from the accepted one, by hand-made receipts; what a failed check says, and where it stands."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.canonical import canonical_bytes, pretty
from specledger.kinds.explained_checks import _change, _named, _subjects
from specledger.pipeline.golden import (
    NOT_PINNED,
    Pin,
    _changed_specs,
    _first_receipt,
    _step,
    difference,
    documents_of,
    pin_matches,
    pinned_names,
)
from specledger.pipeline.testing import _span_of, _words
from specledger.report.model import Check, Observation
from specledger.report.outcome import Outcome

DIGEST = "0" * 64


def receipt(t, **body):
    return canonical_bytes({"type": "step", "body": {"episode": 2, "t": t, **body}, "previous": f"{t:064x}"})


LINES = (receipt(0, x=1), receipt(1, x=2))
TREE = {"documents": {"world/w": "a", "agent/a": "b"}}
PIN = Pin("n", TREE, LINES)


def test_an_accepted_pin_is_the_same_whatever_its_lines_end_in(tmp_path):
    assert pin_matches(PIN, tmp_path) == NOT_PINNED
    PIN.write(tmp_path)
    assert pin_matches(PIN, tmp_path) is None
    tree = tmp_path / "n.json"
    tree.write_bytes(tree.read_bytes().replace(b"\n", b"\r\n"))
    assert pin_matches(PIN, tmp_path) is None
    (tmp_path / "n.jsonl").unlink()
    assert pin_matches(PIN, tmp_path) == NOT_PINNED
    (tmp_path / "m.jsonl").touch()
    (tmp_path / "o.txt").touch()
    assert pinned_names(tmp_path) == ["m", "n"]


def accepted(**documents):
    return pretty({"documents": documents}).encode()


@pytest.mark.parametrize(
    ("tree", "changed"),
    [
        (accepted(**TREE["documents"]), []),
        (pretty({"documents": {"world/w": "z", "agent/a": "b"}}).encode(), ["world/w"]),
        (pretty({"documents": {"world/w": "a"}}).encode(), ["agent/a"]),
        (pretty({"documents": {**TREE["documents"], "drift/d": "c"}}).encode(), ["drift/d"]),
        (b"{", []),
        (b"[]", []),
        (b'{"documents": 1}', []),
    ],
)
def test_specs_that_changed_since_a_pin(tree, changed):
    assert _changed_specs(TREE, tree) == changed


def test_a_difference_names_changed_specs_then_the_receipt():
    other = pretty({"documents": {"world/w": "z", "agent/a": "b"}}).encode()
    same = pretty(TREE).encode()
    assert difference(PIN, same, LINES) == "the receipts are the same, the tree of digests is not"
    assert difference(PIN, other, LINES).startswith("changed specs: world/w; the receipts are the same")
    changed = difference(PIN, same, (LINES[0], receipt(1, x=3)))
    assert changed.startswith("episode 2, step 1: ")
    assert "x" in changed


def test_digests_alone_are_no_difference_of_what_a_run_does():
    later = receipt(1, x=2).replace(b'"previous":"0', b'"previous":"f')
    assert later != LINES[1]
    assert _first_receipt(LINES, (LINES[0], later)).startswith("only digests differ")
    assert _first_receipt(LINES, LINES[:1]).startswith("episode 2, step 1: ")
    assert _first_receipt(LINES[:1], LINES).startswith("episode 2, step 1: ")


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (LINES[1], "episode 2, step 1: "),
        (None, ""),
        (b"{", ""),
        (b"null", ""),
        (b"[]", ""),
        (canonical_bytes({"body": {"episode": 1}}), ""),
    ],
)
def test_the_step_of_a_receipt(line, place):
    assert _step(line) == place


def test_documents_are_pinned_without_the_digests_of_their_references():
    one = {"world/w@0123456789abcdef": {"uses": "library/l@0123456789abcdef"}}
    two = {"world/w@fedcba9876543210": {"uses": "library/l@fedcba9876543210"}}
    assert documents_of(one) == documents_of(two)
    assert [len(digest) for digest in documents_of(one).values()] == [16]
    changed = {"world/w@0123456789abcdef": {"uses": "library/m@0123456789abcdef"}}
    assert documents_of(changed) != documents_of(one)
    both = {**one, "world/w@1111111111111111": {}, "agent/a@0123456789abcdef": {}}
    assert list(documents_of(both)) == ["agent/a", "world/w"]


def check(**changes):
    given: dict[str, Any] = {"id": "invariant/a", "says": "a", "spec": None, "outcome": Outcome.FAILED}
    return Check(**{"opportunities": 3, "failures": 1, **given, **changes})


SEEN = Observation("broken", "x 1", None, 2, 5, 7, DIGEST)
WORDS = [
    ({}, "invariant/a failed 1 of 3 times"),
    ({"why": "too much"}, "invariant/a failed 1 of 3 times, too much"),
    ({"once": True}, "invariant/a failed over 3 opportunities"),
    ({"outcome": Outcome.CANNOT_TELL, "why": "nothing to judge"}, "invariant/a, nothing to judge"),
]


@pytest.mark.parametrize(("changes", "words"), WORDS)
def test_what_failed_in_words(changes, words):
    assert _words(check(**changes)) == words


def test_the_first_receipt_that_shows_it_is_named():
    assert _words(check(observations=(SEEN, SEEN))).startswith("invariant/a failed 1 of 3 times, first in ")
    assert _words(check(observations=(SEEN,))).endswith(": broken x 1")


def spec(name, data, *paths):
    return SimpleNamespace(name=name, data=data, expressions=lambda: iter(paths), span=lambda *path: (name, *path))


@pytest.mark.parametrize(
    ("says", "key", "place"),
    [
        ("x > 0", "other", ("other", "checks", 0, "require")),
        ("It is so.", "other", ("other", "checks", 0, "require")),
        ("y > 0", "other", ("other", "name")),
        ("x > 0", None, ("main", "name")),
        ("x > 0", "gone", ("main", "name")),
    ],
)
def test_where_a_requirement_stands(says, key, place):
    data = {"checks": [{"require": "x > 0", "when": "y > 0", "doc": "It is so."}]}
    paths = [(("checks", 0, "when"), "y > 0"), (("checks", 0, "require"), "x > 0")]
    bundle: Any = SimpleNamespace(root="main", main=spec("main", {}), specs={"other": spec("other", data, *paths)})
    assert _span_of(bundle, check(says=says, spec=key)) == place


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "`p` is taken away"),
        ({"x": 1}, "`p` is other than it was"),
        ([1], "`p` is other than it was"),
        ({}, "`p` is empty"),
        ([], "`p` is empty"),
        (3, "`p` becomes `3`"),
        (True, "`p` becomes `true`"),
    ],
)
def test_a_change_of_a_mutant_in_words(given, said):
    assert _change("p", given) == said


@pytest.mark.parametrize(("key", "name"), [("world/pond@0123", "pond"), ("pond", "pond"), ("world/pond", "pond")])
def test_the_name_in_a_key(key, name):
    assert _named(key) == name


@pytest.mark.parametrize(
    ("receipts", "reads", "said"),
    [
        ("step", {"receipt"}, ("every receipt of the type `step` of it",) * 2),
        ("", {"bundles"}, ("all bundles together",) * 2),
        ("", {"bundles", "bundle"}, ("every bundle of it, beside the others,", "the bundle of it, beside the others,")),
        ("", {"bundle"}, ("every bundle of it", "the bundle of it")),
    ],
)
def test_what_a_rule_of_a_profile_is_asked_of(receipts, reads, said):
    entry: Any = SimpleNamespace(receipts=receipts)
    assert _subjects(entry, " of it", frozenset(reads)) == said
