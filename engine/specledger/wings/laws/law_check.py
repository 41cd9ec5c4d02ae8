"""Checks the spec of a law against its universe and template.

What a universe lacks, or what is beyond a limit, is no mistake of the writer: such a law is kept and its verdict is
UNKNOWN. Source: law proposer, sections 6, 7 and 13.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from specledger.core.canonical import MAX_INTEGER
from specledger.core.diagnostics import Diagnostics
from specledger.expr import Environment
from specledger.expr.check.environment import is_name
from specledger.lang.scope import E_NAME_TAKEN, Scope
from specledger.load import Resolved
from specledger.spec.base import Spec
from specledger.wings.laws.claim import (
    TRUE,
    Duration,
    Node,
    conjunction,
)
from specledger.wings.laws.claim_check import ClaimCheck
from specledger.wings.laws.findings import (
    E_LAW_FIELD,
    E_LAW_FORM,
    E_LAW_INTEGER,
    E_LAW_MISSING,
    E_LAW_TEST,
    W_LAW_FIELD,
)
from specledger.wings.laws.generators import read_test
from specledger.wings.laws.law import Law, Test, Unknown
from specledger.wings.laws.law_question import fits, largest_integer
from specledger.wings.laws.observable import Observable
from specledger.wings.laws.observable_parser import Conditions, Reader
from specledger.wings.laws.preconditions import lengths_of
from specledger.wings.laws.primitive import E_UNIVERSE_SYMBOL, ArgumentError, report_symbols
from specledger.wings.laws.spec.law import Law as LawSpec
from specledger.wings.laws.spec.law import Precondition
from specledger.wings.laws.template import SAMPLES, Template
from specledger.wings.laws.transform import E_TRANSFORM, Image, bind_call
from specledger.wings.laws.universe import Universe


def check_law(
    spec: Resolved,
    universe: Universe,
    template: Template,
    diagnostics: Diagnostics,
    *,
    strict: bool = False,
    proposed: bool = False,
) -> Law | None:
    """Check a law; None, with findings, if it is none.

    Args:
        spec: The law's spec.
        universe: What it is about.
        template: Its form.
        diagnostics: Receives every finding.
        strict: Whether what is not needed, or a string claim, is refused, as if the law said so.
        proposed: Whether a model wrote the law, whose claims are trees: a string is read with a warning.
    """
    findings = Diagnostics()
    scope = Scope(Environment(), spec, findings)
    law = _Checker(spec, universe, template, scope, strict=strict, proposed=proposed).law()
    diagnostics.extend(findings.sorted())
    return None if findings.has_errors else law


def strays_of(model: Spec, template: Template) -> tuple[str, ...]:
    """The fields that the spec of a law has and its template does not need; every law has quantifiers."""
    own = [name for name in SAMPLES if name != "H" and name not in template.needs]
    return tuple(name for name in own if getattr(model, name) is not None)


class _Checker:
    def __init__(
        self, spec: Resolved, universe: Universe, template: Template, scope: Scope, *, strict: bool, proposed: bool
    ) -> None:
        model = spec.model
        assert isinstance(model, LawSpec)  # noqa: S101 - the pipeline compiles what it dispatched by kind
        self.spec, self.model, self.universe, self.template = spec, model, universe, template
        self.scope = scope
        self.strict = strict or model.strict
        self.proposed = proposed
        self.reader = Reader(universe, {}, {})
        self.unknown: Unknown | None = None
        self.T, waits = Duration.read(model.quantifiers.T), model.quantifiers.H
        self.H = None if waits is None or "H" not in template.needs else Duration.read(waits)

    def law(self) -> Law | None:
        model = self.model
        self._strays()
        fields = self._fields()
        image = self._image() if "transform" in self.template.needs else None
        self._observables()
        conditions = Conditions(self.reader, self.scope)
        wheres = [self._where(conditions, index) for index in range(len(model.preconditions))]
        starts, tests = self._starts(), self._tests()
        claims = self._claims()
        claim = None if fields is None else claims.read(fields)
        known = {**self.reader.known, **conditions.measured}
        observables, where = {name: Observable(part) for name, part in known.items()}, _joined(wheres)
        self._limits(lengths_of(self.universe, where, observables))
        self._capabilities()
        if self.reader.missing:
            self._give_up("missing_observable", ", ".join(self.reader.missing))
        judged = None if claim is None or fields is None else claims.judged(claim, fields)
        if judged is None and (self.unknown is None or self.scope.diagnostics.has_errors):
            return None
        antecedent, holds = judged or (None, TRUE)
        return self._recordable(
            Law(
                name=self.spec.name,
                key=self.spec.key,
                universe=self.universe,
                template=self.template,
                T=self.T.plus,
                H=None if self.H is None else self.H.plus,
                T_cells=self.T.cells,
                H_cells=0 if self.H is None else self.H.cells,
                claim=claim or TRUE,
                antecedent=antecedent,
                holds=holds,
                observables=observables,
                where=where,
                image=image,
                starts=starts,
                tests=tests,
                seed=model.seed,
                cases=model.cases,
                mutations=model.mutations,
                trial=model.trial,
                unknown=self.unknown,
                preconditions=len(model.preconditions),
                forbidden=model.forbidden,
                missing=tuple(self.reader.missing),
            )
        )

    def _claims(self) -> ClaimCheck:
        spec, universe, template, scope = self.spec, self.universe, self.template, self.scope
        options = {"strict": self.strict, "proposed": self.proposed}
        return ClaimCheck(spec, universe, template, scope, self.reader, self._give_up, **options)

    def _recordable(self, law: Law) -> Law | None:
        """The law, unless a certificate could not hold what it asks."""
        if law.unknown is not None or self.scope.diagnostics.has_errors or not fits(law):
            return law
        large = largest_integer(law)
        if large <= MAX_INTEGER:
            return law
        field = "claim" if self.model.claim_ast is None else "claim_ast"
        self.scope.wrong(E_LAW_INTEGER, f"multiplied out, it has a factor of {large}, beyond 2^53 - 1", field)
        return None

    def _give_up(self, reason: str, detail: str) -> None:
        if self.unknown is None:
            self.unknown = Unknown(reason, detail)

    def _strays(self) -> None:
        """Tell which fields are given that the template does not need: they are never read."""
        for name in strays_of(self.model, self.template):
            message = f"a law of the form {self.template.name} does not need `{name}`"
            if self.strict:
                self.scope.diagnostics.error(E_LAW_FIELD, message, self.spec.span(name))
            else:
                self.scope.diagnostics.warn(W_LAW_FIELD, f"{message}: it is not read", self.spec.span(name))

    def _fields(self) -> dict[str, Any] | None:
        """The values of the fields that the template needs; None, with findings, if one is missing or is no symbol."""
        given = {name: getattr(self.model, name) for name in self.template.needs if name != "H"}
        if "H" in self.template.needs:
            given["H"] = self.model.quantifiers.H
        whole = True
        for name, value in given.items():
            if value is None:
                path = ("quantifiers", "H") if name == "H" else (name,)
                message = f"a law of the form {self.template.name} needs `{'.'.join(path)}`"
                hint = f"`spec explain law.{'.'.join(path)}` says what may stand there"
                location = self.spec.span(*path[:-1])
                self.scope.diagnostics.error(E_LAW_MISSING, message, location, expected=path[-1], hint=hint)
                whole = False
            if isinstance(value, str) and name == "H" and self.template.says("H"):
                message = f"a {self.template.name} puts H into the claim, where it is a number"
                self.scope.wrong(E_LAW_FORM, message, "quantifiers", "H")
                whole = False
            if name.endswith("_symbol") and value is not None and value not in self.universe.alphabet:
                report_symbols(self.scope, [value], self.universe.alphabet, name)
                whole = False
        return given if whole else None

    def _image(self) -> Image | None:
        if self.model.transform is None:
            return None
        try:
            image = bind_call(self.universe.transforms, self.model.transform)
        except ArgumentError as error:
            self.scope.wrong(E_TRANSFORM, str(error), "transform")
            return None
        if image is None:
            self._give_up("missing_transform", self.model.transform)
        return image

    def _observables(self) -> None:
        names = [declared.name for declared in self.model.observables]
        for index, observable in enumerate(self.model.observables):
            name, primitives = observable.name, self.universe.primitives
            if not is_name(name):
                self.scope.wrong(E_NAME_TAKEN, f"`{name}` is a reserved word of CEL", "observables", index, "name")
                continue
            again = name in self.reader.known
            if again or (name in primitives and observable.expr.strip() != name):
                message = f"`{name}` is " + ("defined twice" if again else "an observable of the universe")
                self.scope.wrong(E_NAME_TAKEN, message, "observables", index, "name")
                continue
            later = frozenset(names[index:]) - set(primitives)
            reader = Reader(self.universe, self.reader.known, self.reader.missing, later)
            part = reader.read(self.scope, "observables", index, "expr")
            if part is not None:
                self.reader.known[name] = part

    def _where(self, conditions: Conditions, index: int) -> Node | None:
        precondition = self.model.preconditions[index]
        if isinstance(precondition, Precondition):
            return conditions.compared(precondition.op, "preconditions", index)
        return conditions.read("preconditions", index)

    def _starts(self) -> tuple[int, ...]:
        given = None if self.model.starts is None else self.model.starts.symbols
        alphabet = self.universe.alphabet
        strange = [(index, symbol) for index, symbol in enumerate(given or ()) if symbol not in alphabet]
        for index, symbol in strange:
            report_symbols(self.scope, [symbol], alphabet, "starts", "symbols", index)
        if self.model.starts is not None:
            starts = {alphabet.index(symbol) for symbol in given or alphabet if symbol in alphabet}
            if len(starts) < 2 and not strange:
                self.scope.wrong(E_UNIVERSE_SYMBOL, "starts have at least two symbols", "starts")
            return tuple(sorted(starts))
        beyond = any(self._beyond(test.family) in test.params for test in self.model.proposed_tests)
        return tuple(range(len(alphabet))) if beyond else self.universe.starts

    def _beyond(self, family: str) -> str | None:
        generator = self.universe.generators.get(family)
        return None if generator is None else generator.beyond

    def _tests(self) -> tuple[Test, ...]:
        tests = []
        for index, test in enumerate(self.model.proposed_tests):
            if test.family not in self.universe.generators:
                self._give_up("missing_generator", test.family)
                continue
            read = read_test(test.family, test.params, self._beyond(test.family), self.universe)
            if isinstance(read, str):
                self.scope.wrong(E_LAW_TEST, read, "proposed_tests", index, "params")
            else:
                tests.append(read)
        return tuple(tests)

    def _limits(self, lengths: Sequence[int]) -> None:
        """Give up where T or H is too large on an admitted ring; refuse one that is too small on the shortest."""
        template, universe, most = self.template, self.universe, self.model.trial.steps
        longest = max(lengths, default=universe.longest)
        for name, duration, least in (("T", self.T, max(1, template.first + template.short)), ("H", self.H, 0)):
            if duration is None:
                continue
            value = duration.on(universe.shortest)
            if value < least:
                final = f"T - {template.short}" if template.short else "T"
                judged = f"; the form {template.name} is judged from step {template.first} to {final}"
                where = f" on a ring of {universe.shortest} cells" if duration.cells else ""
                message = f"{name} = {value}{where} is less than {least}{judged if name == 'T' else ''}"
                self.scope.wrong(E_LAW_FORM, message, "quantifiers", name)
            if duration.on(longest) > most:
                where = f" on a ring of {longest} cells" if duration.cells else ""
                self._give_up("resource_limit", f"{name} = {duration.on(longest)}{where} is above {most}")

    def _capabilities(self) -> None:
        required = self.model.capability_requirements
        offered = self.universe.measures
        for label in required.primitive_observables:
            if label.partition("(")[0].strip() not in offered:
                self._give_up("missing_observable", label)
        for label in required.transforms:
            if label.partition("(")[0].strip() not in self.universe.transforms:
                self._give_up("missing_transform", label)
        for label in required.generator_families:
            if label not in self.universe.generators:
                self._give_up("missing_generator", label)


def _joined(conditions: Sequence[Node | None]) -> Node:
    """All conditions at once; those that need what is missing are left out, for nothing can be said then anyway."""
    return conjunction([condition for condition in conditions if condition is not None])
