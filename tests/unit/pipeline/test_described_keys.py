"""What is said of a key of a kind: its values in words, whether it is needed, its default, and what is below it."""

from typing import Any

import pytest

from specledger.core.diagnostics import Rejected
from specledger.pipeline.authoring import about_kinds, describe, keys_named, kinds_with_start, write_new

NEEDED, LEFT_OUT = True, False
A_TYPE = (
    "a name, at most 80 characters or a mapping of the keys type, minimum, maximum, enum, items, maxItems, properties, "
    "required, additionalProperties"
)
A_CONSTANT = (
    "a mapping of the keys qfixed or true or false or an integer or a number or text or a list; each item: anything"
)
TYPES = ("type", "minimum", "maximum", "enum", "items", "maxItems", "properties", "required", "additionalProperties")
REFERENCE = ("use", "with")
GATE = ("id", "when", "deny", "require", "reason", "witness")
# A path, its values in words, whether it is needed, its default, the allowed values, and the keys below it.
KEYS: dict[str, tuple[Any, ...]] = {
    "scenario.name": (
        "words in small letters, joined by hyphens or underscores, at most 80 characters",
        NEEDED,
        None,
        (),
        (),
    ),
    "scenario.seed": ("an integer, at least 0, at most 9007199254740991", LEFT_OUT, "0", (), ()),
    "scenario.horizon": ("an integer, at least 1, at most 1000000", LEFT_OUT, None, (), ()),
    "scenario.world": ("a reference to a spec of the kind world", NEEDED, None, (), REFERENCE),
    "scenario.probes": ("a list; each item: a reference to a spec of the kind probe", LEFT_OUT, None, (), REFERENCE),
    "scenario.agents": (
        "a mapping of names; each value: a mapping of the keys agent, governor, probes",
        LEFT_OUT,
        None,
        (),
        ("agent", "governor", "probes"),
    ),
    "governor.mode": ("one of the allowed values", LEFT_OUT, '"all"', ("all", "first"), ()),
    "governor.gates": (f"a list; each item: a mapping of the keys {', '.join(GATE)}", NEEDED, None, (), GATE),
    "governor.gates.deny": ("an expression (CEL profile v1)", LEFT_OUT, None, (), ()),
    "governor.gates.0": (f"a mapping of the keys {', '.join(GATE)}", NEEDED, None, (), GATE),
    "governor.gates.0.deny": ("an expression (CEL profile v1)", LEFT_OUT, None, (), ()),
    "governor.constants": (f"a mapping of names; each value: {A_CONSTANT}", LEFT_OUT, None, (), ("qfixed",)),
    "governor.constants.A": (A_CONSTANT, NEEDED, None, (), ("qfixed",)),
    "world.state": (f"a mapping of names; each value: {A_TYPE}", NEEDED, None, (), TYPES),
    "world.state.x": (A_TYPE, NEEDED, None, (), TYPES),
    "probe.at": (
        "one of the allowed values",
        NEEDED,
        None,
        ("before_propose", "after_commit", "after_token", "after_act", "call"),
        (),
    ),
    "probe.challenge.test.error": ("a decimal number with at most six decimals", LEFT_OUT, "0.005", (), ()),
    "invariant.severity": ("one of the allowed values", LEFT_OUT, '"fatal"', ("fatal", "warn"), ()),
}


@pytest.mark.parametrize(("path", "said"), KEYS.items(), ids=KEYS)
def test_what_is_said_of_a_key(path, said):
    found = describe(path)
    assert (found.path, (found.type, found.required, found.default, found.allowed, found.keys)) == (path, said)
    assert found.doc == " ".join(found.doc.split())


def test_what_is_said_of_a_kind():
    found = describe("drift")
    assert (found.type, found.required, found.default) == ("a document", True, None)
    assert found.keys[:2] == ("spec", "name")
    assert about_kinds()["drift"] == (
        "when the world changes from outside, what is drawn, and what it does to the state."
    )
    assert [about for about in about_kinds().values() if not about] == []
    assert kinds_with_start() == tuple(about_kinds())


def refused(call, *args, **named):
    with pytest.raises(Rejected) as caught:
        call(*args, **named)
    (finding,) = caught.value.diagnostics
    return finding.code, finding.message, finding.hint


ABSENT = {
    "scenaro": ("there is no kind `scenaro` in `scenaro`", "did you mean `scenario`?"),
    "scenario.sed": ("there is no key `sed` in `scenario.sed`", "did you mean `seed`?"),
    "scenario.name.x": ("there is no key `x` in `scenario.name.x`", "nothing is below it"),
    "governor.gates.dny": ("there is no key `dny` in `governor.gates.dny`", "did you mean `deny`?"),
    "governor.gates.zzz": ("there is no key `zzz` in `governor.gates.zzz`", f"there is {', '.join(GATE)}"),
    "world.state.x.y": ("there is no key `y` in `world.state.x.y`", f"there is {', '.join(TYPES)}"),
}


@pytest.mark.parametrize(("path", "said"), ABSENT.items(), ids=ABSENT)
def test_a_key_that_there_is_not_comes_with_a_near_one_or_with_all(path, said):
    assert refused(describe, path) == ("E_EXPLAIN_PATH", *said)


def test_keys_of_a_name_are_told_of_each_kind_that_has_it():
    assert [key.path for key in keys_named("gates")] == ["governor.gates"]
    assert [key.path for key in keys_named("observe")] == ["world.observe"]
    assert [key.path.partition(".")[2] for key in keys_named("doc")] == ["doc"] * len(about_kinds())
    assert keys_named("zzz") == []


NO_START: dict[str, tuple[tuple[Any, ...], dict[str, Any], tuple[str, str, Any]]] = {
    "a kind like another one": (
        ("scenaro",),
        {},
        ("E_NEW_KIND", "there is no kind scenaro", "did you mean `scenario`?"),
    ),
    "a kind like none": (
        ("zzz",),
        {},
        ("E_NEW_KIND", "there is no kind zzz", f"there is {', '.join(about_kinds())}"),
    ),
    "a name that is none": (
        ("drift", "a b"),
        {},
        ("E_NEW_NAME", "'a b' is no name", "for instance `my-first-one`"),
    ),
    "a name that is too long": (
        ("drift", "a" * 81),
        {},
        ("E_NEW_NAME", f"{'a' * 81!r} is no name", "for instance `my-first-one`"),
    ),
}


@pytest.mark.parametrize(("args", "named", "said"), NO_START.values(), ids=NO_START)
def test_a_first_spec_that_cannot_be_written(tmp_path, monkeypatch, args, named, said):
    monkeypatch.chdir(tmp_path)
    assert refused(write_new, *args, **named) == said
    assert list(tmp_path.iterdir()) == []


def test_a_first_spec_is_written_once_and_in_yaml(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "a" * 80
    written = write_new("drift", name)
    assert written.as_posix() == f"{name}.yaml"
    assert f"\nname: {name}\n" in written.read_text(encoding="utf-8")
    said = f"nothing is written over a file: name another one, such as --out {name}-2.yaml"
    assert refused(write_new, "drift", name) == ("E_NEW_EXISTS", f"{name}.yaml exists", said)
    out = tmp_path / "own.txt"
    assert refused(write_new, "drift", out=out) == ("E_NEW_NAME", f"{out} is no YAML file", "own.txt.yaml")
    (tmp_path / "specs").mkdir()
    assert write_new("drift", "b").as_posix() == "specs/drift/b.yaml"
    assert write_new("drift", out=tmp_path / "x" / "c.yml").read_text(encoding="utf-8").count("\nname: c\n") == 1
