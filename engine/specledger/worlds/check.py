"""From a world's spec to a checked world: every name, type and expression, with all findings at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.expr import BOOL, MISTAKEN, Defined, Environment, Native, RecordType, Type, one_of
from specledger.expr.check.relations import assignable, join
from specledger.lang.declare import allowed_values
from specledger.lang.effects import check_effects
from specledger.lang.scope import E_NAME_TAKEN, Let, Scope
from specledger.load import Bundle, Resolved
from specledger.spec.world import World as WorldSpec
from specledger.worlds.cells import CELL_FUNCTIONS
from specledger.worlds.chance import E_CHANCE, check_chance
from specledger.worlds.clock import clock_of
from specledger.worlds.drawn_results import before_result, misfits_of_draws
from specledger.worlds.model import Chance, PlannedAction, PlannedCoupling, PlannedPart, World
from specledger.worlds.namespace import check_variables
from specledger.worlds.natives import FIELD_FUNCTIONS
from specledger.worlds.paths import PATH_FUNCTIONS
from specledger.worlds.picture import check_picture, check_units
from specledger.worlds.start_check import E_WORLD_START, check_beginning, check_start_draws, stateless
from specledger.worlds.step_chance import check_step_chance

E_WORLD_PART = code("E_WORLD_PART", "a part does not fit its world")
E_WORLD_ACTION = code("E_WORLD_ACTION", "the arguments of two actions disagree")
E_WORLD_RESULT = code("E_WORLD_RESULT", "`simulate` does not fit the result of an action")
E_WORLD_AGENT = code("E_WORLD_AGENT", "an agent of a world does not fit it")

WORLD_FUNCTIONS: Final[Mapping[str, Native]] = {**FIELD_FUNCTIONS, **PATH_FUNCTIONS, **CELL_FUNCTIONS}
"""The native functions of every world's environment, and so of whatever is built on a world."""

LEDGER_FIELDS: Final = frozenset({"accepted", "before", "after", "tip", "tip_after"})
"""What a part's chain adds to its receipts."""


def check_world(spec: Resolved, bundle: Bundle, diagnostics: Diagnostics) -> World | None:
    """Check a world and its parts.

    Returns:
        The checked world, or None if its own names or types are so wrong that the rest cannot be looked at.
    """
    return _Checker(spec, bundle, diagnostics, {}).world()


class _Checker:
    """Checks one world; the order of its methods is the order in which names come into scope."""

    def __init__(
        self, spec: Resolved, bundle: Bundle, diagnostics: Diagnostics, known: dict[str, World | None]
    ) -> None:
        assert isinstance(spec.model, WorldSpec)  # noqa: S101 - a reference of kind world holds nothing else
        self.model = spec.model
        self.spec = spec
        self.bundle = bundle
        self.diagnostics = diagnostics
        self.known = known
        self.scope = Scope(Environment(functions=WORLD_FUNCTIONS), spec, diagnostics)

    def world(self) -> World | None:
        parts = {name: part for name in sorted(self.model.parts) if (part := self._part_world(name)) is not None}
        scope = self._names(self.scope, parts)
        fields = scope.types(self.model.state, "state", named=self.model.types)
        inputs = scope.types(self.model.inputs, "inputs", named=self.model.types)
        if parts.keys() != self.model.parts.keys():
            return None
        scope.sealed(fields, "state")
        drawn = check_start_draws(self.model, scope)
        scope, state = self._state(scope, fields, parts, drawn.fields)
        if state is None:
            return None
        clock, actor = clock_of(self.model, state)
        supplied = scope.declare(inputs, "inputs").timed(clock | actor)
        checked, action, others = self._actions(state, supplied)
        planned = {name: self._part(name, world, checked, supplied) for name, world in parts.items()}
        outcome = self._outcome(checked, planned)
        after = scope.timed(clock | actor).within(next=state, outcome=outcome)
        observe = self._observe(scope, self.model.observe, "observe")
        record = after.figures(self.model.record, "record")
        receipt = self._receipt(after)
        opening = scope.each(self.model.opening, "opening")
        for let, path in ((opening, "opening"), (observe, "observe"), (record, "record"), (receipt, "receipt")):
            scope.sealed(let.types, path)
        after.unused(self.model.functions, self.model.derived, elsewhere=self._shown())
        return World(
            name=self.model.name,
            environment=scope.environment,
            state=state,
            inputs=RecordType("inputs", inputs),
            action=action,
            outcome=outcome,
            actions=checked,
            every_step=check_effects(self.model.every_step, state, scope.timed(clock | actor), "every_step"),
            parts=planned,
            opening=opening,
            observe=observe,
            record=record,
            receipt=receipt,
            success=scope.timed(clock).expression("success", expect=BOOL) if self.model.success is not None else None,
            **check_beginning(self.model, scope, state, drawn),
            namespace=(named := check_variables(self.model, state, checked, scope)),
            views=self._views(scope),
            others=others,
            clock=clock,
            actor=actor,
            chance=self._step_chance(state, scope.timed(clock | actor)),
            map=check_picture(self.model, state, record.types, scope),
            units=check_units(self.model, state, (record, opening, receipt), named, scope),
        )

    def _step_chance(self, state: RecordType, scope: Scope) -> Chance:
        chance = self.model.chance
        return Chance() if chance is None else check_step_chance(chance, self.model.actions, state, scope)

    def _part_world(self, name: str) -> World | None:
        key = self.spec.refs["parts", name, "world"]
        if key not in self.known:
            self.known[key] = _Checker(self.bundle.specs[key], self.bundle, self.diagnostics, self.known).world()
        return self.known[key]

    def _names(self, scope: Scope, parts: Mapping[str, World]) -> Scope:
        """Constants, functions and their bodies' syntax: those of the parts first, then the world's own."""
        for name, world in parts.items():
            scope = self._borrow(scope, world, name)
        return scope.constants(self.model.constants, "constants").functions(self.model.functions, "functions")

    def _borrow(self, scope: Scope, world: World, part: str) -> Scope:
        """The functions and constants of a part's world, by their own names."""
        environment = scope.environment
        own = {name: f for name, f in world.environment.functions.items() if name not in WORLD_FUNCTIONS}
        for name, constant in world.environment.constants.items():
            known = environment.constants.get(name)
            if known is not None and known[1] != constant[1]:
                self.scope.wrong(
                    E_WORLD_PART, f"constant {name!r} of {world.name!r} differs from another part's", "parts", part
                )
                return scope
        taken = sorted(set(own) & (set(environment.functions) | set(environment.constants)))
        if taken:
            self.scope.wrong(E_WORLD_PART, f"two parts bring functions named {', '.join(taken)}", "parts", part)
            return scope
        constants = {
            name: value for name, value in world.environment.constants.items() if name not in environment.constants
        }
        return replace(scope, environment=environment.extend(functions=own, constants=constants))

    def _state(
        self, scope: Scope, fields: Mapping[str, Type], parts: Mapping[str, World], drawn: Mapping[str, Type]
    ) -> tuple[Scope, RecordType | None]:
        """The state's type and the scope in which its fields, its derived values and `now` are visible."""
        clash = sorted(set(fields) & set(parts))
        if clash:
            self.scope.wrong(E_WORLD_PART, f"{clash[0]!r} is a field of the state already", "parts", clash[0])
            return scope, None
        own = {name: type_ for name, type_ in fields.items() if scope.free(name, "state", name)}
        inner = {name: world.state for name, world in parts.items()}
        theirs = {name: type_ for name, type_ in inner.items() if scope.free(name, "parts", name)}
        scope = scope.within(**own, **theirs, **drawn)
        written = {name: Defined((), self.spec.text("derived", name)) for name in self.model.derived}
        scope = scope.name("derived", written, "derived")
        derived = {name: body for name, body in written.items() if scope.environment.derived.get(name) == body}
        state = RecordType("state", {**fields, **drawn, **inner}, derived=derived)
        return scope.within(now=state), state

    def _actions(
        self, state: RecordType, scope: Scope
    ) -> tuple[dict[str, PlannedAction], RecordType, RecordType | None]:
        """The checked actions, the type of an action, and that of the actions of several agents at one moment."""
        taken = {
            name: scope.types(spec.args, "actions", name, "args", named=self.model.types, choices=True, carried=True)
            for name, spec in sorted(self.model.actions.items())
        }
        for name in (name for name, arguments in taken.items() if "op" in arguments):
            message = "'op' is what an action document calls the action itself, beside its arguments"
            self.scope.wrong(E_NAME_TAKEN, message, "actions", name, "args", "op")
        args = self._union({name: RecordType("args", action) for name, action in taken.items()})
        op = one_of(["", *taken])  # the empty text where nothing is done
        fields, others = {"op": op, **args.fields}, None
        if self.model.agents is not None:
            absent = RecordType("action", fields, optional=frozenset(args.fields))
            others = RecordType("others", dict.fromkeys(sorted(self.model.agents), absent))
            scope = scope.declare({"others": others}, "agents")
        checked = {name: self._action(name, action, state, scope) for name, action in taken.items()}
        return checked, RecordType("action", fields, optional=args.optional), others

    def _shown(self) -> dict[str, Any]:
        """The labels that some agent sees, with their expressions."""
        own = (view.observe for view in (self.model.agents or {}).values())
        return {label: expression for shown in (self.model.observe, *own) for label, expression in shown.items()}

    def _views(self, scope: Scope) -> dict[str, tuple[Let, frozenset[str]]]:
        """What each agent observes of its own, and the actions it may take."""
        views = {}
        for name, view in sorted((self.model.agents or {}).items()):
            for label in sorted(view.observe.keys() & self.model.observe.keys()):
                message = f"every agent sees {label!r} already, by the world's `observe`"
                self.scope.wrong(E_WORLD_AGENT, message, "agents", name, "observe", label)
            for index, op in enumerate(view.actions or ()):
                if op not in self.model.actions:
                    near = suggest(op, self.model.actions)
                    message = f"the world has no action {op!r}"
                    self.scope.wrong(E_WORLD_AGENT, message, "agents", name, "actions", index, near=near)
            own = self._observe(scope, view.observe, "agents", name, "observe")
            scope.sealed(own.types, "agents", name, "observe")
            views[name] = own, frozenset(view.actions or self.model.actions)
        return views

    def _action(self, name: str, args: dict[str, Type], state: RecordType, scope: Scope) -> PlannedAction:
        """A checked action, without whatever is wrong in it."""
        spec = self.model.actions[name]
        sound = {key: value for key, value in spec.args.items() if args[key] is not MISTAKEN}
        allowed = {key: values for key, value in sound.items() if (values := allowed_values(value, self.model.types))}
        inner = scope.declare(args, "actions", name, "args")
        fields = scope.types(spec.result, "actions", name, "result", named=self.model.types, carried=True)
        result = RecordType("result", fields)
        draws, chance, drawn = check_chance(name, spec, state, inner)
        simulate = drawn.each(spec.simulate, "actions", name, "simulate", expect=result.fields)
        for field in sorted(spec.simulate.keys() - spec.result.keys()):
            message = f"`simulate` gives {field!r}, which is no field of the result"
            self.scope.wrong(E_WORLD_RESULT, message, "actions", name, "simulate", field)
        lacking = sorted(spec.result.keys() - spec.simulate.keys())
        if lacking and spec.simulate:
            message = f"`simulate` gives no {', '.join(lacking)} of the result"
            self.scope.wrong(E_WORLD_RESULT, message, "actions", name, "simulate")
        if spec.result:
            inner = inner.within(result=result) if inner.free("result", "actions", name, "result") else inner
        let, inner = inner.let(spec.let, "actions", name, "let")
        when = inner.condition(spec.when, "actions", name, "when")
        action = PlannedAction(
            args=RecordType("args", args),
            allowed=allowed,
            let=let,
            when=when or inner.always(),
            effects=check_effects(spec.effects, state, inner, "actions", name, "effects"),
            otherwise=check_effects(spec.otherwise, state, inner, "actions", name, "otherwise"),
            outcome=inner.each(spec.outcome, "actions", name, "outcome"),
            draws=draws,
            chance=chance,
            result=result,
            simulate=simulate,
            doc=spec.doc or "",
        )
        for path, message in misfits_of_draws(name, action) if draws else ():
            self.scope.wrong(E_CHANCE, message, "actions", name, *path)
        return action

    def _receipt(self, after: Scope) -> Let:
        for name in sorted(LEDGER_FIELDS & self.model.receipt.keys()):
            self.scope.wrong(E_NAME_TAKEN, f"{name!r} is given by the part's chain", "receipt", name)
        return after.figures(self.model.receipt, "receipt")

    def _observe(self, scope: Scope, expressions: Mapping[str, str], *at: str | int) -> Let:
        """An observation: its labels are variables of agents, beside the functions and constants of the world."""
        names = stateless(scope)
        return scope.each({name: value for name, value in expressions.items() if names.free(name, *at, name)}, *at)

    def _part(self, name: str, world: World, actions: Mapping[str, PlannedAction], scope: Scope) -> PlannedPart:
        spec = self.model.parts[name]
        if world.others is not None:
            self.scope.wrong(E_WORLD_PART, f"{world.name!r} has `agents`, and a part acts for none", "parts", name)
        if world.inputs.fields:
            needs = ", ".join(sorted(world.inputs.fields))
            self.scope.wrong(
                E_WORLD_PART, f"{world.name!r} needs inputs ({needs}), which no part is given", "parts", name
            )
        constants = stateless(scope)
        own = set(world.state.fields) - set(world.parts)
        if world.draws or world.drawing_in_a_step:
            self.scope.wrong(E_CHANCE, f"the world {world.name!r} of part {name!r} draws", "parts", name)
        unknown = set(spec.start) - own
        for field in sorted(own - set(spec.start) - set(world.start.types)):
            self.scope.wrong(E_WORLD_START, f"part {name!r} has no start value for {field!r}", "parts", name)
        for field in sorted(unknown):
            self.scope.wrong(E_WORLD_START, f"{field!r} is no field of {world.name!r}", "parts", name, "start", field)
        start = constants.each(spec.start, "parts", name, "start", expect=world.state.fields)
        follow = {}
        for action in sorted(spec.follow):
            coupling = self._coupling(name, action, world, actions, scope)
            if coupling is not None:
                follow[action] = coupling
        return PlannedPart(world, start, follow)

    def _coupling(
        self, part: str, action: str, world: World, actions: Mapping[str, PlannedAction], scope: Scope
    ) -> PlannedCoupling | None:
        location = ("parts", part, "follow", action)
        spec = self.model.parts[part].follow[action]
        if action not in self.model.actions:
            near = suggest(action, self.model.actions)
            self.scope.wrong(E_WORLD_PART, f"the world has no action {action!r}", *location, near=near)
        if action not in actions:
            return None
        if spec.action not in world.actions:
            near = suggest(spec.action, world.actions)
            self.scope.wrong(
                E_WORLD_PART, f"{world.name!r} has no action {spec.action!r}", *location, "action", near=near
            )
        known = world.actions.get(spec.action)
        takes = {} if known is None else known.args.fields
        if known is not None and set(takes) != set(spec.args):
            named = ", ".join(sorted(takes)) or "none"
            self.scope.wrong(
                E_WORLD_PART, f"{spec.action!r} of {world.name!r} takes the arguments {named}", *location, "args"
            )
        changed = (*actions[action].effects, *actions[action].otherwise)
        if any(effect.target[0] == part for effect in changed):
            self.scope.wrong(E_WORLD_PART, f"{action!r} changes {part!r} itself, which follows it", *location)
        known = before_result(actions[action]) if actions[action].draws_result else actions[action]
        inner = scope.within(**actions[action].args.fields, **known.let.types)
        let, inner = inner.let(spec.let, *location, "let")
        return PlannedCoupling(spec.action, let, inner.each(spec.args, *location, "args", expect=takes))

    def _outcome(self, actions: Mapping[str, PlannedAction], parts: Mapping[str, PlannedPart]) -> RecordType:
        union = self._union({name: RecordType("", action.outcome.types) for name, action in actions.items()})
        inner = {name: part.world.outcome for name, part in parts.items()}
        for name in sorted(set(union.fields) & set(inner)):
            self.scope.wrong(E_WORLD_PART, f"{name!r} is in the outcome of an action already", "parts", name)
        absent = {name for name, part in parts.items() if set(part.follow) != set(actions)}
        return RecordType("outcome", {**union.fields, **inner}, optional=union.optional | absent)

    def _union(self, records: Mapping[str, RecordType]) -> RecordType:
        """The record whose fields are those of all; a field that some lack is optional."""
        fields: dict[str, Type] = {}
        for action, record in records.items():
            for name, type_ in record.fields.items():
                known = fields.setdefault(name, type_)
                both = join(known, type_) if assignable(type_, known) else None
                if both is None:
                    self.scope.wrong(
                        E_WORLD_ACTION, f"{name!r} is {type_} here and {known} elsewhere", "actions", action
                    )
                else:
                    fields[name] = both
        common = set(fields).intersection(*(record.fields for record in records.values()))
        return RecordType("", fields, optional=frozenset(set(fields) - common))
