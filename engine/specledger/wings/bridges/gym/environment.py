"""A scenario as a Gymnasium environment: `step` answers the loop's question for proposals.

The loop is a generator. Its controller yields an event of its own before it takes a proposal, where the generator waits
for `step`; so there is no second loop and no thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import gymnasium

from specledger.compile.plan import Actor, Proposal
from specledger.compile.roles import roles
from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Diagnostic, Diagnostics, Rejected, code
from specledger.core.events import Ended, Event
from specledger.core.spans import Text
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.run import EpisodeEnd, EvaluationError, Step
from specledger.expr import BOOL, INT, Environment, RecordType, check, compile_expression
from specledger.kinds import KINDS, bundle_from_document
from specledger.load import Bundle
from specledger.load.bundle import dump, key_of, restore
from specledger.load.library import E_REF_MISSING, E_SPEC_WRONG_KIND
from specledger.pipeline.trying import one_of
from specledger.run.actor_state import ActorState
from specledger.run.controller import DecisionController, Moment
from specledger.run.episode import Episode
from specledger.suites.overlay import overlay
from specledger.wings.bridges.gym.spaces import E_GYM_SPACE, action_form, form_of
from specledger.worlds.check import check_world
from specledger.worlds.model import World

E_GYM_KERNEL = code("E_GYM_KERNEL", "a scenario under a kernel is no Gymnasium environment")

E_GYM_AGENTS = code("E_GYM_AGENTS", "a scenario of several agents is no Gymnasium environment")

_REWARD: Final = "reward"
"""The figure of a world's `record` that is the reward, if there is one and nothing else is said."""

_AWAITING: Final = Event("awaiting", {})
_MOST_SEED: Final = 2**53


class _Awaiting(DecisionController):
    """Waits for an action before each decision, and proposes it alone."""

    def __init__(self, actor: Actor, *, claims: bool) -> None:
        super().__init__(actor)
        self._claims = claims
        self.action: dict[str, Any] = {}

    def events_at(self, hook: str, moment: Moment) -> Iterable[Event]:
        return (_AWAITING,) if hook == "before_propose" else ()

    def propose(self, moment: Moment) -> list[Proposal]:
        """The action, with the claims that the scenario's own agent makes about the same action, if there are any."""
        if self._claims:
            for proposal in super().propose(moment):
                if proposal["action"] == self.action:
                    return [proposal]
        return [{"action": self.action, "score": 0}]


class SpecEnv(gymnasium.Env[Any, Any]):
    """A scenario as an environment.

    `reset(seed=n)` begins episode 0 of the run `--set seed=n`; `reset()` the next episode of the same run. An action
    that a gate rejects is not executed, and its reward is 0. `terminated`: a fatal invariant, `until`, success, or an
    error (`info["error"]`); `truncated`: the horizon.

    Attributes:
        actions: The form of an action; `actions.encode({"op": …})` gives the element of the space.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(self, bundle: Bundle, *, reward: str | None = None, ends_at_success: bool = True) -> None:
        """Take a scenario's bundle; the other arguments are those of `specledger.gym.make`."""
        self._bundle, self._ends_at_success = bundle, ends_at_success
        self._begin(bundle)
        world = check_world(bundle.specs[bundle.main.refs["world",]], bundle, Diagnostics())
        assert world is not None  # noqa: S101 - the scenario compiled
        self._reward = _compile_reward(world, reward)
        first = self._actor.actor.observe(self._plan.start(0))
        self.observations = form_of(RecordType("observation", world.observe.types), first)
        self.actions = action_form(world)
        self.observation_space, self.action_space = self.observations.space, self.actions.space

    def _begin(self, bundle: Bundle) -> None:
        self._plan = compile_scenario(bundle)
        actor = self._plan.actors[0]
        if len(self._plan.actors) > 1:
            message = f"{self._plan.name} has several agents"
            raise Rejected([Diagnostic(E_GYM_AGENTS, message, bundle.main.span("agents"))])
        if actor.controller is not None:
            message = f"the governor of {self._plan.name} admits documents"
            raise Rejected([Diagnostic(E_GYM_KERNEL, message, bundle.main.span("governor"))])
        self._controller = _Awaiting(actor, claims=bool(roles(bundle)[0].rules.claims))
        self._actor, self._number = ActorState(actor, self._controller), -1
        self._events: Iterator[Event] | None = None
        self._episode: Episode | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        A `seed`, taken modulo 2^53, begins a new run; without one, this is the next episode of this run.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._begin(overlay(self._bundle, self._bundle.root, {"seed": seed % _MOST_SEED}, ()))
        self._number += 1
        self._episode = Episode(self._plan, self._number, [self._actor])
        self._events = self._episode.run()
        _, info = self._advance()
        return self.observations.encode(self._episode.observation), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Propose an action: an element of the space, or a document such as `{"op": "move", "dir": "N"}`.

        Raises:
            gymnasium.error.ResetNeeded: The episode is over, or none was begun.
        """
        if self._events is None or self._episode is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        document = isinstance(action, Mapping) and isinstance(action.get("op"), str)
        self._controller.action = dict(action) if document else self.actions.decode(action)
        step, info = self._advance()
        figures, success, ended = step.get("record"), bool(step.get("success")), info.get("ended")
        reward = 0 if figures is None else self._reward({"success": success, **figures})
        terminated = ended not in (None, Ended.HORIZON) or (success and self._ends_at_success)
        if terminated or ended:
            self._events = None
        return (
            self.observations.encode(self._episode.observation),
            float(reward),
            terminated,
            ended == Ended.HORIZON,
            info,
        )

    def _advance(self) -> tuple[Step, dict[str, Any]]:
        """The receipt of the step that was made, and the info, at the next decision or the end of the episode."""
        assert self._events is not None  # noqa: S101 - the callers looked
        assert self._episode is not None  # noqa: S101 - the same
        step = typed(Step, {})
        info: dict[str, Any] = {"episode": self._number, "t": self._episode.t}
        for event in self._events:
            if event is _AWAITING:
                break
            if event.type == "step":
                step = typed(Step, event.body)
                info |= {"accepted": step["chosen"] is not None, "record": step["record"], "success": step["success"]}
                info |= {"rejected": step["decisions"][0]["rejected"], "violations": step["violations"]}
            elif event.type == "error":
                info["error"] = typed(EvaluationError, event.body)["code"]
            elif event.type == "episode_end":
                end = typed(EpisodeEnd, event.body)
                info |= {"ended": end["ended"], "episode_violations": end["violations"]}
        return step, info


def _compile_reward(world: World, text: str | None) -> Callable[[Mapping[str, Any]], int]:
    """`{success, figures of the record} -> reward`."""
    names = {"success": BOOL, **world.record.types}
    environment = Environment(variables=names, constants=world.environment.constants)
    source = text or (_REWARD if _REWARD in names else "success ? 1 : 0")
    diagnostics = Diagnostics()
    checked = check(Text.inline(source, "reward"), environment, diagnostics, expect=INT)
    diagnostics.raise_if_errors()
    assert checked is not None  # noqa: S101 - there are no findings
    function = compile_expression(checked, [*names])
    return lambda figures: int(function(*(figures[name] for name in names)))


def load_scenario(target: str, overrides: Sequence[str], horizon: int) -> Bundle:
    """The bundle of a scenario; a world becomes one, under a governor without gates."""
    try:
        return one_of(target, "scenario", overrides)
    except Rejected as rejected:
        if [diagnostic.code for diagnostic in rejected.diagnostics] not in ([E_REF_MISSING], [E_SPEC_WRONG_KIND]):
            raise
        try:
            world = one_of(target, "world", overrides)
        except Rejected as other:
            raise (
                rejected if [diagnostic.code for diagnostic in other.diagnostics] == [E_REF_MISSING] else other
            ) from None
    return _scenario_of(world, horizon)


def _scenario_of(world: Bundle, horizon: int) -> Bundle:
    """A scenario of a world alone; its agent is the caller, so the declared one is never asked."""
    specs = dict(world.document()["specs"])
    bodies: dict[str, dict[str, Any]] = {
        "governor": {"gates": [], "choose": {"maximise": "proposal.score"}},
        "agent": {"outside": {"python": "specledger.gym:make"}},
    }
    keys = {kind: _add(specs, kind, "environment", body) for kind, body in bodies.items()}
    root = _add(specs, "scenario", world.main.name, {"world": world.root, **keys, "horizon": horizon})
    return bundle_from_document({"root": root, "specs": specs})


def _add(specs: dict[str, Any], kind: str, name: str, body: Mapping[str, Any]) -> str:
    """Add a spec in its resolved form; its key."""
    form = dump(restore(KINDS[kind].model, {"spec": f"{kind}/v1", "name": name, **body}))
    key = key_of(kind, name, form)
    specs[key] = form
    return key


def flattened(made: SpecEnv) -> gymnasium.Env[Any, Any]:
    """The environment with each observation as one array.

    Raises:
        Rejected: E_GYM_SPACE, if an observation holds what has no fixed length.
    """
    if not isinstance(gymnasium.spaces.flatten_space(made.observation_space), gymnasium.spaces.Box):
        message = "an observation with texts or lists has no flat form"
        raise Rejected([Diagnostic(E_GYM_SPACE, message, hint="observe numbers, truth values and fields alone")])
    return gymnasium.wrappers.FlattenObservation(made)
