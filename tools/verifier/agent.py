"""An agent as its spec says: what it remembers, proposes, claims and prefers."""

from itertools import product

from tools.verifier.basis import Open, demand
from tools.verifier.cel import evaluate
from tools.verifier.declared import (
    Names,
    a_bool,
    bind_lets,
    constants_of,
    expression,
    fitting,
    functions_of,
    labelled,
    ordered_lets,
    read_type,
)
from tools.verifier.effects import Effect, changed
from tools.verifier.values import BUDGET, Failed

MOST_PROPOSALS, MOST_COMBINATIONS = 256, 65_536


class Memory:
    """What is kept of observations: of an agent, or of a governor."""

    def __init__(self, data, constants, functions):
        held = data.get("memory") or {}
        self.constants, self.functions = constants, functions
        self.lasts = held.get("scope", "episode")
        self.types = {name: read_type(one["type"]) for name, one in held.get("fields", {}).items()}
        self.starts = labelled({name: one["start"] for name, one in held.get("fields", {}).items()})
        self.type = ("record", self.types, frozenset())
        self.writes = []
        for one in data.get("remember", []):
            effect = Effect(one["effect"], self.type)
            demand(effect.when is None, "E_SPECS", "the condition of a write stands beside its effect")
            effect.when = expression(one["when"]) if one.get("when", "true") != "true" else None
            self.writes.append(effect)

    def begin(self, seen):
        """Its values at the first observation."""
        return fitting(self.starts, self.types, Names(seen, self.constants), self.functions)

    def names(self, observed, kept, **more):
        """What one who remembers may read."""
        return Names({**observed, **kept, **more}, self.constants)

    def count(self, seen, memory, action):
        """How many writes an action would cause."""
        names = self.names(seen, memory, action=action)
        return sum(one.when is None or a_bool(evaluate(one.when, names, self.functions)) for one in self.writes)

    def remember(self, seen, memory, action, later):
        """The memory after the writes."""
        return changed(self.writes, memory, self.names(seen, memory, action=action, seen=later), self.functions)


class Agent:
    """An agent that is a spec.

    Attributes:
        memory: What it remembers.
        draws: (name, stream, source) of each value that is drawn for a decision, under a kernel.
    """

    def __init__(self, data, world, claims):
        self.data, self.world, self.claimed = data, world, claims
        self.constants = {**world.constants, **constants_of(data)}
        self.functions = {**world.functions, **functions_of(data)}
        self.memory = Memory(data, self.constants, self.functions)
        self.draws = [
            (name, one["stream"], expression(one["from"])) for name, one in sorted(data.get("draw", {}).items())
        ]
        self.let = ordered_lets(data.get("let", {}), self.functions)
        self.candidates = []
        for one in data["candidates"]:
            known = (
                one["op"] in world.actions and world.actions[one["op"]].args.keys() == one.get("for_each", {}).keys()
            )
            demand(known, "E_SPECS", f"a candidate is no action of the world: {one['op']}")
            self.candidates.append((one["op"], labelled(one.get("for_each", {})), expression(one.get("when", "true"))))
        self.each = ordered_lets(data.get("each", {}), self.functions)
        demand(
            data.get("claims", {}).keys() == claims.keys(), "E_SPECS", "an agent claims what its governor does not ask"
        )
        self.claims = labelled(data.get("claims", {}))
        self.score = expression(data["score"])
        self.predicts = bool(data.get("predicts"))

    def begin(self, seen):
        """What it remembers at first."""
        return self.memory.begin(seen)

    def sources(self, seen, memory):
        """The lists that values are drawn from."""
        names = self.memory.names(seen, memory)
        return [evaluate(tree, names, self.functions) for _, _, tree in self.draws]

    def names(self, seen, memory, drawn, breach):
        """What its expressions read at a decision."""
        more = dict(drawn or {})
        if self.predicts:
            state = {name: seen[name] for name in self.world.type[1]}
            more.update(now=self.world.view(state), breach=breach)
        return self.memory.names(seen, memory, **more)

    def propose(self, seen, memory, drawn=None):
        """Its proposals, in order."""
        names, made = self.names(seen, memory, drawn, False), []
        bind_lets(names, self.let, self.functions)
        for op, lists, when in self.candidates:
            found, ways = [evaluate(tree, names, self.functions) for _, tree in lists], 1
            for one in found:
                ways *= len(one)
            if ways > MOST_COMBINATIONS:
                raise Failed("E_EVAL_LIMIT")
            for values in product(*found):
                BUDGET.spend(1)
                action = {"op": op, **dict(zip((name for name, _ in lists), values))}
                inner = Names({"action": action}, names)
                if a_bool(evaluate(when, inner, self.functions)):
                    made.append(self.proposal(action, inner))
        if len(made) > MOST_PROPOSALS:
            raise Failed("E_EVAL_LIMIT")
        return made

    def proposal(self, action, names):
        """One proposal: the action, the score, the claims."""
        if self.predicts and "next" not in names:
            names["next"] = self.world.view(self.world.step(dict(names["now"]), action, {})[0])
        bind_lets(names, self.each, self.functions)
        claims = fitting(self.claims, self.claimed, names, self.functions)
        names["claims"] = claims
        score = evaluate(self.score, names, self.functions)
        if type(score) is not int:
            raise Open("E_SPECS", "a score is no int")
        return {"action": action, "score": score, **claims}

    def weigh(self, seen, memory, action, after, drawn=None):
        """The score of an action that breaks a rule and leads to a state."""
        names = self.names(seen, memory, drawn, True)
        names.update(action=action, next=self.world.view(after))
        bind_lets(names, self.let, self.functions)
        return self.proposal(action, names)["score"]
