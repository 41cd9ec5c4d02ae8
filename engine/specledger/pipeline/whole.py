"""Findings about the specs of a folder as a whole, which no spec shows by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic, Severity, code
from specledger.core.spans import Span
from specledger.kinds import KINDS
from specledger.load import Bundle, Resolved
from specledger.load.bundle import gather

W_FOLDER_HEAD = code("W_FOLDER_HEAD", "a file among specs that is none")
W_FOLDER_NAME = code("W_FOLDER_NAME", "a spec is not called as its file")
W_FOLDER_TWICE = code("W_FOLDER_TWICE", "two specs of one kind have one name")
W_FOLDER_UNUSED = code("W_FOLDER_UNUSED", "nothing uses what a spec defines")

_SPECS: Final = "specs"
_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEFINED: Final = ("constants", "functions")
_PROSE: Final = frozenset({"doc", "metadata"})
_RULES: Final = frozenset({"invariant", "probe"})
"""Kinds that have an effect only where another spec refers to them."""


_MOST_DEFINITIONS: Final = 10_000
"""Constants and functions of which it is noted whether anything reads them."""


class UsedSpec(Struct, frozen=True):
    """What is kept of a spec that was checked."""

    kind: str
    name: str
    case: str
    digest: str
    key: str

    @classmethod
    def of(cls, bundle: Bundle) -> UsedSpec:
        """The spec that was asked for."""
        main = bundle.main
        return cls(main.kind, main.name, bundle.case, bundle.digest, bundle.root)


class _Named(Struct, frozen=True):
    """The name of a spec, and where it stands."""

    name: str
    key: str
    span: Span


class Whole:
    """The bundles of all files of a check, added one after the other; little is kept of each."""

    def __init__(self, targets: Sequence[str] = (), skipped: Sequence[str] = ()) -> None:
        self._targets = frozenset(targets)
        self._skipped = skipped
        self._files: dict[tuple[str, str], _Named] = {}
        self._referred: set[str] = set()
        self._with_arguments: dict[str, UsedSpec] = {}
        self._definitions: dict[Span, tuple[str, str]] = {}
        self._used: set[Span] = set()

    def add(self, file: str, bundle: Bundle, *, typed: bool) -> None:
        """Add one case of a file; only where its expressions were typed is it known what it uses."""
        main = bundle.main
        self._files.setdefault((file, main.kind), _Named(main.name, main.key, main.span("name")))
        self._referred |= {key for spec in bundle.specs.values() for key in spec.refs.values()}
        if typed:
            words = {word for spec in bundle.specs.values() for word in _words(spec.data)}
            for spec in bundle.specs.values():
                self._note(spec, words)
                root = spec.origins.get(())
                if root is not None and spec is not main and root.place.source.file not in self._with_arguments:
                    self._with_arguments[root.place.source.file] = UsedSpec.of(gather(spec.key, bundle.specs))

    def _note(self, spec: Resolved, words: set[str]) -> None:
        for section in _DEFINED:
            for name in spec.data.get(section) or ():
                span = spec.span(section, name)
                if span not in self._definitions and len(self._definitions) >= _MOST_DEFINITIONS:
                    continue
                self._definitions[span] = (section.removesuffix("s"), name)
                if name in words:
                    self._used.add(span)

    def with_arguments(self, file: str) -> UsedSpec | None:
        """The spec of a file as another one of the check refers to it, with its parameters; None if none does."""
        return self._with_arguments.get(file)

    def findings(self, *, complete: bool) -> Iterator[Diagnostic]:
        """Warnings about the folder; `complete` says that no file has an error, so that all uses are known."""
        for file in self._skipped:
            kind = _meant(file)
            if kind is None:
                continue
            yield Diagnostic(
                W_FOLDER_HEAD,
                f"{file} has no `spec:`, so nothing reads it",
                severity=Severity.WARNING,
                hint=f"begin with `spec: {kind}/v1`, or move it out of `specs`",
            )
        yield from self._names()
        if complete:
            yield from self._unused()

    def _names(self) -> Iterator[Diagnostic]:
        known: dict[tuple[Path, str], str] = {}  # the first of `a.yaml` and `a.yml`, both of which the name finds
        for file in filter(among_specs, dict.fromkeys(file for file, _ in self._files)):
            known.setdefault((Path(file).parent, Path(file).stem), file)
        for (file, kind), spec in self._files.items():
            path = Path(file)
            other = known.get((path.parent, spec.name))
            if not among_specs(file) or other == file:
                continue
            if other is not None:
                message, hint = f"another {kind} has this name: {other}", "rename one of them"
                yield Diagnostic(W_FOLDER_TWICE, message, spec.span, hint, Severity.WARNING)
            else:
                message = f"this {kind} is found by the name of its file, {path.stem}"
                hint = f"write `name: {path.stem}`, or rename the file"
                yield Diagnostic(W_FOLDER_NAME, message, spec.span, hint, Severity.WARNING)

    def _unused(self) -> Iterator[Diagnostic]:
        for span, (what, name) in self._definitions.items():
            if span not in self._used and span.file in self._targets:
                yield Diagnostic(
                    W_FOLDER_UNUSED,
                    f"nothing reads the {what} `{name}`",
                    span,
                    severity=Severity.WARNING,
                    hint="remove it",
                )
        for (file, kind), spec in self._files.items():
            if kind in _RULES and among_specs(file) and spec.key not in self._referred:
                hint = f"name it under `{kind}s` of a scenario"
                message = f"no spec that was checked refers to this {kind}"
                yield Diagnostic(W_FOLDER_UNUSED, message, spec.span, severity=Severity.WARNING, hint=hint)


def among_specs(file: str) -> bool:
    """Whether a file is one that a name of its kind would find: `specs/<kind>/<name>.yaml`."""
    kind, specs = (*Path(file).absolute().parts[-2:-4:-1], "")[:2]
    return kind in KINDS and specs == _SPECS


def _meant(file: str) -> str | None:
    """The kind that a file lacks in its head: `KIND` in `specs` itself, None where specs are not looked for."""
    folders = Path(file).absolute().parts[:-1]
    if _SPECS not in folders:
        return None
    below = folders[len(folders) - folders[::-1].index(_SPECS) :]
    kind = below[0] if below else "KIND"
    return kind if not below or kind in KINDS else None


def _words(value: Any) -> Iterator[str]:
    """Every word in the texts of resolved data."""
    if isinstance(value, str):
        yield from _WORD.findall(value)
    elif isinstance(value, dict):
        for key, member in value.items():
            if key not in _PROSE:
                yield from _words(member)
    elif isinstance(value, list):
        for element in value:
            yield from _words(element)
