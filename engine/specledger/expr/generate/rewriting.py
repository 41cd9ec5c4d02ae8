"""Rewriting of expressions in a generated function by value numbers.

An expression becomes the local that holds its value, or a constant. Calls of pure functions and checked integers get
locals of their own.
"""

from __future__ import annotations

import ast
from typing import Final

from specledger.expr.generate.cellwise import Cellwise
from specledger.expr.generate.numbering import Place

CHANGING: Final = frozenset({"append", "add", "extend", "pop"})
"""Methods that change what they are called on."""
_PLAIN: Final = frozenset({"abs", "len", "min", "max", "str", "sum", "bool", "int", "float"})


class Rewriting(Cellwise):
    """One function being rewritten, as far as its expressions go."""

    def fresh(self, state: Place, name: str) -> int:
        """Give a local a value of which nothing is known."""
        number = self.numbers.fresh()
        state.numbers[name] = number
        state.holders[number] = name
        return number

    def forget(self, state: Place, name: str) -> None:
        """The same, where what the local held may have been changed too."""
        before = state.numbers.get(name)
        if before is not None:
            self.numbers.stale.add(before)
        self.fresh(state, name)

    def expression(self, node: ast.expr, state: Place) -> tuple[ast.expr, int]:
        """The expression rewritten, and the number of its value."""
        late = set(self.late)
        rewritten, number = self._form(node, state)
        if rewritten is not node and isinstance(rewritten, ast.Name | ast.Constant):
            for name in self.late - late:  # what was named inside is gone with the expression
                state.numbers.pop(name, None)
        return rewritten, number

    def _form(self, node: ast.expr, state: Place) -> tuple[ast.expr, int]:
        checked = _checked_integer(node)
        if checked is not None and isinstance(node, ast.IfExp):
            return self._checked(node, checked, state)
        match node:
            case ast.Constant():
                return node, self.numbers.constant(node.value)
            case ast.Name():
                return self._named(node, state)
            case ast.Subscript(slice=ast.Constant(value=key)):
                node.value, record = self.expression(node.value, state)
                number = self.numbers.member(record, key)
                if _cannot_raise(node.value):
                    return self._held(node, number, state)
                return node, self.numbers.fresh() if _makes_record(node.value) else number
            case ast.Call():
                return self._call(node, state)
            case ast.NamedExpr(target=ast.Name(id=name)):
                node.value, number = self.expression(node.value, state)
                self.name(name, number, state)
                return node, number
            case ast.IfExp() | ast.BoolOp() | ast.Compare():
                return self._conditional(node, state)
            case ast.List():
                pairs = [self.expression(element, state) for element in node.elts]
                node.elts = [element for element, _ in pairs]
                whole = not any(isinstance(element, ast.Starred) for element in node.elts)
                return node, self.numbers.list([number for _, number in pairs]) if whole else self.numbers.fresh()
            case ast.Dict():
                return self._held(node, self.record(node, state), state)
            case ast.BinOp():
                return self._operation(node, state)
            case ast.UnaryOp():
                node.operand, number = self.expression(node.operand, state)
                return node, self.numbers.unary(type(node.op).__name__, number)
        return self._other(node, state)

    def _other(self, node: ast.expr, state: Place) -> tuple[ast.expr, int]:
        """A form of which nothing is known but its parts."""
        if isinstance(node, ast.Subscript | ast.Tuple | ast.Starred):
            for name, part in ast.iter_fields(node):
                if isinstance(part, ast.expr):
                    setattr(node, name, self.expression(part, state)[0])
                elif isinstance(part, list):
                    setattr(node, name, [self.expression(child, state)[0] for child in part])
        return node, self.numbers.fresh()

    def _named(self, node: ast.Name, state: Place) -> tuple[ast.expr, int]:
        number = state.numbers.get(node.id)
        if number is None:
            number = self.numbers.of("name", node.id) if node.id in self.names.globals else self.fresh(state, node.id)
        return self._held(node, number, state)

    def _held(self, node: ast.expr, number: int, state: Place) -> tuple[ast.expr, int]:
        """The local that holds a value, or the constant that it is; the expression itself if there is neither."""
        holder = state.holder(number)
        if holder is not None:
            return ast.Name(holder, ast.Load()), number
        if number in self.numbers.constants:
            return ast.parse(repr(self.numbers.constants[number]), mode="eval").body, number
        return node, number

    def name(self, name: str, number: int, state: Place) -> None:
        """A local that is given a value inside a statement, so that what stands before it cannot read it."""
        self.late.add(name)
        state.numbers[name] = number
        if state.holder(number) is None:
            state.holders[number] = name

    def _checked(self, node: ast.IfExp, inner: ast.NamedExpr, state: Place) -> tuple[ast.expr, int]:
        """`(n if low <= (n := value) <= high else overflow())`."""
        inner.value, number = self.expression(inner.value, state)
        assert isinstance(node.test, ast.Compare)  # noqa: S101 - see `_checked_integer`
        bounds = [ast.dump(part) for part in (node.test.left, *node.test.comparators) if part is not inner]
        number = self.numbers.of("checked", number, *bounds)
        holder = state.holder(number)
        if holder is not None:
            return ast.Name(holder, ast.Load()), number
        self.name(inner.target.id, number, state)
        return node, number

    def _conditional(self, node: ast.IfExp | ast.BoolOp | ast.Compare, state: Place) -> tuple[ast.expr, int]:
        """Parts after the first may not be evaluated: what they name is not visible outside them."""
        if isinstance(node, ast.IfExp):
            node.test, first = self.expression(node.test, state)
            node.body, second = self._aside(node.body, state)
            node.orelse, third = self._aside(node.orelse, state)
            return node, self.numbers.of("if", first, second, third)
        if isinstance(node, ast.BoolOp):
            head, number = self.expression(node.values[0], state)
            rest = [self._aside(value, state) for value in node.values[1:]]
            node.values = [head, *(value for value, _ in rest)]
            return node, self.numbers.of(
                type(node.op).__name__, number, *(operand_number for _, operand_number in rest)
            )
        node.left, left = self.expression(node.left, state)
        head, number = self.expression(node.comparators[0], state)
        rest = [self._aside(value, state) for value in node.comparators[1:]]
        node.comparators = [head, *(value for value, _ in rest)]
        signs = [type(sign).__name__ for sign in node.ops]
        return node, self.numbers.of("compare", *signs, left, number, *(operand_number for _, operand_number in rest))

    def _aside(self, node: ast.expr, state: Place) -> tuple[ast.expr, int]:
        inner = state.copy()
        self.places.append(inner)
        rewritten = self.expression(node, inner)
        self.places.pop()
        return rewritten

    def record(self, node: ast.Dict, state: Place, its_own: bool = False) -> int:
        """The number of a record; one in which something will be set is like no other."""
        fields: dict[str, int] = {}
        base: int | None = None
        plain = True
        for index, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            node.values[index], number = self.expression(value, state)
            if key is None and index == 0:
                base = number
            elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                fields[key.value] = number
            else:
                plain = False
        return self.numbers.record(fields, base, its_own) if plain else self.numbers.fresh()

    def _operation(self, node: ast.BinOp, state: Place) -> tuple[ast.expr, int]:
        node.left, left = self.expression(node.left, state)
        node.right, right = self.expression(node.right, state)
        return self._held(node, self.numbers.binary(type(node.op).__name__, left, right), state)

    def _call(self, node: ast.Call, state: Place) -> tuple[ast.expr, int]:
        pairs = [self.expression(arg, state) for arg in node.args]
        node.args = [arg for arg, _ in pairs]
        for keyword in node.keywords:
            keyword.value = self.expression(keyword.value, state)[0]
        numbers = [number for _, number in pairs]
        method = node.func if isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING else None
        if method is not None and isinstance(method.value, ast.Name):
            self.forget(state, method.value.id)
        if not isinstance(node.func, ast.Name) or node.keywords:
            return node, self.numbers.fresh()
        name = node.func.id
        if name in _PLAIN:
            return node, self.numbers.of("call", name, *numbers)
        if name not in self.names.pure:
            return node, self.numbers.fresh()
        number = self.numbers.of("call", name, *numbers)
        holder = state.holder(number)
        if holder is not None:
            return ast.Name(holder, ast.Load()), number
        rewritten = self.written(node, name, number, numbers, state)
        if rewritten is not None:
            return rewritten, number
        named = self.names.local("shared")
        self.name(named, number, state)
        return ast.NamedExpr(ast.Name(named, ast.Store()), node), number


def _cannot_raise(node: ast.expr) -> bool:
    """Whether nothing is lost where a field that is known is not read from a record: making the others may raise."""
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        node = node.value
    return _is_plain(node)


def _makes_record(node: ast.expr) -> bool:
    """Whether a record is constructed here. That may raise, so a known field must not replace it."""
    while isinstance(node, ast.Subscript | ast.NamedExpr):
        node = node.value
    return isinstance(node, ast.Dict)


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression is made of locals and constants; an optional field, or a key of a map, may be absent."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Dict(values=parts) | ast.List(elts=parts):
            return all(map(_is_plain, parts))
    return False


def _checked_integer(node: ast.expr) -> ast.NamedExpr | None:
    """The naming of the value in `(n if low <= (n := value) <= high else overflow())`; None for other expressions."""
    match node:
        case ast.IfExp(
            test=ast.Compare(left=left, comparators=[*comparators]),
            body=ast.Name(id=name),
            orelse=ast.Call(func=ast.Name(), args=[]),
        ):
            for part in (left, *comparators):
                if isinstance(part, ast.NamedExpr) and part.target.id == name:
                    return part
    return None
