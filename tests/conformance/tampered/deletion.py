"""Checks taken out of a verifier, one at a time: a site that refuses is replaced by nothing, and put back.

The function around a site is compiled without it, and its code put in the place of its own: whoever holds the function
calls the other code.
"""

import ast
import inspect
import sys
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NamedTuple

CALLS = {"demand", "_demand", "require", "need", "agree", "shape"}
"""Functions that refuse unless their first argument holds."""
RAISED = {"Broken", "Finding", "NoEvidence", "not_shown", "Lacking", "Refuted", "Open", "ValueError", "Rejected", "InvalidCertificate", "InvalidArchive", "TapeError", "InvalidNote", "InvalidEnvelope", "InvalidTimestamp", "InvalidSources"}  # fmt: skip


class Site(NamedTuple):
    """One place where evidence is refused: its module, the function at the module's or a class's top, and its lines."""

    module: ModuleType
    function: str
    first: int
    last: int

    @property
    def owner(self):
        """The function that it stands in."""
        return f"{self.module.__name__.rpartition('.')[2]}:{self.function}"

    def __str__(self):
        return f"{self.owner}:{self.first}"

    def holds(self, place):
        file, line = place
        return file == self.module.__file__ and self.first <= line <= self.last


def refuses(node):
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        return getattr(node.exc.func, "id", "") in RAISED
    called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    return getattr(called, "attr", getattr(called, "id", "")) in CALLS


@cache
def functions(module):
    """The functions of a module and of its classes: nodes by qualified names."""
    found: dict[str, Any] = {}
    for node in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            inside = [inner for inner in node.body if isinstance(inner, ast.FunctionDef)]
            found |= {f"{node.name}.{inner.name}": inner for inner in inside}
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = node
    return found


def sites(module):
    """Every site of a module that refuses, but for the functions that only do it for others."""
    return [
        Site(module, name, node.lineno, node.end_lineno or node.lineno)
        for name, function in functions(module).items()
        if name.rpartition(".")[2] not in CALLS
        for node in ast.walk(function)
        if isinstance(node, ast.stmt) and refuses(node)
    ]


class Remover(ast.NodeTransformer):
    def __init__(self, site):
        self.site = site

    def visit(self, node):
        if refuses(node) and node.lineno == self.site.first:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)


@contextmanager
def without(site):
    """The verifier without a site."""
    found = site.module
    for name in site.function.split("."):
        found = inspect.getattr_static(found, name)
    function = getattr(found, "__func__", getattr(found, "fget", found))
    function = inspect.unwrap(function)
    node = Remover(site).visit(deepcopy(functions(site.module)[site.function]))
    node.decorator_list = []
    owner, _, _ = site.function.rpartition(".")
    body = [ast.ClassDef(owner, [], [], [node], [])] if owner else [node]
    code = compile(ast.fix_missing_locations(ast.Module(body, [])), site.module.__file__, "exec")
    for inner in [owner, node.name] if owner else [node.name]:
        code = next(one for one in code.co_consts if inspect.iscode(one) and one.co_name == inner)
    before = function.__code__
    function.__code__ = code
    try:
        yield
    finally:
        function.__code__ = before


@contextmanager
def watching(*exceptions):
    """The places where exceptions of these types are made, as they come: (file, line) of all frames that are running."""
    places = []
    before = [(one, one.__init__) for one in exceptions]

    def noting(original):
        def made(self, *given, **named):
            frame: FrameType | None = sys._getframe(1)
            while frame is not None:
                places.append((frame.f_code.co_filename, frame.f_lineno))
                frame = frame.f_back
            original(self, *given, **named)

        return made

    for one, original in before:
        one.__init__ = noting(original)
    try:
        yield places
    finally:
        for one, original in before:
            one.__init__ = original
