"""The minimal failing cases of a run, a law or a discovery: the receipts that show each, folded from all of them.

Decides what a failing case is and which of them are kept: those that show a cause for the first time. The writer of a
bundle and its verifier use the same fold. Refuses to judge: what failed is said in the receipts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from engine.core.canonical import canonical_bytes, parse_canonical
from engine.core.verdict import Verdict
from engine.evidence.layout import MAX_LINE, SCENARIO, counterexample_path

MOST_CASES: Final = 100
"""Failing cases that a bundle holds, the first ones."""

Body = Mapping[str, Any]


@dataclass(slots=True)
class Step:
    """The receipts of one step of a run, as far as they have come.

    Attributes:
        receipts: `(seq, type, body)` of each; the last one closes the step, or the episode after its last step.
    """

    receipts: list[tuple[int, str, Body]] = field(default_factory=list)

    def bodies(self, type_: str) -> list[Body]:
        """Its receipts of a type."""
        return [body for _, found, body in self.receipts if found == type_]

    @property
    def failed_probes(self) -> list[Body]:
        """Its probes that failed, or could not be evaluated."""
        return [probe for probe in self.bodies("probe") if probe["verdict"] in (Verdict.FAIL, Verdict.ERROR)]

    def causes(self) -> set[str]:
        """What failed in it, each by what it is and its name.

        Raises:
            KeyError, TypeError, AttributeError: A receipt is not what it must be.
        """
        _, type_, body = self.receipts[-1]
        found = {_cause("probe", probe["probe"]) for probe in self.failed_probes}
        found |= {_cause("invariant", breach["invariant"]) for breach in body.get("violations", ())}
        if type_ == "error":
            found.add(_cause("error", body["code"]))
        elif type_ == "step":
            errors = [decision["error"] for decision in body["decisions"]]
            found |= {_cause("error", error["code"]) for error in errors if error is not None}
            found |= {"progress"} if body["chosen"] is None else set()
        return found


class Steps:
    """Takes the receipts of a run one by one and gives the steps, each with all that belongs to it."""

    def __init__(self) -> None:
        """Begin before the first receipt."""
        self._step = Step()

    def add(self, seq: int, type_: str, body: Body) -> Step | None:
        """Take one receipt; if it closes a step, or an episode after its last one, that is returned."""
        if type_ == "episode":
            self._step = Step()
        elif type_ not in ("start", "end"):
            self._step.receipts.append((seq, type_, body))
        if type_ not in ("step", "error", "episode_end"):
            return None
        step, self._step = self._step, Step()
        return step


def counterexamples(kind: str, lines: Iterable[bytes]) -> dict[str, bytes]:
    """The files of the failing cases, by their paths in the bundle.

    Args:
        kind: What was run.
        lines: The receipts, in order and without their newlines.

    Raises:
        KeyError, TypeError, AttributeError: A receipt is not what it must be.
    """
    if kind not in _CASES:
        return {}
    known: set[str] = set()
    kept = islice((case for case in _CASES[kind](_told(lines)) if _is_new(case, known)), MOST_CASES)
    return {counterexample_path(receipts[-1][0]): _document(causes, receipts) for causes, receipts in kept}


def may_fail(kind: str, result: Mapping[str, Any]) -> bool:
    """Whether receipts that add up to a result can show a failing case; if not, none of them needs to be read."""
    if kind == SCENARIO:
        return result["verdict"] != Verdict.PASS or bool(result["warnings"])
    return kind in _CASES and result.get("status", "FAIL") == "FAIL"


def _cause(noun: str, name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{type(name).__name__} stands where a name should")
    return f"{noun}:{name}"


_Case = tuple[set[str], list[tuple[int, str, Body]]]


def _told(lines: Iterable[bytes]) -> Iterator[tuple[int, str, Body]]:
    for seq, line in enumerate(lines):
        receipt: Any = parse_canonical(line, limit=MAX_LINE)
        yield seq, receipt["type"], receipt["body"]


def _is_new(case: _Case, known: set[str]) -> bool:
    new = case[0] - known
    known |= new
    return bool(new)


def _document(causes: set[str], receipts: list[tuple[int, str, Body]]) -> bytes:
    told = [{"seq": seq, "type": type_, "body": body} for seq, type_, body in receipts]
    return canonical_bytes({"causes": sorted(causes, key=str.encode), "receipts": told}) + b"\n"


def _of_run(told: Iterable[tuple[int, str, Body]]) -> Iterator[_Case]:
    steps = Steps()
    for one in told:
        step = steps.add(*one)
        if step is not None:
            yield step.causes(), step.receipts


def _of_law(told: Iterable[tuple[int, str, Body]]) -> Iterator[_Case]:
    for one in told:
        if one[1] == "verdict" and one[2]["verdict"]["counterexample"] is not None:
            yield {_cause("law", one[2]["verdict"]["law"])}, [one]


def _of_discovery(told: Iterable[tuple[int, str, Body]]) -> Iterator[_Case]:
    for one in told:
        verdict = one[2]["verdict"] if one[1] in ("law", "escalation") else None
        if verdict is not None and verdict["counterexample"] is not None:
            yield {_cause("law", one[2]["law"])}, [one]


_CASES: Final = {SCENARIO: _of_run, "law": _of_law, "discovery": _of_discovery}
"""By the kind of a bundle how its failing cases are found; a suite's are those of its runs."""
