"""Generated modules: composed functions, fast and exact, and a door that lets nothing else through."""

import pytest

from specledger.core.spans import Text
from specledger.expr import (
    INT,
    STRING,
    Defined,
    Emitter,
    Environment,
    EvaluationError,
    IntType,
    ListType,
    Native,
    RecordType,
    Signature,
    compile_expression,
    compile_function,
    compile_functions,
    evaluate,
)
from specledger.expr.generate.ast_allowlist import NotSealed, seal

CELL = RecordType("cell", {"x": INT, "y": INT})
WORLD = Environment(
    variables={"position": CELL, "grid": ListType(ListType(INT)), "dir": STRING, "t": IntType(0, 1000)},
    constants={"WALL": (INT, 1)},
    functions={
        "offset": Defined(
            ("p", "d"), Text.inline("{'x': p.x + (d == 'E' ? 1 : d == 'W' ? -1 : 0), 'y': p.y + (d == 'S' ? 1 : 0)}")
        ),
        "inside": Defined(("p",), Text.inline("p.x >= 0 && p.y >= 0 && p.y < size(grid) && p.x < size(grid[0])")),
        "cell": Defined(("p",), Text.inline("inside(p) ? grid[p.y][p.x] : WALL")),
    },
)
STATE = {"position": {"x": 0, "y": 0}, "grid": [[0, 0], [1, 0]], "t": 0}


@pytest.fixture
def move(checked):
    """The example of the package's documentation."""
    let_to = checked("offset(position, dir)", WORLD)
    when = checked("inside(to) && cell(to) != WALL", WORLD.extend(variables={"to": let_to.type}))

    def compose(emitter):
        state, to, position, grid, dir_ = (emitter.local(hint) for hint in ("state", "to", "position", "grid", "dir"))
        names = {"position": position, "grid": grid, "dir": dir_, "to": to}
        return emitter.function(
            "move",
            [state, dir_],
            [
                f"{position} = {state}['position']",
                f"{grid} = {state}['grid']",
                f"{to} = {emitter.expression(let_to, names)}",
                f"if not {emitter.expression(when, names)}:",
                f"    return {state}",
                f"return {{**{state}, 'position': {to}}}",
            ],
        )

    return compose


def test_a_composed_function_moves(move):
    run = compile_function(move)
    assert run(STATE, "E") == {**STATE, "position": {"x": 1, "y": 0}}
    assert run(STATE, "W") is STATE
    assert run(STATE, "S") is STATE
    assert run({**STATE, "position": {"x": 1, "y": 0}}, "S")["position"] == {"x": 1, "y": 1}


def test_the_exact_module_does_the_same_without_fast_code(move):
    exact = Emitter(exact=True)
    name = move(exact)
    run = exact.build()[name]
    assert "if not g" in exact.source
    assert "['x']" not in exact.source
    assert run(STATE, "E") == {**STATE, "position": {"x": 1, "y": 0}}
    assert run(STATE, "W") is STATE


def test_the_exact_function_decides_when_the_fast_one_raises(checked):
    absorbed = checked("1 / t == 1 || t == 0", WORLD)
    failing = checked("1 / t", WORLD)

    def compose(emitter):
        t = emitter.local("t")
        lines = [f"return [{emitter.expression(absorbed, {'t': t})}, {emitter.expression(failing, {'t': t})}]"]
        return {"both": emitter.function("both", [t], lines)}

    run = compile_functions(compose)["both"]
    assert run(1) == [True, 1]
    assert run(2) == [False, 0]
    with pytest.raises(EvaluationError, match="E_EVAL_DIVISION_BY_ZERO"):
        run(0)
    assert compile_expression(absorbed, ["t"])(0) is True


def test_natives_may_have_a_fast_twin(checked):
    calls = []

    def exact(value):
        calls.append("exact")
        raise EvaluationError("E_EVAL_ARGUMENT", "never")

    def fast(value):
        calls.append("fast")
        raise ZeroDivisionError

    native = Native("f", (Signature((INT,), INT),), exact, fast=fast)
    run = compile_expression(checked("f(t)", WORLD.extend(functions={"f": native})), ["t"])
    with pytest.raises(EvaluationError, match="never"):
        run(1)
    assert calls == ["fast", "exact"]


def test_names_are_made_here():
    emitter = Emitter()
    hints = ["x", "x", "for", "__import__", "a b", "ünï", "", "A" * 500, "x\n", "lambda", "None", "v1"]
    names = [emitter.local(hint) for hint in hints]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() and name.isascii() and "__" not in name and len(name) < 60 for name in names)


CONSTANTS: list[object] = [
    None,
    True,
    0,
    -5,
    2**70,
    1.5,
    -0.0,
    float("inf"),
    float("nan"),
    "a'b\"c\\\n\x00é\ud800{}",
    [1, [2]],
    {"a": {"b": []}},
]


@pytest.mark.parametrize("value", CONSTANTS, ids=map(ascii, CONSTANTS))
def test_a_constant_is_the_value(value):
    emitter = Emitter()
    name = emitter.function("f", [], [f"return {emitter.constant(value)}"])
    found = emitter.build()[name]()
    assert repr(found) == repr(value)
    assert type(found) is type(value)


def test_callers_mistakes_are_refused(checked):
    emitter = Emitter()
    local = emitter.local("t")
    with pytest.raises(ValueError, match="without a local of this emitter: t"):
        emitter.expression(checked("t", WORLD), {"t": "evil()"})
    with pytest.raises(ValueError, match="different locals"):
        emitter.function("f", ["evil"], ["return 1"])
    with pytest.raises(ValueError, match="different locals"):
        emitter.function("f", [local, local], ["return 1"])
    for lines in [[], [""], ["return 1\nimport os"], ["return 'é'"], ["return 1\r"], ["\treturn 1"]]:
        with pytest.raises(ValueError, match="printable ASCII"):
            emitter.function("f", [], lines)


HOSTILE = {
    "import": ["import os"],
    "from": ["from os import path"],
    "dunder": ["return ().__class__"],
    "format": ["return '{0.__class__}'.format(1)"],
    "f-string": ["return f'{1}'"],
    "lambda": ["return (lambda: 1)()"],
    "global": ["global x", "return 1"],
    "nonlocal name": ["return open"],
    "builtin": ["return __builtins__"],
    "eval": ["return eval('1')"],
    "exec by name": ["exec('1')"],
    "class": ["class X: pass"],
    "with": ["with x: pass"],
    "yield": ["yield 1"],
    "await": ["return await_()"],
    "decorated": ["@abs", "def f(): pass"],
    "bytes": ["return b'x'"],
    "ellipsis": ["return ..."],
    "match": ["match 1:", "    case _: pass"],
    "delete": ["del x"],
    "assert": ["assert 1"],
    "frames": ["return [].append.__self__"],
    "unknown local": ["return v999"],
    "unbound except": ["try:", "    pass", "except Exception as e:", "    pass"],
    "not Python": ["return ("],
    "second function": ["return 1", "", "x = 1"],
    "default": ["def g(x=1): pass"],
    "annotation": ["x: int = 1"],
}


@pytest.mark.parametrize("lines", HOSTILE.values(), ids=HOSTILE)
def test_nothing_else_passes_the_seal(lines):
    def build():
        emitter = Emitter()
        emitter.function("f", [], lines)
        emitter.build()

    with pytest.raises((NotSealed, ValueError)):
        build()


def test_a_module_holds_functions_only():
    with pytest.raises(NotSealed, match="functions only"):
        seal("x = 1", {"x"})
    with pytest.raises(NotSealed, match="a function with more than parameters"):
        seal("def f(x=1):\n    return x", {"f", "x"})
    with pytest.raises(NotSealed, match="an annotation"):
        seal("def f(x: f):\n    return x", {"f", "x"})
    seal("def f(x):\n    return x", {"f", "x"})


def test_generated_code_has_no_builtins():
    emitter = Emitter()
    name = emitter.function("f", [], ["return len([1])"])
    function = emitter.build()[name]
    assert function() == 1
    assert function.__globals__["__builtins__"] == {}


def test_a_too_deep_expression_is_split(checked):
    wide = Environment(variables={"i": INT})
    for text in ["(i / " * 15 + " / ".join(["i"] * 31) + ")" * 15, "(" * 16 + " - ".join(["i"] * 31) + " * i)" * 16,
                 "math.abs(" * 31 + "i" + ")" * 31, "(i % " * 30 + "i" + ")" * 30]:  # fmt: skip
        found = checked(text, wide)
        run = compile_expression(found, ["i"])
        for value in (1, 3):
            try:
                wanted = evaluate(found, {"i": value})
            except EvaluationError:
                with pytest.raises(EvaluationError):
                    run(value)
            else:
                assert run(value) == wanted
