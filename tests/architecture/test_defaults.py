"""A default number is written once: where another module has the same default, it refers to the first."""

import ast
from collections import defaultdict
from pathlib import Path

ENGINE = Path(__file__).parents[2] / "engine"
DOCUMENTED = {"max_token_budget": 8000, "max_accepted": 30, "max_falsified": 20, "max_unknown": 20, "POLICY_MS": 200}
LEAST = 5
"""A smaller number says nothing of what it is the default of."""


def defaults_in(tree):
    """Name and value of each default of a field, a constant or an argument that is written as a number."""
    for node in ast.walk(tree):
        pairs: list[tuple[str, ast.expr | None]] = []
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            pairs = [(node.target.id, node.value)]
        elif isinstance(node, ast.FunctionDef):
            given = node.args
            pairs = [(one.arg, value) for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
            pairs += [(one.arg, value) for one, value in zip(given.args[::-1], given.defaults[::-1], strict=False)]
        for name, value in pairs:
            if isinstance(value, ast.Constant) and type(value.value) is int and value.value >= LEAST:
                yield name, value.value


def test_a_default_is_written_once():
    places: dict[tuple[str, int], list[str]] = defaultdict(list)
    for file in sorted(ENGINE.rglob("*.py")):
        for default in defaults_in(ast.parse(file.read_text(encoding="utf-8"))):
            places[default].append(file.relative_to(ENGINE).as_posix())
    keys = {default: set(files) for default, files in places.items() if default[0].islower()}
    assert {default: files for default, files in keys.items() if len(files) > 1} == {}
    assert [name for name, value in DOCUMENTED.items() if len(places[name, value]) != 1] == []


def test_the_search_sees_fields_and_arguments():
    tree = ast.parse(
        "budget: int = 8000\ndef f(a, least=3, most=70, *, budget=8000): ...\nclass A:\n    n: int = 200\n"
    )
    assert sorted(defaults_in(tree)) == [("budget", 8000), ("budget", 8000), ("most", 70), ("n", 200)]
