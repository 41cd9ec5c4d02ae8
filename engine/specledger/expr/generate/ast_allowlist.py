"""Allow-list of generated source: what may reach `exec`.

The parsed source holds only functions made of plain statements and expressions, names that the generator gave out, and
a few harmless methods. This is the second safeguard; the first is that no text of a spec is copied into the source.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

_STATEMENTS = (
    *(ast.FunctionDef, ast.Return, ast.Assign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Expr, ast.Pass),
    *(ast.Break, ast.Continue, ast.Try, ast.ExceptHandler, ast.Raise),
)
_EXPRESSIONS = (
    *(ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.NamedExpr, ast.Call, ast.keyword, ast.Starred),
    *(ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.List, ast.Tuple, ast.Dict, ast.Set),
    *(ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.comprehension),
    *(ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
)
_ALLOWED = (ast.Module, ast.arguments, ast.arg, *_STATEMENTS, *_EXPRESSIONS)
_SIGNS = frozenset(
    sign
    for kind in (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
    for sign in kind.__subclasses__()
    if not sign._fields
)
"""Nodes that hold nothing (contexts, operators); they are half of all nodes."""
METHODS = frozenset(
    {"add", "append", "copy", "endswith", "extend", "get", "index", "items", "keys", "pop", "startswith", "values"}
)
"""Methods that generated code may call; none leads from a value to Python's machinery."""


class NotSealed(ValueError):  # noqa: N818 - says what the source is not
    """Generated source holds something that it must not: a mistake of the code that composed it."""


def seal(text: str, names: Collection[str]) -> ast.Module:
    """Parses generated source.

    Args:
        text: The source of a module.
        names: Every name that it may read.

    Returns:
        The tree, to be compiled.

    Raises:
        NotSealed: It is not made only of what generated source may contain.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotSealed(f"generated source does not parse: {type(error).__name__}") from error
    return sealed(tree, names)


def sealed(tree: ast.Module, names: Collection[str]) -> ast.Module:
    """The tree itself, if it is made only of what generated source may contain.

    Raises:
        NotSealed: It is not.
    """
    if not all(isinstance(statement, ast.FunctionDef) for statement in tree.body):
        raise NotSealed("a generated module holds functions only")
    for node in within(tree):
        wrong = _wrong(node, names)
        if wrong:
            raise NotSealed(f"generated source holds {wrong}")
    return tree


def _wrong(node: ast.AST, names: Collection[str]) -> str | None:
    """What is wrong with one node; None when nothing is."""
    if isinstance(node, ast.Name):
        return _unknown(node.id, names)
    if not isinstance(node, _ALLOWED):
        return f"a {type(node).__name__}"
    if isinstance(node, ast.FunctionDef):
        extra = node.decorator_list or node.args.defaults or node.args.kw_defaults or node.returns
        return "a function with more than parameters" if extra else _unknown(node.name, names)
    if isinstance(node, ast.arg):
        return "an annotation" if node.annotation else _unknown(node.arg, names)
    if isinstance(node, ast.Attribute) and node.attr not in METHODS:
        return f"the attribute {node.attr!r}"
    if isinstance(node, ast.ExceptHandler) and node.name is not None:
        return _unknown(node.name, names)
    if isinstance(node, ast.Constant) and not isinstance(node.value, bool | int | float | str | None):
        return f"a constant of type {type(node.value).__name__}"
    return None


def _unknown(name: str, names: Collection[str]) -> str | None:
    return None if name in names else f"the unknown name {name!r}"


def within(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all nodes inside it but contexts and operators, outer ones first."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        for name in current._fields:
            part = getattr(current, name, None)
            if isinstance(part, list):
                waiting += [child for child in part if isinstance(child, ast.AST) and type(child) not in _SIGNS]
            elif isinstance(part, ast.AST) and type(part) not in _SIGNS:
                waiting.append(part)
