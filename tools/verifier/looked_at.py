"""What comes to a run from outside of its step: drifts, which change the state, and invariants, which look at it."""

from collections import Counter

from tools.verifier.basis import LINE, demand
from tools.verifier.cel import evaluate
from tools.verifier.declared import Names, constants_of, expression, functions_of, labelled, valued
from tools.verifier.effects import changed, effects_of


def drifts_of(keys, specs, world, horizon):
    """The drifts that a scenario names, in order; their schedules must find room in the first receipt."""
    made, room = {}, LINE
    for key, times in Counter(keys).items():
        made[key] = Drift(specs[key], world, horizon)
        room -= times * sum(len(str(t)) + 1 for t in made[key].schedule)
        demand(room >= 0, "E_SPECS", "the drifts are due more often than a receipt can tell")
    return [made[key] for key in keys]


class Drift:
    """One drift of a run."""

    def __init__(self, data, world, horizon):
        self.name, self.world = data["name"], world
        self.constants = {**world.constants, **constants_of(data)}
        self.functions = {**world.functions, **functions_of(data)}
        at = expression(data["at"])
        own = Names({}, self.constants)
        self.schedule = set()
        for t in range(horizon):
            own["t"] = t
            if evaluate(at, own, {}):
                self.schedule.add(t)
        self.when = expression(data.get("when", "true"))
        draws = sorted(data.get("draw", {}).items())
        self.draws = [(name, one["stream"], expression(one["from"])) for name, one in draws]
        self.effects = effects_of(data["effects"], world.type)

    def names(self, state, **more):
        """What its expressions read."""
        return Names(more, Names(self.constants, self.world.view(state)))

    def sources(self, state):
        """The lists to draw from; None where it does not happen."""
        names = self.names(state)
        if not evaluate(self.when, names, self.functions):
            return None
        return [evaluate(tree, names, self.functions) for _, _, tree in self.draws]

    def apply(self, state, drawn):
        """The state after it."""
        return changed(self.effects, state, self.names(state, **drawn), self.functions)


class Invariant:
    """One invariant of a run."""

    def __init__(self, data, world):
        self.name, self.world = data["name"], world
        self.scope, self.severity = data.get("scope", "step"), data.get("severity", "fatal")
        self.constants = {**world.constants, **constants_of(data)}
        self.functions = {**world.functions, **functions_of(data)}
        self.when, self.require = expression(data.get("when", "true")), expression(data["require"])
        self.witness = labelled(data.get("witness", {}))

    def judge(self, previous, state):
        """None where it holds, False where it is not looked at, else what is said of the breach."""
        more = {"previous": self.world.view(previous)}
        names = Names(more, Names(self.constants, self.world.view(state)))
        if not evaluate(self.when, names, self.functions):
            return False
        if evaluate(self.require, names, self.functions):
            return None
        return valued(self.witness, names, self.functions)
