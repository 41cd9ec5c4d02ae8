"""Mutants over a scan: which of them changed what a rule says, within a bound of work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field

from specledger.core.rng import Stream
from specledger.load import Resolved
from specledger.wings.trajectories.model import Call, Message, Speaker, Trajectory
from specledger.wings.trajectories.mutants.logs import COPY, OPERATORS, Focus
from specledger.wings.trajectories.mutants.rules import RuleMutant, alone, rule_mutants
from specledger.wings.trajectories.reading import knows_request
from specledger.wings.trajectories.room import Room
from specledger.wings.trajectories.rules.accesses import accesses
from specledger.wings.trajectories.rules.plans import Status
from specledger.wings.trajectories.rules.policy import Policy
from specledger.wings.trajectories.spec.policy import Policy as PolicySpec

MOST_ENTRIES: Final = 5_000_000
"""Entries that mutants judge at most, over all rules."""
SAMPLED: Final = 20
"""Trajectories that are mutated for one rule, of those that have what it is about."""
MOST_SAMPLED: Final = 2_000
"""Those of all rules together, at least one for each."""
LONGEST: Final = 2_000
"""Entries of a trajectory that is mutated, at most."""
MOST_KEPT_OF_SAMPLES: Final = 64 << 20
"""Bytes of memory, about, that all samples together may take: none of their trajectories takes more than its share."""


class RuleMutation(Struct):
    """What became of the mutants of a rule, and of those of trajectories that were made for it.

    Attributes:
        noticed: The mutants of the rule with which some verdict differs, each with the trajectory of the first.
        unnoticed: Those with which none does: what they change could be left out.
        tried: How many mutants of trajectories there were, by operator.
        changed: How many of them changed whether a call or a message is broken, or judged.
    """

    noticed: dict[str, str] = field(default_factory=dict)
    unnoticed: list[str] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)

    @property
    def reached(self) -> bool:
        """Whether a mutant of a trajectory changed its verdict."""
        return bool(self.changed.total())

    @property
    def indifferent(self) -> bool:
        """Whether no mutant of the rule itself changed a verdict, though there are some."""
        return bool(self.unnoticed) and not self.noticed


class Mutants(Struct, frozen=True):
    """The outcome: by rule, and whether the bound of work ended it."""

    seed: int
    number: int
    rules: dict[str, RuleMutation]
    stopped: bool


class _Rule(Struct, eq=False):
    policy: Policy
    focus: Focus
    alive: list[RuleMutant]
    mutation: RuleMutation
    sampling: Stream
    sample: list[tuple[int, Trajectory]] = field(default_factory=list)
    suited: int = 0

    def is_about(self, trajectory: Trajectory) -> bool:
        """Whether a trajectory has a call, or a message, that the rule is about."""
        reads = self.focus.accesses
        about = reads[0] if reads and reads[0].key == "when" else None
        if about is None:
            return any(isinstance(e, Message) and e.speaker is Speaker.ASSISTANT for e in trajectory.entries)
        return any(isinstance(entry, Call) and about.matches(entry.tool) for entry in trajectory.entries)

    def keep(self, number: int, trajectory: Trajectory, most: int) -> None:
        """Keep a trajectory in the sample, in which each that was suited is with the same chance."""
        self.suited += 1
        if len(self.sample) < most:
            self.sample.append((number, trajectory))
        elif (slot := self.sampling.integer(0, self.suited - 1)) < most:
            self.sample[slot] = (number, trajectory)


class Mutation:
    """Hears the trajectories of a scan."""

    def __init__(self, resolved: Resolved, number: int, seed: int) -> None:
        """At most `number` mutants of each rule, and of trajectories for each rule, chosen by a seed."""
        model = resolved.model
        assert isinstance(model, PolicySpec)  # noqa: S101 - the kind's own model
        self._number, self._seed = number, seed
        self._work, self._heard = 0, 0
        self._most = max(1, min(SAMPLED, MOST_SAMPLED // len(model.rules)))
        self._largest = MOST_KEPT_OF_SAMPLES // (self._most * len(model.rules))
        self._rules: dict[str, _Rule] = {}
        for name in model.rules:
            every = list(rule_mutants(resolved, name))
            stream = Stream.named(seed, "mutants", "rule", name)
            chosen = every if len(every) <= number else stream.sample(every, number)
            self._rules[name] = _Rule(
                policy=alone(resolved, name),
                focus=_focus(model, name),
                alive=chosen,
                mutation=RuleMutation(),
                sampling=Stream.named(seed, "mutants", "trajectories", name),
            )

    def hear(self, trajectory: Trajectory) -> None:
        """Judge a trajectory by the mutants of rules, and keep it for mutants of its own, perhaps."""
        room = Room(self._largest)
        suited = len(trajectory.entries) <= LONGEST and all(map(room.take, trajectory.entries))
        for rule in self._rules.values():
            if rule.alive and self._spend(trajectory, len(rule.alive) + 1):
                self._compare(rule, trajectory)
            if suited and rule.is_about(trajectory):
                rule.keep(self._heard, trajectory, self._most)
        self._heard += 1

    def finish(self) -> Mutants:
        """Make and judge the mutants of the sampled trajectories."""
        stopped = self._work >= MOST_ENTRIES
        for name, rule in self._rules.items():
            rule.mutation.unnoticed = [mutant.text for mutant in rule.alive]
            self._mutate(name, rule)
        return Mutants(
            self._seed,
            self._number,
            {name: rule.mutation for name, rule in self._rules.items()},
            stopped or self._work >= MOST_ENTRIES,
        )

    def _spend(self, trajectory: Trajectory, times: int) -> bool:
        self._work += len(trajectory.entries) * times
        return self._work < MOST_ENTRIES

    @staticmethod
    def _compare(rule: _Rule, trajectory: Trajectory) -> None:
        plain = _outcomes(rule.policy, trajectory)
        left = []
        for mutant in rule.alive:
            if _outcomes(mutant.policy, trajectory) == plain:
                left.append(mutant)
            else:
                rule.mutation.noticed[mutant.text] = trajectory.id
        rule.alive = left

    def _mutate(self, name: str, rule: _Rule) -> None:
        """Mutate the sampled trajectories in rounds, by each operator in turn, until there are enough."""
        mutation = rule.mutation
        for turn in range(self._number):
            before = mutation.tried.total()
            for number, trajectory in rule.sample:
                for operator, mutate in OPERATORS.items():
                    if mutation.tried.total() >= self._number or not self._spend(trajectory, 2):
                        return
                    stream = Stream.named(self._seed, "mutants", name, operator, number, turn)
                    mutant = mutate(trajectory, rule.focus, stream)
                    if mutant is not None:
                        mutation.tried[operator] += 1
                        mutation.changed[operator] += _differs(rule.policy, trajectory, mutant)
            if mutation.tried.total() == before:
                return


def _focus(model: PolicySpec, name: str) -> Focus:
    rule = model.rules[name]
    request = "request" in (rule.from_ or ()) or any(read.path == "request" for read in rule.read.values())
    types = tuple(rule.as_) if isinstance(rule.as_, list) else (rule.as_,)
    reads = [rule.read, *(earlier.read for earlier in (rule.after, rule.not_after) if earlier is not None)]
    timed = any(getattr(kept, "within", None) is not None for kept in rule.memory.values())
    timed |= any(read.path == "time" for names in reads for read in names.values())
    return Focus(accesses(model, name), request, types, timed)


def _outcomes(policy: Policy, trajectory: Trajectory) -> list[tuple[int, Status]]:
    session = policy.begin(messages=knows_request(trajectory))
    return [(at, outcome.status) for at, e in enumerate(trajectory.entries) for outcome in session.hear(e)]


def _differs(policy: Policy, trajectory: Trajectory, mutant: Trajectory) -> bool:
    """Whether a call or message of a mutant is broken, or unjudged, that was not before, or the other way round.

    What was dropped is not compared; a copy of a call is compared with the call.
    """
    before, after = _faults(policy, trajectory), _faults(policy, mutant)
    original = {_key(at, entry) for at, entry in _judged(trajectory)}
    for at, entry in _judged(mutant):
        key = _key(at, entry)
        if after.get(key) is not before.get(key if key in original else key.rpartition(COPY)[0]):
            return True
    return False


def _judged(trajectory: Trajectory) -> Iterator[tuple[int, Call | Message]]:
    """The calls and the messages of the agent, each sort with its number."""
    messages = 0
    for entry in trajectory.entries:
        if isinstance(entry, Call):
            yield 0, entry
        elif isinstance(entry, Message) and entry.speaker is Speaker.ASSISTANT:
            messages += 1
            yield messages, entry


def _key(number: int, entry: Call | Message) -> str:
    return f"call {entry.id}" if isinstance(entry, Call) else f"message {number}"


def _faults(policy: Policy, trajectory: Trajectory) -> dict[str, Status]:
    """What was broken, or not judged."""
    faults: dict[str, Status] = {}
    session, messages = policy.begin(messages=knows_request(trajectory)), 0
    for entry in trajectory.entries:
        messages += isinstance(entry, Message) and entry.speaker is Speaker.ASSISTANT
        for outcome in session.hear(entry):
            if outcome.status is not Status.HELD and isinstance(entry, Call | Message):
                faults[_key(messages, entry)] = outcome.status
    return faults
