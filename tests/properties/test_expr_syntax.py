"""Text and tree say the same: what is written is read back, and the reference engine reads the same tree."""

import struct
from functools import cache

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import parse
from specledger.expr.check.environment import RESERVED
from specledger.expr.limits import INT_MAX, INT_MIN
from specledger.expr.parse.lexer import Problem, tokenize
from specledger.expr.parse.syntax import (
    Ast,
    Binary,
    Call,
    Conditional,
    Has,
    Index,
    ListLiteral,
    Literal,
    Logical,
    Macro,
    MapLiteral,
    Name,
    Node,
    Select,
    Unary,
)
from specledger.expr.unparse import to_cel
from tests.conftest import examples

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
names = st.sampled_from(["a", "b", "x1", "_y", "size", "e3", "inn", "trues"])
keys = names | st.sampled_from([*sorted(RESERVED - {"in", "true", "false", "null"}), "a-b", "a.b", "/v1/x y"])
literals = st.builds(
    Literal,
    value=st.none()
    | st.booleans()
    | st.integers(INT_MIN, INT_MAX)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
)
leaves = literals | st.builds(Name, name=names)


def branches(nodes):
    some = st.lists(nodes, max_size=3).map(tuple)
    several = st.lists(nodes, min_size=2, max_size=4).map(tuple)
    return st.one_of(
        st.builds(Select, operand=nodes, key=keys),
        st.builds(Has, operand=nodes, key=keys),
        st.builds(Index, operand=nodes, index=nodes),
        st.builds(Unary, operator=st.sampled_from("!-"), operand=nodes),
        st.builds(Binary, operator=st.sampled_from([*"+-*/%<>", "==", "!=", "<=", ">=", "in"]), left=nodes, right=nodes),
        st.builds(Logical, operator=st.sampled_from(["&&", "||"]), operands=several),
        st.builds(Conditional, condition=nodes, then=nodes, otherwise=nodes),
        st.builds(Call, function=names, target=st.none() | nodes, args=some),
        st.builds(ListLiteral, items=some),
        st.builds(MapLiteral, entries=st.lists(st.tuples(nodes, nodes), max_size=3).map(tuple)),
        st.builds(Macro, kind=st.sampled_from(["all", "exists", "exists_one", "filter", "map"]), target=nodes,
                  variable=names, body=nodes),
        st.builds(Macro, kind=st.just("map"), target=nodes, variable=names, body=nodes, condition=nodes),
    )  # fmt: skip


trees = st.recursive(leaves, branches, max_leaves=14)


def read(text):
    diagnostics = Diagnostics()
    return parse(Text.inline(text), diagnostics), diagnostics.sorted()


@pytest.mark.medium
@settings(max_examples=examples(200))
@given(trees)
def test_a_written_tree_is_read_back(tree):
    text = to_cel(Ast(tree, Text.inline("")))
    found, wrong = read(text)
    if found is None:
        assert {each.code for each in wrong} == {"E_EXPR_LIMIT"}
        return
    assert found.root == tree, text
    assert as_json(found.root) == as_json(tree)
    assert to_cel(found) == text


@pytest.mark.medium
@settings(max_examples=examples(200))
@given(trees)
def test_places_lie_inside_each_other(tree):
    text = to_cel(Ast(tree, Text.inline("")))
    found, _ = read(text)
    if found is None:
        return
    from specledger.expr.parse.syntax import children

    waiting = [found.root]
    assert (found.root.start, found.root.end) <= (len(text), len(text))
    while waiting:
        node = waiting.pop()
        assert 0 <= node.start < node.end <= len(text)
        for child in children(node):
            assert node.start <= child.start
            assert child.end <= node.end
            waiting.append(child)


SCRAPS = st.sampled_from(
    ["(", ")", "[", "]", "{", "}", ".", ",", "?", ":", "&&", "||", "!", "-", "+", "in", "a", "1", "1u", "'x'", '"', "'''",
     "\\", "r'", "b'", "has(", ".all(x,", "0x", "1e5", "//", "\n", "`", "😀", "\x00", "\ud800", " ", "for", "true", "=="]
)  # fmt: skip


@settings(max_examples=examples(200))
@given(st.lists(SCRAPS, max_size=30).map("".join) | st.text(max_size=40))
def test_any_text_is_a_tree_or_a_finding_inside_it(text):
    found, wrong = read(text)
    assert (found is None) == bool(wrong)
    lines = text.split("\n")
    for each in wrong:
        assert each.code in ("E_EXPR_SYNTAX", "E_EXPR_OUTSIDE_PROFILE", "E_EXPR_LIMIT", "E_EXPR_ARGUMENTS")
        assert 1 <= each.span.start.line <= len(lines)
        assert each.span.start.column <= len(lines[each.span.start.line - 1]) + 1


@given(texts)
def test_a_written_string_is_one_token(value):
    text = to_cel(Ast(Literal(value), Text.inline("")))
    assert text.isascii()
    assert [token.value for token in tokenize(text)] == [value, ""]


@given(st.text(max_size=30))
def test_tokens_do_not_overlap(text):
    try:
        tokens = tokenize(text)
    except Problem:
        return
    ends = [0, *(token.end for token in tokens)]
    assert all(end <= token.start for end, token in zip(ends, tokens, strict=False))


# ---- the reference parser


@cache
def reference():
    cel = pytest.importorskip("cel_expr_python.cel", reason="the reference engine (extra `judge`) is not installed")
    return cel.NewEnv()


def fields(data):
    """Each (number, value) of a protocol buffer's wire format."""
    at, found = 0, []

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            found.append((tag >> 3, varint()))
            continue
        length = varint() if tag & 7 == 2 else {1: 8, 5: 4}[tag & 7]
        found.append((tag >> 3, data[at : at + length]))
        at += length
    return found


def as_json(part):
    """A tree without places: `[kind, parts...]`; a literal is `["literal", type, value]`."""
    if isinstance(part, Literal):
        return ["literal", "null" if part.value is None else type(part.value).__name__, part.value]
    if isinstance(part, Node):
        return [type(part).__name__.lower(), *map(as_json, part.parts)]
    return [as_json(each) for each in part] if isinstance(part, tuple) else part


def reference_tree(text):
    """The reference parser's tree in the form of `as_json`; None where its own bounds refuse the text."""
    try:
        serialized = reference().compile(text, disable_check=True).serialize()
    except RuntimeError as error:
        if "recursion" in str(error) or "duplicate key" in str(error):
            return None
        raise
    envelope = dict(fields(serialized))
    parsed = dict(fields(envelope[2]))
    return node_of(parsed[4] if envelope[1].endswith(b"CheckedExpr") else parsed[2])


def node_of(data):
    for number, value in fields(data):
        if number != 2:
            return NODES[number](fields(value))
    raise AssertionError("an empty node")


def constant(parts):
    number, value = parts[0]
    if number == 3:
        value = value - 2**64 if value >= 2**63 else value
    kind = {1: "null", 2: "bool", 3: "int", 5: "float", 6: "str"}[number]
    decode: dict = {1: lambda _: None, 2: bool, 3: int, 5: lambda v: struct.unpack("<d", v)[0], 6: bytes.decode}
    return ["literal", kind, decode[number](value)]


def all_of(parts, number):
    return [node_of(value) for key, value in parts if key == number]


def select(parts):
    found = dict(parts)
    return ["has" if found.get(3) else "select", node_of(found[1]), found[2].decode()]


OPERATORS = {f"_{name}_": name for name in [*"+-*/%<>", "==", "!=", "<=", ">="]} | {"@in": "in"}


def call(parts):
    name = dict(parts)[2].decode()
    args = all_of(parts, 3)
    if name in OPERATORS:
        return ["binary", OPERATORS[name], *args]
    if name in ("-_", "!_"):
        return ["unary", name[0], *args]
    if name in ("_&&_", "_||_"):
        return ["logical", name[1:3], args]
    if name == "_?_:_":
        return ["conditional", *args]
    if name == "_[_]":
        return ["index", *args]
    return ["call", name, (all_of(parts, 1) or [None])[0], args]


def entries(parts):
    pairs = [fields(value) for number, value in parts if number == 2]
    return ["mapliteral", [[node_of(dict(pair)[3]), node_of(dict(pair)[4])] for pair in pairs]]


def macro(parts):
    found = dict(parts)
    variable, target, step = found[1].decode(), node_of(found[2]), node_of(found[6])
    if step[0] == "logical":
        return ["macro", {"||": "exists", "&&": "all"}[step[1]], target, variable, step[2][1], None]
    condition = None
    if step[0] == "conditional":
        condition, step = step[1], step[2]
    if node_of(found[7])[0] == "binary":
        return ["macro", "exists_one", target, variable, condition, None]
    body = step[3][1][0]
    if condition is not None and body == ["name", variable]:
        return ["macro", "filter", target, variable, condition, None]
    return ["macro", "map", target, variable, body, condition]


NODES = {
    3: constant,
    4: lambda parts: ["name", dict(parts)[1].decode()],
    5: select,
    6: call,
    7: lambda parts: ["listliteral", all_of(parts, 1)],
    8: entries,
    9: macro,
}


def common(tree):
    """A tree with chains of `&&` and `||` flattened and `map(x, c, x)` as the `filter` that it is."""
    if not isinstance(tree, list):
        return tree
    tree = [common(part) for part in tree]
    if tree[:1] == ["logical"]:
        flat: list = []
        for operand in tree[2]:
            flat += operand[2] if operand[:2] == tree[:2] else [operand]
        return ["logical", tree[1], flat]
    if tree[:2] == ["macro", "map"] and tree[5] is not None and tree[4] == ["name", tree[3]]:
        return ["macro", "filter", *tree[2:4], tree[5], None]
    return tree


@pytest.mark.medium
@settings(max_examples=examples(200))
@given(trees)
def test_the_reference_parser_reads_the_same_tree(tree):
    text = to_cel(Ast(tree, Text.inline("")))
    found, _ = read(text)
    wanted = reference_tree(text) if found else None
    event("compared" if wanted else "beyond a bound")
    if found and wanted:
        assert repr(common(as_json(found.root))) == repr(common(wanted)), text
