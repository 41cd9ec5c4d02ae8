"""Wings: capabilities that register themselves by an entry point of the group `specledger.wings`.

The core names no wing. What a wing adds is imported when it is used, and a wing is looked for when the core has no such
kind, command or key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from specledger.core.diagnostics import code

E_WING = code("E_WING", "a wing that is not installed")

GROUP: Final = "specledger.wings"
"""The group of entry points; each names a `Wing`."""
OF_KINDS: Final = "specledger.kinds"
"""The group of entry points that name the wing of a kind of spec, for findings where the wing is not installed."""


def _nothing() -> dict[str, Any]:
    return {}


class Wing(Struct, frozen=True):
    """What one capability adds to the core. Every field but the name is a function that imports what it returns.

    Attributes:
        name: The name of its folder and of its entry point.
        kinds: The kinds of spec, each a `kinds.kind.Kind`.
        starts: What writes the first spec of a kind from lists of tools or logs, by the kind: `(files, name) -> text`.
        commands: The commands of `spec` by name, by the title under which `--help` lists them.
        prompts: Checks of prompts by what these are `about`: `(spec, diagnostics) -> object`.
        cluster: What connects to a cluster: `address -> context manager of an Executor`; None if nothing does.
        checks: The names of the checks that it adds to verifications (`verify.check_names`).
        works: What workers of a cluster do, by the `entry` of the work: `document -> work`.
        admission: How it compiles the admission of documents (`compile.extension`).
        recordings: How it compiles an agent that is a recording (`compile.extension`).
        call_probes: How it compiles the probes of such an agent (`compile.extension`).
        rule_words: What a rule of a policy says in sentences (`report.extension`).
        trajectory_sections: The sections of a report on a run of trajectories (`report.extension`).
        trajectory_names: What the trajectories of a bundle are called (`report.extension`).
        audit_logs: How the audit log of what it decides is written (`run.extension`).
        meanings: What its names mean in reports (`report.extension`).
        controlled: How runs are verified whose actors it controls (`verify.extension`).
    """

    name: str
    kinds: Callable[[], tuple[Any, ...]] = tuple
    starts: Callable[[], Mapping[str, Callable[[Sequence[Path], str], str]]] = _nothing
    commands: Callable[[], Mapping[str, Mapping[str, Callable[..., None]]]] = _nothing
    prompts: Callable[[], Mapping[str, Callable[..., object]]] = _nothing
    cluster: Callable[[], Callable[[str], Any]] | None = None
    checks: Callable[[], tuple[Any, ...]] = tuple
    works: Callable[[], Mapping[str, Callable[[Mapping[str, Any]], Callable[[Any], Any]]]] = _nothing
    admission: Callable[[], Any] | None = None
    audit_logs: Callable[[], Any] | None = None
    controlled: Callable[[], Any] | None = None
    recordings: Callable[[], Any] | None = None
    call_probes: Callable[[], Any] | None = None
    rule_words: Callable[[], Any] | None = None
    trajectory_sections: Callable[[], Any] | None = None
    trajectory_names: Callable[[], Any] | None = None
    meanings: Callable[[], Any] | None = None


@cache
def wings() -> tuple[Wing, ...]:
    """The installed wings, by name."""
    return tuple(wing for point in _points() if (wing := _load(point)) is not None)


def missing_wings() -> str:
    """The names of wings that are declared but not installed, as a hint; empty if there are none."""
    names = ", ".join(point.name for point in _points() if _load(point) is None)
    return f"not installed: {names}" if names else ""


def is_in_missing_wing(module: str) -> bool:
    """Whether a module is part of a wing that is declared but not installed."""
    return any(f"{module}.".startswith(f"{point.module}.") for point in _points() if _load(point) is None)


def _points() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda point: point.name)


def part_of(field: str) -> Any:
    """The part that the first wing with this field gives; None if no installed wing has it."""
    loads = (getattr(wing, field) for wing in wings())
    return next((load() for load in loads if load is not None), None)


def wing_of(kind: str) -> str | None:
    """The name of the wing that declares a kind of spec, whether the wing is installed or not; None if none does."""
    names = {point.module: point.name for point in _points()}
    return next((names.get(point.module) for point in entry_points(group=OF_KINDS, name=kind)), None)


def starts() -> dict[str, Callable[[Sequence[Path], str], str]]:
    """What writes the first spec of a kind from lists of tools or logs, by the kind."""
    return {kind: start for wing in wings() for kind, start in wing.starts().items()}


def missing_wing(name: str, what: str) -> tuple[str, str]:
    """The message and the hint of the finding E_WING: `what` is of a wing that is not installed."""
    message = f"{what} needs the wing `{name}`, which is not installed"
    return message, f"install a package that provides `{name}` among the entry points of {GROUP}: specledger has it"


def _load(point: EntryPoint) -> Wing | None:
    """The wing; None if its module is absent."""
    try:
        wing = point.load()
    except ModuleNotFoundError as error:
        if error.name is not None and f"{point.module}.".startswith(f"{error.name}."):
            return None
        raise
    if not isinstance(wing, Wing):
        raise TypeError(f"the entry point {point.name!r} of {GROUP} is no Wing but {type(wing).__name__}")
    return wing
