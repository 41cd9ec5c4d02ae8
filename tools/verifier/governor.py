"""A governor as its spec says: the price of each proposal, what is supplied to the step, gates, and what is chosen."""

from collections import namedtuple

from tools.verifier.agent import Memory
from tools.verifier.basis import demand
from tools.verifier.cel import evaluate
from tools.verifier.declared import (
    Names,
    a_bool,
    bind_lets,
    constants_of,
    expression,
    fits,
    fitting,
    functions_of,
    labelled,
    ordered_lets,
    read_type,
    valued,
    walked,
)
from tools.verifier.syntax import inner_nodes
from tools.verifier.values import Failed, checked_int
from tools.verifier.world import ALL_PATHS

Judgement = namedtuple("Judgement", ("rejected", "value", "cost", "inputs", "error"))


class Gate:
    """One gate."""

    def __init__(self, data):
        self.id, self.reason = data["id"], data["reason"]
        self.when = expression(data.get("when", "true"))
        demand(("deny" in data) != ("require" in data), "E_SPECS", "a gate denies or requires")
        self.denies = data.get("deny") is not None
        self.condition = expression(data["deny" if self.denies else "require"])
        self.witness = labelled(data.get("witness", {}))


class Governor:
    """A governor over a world."""

    def __init__(self, data, world):
        self.data, self.world = data, world
        self.constants = {**world.constants, **constants_of(data)}
        self.functions = {**world.functions, **functions_of(data)}
        self.claims = {name: read_type(one) for name, one in data.get("claims", {}).items()}
        self.memory = Memory(data, self.constants, self.functions)
        potentials = {name: one["is"] for name, one in data.get("potentials", {}).items()}
        self.potentials = labelled(potentials)
        self.let = ordered_lets(data.get("let", {}), self.functions)
        self.cost = labelled(data.get("cost", {}))
        self.each = ordered_lets(data.get("each", {}), self.functions)
        demand(data.get("supply", {}).keys() == world.inputs.keys(), "E_SPECS", "the governor supplies other inputs")
        self.supply = labelled(data.get("supply", {}))
        self.gates = [Gate(one) for one in data["gates"]]
        self.value = expression(data["choose"]["maximise"])
        self.watches = bool(self.memory.types or self.potentials)
        self.wanted = self.outcome_paths()

    def outcome_paths(self):
        """The paths of the outcome that gates, witnesses and the choice read, themselves or through functions."""
        todo = [self.value, *(tree for gate in self.gates for tree in (gate.when, gate.condition))]
        todo += [tree for gate in self.gates for _, tree in gate.witness]
        found, followed = set(), set()
        while todo:
            tree = todo.pop()
            found |= paths_of(tree.root, "outcome")
            for node in walked(tree.root):
                function = self.functions.get(node[2]) if node[0] == "call" else None
                if type(function) is tuple and node[2] not in followed:
                    followed.add(node[2])
                    todo.append(function[1])
        return ALL_PATHS if () in found else frozenset(found)

    def around(self, state, memory):
        """What judging reads of the state and the memory."""
        view = self.world.view(state)
        return Names(memory, Names(self.constants, view))

    def figures(self, state, memory):
        """The potentials."""
        return valued(self.potentials, self.around(state, memory), self.functions)

    def judge(self, state, proposals, pending, writes, memory):
        """A judgement of each proposal."""
        found = []
        for proposal, count in zip(proposals, writes):
            misfit = self.misfit(proposal)
            if misfit is not None:
                failing = {"gate": "schema", "reason": misfit, "witness": {}}
                found.append(Judgement([failing], 0, {}, {}, None))
                continue
            names = Names({"proposals": len(proposals), "rejected": pending}, self.around(state, memory))
            try:
                bind_lets(names, self.let, self.functions)
                names.update(proposal=proposal, writes=count, action=proposal["action"])
                found.append(self.judged(state, proposal["action"], names))
            except Failed as failed:
                found.append(Judgement([], 0, {}, {}, failed))
        return found

    def judged(self, state, action, names):
        """The judgement of one proposal."""
        cost = valued(self.cost, names, self.functions)
        names["cost"] = cost["total"] = checked_int(sum(cost.values()))
        bind_lets(names, self.each, self.functions)
        inputs = fitting(self.supply, self.world.inputs, names, self.functions)
        after, outcome = self.world.step(state, action, inputs, self.wanted)
        names.update(next=self.world.view(after), outcome=outcome)
        rejected = []
        for gate in self.gates:
            if not a_bool(evaluate(gate.when, names, self.functions)):
                continue
            if a_bool(evaluate(gate.condition, names, self.functions)) is gate.denies:
                witness = valued(gate.witness, names, self.functions)
                rejected.append({"gate": gate.id, "reason": gate.reason, "witness": witness})
        return Judgement(rejected, evaluate(self.value, names, self.functions), cost, inputs, None)

    def misfit(self, proposal):
        """Why a proposal is malformed, None if it is not."""
        action = proposal["action"]
        if not action["op"]:
            return str(proposal.get("answer", "no_action"))
        if action["op"] not in self.world.actions:
            return "unknown_action"
        planned = self.world.actions[action["op"]]
        if action.keys() != {"op", *planned.args} or proposal.keys() != {"action", "score", *self.claims}:
            return "malformed_proposal"
        for name, type_ in planned.args.items():
            allowed = planned.allowed[name]
            if not (fits(action[name], type_) if allowed is None else action[name] in allowed):
                return "malformed_action"
        return None


def paths_of(node, name):
    """The paths below a name that a tree reads; the empty path where it reads all of it."""
    found, todo = set(), [node]
    while todo:
        one, path = todo.pop(), []
        while one[0] in ("select", "has"):
            path.append(one[3])
            one = one[2]
        if one[0] == "name":
            found |= {tuple(reversed(path))} if one[2] == name else set()
        else:
            todo += inner_nodes(one)
    return found
