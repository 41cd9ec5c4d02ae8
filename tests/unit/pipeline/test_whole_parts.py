"""Findings about a folder as a whole, and guesses about specs that others use, by hand-made specs and findings."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.compile.standalone import W_EXPR_MISSPELT
from specledger.core.diagnostics import Diagnostic, Rejected, Severity
from specledger.core.spans import Position, Span
from specledger.pipeline import guesses, whole
from specledger.pipeline.whole import Whole, among_specs

PLACES = {
    "a spec of its kind": ("/p/specs/world/a.yaml", True),
    "no kind": ("/p/specs/wrld/a.yaml", False),
    "another folder above": ("/p/spec/world/a.yaml", False),
    "deeper": ("/p/specs/world/x/a.yaml", False),
    "without specs": ("/world/a.yaml", False),
    "at the root": ("/a.yaml", False),
}


@pytest.mark.parametrize(("file", "among"), PLACES.values(), ids=PLACES)
def test_which_files_a_name_finds(file, among):
    assert among_specs(file) is among


def at(file, line=1):
    return Span(file, Position(line, 1), Position(line, 2))


def spec(file, kind="world", name="a", refs: Any = (), **data) -> Any:
    """A spec as it is added; each of its constants and functions has a line of its own."""
    lines: dict[tuple[str, ...], int] = {("name",): 1}
    for section in ("constants", "functions"):
        for key in data.get(section) or ():
            lines[section, key] = len(lines) + 1
    return SimpleNamespace(
        kind=kind,
        name=name,
        key=f"{kind}/{name}@1",
        data=data,
        refs=dict(enumerate(refs)),
        origins={(): SimpleNamespace(place=SimpleNamespace(source=SimpleNamespace(file=file)))},
        span=lambda *path: at(file, lines[path]),
    )


def bundle(main, *others) -> Any:
    return SimpleNamespace(
        main=main, case="", digest="d", root=main.key, specs={each.key: each for each in (main, *others)}
    )


def told(found):
    return [
        (f.code, f.message, f.hint, None if f.span is None else f"{f.span.file}:{f.span.start.line}") for f in found
    ]


def found(*added, skipped=(), complete=True, targets=("f",)):
    made = Whole(targets, skipped)
    for file, given in added:
        made.add(file, given, typed=True)
    findings = list(made.findings(complete=complete))
    assert {finding.severity for finding in findings} <= {Severity.WARNING}
    return told(findings)


HEADLESS = {
    "of a kind": ("/p/specs/world/a.yaml", "world"),
    "of a kind, in a folder": ("/p/specs/world/ponds/a.yaml", "world"),
    "of no kind": ("/p/specs/a.yaml", "KIND"),
    "specs of specs": ("/p/specs/x/specs/agent/a.yaml", "agent"),
    "of what is no kind": ("/p/specs/texts/a.yaml", None),
    "elsewhere": ("/p/notes.yaml", None),
}


@pytest.mark.parametrize(("file", "kind"), HEADLESS.values(), ids=HEADLESS)
def test_a_file_among_specs_without_a_head_is_told(file, kind):
    told_of = (
        "W_FOLDER_HEAD",
        f"{file} has no `spec:`, so nothing reads it",
        f"begin with `spec: {kind}/v1`, or move it out of `specs`",
        None,
    )
    assert found(skipped=[file]) == ([] if kind is None else [told_of])


def named(file, name, kind="world"):
    return file, bundle(spec(file, kind, name))


HINT = "write `name: a`, or rename the file"
A, B = "/p/specs/world/a.yaml", "/p/specs/world/b.yaml"
NAMES: dict[str, tuple[list[Any], list[Any]]] = {
    "as its file": ([named(A, "a")], []),
    "otherwise": (
        [named(A, "x")],
        [("W_FOLDER_NAME", "this world is found by the name of its file, a", HINT, f"{A}:1")],
    ),
    "otherwise, elsewhere": ([named("/p/a.yaml", "x")], []),
    "as another file": (
        [named(A, "a"), named(B, "a")],
        [("W_FOLDER_TWICE", f"another world has this name: {A}", "rename one of them", f"{B}:1")],
    ),
    "as another file that is not called so": (
        [named(A, "b"), named(B, "b")],
        [("W_FOLDER_TWICE", f"another world has this name: {B}", "rename one of them", f"{A}:1")],
    ),
    "in two files of two endings": (
        [named(A, "a"), named("/p/specs/world/a.yml", "a")],
        [("W_FOLDER_TWICE", f"another world has this name: {A}", "rename one of them", "/p/specs/world/a.yml:1")],
    ),
    "of another kind": ([named(A, "a"), named("/p/specs/agent/a.yaml", "a", "agent")], []),
    "two cases of one file": ([named(A, "a"), named(A, "a")], []),
}


@pytest.mark.parametrize(("added", "findings"), NAMES.values(), ids=NAMES)
def test_a_spec_is_called_as_its_file(added, findings):
    assert found(*added) == findings


CONSTANTS = {"A": 1, "B": 2}
UNUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all are read": ({"constants": CONSTANTS, "let": {"x": "A + B"}}, []),
    "one is not": ({"constants": CONSTANTS, "let": {"x": "A + AB"}}, ["constant `B`"]),
    "a function is not": ({"functions": {"near": {"is": "1"}}, "constants": {"A": 1}, "x": "A"}, ["function `near`"]),
    "a word of its doc": ({"constants": {"A": 1}, "doc": "A"}, ["constant `A`"]),
    "a word of its metadata": ({"constants": {"A": 1}, "metadata": {"x": "A"}}, ["constant `A`"]),
    "in a list": ({"constants": {"A": 1}, "gates": [{"deny": "x > A"}]}, []),
    "as a key alone": ({"constants": {"A": 1}, "let": {"A": "1"}}, ["constant `A`"]),
    "none at all": ({"constants": None}, []),
}


@pytest.mark.parametrize(("data", "names"), UNUSED.values(), ids=UNUSED)
def test_what_nothing_reads_is_told_of_targets_in_a_complete_check(data, names):
    given = bundle(spec("f", **data))
    assert [(code, message, hint) for code, message, hint, _ in found(("f", given))] == [
        ("W_FOLDER_UNUSED", f"nothing reads the {name}", "remove it") for name in names
    ]
    assert found(("f", given), complete=False) == []
    assert found(("f", given), targets=("g",)) == []


def test_what_another_spec_reads_is_used():
    library = spec("f", "library", "l", constants=CONSTANTS)
    assert found(("g", bundle(spec("g", x="A + B"), library))) == []
    assert [message for _, message, *_ in found(("g", bundle(spec("g", x="A"), library)))] == [
        "nothing reads the constant `B`"
    ]


def test_of_many_definitions_the_first_are_noted(monkeypatch):
    monkeypatch.setattr(whole, "_MOST_DEFINITIONS", 2)
    given = bundle(spec("f", constants={"A": 1, "B": 2, "C": 3}))
    assert [message for _, message, *_ in found(("f", given))] == [
        "nothing reads the constant `A`",
        "nothing reads the constant `B`",
    ]


RULE = "/p/specs/invariant/few.yaml"


def test_a_rule_that_no_spec_refers_to_has_no_effect():
    rule = spec(RULE, "invariant", "few")
    said = (
        "W_FOLDER_UNUSED",
        "no spec that was checked refers to this invariant",
        "name it under `invariants` of a scenario",
        f"{RULE}:1",
    )
    assert found((RULE, bundle(rule))) == [said]
    user = spec("g", "scenario", "s", refs=[rule.key])
    assert found((RULE, bundle(rule)), ("g", bundle(user, rule))) == []
    assert found(("/p/few.yaml", bundle(spec("/p/few.yaml", "invariant", "few")))) == []
    assert found((RULE, bundle(rule)), complete=False) == []
    assert found((A, bundle(spec(A)))) == []


def test_a_spec_that_another_one_refers_to_is_known_with_its_arguments(monkeypatch):
    monkeypatch.setattr(whole, "gather", lambda key, specs: bundle(specs[key]))
    part = spec("part.yaml", "drift", "push")
    made = Whole()
    made.add("main.yaml", bundle(spec("main.yaml"), part), typed=False)
    assert made.with_arguments("part.yaml") is None
    made.add("main.yaml", bundle(spec("main.yaml"), part), typed=True)
    used = made.with_arguments("part.yaml")
    assert used is not None
    assert (used.kind, used.name, used.key) == ("drift", "push", "drift/push@1")
    assert made.with_arguments("main.yaml") is None
    other = spec("part.yaml", "drift", "later")
    made.add("main.yaml", bundle(spec("main.yaml"), other), typed=True)
    assert made.with_arguments("part.yaml") == used


def guess(file="f", line=1):
    return Diagnostic(W_EXPR_MISSPELT, "perhaps", at(file, line), severity=Severity.WARNING)


def error(file="f", line=2, code="E_EXPR_TYPE"):
    return Diagnostic(code, "wrong", at(file, line))


def settled(findings, monkeypatch, *, used=(), users=(), judged=(), targets=("f",)):
    asked = []

    def check(files):
        asked.append(files)
        return judged

    monkeypatch.setattr(guesses, "_users", lambda file: iter(users))
    known: Any = SimpleNamespace(with_arguments=lambda file: "used" if file in used else None)
    kept, wrong = guesses.settle(findings, targets, known, check)
    return list(kept), wrong, asked


GUESS, OTHER, ERROR = guess(), guess("g", 3), error()
# Findings, who uses the file, what a check with these finds, and what is kept, which files are wrong, what is checked.
SETTLED: dict[str, tuple[Any, ...]] = {
    "nobody uses it": ([GUESS, ERROR], {}, [GUESS, ERROR], set(), []),
    "a target uses it": ([GUESS, OTHER], {"used": ("f", "g")}, [], set(), []),
    "a spec of its folder does": ([GUESS], {"users": ("u", "f")}, [], set(), [["u", "f"]]),
    "it finds an error there": ([GUESS], {"users": ("u",), "judged": [ERROR]}, [ERROR], {"f"}, [["u", "f"]]),
    "it finds one elsewhere": ([GUESS], {"users": ("u",), "judged": [error("u")]}, [], set(), [["u", "f"]]),
    "it guesses again": ([GUESS], {"users": ("u",), "judged": [GUESS]}, [GUESS], set(), [["u", "f"]]),
    "it finds what is known": ([GUESS, ERROR], {"users": ("u",), "judged": [ERROR]}, [ERROR], {"f"}, [["u", "f"]]),
    "the users are targets": ([GUESS], {"users": ("u",), "targets": ("f", "u")}, [GUESS], set(), []),
    "an error stands at the guess": ([GUESS, error(line=1)], {}, [error(line=1)], set(), []),
    "an error of another file does not": ([GUESS, error("g", 1)], {}, [GUESS, error("g", 1)], set(), []),
}


@pytest.mark.parametrize(("findings", "given", "kept", "wrong", "asked"), SETTLED.values(), ids=SETTLED)
def test_guesses_give_way_to_what_specs_that_use_a_file_say(monkeypatch, findings, given, kept, wrong, asked):
    assert settled(findings, monkeypatch, **given) == (kept, wrong, asked)


def missing(line, declared):
    return Diagnostic("E_PARAM_MISSING", "no value", at("f", line), related=(("declared", at("f", declared)),))


def test_a_spec_alone_may_lack_the_values_of_its_own_parameters():
    own, others = missing(3, 3), missing(3, 4)
    assert guesses.without_missing(Rejected([own, others, ERROR])) == [others, ERROR]


def reserved(code, word="if", file="f", quote="`"):
    return Diagnostic(code, f"{quote}{word}{quote} is a reserved word of CEL", at(file))


TAKEN = reserved("E_NAME_TAKEN")
REPEATED: dict[str, tuple[list[Diagnostic], list[int]]] = {
    "the same word": ([TAKEN, reserved("E_EXPR_SYNTAX")], [0]),
    "in other quotes": ([TAKEN, reserved("E_EXPR_SYNTAX", quote="'")], [0]),
    "another word": ([TAKEN, reserved("E_EXPR_SYNTAX", "for")], [0, 1]),
    "in another file": ([TAKEN, reserved("E_EXPR_SYNTAX", file="g")], [0, 1]),
    "no declaration": ([reserved("E_EXPR_SYNTAX")], [0]),
    "another mistake": ([TAKEN, error(code="E_EXPR_SYNTAX")], [0, 1]),
    "a declaration of another name": ([error(code="E_NAME_TAKEN"), error(code="E_EXPR_SYNTAX")], [0, 1]),
}


@pytest.mark.parametrize(("findings", "kept"), REPEATED.values(), ids=REPEATED)
def test_an_expression_that_uses_a_refused_name_is_no_finding_of_its_own(findings, kept):
    assert list(guesses.without_repeated(findings)) == [findings[index] for index in kept]


ALONE = Rejected([missing(3, 3)])
# Who uses a file, which files are wrong, what a check with these finds, whether that gives it arguments: what is known.
USED: dict[str, tuple[dict[str, Any], Any, list[Diagnostic]]] = {
    "a target gives its arguments": ({"known": "used"}, "used", []),
    "nobody uses it": ({}, None, [*ALONE.diagnostics]),
    "who uses it is wrong": ({"users": ["u"], "wrong": {"u"}}, None, []),
    "a spec of its folder gives them": ({"users": ["u"], "later": "used"}, "used", []),
    "a spec of its folder gives them, with a warning": (
        {"users": ["u"], "later": "used", "found": [GUESS, OTHER]},
        "used",
        [GUESS],
    ),
    "what is there has an error": ({"users": ["u"], "later": "used", "found": [ERROR]}, None, [ERROR]),
    "an error elsewhere": ({"users": ["u"], "later": "used", "found": [error("u")]}, "used", []),
    "a spec of its folder gives none": ({"users": ["u"]}, None, [*ALONE.diagnostics]),
    "the user is a target": ({"users": ["u"], "targets": ["f", "u"]}, None, [*ALONE.diagnostics]),
}


@pytest.mark.parametrize(("given", "used", "findings"), USED.values(), ids=USED)
def test_a_spec_is_known_with_the_parameters_that_another_one_gives_it(monkeypatch, given, used, findings):
    monkeypatch.setattr(guesses, "_users", lambda file: iter(given.get("users", ())))
    monkeypatch.setattr(guesses, "Whole", lambda: SimpleNamespace(with_arguments=lambda file: given.get("later")))
    known: Any = SimpleNamespace(with_arguments=lambda file: given.get("known"))

    def check(files, whole):
        assert files == [*given["users"], "f"]
        return None, given.get("found", [])

    found = guesses.used_in("f", given.get("targets", ["f"]), given.get("wrong", set()), ALONE, known, check)
    assert (found[0], list(found[1])) == (used, findings)
