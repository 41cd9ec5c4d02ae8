"""Files of specs, for formats that point into files: a bundle holds resolved specs and no paths."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote


def file_of(key: str | None, sources: Path | None) -> str | None:
    """The file of a spec below a folder of sources, with slashes, or None if it is not known.

    Args:
        key: The spec's key, `<kind>/<name>@<digits>`; its kind and name are words without dots or slashes.
        sources: The folder whose `<kind>/<name>.yaml` it is, or None.
    """
    if key is None or sources is None:
        return None
    kind, _, name = key.partition("@")[0].partition("/")
    file = sources / kind / f"{name}.yaml"
    return file.as_posix() if file.is_file() else None


def uri_of(path: str) -> str:
    """A path with slashes as a URI reference (RFC 3986, 4.1), in which no character has another meaning."""
    return quote(path, safe="/", errors="replace")
