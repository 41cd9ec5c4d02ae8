"""The table of report formats: each is a module whose function `write` renders a `Report` without other input."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

if TYPE_CHECKING:
    from specledger.report.model import Report


class Options(Struct, frozen=True):
    """Options of formats.

    The day is `YYYY-MM-DD`; `sources` is the folder of specs, for places in files; a whole folder holds every
    counterexample.
    """

    date: str | None = None
    sources: Path | None = None
    episode: int = 0
    whole: bool = False

    def file_of(self, key: str | None) -> str | None:
        """The file of a spec, by its key, below the folder of sources, with slashes; None if it is not known."""
        if key is None or self.sources is None:
            return None
        kind, _, name = key.partition("@")[0].partition("/")
        file = self.sources / kind / f"{name}.yaml"
        return file.as_posix() if file.is_file() else None


DEFAULTS: Final = Options()


class Output(Struct, frozen=True):
    """The output of a format: a text, the step summary of a continuous integration service, or files by their path."""

    text: str = ""
    summary: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)


class Format(Struct, frozen=True):
    """One row of the table.

    Attributes:
        module: The module in this package that has `write(report, options)`; imported on use.
        several: Whether a report of several bundles or of a profile can be written.
        folder: Whether the output is a folder of files.
    """

    module: str
    several: bool = True
    folder: bool = False

    def write(self, report: Report, options: Options = DEFAULTS) -> Output:
        """The report in this format; Rejected if the evidence has no such report, or its receipts are malformed."""
        output: Output = import_module(f"{__name__}.{self.module}").write(report, options)
        return output


FORMATS: Final[Mapping[str, Format]] = {
    "svg": Format("svg", several=False),
    "markdown": Format("markdown"),
    "folder": Format("folder", several=False, folder=True),
    "html": Format("html"),
    "index": Format("index", folder=True),
    "json": Format("json_document"),
    "junit": Format("junit"),
    "sarif": Format("sarif"),
    "oscal": Format("oscal"),
    "github": Format("github"),
    "in-toto": Format("in_toto"),
}
