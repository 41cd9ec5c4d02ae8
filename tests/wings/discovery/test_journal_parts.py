"""A journal in memory: what is kept, forgotten and refused; what is said of errors and of a changed discovery."""

from typing import Any

import pytest

from specledger.core.diagnostics import Rejected
from specledger.wings.discovery import journal as module
from specledger.wings.discovery.journal import Journal, _changes, _code_of, _differences, _value

SPECS: Any = {
    "root": "discovery/d@1",
    "specs": {"discovery/d@1": {"iterations": 3, "law": "law/a@1"}, "law/a@1": {"n": 1}},
}


@pytest.fixture
def journal():
    made = Journal(None, SPECS)
    yield made
    made.close()


def refused(call, *args):
    with pytest.raises(Rejected) as caught:
        call(*args)
    (finding,) = caught.value.diagnostics
    return finding.code, finding.message, finding.hint


def test_answers_and_results_are_found_by_their_keys(journal):
    journal.keep_answer(1, "q", {"a": 1})
    journal.keep_answer(0, "r", [1, 2])
    journal.keep_answer(0, "q", None)
    journal.keep_result(4, "trial", "done")
    assert [journal.answer(*key) for key in ((1, "q"), (0, "r"), (0, "q"), (1, "r"))] == [{"a": 1}, [1, 2], None, None]
    assert journal.answers() == [(0, "q", None), (0, "r", [1, 2]), (1, "q", {"a": 1})]
    assert [journal.result(*key) for key in ((4, "trial"), (4, "rank"), (5, "trial"))] == ["done", None, None]


def test_what_is_forgotten_is_the_named_answers_and_results_from_a_position_on(journal):
    for number in range(3):
        journal.keep_answer(number, "q", number)
        journal.keep_answer(number, "r", number)
        journal.keep_result(number, "trial", number)
    journal.forget([(0, "q"), (2, "r"), (9, "q")], 1)
    assert journal.answers() == [(0, "r", 0), (1, "q", 1), (1, "r", 1), (2, "q", 2)]
    assert [journal.result(number, "trial") for number in range(3)] == [0, None, None]


def test_a_key_is_used_once_and_a_change_of_a_row_is_seen(journal):
    journal.keep_answer(0, "q", 1)
    said = "the journal: UNIQUE constraint failed: answers.iteration, answers.question"
    assert refused(journal.keep_answer, 0, "q", 2) == ("E_STORE_BROKEN", said, None)
    damaged = "the journal: a row does not have the digest that was stored with it"
    for change in ("document = x'32'", "document = '1'", "digest = ''"):
        journal._connection.execute(f"UPDATE answers SET {change}")
        assert refused(journal.answer, 0, "q") == ("E_STORE_BROKEN", damaged, None)


def test_a_failed_change_is_taken_back(journal):
    journal.keep_answer(0, "q", 1)
    assert refused(journal.forget, [(0, "q"), ("a", "b", "c")], 0)[0] in ("E_STORE_BROKEN", "E_STORE_OPEN")
    assert journal.answer(0, "q") == 1
    journal.forget([(0, "q")], 0)
    assert journal.answers() == []


def test_a_file_is_read_again_and_others_are_refused(tmp_path):
    path = str(tmp_path / "j.db")
    first = Journal(path, SPECS)
    first.keep_result(0, "trial", 7)
    first.close()
    again = Journal(path, SPECS)
    assert again.result(0, "trial") == 7
    again.close()
    more = {**SPECS, "specs": {**SPECS["specs"], "discovery/d@1": {"iterations": 9, "stop": 1, "law": "law/a@1"}}}
    Journal(path, more).close()  # how long it runs may change
    changed = {**SPECS, "specs": {**SPECS["specs"], "law/a@1": {"n": 2}}}
    hint = "undo the changes to resume it, or name another --journal or --out to begin a new discovery"
    said = f"{path}: it holds this discovery as it was before a change: `n` of law/a is 2, was 1"
    assert refused(Journal, path, changed) == ("E_STORE_CHANGED", said, hint)


@pytest.mark.parametrize(("number", "more"), [(4, ""), (5, "; and 1 more"), (7, "; and 3 more")])
def test_of_many_changes_the_first_are_told(tmp_path, number, more):
    def specs(value):
        return {**SPECS, "specs": {**SPECS["specs"], "law/a@1": {f"k{index}": value for index in range(number)}}}

    path = str(tmp_path / "j.db")
    Journal(path, specs(1)).close()
    told = "; ".join(f"`k{index}` of law/a is 2, was 1" for index in range(4))
    _, message, _ = refused(Journal, path, specs(2))
    assert message == f"{path}: it holds this discovery as it was before a change: {told}{more}"


def test_a_folder_is_no_journal(tmp_path):
    assert refused(Journal, str(tmp_path), SPECS) == ("E_STORE_OPEN", f"{tmp_path}: it is no plain file", None)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("database is locked", "E_STORE_BUSY"),
        ("resource busy", "E_STORE_BUSY"),
        ("file is not a database", "E_STORE_BROKEN"),
        ("database disk image is malformed", "E_STORE_BROKEN"),
        ("no such column: a", "E_STORE_BROKEN"),
        ("no such table: a", "E_STORE_BROKEN"),
        ("unique constraint failed", "E_STORE_BROKEN"),
        ("database or disk is full", "E_STORE_FULL"),
        ("attempt to write a readonly database", "E_STORE_FULL"),
        ("read-only file system", "E_STORE_FULL"),
        ("disk i/o error", "E_STORE_FULL"),
        ("unable to open database file", "E_STORE_OPEN"),
    ],
)
def test_the_code_of_an_error_of_the_database(words, code):
    assert _code_of(words) == code


def document(root: Any = None, **specs):
    """A bundle whose root is a discovery; keys are names, of which `_` stands for what comes before the digest."""
    known = {f"{name.replace('_', '/')}@{digest}": data for name, (digest, data) in specs.items()}
    return {"root": "discovery/d@0", "specs": {"discovery/d@0": root or {}, **known}}


# Two discoveries, and how the second differs.
CHANGES: dict[str, tuple[Any, Any, list[str]]] = {
    "nothing": (document({"a": 1}), document({"a": 1}), []),
    "how long it runs": (document({"iterations": 1, "stop": 2}), document({"iterations": 3}), []),
    "how long another one runs": (
        document(law_a=("1", {"iterations": 1})),
        document(law_a=("1", {"iterations": 2})),
        ["`iterations` of law/a is 2, was 1"],
    ),
    "a value of its own": (document({"a": 1}), document({"a": 2}), ["`a` of the discovery is 2, was 1"]),
    "a value that was left out": (document({}), document({"a": 2}), ["`a` of the discovery is 2, was the default"]),
    "a value that is left out": (document({"a": 1}), document({}), ["`a` of the discovery is the default, was 1"]),
    "inside": (
        document({"a": {"b": [1, {"c": 2}], "d": 0}}),
        document({"a": {"b": [1, {"c": 3}], "d": 0}}),
        ["`a.b.1.c` of the discovery is 3, was 2"],
    ),
    "a list of another length": (
        document({"a": [1]}),
        document({"a": [1, 2]}),
        ["`a` of the discovery is [1,2], was [1]"],
    ),
    "the digest of a reference alone": (
        document({"law": "law/a@1"}, law_a=("1", {"n": 1})),
        document({"law": "law/a@2"}, law_a=("2", {"n": 1})),
        [],
    ),
    "a reference": (
        document({"law": "law/a@1"}, law_a=("1", {})),
        document({"law": "law/b@1"}, law_b=("1", {})),
        ['`law` of the discovery is "law/b", was "law/a"'],
    ),
    "two specs, in the order of their names": (
        document(law_b=("1", {"n": 1}), law_a=("1", {"m": 1})),
        document(law_b=("1", {"n": 2}), law_a=("1", {"m": 2})),
        ["`m` of law/a is 2, was 1", "`n` of law/b is 2, was 1"],
    ),
}


@pytest.mark.parametrize(("before", "after", "told"), CHANGES.values(), ids=CHANGES)
def test_how_a_discovery_differs_from_the_one_of_a_journal(before, after, told):
    assert list(_changes(before, after)) == told


def test_a_name_that_two_specs_share_keeps_its_digest():
    two: Any = {
        "root": "discovery/d@0",
        "specs": {"discovery/d@0": {"x": "law/a@2"}, "law/a@1": {"n": 1}, "law/a@2": {"n": 2}},
    }
    assert module._named(two) == {"the discovery": {"x": "law/a@2"}, "law/a@1": {"n": 1}, "law/a@2": {"n": 2}}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "the default"),
        (False, "false"),
        (0, "0"),
        ("a" * 38, f'"{"a" * 38}"'),
        ("a" * 39, f'"{"a" * 39}...'),
    ],
)
def test_a_value_is_shown_up_to_a_length(value, text):
    assert _value(value) == text


def test_a_difference_of_a_whole_has_no_path():
    assert list(_differences(1, 2)) == [("", 1, 2)]
    assert list(_differences({"a": 1}, [1])) == [("", {"a": 1}, [1])]
    assert list(_differences({"b": 1, "a": 1}, {"b": 2, "a": 2})) == [("a", 1, 2), ("b", 1, 2)]
