"""The JSON Schemas of a project, in which editors find the names of its specs: written once, and kept current."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from specledger import __version__
from specledger.core.canonical import pretty
from specledger.kinds import KINDS
from specledger.load import Search
from specledger.load.library import project_of
from specledger.load.schemas import schema_for
from specledger.pipeline.targets import spec_names

SCHEMAS: Final = Path(".specledger/schemas")
"""Where a project keeps the JSON Schemas for editors."""
NAMES: Final = Path(".specledger/names.json")
"""What the schemas of a project were made of: a version, and the names of specs."""


def schema_file(kind: str) -> Path:
    """The JSON Schema of a kind in a project."""
    return SCHEMAS / f"{kind}.schema.json"


def write_schemas(project: Path) -> None:
    """Write the JSON Schemas of a project; OSError if that is not possible."""
    made_of = _made_of(project)
    for kind, row in KINDS.items():
        _write(project / schema_file(kind), pretty(schema_for(kind, row.model, made_of["names"])))
    _write(project / NAMES, pretty(made_of))


def refresh_schemas(targets: Sequence[str]) -> tuple[Path, ...]:
    """Write the schemas anew of each project of some files that has schemas of other names; return these projects.

    A project without schemas gets none, and one that cannot be written stays as it is.
    """
    projects = {project: None for target in targets if (project := project_of(Path(target).parent)) is not None}
    return tuple(filter(_refresh, projects))


def yaml_schemas() -> dict[str, str]:
    """The files of each schema, as settings of the YAML language server have it."""
    return {schema_file(kind).as_posix(): f"specs/{kind}/*.yaml" for kind in sorted(KINDS)}


def _refresh(project: Path) -> bool:
    folder = project / SCHEMAS
    if not folder.is_dir() or any(path.is_symlink() for path in (folder.parent, folder, *folder.iterdir())):
        return False
    try:
        if (project / NAMES).is_symlink() or _text(project / NAMES) == pretty(_made_of(project)):
            return False
        write_schemas(project)
    except OSError:
        return False
    return True


def _made_of(project: Path) -> Mapping[str, Any]:
    search = Search.at(project)
    return {"version": __version__, "names": {kind: [*spec_names([kind], search)] for kind in KINDS}}


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
