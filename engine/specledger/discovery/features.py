"""The facts about a proposed law that rankings read and that memory keeps: values of the type `LAW`.

Source: law proposer, section 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from specledger.discovery.fingerprint import law_id, measure_of
from specledger.expr import INT, STRING, ListType, RecordType
from specledger.laws.claim import COMPARISONS, Binary, walk
from specledger.laws.transform import parse_call
from specledger.laws.universe import Universe
from specledger.spec.law import Law as LawSpec
from specledger.spec.law import Precondition

if TYPE_CHECKING:
    from specledger.discovery.parser import ParsedLaw

_TEXTS: Final = ListType(STRING, 64)

MISSING: Final = RecordType(
    "missing", {"observables": _TEXTS, "transforms": _TEXTS, "generators": _TEXTS, "tests": _TEXTS}
)
"""What a law needs and its universe lacks, each name once: `tests` are families that it asks to be tried on."""

LAW: Final = RecordType(
    "law",
    {
        "id": STRING,
        "template": STRING,
        "claim": STRING,
        "forbidden": STRING,
        "T": INT,
        "H": INT,
        "preconditions": _TEXTS,
        "observables": _TEXTS,
        "measures": _TEXTS,
        "operators": _TEXTS,
        "transform": STRING,
        "direction": STRING,
        "tests": _TEXTS,
        "missing": MISSING,
    },
)
"""A law as rankings see it. What a law does not have is an empty text, an empty list or 0."""


def facts_of(proposed: ParsedLaw) -> dict[str, Any]:
    """The facts about a law: a value of the type `LAW`.

    `observables` are the names that it defines, `measures` digests of what they measure, which are equal for equal ones
    whatever they are called, and `operators` the comparisons of its claim.
    """
    law, model = proposed.plan.law, proposed.bundle.main.model
    assert isinstance(model, LawSpec)  # noqa: S101 - a proposed law was compiled from one
    names = [each.name for each in model.observables]
    found = {each.op for each in walk(law.claim) if isinstance(each, Binary)}
    return {
        "id": law_id(proposed),
        "template": law.template.name,
        "claim": law.said,
        "forbidden": law.forbidden,
        "T": law.T,
        "H": law.H or 0,
        "preconditions": [_condition(each) for each in model.preconditions],
        "observables": names,
        "measures": sorted({measure_of(law, name) for name in names if name in law.observables}),
        "operators": [op for op in COMPARISONS if op in found],
        "transform": "" if model.transform is None else model.transform,
        "direction": "" if model.direction is None else model.direction,
        "tests": [each.family for each in model.proposed_tests],
        "missing": _missing(proposed, model, law.universe),
    }


def _condition(precondition: Precondition | str) -> str:
    if isinstance(precondition, str):
        return precondition
    return f"{precondition.lhs} {precondition.op} {precondition.rhs}"


def _missing(proposed: ParsedLaw, model: LawSpec, universe: Universe) -> dict[str, list[str]]:
    required = model.capability_requirements
    call = None if model.transform is None else parse_call(model.transform)
    transforms = [*required.transforms, *([] if call is None else [call[0]])]
    own = {each.name for each in model.observables}
    unmeasured = [name for name in proposed.plan.law.missing if name not in own]
    return {
        "observables": _absent([*unmeasured, *required.primitive_observables], universe.primitives),
        "transforms": _absent(transforms, universe.transforms),
        "generators": _absent(required.generator_families, universe.generators),
        "tests": _absent((each.family for each in model.proposed_tests), universe.generators),
    }


def _absent(labels: Iterable[str], offered: Mapping[str, object]) -> list[str]:
    """The names before any brackets that are not offered, each once, sorted."""
    return sorted({label.partition("(")[0].strip() for label in labels} - set(offered))
