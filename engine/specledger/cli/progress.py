"""A progress bar on the standard error of a terminal, and nothing anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_WIDTH: Final = 30


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function that draws (done, most), or None where no terminal looks on; clear the line at the end."""
    if sys.stderr is None or not sys.stderr.isatty():
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
