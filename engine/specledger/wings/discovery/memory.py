"""Memory: what a proposer is told of the laws that were tried.

PROVED and PASS are accepted, FAIL is falsified, UNKNOWN is unknown with its reason. An error of the engine says nothing
about a law: it is kept apart, and no prompt shows it. A law that is tried again leaves its old list. The oldest entries
are forgotten first. The facts about a law, which rankings read too, are values of the type `LAW`.
Source: law proposer, sections 8 and 10.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import tagged
from specledger.expr import INT, STRING, ListType, RecordType
from specledger.wings.discovery.fingerprint import measure_of
from specledger.wings.discovery.spec.discovery import MemoryLimits
from specledger.wings.laws.claim import COMPARISONS, Binary, walk
from specledger.wings.laws.receipts import LawStatus
from specledger.wings.laws.spec.law import Law as LawSpec
from specledger.wings.laws.spec.law import Precondition
from specledger.wings.laws.transform import parse_call
from specledger.wings.laws.universe import Universe
from specledger.wings.laws.verdict import Verdict

if TYPE_CHECKING:
    from specledger.wings.discovery.parser import ParsedLaw

MEMORY_TAG: Final = "specledger/memory/v1"

ERROR: Final = LawStatus.ERROR.value

MOST_ERRORS: Final = 20
"""Laws kept that could not be judged."""

ROUTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        LawStatus.PROVED: "accepted_laws",
        LawStatus.PASS: "accepted_laws",
        LawStatus.FAIL: "falsified_laws",
        LawStatus.UNKNOWN: "unknown_laws",
        ERROR: "errors",
    }
)
"""The list that a verdict leads to."""

AGE: Final = "evaluation"
"""The key of an entry's age: the number of the evaluation that it is from, from 1."""

_LAW: Final = ("claim_ast", "observables", "preconditions", "quantifiers", "transform", "direction", "bound_op")
_LAW_MORE: Final = ("bound_value", "trigger_symbol", "result_op", "result_symbol", "starts")
_VERDICT: Final[Mapping[str, tuple[str, ...]]] = {
    "accepted_laws": ("method", "proved_for", "up_to", "power", "violation_bound", "content"),
    "falsified_laws": ("method", "counterexample"),
    "unknown_laws": ("reason", "detail", "power"),
    "errors": ("detail",),
}


class DiscoveryMemorySnapshot(Struct, frozen=True):
    """What was known at some time. Everything in it is read-only; later evaluations change nothing.

    Attributes:
        accepted_laws: Laws that passed, with what their trials saw (coverage, in millionths, is in `power`).
        falsified_laws: Laws that failed, with their counterexamples.
        unknown_laws: Laws of which nothing can be said, with the reasons.
        counterexamples: Gallery of states that refuted a law.
    """

    accepted_laws: tuple[Mapping[str, Any], ...] = ()
    falsified_laws: tuple[Mapping[str, Any], ...] = ()
    unknown_laws: tuple[Mapping[str, Any], ...] = ()
    counterexamples: tuple[Mapping[str, Any], ...] = ()
    capabilities: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def document(self) -> dict[str, Any]:
        """The same as plain JSON values, which may be changed without changing this."""
        names = ("accepted_laws", "falsified_laws", "unknown_laws", "counterexamples", "capabilities")
        return {name: thawed(getattr(self, name)) for name in names}

    @property
    def digest(self) -> str:
        """The digest of its canonical JSON."""
        return tagged(MEMORY_TAG, canonical_bytes(self.document()))


class DiscoveryMemory:
    """The laws that were tried lately, the oldest of each list first."""

    def __init__(self, limits: MemoryLimits | None = None, universe: Universe | None = None) -> None:
        """Begin with nothing."""
        limits = MemoryLimits() if limits is None else limits
        self._most = {
            "accepted_laws": limits.max_accepted,
            "falsified_laws": limits.max_falsified,
            "unknown_laws": limits.max_unknown,
            "counterexamples": limits.max_counterexamples,
            "errors": MOST_ERRORS,
        }
        self._capabilities: Mapping[str, Any] = frozen({} if universe is None else universe.capabilities())
        self._lists: dict[str, list[Mapping[str, Any]]] = {name: [] for name in self._most}
        self._evaluations = 0

    @property
    def errors(self) -> tuple[Mapping[str, Any], ...]:
        """The laws that could not be judged, because the engine contradicted itself or failed."""
        return tuple(self._lists["errors"])

    def record_evaluation(self, law: ParsedLaw, verdict: Verdict | Mapping[str, Any] | None) -> None:
        """Remember a verdict on a law, as it is or as a receipt has it; None if the engine failed at the law.

        Raises:
            ValueError: The verdict has a status that leads nowhere.
        """
        said = verdict.to_json(law.plan.law) if isinstance(verdict, Verdict) else verdict or {"status": ERROR}
        route = ROUTES.get(said["status"])
        if route is None:
            raise ValueError(f"no verdict is {said['status']!r}")
        self._evaluations += 1
        entry = self._entry(law, said, route)
        for entries in self._lists.values():
            entries[:] = [other for other in entries if other["key"] != entry["key"]]
        self._add(route, entry)
        counterexample = entry.get("counterexample")
        if counterexample is not None:
            about = {name: entry[name] for name in ("key", "law_id", "template", "claim", AGE)}
            self._add("counterexamples", frozen(about | thawed(counterexample)))

    def snapshot(self) -> DiscoveryMemorySnapshot:
        """What is known now."""
        lists = {name: tuple(entries) for name, entries in self._lists.items() if name != "errors"}
        return DiscoveryMemorySnapshot(**lists, capabilities=self._capabilities)

    def _add(self, name: str, entry: Mapping[str, Any]) -> None:
        entries = self._lists[name]
        entries.append(entry)
        del entries[: max(0, len(entries) - self._most[name])]

    def _entry(self, law: ParsedLaw, said: Mapping[str, Any], route: str) -> Mapping[str, Any]:
        facts = facts_of(law)
        written = {name: law.document[name] for name in (*_LAW, *_LAW_MORE) if law.document.get(name) is not None}
        head = {
            "key": law.bundle.root,
            "law_id": facts["id"],
            "template": facts["template"],
            "claim": facts["claim"],
            "forbidden": facts["forbidden"],
            "status": said["status"],
            AGE: self._evaluations,
            "facts": facts,
        }
        kept = {name: said[name] for name in _VERDICT[route] if said.get(name) is not None}
        entry: Mapping[str, Any] = frozen({**written, **head, **kept})
        return entry


def frozen(value: Any) -> Any:
    """A JSON value that cannot be changed: objects become read-only views of copies, lists become tuples."""
    if isinstance(value, Mapping):
        return MappingProxyType({key: frozen(member) for key, member in value.items()})
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(frozen(member) for member in value)
    return value


def thawed(value: Any) -> Any:
    """A copy of a JSON value as plain dicts and lists, which have a canonical form."""
    if isinstance(value, Mapping):
        return {key: thawed(member) for key, member in value.items()}
    if isinstance(value, tuple | list):
        return [thawed(member) for member in value]
    return value


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
    names = [part.name for part in model.observables]
    operators = {part.op for part in walk(law.claim) if isinstance(part, Binary)}
    return {
        "id": proposed.id,
        "template": law.template.name,
        "claim": law.said,
        "forbidden": law.forbidden,
        "T": law.T,
        "H": law.H or 0,
        "preconditions": [_condition(part) for part in model.preconditions],
        "observables": names,
        "measures": sorted({measure_of(law, name) for name in names if name in law.observables}),
        "operators": [op for op in COMPARISONS if op in operators],
        "transform": "" if model.transform is None else model.transform,
        "direction": "" if model.direction is None else model.direction,
        "tests": [part.family for part in model.proposed_tests],
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
    own = {entry.name for entry in model.observables}
    unmeasured = [name for name in proposed.plan.law.missing if name not in own]
    return {
        "observables": _absent([*unmeasured, *required.primitive_observables], universe.primitives),
        "transforms": _absent(transforms, universe.transforms),
        "generators": _absent(required.generator_families, universe.generators),
        "tests": _absent((entry.family for entry in model.proposed_tests), universe.generators),
    }


def _absent(labels: Iterable[str], offered: Mapping[str, object]) -> list[str]:
    """The names before any brackets that are not offered, each once, sorted."""
    return sorted({label.partition("(")[0].strip() for label in labels} - set(offered))
