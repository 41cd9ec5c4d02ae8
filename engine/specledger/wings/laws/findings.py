"""Diagnostic codes of laws, and findings about a law whose verdict will be UNKNOWN."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from specledger.core.diagnostics import Diagnostic, Diagnostics, Severity, code, suggest
from specledger.expr import Environment
from specledger.lang.scope import Scope
from specledger.lang.words import named_in
from specledger.load import Resolved
from specledger.wings.laws.law import Law
from specledger.wings.laws.spec.law import Law as LawSpec
from specledger.wings.laws.universe import Universe

E_LAW_MISSING = code("E_LAW_MISSING", "a law lacks what its template needs")
E_LAW_FIELD = code("E_LAW_FIELD", "a law says what its template does not need")
W_LAW_FIELD = code("W_LAW_FIELD", "a field of a law was not read")
E_LAW_FORM = code("E_LAW_FORM", "a claim is not of its template's form")
E_LAW_UNDEFINED = code("E_LAW_UNDEFINED", "a name that neither the law nor its universe defines")
E_LAW_SORT = code("E_LAW_SORT", "an operator of a claim has operands that it cannot take")
E_LAW_INTEGER = code("E_LAW_INTEGER", "an integer of a law cannot be recorded")
E_LAW_STRING = code("E_LAW_STRING", "a string claim where only a tree is accepted")
W_LAW_STRING = code("W_LAW_STRING", "a claim that is a string and no formula, or that a model wrote")

FORMULA = "write a formula such as `X(t) == X(0)`, and the words in `says`"
"""The advice where a claim is in words."""

E_LAW_PACKAGE = code("E_LAW_PACKAGE", "laws are tried with a package that is not installed")
E_LAW_TEST = code("E_LAW_TEST", "a proposed test has a parameter that means nothing")
W_LAW_UNDECIDED = code("W_LAW_UNDECIDED", "nothing can be said of a law")


def undecided(spec: Resolved, law: Law) -> Iterator[Diagnostic]:
    """The findings about a law whose verdict will be UNKNOWN: errors about names probably misspelt, else warnings."""
    if law.unknown is None:
        return
    reason, message = law.unknown.reason, f"it cannot be decided: {law.unknown.reason}: {law.unknown.detail}"
    missing = [*_missing(spec, law.universe)]
    for word, known, path in missing:
        near, span = suggest(word, known), Scope(Environment(), spec, Diagnostics()).span_of(word, *path)
        if near is None:
            hint = _callable(law.universe) if path[0] == "observables" else None
            hint = hint or f"the universe has {', '.join(sorted(known)) or 'none'}"
            yield Diagnostic(W_LAW_UNDECIDED, message, span, hint=hint, severity=Severity.WARNING)
        else:
            yield Diagnostic(E_LAW_UNDEFINED, f"the universe has no `{word}`", span, hint=f"did you mean `{near}`?")
    if not missing:
        ambiguous = reason == "ambiguous_claim"
        span = spec.span(*(("claim",) if ambiguous else ("quantifiers",)))
        hint = "write `claim_ast`" if ambiguous else "make `quantifiers` smaller, or `trial.steps` greater"
        yield Diagnostic(W_LAW_UNDECIDED, message, span, hint=hint, severity=Severity.WARNING)


def _callable(universe: Universe) -> str:
    """What an observable of a law can call, with its arguments."""
    calls = sorted(primitive.signature for primitive in universe.measures.values())
    return f"it can call {', '.join(calls)}, and observables above it"


def _missing(spec: Resolved, universe: Universe) -> Iterator[tuple[str, Collection[str], tuple[str | int, ...]]]:
    """The names that a law uses and its universe lacks, with those that it has, and where they are written."""
    model = spec.model
    assert isinstance(model, LawSpec)  # noqa: S101 - `check_law` was given it
    own = {observable.name for observable in model.observables}
    for path, text in spec.expressions():
        for name in sorted(frozenset[str]().union(*named_in(text)) - own - universe.primitives.keys()):
            yield name, {*own, *universe.primitives}, path
    required = model.capability_requirements
    labels: dict[str, tuple[Sequence[str], Collection[str]]] = {
        "primitive_observables": (required.primitive_observables, universe.primitives),
        "transforms": (required.transforms, universe.transforms),
        "generator_families": (required.generator_families, universe.generators),
    }
    for key, (given, known) in labels.items():
        for index, label in enumerate(given):
            name = label.partition("(")[0].strip()
            if name not in known:
                yield name, known, ("capability_requirements", key, index)
    if model.transform is not None and model.transform.partition("(")[0].strip() not in universe.transforms:
        yield model.transform.partition("(")[0].strip(), universe.transforms, ("transform",)
    for index, test in enumerate(model.proposed_tests):
        if test.family not in universe.generators:
            yield test.family, universe.generators, ("proposed_tests", index, "family")
