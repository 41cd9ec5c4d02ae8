"""What specs declare: types, constants, named expressions in the order in which they read one another.

A type is a tuple: ("int", least, greatest), ("bool",), ("string",), ("double",), ("list", item, most), ("map", value),
("record", {name: type}, optional names).
"""

from tools.verifier.basis import Open, demand
from tools.verifier.cel import evaluate
from tools.verifier.syntax import inner_nodes, parse
from tools.verifier.values import BUDGET, Failed

INT_TYPE = ("int", -(2**63), 2**63 - 1)
CELL_TYPE = ("record", {"x": INT_TYPE, "y": INT_TYPE}, frozenset())
NAMED_TYPES = {
    "int": INT_TYPE,
    "qfixed": INT_TYPE,
    "bool": ("bool",),
    "string": ("string",),
    "double": ("double",),
    "cell": CELL_TYPE,
    "field": ("list", ("list", INT_TYPE, 256), 256),
}
SCALAR_CLASSES = {"bool": bool, "string": str, "double": float}
DEEPEST_TYPE = 32


def read_type(spec, named=None, depth=0):
    """The type that a spec writes: a name, or a schema."""
    demand(depth <= DEEPEST_TYPE, "E_SPECS", "types name one another too deep")
    if isinstance(spec, str):
        if spec in NAMED_TYPES:
            return NAMED_TYPES[spec]
        demand(spec in (named or {}), "E_SPECS", f"there is no type {spec!r}")
        return read_type(named[spec], named, depth + 1)
    if "enum" in spec:
        values = spec["enum"]
        return ("int", min(values), max(values)) if type(values[0]) is int else ("string",)
    kind = spec.get("type")
    if kind == "array" or "items" in spec:
        return ("list", read_type(spec.get("items", "int"), named, depth + 1), spec.get("maxItems", 65_536))
    if "additionalProperties" in spec:
        return ("map", read_type(spec["additionalProperties"], named, depth + 1))
    if kind == "object" or "properties" in spec:
        fields = {name: read_type(one, named, depth + 1) for name, one in spec.get("properties", {}).items()}
        return ("record", fields, frozenset(fields) - frozenset(spec.get("required", fields)))
    if kind == "integer":
        return ("int", spec.get("minimum", INT_TYPE[1]), spec.get("maximum", INT_TYPE[2]))
    names = {"boolean": "bool", "string": "string", "number": "double"}
    demand(kind in names, "E_SPECS", "a schema names no type")
    return (names[kind],)


def allowed_values(spec, named=None):
    """The values of a type that lists them, else None."""
    while isinstance(spec, str) and spec not in NAMED_TYPES:
        spec = (named or {})[spec]
    return None if isinstance(spec, str) else spec.get("enum")


def fits(value, type_):
    """Whether a value is of a type, ranges and sizes included."""
    kind = type_[0]
    if kind == "int":
        return type(value) is int and type_[1] <= value <= type_[2]
    if kind == "list":
        BUDGET.spend(len(value) if type(value) is list else 1)
        return type(value) is list and len(value) <= type_[2] and all(fits(one, type_[1]) for one in value)
    if kind == "map":
        return isinstance(value, dict) and all(type(k) is str and fits(one, type_[1]) for k, one in value.items())
    if kind == "record":
        fields, optional = type_[1:]
        known = isinstance(value, dict) and value.keys() <= fields.keys() and fields.keys() - optional <= value.keys()
        return known and all(fits(one, fields[name]) for name, one in value.items())
    return type(value) is SCALAR_CLASSES[kind]


def constant(value):
    """The value of a constant."""
    if isinstance(value, dict):
        return from_decimals(value["qfixed"]) if "qfixed" in value else float(value["$double"])
    return [constant(one) for one in value] if isinstance(value, list) else value


def from_decimals(text):
    """Millionths of a decimal number."""
    sign = -1 if str(text).startswith("-") else 1
    whole, _, rest = str(text).lstrip("-").partition(".")
    demand(whole.isdigit() and len(rest) <= 26 and not rest[6:].strip("0"), "E_SPECS", f"{text!r} is no fixed point")
    return sign * (int(whole) * 1_000_000 + int((rest + "000000")[:6]))


def expression(value):
    """The tree of an expression as a spec holds it: a text, a number or a boolean."""
    if isinstance(value, dict) and "$double" in value:
        value = value["$double"]
    if isinstance(value, bool):
        value = "true" if value else "false"
    return parse(value if isinstance(value, str) else repr(value))


def functions_of(data):
    """The functions that a spec defines."""
    return {name: (tuple(one["args"]), expression(one["is"])) for name, one in data.get("functions", {}).items()}


def constants_of(data):
    """The constants that a spec defines."""
    return {name: constant(one) for name, one in data.get("constants", {}).items()}


def labelled(data):
    """Expressions under labels, which do not read each other: in the order of their labels."""
    return [(name, expression(data[name])) for name in sorted(data)]


def walked(node):
    """A node and all below it."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += inner_nodes(one)


def free_names(node):
    """The names that a tree reads from outside of itself; a macro's variable is its own."""
    if node[0] == "name":
        return {node[2]}
    if node[0] == "macro":
        inside = free_names(node[6]) | (free_names(node[5]) if node[5] else set())
        return free_names(node[3]) | (inside - {node[4]})
    return set().union(*(free_names(one) for one in inner_nodes(node)))


def names_read(tree, functions):
    """The names that an expression reads, itself or through the functions that it calls."""
    read, followed, waiting = set(), set(), [(tree, ())]
    while waiting:
        one, params = waiting.pop()
        read |= free_names(one.root) - set(params)
        called = {node[2] for node in walked(one.root) if node[0] == "call"} & functions.keys()
        for name in sorted(called - followed):
            followed.add(name)
            if type(functions[name]) is tuple:
                waiting.append(functions[name][::-1])
    return read


def ordered_lets(data, functions):
    """Named expressions, each after those that it reads, by name where that leaves a choice."""
    trees = {name: expression(one) for name, one in data.items()}
    reads = {name: names_read(tree, functions) & trees.keys() for name, tree in sorted(trees.items())}
    ordered = []
    while len(ordered) < len(reads):
        ready = [name for name in reads if name not in ordered and reads[name] <= set(ordered)]
        demand(ready, "E_SPECS", f"expressions read each other in a circle: {sorted(reads)}")
        ordered += ready
    return [(name, trees[name]) for name in ordered]


class Names(dict):
    """Names of a place: its own ones, and those that are visible around it."""

    __slots__ = ("around",)

    def __init__(self, own, around):
        super().__init__(own)
        self.around = around

    def __missing__(self, name):
        return self.around[name]


def bind_lets(names, lets, functions):
    """Evaluate named expressions in order; the names come to stand for their values."""
    for name, tree in lets:
        names[name] = evaluate(tree, names, functions)


def valued(labels, names, functions):
    """The values of labelled expressions."""
    return {name: evaluate(tree, names, functions) for name, tree in labels}


def fitting(labels, types, names, functions):
    """The same, each of a declared type."""
    made = {}
    for name, tree in labels:
        made[name] = of_type(evaluate(tree, names, functions), types[name], tree)
    return made


def of_type(value, type_, tree):
    """A value of a declared type; one that leaves it has failed where the expression begins."""
    if not fits(value, type_):
        raise Failed("E_EVAL_STATE", 0, tree.text)
    return value


def a_bool(value):
    """A condition's value."""
    if type(value) is not bool:
        raise Open("E_SPECS", "a condition is no bool")
    return value
