"""What the documentation says about each diagnostic code, with an example: `docs/codes.yaml`."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics
from specledger.load.input_filter import read_text
from specledger.load.shipped import find_docs
from specledger.load.yaml_reader import parse

FILE: Final = "codes.yaml"


class CodePage(Struct, frozen=True):
    """The page of one diagnostic code.

    Attributes:
        example: What causes it: a sentence; or a kind, and what is right and wrong in its first spec; or nothing.
    """

    about: str = ""
    example: str | tuple[str, str, str] = ""

    def shown_example(self) -> str:
        """The example as text."""
        if isinstance(self.example, str):
            return self.example
        kind, right, wrong = self.example
        return (
            f"in a {kind}, instead of\n\n{_indented(right)}\n\nthis was written:\n\n{_indented(wrong or '(nothing)')}"
        )


def page_of(code: str) -> CodePage:
    """The page of a code; an empty one if there is none, or no documentation was installed."""
    folder = find_docs()
    return CodePage() if folder is None else read_pages(folder / FILE).get(code, CodePage())


@cache
def read_pages(file: Path) -> Mapping[str, CodePage]:
    """The pages of a file by code."""
    text = read_text(file.read_bytes(), str(file), Diagnostics())
    document = None if text is None else parse(text, str(file), Diagnostics())
    members = {} if document is None else document.root.plain()
    return {name: _page(**member) for name, member in members.items()}


def _page(about: str, example: object) -> CodePage:
    if not isinstance(example, list):
        return CodePage(about, str(example))
    kind, right, wrong = map(str, example)
    return CodePage(about, (kind, right, wrong))


def _indented(text: str) -> str:
    return "\n".join(f"    {line.strip()}" if "\n" not in text else f"    {line}" for line in text.split("\n"))
