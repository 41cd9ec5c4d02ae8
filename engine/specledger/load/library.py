"""The files of one load: where a name is looked for, and each file read once.

A name is searched beside the referring file, then in the `specs/` of that file's project, then among the shipped specs;
a path is relative to the referring file. The working folder matters only for what was typed on the command line: a name
there is searched in its project, too. The library keeps the bytes of each file and where each reference led.
"""

import errno
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.core.spans import Span
from specledger.core.wing import E_WING, missing_wing, wing_of
from specledger.load import shipped
from specledger.load.document import Document, Node, ResolvedRef
from specledger.load.findings import E_SPEC_MISSING_KEY, add_key, describe, place_of
from specledger.load.input_filter import MAX_BYTES, read_text
from specledger.load.other_words import hint_of_path
from specledger.load.yaml_reader import parse
from specledger.spec.base import SpecKinds

E_SPEC_KIND = code("E_SPEC_KIND", "The document does not say which kind of spec it is")

_SPEC: Final = re.compile(r"([a-z][a-z0-9_-]*)/v([0-9]+)")


def kind_of(document: Document) -> str:
    """The kind of a document whose head is right."""
    return str(document.root.at(("spec",)).value).partition("/")[0]


def has_head(document: Document, kinds: SpecKinds, diagnostics: Diagnostics) -> bool:
    """Whether a document names one of these kinds of spec; errors in its head are reported."""
    root = document.root
    members = root.members
    first = next(iter(members), None)
    node = members.get("spec")
    expected = "spec: <kind>/v1"
    if node is None:
        near, kind = suggest(first or "", ["spec"]), getattr(members.get("kind"), "value", None)
        hint = f"did you mean `{near}`?" if near else f"write `spec: {kind}/v1`" if kind in kinds else None
        message = "the document does not begin with `spec:`"
        location = place_of(root) if first is None else members[first].key_span
        diagnostics.error(E_SPEC_KIND, message, location, expected=expected, found=describe(root), hint=hint)
        return False
    match = _SPEC.fullmatch(node.value) if isinstance(node.value, str) else None
    if match is None or match[1] not in kinds or match[2] != "1":
        home = None if match is None or match[1] in kinds else wing_of(match[1])
        if match is not None and home is not None:
            message, hint = missing_wing(home, f"a spec of the kind `{match[1]}`")
            diagnostics.error(E_WING, message, node.span, hint=hint)
            return False
        near = suggest(match[1] if match else str(node.value), kinds)
        hint = f"did you mean `{near}/v1`?" if near else f"kinds: {', '.join(kinds)}"
        message = "there is no such kind of spec"
        diagnostics.error(E_SPEC_KIND, message, node.span, expected=expected, found=describe(node), hint=hint)
        return False
    if "name" not in members:  # of a document that extends another one, too
        hint = add_key(("name",), root)
        diagnostics.error(E_SPEC_MISSING_KEY, "the document lacks the key `name`", place_of(root), hint=hint)
    if first != "spec":
        diagnostics.error(E_SPEC_KIND, "`spec:` is not the first key", node.key_span, expected=expected)
    return True


SUFFIXES: Final = (".yaml", ".yml")

E_SPEC_FILE = code("E_SPEC_FILE", "A file that cannot be read")
E_SPEC_WRONG_KIND = code("E_SPEC_WRONG_KIND", "The document is of another kind")
E_REF_MISSING = code("E_REF_MISSING", "A reference to a spec that is not found")
E_REF_KIND = code("E_REF_KIND", "A reference to a spec of another kind")
E_REF_NAME = code("E_REF_NAME", "A file whose spec has another name")
E_REF_PATH = code("E_REF_PATH", "A reference to a file that may not be referred to")

_HEAD: Final = re.compile(rb"^(?:---[ ]+)?[\"']?spec[\"']?[ ]*:[ ]*[\"']?([a-z][a-z0-9_-]*)/", re.MULTILINE)


_MARKERS: Final = ("specs", "pyproject.toml", ".git")


def project_of(folder: Path) -> Path | None:
    """The nearest folder at or above this one that holds `specs/`, `pyproject.toml` or `.git`."""
    here = Path(os.path.abspath(folder))
    return next(
        (parent for parent in (here, *here.parents) if any((parent / name).exists() for name in _MARKERS)), None
    )


class Search(Struct, frozen=True):
    """Where names are looked for.

    Attributes:
        project: The folder of the specs of the project.
        shipped: The folder of the shipped specs.
        unsaved: What stands for the bytes of some files, links followed: texts that an editor has not saved.
    """

    project: Path | None = None
    shipped: Path | None = None
    unsaved: Mapping[Path, bytes] = MappingProxyType({})

    @classmethod
    def at(cls, folder: Path, unsaved: Mapping[Path, bytes] = MappingProxyType({})) -> "Search":
        """The project of the files in a folder, and the shipped specs."""
        project = project_of(folder)
        return cls(None if project is None else project / "specs", shipped.find_specs(), unsaved)

    def roots(self) -> list[Path]:
        """The folders whose files may be referred to, links followed."""
        project = [] if self.project is None else [self.project, self.project.parent]
        known = [*project, *([] if self.shipped is None else [self.shipped])]
        return [Path(os.path.realpath(folder)) for folder in known]

    def folders(self, kind: str, beside: Path | None, kinds: SpecKinds) -> tuple[Path, ...]:
        """The folders in which a name of a kind is looked for, in this order, each once.

        A file in `<kind>/` of some tree of specs also sees the other kinds of that tree.
        """
        near = [] if beside is None else [beside, beside.parent / kind] if beside.name in kinds else [beside]
        far = [root / kind for root in (self.project, self.shipped) if root is not None]
        return tuple({os.path.realpath(folder): folder for folder in reversed([*near, *far])}.values())[::-1]


class Library:
    """Reads files, each once, and finds them by name.

    Attributes:
        kept: The bytes of each file that was read, in this order, links followed.
    """

    def __init__(
        self, search: Search | None, kinds: SpecKinds, diagnostics: Diagnostics, *, allow_outside: bool = False
    ) -> None:
        """Begin with no file read."""
        self._fixed = search
        self._searches: dict[Path, Search] = {}
        self._allow_outside = allow_outside
        self._kinds = kinds
        self._diagnostics = diagnostics
        self._documents: dict[Path, Document | None] = {}
        self._paths: dict[str, Path] = {}
        self._roots: list[Path] = []
        self._real: dict[Path, Path] = {}
        self._leads: dict[tuple[str, str, str], ResolvedRef] = {}
        self._named: dict[tuple[Path, str], tuple[str, ...]] = {}
        self.kept: dict[Path, bytes] = {}

    def read(self, path: Path, span: Span | None = None) -> Document | None:
        """The document in a file with a right head, or None after its findings were reported."""
        real = self.real(path)
        if not self._roots:  # the document that is loaded
            self._trust(path)
        if real not in self._documents:
            self._paths[show(path)] = path
            self._documents[real] = self._read(real, show(path), span)
        return self._documents[real]

    def forget(self, path: Path) -> None:
        """Keep neither the document of a file nor its bytes; it is read again when it is asked for."""
        real = self.real(path)
        self._documents.pop(real, None)
        self.kept.pop(real, None)

    def _search(self, folder: Path) -> Search:
        if self._fixed is not None:
            return self._fixed
        if folder not in self._searches:
            self._searches[folder] = Search.at(folder)
        return self._searches[folder]

    def _trust(self, path: Path) -> None:
        """Let references lead to the project and the folder of a file that the user named."""
        real = self.real(path)
        self._roots += self._search(path.parent).roots()
        self._roots.append(real.parent.parent if real.parent.name in self._kinds else real.parent)

    def real(self, path: Path) -> Path:
        """The file that a path leads to, links followed."""
        if path not in self._real:
            self._real[path] = Path(os.path.realpath(path))
        return self._real[path]

    def find(self, node: Node, kind: str) -> ResolvedRef | None:
        """The file that a reference means, or None after a finding was reported."""
        written, target = node.place.source.file, str(node.value)
        known = self._leads.get((written, kind, target))
        if known is not None:
            return known
        file = self._find(node, kind)
        if file is None:
            return None
        source = self.real(self._paths[written]) if written in self._paths else next(iter(self._documents))
        lead = self._leads[written, kind, target] = ResolvedRef(source, kind, target, file, self.real(file))
        return lead

    def _find(self, node: Node, kind: str) -> Path | None:
        target = str(node.value)
        within = self._paths.get(node.place.source.file)
        if "/" in target or "\\" in target or target.endswith(SUFFIXES):
            file = self._find_path(target, node, Path() if within is None else within.parent)
            if file is not None and within is None:  # typed in `--set`
                self._trust(file)
            return self._inside(file, node)
        folder = next(path.parent for path in (within, *self._paths.values()) if path is not None)
        folders = self._search(folder).folders(kind, folder, self._kinds)
        if within is None:  # typed in `--set`: also what is in the project of the working folder
            folders = tuple(dict.fromkeys((*folders, *self._search(Path()).folders(kind, None, self._kinds))))
        files = [file for search_folder in folders for file in _files(search_folder, target)]
        match = next((file for file in files if self.peek(file) in (kind, None)), None)
        if match is None:
            self._report_missing(target, kind, folders, files, node)
        elif within is None:
            self._trust(match)
        return self._inside(match, node)

    def find_target(self, name: str, kind: str | None) -> list[Path]:
        """The files of a name, of one kind or of any, in the project or else among the shipped ones."""
        kinds = self._kinds if kind is None else (kind,)
        search = self._search(Path())
        for root in (search.project, search.shipped):
            files = [
                file for candidate_kind in kinds if root is not None for file in _files(root / candidate_kind, name)
            ]
            if files:
                return files
        return []

    def names(self, kind: str | None = None) -> tuple[str, ...]:
        """The names that can be found of a kind, or of all kinds."""
        kinds = self._kinds if kind is None else (kind,)
        return tuple(
            name
            for candidate_kind in kinds
            for folder in self._search(Path()).folders(candidate_kind, None, self._kinds)
            for name in self._names(folder, candidate_kind)
        )

    def peek(self, file: Path) -> str | None:
        """The kind that a file's head seems to say, without reading the file as YAML."""
        try:
            match = _HEAD.search(self._bytes(file)[:4096])
        except OSError:
            return None
        return None if match is None else match[1].decode("ascii")

    def _bytes(self, path: Path) -> bytes:
        """The text that is not saved, or at most one byte more than a spec file may have."""
        unsaved = None if self._fixed is None else self._fixed.unsaved.get(self.real(path))
        return _read_bytes(path) if unsaved is None else unsaved[: MAX_BYTES + 1]

    def _read(self, path: Path, shown: str, span: Span | None) -> Document | None:
        try:
            data = self._bytes(path)
        except OSError as error:
            near = suggest(path.stem, _stems(path.parent))
            hint = f"did you mean `{near}`?" if near and isinstance(error, FileNotFoundError) else None
            self._diagnostics.error(E_SPEC_FILE, f"cannot read {shown}: {_reason(error)}", span, hint=hint)
            return None
        self.kept[path] = data
        text = read_text(data, shown, self._diagnostics)
        document = None if text is None else parse(text, shown, self._diagnostics)
        return None if document is None or not has_head(document, self._kinds, self._diagnostics) else document

    def _find_path(self, target: str, node: Node, folder: Path) -> Path | None:
        typed = node.place.source.file not in self._paths  # in `--set`: its author knows this machine, a spec does not
        absolute = Path(target).is_absolute()
        if (absolute and not typed) or ("\\" in target and not absolute) or not target.endswith(SUFFIXES):
            message = f"`{target}` is no {'' if typed else 'relative '}path of a YAML file"
            self._diagnostics.error(E_REF_PATH, message, node.span, hint=hint_of_path(target))
            return None
        file = folder / target
        if is_file(file):
            return file
        near = suggest(file.stem, _stems(file.parent))
        working = "a path in --set is absolute, or relative to the working folder"
        hint = f"did you mean `{near}`?" if near else working if typed else None
        if ("/" not in target or not near) and self.find_target(file.stem, None):
            hint = f"a spec is found by its name, without an ending: `{file.stem}`"
        self._diagnostics.error(E_REF_MISSING, f"there is no file {show(file)}", node.span, hint=hint)
        return None

    def _inside(self, file: Path | None, node: Node) -> Path | None:
        """The file if references may lead to it, links followed; otherwise a finding is reported."""
        if file is None or self._allow_outside or any(self.real(file).is_relative_to(root) for root in self._roots):
            return file
        message = f"{show(file)} is outside the project"
        hint = "copy the file into the project, or add --allow-outside"
        self._diagnostics.error(E_REF_PATH, message, node.span, hint=hint)
        return None

    def _report_missing(self, name: str, kind: str, folders: tuple[Path, ...], files: list[Path], node: Node) -> None:
        if files:
            message = f"`{name}` is of the kind {self.peek(files[0])} in {show(files[0])}"
            self._diagnostics.error(E_REF_KIND, message, node.span, expected=f"a spec of the kind {kind}")
            return
        near = suggest(name, [other for folder in folders for other in self._names(folder, kind)])
        places = ", ".join(show(folder) for folder in folders)
        others = [other for file in self.find_target(name, None) if (other := self.peek(file)) is not None]
        written = f"write specs/{kind}/{name}.yaml, or name another one: `spec ls {kind}` lists them"
        hint = f"`{name}` is of the kind {others[0]}" if others else written
        hint = f"did you mean `{near}`?" if near else hint
        if " - " in name:
            hint = "the next `- ` is indented more than the one before it, so that it is part of this item"
        message = f"there is no {kind} `{name}`"
        self._diagnostics.error(E_REF_MISSING, message, node.span, hint=hint, found=f"nothing in {places}")

    def _names(self, folder: Path, kind: str) -> tuple[str, ...]:
        if (folder, kind) not in self._named:
            stems = (stem for stem in _stems(folder) if any(self.peek(file) == kind for file in _files(folder, stem)))
            self._named[folder, kind] = tuple(stems)
        return self._named[folder, kind]


def show(path: Path) -> str:
    """A path as it is shown to people: relative to the working folder if it is inside, with slashes."""
    real = Path(os.path.abspath(path))
    here = Path.cwd()
    return (real.relative_to(here) if real.is_relative_to(here) else real).as_posix()


def _files(folder: Path, name: str) -> list[Path]:
    """The files of a name in a folder; a name with other characters than names have is in no file."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        return []
    return [file for suffix in SUFFIXES if is_file(file := folder / (name + suffix))]


def is_file(path: Path) -> bool:
    """Whether there is such a file; a path that the system refuses, as one that is too long, leads to none."""
    return os.path.isfile(path)  # `Path.is_file` raises for such a path


def _stems(folder: Path) -> list[str]:
    try:
        return sorted(entry.stem for entry in folder.iterdir() if entry.suffix in SUFFIXES)
    except OSError:
        return []


def _reason(error: OSError) -> str:
    """Why a file cannot be read, in the same words on every system."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, PermissionError):
        return "this user may not read it"
    if error.errno == errno.ENAMETOOLONG:
        return "its name is too long"
    return "it is a folder or a device" if isinstance(error, IsADirectoryError) else "operating system error"


def _read_bytes(path: Path) -> bytes:
    """At most one byte more than a spec file may have, of a regular file."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise IsADirectoryError
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)
