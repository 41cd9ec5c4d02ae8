"""What a docstring says of each attribute, for what is derived from it: schemas, explanations, pages of reference."""

import inspect
import re
from typing import Final

ATTRIBUTES: Final = "Attributes:\n"
_ATTRIBUTE: Final = re.compile(r"^    (\w+(?:, \w+)*): (.*(?:\n     .*)*)", re.MULTILINE)


def summary_of(docstring: str | None) -> str:
    """A docstring without what it says of attributes."""
    return inspect.cleandoc(docstring or "").partition(ATTRIBUTES)[0].strip()


def attributes_of(docstring: str | None) -> dict[str, str]:
    """What a docstring says of each attribute, on one line."""
    text = inspect.cleandoc(docstring or "") + "\n"
    return {
        name: " ".join(meaning.split())
        for names, meaning in _ATTRIBUTE.findall(text.partition(ATTRIBUTES)[2])
        for name in names.split(", ")
    }
