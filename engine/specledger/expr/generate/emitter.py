"""Emitter of generated Python modules; holds the only `exec` of the engine.

A module is made of checked trees, of names and constants made here, and of the caller's fixed templates. Before it is
executed it is parsed and checked against an allow-list (`ast_allowlist`), and it runs without Python's builtins.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from textwrap import indent
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from specledger.expr.check.analysis import depth_of, may_be_large, work
from specledger.expr.check.checker import Checked
from specledger.expr.eval.evaluator import evaluate
from specledger.expr.generate.ast_allowlist import seal, sealed
from specledger.expr.generate.numbering import Shape, shape_of
from specledger.expr.generate.render import Renderer
from specledger.expr.generate.sharing import share
from specledger.expr.generate.source import BUILTINS, Frame, Memory, Meter, Names, Source
from specledger.expr.limits import MAX_WORK, MOST_SOURCE, WORK_WITHOUT_CHARGE

_MOST_KEPT = 50_000  # characters of a module whose code is kept for the next one like it
_LINE = re.compile(r"[ -~]+\Z")


class Emitter(Source):
    """Builds one generated module out of checked expressions and templates of its caller."""

    def __init__(self, exact: bool = False, sized: bool = False, shared: bool = True) -> None:
        """Begins a module.

        Args:
            exact: Render every expression as a call of the exact evaluator, slow and always right, instead of fast
                code, which may raise anything where the exact evaluation fails.
            shared: Rewrite fast code so that nothing is computed twice.
            sized: Heed `expect`: the code raises for values of other sizes.
        """
        super().__init__()
        self._exact = exact
        self.sized = sized
        self._shared = shared and not exact
        self._meter = Meter()
        self._memory = Memory()
        self._memory_charges = (self._memory.hold, self._memory.hold_list, self._memory.hold_matrix)
        self._named = 0
        self._plain = Renderer(self)
        self._metered = Renderer(self, self._meter)

    def expression(self, checked: Checked, names: Mapping[str, str]) -> str:
        """A Python expression with the value of `checked`.

        Args:
            checked: The expression.
            names: A local of this emitter for each of `checked.variables`, holding a value that fits its type.

        Returns:
            An atom, to stand once in a function of this emitter, outside of what a comprehension goes over.

        Raises:
            ValueError: A variable has no local.
        """
        wrong = sorted(name for name in checked.variables if names.get(name) not in self.names.locals)
        if wrong:
            raise ValueError(f"variables without a local of this emitter: {', '.join(wrong)}")
        given = {name: names[name] for name in sorted(checked.variables)}
        if self._exact or self.size > MOST_SOURCE:
            return f"{self.bind(_exactly(checked, tuple(given)))}({', '.join(given.values())})"
        cheap = work(checked.root) <= MAX_WORK
        text = self._plain.render(checked.root, Frame(given, self.local)) if cheap else self._limited(checked, given)
        self.size += len(text)
        return text

    def _limited(self, checked: Checked, given: Mapping[str, str]) -> str:
        """A function for an expression that sizes do not prove cheap: it counts its work."""
        params = [f"a{index}" for index in range(len(given))]
        self.names.locals.update(params)
        frame = Frame(dict(zip(given, params, strict=True)), self.scoped())
        lines = [f"{self.bind(self._meter.begin, 'begin')}()"]
        lines.append(f"return {self._metered.render(checked.root, frame)}")
        return f"{self.define('limited', params, lines, shared=True)}({', '.join(given.values())})"

    def hold(self, checked: Checked, source: str) -> str:
        """The source of a value that a name gets, and keeps, within what charges for its memory.

        Work bounds the memory of the first values of a module together; of the others each is looked at.
        """
        if not may_be_large(checked.root):
            return source
        self._named += work(checked.root)
        if self._named <= WORK_WITHOUT_CHARGE:
            return source
        self._memory.texts.append(checked.text)
        charge = self._memory_charges[depth_of(checked.root.type)]
        return f"{self.bind(charge, 'hold')}({len(self._memory.texts) - 1}, {source})"

    def assign(self, local: str, checked: Checked, names: Mapping[str, str], guard: str = "") -> list[str]:
        """Lines that give a local the value of an expression, charged for; with a guard, only where that is true."""
        lazily = f" if {guard} else None" if guard else ""
        charged = self.hold(checked, local)
        return [f"{local} = {self.expression(checked, names)}{lazily}", *([] if charged == local else [charged])]

    def expect(self, local: str, example: Any) -> None:
        """Say what a parameter's value will probably be like, if anything: small matrices in it keep their sizes."""
        shape = shape_of(example) if self.sized else None
        if shape is not None:
            self.names.expected[local] = shape

    @property
    def expects(self) -> bool:
        """Whether the code that is made raises for values of sizes that were not expected."""
        return bool(self.names.expected)

    def function(self, hint: str, params: Sequence[str], lines: Sequence[str]) -> str:
        """Adds a function.

        Args:
            hint: What its name should resemble.
            params: Locals of this emitter.
            lines: Its body, indented relative to it; made of fixed templates, names, expressions and constants of
                this emitter only.

        Returns:
            Its name, for calls in other lines and for `build`.

        Raises:
            ValueError: A parameter is no local of this emitter, or a line is not one line of ASCII.
        """
        if not set(params) <= self.names.locals or len(set(params)) != len(params):
            raise ValueError("parameters must be different locals of this emitter")
        if not lines or not all(_LINE.match(line) for line in lines):
            raise ValueError("a body is lines of printable ASCII, at least one")
        if self._memory.texts:
            lines = [f"{self.bind(self._memory.begin, 'begin')}()", *lines]
        return self.define(hint, params, lines)

    def build(self, slower: Mapping[str, Callable[..., Any]] | None = None) -> Mapping[str, FunctionType]:
        """Executes the module.

        Args:
            slower: For some functions, what decides whenever they raise.

        Returns:
            Its functions by name.

        Raises:
            NotSealed: The source holds what generated source must not.
        """
        names, given = self.names, slower or {}
        code_of = _code if len(self.source) <= _MOST_KEPT else _code.__wrapped__
        code = code_of(
            _Module(
                self.source,
                frozenset(names.locals),
                tuple(names.functions),
                frozenset(names.globals),
                frozenset(names.pure),
                frozenset(names.written.items()),
                frozenset(names.expected.items()),
                frozenset(given),
                self._shared,
            )
        )
        bound = {_slower(name): function for name, function in given.items()}
        space: dict[str, Any] = {"__builtins__": {}, **BUILTINS, **self.bound, **bound}
        exec(code, space)  # noqa: S102 - sealed
        return {name: space[name] for name in names.functions}


class _Module(NamedTuple):
    """All that determines the code of a module: its source and names, none of the objects bound to them.

    Attributes:
        decided: Functions with a slower one, which is called whenever they raise.
    """

    text: str
    locals: frozenset[str]
    functions: tuple[str, ...]
    globals: frozenset[str]
    pure: frozenset[str]
    written: frozenset[tuple[str, Callable[..., Any]]]
    expected: frozenset[tuple[str, Shape]]
    decided: frozenset[str]
    shared: bool


@lru_cache(maxsize=4096)
def _code(module: _Module) -> CodeType:
    """The code of a module."""
    names = Names(
        set(module.locals),
        list(module.functions),
        set(module.globals),
        set(module.pure),
        dict(module.written),
        dict(module.expected),
    )
    tree = seal(module.text, {*names.locals, *names.functions, *names.globals, *BUILTINS})
    if module.shared:
        share(tree, names)
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name in module.decided:
            _decide(function)
    if module.shared or module.decided:
        slower = map(_slower, module.decided)
        sealed(tree, {*names.locals, *names.functions, *names.globals, *slower, *BUILTINS})
    return compile(tree, "<generated>", "exec")


def _slower(function: str) -> str:
    """The global name of what decides when a function raises; no name that the emitter gives begins so."""
    return f"d_{function}"


def _decide(function: ast.FunctionDef) -> None:
    """Make a function call its slower one whenever it raises, once the error and all that it holds are gone."""
    params = ", ".join(argument.arg for argument in function.args.args)
    given = {argument.arg for argument in function.args.args}
    stored = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    dropped = "; ".join(f"{name} = None" for name in sorted(stored - given)) or "pass"
    source = f"try:\n    pass\nexcept Exception:\n    {dropped}\nreturn {_slower(function.name)}({params})"
    tried, decided = ast.parse(f"def f():\n{indent(source, '    ')}").body[0].body  # type: ignore[attr-defined]
    tried.body, function.body = function.body, [tried, decided]


def _exactly(checked: Checked, names: tuple[str, ...]) -> Callable[..., Any]:
    def exactly(*values: Any) -> Any:
        return evaluate(checked, dict(zip(names, values, strict=True)))

    return exactly
