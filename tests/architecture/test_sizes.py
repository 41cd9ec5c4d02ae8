"""Modules and functions stay small enough to be read at once."""

import ast

import pytest

MODULE_GOAL, MODULE_LIMIT = 350, 400  # lines
GOAL_SHARE = 10  # at most one module in so many may be above the goal, none above the limit
FUNCTION_LIMIT = 50  # lines without the docstring


def lines(node):
    """Lines from the first to the last of a node; a decorator is not one of them."""
    return node.end_lineno - node.lineno + 1


def function_sizes(text):
    """Each (name, number of lines from its `def` to its end without its docstring) of a module."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documented = ast.get_docstring(node) is not None
            yield node.name, lines(node) - (lines(node.body[0]) if documented else 0)


def long_functions(sources):
    """Functions above the limit by path, with their sizes."""
    sizes = {f"{path}: {name}": size for path, text in sources.items() for name, size in function_sizes(text)}
    return {name: size for name, size in sizes.items() if size > FUNCTION_LIMIT}


def long_modules(sources, limit):
    """Modules above a number of lines, with their sizes."""
    sizes = {path: len(text.splitlines()) for path, text in sources.items()}
    return {path: size for path, size in sizes.items() if size > limit}


def test_no_module_is_above_the_limit(sources):
    assert long_modules(sources, MODULE_LIMIT) == {}


def test_few_modules_are_above_the_goal(sources):
    over = long_modules(sources, MODULE_GOAL)
    assert len(over) <= len(sources) // GOAL_SHARE, over


def test_no_function_is_above_the_limit(sources):
    assert long_functions(sources) == {}


@pytest.mark.parametrize(("body", "size"), [(49, None), (50, 51)])
@pytest.mark.parametrize("docstring", [0, 30])
@pytest.mark.parametrize("head", ["def f():", "async def f():", "class C:\n def f(self):"])
def test_lines_of_a_function_are_counted_without_its_docstring(head, docstring, body, size):
    text = [head, *(['  """'] + ["  words"] * (docstring - 2) + ['  """']) * bool(docstring), *["  pass"] * body]
    assert long_functions({"m.py": "\n".join(text)}) == ({} if size is None else {"m.py: f": size})


def test_lines_of_a_module_are_counted():
    assert long_modules({"short.py": "\n" * 400, "long.py": "\n" * 401}, MODULE_LIMIT) == {"long.py": 401}
