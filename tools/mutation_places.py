"""Where a fault could be noticed: places of a module that decide something at run time, and what stands around them."""

import ast
from collections.abc import Iterator

Position = tuple[int, int]


def idle(source: str) -> list[tuple[Position, Position]]:
    """Ranges in which a fault changes nothing that a test could state, by rules.

    Annotations are never evaluated. Decorators and keywords of classes only forbid what mypy refuses (`frozen`), and
    `strict` of `zip` is an assertion. Blocks for types, names of types, overloads and `__repr__` decide nothing.
    """
    return [
        ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0))
        for node in _idle_nodes(ast.parse(source))
    ]


def _idle_nodes(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    for node in ast.walk(tree):
        yield from filter(None, (getattr(node, name, None) for name in ("annotation", "returns")))
        yield from getattr(node, "decorator_list", ())
        match node:
            case ast.ClassDef(keywords=keywords):
                yield from (keyword.value for keyword in keywords)
            case ast.Call(func=ast.Name("zip"), keywords=keywords):
                yield from (keyword.value for keyword in keywords)
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                yield node.test
                yield from node.body
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.BitOr()) as union) if name.istitle():
                yield union
            case ast.FunctionDef(name="__repr__"):
                yield node
            case ast.FunctionDef(decorator_list=[ast.Name("overload")]):
                yield node


def candidates(source: str) -> list[int]:
    """Lines at which something is compared, computed, counted, chosen or repeated: where a fault may be put."""
    ranges = idle(source)
    places = {(node.lineno, node.col_offset) for node in _changeable(ast.parse(source))}
    return sorted({place[0] for place in places if not any(start <= place < end for start, end in ranges)})


def _changeable(tree: ast.AST) -> Iterator[ast.expr | ast.stmt | ast.ExceptHandler]:
    for node in ast.walk(tree):
        match node:
            case ast.If(test=part) | ast.While(test=part) | ast.IfExp(test=part) | ast.For(iter=part):
                yield part
            case ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.Compare():
                yield node
            case ast.Constant(value=int() | float()) | ast.Break() | ast.Continue() | ast.ExceptHandler():
                yield node


def lines(source: str, line: int) -> range | None:
    """The lines of the statement at a line, up to it; None outside functions, where only an import gets."""
    tree = ast.parse(source)
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    ]
    if not any(node.lineno <= line <= (node.end_lineno or 0) and _inside(node, line) for node in functions):
        return None
    starts = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt) and node.lineno <= line]
    return range(max(starts, default=line), line + 1)


def _inside(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, line: int) -> bool:
    """Whether a line is in the body: defaults of parameters are evaluated where the function is defined."""
    first = node.body if isinstance(node, ast.Lambda) else node.body[0]
    return line >= first.lineno
