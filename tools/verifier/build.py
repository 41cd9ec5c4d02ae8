"""Join the modules of this package into `tools/verify.py`: `python -m tools.verifier.build [--check]`.

A verifier that people fetch alone is one file; people who write it want modules. The joined file holds the modules in
the order in which they need one another, without the imports between them, with those of the standard library on top.
Refused is what would mean something else once joined: a name that two modules give, one that hides a built-in or an
imported module, an import of anything but this package's names and the standard library, a circle, and syntax that
Python 3.9 does not know.
"""

from __future__ import annotations

import ast
import builtins
import sys
import textwrap
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

PACKAGE = "tools.verifier"
HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "verify.py"
MAIN = "main"
WIDTH = 120
LEFT_OUT = ("__init__", "build")
END = 'if __name__ == "__main__":\n    sys.exit(main())\n'


class Module(NamedTuple):
    """One module: its docstring, what it imports from the standard library and from here, its names, its text."""

    name: str
    doc: str
    outside: frozenset[str]
    needs: frozenset[str]
    names: tuple[str, ...]
    body: str


class Unjoinable(Exception):
    """The modules cannot be joined without a change of meaning."""


def read_module(path: Path) -> Module:
    """Read one module and take it apart.

    Raises:
        Unjoinable: It imports in a way that cannot be kept, or Python 3.9 could not read it.
    """
    text = path.read_text(encoding="utf-8")
    try:
        tree = ast.parse(text, feature_version=(3, 9))
    except SyntaxError as error:
        raise Unjoinable(f"{path.name}: {error}") from None
    outside: set[str] = set()
    needs: set[str] = set()
    last, names = tree.body[0].end_lineno or 0, []
    for index, node in enumerate(tree.body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            outside |= _standard(node, path.name)
            needs |= _inside(node, path.name)
            last = node.end_lineno or 0
        elif index:
            names += _bound(node)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and node not in tree.body:
            raise Unjoinable(f"{path.name}:{node.lineno}: an import stands at the top of a module")
    body = "\n".join(text.split("\n")[last:]).strip("\n")
    doc = ast.get_docstring(tree) or ""
    return Module(path.stem, doc, frozenset(outside), frozenset(needs), tuple(names), body)


def _standard(node: ast.Import | ast.ImportFrom, where: str) -> set[str]:
    """The import as lines of the joined file, one for each name; none if it is of this package."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
        return set()
    modules = [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    plain = all(one.asname is None for one in node.names) and not getattr(node, "level", 0)
    if not plain or any(name.partition(".")[0] not in sys.stdlib_module_names for name in modules):
        raise Unjoinable(f"{where}:{node.lineno}: only the standard library is imported, under its own names")
    if isinstance(node, ast.Import):
        return {f"import {one.name}" for one in node.names}
    return {f"from {node.module} import {one.name}" for one in node.names}


def _inside(node: ast.Import | ast.ImportFrom, where: str) -> set[str]:
    """The modules of this package that it imports names of."""
    if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(f"{PACKAGE}."):
        return set()
    if any(one.asname is not None or one.name == "*" for one in node.names):
        raise Unjoinable(f"{where}:{node.lineno}: names of this package keep their names")
    return {(node.module or "").removeprefix(f"{PACKAGE}.")}


def _bound(node: ast.stmt) -> list[str]:
    """The names that a statement gives to its module; those that it only changes are none."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)]
    return []


def ordered(modules: dict[str, Module]) -> list[Module]:
    """The modules that the main one needs, each after those that it needs itself, by name where that leaves a choice.

    Raises:
        Unjoinable: A module is not there, or they need one another in a circle (as `CycleError`, a ValueError).
    """
    graph: dict[str, list[str]] = {}
    todo = [MAIN]
    while todo:
        name = todo.pop()
        if name not in modules:
            raise Unjoinable(f"there is no module {name}")
        if name not in graph:
            graph[name] = sorted(modules[name].needs)
            todo += graph[name]
    sorter = TopologicalSorter({name: graph[name] for name in sorted(graph)})
    sorter.prepare()
    order: list[Module] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        order += [modules[name] for name in ready]
        sorter.done(*ready)
    return order


def check_names(modules: list[Module]) -> None:
    """See that every name means one thing in the joined file.

    Raises:
        Unjoinable: It does not.
    """
    taken: dict[str, str] = dict.fromkeys(dir(builtins), "Python")
    for module in modules:
        for line in module.outside:
            taken[line.split(" ")[-1]] = "the standard library"
    for module in modules:
        for name in dict.fromkeys(module.names):
            if name in taken:
                raise Unjoinable(f"{module.name}: the name {name} is taken by {taken[name]}")
            taken[name] = module.name


def joined(folder: Path = HERE) -> str:
    """The text of the one file.

    Raises:
        Unjoinable: The modules cannot be joined.
    """
    paths = [path for path in sorted(folder.glob("*.py")) if path.stem not in LEFT_OUT]
    modules = ordered({path.stem: read_module(path) for path in paths})
    check_names(modules)
    head = next(module for module in modules if module.name == MAIN)
    built = f"# Built by `python -m {PACKAGE}.build` from the modules there."
    parts = []
    for module in modules:
        gap = "\n\n\n" if module.body.startswith(("def ", "class ", "@")) else "\n\n"
        doc = "" if module is head else module.doc
        lines = [part for line in doc.split("\n") for part in textwrap.wrap(line, WIDTH - 2) or [""]]
        comment = "\n".join(f"# {line}".rstrip() for line in lines)
        parts.append(f"{comment}{gap}{module.body}" if doc else module.body)
    top = [f'#!/usr/bin/env python3\n"""{head.doc}\n"""', built, "\n".join(_imports(modules))]
    return "\n\n".join([*top, "\n\n\n".join([*parts, END])])


def _imports(modules: list[Module]) -> list[str]:
    """The imports of all of them: whole modules first, then names of modules, each module once."""
    lines = sorted({line for module in modules for line in module.outside} | {"import sys"})
    whole = [line for line in lines if line.startswith("import ")]
    named: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith("from "):
            _, source, _, name = line.split(" ")
            named.setdefault(source, []).append(name)
    return [*whole, *(f"from {source} import {', '.join(names)}" for source, names in named.items())]


def main() -> int:
    """Write the one file; with `--check` only say whether it is what the modules come to."""
    try:
        text = joined()
    except (Unjoinable, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if "--check" in sys.argv[1:]:
        current = TARGET.read_text(encoding="utf-8") == text
        print(f"{TARGET.name} is {'what its modules come to' if current else f'stale: python -m {PACKAGE}.build'}")
        return 0 if current else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
