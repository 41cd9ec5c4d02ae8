"""What a generated function computes for nobody: values that are never read, and cannot fail.

Decides which statements can go without changing what a function returns or raises. A record that the function copied
for itself and never hands on loses what is stored in it and not read again. Refuses to know how the code came about.
"""

from __future__ import annotations

import ast
from collections import Counter

from specledger.expr.generate.nodes import within

_SAFE = (ast.Name, ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp)
_SAFE_PARTS = (*_SAFE, ast.Add, ast.Sub, ast.Mult, ast.USub, ast.cmpop, ast.expr_context)


def prune(function: ast.FunctionDef) -> None:
    """Remove what nobody reads from a function, until nothing more can go."""
    while True:
        uses = _Uses(function)
        if not uses.prune(function):
            return


class _Uses:
    """How the locals of a function are used.

    Attributes:
        read: Locals that are read otherwise than by a key that is known.
        members: Per local, the keys that are read of it.
        stored: Locals of which a member is set.
        copied: Locals whose only value is a record made here.
    """

    def __init__(self, function: ast.FunctionDef) -> None:
        self.members: dict[str, set[object]] = {}
        self.stored: set[str] = set()
        made: dict[str, list[bool]] = {}
        loaded: Counter[str] = Counter()
        for node in within(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name), *_]):
                    made.setdefault(name, []).append(isinstance(node.value, ast.Dict))
                case ast.For(target=ast.Name(id=name)) | ast.NamedExpr(target=ast.Name(id=name)):
                    made.setdefault(name, []).append(False)
                case ast.AugAssign(target=ast.Name(id=name)):
                    made.setdefault(name, []).append(False)
                case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)):
                    loaded[name] -= 1
                    if isinstance(node.ctx, ast.Load):
                        self.members.setdefault(name, set()).add(key)
                    else:
                        self.stored.add(name)
                case ast.Name(id=name, ctx=ast.Load()):
                    loaded[name] += 1
        self.read = {name for name, times in loaded.items() if times}
        self.copied = {name for name, values in made.items() if values == [True]}

    def prune(self, node: ast.AST) -> bool:
        """Remove statements from the blocks of a node; whether anything was removed."""
        found = False
        for field in ("body", "orelse", "handlers"):
            block = getattr(node, field, None)
            if not isinstance(block, list):
                continue
            kept = [statement for statement in block if not self._useless(statement)]
            found |= len(kept) < len(block)
            for statement in kept:
                found |= self.prune(statement)
            if field == "body" and not kept:
                kept = [ast.Pass()]
                found = found and not isinstance(block[0], ast.Pass)
            setattr(node, field, kept)
        return found

    def _useless(self, statement: ast.AST) -> bool:
        if not isinstance(statement, ast.Assign) or not _cannot_fail(statement.value):
            return False
        match statement.targets:
            case [ast.Name(id=name)]:
                return name not in self.read and name not in self.members and name not in self.stored
            case [ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key))]:
                return name in self.copied and name not in self.read and key not in self.members.get(name, ())
        return False


def _cannot_fail(value: ast.expr) -> bool:
    return all(isinstance(part, _SAFE_PARTS) for part in ast.walk(value))
