"""Compiles a kernel: the admission of documents, the agent's narration, and the probes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from specledger.agents.agent import Agent, Around, check_agent
from specledger.agents.claims import Views
from specledger.agents.narration import Narration
from specledger.agents.procedure import (
    DecisionPoint,
    Procedure,
    compile_draws,
    compile_possible,
    compile_proposals,
)
from specledger.agents.propose import compile_weigh
from specledger.compile.plan import KernelPlan
from specledger.compile.read_dependencies import unused_variables, used_by
from specledger.compile.roles import Role
from specledger.core.diagnostics import Diagnostics, suggest
from specledger.expr import Emitter, RecordType, compile_function
from specledger.gates.admission import EVALUATION, SCHEMA, SCOPE, TOKEN, Admission, check_admission, check_fit
from specledger.gates.digests import trace_commit
from specledger.gates.documents import axion
from specledger.gates.facts import Facts, Vocabulary, check_vocabulary
from specledger.gates.invariant import E_ADMISSION, check_document_invariant
from specledger.gates.signatures import Signing
from specledger.gates.tokens import REFUSALS
from specledger.lang.bind import bind, fields_of
from specledger.lang.scope import Scope
from specledger.load import Bundle, Resolved
from specledger.probes.check import Probe, check_probe
from specledger.spec.agent import Agent as AgentSpec
from specledger.spec.agent import Outside, Requests
from specledger.spec.base import QFIXED_ONE
from specledger.spec.governor import Admission as AdmissionSpec
from specledger.spec.governor import Grant
from specledger.spec.invariant import Invariant as InvariantSpec
from specledger.worlds.emit import compile_over
from specledger.worlds.model import World
from specledger.worlds.variables import Variables

_KERNEL: Final = "write `admission` in the governor, or extend a governor that has it"


class Parts(Struct, frozen=True):
    """What a scenario's compiler has made already.

    Attributes:
        role: Who decides, under which governor.
        world: The checked world, as the agent meets it.
        decider: The checked agent; None if it is asked outside.
        declared: The checked procedure that an agent outside declares, None if there is none.
        diagnostics: Receives every finding.
    """

    bundle: Bundle
    role: Role
    world: World
    around: Around
    decider: Agent | None
    declared: Agent | None
    seed: int
    diagnostics: Diagnostics

    @property
    def governor(self) -> Resolved:
        """The governor's spec."""
        return self.role.governor

    @property
    def agent(self) -> Resolved:
        """The agent's spec."""
        return self.role.agent


def compile_kernel(parts: Parts) -> KernelPlan | None:
    """The kernel of a scenario, None if its governor admits bare proposals, or with findings, if it is wrong."""
    if parts.role.rules.admission is None:
        _refuse_strays(parts)
        return None
    return _Assembly(parts).kernel(parts.role.rules.admission)


def proposal_invariants(parts: Parts) -> list[Resolved]:
    """The invariants of scope `proposal` that governor and scenario name, each once, in their order."""
    keys = [
        key
        for spec in (parts.governor, parts.bundle.main)
        for path, key in spec.refs.items()
        if path[0] == "invariants"
    ]
    specs = [parts.bundle.specs[key] for key in dict.fromkeys(keys)]
    return [spec for spec in specs if isinstance(spec.model, InvariantSpec) and spec.model.scope == "proposal"]


def _refuse_strays(parts: Parts) -> None:
    """Findings for what needs a kernel where there is none."""
    wrong = parts.diagnostics.error
    for spec in proposal_invariants(parts):
        wrong(E_ADMISSION, "the governor has no `admission`: there are no documents to judge", spec.span("scope"))
    if parts.role.probes:
        place = parts.bundle.main.span(*parts.role.at, "probes")
        wrong(E_ADMISSION, "the governor has no `admission`: probes need a kernel", place, hint=_KERNEL)
    if parts.role.decider.draw:
        wrong(E_ADMISSION, "only an agent under a kernel draws for its decisions", parts.agent.span("draw"))


class _Assembly:
    """Puts one kernel together."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._variables = Variables(parts.world)

    def kernel(self, admits: AdmissionSpec) -> KernelPlan | None:
        parts = self._parts
        scope = Scope(parts.world.environment, parts.governor, parts.diagnostics)
        document = check_admission(admits, parts.governor, parts.diagnostics)
        env = scope.expression("admission", "env")
        if env is not None and not isinstance(env.type, RecordType):
            scope.wrong(E_ADMISSION, f"`env` is a record, not {env.type}", "admission", "env")
            return None
        key = parts.governor.refs["admission", "vocabulary"]
        vocabulary = check_vocabulary(parts.bundle.specs[key], parts.diagnostics)
        if document is None or env is None or vocabulary is None:
            return None
        check_fit(admits, env.type, parts.world.actions, parts.governor, parts.diagnostics)
        self._refuse_unknown_ops(admits)
        views = self._views(_over_state(parts.world, env))
        grants = {name: _scope(grant) for name, grant in admits.grants.items()}
        free = {name: _scope(grant) for name, grant in admits.free.items()}
        narration = self._narration(views, vocabulary, grants)
        probes = self._probes(document)
        invariants = [
            check_document_invariant(spec, parts.world.environment, parts.world.state, document, parts.diagnostics)
            for spec in proposal_invariants(parts)
        ]
        if narration is None or parts.diagnostics.has_errors:
            return None
        facts = Facts(views.env, views.names, views.normalize, self._variables.label, vocabulary)
        admission = Admission(
            accepts=axion().check(admits.document),
            find=facts.find,
            invariants=tuple(invariant for invariant in invariants if invariant is not None),
            grants=grants,
            free=free,
        )
        return KernelPlan(
            admission=admission,
            vocabulary=vocabulary,
            narration=narration,
            probes=probes,
            weigh=self._weigh(),
            unused=self._unused(narration),
            deterministic=parts.decider is not None and not any(stream for _, stream, _ in parts.decider.draws),
            ms_per_tick=admits.ms_per_tick,
            signing=_signing(admits),
        )

    def _unused(self, narration: Narration) -> Callable[[Any], list[str]]:
        """`state -> variables that the declared procedure does not read`; none where no procedure is declared."""
        if narration.declared is None:
            return lambda _state: []
        return unused_variables(self._parts.world, narration.declared.reads, narration.views.names)

    def _refuse_unknown_ops(self, admits: AdmissionSpec) -> None:
        """Findings for operations that a capability of this world allows and the world lacks.

        A capability that the world itself lacks is left alone: one governor may serve several worlds.
        """
        known = self._parts.world.actions
        for table, grants in (("grants", admits.grants), ("free", admits.free)):
            for capability in grants.keys() & known.keys():
                for index, op in enumerate(grants[capability].allowed_ops):
                    if op not in known:
                        near = suggest(op, known)
                        self._parts.diagnostics.error(
                            E_ADMISSION,
                            f"`{capability}` allows {op!r}, which is no action of the world",
                            self._parts.governor.span("admission", table, capability, "allowed_ops", index),
                            expected=f"one of {', '.join(known)}",
                            hint=f"did you mean `{near}`?" if near else None,
                        )

    def _refuse_unknown_variables(self, names: Sequence[str]) -> None:
        """A finding where no name that an agent varies can be that of a variable of the world."""
        if not any(map(self._variables.may_be, names)):
            message = "the world has none of these variables, so the agent has no reason to state"
            known = ", ".join(one.name for one in self._parts.world.namespace.variables)
            hint = f"the world has {known}" if known else "declare `variables` and `alternatives` in the world"
            place = self._parts.agent.span("narration", "vary")
            self._parts.diagnostics.error(E_ADMISSION, message, place, hint=hint)

    def _views(self, env: Callable[[Any], dict[str, Any]]) -> Views:
        variables = self._variables
        return Views(
            observe=compile_over(self._parts.world, self._parts.world.observe),
            env=env,
            names=variables.names,
            alternatives=variables.alternatives,
            read=variables.read,
            mutate=variables.mutate,
            normalize=variables.normalize,
        )

    def _narration(
        self, views: Views, vocabulary: Vocabulary, grants: Mapping[str, Mapping[str, Any]]
    ) -> Narration | None:
        parts, model = self._parts, self._parts.agent.model
        assert isinstance(model, AgentSpec)  # noqa: S101 - a reference of kind agent holds nothing else
        if parts.decider is None:
            assert model.outside is not None  # noqa: S101 - see the compiler
            return self._outside(model.outside, views, vocabulary, grants)
        if model.narration is None or not model.predicts:
            message = "its governor admits documents: it needs `predicts: true` and `narration`"
            parts.diagnostics.error(E_ADMISSION, message, parts.agent.span("name"))
            return None
        self._refuse_unknown_variables(model.narration.vary)
        decider = self._procedure(parts.agent, parts.decider)
        teller = self._other("by", decider)
        declared = self._other("declares", teller)
        if teller is None or declared is None:
            return None
        return Narration(
            decider=decider,
            teller=teller,
            declared=declared,
            views=views,
            vary=tuple(dict.fromkeys(model.narration.vary)),
            most=model.narration.claims,
            say=vocabulary.say,
            request=_request(grants, model.narration.requests),
            commit=trace_commit,
            steps=model.narration.steps,
            foresee=_predictor(parts.around.step),
            nonces=model.narration.nonces,
            directional=vocabulary.directional,
            words=vocabulary.trace,
            confidence=_share(model.narration.confidence),
        )

    def _outside(
        self,
        outside: Outside,
        views: Views,
        vocabulary: Vocabulary,
        grants: Mapping[str, Mapping[str, Any]],
    ) -> Narration | None:
        """The narration of an agent outside: what it says becomes documents, and it may declare a procedure."""
        parts, declared = self._parts, None
        reference = parts.agent.refs.get(("outside", "declares"))
        if reference is not None:
            if parts.declared is None:
                return None
            declared = self._procedure(parts.bundle.specs[reference], parts.declared)
        mute = Procedure(parts.agent.name, parts.agent.key, "", lambda *_: [], self._variables.label)
        return Narration(
            decider=mute,
            teller=mute,
            declared=declared,
            views=views,
            vary=(),
            most=0,
            say=vocabulary.say,
            request=_request(grants, outside.requests),
            commit=trace_commit,
            directional=vocabulary.directional,
            words=vocabulary.trace,
        )

    def _other(self, key: str, default: Procedure | None) -> Procedure | None:
        """The procedure of the agent that a key of the narration names, if it names one."""
        parts = self._parts
        reference = parts.agent.refs.get(("narration", key))
        if reference is None:
            return default
        spec = parts.bundle.specs[reference]
        agent = check_agent(spec, parts.around, parts.diagnostics)
        if agent is None:
            return None
        assert parts.decider is not None  # noqa: S101 - see `_narration`
        if agent.memory.type.fields and agent.memory.type != parts.decider.memory.type:
            message = "an agent that explains for another one has no memory, or one of the same fields"
            parts.diagnostics.error(E_ADMISSION, message, parts.agent.span("narration", key))
            return None
        return self._procedure(spec, agent)

    def _procedure(self, spec: Resolved, agent: Agent) -> Procedure:
        model = spec.model
        assert isinstance(model, AgentSpec) and model.score is not None  # noqa: S101, PT018 - it was checked
        return Procedure(
            name=spec.name,
            spec=spec.key,
            score=model.score,
            propose=compile_proposals(agent, spec.name, self._parts.seed),
            label=self._variables.label,
            reads=used_by(agent, self._parts.world),
            possible=compile_possible(agent),
        )

    def _weigh(self) -> Callable[..., int]:
        if self._parts.decider is None:
            return lambda *_: 0
        weigh = compile_weigh(self._parts.decider)
        draw = compile_draws(self._parts.decider, self._parts.agent.name, self._parts.seed)

        def weighed(seen: Any, memory: Any, action: Any, after: Any, point: DecisionPoint) -> int:
            score: int = weigh(seen, memory, action, after, draw(seen, memory, point))
            return score

        return weighed

    def _probes(self, document: RecordType) -> list[Probe]:
        parts, world = self._parts, self._parts.world
        denials = [*(one.name for one in proposal_invariants(parts)), SCHEMA, SCOPE, EVALUATION, TOKEN, *REFUSALS]
        horizon: int = parts.bundle.main.model.horizon  # type: ignore[attr-defined]
        made = [
            check_probe(spec, world.environment, world.state, document, denials, horizon, parts.diagnostics)
            for spec in parts.role.probes
        ]
        return [probe for probe in made if probe is not None]


def _over_state(world: World, checked: Any) -> Callable[[Any], dict[str, Any]]:
    """`state -> value` of one expression over the world's state."""

    def compose(emitter: Emitter) -> str:
        state = emitter.local("state")
        sources = {"now": state, **fields_of(emitter, state, world.state.fields)}
        lines, names = bind(emitter, checked.variables, sources)
        return emitter.function("env", [state], [*lines, f"return {emitter.expression(checked, names)}"])

    return compile_function(compose)


def _signing(admits: AdmissionSpec) -> Signing | None:
    """How a kernel signs with a key, if it does."""
    if admits.public is None or admits.key is None:
        return None
    return Signing(bytes.fromhex(admits.public), admits.key.file, admits.key.variable)


def _scope(grant: Grant) -> dict[str, Any]:
    """A grant as a `capability_scope` document."""
    return {
        "allowed_ops": list(grant.allowed_ops),
        "rate_limit": {"max_calls": grant.max_calls, "per_ms": grant.per_ms},
        "expiry_ms": grant.expiry_ms,
    }


def _share(millionths: int) -> float:
    """Millionths as a document's number; 1 stays an integer."""
    return 1 if millionths == QFIXED_ONE else millionths / QFIXED_ONE


def _request(
    grants: Mapping[str, Mapping[str, Any]], wanted: Requests
) -> Callable[[Mapping[str, Any]], dict[str, Any] | None]:
    """`action -> the request for its capability`, None if it needs none: as much as is granted, or as is wanted."""

    def asks(action: Mapping[str, Any]) -> dict[str, Any] | None:
        capability = action["op"]
        if capability not in grants:
            return None
        granted = grants[capability]
        rate = granted["rate_limit"]
        scope = {
            "allowed_ops": [capability],
            "rate_limit": {
                "max_calls": wanted.max_calls or rate["max_calls"],
                "per_ms": wanted.per_ms or rate["per_ms"],
            },
            "expiry_ms": wanted.expiry_ms or granted["expiry_ms"],
        }
        return {"capability": capability, "scope": scope, "justification": "the first step of the plan"}

    return asks


def _predictor(step: Callable[..., Any] | None) -> Callable[[Any, Mapping[str, Any]], Any] | None:
    """`(state, action) -> the state that an agent predicts`, where it has the world's own step."""
    if step is None:
        return None
    return lambda state, action: step(state, action["op"], action, {})[0]
