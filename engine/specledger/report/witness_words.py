"""The witness of a suite's check in units for people: what it reads of a rate as a share, of a mean as a decimal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from specledger.evidence.receipts.suite import Figure
from specledger.report.figures import MEANS, decimal, share
from specledger.report.value_words import in_words

_READ: Final = re.compile(r"\s*(\w+)\.(?:value|bound|(?:wilson|cluster)\.(?:low|high))\s*")
"""What reads a value or an end of an interval of a figure without groups."""
_EXTREME: Final = re.compile(r"\s*(?:minimum|maximum)\((\w+)\b.*\.map\((\w+), \2\.value\), -?\d+\)\s*")
"""What reads the least or the greatest value of the groups of a figure."""


def witness_words(witness: Mapping[str, Any], written: Mapping[str, Any], figures: Iterable[Figure]) -> dict[str, str]:
    """The values of a witness in words; `written` are the expressions that they come from."""
    statistics = {figure["figure"]: figure["statistic"] for figure in figures}
    return {name: _value(value, str(written.get(name, "")), statistics) for name, value in witness.items()}


def _value(value: Any, expression: str, statistics: Mapping[str, str]) -> str:
    read = _READ.fullmatch(expression) or _EXTREME.fullmatch(expression)
    statistic = statistics.get(read[1], "") if read is not None else ""
    if type(value) is int and statistic == "rate":
        return share(value)
    if type(value) is int and statistic in MEANS:
        return decimal(value)
    return in_words(value)
