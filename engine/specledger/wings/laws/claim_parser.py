"""Parses claims from the JSON of law proposers and from text into one tree. Source: law proposer, sections 6 and 13."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from specledger.core.diagnostics import code
from specledger.expr.limits import INT_MAX, INT_MIN
from specledger.wings.laws.claim import (
    AHEAD,
    COMPARISONS,
    NEXT,
    NOW,
    OPERATORS,
    Binary,
    Const,
    Node,
    Not,
    Observe,
    Time,
    operands,
)
from specledger.wings.laws.primitive import GRID_LENGTH

E_CLAIM_NODE = code("E_CLAIM_NODE", "a claim has a node that means nothing")
E_CLAIM_OPERATOR = code("E_CLAIM_OPERATOR", "a claim has an operator that means nothing")
E_CLAIM_DIVISION = code("E_CLAIM_DIVISION", "a claim or an observable divides")
E_CLAIM_LIMIT = code("E_CLAIM_LIMIT", "a claim is too large")
E_CLAIM_TEXT = code("E_CLAIM_TEXT", "a string claim cannot be read")

MAX_NODES: Final = 512
MAX_LEVELS: Final = 32
MAX_STEP: Final = 1_000_000


class ClaimError(ValueError):
    """A claim that cannot be read.

    Attributes:
        path: The keys that lead to it in a JSON claim.
    """

    def __init__(self, code_: str, message: str, path: Sequence[str] = (), hint: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.path, self.hint = code_, message, tuple(path), hint


_MULTIPLY: Final = "multiply out: `X <= L / 2` becomes `2 * X <= L`"


def read_claim(value: Any) -> Node:
    """The tree of a claim in the JSON of law proposers.

    Raises:
        ClaimError: The claim is none.
    """
    return _Document().node(value, ())


class _Document:
    def __init__(self) -> None:
        self._nodes = 0

    def node(self, value: Any, path: tuple[str, ...]) -> Node:
        self._nodes += 1
        if self._nodes > MAX_NODES or len(path) >= MAX_LEVELS:
            raise ClaimError(E_CLAIM_LIMIT, f"the claim is beyond {MAX_NODES} nodes or {MAX_LEVELS} levels", path)
        if not isinstance(value, Mapping):
            raise ClaimError(E_CLAIM_NODE, f"a node is a mapping, not {_kind(value)}", path)
        keys = set(value)
        if keys == {"const"}:
            return _constant(value["const"], path)
        if keys == {"obs", "t"} and isinstance(value["obs"], str):
            return Observe(value["obs"], read_time(value["t"], (*path, "t")))
        if "op" in keys:
            return self._operation(value, path)
        if keys in ({"var"}, {"t_plus_1"}, {"t_plus"}):
            raise ClaimError(E_CLAIM_NODE, "a time is no value: it stands in the `t` of an observable", path)
        if keys == {"obs"}:
            raise ClaimError(
                E_CLAIM_NODE, "the observable does not say when it is looked at", path, "add `t: {var: t}`"
            )
        raise ClaimError(E_CLAIM_NODE, f"there is no node with the keys {', '.join(sorted(map(str, keys)))}", path)

    def _operation(self, value: Mapping[str, Any], path: tuple[str, ...]) -> Node:
        op = value["op"]
        if op == "/":
            raise ClaimError(E_CLAIM_DIVISION, "a claim does not divide", (*path, "op"), _MULTIPLY)
        if op == "not" and set(value) == {"op", "arg"}:
            return Not(self.node(value["arg"], (*path, "arg")))
        if op not in (*OPERATORS, "not"):
            hint = "compare with `==`" if op == "=" else f"operators: {', '.join([*OPERATORS, 'not'])}"
            raise ClaimError(E_CLAIM_OPERATOR, f"there is no operator {op!r}", (*path, "op"), hint)
        wanted = {"op", "arg"} if op == "not" else {"op", "lhs", "rhs"}
        if set(value) != wanted:
            raise ClaimError(E_CLAIM_NODE, f"`{op}` needs exactly the keys {', '.join(sorted(wanted))}", path)
        return Binary(op, self.node(value["lhs"], (*path, "lhs")), self.node(value["rhs"], (*path, "rhs")))


def _constant(value: Any, path: tuple[str, ...]) -> Const:
    if isinstance(value, bool) or (isinstance(value, str) and len(value) == 1):
        return Const(value)
    if not isinstance(value, int):
        raise ClaimError(E_CLAIM_NODE, f"a constant is an integer, not {_kind(value)}", (*path, "const"))
    if not INT_MIN <= value <= INT_MAX:
        raise ClaimError(E_CLAIM_LIMIT, "the constant is beyond 64 bits", (*path, "const"))
    return Const(value)


def read_time(value: Any, path: tuple[str, ...] = ()) -> Time:
    """A step in the JSON of law proposers.

    Raises:
        ClaimError: It is none, or too far ahead.
    """
    ((key, step),) = value.items() if isinstance(value, Mapping) and len(value) == 1 else ((None, None),)
    if (key, step) == ("var", "t"):
        return NOW
    if key == "t_plus_1" and step is True:
        return NEXT
    if type(step) is int and key == "t_plus" and step > 0:
        return _ahead(step, (*path, "t_plus"))
    if type(step) is int and key == "const" and 0 <= step <= MAX_STEP:
        return Time(step, fixed=True)
    raise ClaimError(E_CLAIM_NODE, "a time is {var: t}, {t_plus_1: true}, {t_plus: 3} or {const: 0}", path)


def _ahead(steps: int, path: tuple[str, ...] = ()) -> Time:
    """So many steps after the one that is judged."""
    if steps > AHEAD:
        hint = f"`k` in `t + k` is 1 to {AHEAD}; for longer waits use a template with `within`"
        raise ClaimError(E_CLAIM_LIMIT, f"t + {steps} is more than {AHEAD} steps ahead", path, hint)
    return Time(steps)


def _kind(value: Any) -> str:
    kinds = {str: "a text", bool: "a truth value", int: "an integer", float: "a number with a point", list: "a list"}
    return kinds.get(type(value), "that")


_TOKEN: Final = re.compile(r"\s*(?:([0-9]+)|([A-Za-z_][A-Za-z0-9_]*)|(=>|==|!=|<=|>=|[-+*/<>()])|(\S))", re.ASCII)
_WORDS: Final = ("and", "or", "not", "true", "false")


def read_text(text: str) -> Node:
    """The tree of a string claim, such as `X(t+1) == In(t) and not 2*X(t) > L(0)`.

    `=>` binds least and leans to the right, then `or`, `and`, `not`, one comparison, `+` and `-`, `*`.

    Raises:
        ClaimError: The text is no claim.
    """
    parser = _Parser(text)
    node = parser.implication()
    if parser.peek() is not None:
        raise parser.unexpected()
    if _height(node) > MAX_LEVELS:
        raise ClaimError(E_CLAIM_LIMIT, f"the claim is beyond {MAX_LEVELS} levels")
    return node


def _height(node: Node) -> int:
    return 1 + max(map(_height, operands(node)), default=0)


class _Parser:
    def __init__(self, text: str) -> None:
        if len(text) > 8192:
            raise ClaimError(E_CLAIM_LIMIT, "the claim is beyond 8192 characters")
        self._tokens = [next(filter(None, match)) for match in _TOKEN.findall(text.rstrip())]
        self._place = 0
        self._open = 0
        if len(self._tokens) > MAX_NODES:
            raise ClaimError(E_CLAIM_LIMIT, f"the claim is beyond {MAX_NODES} words")

    def peek(self) -> str | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def take(self, *wanted: str) -> str | None:
        token = self.peek()
        if token is None or token not in wanted:
            return None
        self._place += 1
        return token

    def expect(self, token: str) -> None:
        if self.take(token) is None:
            raise self.unexpected(token)

    def unexpected(self, wanted: str | None = None) -> ClaimError:
        token = self.peek()
        if token == "/":
            return ClaimError(E_CLAIM_DIVISION, "a claim does not divide", hint=_MULTIPLY)
        shown = "the end" if token is None else f"`{token}`"
        return ClaimError(E_CLAIM_TEXT, f"expected `{wanted}`, found {shown}" if wanted else f"unexpected {shown}")

    def implication(self) -> Node:
        self._open += 1
        if self._open > MAX_LEVELS:
            raise ClaimError(E_CLAIM_LIMIT, f"the claim is beyond {MAX_LEVELS} levels")
        left = self._chain(("or",), lambda: self._chain(("and",), self._denial))
        node = Binary("=>", left, self.implication()) if self.take("=>") else left
        self._open -= 1
        return node

    def _chain(self, operators: tuple[str, ...], operand: Callable[[], Node]) -> Node:
        node = operand()
        while op := self.take(*operators):
            node = Binary(op, node, operand())
        return node

    def _denial(self) -> Node:
        if self.take("not"):
            self._open += 1
            if self._open > MAX_LEVELS:
                raise ClaimError(E_CLAIM_LIMIT, f"the claim is beyond {MAX_LEVELS} levels")
            denied = Not(self._denial())
            self._open -= 1
            return denied
        node = self._sum()
        op = self.take(*COMPARISONS)
        return node if op is None else Binary(op, node, self._sum())

    def _sum(self) -> Node:
        return self._chain(("+", "-"), lambda: self._chain(("*",), self._atom))

    def _atom(self) -> Node:
        if self.take("("):
            node = self.implication()
            self.expect(")")
            return node
        negative = self.take("-") is not None
        token = self.peek()
        if token is not None and token.isdigit():
            self._place += 1
            value = -int(token) if negative else int(token)
            return _constant(value, ())
        if negative or token is None or not (token[0].isalpha() or token[0] == "_"):
            raise self.unexpected()
        self._place += 1
        if token in ("true", "false"):
            return Const(token == "true")
        if token in _WORDS:
            self._place -= 1
            raise self.unexpected()
        if token == GRID_LENGTH and self.peek() != "(":
            return Observe(token, NOW)
        if self.take("(") is None:
            raise ClaimError(E_CLAIM_TEXT, f"`{token}` does not say when it is looked at", hint=f"write `{token}(t)`")
        time = self._step()
        self.expect(")")
        return Observe(token, time)

    def _step(self) -> Time:
        if self.take("t"):
            return NOW if self.take("+") is None else _ahead(self._number("1", 1))
        return Time(self._number("t", 0), fixed=True)

    def _number(self, wanted: str, least: int) -> int:
        token = self.peek()
        if token is None or not token.isdigit() or not least <= int(token) <= MAX_STEP:
            raise self.unexpected(wanted)
        self._place += 1
        return int(token)
