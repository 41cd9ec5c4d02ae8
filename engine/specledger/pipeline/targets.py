"""The files that the targets of `spec check` mean: files, names, folders, and glob patterns."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path
from stat import S_ISREG
from typing import Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic, code
from specledger.evidence.layout import MANIFEST, RECEIPTS
from specledger.load.library import SUFFIXES, is_file, show

E_CHECK_NONE = code(
    "E_CHECK_NONE",
    "there is no spec in a folder, or no file of a pattern",
    "`spec check` takes files, names, folders, which are searched for specs at any depth, and patterns such as "
    "'drafts/**/*.yaml'. In a folder a spec is a YAML file with a line like `spec: world/v1`; hidden folders, "
    "evidence bundles, `node_modules` and the like are skipped. Checking nothing is not a pass.",
)

_HEAD: Final = re.compile(rb"^[\"']?\w+[\"']?[ ]*:[ ]*[\"']?[a-z][a-z_-]*/v?[0-9]+[\"']?[ ]*(?:#.*)?\r?$", re.MULTILINE)
"""A line that is the head of a spec, or one with a misspelt key."""
_SKIPPED: Final = {"node_modules", "__pycache__", "venv", "site-packages"}


class Targets(Struct, frozen=True):
    """What a command line asks to check.

    Attributes:
        files: Files and names, each once, in the order of the arguments and then of their paths.
        skipped: YAML files in folders that hold no spec.
        findings: E_CHECK_NONE for each target without any file.
    """

    files: tuple[str, ...]
    skipped: tuple[str, ...]
    findings: tuple[Diagnostic, ...]


def expand_targets(targets: Sequence[str]) -> Targets:
    """Replace folders and patterns by the files in them; files and names stay as they are."""
    files: dict[str, None] = {}
    skipped: dict[str, None] = {}
    findings = []
    for target in targets:
        found, passed = _expand(target)
        files |= dict.fromkeys(found)
        skipped |= dict.fromkeys(passed)
        if not found:
            what = "file of the pattern" if has_magic(target) else "spec in"
            findings.append(Diagnostic(E_CHECK_NONE, f"there is no {what} {target}"))
    return Targets(tuple(files), tuple(one for one in skipped if one not in files), tuple(findings))


def _expand(target: str) -> tuple[list[str], list[str]]:
    """The files of one target, and the YAML files in its folders that are no specs."""
    if os.path.isdir(target):
        return _split(_walk(Path(target)))
    if not has_magic(target) or is_file(Path(target)):
        return [target], []
    matches = sorted(map(Path, glob(target, recursive=True)))
    inside = [file for match in matches if match.is_dir() and not _is_bundle(match) for file in _walk(match)]
    specs, others = _split(iter(inside))
    return [*(show(match) for match in matches if match.is_file()), *specs], others


def _split(files: Iterator[Path]) -> tuple[list[str], list[str]]:
    specs: list[str] = []
    others: list[str] = []
    for file in files:
        (specs if _looks_like_spec(file) else others).append(show(file))
    return specs, others


def _walk(folder: Path) -> Iterator[Path]:
    """The YAML files below a folder, in the order of their paths; links to folders are not followed."""
    for place, folders, names in os.walk(folder):
        here = Path(place)
        kept = (name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        folders[:] = sorted(name for name in kept if not _is_bundle(here / name))
        yield from (here / name for name in sorted(names) if name.endswith(SUFFIXES) and not name.startswith("."))


def _is_bundle(folder: Path) -> bool:
    return all(is_file(folder / name) for name in (MANIFEST, RECEIPTS))


def _looks_like_spec(file: Path) -> bool:
    """Whether a file seems to be a spec; one that cannot be read is checked, so that its finding says why."""
    try:
        if not S_ISREG(file.stat().st_mode):
            return False  # a pipe or a device would be waited for
        with file.open("rb") as stream:
            return _HEAD.search(stream.read(4096)) is not None
    except OSError:
        return True
