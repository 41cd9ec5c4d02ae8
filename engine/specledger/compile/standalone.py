"""Checks the expressions of a spec whose world is not known: an agent, a drift, a governor, an invariant or a probe.

A name that the spec does not define may come from a world, so it has any type. What is wrong for every world is found;
a name that is probably a misspelling is found too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from specledger.core.clock import READERS
from specledger.core.diagnostics import Diagnostic, Diagnostics, Severity, code
from specledger.expr import BOOL, INT, Environment, Native, RecordType, Signature, Type
from specledger.expr.check.environment import ENGINE_NAMES
from specledger.expr.check.excluded_names import FOREIGN
from specledger.expr.check.types import DYN, MISTAKEN
from specledger.expr.errors import E_EXPR_TYPE, E_EXPR_UNKNOWN_NAME
from specledger.expr.eval.builtins import STANDARD
from specledger.lang.scope import Scope
from specledger.lang.words import chained_in, named_in, selected_in
from specledger.load import Resolved
from specledger.spec.governor import Governor
from specledger.worlds.check import WORLD_FUNCTIONS

W_EXPR_MISSPELT = code("W_EXPR_MISSPELT", "a name that is probably misspelt")

_MAPPINGS: Final = ("let", "each", "draw")
_CONDITIONS: Final = frozenset({"when", "require", "deny", "at", "where"})
_OTHERS: Final = {"prev": "previous", "prior": "previous", "True": "true", "False": "false", "None": "null"}
"""Words for what the engine gives under another name."""
_ENGINE: Final = ENGINE_NAMES | READERS.keys() | {"breach", "found", "document"}
"""Names that the engine gives in specs of these kinds."""
_FIELDS: Final = {"action": ("op",), "proposal": ("action", "score")}
"""Fields that the records of the engine always have."""


def check_standalone(spec: Resolved, diagnostics: Diagnostics) -> None:
    """Check the expressions of a spec as far as that is possible without a world."""
    if any(True for _ in spec.expressions()):
        _Standalone(spec, diagnostics).check()


class _Standalone:
    def __init__(self, spec: Resolved, diagnostics: Diagnostics) -> None:
        self.spec = spec
        self.diagnostics = diagnostics
        self.functions: Mapping[str, Any] = getattr(spec.model, "functions", {})
        self.constants: Mapping[str, Any] = getattr(spec.model, "constants", {})
        memory = getattr(spec.model, "memory", None)
        named = {name for key in _MAPPINGS for name in getattr(spec.model, key, {})}
        self.own = {
            *self.constants,
            *named,
            *(() if memory is None else memory.fields),
            *(name for _, name in _aliases(spec.data)),
        }
        self.read: set[str] = set()
        self.unknown: list[tuple[str, bool, tuple[str | int, ...]]] = []
        for path, text in spec.expressions():
            self._collect(path, text)

    def _collect(self, path: tuple[str | int, ...], text: str) -> None:
        names, calls = named_in(text)
        params = self.functions[str(path[1])].args if path[0] == "functions" else ()
        self.read |= names | calls
        known = {*self.own, *_ENGINE, *params, "math"}
        self.unknown += [(name, False, path) for name in sorted(names - known)]
        known_functions = {*self.functions, *STANDARD, *WORLD_FUNCTIONS, "has"}
        self.unknown += [(name, True, path) for name in sorted(calls - known_functions)]

    def check(self) -> None:
        """Find what is wrong for every world, then what is probably misspelt."""
        any_type = Native("", (Signature((), MISTAKEN), Signature((DYN,), MISTAKEN, variadic=True)), _never)
        others = {name: any_type for name, call, _ in self.unknown if call and name not in FOREIGN}
        names = {name for name, call, _ in self.unknown if not call}
        variables: dict[str, Type] = dict.fromkeys((names | _ENGINE | self.own) - {*self.constants}, MISTAKEN)
        if isinstance(self.spec.model, Governor):  # whose claims are all that a proposal has of its own
            own = dict.fromkeys(self.spec.model.claims, MISTAKEN)
            variables["proposal"] = RecordType("proposal", {**own, "action": MISTAKEN, "score": INT})
        environment = Environment(variables, {**WORLD_FUNCTIONS, **others})
        scope = Scope(environment, self.spec, self.diagnostics)
        self._refuse_reserved()
        scope = scope.constants(self.constants, "constants").functions(self.functions, "functions")
        for path, _ in self.spec.expressions():
            if path[0] != "functions":
                scope.expression(*path, expect=BOOL if path[-1] in _CONDITIONS else None)
        scope.unused(self.functions)
        self.diagnostics.extend(self._misspelt(scope))

    def _refuse_reserved(self) -> None:
        """Find names that no spec can give, whatever its world is; constants and functions are looked at elsewhere."""
        memory = getattr(self.spec.model, "memory", None)
        named: list[tuple[tuple[str | int, ...], str]] = [
            ((key, name), name) for key in _MAPPINGS for name in getattr(self.spec.model, key, {})
        ]
        named += [(("memory", "fields", name), name) for name in (() if memory is None else memory.fields)]
        fresh = Scope(Environment(), self.spec, self.diagnostics)
        for path, name in (*named, *_aliases(self.spec.data)):
            fresh.free(name, *path)

    def _misspelt(self, scope: Scope) -> Iterator[Diagnostic]:
        """A misspelling of a name of the spec that nothing reads is an error; any other one may be a world's name."""
        for name, call, path in self.unknown:
            own = self.functions if call else self.own
            fixed = {*STANDARD, *WORLD_FUNCTIONS} if call else ENGINE_NAMES
            near = next((other for other in sorted(own) if is_near(name, other)), None)
            sure = near is not None and near not in self.read
            near = near or next((other for other in sorted(fixed) if is_near(name, other)), None)
            near = near or (None if call else _OTHERS.get(name))
            if near is not None:
                yield self._finding(name, near, sure, scope, path)
        for path, text in self.spec.expressions():
            for left, operator, right in chained_in(text):
                message = f"`{left}` is a truth value, which `{operator}` does not compare with a number"
                yield Diagnostic(E_EXPR_TYPE, message, scope.span_of(left, *path), f"write `{left} && {right}`")
            for owner, key in sorted(selected_in(text)):
                near = next((field for field in _FIELDS.get(owner, ()) if is_near(key, field)), None)
                if near is not None and (owner != "proposal" or not isinstance(self.spec.model, Governor)):
                    yield self._finding(f"{owner}.{key}", f"{owner}.{near}", sure=False, scope=scope, path=path)

    def _finding(self, name: str, near: str, sure: bool, scope: Scope, path: tuple[str | int, ...]) -> Diagnostic:
        code_, severity = (E_EXPR_UNKNOWN_NAME, Severity.ERROR) if sure else (W_EXPR_MISSPELT, Severity.WARNING)
        message = f"unknown name `{name}`" if sure else f"`{name}` is not defined here, and nearly a name that is"
        return Diagnostic(code_, message, scope.span_of(name, *path), f"did you mean `{near}`?", severity)


def is_near(word: str, name: str) -> bool:
    """Whether a word is probably a misspelling of a name: one slip of a short name, two of a long one.

    A slip is a letter too many, too few, another one, or two exchanged. A plural `s`, another case,
    another letter in a short name, and another ending (`proposed`, `proposal`) are no slips.
    """
    a, b = word.lower(), name.lower()
    if a == b or a + "s" == b or b + "s" == a or min(len(a), len(b)) < 2:
        return False
    if len(a) == len(b) <= 4 and sorted(a) != sorted(b):
        return False  # `tick` and `pick` are two words
    most = 2 if len(b) > 7 and a[:-2] != b[:-2] else 1
    return _slips(a, b) <= most and (len(b) > 3 or len(a) > len(b))


def _slips(a: str, b: str) -> int:
    """The distance of two words by Damerau and Levenshtein, with exchanges of neighbours."""
    if abs(len(a) - len(b)) > 2:
        return 3
    rows: list[list[int]] = [[*range(len(b) + 1)]]
    for i, x in enumerate(a, start=1):
        row: list[int] = [i]
        for j, y in enumerate(b, start=1):
            row.append(min(rows[-1][j] + 1, row[j - 1] + 1, rows[-1][j - 1] + (x != y)))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                row[j] = min(row[j], rows[-2][j - 2] + 1)
        rows.append(row)
    return rows[-1][-1]


def _aliases(value: Any, *path: str | int) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The names that effects give to elements by `as`, each with its place."""
    if isinstance(value, Mapping):
        alias = value.get("as")
        if isinstance(alias, str):
            yield (*path, "as"), alias
        for key, below in value.items():
            yield from _aliases(below, *path, key)
    elif isinstance(value, list | tuple):
        for index, below in enumerate(value):
            yield from _aliases(below, *path, index)


def _never(*values: Any) -> Any:
    raise AssertionError("a function of an unknown world is not called")
