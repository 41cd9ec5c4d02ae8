"""Which data a procedure can depend on, found from its text: what is left is what it declares unused.

A path is a variable and the fields below it: `("next", "self", "x")`. It ends at the first index, macro or whole use of
a value. Functions are followed, a parameter standing for the place that it is given; so are derived values, in their
record; what a macro goes through is not. A predicted field counts as whatever the actions that change it read, their
guards included (docs/probes.md).
"""

from tools.verifier.basis import Open
from tools.verifier.declared import expression
from tools.verifier.syntax import inner_nodes
from tools.verifier.values import BUDGET

DEEPEST_READ = 100
CELL_FIELDS = {"x": "int", "y": "int"}


class Records:
    """What lies at a path of a world's state: a record with declared fields and derived values, a map, or else."""

    def __init__(self, specs, data):
        self.specs, self.data = specs, data

    def at(self, path):
        """The fields' names and the derived values of the record at a path from the state; None where is none."""
        here, data = None, self.data
        for key in path:
            if data is not None:
                part = data.get("parts", {}).get(key)
                if part is not None:
                    data, here = self.specs[part["world"]], None
                    continue
                here, named, data = data["state"].get(key), data.get("types", {}), None
            else:
                here = self.fields(here, named).get(key)
            here = self.resolved(here, named)
        if data is not None:
            return {*data["state"], *data.get("parts", {})}, data.get("derived", {}), False
        properties = self.fields(here, named)
        return set(properties), {}, isinstance(here, dict) and "additionalProperties" in here

    @staticmethod
    def resolved(declared, types):
        """A declared type without the names of others."""
        for _ in range(DEEPEST_READ):
            if not isinstance(declared, str) or declared not in types:
                break
            declared = types[declared]
        return declared

    @staticmethod
    def fields(declared, types):
        """The fields of a declared record."""
        declared = Records.resolved(declared, types)
        if declared == "cell":
            return CELL_FIELDS
        return declared.get("properties", {}) if isinstance(declared, dict) else {}


class Reading:
    """Finds the paths that expressions read.

    Attributes:
        functions: Defined functions by name: (parameters, tree).
        constants: Their names.
        records: What lies in the state.
    """

    def __init__(self, functions, constants, records):
        self.functions, self.constants, self.records = functions, constants, records
        self.deep = 0

    def of(self, data, derived=None):
        """The paths that an expression reads, where the names of `derived` are derived values of the state."""
        return self.reads(expression(data).root, {}, ((), derived or {}))

    def reads(self, node, places, inside):
        """The paths that a node reads; `inside` is the record whose fields are names here: (its path, derived)."""
        BUDGET.spend(1)
        found = self.place(node, places, inside)
        if found is not None:
            return found[0]
        if node[0] == "call" and node[3] is None and node[2] in self.functions:
            return self.called(node, places, inside)
        if node[0] == "macro":
            within = {**places, node[4]: None}
            read = self.reads(node[3], places, inside) | self.reads(node[6], within, inside)
            return read | (self.reads(node[5], within, inside) if node[5] is not None else set())
        return set().union(*(self.reads(one, places, inside) for one in inner_nodes(node)))

    def place(self, node, places, inside):
        """(what is read, the path) of a name or a field of one; the path is None where nothing stands for it.

        None for what is no place. A derived value is no place, but what it reads is known: its path is None too.
        """
        form, (prefix, derived) = node[0], inside
        if form == "name":
            return self.name(node[2], places, prefix, derived)
        key = node[3] if form in ("select", "has") else None
        if form == "index" and node[3][0] == "literal" and isinstance(node[3][2], str):
            key = node[3][2]
        if key is None:
            return None
        outer = self.place(node[2], places, inside)
        if outer is None or outer[1] is None:
            return outer if outer is None or form != "has" else (outer[0], None)
        return self.field(form, outer[1], key)

    def name(self, name, places, prefix, derived):
        """What a name stands for."""
        if name in places:
            path = places[name]
            return (set() if path is None else {path}), path
        if name in self.constants:
            return set(), None
        if name in derived:
            return self.through(derived[name], prefix, derived), None
        return {(*prefix, name)}, (*prefix, name)

    def field(self, form, path, key):
        """What a field of a place is: a longer path, or a derived value of the record there."""
        fields, derived, mapped = self.records.at(self.from_state(path))
        longer = (*path, key)
        if key in derived and key not in fields:
            return (set() if form == "has" else self.through(derived[key], path, derived)), None
        if form == "index" and mapped:
            return {path}, None
        return {longer}, longer

    @staticmethod
    def from_state(path):
        """A path from the state that it leads into."""
        return path[1:] if path[0] in ("now", "next", "previous") else path

    def through(self, data, prefix, derived):
        """What the body of a derived value reads, in its record."""
        return self.deeper(expression(data), {}, (prefix, derived))

    def called(self, node, places, inside):
        """What a call of a defined function reads."""
        params, tree = self.functions[node[2]]
        read, given = set(), {}
        for param, arg in zip(params, node[4]):
            found = self.place(arg, places, inside)
            given[param] = None if found is None else found[1]
            if given[param] is None:
                read |= self.reads(arg, places, inside)
        return read | self.deeper(tree, given, inside)

    def deeper(self, tree, places, inside):
        """The same for a body, in bounded depth."""
        self.deep += 1
        if self.deep > DEEPEST_READ:
            raise Open("E_SPECS", "functions call one another too deep")
        try:
            return self.reads(tree.root, places, inside)
        finally:
            self.deep -= 1


def touching(one, other):
    """Whether one path is the other, or leads to it."""
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


def used_paths(agent, world, reading, inner):
    """The paths of the state that an agent's choice can depend on.

    Args:
        agent, world: Their data.
        reading: Reads the agent's expressions.
        inner: Reads the world's.
    """
    texts = [agent["score"]]
    for mapping in (agent.get("let", {}), agent.get("each", {}), agent.get("claims", {})):
        texts += mapping.values()
    for one in agent["candidates"]:
        texts += [*one.get("for_each", {}).values(), one.get("when", "true")]
    paths = set().union(*(reading.of(text) for text in texts))
    used = {path for path in paths if path[0] in world["observe"]}
    used |= {path[1:] for path in paths if path[0] == "now"}
    predicted = {path[1:] for path in paths if path[0] == "next"}
    if predicted:
        ops = {one["op"] for one in agent["candidates"]}
        used |= predicted | _predicting(world, ops, predicted, inner)
    return used


def _predicting(world, ops, predicted, reading):
    """What is read by the steps that make the predicted paths."""
    texts = []
    for op in sorted(ops & world["actions"].keys()):
        action = world["actions"][op] or {}
        texts += [action.get("when", "true"), *action.get("let", {}).values()]
        for effect in [*action.get("effects", ()), *action.get("otherwise", ())]:
            texts += _sources(effect, predicted)
    for effect in world.get("every_step", ()):
        texts += _sources(effect, predicted)
    derived = world.get("derived", {})
    found = set().union(*(reading.of(text, derived) for text in texts))
    return {path for path in found if path[0] in world["state"] or path[0] in world.get("parts", {})}


def _sources(effect, predicted):
    """The right sides and the condition of an effect that changes what is predicted."""
    target = next(effect[kind] for kind in ("set", "append", "remove", "each", "put") if kind in effect)
    if not any(touching(tuple(target.split(".")), path) for path in predicted):
        return []
    names = [name for name in ("to", "value", "key", "where", "when") if name in effect]
    return [*(effect[name] for name in names), *effect.get("update", {}).values()]


def unread_variables(world, used, reading):
    """The entries of a world's variables whose value reads nothing of what is used."""
    entries = []
    for entry, told in sorted(world.get("variables", {}).items()):
        paths = reading.of(told["read"], world.get("derived", {}))
        paths = {path[1:] if path[0] == "now" else path for path in paths}
        if not any(touching(path, other) for path in paths for other in used):
            entries.append(entry)
    return entries
