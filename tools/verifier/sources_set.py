"""Changes of a resolved spec, `path=value`: how a path finds its place, and what it hands on to a spec referred to."""

import re

from tools.verifier.sources_form import REFERENCES, inner_shapes, keys_of_mapping, mappings_in, place_name, shape_of_key
from tools.verifier.yaml_read import read_setting
from tools.verifier.yaml_scalars import unreadable

STEP = re.compile(r'"([^"]*)"|([^."=]+)')


class Handed:
    """A reference with the changes of the spec that it leads to."""

    def __init__(self, value, changes):
        self.value, self.changes = value, changes


def read_change(text):
    """The steps of the path of a change, and its value."""
    steps, at = [], 0
    match = STEP.match(text)
    while match:
        steps.append(match[1] if match[1] is not None else match[2].strip())
        at = match.end() + 1
        match = STEP.match(text, at) if text[at - 1 : at] == "." else None
    if not steps or text[at - 1 : at] != "=" or not text[at:].strip():
        unreadable(f"{text[:80]!r} is no change")
    value = read_setting(text[at:])
    if holds_param(value):
        unreadable("a change holds a parameter")
    return tuple(steps), value


def holds_param(value):
    """Whether a value holds the mark of a parameter."""
    if isinstance(value, (dict, list)):
        return any(map(holds_param, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and "${" in value


def changed_at(node, shapes, kind, steps, value, argument=False):
    """A node with the value at the end of a path.

    Args:
        node: What is changed.
        shapes: What may stand there: (shape, the kind that a reference there means, None where there is none).
        kind: The kind of the spec.
        steps: The path from here.
        value: What is put there.
        argument: Whether the members of the node are arguments of a reference.
    """
    if not steps:
        return value
    if refers_at(shapes):
        handed = node if isinstance(node, Handed) else Handed(node, ())
        if steps[0] not in ("with", "use"):
            return Handed(handed.value, (*handed.changes, (steps, value)))
        parts = handed.value if isinstance(handed.value, dict) else {"use": handed.value}
        return Handed(changed_member({"with": {}, **parts}, shapes, kind, steps, value, argument), handed.changes)
    if isinstance(node, dict):
        return changed_member(node, shapes, kind, steps, value, argument)
    return changed_element(node, shapes, kind, steps, value)


def refers_at(shapes):
    """Whether a reference may stand there, and not a list of them."""
    return any(meant and not inner_shapes(shape, "[") for shape, meant in shapes)


def changed_member(node, shapes, kind, steps, value, argument):
    """The same for a mapping."""
    step, rest = steps[0], steps[1:]
    refers = refers_at(shapes)
    names = [name for shape, _ in shapes for name in mappings_in(shape)]
    known = {key.rstrip("!") for name in names for key in keys_of_mapping(kind, name)}
    known |= {"with", "use"} if refers else set()
    if step not in node and (rest or not (step in known or argument)):
        unreadable(f"a change of {step!r}, which is not there")
    inner = [] if refers else member_shapes(shapes, kind, step)
    return {**node, step: changed_at(node.get(step), inner, kind, rest, value, refers and step == "with")}


def member_shapes(shapes, kind, step):
    """What may stand under a key."""
    made = []
    for shape, _ in shapes:
        for name in mappings_in(shape):
            found = shape_of_key(kind, name, step)
            meant = REFERENCES.get(place_name(kind, name, step))
            made += [] if found is None else [(found, meant)]
        made += [(inner, None) for inner in inner_shapes(shape, "{")]
    return made


def changed_element(node, shapes, kind, steps, value):
    """The same for a list: an element is found by its index, its id, name or use, or itself; null takes it away."""
    if not isinstance(node, list):
        unreadable(f"a change inside of what holds nothing: {steps[0]!r}")
    step, rest = steps[0], steps[1:]
    labels = [label_of(one) for one in node]
    if step.isascii() and step.isdigit() and len(step) < 9:
        index = int(step)
    else:
        index = labels.index(step) if step in labels else len(node)
    if index >= len(node):
        unreadable(f"a change of {step!r}, which is not there")
    if not rest and value is None:
        return [*node[:index], *node[index + 1 :]]
    inner = [(one, meant) for shape, meant in shapes for one in inner_shapes(shape, "[")]
    return [*node[:index], changed_at(node[index], inner, kind, rest, value), *node[index + 1 :]]


def label_of(value):
    """What an element of a list is called."""
    value = value.value if isinstance(value, Handed) else value
    if isinstance(value, str):
        return str(value)
    keys = [key for key in ("id", "name", "use") if isinstance(value, dict) and key in value]
    return str(value[keys[0]]) if keys else None
