"""Common subexpressions of generated functions: what two expressions have in common is computed once.

The values of a function are numbered from its first line to its last; an expression whose value a local already holds
becomes that local. `rewriting` handles expressions, `cellwise` small matrices.

This relies on properties of generated code: every bound function is pure, records are changed only where the function
has just copied them, and whenever the function raises, a slower one decides. So a rewritten function may raise where
the original does not (a matrix without the expected size), but never returns another value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from specledger.expr.generate.ast_allowlist import within
from specledger.expr.generate.numbering import Matrix, Place
from specledger.expr.generate.rewriting import CHANGING, Rewriting
from specledger.expr.generate.source import Names

_ENDS: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def share(tree: ast.Module, names: Names) -> ast.Module:
    """Rewrite every function of a module that was generated.

    Args:
        tree: The module; it is changed.
        names: The names of the module; locals are added.
    """
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            _Function(function, names).rewrite()
    return ast.fix_missing_locations(tree)


class _Function(Rewriting):
    def __init__(self, function: ast.FunctionDef, names: Names) -> None:
        super().__init__(names)
        self._function = function
        self._stored = {
            name
            for node in within(function)
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
            for name in _assigned(node)
        }

    def rewrite(self) -> None:
        state = Place()
        for argument in self._function.args.args:
            number = self.fresh(state, argument.arg)
            if argument.arg in self.names.expected:
                self.numbers.expected[number] = self.names.expected[argument.arg]
        self._function.body, _ = self._block(self._function.body, state)

    def _block(self, statements: Sequence[ast.stmt], state: Place) -> tuple[list[ast.stmt], bool]:
        """The statements rewritten, and whether they end in a jump; `state` becomes what is known after them."""
        rewritten: list[ast.stmt] = []
        for statement in self._celled(statements):
            around = self.before, self.places, self.late
            self.before, self.places, self.late = [], [state], set()
            after = self._statement(statement, state)
            rewritten += [*self.before, *after]
            self.before, self.places, self.late = around
        return rewritten, bool(statements) and isinstance(statements[-1], _ENDS)

    def _celled(self, statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
        """The statements, with the cells of matrices that are written as displays computed before them."""
        for statement in statements:
            match statement:
                case ast.Assign(targets=[ast.Name()], value=ast.List(elts=[ast.List(), *_] as rows)):
                    for row in [row for row in rows if isinstance(row, ast.List)]:
                        for index, cell in enumerate(row.elts):
                            if isinstance(cell, ast.BinOp | ast.UnaryOp | ast.IfExp):
                                name = self.names.local("cell")
                                yield ast.Assign([ast.Name(name, ast.Store())], cell)
                                row.elts[index] = ast.Name(name, ast.Load())
            yield statement

    def _statement(self, statement: ast.stmt, state: Place) -> list[ast.stmt]:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]):
                return self._assign(statement, name, state)
            case ast.Assign(targets=[ast.Subscript() as target]):
                return self._store(statement, target, state)
            case ast.Return(value=ast.expr() as value) | ast.Expr(value=ast.expr() as value):
                statement.value = self.expression(value, state)[0]
                return [statement]
            case ast.If():
                return self._if(statement, state)
            case ast.For():
                return self._for(statement, state)
            case ast.Try():
                statement.body, _ = self._block(statement.body, state.copy())
        for name in _assigned(statement):
            self.fresh(state, name)
        return [statement]

    def _assign(self, statement: ast.Assign, name: str, state: Place) -> list[ast.stmt]:
        if isinstance(statement.value, ast.Dict) and name in self._stored:
            number = self.record(statement.value, state, its_own=True)
        else:
            statement.value, number = self.expression(statement.value, state)
        state.numbers[name] = number
        if state.holder(number) is None:
            state.holders[number] = name
        shape = self.numbers.expected.get(number)
        if isinstance(shape, Matrix) and number not in self.numbers.lists:
            return [statement, self.unpacked(ast.Name(name, ast.Load()), number, shape)]
        return [statement]

    def _store(self, statement: ast.Assign, target: ast.Subscript, state: Place) -> list[ast.stmt]:
        """`record[key] = value`, of a record that this function has copied."""
        statement.value, number = self.expression(statement.value, state)
        keys: list[str] = []
        root: ast.expr = target
        while isinstance(root, ast.Subscript):
            key = root.slice.value if isinstance(root.slice, ast.Constant) else None
            keys.append(key if isinstance(key, str) else "")
            root = root.value
        if isinstance(root, ast.Name):
            before = state.numbers.get(root.id)
            self.numbers.change_inside(before, keys[:0:-1])
            after = self.numbers.changed(before, keys[-1], number if len(keys) == 1 else self.numbers.fresh())
            for name in [name for name, known in state.numbers.items() if known == before]:
                state.numbers[name] = after
            state.numbers[root.id] = after
            state.holders[after] = root.id
        return [statement]

    def _if(self, statement: ast.If, state: Place) -> list[ast.stmt]:
        statement.test = self.expression(statement.test, state)[0]
        then, otherwise = state.copy(), state.copy()
        statement.body, ends = self._block(statement.body, then)
        statement.orelse, ends_too = self._block(statement.orelse, otherwise)
        if ends:
            then = otherwise
        elif ends_too:
            otherwise = then
        merged = self._merged(then, otherwise)
        state.numbers, state.holders = merged.numbers, merged.holders
        return [statement]

    def _merged(self, first: Place, other: Place) -> Place:
        """What is known where two ways meet."""
        merged_numbers: dict[tuple[int, int], int] = {}
        merged = Place()
        for name in first.numbers.keys() & other.numbers.keys():
            pair = first.numbers[name], other.numbers[name]
            if pair[0] != pair[1] and pair not in merged_numbers:
                merged_numbers[pair] = self.numbers.merged(*pair)
                merged.holders[merged_numbers[pair]] = name
            merged.numbers[name] = merged_numbers.get(pair, pair[0])
        for number, name in first.holders.items():
            if merged.numbers.get(name) == number:
                merged.holders[number] = name
        return merged

    def _for(self, statement: ast.For, state: Place) -> list[ast.stmt]:
        """What the body changes is unknown at its beginning, in any round but the first, and after the loop."""
        statement.iter = self.expression(statement.iter, state)[0]
        changed = set(_assigned(statement))
        inner = state.copy()
        for name in changed:
            self.forget(inner, name)
        statement.body, _ = self._block(statement.body, inner)
        for name in changed:
            self.forget(state, name)
        return [statement]


def _assigned(node: ast.AST) -> Iterator[str]:
    """Every local that something inside a node sets or changes."""
    for part in within(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            root: ast.expr = part
            while isinstance(root, ast.Subscript):
                root = root.value
            if isinstance(root, ast.Name):
                yield root.id
        elif isinstance(part, ast.Attribute) and part.attr in CHANGING and isinstance(part.value, ast.Name):
            yield part.value.id
