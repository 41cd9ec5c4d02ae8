"""The files that arguments of commands mean (files, names, folders, patterns), and the specs that have names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path
from stat import S_ISREG
from typing import Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic, Diagnostics, Rejected, code
from specledger.evidence.layout import MANIFEST, RECEIPTS
from specledger.kinds import KINDS
from specledger.load import Search
from specledger.load.document import Document
from specledger.load.library import SUFFIXES, Library, is_file, show

E_CHECK_NONE = code("E_CHECK_NONE", "there is no spec in a folder, or no file of a pattern")

_HEAD: Final = re.compile(
    rb"^(?:[\"']?\w+[\"']?[ ]*:[ ]*[\"']?([a-z][a-z_-]*)/v?[0-9]+[\"']?|spec[ ]*:[ ]*[a-z]\S*)[ ]*(?:#.*)?\r?$",
    re.MULTILINE,
)
"""A line that is the head of a spec, or one with a misspelt key or without a version."""
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
        specs, passed = _expand(target)
        files |= dict.fromkeys(specs)
        skipped |= dict.fromkeys(passed)
        if not specs:
            what = "file of the pattern" if has_magic(target) else "spec in"
            findings.append(Diagnostic(E_CHECK_NONE, f"there is no {what} {target}"))
    return Targets(tuple(files), tuple(file for file in skipped if file not in files), tuple(findings))


def expand_runs(targets: Sequence[str], may_run: Callable[[str], bool]) -> list[str]:
    """Replace folders and patterns by the specs in them that can be run; files and names stay as they are.

    A word that may be a name and is a folder without such specs stays as well.

    Args:
        targets: What the command line names.
        may_run: Whether specs of a kind can be run, or the kind is unknown.
    """
    files: dict[str, None] = {}
    findings = []
    for target in targets:
        specs, _ = _expand(target)
        if specs != [target]:
            specs = [file for file in specs if (kind := _kind_of(Path(file))) is None or may_run(kind)]
        if not specs and Path(target).parts == (target,) and os.path.isdir(target):
            specs = [target]
        files |= dict.fromkeys(specs)
        if not specs:
            message = f"there is no spec that can be run {'in' if os.path.isdir(target) else 'of the pattern'} {target}"
            findings.append(Diagnostic(E_CHECK_NONE, message))
    if findings:
        raise Rejected(findings)
    return [*files]


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
        (others if _kind_of(file) is None else specs).append(show(file))
    return specs, others


def _walk(folder: Path) -> Iterator[Path]:
    """The YAML files below a folder, in the order of their paths; links to folders are not followed."""
    for parent, folders, names in os.walk(folder):
        here = Path(parent)
        kept = (name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        folders[:] = sorted(name for name in kept if not _is_bundle(here / name))
        yield from (here / name for name in sorted(names) if name.endswith(SUFFIXES) and not name.startswith("."))


def _is_bundle(folder: Path) -> bool:
    return all(is_file(folder / name) for name in (MANIFEST, RECEIPTS))


def _kind_of(file: Path) -> str | None:
    """The kind in the head of a file; None if it has no head, empty if it cannot be read: a check says why."""
    try:
        if not S_ISREG(file.stat().st_mode):
            return None  # reading a pipe or a device would block
        with file.open("rb") as stream:
            head = _HEAD.search(stream.read(4096))
    except OSError:
        return ""
    return None if head is None else (head[1] or b"").decode()


class ListedSpec(Struct, frozen=True):
    """A spec that can be referred to by its name; `doc` is what it says of itself, on one line, if it can be read."""

    kind: str
    name: str
    file: Path
    shipped: bool
    doc: str

    @property
    def summary(self) -> str:
        """The first sentence of its `doc`."""
        return re.split(r"(?<=\.) ", self.doc, maxsplit=1)[0]


def list_specs(kind: str | None = None, name: str | None = None) -> Iterator[ListedSpec]:
    """The specs of one kind or of all: those of the project, then the shipped ones whose names it does not use.

    Only those of a name are read, if one is given, and of each only the head, so a listed spec may still have errors.
    """
    search = Search.at(Path())
    library = Library(search, KINDS, Diagnostics())
    for kind_ in (kind,) if kind is not None else KINDS:
        listed: dict[str, ListedSpec] = {}
        for root in (search.shipped, search.project):
            for file in (file for file in _files(root, kind_) if name in (None, file.stem)):
                listed[file.stem] = ListedSpec(kind_, file.stem, file, root == search.shipped, _doc(library.read(file)))
        yield from sorted(listed.values(), key=lambda spec: (spec.shipped, spec.name))


def specs_named(name: str) -> list[ListedSpec]:
    """The specs of a name, of each kind."""
    return list(list_specs(name=name))


def spec_names(kinds: Collection[str], search: Search | None = None) -> tuple[str, ...]:
    """The distinct names of the specs of some kinds, from file names: first the project's, then shipped ones."""
    search = Search.at(Path()) if search is None else search
    places = [(root, kind) for root in (search.project, search.shipped) for kind in kinds]
    return tuple(dict.fromkeys(file.stem for root, kind in places for file in _files(root, kind)))


def _files(root: Path | None, kind: str) -> list[Path]:
    folder = None if root is None else root / kind
    if folder is None or not folder.is_dir():
        return []
    return sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES and file.is_file())


def _doc(document: Document | None) -> str:
    if document is None:
        return "(cannot be read: `spec check` says why)"
    doc = document.root.child("doc")
    text = doc.plain() if doc is not None else None
    return " ".join(text.split()) if isinstance(text, str) else ""
