"""Shell completions of arguments; also listed when a required argument is missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path


def kinds(incomplete: str) -> list[str]:
    """Kinds of spec."""
    from specledger.kinds import KINDS

    return _matching(sorted(KINDS), incomplete)


def starts(incomplete: str) -> list[str]:
    """What `spec init` can begin with."""
    from specledger.pipeline.project import starts

    return _matching(starts(), incomplete)


def editors(incomplete: str) -> list[str]:
    """Editors whose settings `spec init` writes."""
    from specledger.pipeline.project import editors

    return _matching(editors(), incomplete)


def specs(incomplete: str) -> list[str]:
    """Names of specs of the project and of shipped ones, and YAML files and folders."""
    from specledger.kinds import KINDS

    return _specs(KINDS, incomplete)


def runnable_specs(incomplete: str) -> list[str]:
    """Like `specs`, for kinds that can be run."""
    from specledger.kinds import KINDS

    return _specs(KINDS.runnable(), incomplete)


def discoveries(incomplete: str) -> list[str]:
    """Like `specs`, for kinds whose runs can be resumed."""
    from specledger.kinds import KINDS

    return _specs([kind for kind in KINDS.runnable() if KINDS[kind].run.resumes], incomplete)


def profiles(incomplete: str) -> list[str]:
    """Like `specs`, for profiles."""
    return _specs(["profile"], incomplete)


def scenarios(incomplete: str) -> list[str]:
    """Like `specs`, for scenarios."""
    return _specs(["scenario"], incomplete)


def agents(incomplete: str) -> list[str]:
    """Like `specs`, for agents."""
    return _specs(["agent"], incomplete)


def explained(incomplete: str) -> list[str]:
    """Arguments of `spec explain`: the lists, kinds, keys of kinds, and codes."""
    from specledger.core.diagnostics import codes
    from specledger.kinds import KINDS
    from specledger.pipeline.authoring import describe, load_codes

    kind, dot, _ = incomplete.partition(".")
    if dot and kind in KINDS:
        return _matching((f"{kind}.{key}" for key in describe(kind).keys), incomplete)
    if incomplete[:2] in ("E_", "W_"):
        load_codes()
        return _matching(codes(), incomplete)
    return _matching(sorted(["codes", "kinds", *KINDS]), incomplete)


def bundles(incomplete: str) -> list[str]:
    """Bundles, and folders that may contain some."""
    from specledger.evidence.layout import MANIFEST

    paths = sorted(Path().glob(f"{incomplete}*")) or sorted(Path(incomplete or ".").glob("*"))
    return [str(path) for path in paths if (path / MANIFEST).exists() or path.is_dir()]


def _matching(words: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]


def _specs(kinds: Collection[str], incomplete: str) -> list[str]:
    """Names of specs of some kinds, and YAML files and folders that begin with the typed text, if there is any."""
    from specledger.load.library import SUFFIXES
    from specledger.pipeline.targets import spec_names

    paths = Path().glob(f"{incomplete}*") if incomplete and not Path(incomplete).is_absolute() else ()
    return _matching(spec_names(kinds), incomplete) + sorted(
        f"{path}/" if path.is_dir() else str(path) for path in paths if path.is_dir() or path.suffix in SUFFIXES
    )
