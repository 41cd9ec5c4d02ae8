"""Redundancy: finds the known law that a proposed law repeats or resembles.

Two laws are the same in three tiers: equal content, equal meaning, equal normal form. Other laws are
compared by their parts: the number of parts that both have, by the number that either has, each counted as often as it
occurs (the Jaccard index over multisets). Equal laws are found by digest; laws are only compared with those that share
a part. Source: law proposer, section 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from specledger.wings.discovery.fingerprint import Fingerprint

if TYPE_CHECKING:
    from specledger.wings.discovery.parser import ParsedLaw

ONE: Final = 1_000_000
"""Similarities are millionths."""

EXACT: Final = "exact"
FINGERPRINT: Final = "fingerprint"
NORMALIZED: Final = "normalized"
NEAR: Final = "near"

THRESHOLD: Final = 900_000


class RedundancyMatch(Struct, frozen=True):
    """The known law that a law resembles most, and how much, in millionths.

    `match_type` is `exact`, `fingerprint`, `normalized`, or `near` for two that differ.
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

    def __init__(self, threshold: int = THRESHOLD) -> None:
        self.threshold = threshold
        self._known = _Index()

    def __len__(self) -> int:
        """How many laws are known."""
        return len(self._known.laws)

    def add_known_law(self, law: ParsedLaw) -> None:
        """Learn a law."""
        self._known.add(law)

    def nearest(self, law: ParsedLaw) -> RedundancyMatch | None:
        """The known law that a law resembles most, whatever the threshold is; None if it resembles none."""
        return _best(law, (self._known,))

    def check(self, law: ParsedLaw) -> RedundancyMatch | None:
        """The known law that makes a law redundant, or None."""
        match = self.nearest(law)
        return match if match is not None and match.similarity >= self.threshold else None

    def filter_batch(self, laws: Iterable[ParsedLaw], *, learn: bool = False) -> Filtered:
        """Leave out what is known already, or came earlier in the batch."""
        batch = _Index()
        nearest: list[RedundancyMatch | None] = []
        redundant: list[tuple[ParsedLaw, RedundancyMatch]] = []
        for law in laws:
            match = _best(law, (self._known, batch))
            if match is not None and match.similarity >= self.threshold:
                redundant.append((law, match))
                continue
            nearest.append(match)
            batch.add(law)
        for law in batch.laws if learn else ():
            self._known.add(law)
        return Filtered(tuple(batch.laws), tuple(nearest), tuple(redundant))


class _Index:
    """Laws by what may make another one the same or alike."""

    def __init__(self) -> None:
        self.laws: list[ParsedLaw] = []
        self.equal: dict[tuple[str, str], ParsedLaw] = {}
        self._sizes: list[int] = []
        self._having: dict[str, list[tuple[int, int]]] = {}

    def add(self, law: ParsedLaw) -> None:
        index, pieces = len(self.laws), law.fingerprint.pieces
        self.laws.append(law)
        self._sizes.append(sum(pieces.values()))
        for tier in _tiers(law.fingerprint):
            self.equal.setdefault(tier, law)
        for piece, count in pieces.items():
            self._having.setdefault(piece, []).append((index, count))

    def alike(self, law: ParsedLaw) -> tuple[int, int, ParsedLaw] | None:
        """The law that has most in common with another: the number of parts of both, of either, and the law."""
        pieces, common = law.fingerprint.pieces, dict[int, int]()
        for piece, count in pieces.items():
            for index, other in self._having.get(piece, ()):
                common[index] = common.get(index, 0) + min(count, other)
        best: tuple[int, int, int] | None = None
        size = sum(pieces.values())
        for index in sorted(common):
            both = common[index]
            either = size + self._sizes[index] - both
            if best is None or both * best[1] > best[0] * either:
                best = (both, either, index)
        return None if best is None else (best[0], best[1], self.laws[best[2]])


def _tiers(print_: Fingerprint) -> list[tuple[str, str]]:
    """The digests by which equal laws are found. What a law means decides wherever it can be measured."""
    tiers = [(EXACT, print_.content)]
    return [*tiers, (NORMALIZED, print_.normal) if print_.meaning is None else (FINGERPRINT, print_.meaning)]


_SAYS: Final = {
    EXACT: "the same candidate",
    FINGERPRINT: "the same meaning, in other words",
    NORMALIZED: "the same text, apart from order, case and white space",
}


def _best(law: ParsedLaw, indexes: Sequence[_Index]) -> RedundancyMatch | None:
    for tier in _tiers(law.fingerprint):
        for index in indexes:
            if tier in index.equal:
                return RedundancyMatch(index.equal[tier].id, ONE, tier[0], _SAYS[tier[0]])
    return _near(law, indexes)


def _near(law: ParsedLaw, indexes: Sequence[_Index]) -> RedundancyMatch | None:
    best: tuple[int, int, ParsedLaw] | None = None
    for index in indexes:
        similar = index.alike(law)
        if similar is not None and (best is None or similar[0] * best[1] > best[0] * similar[1]):
            best = similar
    if best is None:
        return None
    both, either, other = best
    return RedundancyMatch(other.id, ONE * both // either, NEAR, f"{both} of {either} parts in common")
