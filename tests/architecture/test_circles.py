"""No modules import each other in a circle: import-linter sees packages; here each module counts.

An import inside of a function counts like one at the top, and so does one for types alone, since a reader follows both.
"""

import ast
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[2] / "engine"
ALLOWED = {
    "specledger": "specledger.api",
}
"""Imports that would close a circle: names of the package come from the API when they are used."""


def modules_in(root):
    """The files of modules below a folder, by module name."""
    files = {}
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return files


def imports_of(tree, known):
    """The known modules that a syntax tree imports, wherever the import stands."""
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            members = {f"{node.module}.{alias.name}" for alias in node.names}
            imported |= members & known
            if not members <= known:
                imported.add(node.module)
    return imported & known


def graph_of(root):
    files = modules_in(root)
    return {
        name: imports_of(ast.parse(file.read_text(encoding="utf-8")), files.keys()) - {name}
        for name, file in files.items()
    }


def reached_from(graph, start):
    """The modules that a module imports, directly or not."""
    reached, pending = set(), list(graph[start])
    while pending:
        module = pending.pop()
        if module not in reached:
            reached.add(module)
            pending += graph[module]
    return reached


def circles_in(graph):
    """The sets of modules that import each other, directly or not."""
    reached = {module: reached_from(graph, module) for module in graph}
    circles = {frozenset(other for other in ways if module in reached[other]) for module, ways in reached.items()}
    return sorted(sorted(circle) for circle in circles if circle)


def test_no_modules_import_each_other():
    graph = graph_of(ENGINE)
    for module, imported in ALLOWED.items():
        assert imported in graph[module]
        graph[module] = graph[module] - {imported}
    assert len(graph) > 300
    assert circles_in(graph) == []


CIRCLES = {
    "at the top": ("from toy.b import B", "from toy.a import A"),
    "a module": ("import toy.b", "from toy import a"),
    "in a function": ("from toy.b import B", "def f():\n    from toy.a import A"),
    "for types alone": ("from toy.b import B", "if TYPE_CHECKING:\n    from toy.a import A"),
    "through a third": ("from toy.b import B", "from toy.c import C"),
}


def written(root, first, second, third=""):
    package = root / "toy"
    package.mkdir()
    for name, text in {"__init__": "", "a": first, "b": second, "c": third}.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    return graph_of(root)


@pytest.mark.parametrize(("first", "second"), CIRCLES.values(), ids=CIRCLES)
def test_a_circle_is_noticed(tmp_path, first, second):
    graph = written(tmp_path, first, second, "from toy.a import A")
    assert [{"toy.a", "toy.b"} <= set(circle) for circle in circles_in(graph)] == [True]


def test_what_is_imported_in_one_direction_is_no_circle(tmp_path):
    assert circles_in(written(tmp_path, "from toy.b import B", "from toy.c import C")) == []
