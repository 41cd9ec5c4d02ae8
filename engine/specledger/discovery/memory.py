"""Memory: what a proposer is told of the laws that were tried.

PROVED and PASS are accepted, FAIL is falsified, UNKNOWN is unknown with its reason. An error of the engine says nothing
about a law: it is kept apart, and no prompt shows it. A law that is tried again leaves its old list. The oldest entries
are forgotten first. Source: law proposer, section 10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import tagged
from specledger.discovery.features import facts_of
from specledger.laws.universe import Universe
from specledger.laws.verdict import Verdict
from specledger.spec import discovery as spec

if TYPE_CHECKING:
    from specledger.discovery.parser import ParsedLaw

MEMORY_TAG: Final = "specledger/memory/v1"

ERROR: Final = "ERROR"

MOST_ERRORS: Final = 20
"""Laws kept that could not be judged."""

ROUTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PROVED": "accepted_laws",
        "PASS": "accepted_laws",
        "FAIL": "falsified_laws",
        "UNKNOWN": "unknown_laws",
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


class MemoryLimits(Struct, frozen=True):
    """How many of each are remembered, unless a spec says otherwise (law proposer, section 10)."""

    max_accepted: int = 30
    max_falsified: int = 20
    max_unknown: int = 20
    max_counterexamples: int = 20


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

    def plain(self) -> DiscoveryMemorySnapshot:
        """The same of plain JSON values, which have a canonical form; changing them changes nothing here."""
        document = self.document()
        return DiscoveryMemorySnapshot(**{name: _tupled(value) for name, value in document.items()})

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

    def __init__(
        self, limits: MemoryLimits | spec.MemoryLimits | None = None, universe: Universe | None = None
    ) -> None:
        """Begin with nothing.

        Args:
            limits: How many of each are remembered; those of the seed, if left out.
            universe: What the laws are about, for its capabilities.
        """
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
        """Remember what became of a law.

        Args:
            law: The law.
            verdict: What is said of it, as it is or as a receipt has it; None if the engine failed at it.

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
            entries[:] = [each for each in entries if each["key"] != entry["key"]]
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


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


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
