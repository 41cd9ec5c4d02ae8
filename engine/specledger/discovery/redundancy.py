"""Redundancy: finds the known law that a proposed law repeats or resembles.

Two laws are the same in four tiers: equal content, equal meaning, equal normal form, proved equivalent. Other laws are
compared by their parts: the number of parts that both have, by the number that either has, each counted as often as it
occurs (the Jaccard index over multisets). Equal laws are found by digest; laws are only compared with those that share
a part. Source: law proposer, section 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from specledger.discovery.equivalence import Statement, prove_equivalent, prove_implied, statement_of
from specledger.discovery.fingerprint import Fingerprint, fingerprint, law_id
from specledger.laws.law import Law

if TYPE_CHECKING:
    from specledger.discovery.parser import ParsedLaw

ONE: Final = 1_000_000
"""Similarities are millionths."""

EXACT: Final = "exact"
FINGERPRINT: Final = "fingerprint"
NORMALIZED: Final = "normalized"
EQUIVALENT: Final = "equivalent"
NEAR: Final = "near"

THRESHOLD: Final = 900_000

MOST_PROOFS: Final = 3
"""Known laws that are tried to be proved the same as one law, at most."""


class RedundancyMatch(Struct, frozen=True):
    """The known law that a law resembles most.

    Attributes:
        matched_law_id: The known law's id.
        similarity: Millionths; all of them if the two are the same.
        match_type: `exact`, `fingerprint`, `normalized`, `equivalent`, or `near` for two that differ.
        details: What they have in common, for people.
    """

    matched_law_id: str
    similarity: int
    match_type: str
    details: str

    def document(self) -> dict[str, Any]:
        """The match as JSON values."""
        return asdict(self)


class Filtered(Struct, frozen=True):
    """A batch, split: what is left, for each the law that it resembles below the threshold, and what is left out."""

    unique: tuple[ParsedLaw, ...]
    nearest: tuple[RedundancyMatch | None, ...]
    redundant: tuple[tuple[ParsedLaw, RedundancyMatch], ...]


class RedundancyDetector:
    """Laws that were proposed before; a law is redundant from a similarity on, the threshold in millionths."""

    def __init__(self, threshold: int = THRESHOLD, *, equivalent: bool = True) -> None:
        self.threshold = threshold
        self.equivalent = equivalent
        self._known = _Index()

    def __len__(self) -> int:
        """How many laws are known."""
        return len(self._known.looks)

    def add_known_law(self, law: ParsedLaw) -> None:
        """Learn a law."""
        self._known.add(self._look(law))

    def nearest(self, law: ParsedLaw) -> RedundancyMatch | None:
        """The known law that a law resembles most, whatever the threshold is; None if it resembles none."""
        return _best(self._look(law), (self._known,))

    def check(self, law: ParsedLaw) -> RedundancyMatch | None:
        """The known law that makes a law redundant, or None."""
        match = self.nearest(law)
        return match if match is not None and match.similarity >= self.threshold else None

    def filter_batch(self, laws: Iterable[ParsedLaw], *, learn: bool = False) -> Filtered:
        """Leave out what is known already, or came earlier in the batch."""
        batch = _Index()
        unique: list[ParsedLaw] = []
        nearest: list[RedundancyMatch | None] = []
        redundant: list[tuple[ParsedLaw, RedundancyMatch]] = []
        for law in laws:
            looks = self._look(law)
            match = _best(looks, (self._known, batch))
            if match is not None and match.similarity >= self.threshold:
                redundant.append((law, match))
                continue
            unique.append(law)
            nearest.append(match)
            batch.add(looks)
        if learn:
            for looks in batch.looks:
                self._known.add(looks)
        return Filtered(tuple(unique), tuple(nearest), tuple(redundant))

    def _look(self, law: ParsedLaw) -> _Looks:
        return _look(_Once(law.bundle.root, self.equivalent, law))


class _Looks(Struct, frozen=True, dict=True):
    """What is compared of a law; what it states is found when it is first asked for."""

    id: str
    print: Fingerprint
    size: int
    law: Law | None

    @cached_property
    def statement(self) -> Statement | None:
        return None if self.law is None else statement_of(self.law)


@dataclass(frozen=True, slots=True)
class _Once:
    """A law by its key, so that detectors that are made again and again look at it once."""

    key: str
    equivalent: bool
    law: ParsedLaw = field(compare=False)


@lru_cache(maxsize=4096)
def _look(once: _Once) -> _Looks:
    print_ = fingerprint(once.law)
    law = once.law.plan.law if once.equivalent else None
    return _Looks(law_id(once.law), print_, sum(print_.pieces.values()), law)


class _Index:
    """Laws by what may make another one the same or alike."""

    def __init__(self) -> None:
        self.looks: list[_Looks] = []
        self._equal: dict[tuple[str, str], int] = {}
        self._stating: dict[str, list[int]] = {}
        self._having: dict[str, list[tuple[int, int]]] = {}

    def add(self, looks: _Looks) -> None:
        place = len(self.looks)
        self.looks.append(looks)
        for tier, digest in _tiers(looks.print):
            self._equal.setdefault((tier, digest), place)
        statement = looks.statement
        if statement is not None:
            self._stating.setdefault(statement.key, []).append(place)
        for piece, count in looks.print.pieces.items():
            self._having.setdefault(piece, []).append((place, count))

    def equal(self, tier: str, digest: str) -> _Looks | None:
        place = self._equal.get((tier, digest))
        return None if place is None else self.looks[place]

    def stating(self, key: str) -> list[_Looks]:
        return [self.looks[place] for place in self._stating.get(key, ())]

    def alike(self, looks: _Looks) -> tuple[int, int, _Looks] | None:
        """The law that has most in common with another: the number of parts of both, of either, and the law."""
        common: dict[int, int] = {}
        for piece, count in looks.print.pieces.items():
            for place, other in self._having.get(piece, ()):
                common[place] = common.get(place, 0) + min(count, other)
        best: tuple[int, int, int] | None = None
        for place in sorted(common):
            both = common[place]
            either = looks.size + self.looks[place].size - both
            if best is None or both * best[1] > best[0] * either:
                best = (both, either, place)
        return None if best is None else (best[0], best[1], self.looks[best[2]])


def _tiers(print_: Fingerprint) -> list[tuple[str, str]]:
    """The digests by which equal laws are found. What a law means decides wherever it can be measured."""
    tiers = [(EXACT, print_.content)]
    return [*tiers, (NORMALIZED, print_.normal) if print_.meaning is None else (FINGERPRINT, print_.meaning)]


_SAYS: Final = {
    EXACT: "the same candidate",
    FINGERPRINT: "the same meaning, in other words",
    NORMALIZED: "the same text, apart from order, case and white space",
}


def _best(looks: _Looks, indexes: Sequence[_Index]) -> RedundancyMatch | None:
    for tier, digest in _tiers(looks.print):
        for index in indexes:
            same = index.equal(tier, digest)
            if same is not None:
                return RedundancyMatch(same.id, ONE, tier, _SAYS[tier])
    return _equivalent(looks, indexes) or _near(looks, indexes)


def _equivalent(looks: _Looks, indexes: Sequence[_Index]) -> RedundancyMatch | None:
    ours = looks.statement
    if ours is None:
        return None
    others = [(each, each.statement) for index in indexes for each in index.stating(ours.key)]
    likely = sorted(others, key=lambda pair: pair[1] is None or pair[1].values != ours.values)  # stable
    for other, theirs in likely[:MOST_PROOFS]:
        proofs = None if theirs is None else prove_equivalent(ours, theirs)
        if proofs is not None:
            empty = prove_implied(ours, ()) is not None
            details = "both hold under every rule" if empty else "each follows from the other under every rule"
            return RedundancyMatch(other.id, ONE, EQUIVALENT, f"{details}; {len(proofs)} certificates")
    return None


def _near(looks: _Looks, indexes: Sequence[_Index]) -> RedundancyMatch | None:
    best: tuple[int, int, _Looks] | None = None
    for index in indexes:
        found = index.alike(looks)
        if found is not None and (best is None or found[0] * best[1] > best[0] * found[1]):
            best = found
    if best is None:
        return None
    both, either, other = best
    return RedundancyMatch(other.id, ONE * both // either, NEAR, f"{both} of {either} parts in common")
