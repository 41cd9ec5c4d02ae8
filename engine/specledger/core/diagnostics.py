"""Diagnostics: findings with a place, what was expected, a hint, and a stable code.

Findings are collected, ordered, de-duplicated, explained and shown; no text of a document can control a terminal. Each
package registers the codes that it emits.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any, TypedDict, Unpack

from msgspec import Struct
from msgspec.structs import astuple, replace

from specledger.core.spans import Position, Span

_CODE = re.compile(r"[EW](_[A-Z0-9]+)+")
_LINE_BREAK = re.compile(r"\r\n|\r|\n")  # the breaks that a place's line number counts
# Controls, invisible and direction-changing characters, line separators, surrogates, tags. A fixed list, because the
# categories of `unicodedata` differ between Python versions.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_MAX_SHOWN = 1000  # characters of one message, hint or path
_MAX_WORD = 64  # characters; difflib is quadratic in them
_MAX_CANDIDATES = 500  # names that a misspelt one is compared with
_EXCERPT = 100  # characters of a source line
_BEFORE_CARET = 40  # of those, kept before the caret when the line is cut
_TAB = "    "


class Severity(StrEnum):
    """Whether a finding stops the work."""

    ERROR = "error"
    WARNING = "warning"


_TITLES: dict[str, str] = {}


def code(name: str, title: str) -> str:
    """Register a diagnostic code with its title, once, in the package that emits it; `docs/codes.yaml` has its page.

    Raises:
        ValueError: The name is malformed, or is already registered with another title.
    """
    if not _CODE.fullmatch(name):
        raise ValueError(f"a diagnostic code looks like E_YAML_DUPLICATE_KEY, not {name!r}")
    if _TITLES.setdefault(name, title) != title:
        raise ValueError(f"diagnostic code {name} is registered twice with different titles")
    return name


def title_of(name: str) -> str | None:
    """The title of a code, or None if no imported package has registered it."""
    return _TITLES.get(name)


def coded(name: str, text: str) -> str:
    """A code and a text: why something was left out or could not be used, as records keep it.

    Raises:
        ValueError: The code is not registered.
    """
    _demand_registered(name)
    return f"{name}: {text}"


def _demand_registered(name: str) -> None:
    if name not in _TITLES:
        raise ValueError(f"diagnostic code {name} is not registered")


def codes() -> Mapping[str, str]:
    """All registered titles by code, in the order of the codes, read-only."""
    return MappingProxyType(dict(sorted(_TITLES.items())))


class Diagnostic(Struct, frozen=True):
    """One finding.

    Attributes:
        message: One sentence without a full stop.
        span: Where it was found, or None where there is no place.
        severity: Whether it stops the work.
        related: Other places, each with what is there.
        source: The text that the place is in, if it is in no file.
    """

    code: str
    message: str
    span: Span | None = None
    hint: str | None = None
    severity: Severity = Severity.ERROR
    expected: str | None = None
    found: str | None = None
    related: tuple[tuple[str, Span], ...] = ()
    source: str | None = None

    def __post_init__(self) -> None:
        """Refuse a code that is not registered."""
        _demand_registered(self.code)

    def __reduce__(self) -> tuple[Callable[..., Diagnostic], tuple[Any, ...]]:
        """Pickled with the title, for a process that has not imported the package which registers the code."""
        return _unpickled, (_TITLES[self.code], *astuple(self))


def _unpickled(title: str, code_: str, *rest: Any) -> Diagnostic:
    return Diagnostic(code(code_, title), *rest)


class _Details(TypedDict, total=False):
    hint: str | None
    expected: str | None
    found: str | None
    related: tuple[tuple[str, Span], ...]


class Rejected(Exception):  # noqa: N818 - the outcome of user mistakes, not an engine error
    """Carries all findings of a stage to an entry point; whatever reads input may raise it."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        """Each finding on a line, without excerpts."""
        return "\n".join(_headline(diagnostic) for diagnostic in self.diagnostics)


def missing_package(code: str, package: str, extra: str) -> Rejected:
    """The exception about a package that is not installed, with the command that installs it."""
    message = f"the package `{package}` is not installed: pip install 'specledger[{extra}]'"
    return Rejected([Diagnostic(code, message, hint=f"in a checkout of the repository: pip install -e '.[{extra}]'")])


MOST_FINDINGS = 1000
"""The number of findings after which reading stops."""

E_FINDINGS = code("E_FINDINGS", "more findings than anybody reads")


class Diagnostics:
    """A collector of findings, read in the order of file and position; those that differ in `related` alone are one."""

    def __init__(self, most: int | None = None) -> None:
        """Begin with no findings; with `most`, more than that many end the reading."""
        self.refused: set[str] = set()  # names, functions as `f()`, params as `$p`: their uses are no other findings
        self._found: dict[Diagnostic, Diagnostic] = {}
        self._keys: set[tuple[str, str, Span | None]] = set()
        self._most = most

    def add(self, diagnostic: Diagnostic) -> None:
        """Collect one finding.

        Raises:
            Rejected: There are more than there may be; it carries E_FINDINGS too.
        """
        key = replace(diagnostic, related=())
        if key in self._found:
            return
        if self._most is not None and len(self._found) >= self._most:
            message = f"there are more than {self._most} findings, and the others were not looked for"
            raise Rejected([Diagnostic(E_FINDINGS, message), *self.sorted()])
        self._found[key] = diagnostic
        self._keys.add((diagnostic.code, diagnostic.message, diagnostic.span))

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Collect several findings."""
        for diagnostic in diagnostics:
            self.add(diagnostic)

    def error(self, code: str, message: str, span: Span | None = None, **details: Unpack[_Details]) -> None:
        """Collect an error; the arguments are the attributes of `Diagnostic`."""
        self.add(Diagnostic(code, message, span, severity=Severity.ERROR, **details))

    def warn(self, code: str, message: str, span: Span | None = None, **details: Unpack[_Details]) -> None:
        """Collect a warning; the arguments are the attributes of `Diagnostic`."""
        self.add(Diagnostic(code, message, span, severity=Severity.WARNING, **details))

    def contains(self, code: str, message: str, span: Span | None) -> bool:
        """Whether there is a finding of this code, message and place, whatever else it says."""
        return (code, message, span) in self._keys

    def relates(self, code: str, span: Span | None) -> bool:
        """Whether a finding of this code names a place as the one that it comes from."""
        return any(found.code == code and any(at == span for _, at in found.related) for found in self._found.values())

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error."""
        return any(diagnostic.severity is Severity.ERROR for diagnostic in self._found.values())

    def sorted(self) -> tuple[Diagnostic, ...]:
        """The findings by file, position, code and message, whatever the order of collection; without a place first."""
        return tuple(sorted(self._found.values(), key=_order))

    def raise_if_errors(self) -> None:
        """Raise all findings if one of them is an error."""
        if self.has_errors:
            raise Rejected(self.sorted())


def _order(diagnostic: Diagnostic) -> tuple[str, Position, Position, str, str, str, str]:
    span = diagnostic.span or Span("", Position(0, 0), Position(0, 0))
    rest = (diagnostic.severity.value, diagnostic.code, diagnostic.message)
    return (span.file, span.start, span.end, *rest, repr(diagnostic))


def suggest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that was probably meant by a misspelt word, or None if none is near; letter case does not count.

    Among equally near candidates the choice depends on their spelling only, never on their order. Among very many
    nothing is looked for.
    """
    names = {*islice(candidates, _MAX_CANDIDATES + 1)}
    if len(word) > _MAX_WORD or len(names) > _MAX_CANDIDATES:
        return None
    by_fold = {name.casefold(): name for name in sorted(names, reverse=True) if len(name) <= _MAX_WORD}
    near = difflib.get_close_matches(word.casefold(), by_fold, n=1, cutoff=0.6)
    return by_fold[near[0]] if near else None


def counted(number: int, noun: str) -> str:
    """A number with its noun, of which the plural ends in s, or in ies for y."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def printable(text: str, most: int = _MAX_SHOWN) -> str:
    r"""The text on one line with every character that could steer a terminal or hide itself written as an escape.

    Escapes control characters (so ANSI sequences too), bidirectional overrides, zero-width and other invisible
    characters, line separators and lone surrogates, as `\x1b`, `\u202e` or `\U000e0001`. Keeps at most 1000
    characters, or as many as `most` says.
    """
    shown = _UNSAFE.sub(_escape, text[:most])
    return shown if len(text) <= most else shown + "..."


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def render(diagnostic: Diagnostic, source: Callable[[str], str | None]) -> str:
    """The finding as plain text for people; `source` gives the text of a file by the name in its spans, or None.

    Returns:
        `file:line:column: error[E_X]: message`, then the line with carets below the range, then what was expected,
        found and hinted, then the related places.
    """
    lines = [_headline(diagnostic)]
    if diagnostic.span is not None:
        text = source(diagnostic.span.file) if diagnostic.source is None else diagnostic.source
        lines += _excerpt(diagnostic.span, text)
    notes = (("expected", diagnostic.expected), ("found", diagnostic.found), ("hint", diagnostic.hint))
    lines += [f"  {label}: {printable(text)}" for label, text in notes if text is not None]
    for text, span in diagnostic.related:
        lines.append(f"{_label(span)}: note: {printable(text)}")
        lines += _excerpt(span, source(span.file))
    return "\n".join(lines)


def _label(span: Span) -> str:
    return f"{printable(span.file)}:{span.start.line}:{span.start.column}"


def _headline(diagnostic: Diagnostic) -> str:
    headline = f"{diagnostic.severity.value}[{diagnostic.code}]: {printable(diagnostic.message)}"
    return headline if diagnostic.span is None else f"{_label(diagnostic.span)}: {headline}"


def _excerpt(span: Span, text: str | None) -> list[str]:
    """The first line of the span and its caret line, or nothing where the text has no such line."""
    rows = () if text is None else _rows(text)
    if not 1 <= span.start.line <= len(rows):
        return []
    row = rows[span.start.line - 1]
    first = min(span.start.column - 1, len(row))
    last = min(span.end.column - 1, len(row)) if span.end.line == span.start.line else len(row)
    left = 0 if len(row) <= _EXCERPT else max(0, min(first - _BEFORE_CARET, len(row) - _EXCERPT))
    right = min(len(row), left + _EXCERPT)
    head, tail = ("..." if left else ""), ("..." if right < len(row) else "")
    cells = [_TAB if character == "\t" else printable(character) for character in row[left:right]]
    indent = len(head) + sum(map(_width, cells[: first - left]))
    carets = max(1, sum(map(_width, cells[first - left : max(first, last) - left])))
    number = str(span.start.line)
    return [
        f"{number} | {head}{''.join(cells)}{tail}",
        f"{' ' * len(number)} | {' ' * indent}{'^' * carets}",
    ]


@lru_cache(maxsize=16)
def _rows(text: str) -> tuple[str, ...]:
    """The lines of a text, of which many findings may show one."""
    return tuple(_LINE_BREAK.split(text))


def _width(cell: str) -> int:
    """Columns that a terminal gives to a cell: two for a wide character, none for a combining one."""
    if len(cell) != 1 or cell.isascii():
        return len(cell)
    if unicodedata.combining(cell):
        return 0
    return 2 if unicodedata.east_asian_width(cell) in "WF" else 1
