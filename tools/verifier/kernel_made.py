"""From the specs of a run to its kernel: the rules, who decides, who tells, what is probed.

Nothing here decides anything; what each spec means stands in the module that is named after it.
"""

from tools.verifier.agent import Agent
from tools.verifier.basis import demand
from tools.verifier.cel import evaluate
from tools.verifier.declared import Names, a_bool, constants_of, expression, functions_of, labelled, valued
from tools.verifier.effects import changed, effects_of
from tools.verifier.kernel_reads import Reading, Records, unread_variables, used_paths
from tools.verifier.kernel_rule import Admission, Vocabulary, request_of
from tools.verifier.kernel_tell import Mind, Narrator
from tools.verifier.kernel_tokens import RecordedSigner, SecretSigner
from tools.verifier.kernel_variables import Variables
from tools.verifier.stream import Stream
from tools.verifier.values import Failed


class Ground:
    """What is asked of a world about any state, beside the run that goes on."""

    def __init__(self, world):
        self.world, self.planned = world, {}

    def over(self, state, data, more=None):
        """The value of an expression over a state, and of what is given beside it."""
        return evaluate(expression(data), Names(more or {}, self.world.view(state)), self.world.functions)

    def plainly(self, data, names):
        """The value of an expression that reads no state."""
        return evaluate(expression(data), Names(names, self.world.constants), self.world.functions)

    def changed(self, state, effects, more=None):
        """The state after the effects of a spec."""
        key = id(effects)
        if key not in self.planned:
            self.planned[key] = effects, effects_of(effects, self.world.type)
        names = Names(more or {}, self.world.view(state))
        return changed(self.planned[key][1], state, names, self.world.functions)


class Asked:
    """An agent that can be asked on any occasion; what it draws depends on the seed, the agent and the occasion."""

    def __init__(self, specs, key, seed, agent):
        data = specs[key]
        self.agent, self.seed, self.key, self.name = agent, seed, key, data["name"]
        self.procedure = expression(data["score"]).text

    def drawn(self, seen, memory, occasion):
        """The values that are drawn for a decision."""
        found, lists = {}, self.agent.sources(seen, memory)
        if not all(lists):
            raise Failed("E_EVAL_LIMIT")
        for (name, stream, _), values in zip(self.agent.draws, lists):
            found[name] = Stream(self.seed, "agent", self.name, stream, name, *occasion).choice(values)
        return found

    def proposals(self, seen, memory, occasion):
        """Its proposals."""
        return self.agent.propose(seen, memory, self.drawn(seen, memory, occasion))

    def weigh(self, seen, memory, action, after, occasion):
        """What it would give for a breach: the score of an action that leads to a state."""
        return self.agent.weigh(seen, memory, action, after, self.drawn(seen, memory, occasion))


class Mute:
    """An agent from outside: it tells its reasons itself, and nobody can ask it again."""

    def __init__(self, specs, key):
        self.key, self.name, self.procedure = key, specs[key]["name"], ""

    @staticmethod
    def proposals(seen, memory, occasion):
        """None that are known."""
        return []


class KernelParts:
    """What the kernel of a run is made of."""

    def __init__(self, plan, signatures=()):
        """`plan` is the replayed run; `signatures` are those that its evidence holds, for a kernel with a key."""
        self.plan, self.specs = plan, plan.specs
        scenario, key = plan.scenario, plan.scenario["agent"]
        self.governor = self.specs[scenario["governor"]]
        admits, agent = self.governor["admission"], self.specs[key]
        self.ground = Ground(plan.world)
        self.variables = Variables(self.ground)
        self.vocabulary = Vocabulary(self.specs[admits["vocabulary"]]["forms"])
        invariants = [self.invariant(self.specs[one]) for one in self.proposal_invariants()]
        self.admission = Admission(admits, invariants, self.variables, self.ground, self.vocabulary)
        self.ms_per_tick = admits.get("ms_per_tick", 100)
        self.probes = [self.specs[one] for one in scenario.get("probes", [])]
        self.inside = agent.get("outside") is None
        self.deciding = self.asked(key, plan.agent) if self.inside else Mute(self.specs, key)
        self.deterministic = self.inside and not agent.get("draw")
        self.narrator = self.narration(agent.get("narration") or {})
        signed = admits.get("signature", "secret") == "ed25519"
        self.signer = RecordedSigner(admits["public"], signatures) if signed else SecretSigner(plan.seed)
        self.unread = None

    def asked(self, key, agent=None):
        """An agent as it can be asked."""
        agent = agent or Agent(self.specs[key], self.plan.world, self.plan.governor.claims)
        return Asked(self.specs, key, self.plan.seed, agent)

    def proposal_invariants(self):
        """The keys of the invariants about documents, the governor's first, each once."""
        named = [*self.governor.get("invariants", []), *self.plan.scenario.get("invariants", [])]
        return [key for key in dict.fromkeys(named) if self.specs[key].get("scope") == "proposal"]

    def invariant(self, data):
        """(name, severity, judge) of an invariant about documents."""
        world = self.plan.world
        constants, functions = constants_of(data), {**world.functions, **functions_of(data)}
        when, require = expression(data.get("when", "true")), expression(data["require"])
        told = labelled(data.get("witness", {}))

        def judge(state, given):
            names = Names({**constants, **given}, world.view(state))
            if not a_bool(evaluate(when, names, functions)) or a_bool(evaluate(require, names, functions)):
                return None
            return valued(told, names, functions)

        return data["name"], data.get("severity", "fatal"), judge

    def narration(self, told):
        """How choices become documents."""
        label, known = self.variables.label, self.narration_minds(told)
        minds = [Mind(one, label) for one in known]
        saying = {
            "vary": list(dict.fromkeys(told.get("vary", []))),
            "claims": told.get("claims", 3),
            "steps": told.get("steps", 1),
            "say": self.vocabulary.say,
            "request": request_of(self.admission.grants, told.get("requests", {})),
            "env": self.admission.env,
        }
        return Narrator(minds, self.variables, self.plan.world, saying)

    def narration_minds(self, told):
        """Who decides, who tells, and whose procedure is declared."""
        teller = declared = self.deciding
        if told.get("by") is not None:
            teller = declared = self.asked(told["by"])
        if told.get("declares") is not None:
            declared = self.asked(told["declares"])
        for one in (teller, declared) if self.inside else ():
            types = one.agent.memory.types
            same = not types or types == self.plan.agent.memory.types
            demand(same, "E_SPECS", "an agent that explains for another one remembers something else")
        return self.deciding, teller, declared

    def unread_entries(self):
        """The entries of the namespace that the declared procedure does not read."""
        if self.unread is None:
            world, agent = self.plan.world, self.narrator.declared.agent.agent
            records = Records(self.specs, world.data)
            reading = Reading(agent.functions, agent.constants, records)
            inner = Reading(world.functions, world.constants, records)
            used = used_paths(agent.data, world.data, reading, inner)
            self.unread = unread_variables(world.data, used, inner)
        return self.unread
