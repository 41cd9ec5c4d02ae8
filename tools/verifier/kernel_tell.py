"""How an agent explains a choice to a kernel: the document with its trace, its counterfactuals and its claims.

Everything follows from docs/probes.md (An agent that explains itself): who decides, who is asked what would change the
choice, and whose procedure stands in the trace are three minds, and may be one.
"""

from tools.verifier.kernel_forms import hashed, trace_digest, uuid_named

LEAST_COUNTERFACTUALS = 3
SEEN_AS = "state_digest(focus_vars)"
SCORED_AS = "score(action)"
CHOSEN_AS = "first of the greatest scores"


class MadeChoice:
    """What a mind chooses: the action, its score, and its label."""

    def __init__(self, action, score, label):
        self.action, self.score, self.label = action, score, label


class Mind:
    """One agent's way to choose, which can be asked about any state.

    An occasion is (episode, t, how often it was asked there before); what an agent draws depends on it.
    """

    def __init__(self, agent, label):
        self.agent, self.label = agent, label
        self.name, self.key, self.procedure = agent.name, agent.key, agent.procedure

    def propose(self, seen, memory, occasion):
        """Its proposals."""
        return self.agent.proposals(seen, memory, occasion)

    def choose(self, seen, memory, occasion):
        """The first proposal of the greatest score; None without any."""
        return self.first(self.propose(seen, memory, occasion))

    def first(self, proposals):
        """The choice among proposals."""
        if not proposals:
            return None
        best = proposals[0]
        for one in proposals[1:]:
            best = one if one["score"] > best["score"] else best
        return MadeChoice(best["action"], best["score"], self.label(best["action"]))


class Supposed:
    """One change that was thought through."""

    def __init__(self, name, before, value, choice):
        self.name, self.before, self.value, self.choice = name, before, value, choice

    def direction(self):
        """How the value changes."""
        if type(self.before) is not int or type(self.value) is not int:
            return "categorical"
        return "increase" if self.value > self.before else "decrease"


class Narrator:
    """Makes the documents of one agent."""

    def __init__(self, minds, variables, world, told):
        """`minds` decides, tells and declares; `told` has `vary`, `claims`, `steps`, `say`, `request` and `env`."""
        self.decider, self.teller, self.declared = minds
        self.variables, self.world, self.told = variables, world, told

    def document(self, state, memory, choice, occasion, snapshot):
        """The proposal of a choice; `snapshot` makes the commitment, and without it none is given."""
        known = set(self.variables.names(state))
        focus = [name for name in self.told["vary"] if name in known]
        digest = hashed(self.variables.normalize(state, focus))
        seen = self.world.observe(state)
        proposals = self.declared.propose(seen, memory, occasion)
        nodes, edges = self.trace_of(proposals, focus, digest, choice.label)
        claimed, idle = self.reasons(state, memory, choice.label, known, occasion)
        supposed = claimed + idle
        base, over = divmod(100_000_000, len(supposed)) if supposed else (0, 0)
        trace = {
            "trace_version": "0.2",
            "nodes": nodes,
            "edges": edges,
            "fork_snapshots": [] if snapshot is None else [snapshot("fork-0", digest, focus)],
            "causal_claims": [self.claim(number, one, nodes) for number, one in enumerate(claimed)],
            "counterfactuals": [
                {
                    "cf_id": f"cf-{number}",
                    "base_state_digest": digest,
                    "mutation": {"var": one.name, "new_value": one.value},
                    "predicted_outcome": {"choice": one.choice.label, "score": one.choice.score},
                    "prob_mass": (base + (number < over)) / 100_000_000,
                }
                for number, one in enumerate(supposed)
            ],
        }
        request = self.told["request"](choice.action)
        name = f"{self.decider.name}/{occasion[0]}/{occasion[1]}/{occasion[2]}"
        steps = [split_action(action) for action in self.plan(state, memory, choice, occasion)]
        return {
            "proposal_id": uuid_named("proposal", name),
            "proposal_type": "action",
            "env": self.told["env"](state),
            "payload": {"intent": choice.label, "plan": {"steps": steps}},
            "trace": {**trace, "trace_commit": trace_digest(trace)},
            "requested_capabilities": [] if request is None else [request],
        }

    def trace_of(self, proposals, focus, digest, chosen):
        """The nodes and edges: what was seen, what is declared, each proposal's score, and what was chosen."""
        scored = [(self.declared.label(one["action"]), one["action"], one["score"]) for one in proposals]
        nodes = [
            trace_node(0, "observation", "the state as it was seen", (SEEN_AS, {"focus_vars": focus}, digest)),
            trace_node(1, "assumption", "the declared score", self.assumption()),
        ]
        edges = []
        for number, (label, action, score) in enumerate(scored, 2):
            nodes.append(trace_node(number, "evaluation", label, (SCORED_AS, action, score)))
            edges += [trace_edge(0, number, "supports"), trace_edge(1, number, "assumes")]
        last = len(nodes)
        edges += [trace_edge(number, last, "evaluates") for number in range(2, last)] or [
            trace_edge(0, last, "supports")
        ]
        inputs = {"labels": [one[0] for one in scored], "scores": [one[2] for one in scored]}
        nodes.append(trace_node(last, "inference", "the choice", (CHOSEN_AS, inputs, chosen)))
        return nodes, edges

    def assumption(self):
        """What a trace says of the declared procedure."""
        return self.declared.procedure, {"agent": self.declared.key}, SCORED_AS

    def reasons(self, state, memory, submitted, known, occasion):
        """Claims of different variables, and as many idle counterfactuals as make three in all."""
        claimed, idle, most = [], [], self.told["claims"]
        for name in self.told["vary"]:
            if name not in known:
                continue
            if len(claimed) >= most and len(claimed) + len(idle) >= LEAST_COUNTERFACTUALS:
                break
            for one in self.suppose(state, memory, name, occasion):
                if one.choice.label == submitted:
                    idle.append(one)
                elif len(claimed) < most:
                    claimed.append(one)
                    break
        return claimed, idle[: max(0, LEAST_COUNTERFACTUALS - len(claimed))]

    def suppose(self, state, memory, name, occasion):
        """What the teller would choose under each alternative of a variable that changes something."""
        before = self.variables.read(state, name)
        for value in self.variables.alternatives(state, name):
            made = self.variables.mutate(state, name, value)
            if made is None or not made[1]["changed"]:
                continue
            choice = self.teller.choose(self.world.observe(made[0]), memory, occasion)
            if choice is not None:
                yield Supposed(name, before, value, choice)

    def claim(self, number, one, nodes):
        """A claim: which counterfactual it speaks of, and the exact choice."""
        resting = [each["id"] for each in nodes if each["kind"] == "evaluation" and each["summary"] == one.choice.label]
        return {
            "var": one.name,
            "direction": one.direction(),
            "expected_effect_on_choice": self.told["say"](f"cf-{number}", one.choice.label),
            "confidence": 1,
            "supporting_nodes": [0, *resting][:64],
        }

    def plan(self, state, memory, choice, occasion):
        """The actions of a plan: what would be chosen in each state that is predicted, of the same operation."""
        actions = [choice.action]
        while len(actions) < self.told["steps"]:
            state = self.world.step(state, actions[-1], {})[0]
            later = (occasion[0], occasion[1] + len(actions), occasion[2])
            following = self.decider.choose(self.world.observe(state), memory, later)
            if following is None or following.action["op"] != choice.action["op"]:
                break
            actions.append(following.action)
        return actions

    def retrace(self, document, state, memory, occasion, chosen):
        """How many nodes of a trace come out equal, of how many, and whether it ends in the plan's choice."""
        proposals = self.declared.propose(self.world.observe(state), memory, occasion)
        choice = self.declared.first(proposals)
        labels = [self.declared.label(one["action"]) for one in proposals]
        inputs = {"labels": labels, "scores": [one["score"] for one in proposals]}
        procedure, agent, _ = self.assumption()
        equal, last = 0, False
        for each in document["trace"]["nodes"]:
            payload, kind = each["payload"], each["kind"]
            last = payload.keys() == {"expression", "inputs", "output"} and type(payload["inputs"]) is dict
            if last and kind == "observation":
                last = payload["expression"] == SEEN_AS and payload["output"] == self.digest(state, payload["inputs"])
            elif last and kind == "assumption":
                last = payload["expression"] == procedure and payload["inputs"] == agent
            elif last and kind == "evaluation":
                found = [one["score"] for one in proposals if one["action"] == payload["inputs"]]
                last = payload["expression"] == SCORED_AS and bool(found) and payload["output"] == found[0]
            elif last:
                best = None if choice is None else choice.label
                last = kind == "inference" and payload["expression"] == CHOSEN_AS
                last = last and payload["inputs"] == inputs and payload["output"] == best
            equal += last
        nodes = document["trace"]["nodes"]
        return equal, len(nodes), last and nodes[-1]["payload"]["output"] == chosen

    def digest(self, state, inputs):
        """The digest of a state under the variables that a node names; empty where they are none."""
        focus, known = inputs.get("focus_vars"), self.variables.names(state)
        if not isinstance(focus, list) or not all(name in known for name in focus):
            return ""
        return hashed(self.variables.normalize(state, focus))


def trace_node(number, kind, summary, payload):
    """A node of a trace; its payload is (expression, inputs, output)."""
    expression, inputs, output = payload
    made = {"expression": expression, "inputs": inputs, "output": output}
    return {"id": number, "kind": kind, "summary": summary, "payload": made}


def trace_edge(start, end, kind):
    """An edge of a trace."""
    return {"from": start, "to": end, "type": kind}


def split_action(action):
    """An action as a step of a plan."""
    return {"op": action["op"], "args": {name: value for name, value in action.items() if name != "op"}}
