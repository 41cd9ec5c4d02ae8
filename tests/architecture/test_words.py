"""Names are plain words, and what a user reads uses no term of a source document without an explanation beside it.

A source document is one that a shipped system was built from. Its terms belong in `docs/names.md`, `docs/profiles.md` and
the profiles.
"""

import ast
import io
import re
import tokenize
from collections import Counter

import pytest
import yaml

MOST = {"found": 343, "one": 244, "each": 152, "place": 333, "made": 85, "held": 55, "told": 26}
"""Identifiers that say little, and how often each may occur in `engine` and `tools`."""

EXPLAINED = {
    "a source document as `the seed`": (
        r"\b[tT]he seed's|\b[oO]f the seed with\b|\b[tT]he seed (?:says|asks|states)\b",
        None,
    ),
    "a source document as `the document`": (r"\b[tT]he document's (?:own|agent|example|gates|schedule)\b", None),
    "a milestone by its number": (r"\bM4\b", r"\bits milestone M4\b|\bthe milestone M4 of\b"),
    "an invariant by its number": (r"\bI[0-9]\b", r"\bI[0-9] of toy_pseudo_axion\b"),
    "the admissible set by its letter": (r"\bK\b", r"\badmissible set K\b|\*K\* is the set of states"),
    "a probe by its number": (r"\bP5['\u2032]", r"\b[cC]hallenge of stated causes\b"),
}
"""A term and what must stand in the same text, if the term may occur at all."""

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

TEXTS = {"doc", "message", "says", "text", "question", "hint"}
"""Keys of specs whose values are for people."""

ABOUT_DOCUMENTS = {"names.md", "profiles.md", "kernel.md"}
"""Pages that are about the source documents; that of the kernel has the commands of one, which take its terms."""


def identifiers(text):
    return (
        token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.NAME
    )


def unexplained(text):
    """The terms of a text that need an explanation and have none."""
    return sorted(
        name
        for name, (term, explanation) in EXPLAINED.items()
        if re.search(term, text) and not (explanation and re.search(explanation, text))
    )


def texts_in(value):
    """The texts for people in a spec."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key in TEXTS and isinstance(member, str):
                yield member
            else:
                yield from texts_in(member)
    elif isinstance(value, list):
        for member in value:
            yield from texts_in(member)


def messages_of(text):
    """The strings of a module that are more than a word, without docstrings but those of commands."""
    tree = ast.parse(text)
    silent = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            silent.add(id(node.value))
    for node in ast.walk(tree) if "Annotated" in text else ():
        if isinstance(node, ast.FunctionDef) and any(
            "Annotated" in ast.dump(parameter) for parameter in node.args.args
        ):
            silent.discard(id(getattr(node.body[0], "value", None)))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and " " in node.value
            and id(node) not in silent
        ):
            yield node.value


def prose(text):
    """A page without its examples."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))


def test_identifiers_that_say_little_are_few(root):
    counts: Counter[str] = Counter()
    for folder in ("engine", "tools"):
        for path in (root / folder).rglob("*.py"):
            counts.update(identifiers(path.read_text(encoding="utf-8")))
    assert {name: counts[name] for name, most in MOST.items() if counts[name] > most} == {}
    assert counts["self"] > 1000


def test_specs_explain_their_terms(root):
    texts = {
        path.relative_to(root).as_posix(): " ".join(texts_in(yaml.load(path.read_bytes(), LOADER)))
        for path in (root / "specs").rglob("*.yaml")
        if path.parent.name != "profile"
    }
    assert sum(map(len, texts.values())) > 20_000
    assert {path: terms for path, text in texts.items() if (terms := unexplained(text))} == {}


def test_messages_and_helps_explain_their_terms(sources):
    texts = [(path, message) for path, text in sources.items() for message in messages_of(text)]
    assert len(texts) > 2_000
    assert [(path, message) for path, message in texts if unexplained(message)] == []


def test_pages_explain_their_terms(root):
    pages = {path.name: path for path in (*root.glob("docs/*.md"), root / "README.md", root / "CHANGELOG.md")}
    assert len(pages) > 20
    assert {
        name: terms
        for name, path in pages.items()
        if name not in ABOUT_DOCUMENTS and (terms := unexplained(prose(path.read_text(encoding="utf-8"))))
    } == {}


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("The seed's open room.", "a source document as `the seed`"),
        ("the document's own agent", "a source document as `the document`"),
        ("the thresholds of M4", "a milestone by its number"),
        ("I0, the trace is what its commitment says", "an invariant by its number"),
        ("the state lies in K", "the admissible set by its letter"),
        ("fails P5' in 60 %", "a probe by its number"),
    ],
)
def test_a_term_without_an_explanation_is_noticed(text, term):
    assert unexplained(text) == [term]


@pytest.mark.parametrize(
    "text",
    [
        "A maze drawn from the seed.",
        "The document lacks the key `name`.",
        "the thresholds of toy_pseudo_axion (its milestone M4)",
        "the state stays in the admissible set K",
        "The challenge of stated causes (P5') for agents that draw",
    ],
)
def test_an_explained_term_and_an_ordinary_word_are_not(text):
    assert unexplained(text) == []


def test_help_texts_of_commands_are_read():
    command = 'def run(a: Annotated[int, typer.Option(help="the seed\'s rule")]):\n    """As M4 asks."""\n'
    assert set(messages_of(command)) == {"the seed's rule", "As M4 asks."}
    assert list(messages_of('def run():\n    """As M4 asks."""\n')) == []
