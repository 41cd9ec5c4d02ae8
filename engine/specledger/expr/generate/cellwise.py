"""Calls over small matrices, written as arithmetic on their cells.

A call is rewritten when every cell of every argument has a source that can be read before the statement; its native
says how (`Native.written`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Final

from specledger.expr.generate.numbering import Matrix, Numbers, Place
from specledger.expr.generate.source import Names

CALL: Final = "call"
"""In the text that a native is written out as: the call itself."""


class Cellwise:
    """One function being rewritten, as far as its matrices go.

    Attributes:
        before: Statements to stand before the one that is being rewritten.
        places: What is known at the statement, and in each part of it that may not be evaluated.
        late: Locals that the statement itself names, so that what stands before it cannot read them.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.numbers = Numbers()
        self.before: list[ast.stmt] = []
        self.places: list[Place] = []
        self.late: set[str] = set()

    def written(self, node: ast.Call, name: str, number: int, args: Sequence[int], state: Place) -> ast.expr | None:
        """A call written out over the cells of its arguments, or None if a size is not known or not small."""
        write = self.names.written.get(name)
        if write is None:
            return None
        given = [self._cells(arg, part, state) for arg, part in zip(args, node.args, strict=True)]
        if None in given:
            return None
        try:
            text = write(*given)
        except (TypeError, ValueError):  # the sizes do not fit: the native says so
            return None
        if isinstance(text, str):
            expression = ast.parse(text, mode="eval").body
            if any(isinstance(part, ast.Name) and part.id == CALL for part in ast.walk(expression)):
                put: ast.expr = _Put(node).visit(expression)
                return put
            return ast.Name(self.ahead(expression, number), ast.Load())
        rows = []
        for row in text:
            cells = []
            for cell in row:
                expression = ast.parse(cell, mode="eval").body
                if isinstance(expression, ast.Constant):
                    cells.append(self.numbers.constant(expression.value))
                elif isinstance(expression, ast.Name):
                    cells.append(state.numbers[expression.id])
                else:
                    cells.append(self.numbers.fresh())
                    self.ahead(expression, cells[-1])
            rows.append(self.numbers.list(cells))
        self.numbers.lists[number] = tuple(rows)
        display = [[self._atom(cell, state) or "" for cell in self.numbers.lists[row]] for row in rows]
        return ast.parse(f"[{', '.join('[' + ', '.join(row) + ']' for row in display)}]", mode="eval").body

    def ahead(self, value: ast.expr, number: int) -> str:
        """Compute a value before the statement, in a new local."""
        name = self.names.local("cell")
        self.before.append(ast.Assign([ast.Name(name, ast.Store())], value))
        for state in self.places:
            state.numbers[name] = number
            state.holders[number] = name
        return name

    def _atom(self, number: int, state: Place) -> str | None:
        """The source of a scalar that can be read before the statement."""
        if number in self.numbers.constants:
            value = self.numbers.constants[number]
            return f"({value!r})" if type(value) is int else None
        holder = state.holder(number)
        return None if holder is None or holder in self.late else holder

    def _cells(self, number: int, node: ast.expr | None, state: Place) -> Any:
        """A scalar as its source, a list as the list of its elements' sources; None if something has none.

        Args:
            number: The value.
            node: Where it is read, if it can be read there.
            state: What is known there.
        """
        lists = self.numbers.lists
        shape = self.numbers.expected.get(number)
        if number not in lists and isinstance(shape, Matrix):
            read = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} if node is not None else set()
            if not isinstance(node, ast.Name | ast.Subscript) or read & self.late:
                return None
            self.before.append(self.unpacked(node, number, shape))
        if number not in lists:
            return self._atom(number, state)
        parts = node.elts if isinstance(node, ast.List) else [None] * len(lists[number])
        cells = [self._cells(element, part, state) for element, part in zip(lists[number], parts, strict=True)]
        return None if None in cells else cells

    def unpacked(self, node: ast.expr, number: int, shape: Matrix) -> ast.stmt:
        """`((a, b),) = matrix`, which raises if the matrix has another size than was expected."""
        rows = [[self.names.local("cell") for _ in range(shape.width)] for _ in range(shape.height)]
        numbers = []
        for row in rows:
            cells = [self.numbers.fresh() for _ in row]
            for state in self.places:
                state.numbers.update(zip(row, cells, strict=True))
                state.holders.update(zip(cells, row, strict=True))
            numbers.append(self.numbers.list(cells))
        self.numbers.lists[number] = tuple(numbers)
        inner: list[ast.expr] = [ast.Tuple([ast.Name(cell, ast.Store()) for cell in row], ast.Store()) for row in rows]
        return ast.Assign([ast.Tuple(inner, ast.Store())], node)


class _Put(ast.NodeTransformer):
    """Puts a call where a text names it."""

    def __init__(self, call: ast.Call) -> None:
        self._call = call

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._call if node.id == CALL else node
