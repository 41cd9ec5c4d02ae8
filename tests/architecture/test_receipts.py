"""Who reads the body of a receipt names its type: no untyped `body["..."]` outside the modules that declare receipts.

Looked at are names `body` and attributes `.body`. The name must be typed where it is bound: as a parameter, by an
annotation, or by `typed(Class, body)`.
"""

import ast

import pytest

OWNERS = (
    "engine/specledger/evidence/receipts/",
    "engine/specledger/wings/laws/receipts.py",
    "engine/specledger/wings/discovery/receipts.py",
)

MESSAGES = {
    "events.py": "owned and breached read any receipt's agent",
    "outside_agent.py": "messages of an agent from outside",
    "outside_proposals.py": "messages of an agent from outside",
    "session.py": "messages of an agent from outside",
    "model_replay.py": "messages of an agent that is a model",
    "openai.py": "a request to a service",
    "episode.py": "it makes the bodies",
    "discovery_state.py": "it makes the bodies",
    "assessment.py": "it makes the bodies",
}
"""By the name of a module what its bodies are, if they are not receipts that are read, or why they are not typed."""

UNTYPED = {"Any", "object", "Body", "Data", "Mapping[str, Any]", "dict[str, Any]", "Mapping[str, object]"}


def bound(scope, outer):
    """Whether `body` is typed in a function: by a parameter, an annotation or `typed`; as outside if it is not bound."""
    known = outer
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        for argument in [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]:
            if argument.arg == "body":
                known = argument.annotation is not None and ast.unparse(argument.annotation) not in UNTYPED
    for node in inside(scope):
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "body":
            known = ast.unparse(node.annotation) not in UNTYPED
        elif isinstance(node, ast.Assign) and any(
            is_body(name, ast.Store) for target in node.targets for name in ast.walk(target)
        ):
            known = ast.unparse(node.targets[0]) == "body" and is_typed(node.value)
    return known


def is_body(node, context=ast.Load):
    return isinstance(node, ast.Name) and node.id == "body" and isinstance(node.ctx, context)


def is_typed(value):
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "typed"


def inside(scope):
    """The nodes of a function that are in no function of it."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += ast.iter_child_nodes(node)


def read(node):
    """What a node reads by a key that is a literal, by a subscript or by `get`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        return node.func.value if isinstance(node.args[0], ast.Constant) else None
    return None


def untyped(text):
    """The lines of a module at which an untyped body is read."""
    lines: list[int] = []
    if "body" not in text:
        return lines

    def visit(scope, outer):
        known = bound(scope, outer)
        for node in inside(scope):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                visit(node, known)
            of = read(node)
            if (of is not None and is_body(of) and not known) or (isinstance(of, ast.Attribute) and of.attr == "body"):
                lines.append(node.lineno)

    visit(ast.parse(text), False)
    return sorted(lines)


OFFENDERS = {
    "a mapping": 'def f(body: Mapping[str, Any]):\n    return body["t"]',
    "an alias of a mapping": 'def f(body: Body):\n    return body["t"]',
    "no annotation": 'def f(body):\n    return body["t"]',
    "a loop": 'def f(events):\n    for type_, body in events:\n        yield body["t"]',
    "a comprehension": 'def f(events):\n    return [body["t"] for _, body in events]',
    "an attribute": 'def f(event):\n    return event.body["t"]',
    "get": 'def f(event):\n    return event.body.get("t", 0)',
    "an assignment": 'def f(event):\n    body = event.body\n    return body["t"]',
    "an inner function": 'def f(body: Any):\n    def g():\n        return body["t"]\n    return g',
}

INNOCENT = {
    "a typed parameter": 'def f(body: Step):\n    return body["t"]',
    "a union": 'def f(body: run.Step | run.EpisodeEnd):\n    return body["episode"]',
    "a typed name": 'def f(event):\n    body = typed(Step, event.body)\n    return body["t"]',
    "an annotated name": 'def f(event):\n    body: Step = read(event)\n    return body["t"]',
    "an inner function": 'def f(body: Step):\n    def g():\n        return body["t"]\n    return g',
    "another key": "def f(body: Body, name):\n    return body[name]",
    "what is read by its type": 'def f(event):\n    return typed(Step, event.body)["t"]',
}


@pytest.mark.parametrize("text", OFFENDERS.values(), ids=OFFENDERS)
def test_an_untyped_body_is_noticed(text):
    assert untyped(text)


@pytest.mark.parametrize("text", INNOCENT.values(), ids=INNOCENT)
def test_a_typed_body_is_not(text):
    assert untyped(text) == []


@pytest.fixture(scope="module")
def reading(sources):
    """The lines at which an untyped body is read, of each module that has such lines."""
    return {path: lines for path, text in sources.items() if (lines := untyped(text))}


def test_no_untyped_body_is_read(reading):
    read = {
        path: lines
        for path, lines in reading.items()
        if not path.startswith(OWNERS) and path.rpartition("/")[2] not in MESSAGES
    }
    assert read == {}


def test_every_exemption_is_needed(reading):
    needed = {path.rpartition("/")[2] for path in reading}
    assert set(MESSAGES) - needed == set()
