"""Replay: the run made again from its recorded specs, and its receipts compared byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final

from engine.compile.plan import Plan
from engine.compile.scenario import compile_scenario
from engine.core.canonical import NotCanonical, parse_canonical
from engine.core.diagnostics import Rejected
from engine.evidence.chain import Chain, run_id
from engine.load import Bundle, bundle_from_document
from engine.run.loop import run
from engine.verify.checks import E_REPLAY, E_SPECS, Broken

_DIGEST: Final = re.compile(r"[0-9a-f]{32}|[0-9a-f]{64}")


class _Absent:
    """Stands for a field that only one of two receipts has."""

    def __repr__(self) -> str:
        return "nothing"


_ABSENT: Final = _Absent()


def rebuild(document: Any) -> Bundle:
    """The bundle of recorded specs, which are checked like anybody's.

    Raises:
        Broken: E_SPECS, if they are not the resolved form of a scenario.
    """
    try:
        bundle = bundle_from_document(document)
    except Rejected as rejected:
        raise _invalid(rejected) from None
    if bundle.main.kind != "scenario":
        raise Broken(E_SPECS, f"the recorded specs are those of a {bundle.main.kind}, and only scenarios are run")
    return bundle


def plan_again(bundle: Bundle) -> Plan:
    """The plan of recorded specs.

    Raises:
        Broken: E_SPECS, if they do not compile.
    """
    try:
        return compile_scenario(bundle)
    except Rejected as rejected:
        raise _invalid(rejected) from None


def _invalid(rejected: Rejected) -> Broken:
    return Broken(E_SPECS, f"the recorded specs are invalid: {rejected.diagnostics[0].message}")


def compare(plan: Plan, recorded: Iterator[bytes]) -> int:
    """Run a plan and compare every receipt.

    Returns:
        How many receipts were compared.

    Raises:
        Broken: E_REPLAY, naming the first receipt and field that differ.
    """
    chain = Chain(run_id(plan.specs))
    lines = (chain.seal(event) for event in run(plan))
    count = 0
    for made, given in zip_longest(lines, recorded):
        if made != given:
            raise Broken(E_REPLAY, first_difference(count, made, given))
        count += 1
    return count


def first_difference(number: int, made: bytes | None, given: bytes | None) -> str:
    """Words for how a recorded receipt differs from the one that replay made: its type, or a field that says much.

    Args:
        number: The receipt's number.
        made: The line that replay made, None after the last one.
        given: The recorded line, None after the last one.
    """
    if given is None:
        return f"receipt {number} is missing: replay goes on"
    if made is None:
        return f"receipt {number} is one too many: replay has ended"
    found = list(differences(made, given))
    path, left, right = min(found, key=lambda one: (one[0] != "type", is_digest(one)))
    return f"receipt {number} differs at {path}: recorded {_short(right)}, replayed {_short(left)}"


def differences(made: bytes, given: bytes) -> Iterator[tuple[str, Any, Any]]:
    """Every field in which two receipts that are not the same bytes differ, in canonical order: path, made, given."""
    try:
        recorded = parse_canonical(given, limit=len(given))
    except NotCanonical:
        recorded = given
    return _differ(parse_canonical(made, limit=len(made)), recorded, "")


def is_digest(difference: tuple[str, Any, Any]) -> bool:
    """Whether two digests differ: something that follows from another difference and says nothing by itself."""
    return all(isinstance(value, str) and _DIGEST.fullmatch(value) for value in difference[1:])


def _differ(made: Any, given: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(made, Mapping) and isinstance(given, Mapping):
        for key in sorted({*made, *given}):
            yield from _differ(made.get(key, _ABSENT), given.get(key, _ABSENT), f"{path}.{key}" if path else key)
    elif isinstance(made, list) and isinstance(given, list):
        for index, (left, right) in enumerate(zip_longest(made, given, fillvalue=_ABSENT)):
            yield from _differ(left, right, f"{path}[{index}]")
    elif type(made) is not type(given) or made != given:
        yield path or "its form", made, given


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
