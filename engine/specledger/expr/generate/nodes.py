"""The nodes of a Python tree, without those that are nothing but a sign.

Decides what a walk over generated code looks at: contexts and operators hold nothing and are half of all nodes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_SIGNS = frozenset(
    sign
    for kind in (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
    for sign in kind.__subclasses__()
    if not sign._fields
)


def within(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all that is inside it, each after what it is inside of."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        for name in found._fields:
            part = getattr(found, name, None)
            if isinstance(part, list):
                waiting += [each for each in part if isinstance(each, ast.AST) and type(each) not in _SIGNS]
            elif isinstance(part, ast.AST) and type(part) not in _SIGNS:
                waiting.append(part)
