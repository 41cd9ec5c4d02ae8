"""Names and texts of a spec never become code: whatever they are, generated source holds only what it may."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import DYN, INT, Ast, Emitter, Environment, MapType, check, evaluate
from specledger.expr.generate.ast_allowlist import NotSealed, seal
from specledger.expr.generate.source import BUILTINS
from specledger.expr.parse.syntax import Binary, Index, ListLiteral, Literal, MapLiteral, Name, Select
from specledger.expr.unparse import to_cel
from tests.conftest import examples

EVIL = st.sampled_from(
    [
        "__import__('os').system('x')", "'", '"', "\\", "\n", "')\nimport os\n('", '"""', "{0.__class__}", "%s", "#", "\x00",
        "__class__", "{", "}", "}}", "f'{1}'", "lambda: 1", "a;b", "\u2028", "é", "\ud800", "]", ")", "v1", "g1", "f1(", "\\N{DASH}",
    ]
)  # fmt: skip
texts = st.text(max_size=20) | st.lists(EVIL, min_size=1, max_size=4).map("".join)


@given(texts)
def test_a_text_is_a_constant(text):
    emitter = Emitter()
    name = emitter.function("f", [], [f"return {emitter.constant(text)}"])
    assert emitter.build()[name]() == text
    assert emitter.source.isascii()


@given(texts)
def test_a_hint_becomes_a_harmless_name(hint):
    emitter = Emitter()
    local = emitter.local(hint)
    name = emitter.function(hint, [local], [f"return {local}"])
    bound = emitter.bind(object(), hint)
    assert emitter.build()[name](7) == 7
    for each in (local, name, bound):
        assert each.isascii()
        assert each.isidentifier()
        assert "__" not in each
        assert each not in BUILTINS


@pytest.mark.medium
@settings(max_examples=examples(150))
@given(texts.filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text)), texts)
def test_strings_and_keys_of_expressions_stay_data(text, key):
    """A string, a key of a map, a field and an index made of hostile text are evaluated as themselves."""
    pair = MapLiteral(((Literal(text), Literal(1)), (Literal(text + "."), Name("i"))))
    tree = ListLiteral((Binary("+", Literal(text), Literal("!")), Literal(text)))
    for root in (Index(pair, Literal(text)), Select(pair, text), tree, Select(Name("m"), text)):
        checked = check(Ast(root, Text.inline("")), Environment({"i": INT, "m": MapType(DYN)}), Diagnostics())
        assert checked is not None
        emitter = Emitter()
        names = {name: emitter.local(name) for name in sorted(checked.variables)}
        values = {"i": 5, "m": {text: key}}
        name = emitter.function("f", list(names.values()), [f"return {emitter.expression(checked, names)}"])
        found = emitter.build()[name](*(values[each] for each in names))
        assert found == evaluate(checked, values)
        assert to_cel(checked).isascii()


LINES = st.lists(st.sampled_from(
    ["return v1", "v1 = 1", "import os", "x = 1", "for v1 in []:", "    pass", "if v1:", "eval('1')", "v1.__class__", "v1.append(1)",
     "v1.format", "lambda: 1", "try:", "except Exception:", "def g(): pass", "global v1", "[v1 for v1 in [1]]", "(yield)", "@v1", "..."]
), min_size=1, max_size=5)  # fmt: skip


@pytest.mark.medium
@settings(max_examples=examples(300))
@given(LINES)
def test_what_passes_the_seal_reads_only_known_names(lines):
    text = "def f1(v1):\n" + "\n".join("    " + line for line in lines)
    names = {"f1", "v1", *BUILTINS}
    try:
        tree = seal(text, names)
    except NotSealed:
        return
    for node in ast.walk(tree):
        assert not isinstance(node, ast.Import | ast.ImportFrom | ast.Lambda | ast.Global | ast.Yield | ast.ClassDef)
        if isinstance(node, ast.Name):
            assert node.id in names
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_")
