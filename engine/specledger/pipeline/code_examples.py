"""An example for each diagnostic code, from the documentation: `docs/codes.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from specledger.core.diagnostics import Diagnostics
from specledger.load.input_filter import read_text
from specledger.load.shipped import find_docs
from specledger.load.yaml_reader import parse

FILE: Final = "codes.yaml"


def example_of(code: str) -> str | None:
    """What causes a code: what is wrong in a spec and what is right instead, or a sentence; None if there is none."""
    folder = find_docs()
    example = None if folder is None else examples(folder / FILE).get(code)
    if not isinstance(example, tuple):
        return example
    kind, right, wrong = example
    return f"in a {kind}, instead of\n\n{_indented(right)}\n\nthis was written:\n\n{_indented(wrong or '(nothing)')}"


@cache
def examples(file: Path) -> Mapping[str, str | tuple[str, str, str]]:
    """The examples by code: a sentence; or a kind, and what is right and wrong in its first spec."""
    text = read_text(file.read_bytes(), str(file), Diagnostics())
    document = None if text is None else parse(text, str(file), Diagnostics())
    members = {} if document is None else document.root.members
    return {name: _example(node.plain()) for name, node in members.items()}


def _example(value: object) -> str | tuple[str, str, str]:
    if not isinstance(value, list):
        return str(value)
    kind, right, wrong = map(str, value)
    return kind, right, wrong


def _indented(text: str) -> str:
    return "\n".join(f"    {line.strip()}" if "\n" not in text else f"    {line}" for line in text.split("\n"))
