"""What every format is given beside the report, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from specledger.evidence.keys import SigningKey


class Options(Struct, frozen=True):
    """Options of formats.

    The day is `YYYY-MM-DD`; `sources` is the folder of specs, for places in files; a whole folder holds every
    counterexample; with a `key` statements are signed.
    """

    date: str | None = None
    sources: Path | None = None
    episode: int = 0
    whole: bool = False
    key: SigningKey | None = None

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
