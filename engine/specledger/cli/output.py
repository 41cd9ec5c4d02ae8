"""Printing: text for people, JSON, the formats of other tools, findings, and a progress bar; colour and verbosity.

Output options are read from the raw command line, so that they also apply to usage errors.
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import wraps
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO, TypeVar, cast

import typer
from msgspec import Struct

from specledger.cli.options import OutputFormat
from specledger.core.canonical import pretty
from specledger.core.diagnostics import Diagnostic, counted, printable, render, title_of
from specledger.core.spans import read_source
from specledger.report.formats import FORMATS, Output

if TYPE_CHECKING:
    from specledger.load import Bundle

_PANEL: Final = "Output"


class Color(StrEnum):
    """When output is coloured."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


_Color = Annotated[Color, typer.Option("--color", rich_help_panel=_PANEL, help="Colour; auto is for terminals only.")]
_Quiet = Annotated[
    bool,
    typer.Option("-q", "--quiet", rich_help_panel=_PANEL, help="Print only what is wrong, and what was asked for."),
]
_Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", rich_help_panel=_PANEL, help="Explain each finding, and name the files read.")
]
_SHARED: Final[Mapping[str, tuple[Any, Any]]] = {
    "color": (_Color, Color.AUTO),
    "quiet": (_Quiet, False),
    "verbose": (_Verbose, False),
}

_Command = TypeVar("_Command", bound=Callable[..., Any])


def with_output_options(command: _Command) -> _Command:
    """The command with the options of every command, which `Terminal` reads."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        return command(*arguments, **{name: value for name, value in options.items() if name not in _SHARED})

    signature = inspect.signature(command, eval_str=True)
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _SHARED.items()
    ]
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *more])  # type: ignore[attr-defined]
    run.__annotations__ = {**command.__annotations__, **{parameter.name: parameter.annotation for parameter in more}}
    return cast(_Command, run)


class Terminal(Struct, frozen=True):
    """How a command prints.

    Attributes:
        quiet: Whether only findings and requested results are printed.
        verbose: Whether findings are explained and read files named.
        plain: Whether the environment forbids colour if no option decides; `forced` is whether it demands colour.
    """

    color: str
    quiet: bool
    verbose: bool
    plain: bool
    forced: bool

    @classmethod
    def of(cls, words: Sequence[str], environment: Mapping[str, str]) -> Terminal:
        """Read a command line and the environment (NO_COLOR, FORCE_COLOR, TERM)."""
        options = [word for word in words if word.startswith("-")]
        return cls(
            color=_last_value(words, "--color") or Color.AUTO,
            quiet="-q" in options or "--quiet" in options,
            verbose="-v" in options or "--verbose" in options,
            plain=bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb",
            forced=bool(environment.get("FORCE_COLOR")),
        )

    def colors(self, stream: TextIO) -> bool:
        """Whether text on a stream is coloured."""
        if self.color in (Color.ALWAYS, Color.NEVER):
            return self.color == Color.ALWAYS
        return not self.plain and (self.forced or stream.isatty())


_STYLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "carets": {"fg": "red"},
    "note": {"fg": "cyan"},
    "good": {"fg": "green"},
    "bad": {"fg": "red", "bold": True},
    "unsure": {"fg": "yellow"},
}
_PAINTED: Final = (
    r"(?P<error>\berror\[\w+\])|(?P<warning>\bwarning\[\w+\])|(?P<carets>(?<=\| )[ ]*\^+$)"
    r"|(?P<note>^  (?:hint|expected|found):)|(?P<good>\b(?:PASS|PROVED|VERIFIED)\b|^ok\b|^(?:\d+\. )?ok\b)"
    r"|(?P<bad>\b(?:FAIL|FAILED|REFUTED|VIOLATES|ERROR)\b)"
    r"|(?P<unsure>\b(?:INCONCLUSIVE|UNKNOWN|NOT DECIDED)\b|^not decided\b)"
)


def paint(text: str) -> str:
    """Text for people with its findings and verdicts in colour."""
    return re.sub(_PAINTED, lambda match: typer.style(match[0], **_STYLES[str(match.lastgroup)]), text, flags=re.M)


_WIDTH: Final = 30


def terminal() -> Terminal:
    """How this command prints."""
    return Terminal.of(sys.argv, os.environ)


def print_text(text: str) -> None:
    """Print one piece of text for people on standard output."""
    _write(sys.stdout, _painted(sys.stdout, text) + "\n")


_DIGEST: Final = re.compile(r"\b[0-9a-f]{64}\b")
_DIGITS: Final = 12
"""Digits of a digest on a line for people."""


_COMPARED: Final = re.compile(r" *(specs|recording) ")
"""How a line begins whose digest readers compare with one from elsewhere."""


def with_short_digests(text: str) -> str:
    """Text with the first digits of its SHA-256 digests, but for those that readers compare; `--verbose`: as it is."""
    return text if terminal().verbose else "\n".join(map(_shortened, text.split("\n")))


def _shortened(line: str) -> str:
    return line if _COMPARED.match(line) else _DIGEST.sub(lambda match: match[0][:_DIGITS] + "\u2026", line)


def columns() -> int | None:
    """How many characters fit on a line of standard output; None if it is no terminal."""
    wide = sys.stdout is not None and (sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit())
    return shutil.get_terminal_size().columns if wide else None


def fitted(text: str) -> str:
    """Text whose lines fit the terminal: longer ones go on below where their last column begins."""
    width = columns()
    return text if width is None else "\n".join(part for line in text.split("\n") for part in _folded(line, width))


def _folded(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    starts = [match.end() for match in re.finditer(r"\S {2,}(?=\S)", line) if match.end() <= width // 2]
    indent = starts[-1] if starts else len(line) - len(line.lstrip()) + 2
    head, tail = line[:indent], line[indent:]
    parts = textwrap.wrap(tail, max(width - indent, 20), break_long_words=False, break_on_hyphens=False)
    return [head + parts[0], *(" " * indent + part for part in parts[1:])] if parts else [line]


def print_status(text: str) -> None:
    """Print on standard output a note that can be skipped; nothing with `--quiet`."""
    if not terminal().quiet:
        print_text(text)


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    _write(sys.stdout, pretty(_encodable(value)))


def print_error(text: str) -> None:
    """Print one piece of text on standard error; if it cannot be written, the exit code is not affected."""
    with suppress(OSError):
        _write(sys.stderr, _painted(sys.stderr, text) + "\n")


def print_sources(bundles: Iterable[Bundle]) -> None:
    """With `--verbose`, print on standard error the specs of each case and their files."""
    if terminal().verbose:
        for bundle in bundles:
            for key, spec in bundle.specs.items():
                print_error(printable(f"{bundle.main.name}: {key.partition('@')[0]} {spec.span('spec').file}"))


def _painted(stream: TextIO | None, text: str) -> str:
    return paint(text) if stream is not None and terminal().colors(stream) else text


def _write(stream: TextIO | None, text: str) -> None:
    """Write to a stream; a closed stream or one without a reader is no error.

    Raises:
        OSError: It cannot be written for another reason.
    """
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # Python flushes once more at exit
        if not isinstance(error, BrokenPipeError):
            raise


def diagnostics_text(diagnostics: Iterable[Diagnostic]) -> str:
    """Findings with their excerpts, and their count."""
    findings = list(diagnostics)
    errors = sum(1 for diagnostic in findings if diagnostic.severity == "error")
    warnings = f", {counted(len(findings) - errors, 'warning')}" if len(findings) > errors else ""
    closing = f"{counted(errors, 'error')}{warnings}. `spec explain CODE` says more about a code."
    explanations = []
    if terminal().verbose:
        from specledger.load.doc_pages import page_of

        explanations = [
            f"{code}: {title_of(code)}\n{page_of(code).about}"
            for code in dict.fromkeys(finding.code for finding in findings)
        ]
    return "\n\n".join([*(render(diagnostic, read_source) for diagnostic in findings), *explanations, closing])


def diagnostics_json(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Findings as JSON values."""
    return [
        {
            "code": diagnostic.code,
            "severity": diagnostic.severity.value,
            "message": diagnostic.message,
            "file": diagnostic.span.file if diagnostic.span else None,
            "line": diagnostic.span.start.line if diagnostic.span else None,
            "column": diagnostic.span.start.column if diagnostic.span else None,
            "expected": diagnostic.expected,
            "found": diagnostic.found,
            "hint": diagnostic.hint,
        }
        for diagnostic in diagnostics
    ]


def _encodable(value: Any) -> Any:
    """A JSON value without lone surrogates, which file names can contain; they become escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [_encodable(element) for element in value]
    if isinstance(value, dict):
        return {_encodable(key): _encodable(member) for key, member in value.items()}
    return value


def write_output(output: Output, out: Path | None = None) -> None:
    """Write the output of a format: files into a folder, a step summary, and a text to a file or standard output."""
    for path, data in output.files.items():
        file = (out or Path()) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        _save(file, data)
    if output.summary:
        _write_summary(output.summary, out)
    if not output.files:
        write_text(output.text, None if output.summary else out)


def write_findings(
    format_: str, findings: Sequence[Diagnostic], passed: Sequence[str] = (), *, about: str, not_run: bool = False
) -> None:
    """Write findings, and what passed, to standard output in a format of reports; `about` is the id of the check."""
    from specledger.report.model import Report

    write_output(FORMATS[format_].write(Report.from_findings(findings, passed, about, not_run)))


def write_text(text: str, out: Path | None = None) -> None:
    """Write a text to a file, or to standard output."""
    if out is not None:
        _save(out, text.encode("utf-8"))
    elif text:
        _write(sys.stdout, text.removesuffix("\n") + "\n")


def _save(path: Path, data: bytes) -> None:
    """Write a file; if that fails, as on a full disk, a new file is removed."""
    new = not path.exists()
    try:
        path.write_bytes(data)
    except OSError:
        if new:
            path.unlink(missing_ok=True)
        raise


def _write_summary(text: str, out: Path | None = None) -> None:
    """Write the step summary to a file, else to the file that GitHub names, if any."""
    given = os.environ.get("GITHUB_STEP_SUMMARY")
    if out is not None:
        _save(out, text.encode("utf-8"))
    elif given:
        with Path(given).open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)


def print_refusal(diagnostics: Sequence[Diagnostic]) -> None:
    """Print why a command has no result: on standard error, and in the requested format on standard output."""
    shown = _last_value(sys.argv, "--format")
    with suppress(OSError):  # standard error says the same
        if shown == OutputFormat.JSON:
            print_json({"diagnostics": diagnostics_json(diagnostics)})
        elif shown in (OutputFormat.JUNIT, OutputFormat.SARIF, OutputFormat.GITHUB):
            write_findings(shown, diagnostics, about="specledger", not_run=True)
    print_error(diagnostics_text(diagnostics))


def _last_value(words: Sequence[str], option: str) -> str:
    """The last value of an option in a command line, which may be invalid otherwise; empty without one."""
    named = [
        after if word == option else word.partition("=")[2]
        for word, after in pairwise([*words, ""])
        if word.partition("=")[0] == option
    ]
    return named[-1] if named else ""


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function that draws a progress bar if standard error is a terminal, else None; it is cleared at the end."""
    if sys.stderr is None or not sys.stderr.isatty() or terminal().quiet:
        yield None
        return
    shown = -1

    def draw(done: int, most: int) -> None:
        nonlocal shown
        filled = _WIDTH * done // max(1, most)
        percent = 100 * done // max(1, most)
        if percent != shown:
            shown = percent
            sys.stderr.write(f"\r{title} [{'#' * filled}{'.' * (_WIDTH - filled)}] {percent:3d}%")
            sys.stderr.flush()

    try:
        yield draw
    finally:
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()
