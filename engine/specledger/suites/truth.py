"""What a suite says of the trajectories of its recordings: by label their ids, of which some are patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from specledger.core.diagnostics import Diagnostics, code
from specledger.load import Resolved

E_SUITE_TRUTH = code("E_SUITE_TRUTH", "a suite's `truth` says nothing of its runs, or two things of one trajectory")


class Truth:
    """The labels of trajectories by their ids."""

    def __init__(self, labels: Mapping[str, Sequence[str]]) -> None:
        """Take ids by label; `*` in an id stands for any characters."""
        self.labels = frozenset(labels)
        self._listed = {label: tuple(ids) for label, ids in labels.items()}
        self._exact = {id_: label for label, ids in labels.items() for id_ in ids if "*" not in id_}
        self._wild = [(id_.split("*"), label) for label, ids in labels.items() for id_ in ids if "*" in id_]

    def label(self, id_: str) -> str | None:
        """The label of a trajectory: of its id, else the only one of the patterns that fit; None if there is none."""
        if id_ in self._exact:
            return self._exact[id_]
        fitting = {label for parts, label in self._wild if _fits(id_, parts)}
        return fitting.pop() if len(fitting) == 1 else None

    def absent(self, ids: Iterable[str]) -> dict[str, list[str]]:
        """By label those of its ids and patterns that are of none of these trajectories."""
        known = frozenset(ids)
        absent = {
            label: [id_ for id_ in listed if id_ not in known and not ("*" in id_ and _fits_any(known, id_))]
            for label, listed in self._listed.items()
        }
        return {label: listed for label, listed in sorted(absent.items()) if listed}


NO_TRUTH = Truth({})


def _fits_any(ids: Iterable[str], pattern: str) -> bool:
    parts = pattern.split("*")
    return any(_fits(id_, parts) for id_ in ids)


def _fits(text: str, parts: Sequence[str]) -> bool:
    """Whether a text consists of parts, in their order, with anything between them."""
    first, *inner, last = parts
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for part in inner:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


def check_truth(
    spec: Resolved, labels: Mapping[str, Sequence[str]], diagnostics: Diagnostics, *, recorded: bool
) -> None:
    """Find what is wrong with the truth of a suite, of which a run may be `recorded`: two labels of one id, no log."""
    if labels and not recorded:
        message = "`truth` is about trajectories, and no agent of this suite is a recording"
        diagnostics.error(E_SUITE_TRUTH, message, spec.span("truth"), hint="an agent with `trajectories` is one")
    known: dict[str, str] = {}
    for label, ids in labels.items():
        for index, id_ in enumerate(ids):
            if known.setdefault(id_, label) != label:
                message = f"{id_!r} is {label}, and {known[id_]} as well"
                diagnostics.error(E_SUITE_TRUTH, message, spec.span("truth", label, index), hint="leave one out")
