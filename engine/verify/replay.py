"""Replay: the run made again from its recorded specs, and its receipts compared byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from engine.compile.plan import Plan
from engine.compile.scenario import compile_scenario
from engine.core.canonical import parse_canonical
from engine.core.diagnostics import Rejected
from engine.evidence.chain import Chain, run_id
from engine.load import Bundle, bundle_from_document
from engine.run.loop import run
from engine.verify.checks import E_REPLAY, E_SPECS, Broken


def rebuild(document: Any) -> tuple[Bundle, Plan]:
    """The bundle and the plan of recorded specs, which are checked like anybody's.

    Raises:
        Broken: E_SPECS, if they do not load or compile.
    """
    try:
        bundle = bundle_from_document(document)
        return bundle, compile_scenario(bundle)
    except Rejected as rejected:
        raise Broken(E_SPECS, f"the recorded specs are invalid: {rejected.diagnostics[0].message}") from None


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
    """Words for the first field in which a recorded receipt differs from the one that replay made."""
    if given is None:
        return f"receipt {number} is missing: replay goes on"
    if made is None:
        return f"receipt {number} is one too many: replay has ended"
    path, left, right = _differs(parse_canonical(made), parse_canonical(given), "")
    return f"receipt {number} differs at {path or 'its root'}: recorded {_short(right)}, replayed {_short(left)}"


def _differs(made: Any, given: Any, path: str) -> tuple[str, Any, Any]:
    """The first difference in canonical order, `body` before the chain's own fields."""
    if isinstance(made, Mapping) and isinstance(given, Mapping):
        for key in sorted({*made, *given}):
            if key not in made or key not in given:
                return f"{path}.{key}".lstrip("."), made.get(key), given.get(key)
            if made[key] != given[key]:
                return _differs(made[key], given[key], f"{path}.{key}".lstrip("."))
    if isinstance(made, list) and isinstance(given, list):
        for index, (left, right) in enumerate(zip_longest(made, given)):
            if left != right:
                return _differs(left, right, f"{path}[{index}]")
    return path, made, given


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
