"""What every law of a template says, in sentences: what the law fills in, and where it is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from specledger.lang.english_words import COMPARISONS, INFIX
from specledger.lang.phrases import code, quoted
from specledger.lang.statement import Statement, listed
from specledger.load import Bundle
from specledger.wings.laws.claim_parser import read_time
from specledger.wings.laws.explained import CELLS, when
from specledger.wings.laws.spec.template import Template

_SORTS: Final = {"int": "a number", "bool": "a condition"}


def template(bundle: Bundle) -> Iterator[Statement]:
    """Its parts and fields, then its claim."""
    model = bundle.main.model
    assert isinstance(model, Template)  # noqa: S101 - it was loaded as one
    for name, part in model.parts.items():
        moments = listed("a fixed step" if moment == "fixed" else code(moment) for moment in part.reads)
        yield Statement(f"A law of this form gives {code(name)}, {_SORTS[part.sort]} that may read {moments}")
    if model.needs:
        yield Statement(f"Such a law gives {listed(map(code, model.needs))}")
    steps = model.for_all.t
    head = f"At every step from {steps.first} to {code(steps.last)}"
    head += " and in every cell" if model.for_all.i else ""
    if model.antecedent is not None:
        head += f" at which {_said(model.antecedent, clause=True)}"
    if model.within is not None:
        head += f", there or at most {code(model.within)} steps later"
    claim = model.claim if model.holds is None else model.holds
    yield Statement(f"{head}, it must be so that {_said(claim, clause=True)}")


def _said(pattern: Any, *, clause: bool = False) -> str:
    """A piece of a claim as it is said inside a sentence; a part that is a whole clause holds."""
    if "part" in pattern:
        moment = pattern.get("at", "t")
        part = code(pattern["part"]) + ("" if moment == "t" else f" at {code(moment)}")
        return f"{part} holds" if clause else part
    if "field" in pattern:
        return code(pattern["field"])
    if "const" in pattern:
        return _constant(pattern["const"])
    if "obs" in pattern:
        return (CELLS.get(pattern["obs"]) or code(pattern["obs"])) + when(read_time(pattern["t"]))
    return _operation(pattern)


def _constant(value: Any) -> str:
    if isinstance(value, Mapping):
        return _said(value)
    return quoted(value) if isinstance(value, str) else str(value)


def _operation(pattern: Mapping[str, Any]) -> str:
    op = pattern["op"]
    if op == "not":
        return f"it is not so that {_said(pattern['arg'], clause=True)}"
    logical = op in ("=>", "and", "or")
    left, right = (_said(pattern[side], clause=logical) for side in ("lhs", "rhs"))
    if op == "=>":
        return f"if {left}, then {right}"
    if isinstance(op, Mapping):
        return f"the comparison {_said(op)} holds between {left} and {right}"
    return f"{left} {op if logical else COMPARISONS.get(op) or INFIX[op]} {right}"
