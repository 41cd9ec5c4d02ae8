"""A run under a kernel as its probes see it: every question is put to copies, every attempt goes to the kernel."""

from tools.verifier.cel import evaluate
from tools.verifier.declared import expression
from tools.verifier.kernel_forms import receive_value
from tools.verifier.kernel_tell import MadeChoice
from tools.verifier.kernel_tokens import Denied
from tools.verifier.kernel_variables import names_entry

RETOLD = ("nodes", "edges", "causal_claims", "counterfactuals")


class Here:
    """Where a probe finds the run."""

    def __init__(self, episode, t, state, memory):
        self.episode, self.t, self.state, self.memory = episode, t, state, memory

    def at(self, state):
        """The same in another state."""
        return Here(self.episode, self.t, state, self.memory)


class Subject:
    """What a probe may ask at one moment of a run."""

    def __init__(self, desk, moment):
        self.desk, self.moment = desk, moment
        self.narrator, self.variables, self.run = desk.narrator, desk.parts.variables, desk.run
        self.deterministic = desk.parts.deterministic
        self.names, self.mutate = self.variables.names, self.variables.mutate
        self.parse = desk.parts.vocabulary.parse

    @staticmethod
    def expects(probe, values):
        """What a probe expects of what came."""
        return evaluate(expression(probe["expect"]), values)

    def alternatives(self, state, name):
        """Other values of a variable, of which one will be drawn."""
        return self.variables.alternatives(state, name, True)

    def valid(self, document):
        """Whether a document fits its schema."""
        return document is not None and self.desk.admission.accepts(document)

    def choice(self, mind, here, asked):
        """What a mind chooses."""
        return mind.choose(self.run.world.observe(here.state), here.memory, (here.episode, here.t, asked))

    def answer(self, mind, here, asked):
        """The same as (label, score)."""
        made = self.choice(mind, here, asked)
        return None if made is None else (made.label, made.score)

    def choose(self, here, asked):
        """What the agent chooses."""
        return self.answer(self.narrator.decider, here, asked)

    def declared(self, here, asked):
        """What the procedure chooses that it declares."""
        return self.answer(self.narrator.declared, here, asked)

    def document(self, here):
        """What was committed to here; elsewhere what the agent submits there."""
        submission, moment = self.desk.submission, self.moment
        if (here.episode, here.t) == (moment.episode, moment.t) and here.state == moment.state:
            return submission.document if submission.problem is None else None
        choice = self.choice(self.narrator.decider, here, 0)
        return None if choice is None else self.told(here, choice, 0, self.desk.vault.snapshot)

    def told(self, here, choice, asked, snapshot):
        """The document of a choice."""
        occasion = (here.episode, here.t, asked)
        return self.narrator.document(here.state, here.memory, choice, occasion, snapshot)

    def unused(self, state):
        """The variables that the declared procedure does not read."""
        entries = self.desk.parts.unread_entries()
        return [name for name in self.names(state) if any(names_entry(name, entry) for entry in entries)]

    def fresh(self, number):
        """The start of an episode that is never played."""
        episode = self.run.episodes + number
        state = self.run.start(episode)
        return Here(episode, 0, state, self.run.agent.begin(self.run.world.observe(state)))

    def reveal(self, document, names):
        """Whether the snapshots that speak of these variables are there, and open; all of them, if none is named."""
        asked = [one for one in document["trace"]["fork_snapshots"] if not names or names & set(one["focus_vars"])]
        covered = {name for one in asked for name in one["focus_vars"]}
        return bool(asked) and names <= covered and all(self.desk.vault.opens(one) for one in asked)

    def retrace(self, document, here):
        """The trace of a document computed again."""
        step = document["payload"]["plan"]["steps"][0]
        chosen = self.variables.label({**step["args"], "op": step["op"]}) or ""
        return self.narrator.retrace(document, here.state, here.memory, (here.episode, here.t, 0), chosen)

    def restate(self, document, here):
        """Whether the agent, asked again for its reasons, gives those that it committed to."""
        choice = self.choice(self.narrator.decider, here, 0)
        if choice is None:
            return False
        again = self.told(here, choice, 1, None)
        return all(again["trace"][part] == document["trace"][part] for part in RETOLD)

    def weigh(self, here, offer):
        """What an offer is worth: the score without it, the best one with it, and the action then; None if none."""
        occasion = (here.episode, here.t, 0)
        seen, world = self.run.world.observe(here.state), self.run.world
        proposals = self.narrator.decider.propose(seen, here.memory, occasion)
        choice = self.choice(self.narrator.decider, here, 0)
        if choice is None:
            return None
        tempting = [choice.action]
        if offer["does"] == "reuse_token":
            tempting = [one["action"] for one in proposals if one["action"] != choice.action]
        best, found = None, choice.action
        for action in tempting:
            after = self.desk.parts.ground.changed(world.step(here.state, action, {})[0], offer["pays"])
            paid = self.desk.parts.deciding.weigh(seen, here.memory, action, after, occasion)
            if best is None or paid > best:
                best, found = paid, action
        return choice.score, choice.score if best is None else best, found

    def attempt(self, here, does, plain, action):
        """Do what an offer asks for: (whether it was denied, for what, whether that was logged)."""
        desk = self.desk
        if does == "omit_snapshots":
            choice = MadeChoice(action, plain, self.narrator.decider.label(action))
            ruling = desk.admission.rule(here.state, receive_value(self.told(here, choice, 0, None)))
            desk.enter_ruling(ruling)
            return ruling.verdict == "deny", tuple(one["gate"] for one in ruling.rejected), True
        token = self.moment.token if does == "reuse_token" else None
        try:
            desk.tokens.act(token, 0, desk.submission, action, desk.granted, desk.now_ms, here.state, {})
        except Denied as denied:
            desk.enter_refusal(denied.reason)
            return True, (denied.reason, "token"), True
        return False, (), False
