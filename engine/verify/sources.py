"""The sources of a bundle: resolved again, they give the specs that ran.

Decides how much is read. Refuses to read anything but the sources: what they refer to lies among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.core.diagnostics import Rejected, code
from engine.evidence.layout import MAX_SOURCE, MAX_SOURCES, ORIGIN, SOURCES
from engine.load.from_sources import InvalidSources, load_sources, read_sources
from engine.verify.checks import Broken
from engine.verify.documents import read_document, read_plain

E_SOURCES = code(
    "E_SOURCES",
    "the spec files are not those that the run was resolved from",
    "`specs/` holds the YAML files of a run, and specs/origin.json the settings: the main file, the matrix case, what "
    "--set, --seed and --episodes changed, and where references lead. They are resolved again, from these files alone, "
    "and must give specs.json; each file must be needed. A file was changed, left out, added or renamed.",
)


def check_sources(place: Path, paths: Sequence[str], digest: str) -> str:
    """See that the sources of a bundle resolve to its specs.

    Args:
        place: The bundle.
        paths: The sources, which are plain files.
        digest: Of the specs.

    Returns:
        How many there are, in words.

    Raises:
        Broken: E_SOURCES.
    """
    sizes = [(place / path).stat().st_size for path in paths]
    if max(sizes) > MAX_SOURCE or sum(sizes) > MAX_SOURCES:
        raise Broken(E_SOURCES, f"a source has more than {MAX_SOURCE} bytes, or all have more than {MAX_SOURCES}")
    origin = read_document(place / ORIGIN, MAX_SOURCE, E_SOURCES)
    documents = {
        path.removeprefix(f"{SOURCES}/"): read_plain(place / path, MAX_SOURCE, E_SOURCES)
        for path in paths
        if path != ORIGIN
    }
    try:
        found = load_sources(read_sources(origin, documents)).digest
    except InvalidSources as invalid:
        raise Broken(E_SOURCES, str(invalid)) from None
    except Rejected as rejected:
        raise Broken(E_SOURCES, f"they resolve to nothing: {rejected.diagnostics[0].message}") from None
    if found != digest:
        raise Broken(E_SOURCES, f"they resolve to specs of the digest {found}, not to those that ran")
    return f"{len(documents)} files"
