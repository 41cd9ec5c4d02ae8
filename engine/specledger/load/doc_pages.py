"""What the documentation says: of each diagnostic code (`docs/codes.yaml`), and in its tables about a name.

A row of a table says a cause, a reason, a level or a term of the glossary.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics, suggest
from specledger.load.input_filter import read_text
from specledger.load.shipped import find_docs
from specledger.load.yaml_reader import parse

FILE: Final = "codes.yaml"
REMEDIES: Final = "remedies.yaml"
GLOSSARY: Final = "glossary.md"

_SPLIT: Final = re.compile(r"(?<!\\)\|")
_LEVEL: Final = re.compile(r"^(L[0-9]) ")
_FUNCTION: Final = re.compile(r"\b([A-Za-z]\w*)\(")
_LINK: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")

_IN_A_CLONE: Final = "export PYTHONPATH=/path/to/specledger  # a clone of the repository, which has `tools`"


class CodePage(Struct, frozen=True):
    """The page of one diagnostic code.

    Attributes:
        example: What causes it: lines of a shell, the last of which gives the code; or a kind, and what is right and
            wrong in its first spec; or, of a code that has a test, a sentence; or nothing.
        files: What the commands read: texts by the paths of files.
        beside: The codes that the last command gives, too.
        test: The node id of the test that causes it, where no command does on every machine.
    """

    about: str = ""
    example: str | tuple[str, str, str] = ""
    files: Mapping[str, str] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    test: str = ""

    def commands(self) -> list[str]:
        """The lines of an example for a shell."""
        return [] if self.test or not isinstance(self.example, str) else self.example.strip("\n").split("\n")

    def shown_example(self) -> str:
        """The example as text: one command, a sentence, or lines that can be pasted into a shell, files included."""
        if isinstance(self.example, str):
            if "\n" not in self.example and not self.files:
                return self.example
            beside = f"\n\nAlso given: {', '.join(self.beside)}" if self.beside else ""
            clone = [_IN_A_CLONE] if "python -m tools." in self.example else []
            return "\n\n" + "\n".join([*clone, *starmap(_written, self.files.items()), self.example]) + beside
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
    return {name: _page(**member) for name, member in _members(file).items()}


def remedies() -> Mapping[str, str]:
    """What to do about each cause for which probes decide nothing; empty if no documentation was installed."""
    folder = find_docs()
    return {} if folder is None else _members(folder / REMEDIES)


def _members(file: Path) -> Mapping[str, Any]:
    text = read_text(file.read_bytes(), str(file), Diagnostics())
    document = None if text is None else parse(text, str(file), Diagnostics())
    return {} if document is None else document.root.plain()


def _page(
    about: str, example: object, files: Mapping[str, str] | None = None, beside: Sequence[str] = (), test: str = ""
) -> CodePage:
    page = CodePage(about, "", files or {}, tuple(beside), test)
    if not isinstance(example, list):
        return replace(page, example=str(example).removesuffix("\n"))
    kind, right, wrong = map(str, example)
    return replace(page, example=(kind, right, wrong))


def _written(name: str, text: str) -> str:
    """The lines of a shell that write a file."""
    body = text.rstrip("\n")
    return f"mkdir -p {name.rpartition('/')[0]}\n" * ("/" in name) + f"cat > {name} <<'END'\n{body}\nEND"


def _indented(text: str) -> str:
    return "\n".join(f"    {line.strip()}" if "\n" not in text else f"    {line}" for line in text.split("\n"))


class TermRow(Struct, frozen=True):
    """One row of a table.

    Attributes:
        section: The heading above the table.
        cells: The other cells, by the heads of their columns.
    """

    page: str
    section: str
    cells: Mapping[str, str]


def rows_about(term: str) -> tuple[TermRow, ...]:
    """The rows that begin with a term, those of the glossary first; none if no documentation was installed."""
    return tuple(read_terms(find_docs()).get(term.casefold(), ()))


def term_like(word: str) -> str | None:
    """The term that was probably meant by a misspelt one: one that begins with the same letter."""
    terms = [term for term in read_terms(find_docs()) if term[:1] == word[:1].casefold() and len(term) > 1]
    return suggest(word, terms)


@cache
def read_terms(folder: Path | None) -> Mapping[str, list[TermRow]]:
    """The rows of all tables of a folder of documentation, by the terms in their first cells, in lower case."""
    rows: dict[str, list[TermRow]] = {}
    files = [] if folder is None else sorted(folder.glob("*.md"), key=lambda file: (file.name != GLOSSARY, file.name))
    for file in files:
        for terms, row in _rows(file):
            for term in terms:
                rows.setdefault(term.casefold(), []).append(row)
    return rows


def _rows(file: Path) -> Iterator[tuple[list[str], TermRow]]:
    section, heads = "", list[str]()
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            heads = []
            section = line.lstrip("# ") if line.startswith("#") else section
            continue
        cells = [_plain(cell) for cell in _SPLIT.split(line.strip().removeprefix("|").removesuffix("|"))]
        if not heads:
            heads = cells
        elif not all(set(cell) <= set("-: ") for cell in cells):
            terms = [term.strip("` ") for term in cells[0].split(",")]
            terms += _LEVEL.findall(cells[0]) + _FUNCTION.findall(cells[0])
            yield terms, TermRow(file.name, section, dict(zip(heads[1:], cells[1:], strict=False)))


def _plain(cell: str) -> str:
    return _LINK.sub(r"\1", cell).replace("\\|", "|").strip()
