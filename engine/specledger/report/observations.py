"""The observations of the checks of one bundle: counted for each check, the first ones kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from specledger.report.markup import shorten
from specledger.report.model import MOST_OBSERVATIONS, Body, Check, Observation, Receipt, value_text
from specledger.report.sections import EpisodeLink, Place, ReceiptLink

_NAME: Final = 200  # characters of a name from a receipt


class Observations:
    """Collects observations by check; `count` has the number of observations of each."""

    def __init__(self, recorded: bool = False, names: Sequence[str] = ()) -> None:
        """Begin without any; `recorded` if the episodes are recorded trajectories, which have `names`."""
        self._recorded, self._names = recorded, names
        self.count: Counter[str] = Counter()
        self._kept: dict[str, list[Observation]] = {}

    def note(self, check: str, receipt: Receipt, what: str, detail: Any, body: Body | None = None) -> None:
        """Count an observation of a check, and keep it if it is among the first.

        `body`, by default that of the receipt, names the run, the episode and the step.
        """
        self.count[check] += 1
        kept = self._kept.setdefault(check, [])
        if len(kept) < MOST_OBSERVATIONS:
            at = receipt.body if body is None else body
            run, episode, t = at.get("run"), at.get("episode"), at.get("t", at.get("steps"))
            name = None if run is None else as_name(run)
            episode, t = (None if number is None else as_int(number) for number in (episode, t))
            seen = Observation(as_name(what), value_text(detail), name, episode, t, receipt.seq, receipt.digest)
            seen = replace(seen, ended="t" not in at)
            kept.append(replace(seen, trajectory=self._called(episode)) if self._recorded else seen)

    def _called(self, episode: int | None) -> str:
        """What a trajectory is called: its log, else its number."""
        if episode is None:
            return ""
        return self._names[episode] if episode < len(self._names) else f"trajectory {episode}"

    def links(self, check: str, most: int = 3) -> list[Place]:
        """The first receipts that show a check."""
        seqs = dict.fromkeys(observation.seq for observation in self._kept.get(check, ()))
        return [ReceiptLink(seq) for seq in list(seqs)[:most]]

    def steps(self, check: str) -> list[Place]:
        """A link to the first step that shows a check, of the bundle's own episodes, then links to receipts."""
        first = next(iter(self._kept.get(check, ())), None)
        if first is None or first.episode is None or first.t is None or self._recorded:
            return self.links(check)
        return [EpisodeLink(0, first.episode, first.t), *self.links(check)]

    def of(self, check: Check, noted: str = "") -> Check:
        """A check with its observations: those that were noted under its id, or under another name."""
        kept = self._kept.get(noted or check.id, [])
        return replace(check, observations=tuple(kept), more=self.count[noted or check.id] - len(kept))


def as_name(value: Any) -> str:
    """A string from a receipt, shortened; TypeError if it is none."""
    if not isinstance(value, str):
        raise TypeError(f"expected a string, found {type(value).__name__}")
    return shorten(value, _NAME)


def as_int(value: Any) -> int:
    """An integer from a receipt; TypeError if it is none."""
    if type(value) is not int:
        raise TypeError(f"expected an int, found {type(value).__name__}")
    return value
