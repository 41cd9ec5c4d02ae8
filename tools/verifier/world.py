"""A world as its spec says: names, start states, and the step, which goes through the parts inside it."""

from tools.verifier.basis import demand
from tools.verifier.cel import View, evaluate
from tools.verifier.declared import (
    Names,
    allowed_values,
    bind_lets,
    constants_of,
    expression,
    fits,
    fitting,
    functions_of,
    labelled,
    names_read,
    ordered_lets,
    read_type,
    valued,
)
from tools.verifier.effects import changed, effects_of
from tools.verifier.values import Failed

ALL_PATHS = frozenset({()})
DEEPEST_PARTS = 16


class Action:
    """One operation."""

    def __init__(self, data, world):
        named = world.data.get("types", {})
        given = data.get("args", {})
        self.args = {name: read_type(one, named) for name, one in given.items()}
        self.allowed = {name: allowed_values(one, named) for name, one in given.items()}
        self.let = ordered_lets(data.get("let", {}), world.functions)
        self.when = expression(data.get("when", "true"))
        self.effects = effects_of(data.get("effects"), world.type)
        self.otherwise = effects_of(data.get("otherwise"), world.type)
        self.outcome = labelled(data.get("outcome", {}))


class Follower:
    """A part: its world, its start values, and what it does when its world acts."""

    def __init__(self, data, world, inner):
        self.world, self.start = inner, labelled(data.get("start", {}))
        self.follow = {}
        for op, one in data["follow"].items():
            known = op in world.data["actions"] and one["action"] in inner.actions
            demand(known and not inner.inputs, "E_SPECS", f"no part can follow {op!r} so")
            takes = inner.actions[one["action"]].args
            demand(takes.keys() == one.get("args", {}).keys(), "E_SPECS", f"{op!r} gives a part other arguments")
            lets = ordered_lets(one.get("let", {}), world.functions)
            self.follow[op] = (one["action"], lets, labelled(one.get("args", {})), takes)


class World:
    """A checked world.

    Attributes:
        type: The type of its state, its parts' included.
        functions, constants: What its expressions may use, those of its parts' worlds included.
        parts: Part by name, in the order of the names.
    """

    def __init__(self, specs, key, depth=0):
        demand(depth <= DEEPEST_PARTS, "E_SPECS", "worlds are inside one another too deep")
        self.data = data = specs[key]
        inner = {name: World(specs, one["world"], depth + 1) for name, one in sorted(data.get("parts", {}).items())}
        self.constants, self.functions = {}, {}
        for one in (*inner.values(),):
            self.constants.update(one.constants)
            self.functions.update(one.functions)
        self.constants.update(constants_of(data))
        self.functions.update(functions_of(data))
        named = data.get("types", {})
        self.inputs = {name: read_type(one, named) for name, one in data.get("inputs", {}).items()}
        self.fields = {name: read_type(one, named) for name, one in data["state"].items()}
        self.type = ("record", {**self.fields, **{name: one.type for name, one in inner.items()}}, frozenset())
        self.derived = {name: expression(one) for name, one in data.get("derived", {}).items()}
        self.actions = {op: Action(one, self) for op, one in sorted(data["actions"].items())}
        self.parts = {name: Follower(data["parts"][name], self, one) for name, one in inner.items()}
        self.every_step = effects_of(data.get("every_step"), self.type)
        self.observed, self.opened = labelled(data.get("observe", {})), labelled(data.get("opening", {}))
        self.recorded = ordered_lets(data.get("record", {}), self.functions)
        self.receipted = ordered_lets(data.get("receipt", {}), self.functions)
        self.goal = expression(data["success"]) if data.get("success") is not None else None
        self.start_values = labelled(data.get("start", {}))
        self.well_formed = [expression(one["require"]) for one in data.get("well_formed", [])]
        drawing = data.get("drawing") or {"legend": {}}
        self.glyphs = {
            glyph: (
                expression(one["cell"]) if one.get("cell") is not None else None,
                effects_of(one.get("effects"), self.type),
            )
            for glyph, one in drawing["legend"].items()
        }
        self.seen = []

    # Looking at a state

    def view(self, state):
        """A state as expressions see it: with derived values, those of its parts too."""
        for known, found in self.seen:
            if known is state:
                return found
        fields = {name: self.parts[name].world.view(one) if name in self.parts else one for name, one in state.items()}
        around = Names({}, self.constants)
        found = View(fields, self.derived, around, self.functions)
        around["now"] = found
        self.seen = [(state, found), *self.seen[:7]]
        return found

    def names(self, state, **more):
        """What expressions over a state may read."""
        return Names(more, self.view(state))

    def over(self, state, text, **more):
        """The value of an expression over a state."""
        return evaluate(expression(text), self.names(state, **more), self.functions)

    def changed(self, state, effects, **more):
        """The state after effects, as a spec holds them."""
        return changed(effects_of(effects, self.type), state, self.names(state, **more), self.functions)

    def observe(self, state):
        """What an agent sees."""
        return valued(self.observed, self.names(state), self.functions)

    def opening(self, state):
        """Figures of a start state."""
        return valued(self.opened, self.names(state), self.functions)

    def success(self, state):
        """Whether the goal is reached."""
        return False if self.goal is None else evaluate(self.goal, self.names(state), self.functions)

    def between(self, lets, state, after, outcome):
        """Named expressions over a step."""
        names = self.names(state, next=self.view(after), outcome=outcome)
        bind_lets(names, lets, self.functions)
        return {name: names[name] for name, _ in lets}

    def record(self, state, after, outcome):
        """Figures of a step."""
        return self.between(self.recorded, state, after, outcome)

    def told(self, state, after, outcome):
        """What the worlds of the parts that keep receipts say of a step that concerns them."""
        said = {}
        for name, part in self.parts.items():
            if part.world.receipted and name in outcome:
                inner = part.world
                said[name] = inner.between(inner.receipted, state[name], after[name], outcome[name])
        return said

    def keeping(self):
        """The names of the parts that keep receipts."""
        return [name for name, part in self.parts.items() if part.world.receipted]

    # Acting

    def step(self, state, action, inputs, wanted=ALL_PATHS):
        """The next state and the outcome; of the outcome only what lies on a wanted path is computed."""
        op = action["op"]
        planned = self.actions[op]
        given = {name: action[name] for name in planned.args}
        names = self.names(state, **inputs, **given)
        bind_lets(names, planned.let, self.functions)
        holds = evaluate(planned.when, names, self.functions)
        after = changed(planned.effects if holds else planned.otherwise, state, names, self.functions)
        told = [(name, tree) for name, tree in planned.outcome if below_path(wanted, name)]
        outcome = valued(told, names, self.functions)
        for name, part in self.parts.items():
            if op not in part.follow:
                continue
            its_op, lets, args, takes = part.follow[op]
            inner = Names({}, names)
            bind_lets(inner, lets, self.functions)
            its_action = {"op": its_op, **fitting(args, takes, inner, self.functions)}
            after[name], outcome[name] = part.world.step(state[name], its_action, {}, below_path(wanted, name))
        if self.every_step:
            after = changed(self.every_step, after, self.names(after), self.functions)
        return after, outcome

    # Starting

    def start(self, more=(), around=None, grid=None):
        """A start state.

        Args:
            more: Labelled expressions that replace start values.
            around: The world whose constants and functions these use; this one if left out.
            grid: The rows of characters of a map.
        """
        around = around or self
        own = {name: (tree, self) for name, tree in self.start_values}
        own.update({name: (tree, around) for name, tree in more})
        state = {name: part.world.start(part.start, self) for name, part in self.parts.items()}
        for name, (tree, world) in sorted(own.items()):
            state[name] = evaluate(tree, world.constants, world.functions)
        if grid is not None:
            state = self.draw(state, grid)
        known = self.type[1]
        if not known.keys() <= state.keys():
            raise Failed("E_START_INCOMPLETE")
        fitting_all = state.keys() == known.keys() and all(fits(state[name], known[name]) for name in known)
        if not fitting_all or not all(evaluate(one, self.names(state), self.functions) for one in self.well_formed):
            raise Failed("E_START_ILL_FORMED")
        return state

    def draw(self, state, grid):
        """A map becomes state: codes of cells, its size, and what each character does."""
        if "drawing" not in self.data:
            raise Failed("E_MAP")
        drawing = self.data["drawing"]
        used = {one for row in grid for one in row}
        if not used <= self.glyphs.keys():
            raise Failed("E_MAP_GLYPH")
        self.refuse_twins(grid)
        for character in sorted(used):
            for effect in self.glyphs[character][1]:
                if (effect.kind != "set" or len(effect.path) > 1) and effect.path[0] not in state:
                    raise Failed("E_START_INCOMPLETE")
        if drawing.get("cells") is not None:
            codes = {one: evaluate(self.glyphs[one][0], self.constants, self.functions) for one in used}
            state[drawing["cells"]] = [[codes[one] for one in row] for row in grid]
        for name, length in (("width", len(grid[0])), ("height", len(grid))):
            if drawing.get(name) is not None:
                state = placed_at_path(state, drawing[name].split("."), length)
        for y, row in enumerate(grid):
            for x, one in enumerate(row):
                if self.glyphs[one][1]:
                    names = Names({"here": {"x": x, "y": y}}, self.constants)
                    state = changed(self.glyphs[one][1], state, names, self.functions)
        return state

    def refuse_twins(self, grid):
        """No two characters of a map may say where one thing is."""
        where = {}
        for one, (_, effects) in self.glyphs.items():
            sets = [effect for effect in effects if effect.kind == "set" and effect.when is None]
            only = len(sets) == len(effects)
            read = [(tuple(e.path), names_read(e.right["to"], self.functions)) for e in sets] if only else []
            where[one] = [path for path, names in read if "here" in names]
        said = [path for row in grid for one in row for path in where[one]]
        if len(set(said)) != len(said):
            raise Failed("E_MAP_TWICE")


def below_path(wanted, name):
    """The wanted paths inside one field; all of it, if anything above it is wanted whole."""
    return ALL_PATHS if () in wanted else frozenset(path[1:] for path in wanted if path[0] == name)


def placed_at_path(record, path, value):
    """The record with the value at a path; records on the way that are not there are made."""
    inner = value if len(path) == 1 else placed_at_path(record.get(path[0], {}), path[1:], value)
    return {**record, path[0]: inner}
