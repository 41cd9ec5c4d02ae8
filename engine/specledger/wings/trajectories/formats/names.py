"""Formats by their names: those of the readers that are built in, and specs of the kind `format`."""

from __future__ import annotations

from pathlib import Path

from specledger.core.diagnostics import Diagnostics, printable, suggest
from specledger.kinds import load
from specledger.load.library import SUFFIXES
from specledger.pipeline.targets import list_specs
from specledger.wings.trajectories.formats.compile import compile_format
from specledger.wings.trajectories.readers.reader import Reader
from specledger.wings.trajectories.reading import READERS


def known_formats() -> list[str]:
    """The names of formats: of readers, then of the specs of the project and those that are shipped."""
    return [*READERS, *(spec.name for spec in list_specs("format"))]


def reader_named(name: str) -> Reader:
    """The reader of a format: one that is built in, or of a spec by its name or file.

    Raises:
        LookupError: There is no such format.
        Rejected: The spec has errors.
    """
    if name in READERS:
        return READERS[name]
    known = known_formats()
    if name not in known and Path(name).suffix not in SUFFIXES:
        near = suggest(name, known)
        hint = f"did you mean {near}?" if near else f"formats are {', '.join(known)}"
        raise LookupError(f"there is no format {printable(name)}; {hint}")
    return compile_format(load(name, kind="format")[0].main, Diagnostics())
