"""Reuse in spec files: how one document is laid over another, what parameters are given, and the cases of a matrix."""

import math
from itertools import product
from urllib.parse import quote

from tools.verifier.sources_form import fixed_millionths, fixed_text
from tools.verifier.yaml_scalars import unjudged, unreadable

MOST_CASES_OF_A_MATRIX = 4096
PARAM_TYPES = ("int", "bool", "string", "qfixed", "double")


def laid_over(base, over):
    """One value over another: mappings merge key by key, a mapping over a list of items by their ids."""
    if isinstance(over, dict) and has_items(base):
        return laid_over_items(base, over)
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    made = dict(base)
    for key, value in over.items():
        made[key] = laid_over(made[key], value) if key in made else value
    return made


def has_items(value):
    """Whether a value is a list whose elements are told apart by their ids."""
    return isinstance(value, list) and value and all(isinstance(one, dict) and "id" in one for one in value)


def laid_over_items(base, over):
    """A mapping over a list of items: each member changes the item of its name, null takes it away, others are added.

    What is added stands at the end, in the order of the names.
    """
    left, made = dict(over), []
    for item in base:
        name = str(item["id"])
        if name not in left:
            made.append(item)
        else:
            change = left.pop(name)
            made += [] if change is None else [laid_over(item, change)]
    for name in sorted(left):
        if left[name] is None:
            unreadable(f"there is no item {name!r} to take away")
        made.append({"id": name, **left[name]} if isinstance(left[name], dict) else left[name])
    return made


def declared_params(node):
    """What a document declares: by the name of each parameter its type, and its default in a tuple, or ()."""
    if node is None:
        return {}
    made = {}
    for name, one in mapping_of(node, "params").items():
        parts = one if isinstance(one, dict) else {"type": one}
        if parts.get("type") not in PARAM_TYPES:
            unreadable(f"the parameter {name} has no type")
        type_ = str(parts["type"])
        made[name] = (type_, (fitted(name, type_, parts["default"]),) if "default" in parts else ())
    return made


def mapping_of(value, what):
    """A mapping."""
    return value if isinstance(value, dict) else unreadable(f"{what} is no mapping")


def list_of(value, what):
    """A list."""
    return value if isinstance(value, list) else unreadable(f"{what} is no list")


def fitted(name, type_, value):
    """A value as that of a parameter of a type; whether it lies in the parameter's range is not looked at."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    fits = {
        "int": number and isinstance(value, int),
        "bool": isinstance(value, bool),
        "string": isinstance(value, str),
        "double": number,
        "qfixed": fixed_millionths(value) is not None,
    }
    if not fits[type_]:
        unreadable(f"the parameter {name} is of the type {type_}")
    return float(value) if type_ == "double" else value


def bound_params(params, given, owner):
    """The value of each parameter: what is given, or its default."""
    for name in given:
        if name not in params:
            unreadable(f"{owner} has no parameter {name}")
    made = {}
    for name, (type_, default) in params.items():
        if name not in given and not default:
            unreadable(f"{owner} needs a value for its parameter {name}")
        made[name] = fitted(name, type_, given[name]) if name in given else default[0]
    return made


def filled_in(root, values):
    """A document with values in place of `${name}`, except in what is for people alone."""
    return {key: one if key in ("doc", "metadata") else filled_value(one, values) for key, one in root.items()}


def filled_value(value, values):
    """The same for a value."""
    if isinstance(value, dict):
        if any("${" in key for key in value):
            unreadable("a parameter inside of a key")
        return {key: filled_value(one, values) for key, one in value.items()}
    if isinstance(value, list):
        return [filled_value(one, values) for one in value]
    if not isinstance(value, str) or "${" not in value:
        return value
    if not (value.startswith("${") and value.endswith("}") and value[2:-1] in values):
        unreadable(f"{value[:40]!r} is no parameter alone")
    return values[value[2:-1]]


def cases_of(node, params):
    """The arguments of each case of a matrix by its id; one case without arguments where there is no matrix."""
    if node is None:
        return {"": {}}
    axes = dict(mapping_of(node, "matrix"))
    exclude, include = axes.pop("exclude", None), axes.pop("include", None)
    for name, values in axes.items():
        axes[name] = [matrix_value(name, params, one) for one in list_of(values, "an axis of a matrix")]
    if math.prod(map(len, axes.values())) > MOST_CASES_OF_A_MATRIX:
        unreadable("the matrix has too many cases")
    chosen = [dict(zip(axes, values)) for values in product(*axes.values())] if axes else []
    for entry in entries_of(exclude, axes, params):
        words = {name: case_word(params, name, value) for name, value in entry.items()}
        kept = [case for case in chosen if any(case_word(params, name, case[name]) != words[name] for name in words)]
        if len(kept) == len(chosen):
            unreadable("an exclusion from a matrix excludes nothing")
        chosen = kept
    chosen += entries_of(include, params, params)
    made = {}
    for case in chosen:
        names = [name for name in dict.fromkeys([*axes, *params]) if name in case]
        id_ = ",".join(f"{name}={case_word(params, name, case[name])}" for name in names)
        if id_ in made:
            unreadable(f"the case {id_} is there twice")
        made[id_] = case
    return made


def matrix_value(name, params, value):
    """A value of an axis."""
    if name not in params:
        unreadable(f"{name} cannot vary in a matrix")
    return fitted(name, params[name][0], value)


def entries_of(node, names, params):
    """What `include` or `exclude` lists."""
    found = [] if node is None else list_of(node, "what a matrix includes or excludes")
    made = []
    for entry in found:
        if not mapping_of(entry, "an entry of a matrix") or not entry.keys() <= set(names):
            unreadable("an entry of a matrix names something else")
        made.append({name: matrix_value(name, params, value) for name, value in entry.items()})
    return made


def case_word(params, name, value):
    """A value as it stands in the id of a case."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return quote(fixed_text(value) if params[name][0] == "qfixed" else str(value), safe="")


def used_with(value):
    """A reference: its text and its arguments; None for what is none."""
    if isinstance(value, str):
        return value, {}
    if not isinstance(value, dict) or not {"use"} <= value.keys() <= {"use", "with"}:
        return None
    given = value.get("with", {})
    return (value["use"], given) if isinstance(value["use"], str) and isinstance(given, dict) else None


def same_arguments(values):
    """What makes two sets of arguments the same."""
    for value in values.values():
        if isinstance(value, (dict, list)):
            unjudged("an argument that is no scalar")
    return tuple((name, repr(plain_scalar(values[name]))) for name in sorted(values))


def plain_scalar(value):
    """A scalar without the file that it is of."""
    return str(value) if isinstance(value, str) else value
