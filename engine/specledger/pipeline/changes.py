"""Which specs a change touches: those that changed or name a changed file, and all that refer to one of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import KINDS
from specledger.load import Search
from specledger.load.document import Document
from specledger.load.library import SUFFIXES, Library, is_file
from specledger.pipeline.references import References
from specledger.pipeline.targets import expand_runs


def touched_runs(targets: Sequence[str], changed: Collection[Path]) -> list[str]:
    """The specs among some targets that can be run and that a change touches.

    Args:
        targets: Files, names, folders and patterns, as for `spec run`.
        changed: The files that changed, links followed; some may be gone.
    """
    files = {target: file for target in expand_runs(targets, KINDS.may_run) if (file := _file_of(target)) is not None}
    touched = touched_by(files.values(), changed)
    return [target for target, file in files.items() if file.resolve() in touched]


def touched_by(files: Iterable[Path], changed: Collection[Path]) -> set[Path]:
    """The files among some specs, and among what they refer to, that a change touches, links followed."""
    references = References(files, Search.at(Path()))
    gone = any(path.suffix in SUFFIXES and not path.exists() for path in changed)
    others = [path for path in changed if path.suffix not in SUFFIXES]
    known = set(references.files())
    touched = {file for file in known if file in changed or (gone and references.leads_nowhere(file))}
    for file in known - touched if others else ():
        document = references.document(file)
        if document is not None and any(_names(document, path) for path in others):
            touched.add(file)
    return references.dependents(touched)


def _file_of(target: str) -> Path | None:
    """The file of a target; None if there is none, which a run reports."""
    if is_file(Path(target)):
        return Path(target)
    kind, slash, name = target.partition("/")
    library = Library(Search.at(Path()), KINDS, Diagnostics())
    files = library.find_target(name if slash else target, kind if slash else None)
    return files[0] if files else None


def _names(document: Document, path: Path) -> bool:
    """Whether a text of a document names a file: logs, records, programs or modules of agents."""
    for _, node in document.root.walk():
        if isinstance(node.value, str) and node.value.strip() and len(node.value) < 1024:
            module, colon, _ = node.value.partition(":")
            if _matches(path, module.replace(".", "/") + ".py" if colon else node.value):
                return True
    return False


def _matches(path: Path, pattern: str) -> bool:
    try:
        return path.match(pattern.removeprefix("./"))
    except ValueError:  # no pattern of a path
        return False
