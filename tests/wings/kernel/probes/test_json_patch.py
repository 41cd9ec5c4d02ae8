"""JSON Patch as RFC 6902 has it; most cases are its examples in appendix A."""

import copy

import pytest

from specledger.wings.kernel.probes.json_patch import NotApplicable, Operation, apply_patch, read_pointer

NOTHING = object()


def op(name, path, value=NOTHING, source=""):
    return Operation(name, read_pointer(path), read_pointer(source), lambda _document: value)


@pytest.mark.parametrize(
    ("document", "patch", "wanted"),
    [
        ({"foo": "bar"}, [op("add", "/baz", "qux")], {"baz": "qux", "foo": "bar"}),
        ({"foo": ["bar", "baz"]}, [op("add", "/foo/1", "qux")], {"foo": ["bar", "qux", "baz"]}),
        ({"foo": ["bar"]}, [op("add", "/foo/-", ["abc"])], {"foo": ["bar", ["abc"]]}),
        ({"baz": "qux", "foo": "bar"}, [op("remove", "/baz")], {"foo": "bar"}),
        ({"foo": ["bar", "qux", "baz"]}, [op("remove", "/foo/1")], {"foo": ["bar", "baz"]}),
        ({"baz": "qux", "foo": "bar"}, [op("replace", "/baz", "boo")], {"baz": "boo", "foo": "bar"}),
        ({"a": {"b": 1}, "c": {}}, [op("move", "/c/d", source="/a/b")], {"a": {}, "c": {"d": 1}}),
        ({"foo": [1, 2, 3, 4]}, [op("move", "/foo/3", source="/foo/1")], {"foo": [1, 3, 4, 2]}),
        ({"a": [1]}, [op("copy", "/b", source="/a")], {"a": [1], "b": [1]}),
        ({"baz": "qux"}, [op("test", "/baz", "qux")], {"baz": "qux"}),
        ({"/": 9, "~1": 10}, [op("test", "/~01", 10), op("replace", "/~1", 8)], {"/": 8, "~1": 10}),
        ({"foo": 1}, [op("replace", "", [2])], [2]),
        ([0, 1.0], [op("test", "/1", 1.0)], [0, 1.0]),
        ({"foo": None}, [op("replace", "/foo", None)], {"foo": None}),
    ],
)
def test_an_operation_makes_another_document(document, patch, wanted):
    before = copy.deepcopy(document)
    assert apply_patch(patch, document) == wanted
    assert document == before


@pytest.mark.parametrize(
    ("document", "patch"),
    [
        ({"foo": "bar"}, op("add", "/baz/bat", "qux")),
        ({"foo": "bar"}, op("add", "/foo/bat", "qux")),
        ({"foo": "bar"}, op("remove", "/baz")),
        ({"foo": "bar"}, op("remove", "")),
        ({"foo": "bar"}, op("replace", "/baz", 1)),
        ({"foo": [1]}, op("add", "/foo/2", 1)),
        ({"foo": [1]}, op("replace", "/foo/-", 1)),
        ({"foo": [1]}, op("replace", "/foo/00", 1)),
        ({"foo": [1]}, op("remove", "/foo/+0")),
        ({"foo": [1]}, op("remove", "/foo/" + "9" * 400)),
        ({"baz": "qux"}, op("test", "/baz", "bar")),
        ({"baz": True}, op("test", "/baz", 1)),
        ({"a": {"b": 1}}, op("move", "/a/b/c", source="/a")),
        (None, op("replace", "/a", 1)),
    ],
)
def test_what_cannot_be_done_is_said(document, patch):
    with pytest.raises(NotApplicable):
        apply_patch([patch], document)


GROWTH = [op("copy", "/b", source="/a"), op("copy", "/a/-", source="/b")] * 30
SHARED = [[[[["x" * 65_536] * 64] * 64] * 64] * 64] * 64


@pytest.mark.parametrize(
    "patch",
    [
        [op("add", "/a", [0]), *GROWTH],
        [op("add", "/a", [0]), op("copy", "/b", source="/a"), *GROWTH, op("remove", "/b")],
        [op("add", "/a", SHARED)],
        [op("test", "/c", SHARED)],
        [op("add", "/a", "x" * 2_000_000), *[op("test", "/a", "x" * 2_000_000)] * 3],
    ],
    ids=["copies", "copies removed", "added", "tested", "tested often"],
)
def test_a_patch_that_multiplies_values_is_not_applicable(patch):
    with pytest.raises(NotApplicable, match="more than 8388608"):
        apply_patch(patch, {"c": 0})


def test_many_copies_that_weigh_little_are_made():
    copies = [op("add", "/a", "x"), *[op("copy", f"/{n}", source="/a") for n in range(63)]]
    assert len(apply_patch(copies, {})) == 64
