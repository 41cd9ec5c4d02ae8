"""Compiles a kernel: the admission of documents, the agent's narration, and the probes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from specledger.agents.agent import Agent, Around, check_agent
from specledger.agents.propose import compile_weigh
from specledger.compile.actor import document_invariants
from specledger.compile.extension import Admission as AdmissionPart
from specledger.compile.extension import Attachment, Stage
from specledger.compile.plan import Actor, Plan
from specledger.compile.roles import Role
from specledger.core.diagnostics import suggest
from specledger.core.entries import Entries
from specledger.expr import Emitter, RecordType, compile_function
from specledger.gates.capability import TOKEN
from specledger.gates.invariant import E_ADMISSION
from specledger.lang.bind import bind, fields_of
from specledger.lang.scope import Scope
from specledger.load import Resolved
from specledger.spec.agent import Agent as AgentSpec
from specledger.spec.agent import Outside, Requests
from specledger.spec.base import QFIXED_ONE
from specledger.spec.governor import Admission as AdmissionSpec
from specledger.spec.governor import Grant
from specledger.wings.kernel.asking_cost import questions_of, weak_probes
from specledger.wings.kernel.documents.admission import EVALUATION, SCHEMA, SCOPE, Admission, check_admission, check_fit
from specledger.wings.kernel.documents.digests import trace_commit
from specledger.wings.kernel.documents.facts import Facts, Vocabulary, check_vocabulary
from specledger.wings.kernel.documents.invariant import check_document_invariant
from specledger.wings.kernel.documents.schemas import axion
from specledger.wings.kernel.documents.signatures import Signing
from specledger.wings.kernel.documents.tokens import REFUSALS
from specledger.wings.kernel.plan import Control, KernelPlan
from specledger.wings.kernel.probes.check import Probe, check_probe
from specledger.wings.kernel.read_dependencies import irrelevant_to, relevant_to_claims, unused_variables, used_by
from specledger.wings.kernel.reasons.claims import Bounds, Views, compile_claims
from specledger.wings.kernel.reasons.narration import Narration
from specledger.wings.kernel.reasons.procedure import (
    DecisionPoint,
    Procedure,
    compile_draws,
    compile_possible,
    compile_proposals,
)
from specledger.wings.kernel.reasons.varied import check_varied
from specledger.wings.kernel.reasons.wording import check_reasons
from specledger.worlds.chance import E_CHANCE
from specledger.worlds.emit import compile_over
from specledger.worlds.model import World
from specledger.worlds.variables import Variables


class KernelCompiler:
    """Compiles the kernel of one role of a scenario whose governor has `admission`."""

    def __init__(
        self, stage: Stage, role: Role, world: World, around: Around, decider: Agent | None, declared: Agent | None
    ) -> None:
        """Compile for an agent that meets `world`.

        `decider` is the checked agent, None if it is asked outside; then `declared` may be the checked procedure that
        it declares.
        """
        self.bundle, self.seed, self.diagnostics = stage.bundle, stage.seed, stage.diagnostics
        self.role, self.agent, self.governor = role, role.agent, role.governor
        self.world, self.around, self.decider, self.declared = world, around, decider, declared
        self._variables = Variables(world)

    def compile(self) -> KernelPlan | None:
        """The kernel; None, with findings, if it is wrong."""
        if drawing := self.world.drawing_in_a_step:
            message = f"{drawing} of the world {self.world.name!r} draws, and the governor is a kernel"
            self.diagnostics.error(E_CHANCE, message, self.bundle.main.span("governor"))
        assert self.role.rules.admission is not None  # noqa: S101 - see `attach`
        return self._kernel(self.role.rules.admission)

    def _proposal_invariants(self) -> list[Resolved]:
        return document_invariants(self.bundle, self.governor)

    def _kernel(self, admits: AdmissionSpec) -> KernelPlan | None:
        scope = Scope(self.world.environment, self.governor, self.diagnostics)
        document = check_admission(admits, self.governor, self.diagnostics)
        env = scope.expression("admission", "env")
        if env is not None and not isinstance(env.type, RecordType):
            scope.wrong(E_ADMISSION, f"`env` is a record, not {env.type}", "admission", "env")
            return None
        key = self.governor.refs["admission", "vocabulary"]
        vocabulary = check_vocabulary(self.bundle.specs[key], self.diagnostics)
        if document is None or env is None or vocabulary is None:
            return None
        check_fit(admits, env.type, self.world.actions, self.governor, self.diagnostics)
        self._refuse_unknown_ops(admits)
        views = self._views(_over_state(self.world, env))
        grants = {name: _scope(grant) for name, grant in admits.grants.items()}
        free = {name: _scope(grant) for name, grant in admits.free.items()}
        narration = self._narration(views, vocabulary, grants)
        probes = self._probes(document)
        invariants = [
            check_document_invariant(spec, self.world.environment, self.world.state, document, self.diagnostics)
            for spec in self._proposal_invariants()
        ]
        if narration is None or self.diagnostics.has_errors:
            return None
        facts = Facts(views.env, views.names, views.normalize, self._variables.label, vocabulary, self._least)
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
            unused=(lambda _state: [])
            if narration.declared is None
            else unused_variables(self.world, narration.declared.reads, narration.views.names),
            is_choice=self._variables.may_be_choice,
            deterministic=self.decider is not None and not any(draw.stream for draw in self.decider.draws),
            ms_per_tick=admits.ms_per_tick,
            gate_docs={spec.name: spec.model.doc or "" for spec in self._proposal_invariants()},
            signing=None
            if admits.public is None or admits.key is None
            else Signing(bytes.fromhex(admits.public), admits.key.file, admits.key.variable),
        )

    def _refuse_unknown_ops(self, admits: AdmissionSpec) -> None:
        """Findings for operations that a capability of this world allows and the world lacks.

        A capability that the world itself lacks is left alone: one governor may serve several worlds.
        """
        known = self.world.actions
        for table, grants in (("grants", admits.grants), ("free", admits.free)):
            for capability in grants.keys() & known.keys():
                for index, op in enumerate(grants[capability].allowed_ops):
                    if op not in known:
                        near = suggest(op, known)
                        self.diagnostics.error(
                            E_ADMISSION,
                            f"`{capability}` allows {op!r}, which is no action of the world",
                            self.governor.span("admission", table, capability, "allowed_ops", index),
                            expected=f"one of {', '.join(known)}",
                            hint=f"did you mean `{near}`?" if near else None,
                        )

    @property
    def _least(self) -> int:
        """The counterfactuals that the kernel demands of a document."""
        assert self.role.rules.admission is not None  # noqa: S101 - see `compile`
        return self.role.rules.admission.counterfactuals

    def _views(self, env: Callable[[Any], dict[str, Any]]) -> Views:
        variables = self._variables
        return Views(
            observe=compile_over(self.world, self.world.observe),
            env=env,
            names=variables.names,
            notation=variables.notation,
            type=variables.type,
            describe=variables.describe,
            alternatives=variables.alternatives,
            read=variables.read,
            mutate=variables.mutate,
            normalize=variables.normalize,
        )

    def _narration(
        self, views: Views, vocabulary: Vocabulary, grants: Mapping[str, Mapping[str, Any]]
    ) -> Narration | None:
        model = self.role.decider
        if self.decider is None:  # of a recording its own compiler says that it gives no documents
            return None if model.outside is None else self._outside(model.outside, views, vocabulary, grants)
        if model.narration is None or not model.predicts:
            message = "its governor admits documents: it needs `predicts: true` and `narration`"
            self.diagnostics.error(E_ADMISSION, message, self.agent.span("name"), hint=self._narration_lines())
            return None
        check_varied(model.narration.vary, self.agent, self.world, self._variables, self.diagnostics)
        decider = self._procedure(self.agent, self.decider)
        teller = self._other("by", decider)
        declared = self._other("declares", teller)
        if teller is None or declared is None:
            return None
        step, sure = self.around.step, model.narration.confidence
        vary, bounds = tuple(dict.fromkeys(model.narration.vary)), Bounds(model.narration.claims, self._least)
        fields = relevant_to_claims(self.world, self.decider.memory.type, vary, teller.irrelevant)
        return Narration(
            decider=decider,
            teller=teller,
            declared=declared,
            views=views,
            vary=vary,
            least=self._least,
            derive=compile_claims(teller, views, vary, bounds, fields),
            say=vocabulary.say,
            request=_request(grants, model.narration.requests),
            commit=trace_commit,
            steps=model.narration.steps,
            foresee=None if step is None else lambda state, action: step(state, action["op"], action, {})[0],
            nonces=model.narration.nonces,
            directional=vocabulary.directional,
            words=vocabulary.trace,
            confidence=sure if sure is None else 1 if sure == QFIXED_ONE else sure / QFIXED_ONE,  # 1 stays an integer
        )

    def _outside(
        self,
        outside: Outside,
        views: Views,
        vocabulary: Vocabulary,
        grants: Mapping[str, Mapping[str, Any]],
    ) -> Narration | None:
        """The narration of an agent outside: what it says becomes documents, and it may declare a procedure."""
        declared = None
        reference = self.agent.refs.get(("outside", "declares"))
        if reference is not None:
            if self.declared is None:
                return None
            declared = self._procedure(self.bundle.specs[reference], self.declared)
        mute = Procedure(self.agent.name, self.agent.key, "", lambda *_: [], self._variables.label)
        return Narration(
            decider=mute,
            teller=mute,
            declared=declared,
            views=views,
            vary=(),
            least=self._least,
            derive=compile_claims(mute, views, (), Bounds(0, self._least), None),
            say=vocabulary.say,
            request=_request(grants, outside.requests),
            commit=trace_commit,
            directional=vocabulary.directional,
            words=vocabulary.trace,
            abstains=outside.model is not None,
        )

    def _narration_lines(self) -> str:
        """What to write so that an agent gives reasons that name variables of the world."""
        names = [variable.name for variable in self.world.namespace.variables]
        if names:
            return f"write in the agent `predicts: true` and `narration: {{vary: [{', '.join(names)}]}}`"
        field = next(iter(self.world.state.fields))
        variables = f"variables: {{{field}: {{read: {field}, effects: [{{set: {field}, to: value}}]}}}}"
        return (
            f"write in the world what a reason may name, such as `{variables}`, with other values in `alternatives: "
            f'{{{field}: "[...]"}}`, and in the agent `predicts: true` and `narration: {{vary: [{field}]}}`'
        )

    def _other(self, key: str, default: Procedure | None) -> Procedure | None:
        """The procedure of the agent that a key of the narration names, if it names one."""
        reference = self.agent.refs.get(("narration", key))
        if reference is None:
            return default
        spec = self.bundle.specs[reference]
        agent = check_agent(spec, self.around, self.diagnostics)
        if agent is None:
            return None
        assert self.decider is not None  # noqa: S101 - see `_narration`
        if agent.memory.type.fields and agent.memory.type != self.decider.memory.type:
            message = "an agent that explains for another one has no memory, or one of the same fields"
            self.diagnostics.error(E_ADMISSION, message, self.agent.span("narration", key))
            return None
        return self._procedure(spec, agent)

    def _procedure(self, spec: Resolved, agent: Agent) -> Procedure:
        model = spec.model
        assert isinstance(model, AgentSpec) and model.score is not None  # noqa: S101, PT018 - it was checked
        irrelevant = None if agent.draws else irrelevant_to(agent, self.world)
        return Procedure(
            name=spec.name,
            spec=spec.key,
            score=model.score,
            propose=compile_proposals(agent, irrelevant, spec.name, self.seed),
            label=self._variables.label,
            reads=used_by(agent, self.world),
            possible=compile_possible(agent),
            irrelevant=irrelevant,
        )

    def _weigh(self) -> Callable[..., int]:
        if self.decider is None:
            return lambda *_: 0
        weigh = compile_weigh(self.decider)
        draw = compile_draws(self.decider, self.agent.name, self.seed)

        def weighed(seen: Any, memory: Any, action: Any, after: Any, point: DecisionPoint) -> int:
            score: int = weigh(seen, memory, action, after, draw(seen, memory, point))
            return score

        return weighed

    def _probes(self, document: RecordType) -> list[Probe]:
        denials = [
            *(invariant.name for invariant in self._proposal_invariants()),
            SCHEMA,
            SCOPE,
            EVALUATION,
            TOKEN,
            *REFUSALS,
        ]
        horizon: int = self.bundle.main.model.horizon  # type: ignore[attr-defined]
        probes = [
            check_probe(spec, self.world.environment, self.world.state, document, denials, horizon, self.diagnostics)
            for spec in self.role.probes
        ]
        return [probe for probe in probes if probe is not None]


def _over_state(world: World, checked: Any) -> Callable[[Any], dict[str, Any]]:
    """`state -> value` of one expression over the world's state."""

    def compose(emitter: Emitter) -> str:
        state = emitter.local("state")
        sources = {"now": state, **fields_of(emitter, state, world.state.fields)}
        lines, names = bind(emitter, checked.variables, sources)
        return emitter.function("env", [state], [*lines, f"return {emitter.expression(checked, names)}"])

    return compile_function(compose)


def _scope(grant: Grant) -> dict[str, Any]:
    """A grant as a `capability_scope` document."""
    return {
        "allowed_ops": list(grant.allowed_ops),
        "rate_limit": {"max_calls": grant.max_calls, "per_ms": grant.per_ms},
        "expiry_ms": grant.expiry_ms,
    }


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


def _control(plan: Plan, actor: Actor, entries: Entries) -> Any:
    from specledger.wings.kernel.run.controller import control  # noqa: PLC0415 - only a run needs it

    return control(plan, actor, entries)


def attach(
    stage: Stage, role: Role, world: World, around: Around, agent: Agent | None, declared: Agent | None
) -> Attachment | None:
    """The kernel of a role, attached to the loop; None, with findings, if it is wrong."""
    kernel = KernelCompiler(stage, role, world, around, agent, declared).compile()
    if kernel is None:
        return None
    views = kernel.narration.views
    return Attachment(
        gates=kernel.admission.gates,
        controller=Control(kernel, _control),
        keyed=kernel.signing is not None,
        too_few_repeats=weak_probes(kernel, outside=role.decider.outside is not None),
        greeting=lambda start: {
            "variables": views.describe(start),
            "claims": {},
            "forms": list(kernel.vocabulary.forms),
            "document": True,
            "counterfactuals": kernel.narration.least,
        },
        shown=lambda state: {"env": views.env(state)},
        questions=lambda plan: questions_of(kernel, plan),
    )


ADMISSION: Final = AdmissionPart(attach, check_reasons)
