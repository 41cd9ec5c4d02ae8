"""Removal of what generated functions do not need.

Fields of records that nothing else sees become locals, what a loop computes anew in every round moves ahead of it, and
what nothing reads goes. This relies on what `sharing` relies on: bound functions are pure, and whenever a function
raises, a slower one decides. So a value may be computed early, but what may raise is never left out.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from specledger.expr.generate.ast_allowlist import within
from specledger.expr.generate.source import Names

_STEADY = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.NamedExpr, ast.Subscript),
    *(ast.Name, ast.Constant),
)


class _Field(NamedTuple):
    """A field of the record that a local holds."""

    record: str
    name: str


def unfold(function: ast.FunctionDef, names: Names) -> None:
    """Give each field of a record a local, where the record is a copy of another and is used by its fields alone.

    Args:
        function: The function; it is changed.
        names: The names of the module; locals are added.
    """
    nodes = list(within(function))
    copies = {node: name for node in nodes if (name := _copy(node))}
    fields = {node: field for node in nodes if isinstance(node, ast.Subscript) and (field := _field(node))}
    uses = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    uses.subtract(copies.values())
    uses.subtract(field.record for field in fields.values())
    alone = {name for name in copies.values() if not uses[name]}
    locals_ = {field: names.local(field.name) for field in sorted(set(fields.values())) if field.record in alone}
    if locals_:
        loaded = {field for node, field in fields.items() if isinstance(node.ctx, ast.Load)}
        _Unfolding(locals_, loaded).visit(function)


def _copy(node: ast.AST) -> str | None:
    """The local that a statement makes a copy of a record."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(keys=[None], values=[ast.Name()])):
            return name
    return None


def _field(node: ast.AST) -> _Field | None:
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))):
            return _Field(name, key)
    return None


class _Unfolding(ast.NodeTransformer):
    """Puts locals in place of the fields of records."""

    def __init__(self, locals_: dict[_Field, str], loaded: set[_Field]) -> None:
        self._locals = locals_
        self._loaded = loaded
        self._records = {field.record for field in locals_}

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        record = _copy(node)
        self.generic_visit(node)
        if record not in self._records or not isinstance(node.value, ast.Dict):
            return node
        base = node.value.values[0]
        return [
            ast.Assign([ast.Name(local, ast.Store())], ast.Subscript(base, ast.Constant(field.name), ast.Load()))
            for field, local in self._locals.items()
            if field.record == record and field in self._loaded
        ] or [ast.Pass()]

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        field = _field(node)
        if field in self._locals:
            return ast.Name(self._locals[field], node.ctx)
        self.generic_visit(node)
        return node


def trim(function: ast.FunctionDef, names: Names) -> None:
    """Move what is the same in every round of a loop ahead of it, and leave out what nothing reads."""
    met = _names(function)
    for block in _blocks(function):
        block[:] = [each for statement in block for each in (*_ahead(statement, names, met), statement)]
    while _left_out(function):
        pass


def _blocks(function: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    """Every list of statements in a function, inner ones first."""
    for node in reversed(list(within(function))):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def _names(*nodes: ast.AST, context: type[ast.expr_context] = ast.expr_context) -> Counter[str]:
    """How often each local is named in some nodes."""
    found = (part for node in nodes for part in within(node))
    return Counter(part.id for part in found if isinstance(part, ast.Name) and isinstance(part.ctx, context))


def _ahead(loop: ast.stmt, names: Names, met: Counter[str]) -> list[ast.stmt]:
    """Take the assignments out of a loop that give the same value in every round.

    Args:
        loop: The loop; nothing is taken out of another statement.
        names: The names of the module.
        met: How often each local is named in the function: what is moved is named nowhere before.
    """
    if not isinstance(loop, ast.For):
        return []
    left, changed = _names(*loop.body), _changed(loop.target, *loop.body)
    ahead: list[ast.stmt] = []
    for statement in loop.body[:-1]:
        if any(isinstance(node, ast.Continue | ast.Break | ast.Return) for node in within(statement)):
            break  # what follows is not computed in every round, and what it raises would be in the way
        read, own = _names(statement), _names(statement, context=ast.Store)
        if _is_steady(statement, read, names):
            fixed = all(not changed[name] for name in read if name not in own)
            if fixed and all(changed[name] == own[name] and left[name] == met[name] for name in own):
                loop.body.remove(statement)
                ahead.append(statement)
                changed -= own
        left -= read
    return ahead


def _is_steady(statement: ast.stmt, read: Counter[str], names: Names) -> bool:
    """Whether a statement gives a local a value that depends on other locals only, and is no new object to change."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if read[name] == 1:
            return all(isinstance(node, _STEADY) or _harmless(node, names) for node in within(value))
    return False


def _harmless(node: ast.AST, names: Names) -> bool:
    """Whether a node calls a pure function, or one that does nothing but raise."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=args):
            return not args or name in names.pure
    return False


def _changed(*nodes: ast.AST) -> Counter[str]:
    """How often each local is set or changed in some nodes."""
    changed = _names(*nodes, context=ast.Store)
    for part in (part for node in nodes for part in within(node)):
        if isinstance(part, ast.Attribute) or (isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)):
            changed += _names(part.value)
    return changed


def _left_out(function: ast.FunctionDef) -> bool:
    """Leave out assignments to locals, and to fields of new records, that nothing reads; whether there were any."""
    read, shared = _names(function, context=ast.Load), _names(function)
    for node in within(function):
        match node:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                shared[name] -= 1
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict()):
                shared[name] -= 1
    found = False
    for block in _blocks(function):
        kept = [each for each in block if not _needless(each, read, shared)]
        if len(kept) < len(block):
            found, block[:] = True, kept or [ast.Pass()]
    return found


def _needless(statement: ast.stmt, read: Counter[str], shared: Counter[str]) -> bool:
    """Whether a statement sets what nothing reads, and cannot raise.

    Args:
        statement: The statement.
        read: How often each local is read.
        shared: How often it is named, other than to hold a new record or to have a field of it set.
    """
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            unread = not read[name]
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=ast.Constant())], value=value):
            unread = not shared[name]
        case _:
            return False
    return unread and all(
        isinstance(node, ast.Name | ast.Constant | ast.List | ast.Tuple | ast.Dict) for node in within(value)
    )
