"""From a probe's spec to a checked probe: its conditions typed, its payments compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from specledger.core.diagnostics import Diagnostics
from specledger.expr import (
    BOOL,
    INT,
    STRING,
    Checked,
    Emitter,
    Environment,
    RecordType,
    compile_expression,
    compile_function,
)
from specledger.lang.bind import bind, fields_of
from specledger.lang.effects import PlannedEffect, check_effects, emit_effects
from specledger.lang.scope import Scope
from specledger.load import Resolved
from specledger.spec.probe import Probe as ProbeSpec

_ANSWER: Final = RecordType("answer", {"choice": STRING, "score": INT})
_CLAIM: Final = RecordType("claim", {"variable": STRING, "choice": STRING})

OF_CHALLENGE: Final = {"before": _ANSWER, "after": _ANSWER, "declared": _ANSWER, "claim": _CLAIM}
"""What `expect` reads in a challenge: what was chosen before and after the change, what the declared procedure chooses
after it, and what the claim says."""

OF_OFFER: Final = {"taken": BOOL, "denied": BOOL, "logged": BOOL}
"""What `expect` reads in an offer; `denied` and `logged` are true where nothing was attempted."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A checked probe.

    Attributes:
        spec: As it was written.
        when: `state -> bool`.
        expect: `{name: value} -> bool`, over the names of `OF_CHALLENGE` or `OF_OFFER`.
        pay: `predicted state -> paid state`; changes nothing where there is no offer.
        rules: `when` and `expect` as they were checked.
    """

    spec: ProbeSpec
    when: Callable[[Any], bool]
    expect: Callable[[dict[str, Any]], bool]
    pay: Callable[[Any], Any]
    rules: tuple[Checked, Checked]


def check_probe(spec: Resolved, environment: Environment, state: RecordType, diagnostics: Diagnostics) -> Probe | None:
    """Check a probe against the world in which it is made; None, with findings, if it is wrong.

    Args:
        spec: The resolved probe.
        environment: The names that an expression over the world's state may read.
        state: The type of that state.
        diagnostics: Receives every finding.
    """
    model = spec.model
    assert isinstance(model, ProbeSpec)  # noqa: S101 - a reference of kind probe holds nothing else
    scope = Scope(environment, spec, diagnostics)
    when = scope.condition(model.when, "when")
    names = OF_OFFER if model.challenge is None else OF_CHALLENGE
    expect = Scope(Environment(names), spec, diagnostics).expression("expect", expect=BOOL)
    pays: tuple[PlannedEffect, ...] = ()
    if model.offer is not None:
        pays = check_effects(model.offer.pays, state, scope, "offer", "pays")
        if len(pays) < len(model.offer.pays):
            return None
    if when is None or expect is None:
        return None
    decide = compile_expression(expect, sorted(names))

    def expected(values: dict[str, Any]) -> bool:
        holds: bool = decide(*(values[name] for name in sorted(names)))
        return holds

    def condition(emitter: Emitter) -> str:
        now = emitter.local("state")
        sources = {"now": now, **fields_of(emitter, now, state.fields)}
        lines, locals_ = bind(emitter, when.variables, sources)
        return emitter.function("when", [now], [*lines, f"return {emitter.expression(when, locals_)}"])

    return Probe(model, compile_function(condition), expected, _payment(pays, state), (when, expect))


def _payment(pays: tuple[PlannedEffect, ...], state: RecordType) -> Callable[[Any], Any]:
    def compose(emitter: Emitter) -> str:
        before, after = emitter.local("state"), emitter.local("after")
        sources = {"now": before, **fields_of(emitter, before, state.fields)}
        needed = frozenset[str]().union(*(effect.variables for effect in pays))
        lines, names = bind(emitter, needed, sources)
        lines += [f"{after} = {before}", *emit_effects(emitter, pays, names, after), f"return {after}"]
        return emitter.function("pay", [before], lines)

    return compile_function(compose)
