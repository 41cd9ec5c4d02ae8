"""Printing: text for people, JSON, the formats of other tools, findings, and a progress bar."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from specledger.cli.options import OutputFormat
from specledger.cli.terminal import Terminal, paint
from specledger.core.canonical import pretty
from specledger.core.diagnostics import Diagnostic, counted, explain, printable, render
from specledger.core.spans import read_source
from specledger.report.formats import FORMATS, Output

if TYPE_CHECKING:
    from specledger.load import Bundle

_WIDTH: Final = 30


def terminal() -> Terminal:
    """How this command prints."""
    return Terminal.of(sys.argv, os.environ)


def print_text(text: str) -> None:
    """Print one piece of text for people on standard output."""
    _write(sys.stdout, _painted(sys.stdout, text) + "\n")


def print_status(text: str) -> None:
    """Print on standard output a note that can be skipped; nothing with `--quiet`."""
    if not terminal().quiet:
        print_text(text)


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    _write(sys.stdout, pretty(_encodable(value)))


def print_error(text: str) -> None:
    """Print one piece of text on standard error."""
    _write(sys.stderr, _painted(sys.stderr, text) + "\n")


def print_sources(bundles: Iterable[Bundle]) -> None:
    """Print on standard error which specs each case is made of and their files, with `--verbose`."""
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
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # Python flushes once more when it ends
        if not isinstance(error, BrokenPipeError):
            raise


def diagnostics_text(diagnostics: Iterable[Diagnostic]) -> str:
    """Findings with their excerpts, and their count."""
    found = list(diagnostics)
    errors = sum(1 for diagnostic in found if diagnostic.severity == "error")
    warnings = f", {counted(len(found) - errors, 'warning')}" if len(found) > errors else ""
    closing = f"{counted(errors, 'error')}{warnings}. `spec explain CODE` says more about a code."
    pages = {one.code: explain(one.code) for one in found} if terminal().verbose else {}
    told = [f"{page.name}: {page.title}\n{page.text}" for page in pages.values() if page is not None]
    return "\n\n".join([*(render(diagnostic, read_source) for diagnostic in found), *told, closing])


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
        file.write_bytes(data)
    if output.summary:
        _write_summary(output.summary, out)
    if not output.files:
        write_text(output.text, None if output.summary else out)


def write_text(text: str, out: Path | None = None) -> None:
    """Write a text to a file, or to standard output."""
    if out is not None:
        out.write_text(text, encoding="utf-8", newline="\n")
    elif text:
        _write(sys.stdout, text.removesuffix("\n") + "\n")


def _write_summary(text: str, out: Path | None = None) -> None:
    """Write the step summary to a file, else to the one that GitHub names, else nowhere."""
    given = os.environ.get("GITHUB_STEP_SUMMARY")
    if out is not None:
        out.write_text(text, encoding="utf-8", newline="\n")
    elif given:
        with Path(given).open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)


def print_refusal(diagnostics: Sequence[Diagnostic]) -> None:
    """Print why a command has no result: on standard error, and in the requested format on standard output."""
    shown = _requested_format(sys.argv)
    if shown == OutputFormat.JSON:
        print_json({"diagnostics": diagnostics_json(diagnostics)})
    elif shown in (OutputFormat.JUNIT, OutputFormat.SARIF, OutputFormat.GITHUB):
        from specledger.report.model import Report

        write_output(FORMATS[shown].write(Report.from_findings(diagnostics, about="specledger", not_run=True)))
    print_error(diagnostics_text(diagnostics))


def _requested_format(words: Sequence[str]) -> str:
    """The last `--format` of a command line, which may be invalid otherwise."""
    named = [
        after if word == "--format" else word.partition("=")[2]
        for word, after in pairwise([*words, ""])
        if word.partition("=")[0] == "--format"
    ]
    return named[-1] if named else OutputFormat.HUMAN


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
