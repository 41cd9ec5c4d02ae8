"""Generated code is cached by all that determines it; bound objects are not."""

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import INT, Emitter, Environment, EvaluationError, ListType, check, compile_function, evaluate
from specledger.expr.parse.parser import _tree

TABLE = Environment(variables={"i": INT, "rows": ListType(ListType(INT))})


def checked(text):
    diagnostics = Diagnostics()
    found = check(Text.inline(text), TABLE, diagnostics)
    diagnostics.raise_if_errors()
    return found


def lookup(table):
    """A function that reads a table which is bound, not written."""

    def compose(emitter):
        local = emitter.local("i")
        return emitter.function("read", [local], [f"return {emitter.bind(table)}[{local}]"])

    return compile_function(compose)


def test_equal_modules_share_code_and_no_object():
    one, other = lookup([1, 2]), lookup([3, 4])
    assert one.__code__ is other.__code__
    assert (one(1), other(1), one(0)) == (2, 4, 1)


def test_the_slower_function_of_a_module_is_its_own():
    def broken(answer):
        emitter = Emitter(sized=True)
        local = emitter.local("i")
        name = emitter.function("read", [local], [f"return {emitter.constant([])}[{local}]"])
        return emitter.build({name: lambda _: answer})[name]

    one, other = broken("one"), broken("other")
    assert one.__code__ is other.__code__
    assert (one(0), other(0), one(7)) == ("one", "other", "one")


@pytest.mark.parametrize("rows", [[[1, 2]], [[1], [2]], [[1]], [[0] * 9] * 9])
def test_other_sizes_are_expected_by_other_code(rows):
    total = checked("rows[0][0] + i")

    def compose(emitter):
        table, local = emitter.local("rows"), emitter.local("i")
        emitter.expect(table, rows)
        names = {"rows": table, "i": local}
        return emitter.function("total", [table, local], [f"return {emitter.expression(total, names)}"])

    made = compile_function(compose)
    for table in ([[5]], [[6, 7], [8, 9]], rows):
        assert made(table, 1) == table[0][0] + 1


def test_a_text_has_one_tree_but_places_of_its_own():
    one, other = Text.inline("i +", "one.yaml"), Text.inline("i +", "other.yaml")
    found = Diagnostics()
    for text in (one, other, one):
        assert check(text, TABLE, found) is None
    assert {str(finding.span).partition(":")[0] for finding in found.sorted()} == {"one.yaml", "other.yaml"}
    assert checked("i + 1").root is not checked("i + 1").root


def test_what_is_long_is_not_kept_for_the_next_one():
    """A cache counts what it keeps, not how large that is."""
    long = " + ".join(f"i * {number}" for number in range(30)) + " " * 400
    for text, kept in (("i * 17 + 4", 1), (long, 0)):
        _tree.cache_clear()
        checked(text)
        assert _tree.cache_info().currsize == kept


def test_of_a_module_that_grows_too_long_the_rest_is_evaluated_exactly(monkeypatch):
    """The values and the errors are the same; no more is written."""
    parts = [checked(f"i + {number}") for number in range(40)]
    sizes = []

    def compose(emitter):
        local = emitter.local("i")
        values = ", ".join(emitter.expression(part, {"i": local}) for part in parts)
        sizes.append(emitter.size)
        return emitter.function("all", [local], [f"return [{values}]"])

    whole = compile_function(compose)
    monkeypatch.setattr("specledger.expr.generate.emitter.MOST_SOURCE", 100)
    cut = compile_function(compose)
    assert whole(5) == cut(5) == list(range(5, 45))
    assert sizes[0] > 1000 > sizes[1] > 100
    for made in (whole, cut):
        with pytest.raises(EvaluationError):
            made(2**63 - 1)


@pytest.mark.parametrize("count", [16, 17, 200])
def test_a_long_list_of_constants_is_an_object_of_the_module(count):
    numbers = list(range(3, 3 + count))
    found = checked(f"i in {numbers} ? {numbers} : [i, i]")

    def compose(emitter):
        local = emitter.local("i")
        lines = [f"return {emitter.expression(found, {'i': local})}"]
        texts.append(lines[0])
        return emitter.function("one", [local], lines)

    texts: list[str] = []
    made = compile_function(compose)
    assert (", 17" in texts[0]) == (count == 16)
    for value in (2, 3, 3 + count - 1, 3 + count):
        assert made(value) == evaluate(found, {"i": value}) == (numbers if value in numbers else [value, value])
