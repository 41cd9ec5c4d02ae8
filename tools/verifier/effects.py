"""Effects: changes of a record that are simultaneous. All right sides read what was before; then changes are made."""

from tools.verifier.basis import demand
from tools.verifier.cel import evaluate
from tools.verifier.declared import Names, expression, of_type
from tools.verifier.values import BUDGET

EFFECT_KINDS = ("set", "append", "remove", "each", "put")


class Effect:
    """One effect: its kind, where it changes, and its expressions."""

    def __init__(self, data, record_type):
        self.kind = next((kind for kind in EFFECT_KINDS if kind in data), None)
        demand(self.kind is not None, "E_SPECS", "an effect does nothing that is known")
        self.path = data[self.kind].split(".")
        self.type = record_type
        for name in self.path:
            known = self.type[0] == "record" and name in self.type[1]
            demand(known, "E_SPECS", f"there is no field {data[self.kind]} to change")
            self.type = self.type[1][name]
        needed = {"append": "list", "remove": "list", "each": "list", "put": "map"}.get(self.kind, self.type[0])
        demand(self.type[0] == needed, "E_SPECS", f"{data[self.kind]} is no {needed}")
        self.when = None if data.get("when") is None else expression(data["when"])
        self.element = data.get("as")
        self.right = {name: expression(data[name]) for name in ("to", "value", "key") if name in data}
        self.where = expression(data.get("where", "true"))
        self.update = [(name, expression(one)) for name, one in sorted(data.get("update", {}).items())]

    def read(self, names, functions):
        """What is read before anything changes: whether it happens, and the right sides."""
        if self.when is not None and not evaluate(self.when, names, functions):
            return None
        order = {"set": ("to",), "append": ("value",), "put": ("value", "key")}.get(self.kind, ())
        return {name: evaluate(self.right[name], names, functions) for name in order}

    def change(self, old, given, names, functions):
        """The new value of what it changes."""
        if self.kind == "set":
            return of_type(given["to"], self.type, self.right["to"])
        if self.kind == "append":
            item = of_type(given["value"], self.type[1], self.right["value"])
            return of_type([*old, item], self.type, self.right["value"])
        if self.kind == "put":
            return {**old, given["key"]: of_type(given["value"], self.type[1], self.right["value"])}
        kept = []
        inner = Names({}, names)
        BUDGET.spend(len(old))
        for one in old:
            inner[self.element] = one
            if not evaluate(self.where, inner, functions):
                kept.append(one)
            elif self.kind == "each":
                fields = self.type[1][1]
                made = {}
                for name, tree in self.update:
                    made[name] = of_type(evaluate(tree, inner, functions), fields[name], tree)
                kept.append({**one, **made})
        return kept


def effects_of(data, record_type):
    """The effects of a list."""
    return [Effect(one, record_type) for one in data or ()]


def changed(effects, record, names, functions):
    """The record after all effects; `names` are those before them."""
    read = [(effect, effect.read(names, functions)) for effect in effects]
    after = dict(record)
    for effect, given in read:
        if given is not None:
            after = at_path(after, effect.path, lambda old, e=effect, g=given: e.change(old, g, names, functions))
    return after


def at_path(record, path, change):
    """The record with one value changed; records on the way are copied."""
    name = path[0]
    if len(path) == 1:
        return {**record, name: change(record.get(name))}
    return {**record, name: at_path(record[name], path[1:], change)}
