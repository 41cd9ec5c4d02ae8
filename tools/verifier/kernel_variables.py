"""Focus variables of a world (docs/variables.md): how each is read and changed, and what choices are called.

What is asked here of a world about states is `Ground`: the value of an expression, the state after effects.
"""

import hashlib

from tools.verifier.basis import Open
from tools.verifier.declared import expression, fits
from tools.verifier.kernel_forms import canonical
from tools.verifier.kernel_types import Typing
from tools.verifier.values import Failed

MOST_TRIES, LONGEST_NAME = 4096, 80


class Variables:
    """The namespace of one world."""

    def __init__(self, ground):
        self.ground, data = ground, ground.world.data
        self.entries = dict(sorted(data.get("variables", {}).items()))
        self.values, self.context = data.get("alternatives", {}), data.get("context", {})
        self.labels, self.conditions = data.get("labels", {}), data.get("well_formed", [])
        self.families = {name: name_parts(name) for name in self.entries if "<" in name}
        self.types = {}

    def names(self, state):
        """The variables that there are in a state, in order."""
        found = {name for name in self.entries if name not in self.families}
        for name, (before, _, after) in self.families.items():
            texts = self.ground.over(state, self.entries[name]["over"])
            found |= {f"{before}{text}{after}" for text in texts if text}
        return sorted(name for name in found if len(name) <= LONGEST_NAME)

    def find(self, state, name):
        """The entry that a name belongs to, its own name, and what stands for its parameter."""
        if name in self.entries and name not in self.families:
            return self.entries[name], name, {}
        for entry, (before, parameter, after) in self.families.items():
            if len(name) > len(before) + len(after) and name.startswith(before) and name.endswith(after):
                text = name[len(before) : len(name) - len(after)]
                if text in self.ground.over(state, self.entries[entry]["over"]):
                    return self.entries[entry], entry, {parameter: text}
        raise KeyError(name)

    def read(self, state, name):
        """The value of a variable."""
        told, _, given = self.find(state, name)
        return self.ground.over(state, told["read"], given)

    def mutate(self, state, name, value):
        """The state after the first edit that brings a value about, and the edit; None where there is none."""
        told, entry, given = self.find(state, name)
        tries, type_ = told.get("try"), self.type_of(entry)
        if (tries is None and not told.get("effects")) or (type_ is not None and not fits(value, type_)):
            return None
        wanted = value
        try:
            if "normal" in told:
                wanted = self.ground.over(state, told["normal"], {**given, "value": value})
                if type_ is None and wanted != value:
                    raise Open("E_REPLAY", f"whether {name!r} can have a value is not known here")
            if not self.ground.over(state, told.get("require", "true"), {**given, "value": wanted}):
                return None
            found = [None] if tries is None else self.ground.over(state, tries["for"], {**given, "value": wanted})
        except Failed:
            return None
        for element in found[:MOST_TRIES]:
            after = self.tried(state, told, given, wanted, element)
            if after is not None:
                changed = sorted(key for key in state if after[key] != state[key])
                return after, {"by": element, "changed": changed}
        return None

    def tried(self, state, told, given, wanted, element):
        """The state after one edit, if that does what is wanted."""
        tries, more = told.get("try"), {**given, "value": wanted}
        effects = told.get("effects")
        if tries is not None:
            more[tries["as"]], effects = element, tries["effects"]
        try:
            if tries is not None and not self.ground.over(state, tries.get("require", "true"), more):
                return None
            after = self.ground.changed(state, effects, more)
            if given and next(iter(given.values())) not in self.ground.over(after, told["over"]):
                return None
            if self.ground.over(after, told["read"], given) != wanted or not self.kept(state, after):
                return None
        except Failed:
            return None
        return after

    def kept(self, before, after):
        """Whether an edit breaks no condition of the world that held before it."""
        over = self.ground.over
        return all(over(after, one["require"]) or not over(before, one["require"]) for one in self.conditions)

    def alternatives(self, state, name, drawn=False):
        """Other values that may be tried, each once, in the world's order.

        A value that the variable cannot have is left out. Where that is not known here, it makes no difference, since
        nothing brings such a value about; only if one of them is drawn it would.
        """
        told, entry, given = self.find(state, name)
        if entry not in self.values:
            return []
        now, found = self.ground.over(state, told["read"], given), []
        type_ = self.type_of(entry)
        for value in self.ground.over(state, self.values[entry], {**given, "value": now}):
            if value == now or value in found or (type_ is not None and not fits(value, type_)):
                continue
            if type_ is None and drawn and self.mutate(state, name, value) is None:
                raise Open("E_REPLAY", f"whether {name!r} can have one of its alternatives is not known here")
            found.append(value)
        return found

    def type_of(self, entry):
        """Which values a variable can have, None where its text does not say so here."""
        if entry not in self.types:
            texts = (self.families[entry][1],) if entry in self.families else ()
            found = Typing(self.ground.world, texts).of(expression(self.entries[entry]["read"]).root, {})
            self.types[entry] = None if found is None or found[0] == "state" else found
        return self.types[entry]

    def normalize(self, state, focus):
        """The state as seen through some variables."""
        seen = {"focus": {}, "derived": {}}
        for name in sorted(set(focus)):
            told, _, given = self.find(state, name)
            value = self.ground.over(state, told["read"], given)
            seen["derived" if "try" in told else "focus"][name] = value
        return {**{name: self.ground.over(state, text) for name, text in self.context.items()}, **seen}

    def label(self, action):
        """What an action is called as a choice; None where the world has no such action."""
        op, args = str(action.get("op")), {name: value for name, value in action.items() if name != "op"}
        known = self.ground.world.actions.get(op)
        if known is None or args.keys() != known.args.keys():
            return None
        if not all(fits(args[name], known.args[name]) for name in args):
            return None
        if op in self.labels:
            text = self.ground.plainly(self.labels[op], args)
        else:
            text = ":".join([op, *(canonical(args[name]).decode() for name in sorted(args))])
        if len(text) <= LONGEST_NAME:
            return text
        return f"{text[:47]}#{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def name_parts(name):
    """A name as (what stands before its parameter, the parameter, what stands after it)."""
    before, _, rest = name.partition("<")
    parameter, _, after = rest.partition(">")
    return before, parameter, after


def names_entry(name, entry):
    """Whether a name is of an entry of the namespace."""
    before, parameter, after = name_parts(entry)
    if not parameter:
        return name == before
    return len(name) > len(before) + len(after) and name.startswith(before) and name.endswith(after)
