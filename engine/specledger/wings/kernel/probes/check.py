"""From a probe's spec to a checked probe: its conditions typed, its payments compiled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.expr import (
    BOOL,
    DYN,
    INT,
    STRING,
    Checked,
    Emitter,
    Environment,
    EvaluationError,
    ListType,
    RecordType,
    Type,
    compile_expression,
    compile_function,
)
from specledger.lang.bind import bind, fields_of
from specledger.lang.effects import PlannedEffect, check_effects, emit_effects
from specledger.lang.scope import E_NAME_TAKEN, Scope
from specledger.load import Resolved
from specledger.wings.kernel.probes.json_patch import NotApplicable, Operation, Pointer, apply_patch, read_pointer
from specledger.wings.kernel.probes.judgement import too_few
from specledger.wings.kernel.probes.planned_offer import PlannedOffer
from specledger.wings.kernel.spec.probe import Challenge, Edit
from specledger.wings.kernel.spec.probe import Offer as OfferSpec
from specledger.wings.kernel.spec.probe import Probe as ProbeSpec

E_OFFER: Final = code("E_OFFER", "an offer names something that does not exist")
W_OFFER: Final = code("W_OFFER", "nothing in the run denies what an offer breaches")

E_PROBE_PLACE: Final = code("E_PROBE_PLACE", "a probe is made at a place that the run does not have")

W_REPEATS: Final = code("W_REPEATS", "a challenge asks too seldom")

CALL: Final = "call"
"""The place of probes of a recording."""

_CLOCK: Final = ("t", "horizon")
"""What `when` reads beside the world: the number of the step, and the most steps of an episode."""

_SCHEMA: Final = "schema"
"""The breach of a document that its schema denies."""

_ANSWER: Final = RecordType("answer", {"choice": STRING, "score": INT})
_CLAIM: Final = RecordType("claim", {"variable": STRING, "choice": STRING})

OF_CHALLENGE: Final = {"before": _ANSWER, "after": _ANSWER, "declared": _ANSWER, "claim": _CLAIM}
"""What `expect` reads in a challenge: what was chosen before and after the change, what the declared procedure chooses
after it, and what the claim says."""

OF_OFFER: Final = {"taken": BOOL, "denied": BOOL, "logged": BOOL}
"""What `expect` reads in an offer; `denied` and `logged` are true where nothing was attempted."""


class Probe(Struct, frozen=True):
    """A checked probe.

    Attributes:
        when: `(state, t) -> bool`.
        expect: `{name: value} -> bool`, over the names of `OF_CHALLENGE` or `OF_OFFER`.
        rules: `when` and `expect` as they were checked.
        clock: The values of `t` and `horizon` at a step; a name that the world gives to something else is left out.
    """

    spec: ProbeSpec
    when: Callable[[Any, int], bool]
    expect: Callable[[dict[str, Any]], bool]
    offer: PlannedOffer | None
    rules: tuple[Checked, Checked]
    clock: Callable[[int], dict[str, int]]


def check_probe(
    spec: Resolved,
    environment: Environment,
    state: RecordType,
    document: RecordType | None,
    denials: Collection[str],
    horizon: int,
    diagnostics: Diagnostics,
) -> Probe | None:
    """Check a probe against the world in which it is made; None, with findings, if it is wrong.

    `denials` is what can deny documents, or a call: invariants, and reasons of the kernel. Without a `document` the
    probe is of a recording, and `state` is what there is to read of a call.
    """
    model = spec.model
    assert isinstance(model, ProbeSpec)  # noqa: S101 - a reference of kind probe holds nothing else
    if _has_no_place(spec, model, diagnostics, recorded=document is None):
        return None
    scope = Scope(environment, spec, diagnostics)
    scope = scope.constants(model.constants, "constants").functions(model.functions, "functions")
    if model.offer is not None and document is not None:
        _refuse_unknown(model.offer, scope, document, denials)
    if model.challenge is not None:
        _warn_of_few(model.challenge, scope)
    timed = frozenset(name for name in _CLOCK if scope.environment.conflict(name) is None)
    when = scope.within(**dict.fromkeys(timed, INT)).condition(model.when, "when")
    names = OF_OFFER if model.challenge is None else OF_CHALLENGE
    judged = Environment(names, constants=scope.environment.constants, functions=scope.environment.functions)
    expect = Scope(judged, spec, diagnostics).expression("expect", expect=BOOL)
    scope.unused(model.functions, elsewhere=(*names, *timed))
    offer = (
        None
        if model.offer is None or document is None
        else _offer(model.offer, spec.data["offer"], scope, state, document)
    )
    if when is None or expect is None or (model.offer is not None and offer is None):
        return None
    decide = compile_expression(expect, sorted(names))

    def expected(values: dict[str, Any]) -> bool:
        holds: bool = decide(*(values[name] for name in sorted(names)))
        return holds

    def condition(emitter: Emitter) -> str:
        now, t = emitter.local("state"), emitter.local("t")
        sources = {"now": now, "t": t, "horizon": str(horizon), **fields_of(emitter, now, state.fields)}
        lines, locals_ = bind(emitter, when.variables, sources)
        return emitter.function("when", [now, t], [*lines, f"return {emitter.expression(when, locals_)}"])

    def clock(t: int) -> dict[str, int]:
        return {name: value for name, value in zip(_CLOCK, (t, horizon), strict=True) if name in timed}

    return Probe(model, compile_function(condition), expected, offer, (when, expect), clock)


def _has_no_place(spec: Resolved, model: ProbeSpec, diagnostics: Diagnostics, *, recorded: bool) -> bool:
    """Whether a probe is made at a place that the run does not have; that is a finding."""
    if (model.at == CALL) == recorded:
        return False
    message = "a recording has calls alone" if recorded else "only a recording has calls"
    hint = f"a probe of a recording is made `at: {CALL}`, and no other probe"
    diagnostics.error(E_PROBE_PLACE, f"{message}, and {spec.name} is made at {model.at}", spec.span("at"), hint=hint)
    return True


def _warn_of_few(challenge: Challenge, scope: Scope) -> None:
    few = too_few(challenge)
    if few is not None:
        message = f"{few[0]} repeats and {few[1]} questions in the null arm at most are too few"
        scope.diagnostics.warn(W_REPEATS, message, scope.source.span("challenge"))


def _refuse_unknown(model: OfferSpec, scope: Scope, document: RecordType, denials: Collection[str]) -> None:
    """Findings for a breach that nothing denies, and for paths that the schema of documents does not have."""
    if model.breaches not in denials:
        message = f"no invariant of documents and no refusal is called {model.breaches!r}"
        near = suggest(model.breaches, denials)
        hint = None if near is None else f"did you mean {near!r}?"
        scope.diagnostics.warn(W_OFFER, message, scope.source.span("offer", "breaches"), hint=hint)
    for index, edit in enumerate(model.edit or ()):
        makes = edit.op in ("add", "move", "copy") and model.breaches == _SCHEMA  # a key that only the schema denies
        path = read_pointer(edit.path)
        for key, pointer in ("path", path[:-1] if makes else path), ("from", read_pointer(edit.source or "")):
            if (unknown := _unknown(pointer, document)) is not None:
                name, near = unknown
                message = f"documents have no {name!r} there"
                scope.wrong(E_OFFER, message, "offer", "edit", index, key, near=near)


def _unknown(pointer: Pointer, type_: Type) -> tuple[str, str | None] | None:
    """The first key of a path that the documents of a type cannot have, with a near one; None if they can have all."""
    for key in pointer:
        if isinstance(type_, RecordType):
            if key not in type_.fields:
                return key, suggest(key, type_.fields)
            type_ = type_.fields[key]
        elif isinstance(type_, ListType):
            if key != "-" and not key.isdigit():
                return key, None
            type_ = type_.item
        else:
            return None if type_ == DYN else (key, None)
    return None


def _offer(
    model: OfferSpec, data: Mapping[str, Any], scope: Scope, state: RecordType, document: RecordType
) -> PlannedOffer | None:
    """The checked offer; None, with findings, if a payment or an edit is wrong."""
    pays = check_effects(model.pays, state, scope, "offer", "pays")
    patches = [_operation(edit, index, scope, state, document) for index, edit in enumerate(model.edit or ())]
    if len(pays) < len(model.pays) or any(compiled is None for compiled in patches):
        return None

    def patch(now: Any, given: Any) -> Any:
        patched = apply_patch([compiled(now) for compiled in patches if compiled is not None], given)
        if not isinstance(patched, dict):
            raise NotApplicable("the edit leaves no document")
        return patched

    return PlannedOffer(model, _payment(pays, state), patch, data)


def _operation(
    edit: Edit, index: int, scope: Scope, state: RecordType, document: RecordType
) -> Callable[[Any], Operation] | None:
    """`state -> operation`; a value that cannot be evaluated on a document makes the operation not applicable."""
    pointers = read_pointer(edit.path), read_pointer(edit.source or "")
    if edit.to is None:
        return lambda _state: Operation(edit.op, *pointers, lambda _document: edit.value)
    if scope.environment.conflict("document") is not None:
        scope.wrong(E_NAME_TAKEN, "the world gives 'document' to something else", "offer", "edit", index, "to")
        return None
    checked = scope.within(document=document).expression("offer", "edit", index, "to")
    if checked is None:
        return None
    value = compile_function(partial(_over_both, checked, state))

    def given(now: Any, shown: Any) -> Any:
        try:
            return value(now, shown)
        except (EvaluationError, LookupError, TypeError) as problem:
            raise NotApplicable(edit.path) from problem

    return lambda now: Operation(edit.op, *pointers, partial(given, now))


def _over_both(checked: Checked, state: RecordType, emitter: Emitter) -> str:
    """The source of `(state, document) -> value`."""
    now, document = emitter.local("state"), emitter.local("document")
    sources = {"now": now, "document": document, **fields_of(emitter, now, state.fields)}
    lines, names = bind(emitter, checked.variables, sources)
    return emitter.function("to", [now, document], [*lines, f"return {emitter.expression(checked, names)}"])


def _payment(pays: tuple[PlannedEffect, ...], state: RecordType) -> Callable[[Any], Any]:
    def compose(emitter: Emitter) -> str:
        before, after = emitter.local("state"), emitter.local("after")
        sources = {"now": before, **fields_of(emitter, before, state.fields)}
        needed = frozenset[str]().union(*(effect.variables for effect in pays))
        lines, names = bind(emitter, needed, sources)
        lines += [f"{after} = {before}", *emit_effects(emitter, pays, names, after), f"return {after}"]
        return emitter.function("pay", [before], lines)

    return compile_function(compose)
