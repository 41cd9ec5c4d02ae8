"""The table of report formats: each is a module whose function `write` renders a `Report` without other input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from specledger.report.formats.output import DEFAULTS, Options, Output

__all__ = ["DEFAULTS", "FORMATS", "Format", "Options", "Output"]

if TYPE_CHECKING:
    from specledger.report.model import Report


class Format(Struct, frozen=True):
    """One row of the table.

    Attributes:
        writer: Imports the module of the format, and gives its `write(report, options)`.
        several: Whether a report of several bundles or of a profile can be written.
        folder: Whether the output is a folder of files.
        ending: The ending of a file name that means this format; none if several formats have it.
    """

    writer: Callable[[], Callable[[Report, Options], Output]]
    several: bool = True
    folder: bool = False
    ending: str = ""

    def write(self, report: Report, options: Options = DEFAULTS) -> Output:
        """The report in this format; Rejected if the evidence has no such report, or its receipts are malformed."""
        return self.writer()(report, options)


def _svg() -> Callable[[Report, Options], Output]:
    from specledger.report.formats.svg import write

    return write


def _markdown() -> Callable[[Report, Options], Output]:
    from specledger.report.formats.markdown import write

    return write


def _folder() -> Callable[[Report, Options], Output]:
    from specledger.report.formats.folder import write

    return write


def _html() -> Callable[[Report, Options], Output]:
    from specledger.report.formats.html import write

    return write


def _index() -> Callable[[Report, Options], Output]:
    from specledger.report.formats.index import write

    return write


def _json_document() -> Callable[[Report, Options], Output]:
    from specledger.report.formats.json_document import write

    return write


def _junit() -> Callable[[Report, Options], Output]:
    from specledger.report.formats.junit import write

    return write


def _sarif() -> Callable[[Report, Options], Output]:
    from specledger.report.formats.sarif import write

    return write


def _oscal() -> Callable[[Report, Options], Output]:
    from specledger.report.formats.oscal import write

    return write


def _github() -> Callable[[Report, Options], Output]:
    from specledger.report.formats.github import write

    return write


def _in_toto() -> Callable[[Report, Options], Output]:
    from specledger.report.formats.in_toto import write

    return write


FORMATS: Final[Mapping[str, Format]] = {
    "svg": Format(_svg, several=False, ending=".svg"),
    "markdown": Format(_markdown, ending=".md"),
    "folder": Format(_folder, several=False, folder=True),
    "html": Format(_html, ending=".html"),
    "index": Format(_index, folder=True),
    "json": Format(_json_document, ending=".json"),
    "junit": Format(_junit, ending=".xml"),
    "sarif": Format(_sarif, ending=".sarif"),
    "oscal": Format(_oscal),
    "github": Format(_github),
    "in-toto": Format(_in_toto),
}
