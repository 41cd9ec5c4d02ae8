"""A run made again: from specs.json and what is on its tape to the receipts that it must have.

It is written from docs/authoring.md and docs/evidence.md: drift, observe, propose, commit, judge, choose, act,
remember, look. Whatever cannot be evaluated becomes an `error` receipt. A desk stands where a kernel would.
"""

from collections import Counter, namedtuple

from tools.verifier.agent import Agent
from tools.verifier.basis import ZEROS, Open, Refuted, demand, merkle, tagged, write
from tools.verifier.cel import evaluate
from tools.verifier.declared import expression, labelled
from tools.verifier.governor import Governor, Judgement
from tools.verifier.kernel_tokens import Denied
from tools.verifier.looked_at import Invariant, drifts_of
from tools.verifier.maps import map_of
from tools.verifier.outside import Ended, Tape, proposals_answered
from tools.verifier.sealed import Unsealable, sealed, state_hash, weighed
from tools.verifier.stream import Stream
from tools.verifier.values import Failed
from tools.verifier.watch import Watch
from tools.verifier.world import World

Moment = namedtuple("Moment", ("episode", "t", "state", "seen", "memory", "token"))


class Desk:
    """The plain desk: the agent proposes, the governor judges, and nothing attaches to the loop."""

    def __init__(self, run):
        self.run = run

    def gates(self):
        """Further gates, between the schema and the governor's own."""
        return []

    def open(self):
        """An episode begins."""

    def attend(self, place, moment):
        """The receipts that are made at a place of the loop."""
        return ()

    def propose(self, moment):
        """What is proposed."""
        run = self.run
        if run.agent is None:
            answer = run.tape.asked(moment.episode, moment.t)
            return proposals_answered(answer, run.governor.claims)
        return run.agent.propose(moment.seen, moment.memory)

    def judge(self, moment, proposals, judge_plainly):
        """A judgement of each proposal."""
        return judge_plainly(proposals)

    def issue(self):
        """What is acted through; `Denied` if it is not issued."""
        return True

    def act(self, token, proposal, state, inputs):
        """The next state and the outcome; `Denied` if the token does not permit it."""
        return self.run.world.step(state, proposal["action"], inputs)


class Replay:
    """A run that is made again.

    Attributes:
        specs: Data by key; `scenario` is that of the root.
        world, governor, agent: As their modules have them; no agent if it is asked outside.
        tape: What came from outside, None if there is none.
    """

    def __init__(self, document, tape=None, desk=None):
        """Read the specs.

        Args:
            document: What specs.json holds.
            tape: The documents of the lines of tape.jsonl, if there is one.
            desk: What makes the desk of a kernel, of this object; without it a kernel's run is left open.
        """
        self.specs, self.scenario = document["specs"], document["specs"][document["root"]]
        self.document = document
        self.seed, self.episodes = self.scenario.get("seed", 0), self.scenario.get("episodes", 1)
        self.horizon = self.scenario["horizon"]
        self.world = World(self.specs, self.scenario["world"])
        governor, self.agent_data = self.specs[self.scenario["governor"]], self.specs[self.scenario["agent"]]
        self.governor = Governor(governor, self.world)
        outside = self.agent_data.get("outside") is not None
        self.agent = None if outside else Agent(self.agent_data, self.world, self.governor.claims)
        self.tape = None if tape is None else Tape(tape)
        demand(self.tape is not None or not outside, "E_TAPE_MISSING", "the agent is outside, and there is no tape")
        self.drifts = drifts_of(self.scenario.get("drift", []), self.specs, self.world, self.horizon)
        keys = dict.fromkeys([*governor.get("invariants", []), *self.scenario.get("invariants", [])])
        wanted = [self.specs[key] for key in keys if self.specs[key].get("scope") != "proposal"]
        self.invariants = [Invariant(one, self.world) for one in wanted]
        until = self.scenario.get("until")
        self.until = None if until is None else expression(until)
        self.start_values = labelled(self.scenario.get("start", {}))
        self.commits = self.scenario.get("commit", "proposals") != "none"
        kernel = governor.get("admission") is not None
        if kernel and desk is None:
            raise Open("E_REPLAY", "runs under a kernel are not made again here")
        self.desk = desk(self) if kernel else Desk(self)
        self.gates = ["schema", *self.desk.gates(), *(gate.id for gate in self.governor.gates)]

    def start(self, episode):
        """The start state of an episode."""
        data = self.scenario.get("map")
        grid = None if data is None else map_of(data, self.seed, episode)
        return self.world.start(self.start_values, None, grid)

    @staticmethod
    def rejected(failing):
        """The judgement of a proposal that was refused before it was judged."""
        return Judgement(list(failing), 0, {}, {}, None)

    def receipts(self):
        """The receipts in their order, as (type, body)."""
        yield "start", self.opening()
        watch, counts, steps, memory = Watch(self.governor), Counter(dict.fromkeys(self.gates, 0)), 0, None
        try:
            first = self.start(0)
        except (Failed, Unsealable) as failed:
            raise Refuted("E_SPECS", f"the first start state cannot be made: {failed.code}") from None
        del first
        for number in range(self.episodes):
            episode = Episode(self, number, watch, memory)
            for kind, body in episode.receipts():
                steps += kind == "step"
                if kind == "episode_end":
                    counts.update(body["gates"])
                if kind != "commit" or self.commits:
                    yield kind, body
            lasts = self.agent is not None and self.agent.memory.lasts == "run"
            memory = episode.memory if lasts else None
        yield "end", {"episodes": self.episodes, "steps": steps, "gates": dict(counts)}
        if self.tape is not None:
            self.tape.finish()

    def opening(self):
        """The first receipt."""
        invariants = [{"name": one.name, "scope": one.scope, "severity": one.severity} for one in self.invariants]
        body = {
            "scenario": self.scenario["name"],
            "specs": tagged("specs", write(self.document)),
            "seed": self.seed,
            "episodes": self.episodes,
            "horizon": self.horizon,
            "gates": self.gates,
            "invariants": invariants,
            "drifts": [{"drift": one.name, "schedule": sorted(one.schedule)} for one in self.drifts],
        }
        if not self.commits:
            body["commit"] = "none"
        if self.tape is not None and self.tape.mode == "live":
            body["audit"] = {"mode": "live", "head": self.tape.head}
        return body


class Episode:
    """One episode that is made again."""

    def __init__(self, run, number, watch, memory):
        self.run, self.world, self.number, self.watch, self.memory = run, run.world, number, watch, memory
        self.tips = dict.fromkeys(self.world.keeping(), ZEROS)
        self.gates, self.idle = dict.fromkeys(run.gates, 0), Counter()
        self.t, self.state, self.digest, self.seen = 0, {}, "", None
        self.pending, self.first, self.ended = 0, None, None
        self.steps, self.token = 0, None

    def moment(self, seen=None):
        """Where the loop stands."""
        return Moment(self.number, self.t, self.state, seen, self.memory, self.token)

    def receipts(self):
        """The receipts of the episode."""
        run, violations = self.run, []
        run.desk.open()
        try:
            self.watch.begin()
            start = self.state = run.start(self.number)
            self.digest = state_hash(start)
            yield "episode", self.begun(start)
            for self.t in range(run.horizon):
                yield from self.step()
                self.steps += 1
                if self.ended is not None:
                    break
            found, idle = self.breaches("episode", start, self.state)
            violations = weighed(found)
            self.idle.update(idle)
        except Ended as ended:
            self.ended = ended.kind
            yield from run.desk.attend("halted", self.moment())
            witness = {"ended": ended.kind, "reason": ended.reason}
            violations = [{"invariant": "watchdog", "severity": "fatal", "witness": witness}]
        except (Failed, Unsealable) as failed:
            self.ended = "error"
            yield from run.desk.attend("error", self.moment())
            yield "error", {"episode": self.number, "t": self.t, **failed.told()}
        yield (
            "episode_end",
            {
                "episode": self.number,
                "steps": self.steps,
                "ended": self.ended or "horizon",
                "success": self.first is not None,
                "first_success": self.first,
                "violations": violations,
                "idle": dict(self.idle),
                "gates": self.gates,
                "state": self.digest,
            },
        )

    def begun(self, state):
        """The receipt of a start state."""
        body = {
            "episode": self.number,
            "state": state,
            "digest": self.digest,
            "opening": self.world.opening(state),
            "world": state_hash({k: v for k, v in state.items() if k not in self.tips}),
            "parts": {name: state_hash(state[name]) for name in self.tips},
        }
        return weighed(body)

    def step(self):
        """The receipts of one step."""
        run, desk = self.run, self.run.desk
        self.token = None
        for place, drift in enumerate(run.drifts):
            if self.t in drift.schedule:
                yield from self.drift(place, drift)
        fresh = self.seen is None
        seen = self.world.observe(self.state) if fresh else self.seen
        if self.memory is None:
            self.memory = {} if run.agent is None else run.agent.begin(seen)
        self.watch.observe(seen, self.state, fresh)
        yield from desk.attend("before_propose", self.moment(seen))
        proposals = desk.propose(self.moment(seen))
        leaves = [sealed({"index": index, "proposal": one}) for index, one in enumerate(weighed(proposals))]
        root = merkle(leaves)
        observed = tagged("observation", sealed(weighed(seen)))
        body = {"episode": self.number, "t": self.t, "observation": observed, "root": root}
        yield "commit", {**body, "proposals": proposals}
        yield from desk.attend("after_commit", self.moment(seen))
        found = desk.judge(self.moment(seen), proposals, lambda some: self.judge(some, seen))
        chosen = best_of(found, lambda one: not one.rejected and one.error is None)
        self.token = self.issued(chosen, found)
        yield from desk.attend("after_token", self.moment(seen))
        taken = self.taken(chosen, proposals, found, seen, leaves, root)
        yield from desk.attend("after_act", self.moment(seen))
        yield "step", self.settled(taken, found)

    def judge(self, proposals, seen):
        """The governor's judgement of each proposal."""
        agent = self.run.agent
        writes = [0 if agent is None else agent.memory.count(seen, self.memory, one["action"]) for one in proposals]
        memory = self.watch.memory or {}
        return self.run.governor.judge(self.state, proposals, self.pending, writes, memory)

    def drift(self, place, drift):
        """What a drift does, where it happens."""
        before = self.state
        sources = drift.sources(before)
        if sources is None or not all(sources):
            return
        drawn = {}
        for (name, stream, _), source in zip(drift.draws, sources):
            drawn[name] = Stream(self.run.seed, "drift", stream, place, self.number, self.t, name).choice(source)
        after = drift.apply(before, drawn)
        digest = state_hash(after)
        rebases, values = self.watch.drift(drift.name, after)
        moved = {name: {"from": before[name], "to": after[name]} for name in before if after[name] != before[name]}
        body = {"episode": self.number, "t": self.t, "drift": drift.name, "drawn": drawn, "changed": moved}
        body.update(rebases=rebases, before=self.digest, after=digest)
        sealed(weighed(body))
        self.state, self.seen, self.digest, self.watch.values = after, None, digest, values
        yield "drift", body

    def issued(self, chosen, found):
        """What the desk issues for a choice, None if nothing."""
        if chosen is None:
            return None
        try:
            return self.run.desk.issue()
        except Denied as denied:
            found[chosen].rejected.append({"gate": "token", "reason": denied.reason, "witness": {}})
            return None

    def taken(self, chosen, proposals, found, seen, leaves, root):
        """What comes of a decision: everything that a step keeps, before it is kept."""
        if self.token is None:
            return self.stood(proposals, found, seen)
        proposal, judgement, before = proposals[chosen], found[chosen], self.state
        try:
            after, outcome = self.run.desk.act(self.token, proposal, before, judgement.inputs)
        except Denied as denied:
            judgement.rejected.append({"gate": "token", "reason": denied.reason, "witness": {}})
            return self.stood(proposals, found, seen)
        digest = tagged("proposal", leaves[chosen])
        scope = {"episode": self.number, "op": proposal["action"]["op"], "t": self.t}
        binding = {"commitment": root, "proposal": digest, "scope": tagged("scope", write(scope))}
        body = {"chosen": chosen, "chosen_hash": digest, "token": {"id": tagged("token", write(binding)), **binding}}
        body.update(cost=judgement.cost, inputs=judgement.inputs, record=self.world.record(before, after, outcome))
        later, agent = self.world.observe(after), self.run.agent
        memory = self.memory
        if agent is not None:
            memory = agent.memory.remember(seen, self.memory, proposal["action"], later)
        told, watched = self.watch.act(seen, proposal["action"], after, later)
        body.update(told)
        return after, later, memory, watched, body, self.world.told(before, after, outcome)

    def stood(self, proposals, found, seen):
        """Nothing is done; parts tell of the refused proposal of the greatest value."""
        best, told = best_of(found, lambda one: one.cost), {}
        if best is not None:
            after, outcome = self.world.step(self.state, proposals[best]["action"], found[best].inputs)
            told = self.world.told(self.state, after, outcome)
        body = {"chosen": None, "chosen_hash": None, "token": None, "cost": None, "inputs": {}, "record": None}
        body.update(self.watch.stand())
        return self.state, seen, self.memory, (self.watch.memory, self.watch.values), body, told

    def settled(self, taken, found):
        """The receipt of a step. What may fail comes first; then what it led to is kept."""
        after, later, memory, watched, body, told = taken
        before, chosen = self.state, body["chosen"]
        success = self.world.success(after)
        until = self.run.until is not None and evaluate(self.run.until, self.world.names(after), self.world.functions)
        violations, idle = self.breaches("step", before, after)
        decisions = [
            {"rejected": one.rejected, "error": None if one.error is None else one.error.told()} for one in found
        ]
        body = {"episode": self.number, "t": self.t, "before": self.digest, "decisions": decisions, **body}
        body.update(after=state_hash(after), success=success, violations=violations)
        tips = dict(self.tips)
        body["parts"] = {
            name: self.part(tips, name, after, one, chosen is not None) for name, one in weighed(told).items()
        }
        sealed(weighed(body))
        refused = sum(1 for one in found if one.rejected)
        paid = chosen is not None and found[chosen].cost["total"] != 0
        self.pending = refused + (0 if paid else self.pending)
        for one in found:
            for failing in one.rejected:
                self.gates[failing["gate"]] += 1
        self.state, self.seen, self.digest, self.memory, self.tips = after, later, body["after"], memory, tips
        self.watch.memory, self.watch.values = watched
        self.idle.update(idle)
        if success and self.first is None:
            self.first = self.t
        if any(one["severity"] == "fatal" for one in violations):
            self.ended = "fatal"
        elif until:
            self.ended = "until"
        return body

    def part(self, tips, name, after, told, accepted):
        """The receipt of a part, and the tip of its chain after it."""
        states = {"before": self.state[name], "after": after[name]}
        receipt = {**told, "accepted": accepted, "tip": tips[name]}
        receipt.update({place: state_hash(one) for place, one in states.items()})
        tips[name] = tagged("part", tips[name].encode() + sealed(receipt))
        return {**receipt, "tip_after": tips[name]}

    def breaches(self, scope, previous, state):
        """The broken invariants of a scope, and the names of those that were not looked at."""
        broken, idle = [], []
        for one in self.run.invariants:
            if one.scope == scope:
                witness = one.judge(previous, state)
                if witness is False:
                    idle.append(one.name)
                elif witness is not None:
                    broken.append({"invariant": one.name, "severity": one.severity, "witness": witness})
        return broken, idle


def best_of(found, admitted):
    """The first of the most valued judgements that are admitted, None if there is none."""
    best = None
    for index, one in enumerate(found):
        if admitted(one) and (best is None or one.value > found[best].value):
            best = index
    return best


def replay_scenario(document, tape=None, desk=None):
    """The receipts of a run, as (type, body), in their order."""
    return Replay(document, tape, desk).receipts()
