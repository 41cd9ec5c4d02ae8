"""Rewritten functions do what they did before, and do it once."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.expr.generate.numbering import shape_of
from specledger.expr.generate.sharing import share
from specledger.expr.generate.source import BUILTINS, Names
from tests.conftest import examples

LOCALS = ["a", "b", "c"]
RECORDS = ["r", "s"]


def overflow():
    raise OverflowError


def twice(value):
    return value * 2


def together(first, second):
    return first * 31 + second


def both(body, arguments, expected=None):
    """What a function returns as it is and rewritten, or the exception that it ends in; and the rewritten text."""
    text = "def f1(x, y, state):\n" + "\n".join(f"    {line}" for line in body) + "\n"
    bound = {"twice": twice, "together": together, "overflow": overflow}
    names = Names({"x", "y", "state", *LOCALS, *RECORDS}, ["f1"], set(bound), {"twice", "together"})
    names.expected |= {name: shape_of(value) for name, value in (expected or {}).items()}
    found, trees = [], [ast.parse(text), share(ast.parse(text), names)]
    for tree in trees:
        space = {"__builtins__": {}, **BUILTINS, **bound}
        exec(compile(ast.parse(ast.unparse(tree)), "<test>", "exec"), space)
        try:
            found.append(space["f1"](*arguments))
        except Exception as error:
            found.append(type(error))
    return found, ast.unparse(trees[1])


ATOMS = st.sampled_from(["x", "y", "1", "2", *LOCALS, "r['k']", "r['m']", "s['k']", "state['k']"])


def wider(inner):
    return st.one_of(
        st.builds("({} + {})".format, inner, inner),
        st.builds("twice({})".format, inner),
        st.builds("together({}, {})".format, inner, inner),
        st.builds("({} if {} > {} else {})".format, inner, inner, inner, inner),
        st.builds("(1 if ({} > 1 and {} > 0) else 0)".format, inner, inner),
    )


EXPRESSIONS = st.recursive(ATOMS, wider, max_leaves=6)


@st.composite
def checked(draw):
    name = f"n{draw(st.integers(0, 10**9))}"
    return f"({name} if ({name} := {draw(EXPRESSIONS)}) <= 999 else overflow())"


VALUES = EXPRESSIONS | checked()


def indented(lines):
    return [f"    {line}" for line in lines]


@st.composite
def blocks(draw, depth=2):
    lines = []
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(
            st.sampled_from(["set", "set", "store", "copy", "alias", "display", *(["if", "for"] * (depth > 0))])
        )
        if kind == "set":
            lines.append(f"{draw(st.sampled_from(LOCALS))} = {draw(VALUES)}")
        elif kind == "store":
            lines.append(f"{draw(st.sampled_from(RECORDS))}['{draw(st.sampled_from('km'))}'] = {draw(VALUES)}")
        elif kind == "copy":
            lines.append(f"{draw(st.sampled_from(RECORDS))} = {{**{draw(st.sampled_from([*RECORDS, 'state']))}}}")
        elif kind == "alias":
            lines.append("r = {**s}" if draw(st.booleans()) else "s = {**r, 'k': " + draw(VALUES) + "}")
        elif kind == "display":
            lines.append(f"s = {{'k': {draw(VALUES)}, 'm': {draw(VALUES)}}}")
        elif kind == "if":
            lines += [f"if {draw(EXPRESSIONS)} > 3:", *indented(draw(blocks(depth - 1)))]
            if draw(st.booleans()):
                lines += ["else:", *indented(draw(blocks(depth - 1)))]
        else:
            lines += [f"for {draw(st.sampled_from(LOCALS))} in (1, 2, 3):", *indented(draw(blocks(depth - 1)))]
    return lines


RETURNED = st.sampled_from(["a, b, c, r, s", "a, b, c", "a, r['k'], s['m']", "s['k']"])


@pytest.mark.medium
@settings(max_examples=examples(120))
@given(block=blocks(), x=st.integers(-3, 9), y=st.integers(-3, 9), returned=RETURNED)
def test_a_rewritten_function_returns_or_raises_the_same(block, x, y, returned):
    begin = ["a = 1", "b = 2", "c = 3", "r = {**state}", "r['k'] = 4", "s = {**state}"]
    whole = [*begin, *block, f"return [{returned}]"]
    state = {"k": 6, "m": 7}
    (before, after), _ = both(whole, (x, y, state))
    assert before == after
    assert state == {"k": 6, "m": 7}


ONCE = {
    "a call": (["a = twice(x)", "return [a, twice(x) + twice(y), twice(x)]"], 2),
    "what a record was given": (["r = {**state}", "r['k'] = twice(x)", "return together(r['k'], twice(x))"], 1),
}


@pytest.mark.parametrize(("body", "times"), ONCE.values(), ids=ONCE)
def test_what_is_known_is_not_computed_again(body, times):
    (before, after), text = both(body, (3, 4, {"k": 5}))
    assert before == after
    assert text.count("twice(") == times


DIFFERENT = {
    "after an assignment": ["a = x", "b = twice(a)", "a = y", "return [b, twice(a)]"],
    "after a store": ["r = {**state}", "b = twice(r['k'])", "r['k'] = y", "return [b, twice(r['k'])]"],
    "after a store through another name": ["r = {**state}", "s = r", "b = twice(s['k'])", "r['k'] = y", "return [b, twice(s['k'])]"],
    "after one branch of two": ["a = x", "if y > 3:", "    a = y", "return twice(a)"],
    "named where it was not evaluated": ["b = 0 if y > 3 else twice(x)", "return [b, twice(x)]"],
    "in the next round": ["r = {**state}", "b = []", "for c in (1, 2):", "    b.append(twice(r['k']))", "    r['k'] = c", "return b"],
}  # fmt: skip


@pytest.mark.parametrize("body", DIFFERENT.values(), ids=DIFFERENT)
def test_what_may_have_changed_is_computed_again(body):
    (before, after), text = both(body, (3, 4, {"k": 5}))
    assert before == after
    assert text.count("twice(") == "\n".join(body).count("twice(")


ABSENT = {
    "beside what is read": "{'k': x, 'm': state['o']}['k']",
    "beside a constant": "{'k': 1, 'm': state['o']}['k'] + y",
    "further inside": "{'k': {'k': x}, 'm': [state['o']]}['k']['k']",
    "in a sum of constants": "2 * {'k': 1, 'm': state['o']}['k']",
    "in a call that was made": "[twice(x), twice({'k': x, 'm': state['o']}['k'])]",
    "of a record inside": "{'k': x, 'm': state['o']['k']}['k']",
}


@pytest.mark.parametrize("read", ABSENT.values(), ids=ABSENT)
def test_a_record_with_a_field_that_is_absent_is_not_read(read):
    found, _ = both([f"return {read}"], (3, 4, {"k": 5}))
    assert found == [KeyError, KeyError]


def test_a_matrix_of_another_size_than_expected_ends_the_function():
    body = ["a = state['f']", "return a"]
    found, _ = both(body, (0, 0, {"f": [[1, 2, 3]]}), {"state": {"f": [[0, 0]]}})
    assert found == [[[1, 2, 3]], ValueError]
    assert both(body, (0, 0, {"f": [[1, 2]]}), {"state": {"f": [[0, 0]]}})[0] == [[[1, 2]]] * 2
