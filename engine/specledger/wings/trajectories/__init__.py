"""Trajectories: what an agent did, read from its logs and judged by rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from specledger.core.wing import Wing

if TYPE_CHECKING:
    from specledger.compile.extension import Recordings
    from specledger.kinds.kind import Kind
    from specledger.report.extension import ShownTrajectory


def _kinds() -> tuple[Kind, ...]:
    from specledger.wings.trajectories.kinds import KINDS

    return KINDS


def _commands() -> Mapping[str, Mapping[str, Callable[..., None]]]:
    from specledger.wings.trajectories.commands import import_logs, scan

    return {"Run them": {"scan": scan, "import": import_logs}}


def _starts() -> Mapping[str, Callable[[Sequence[Path], str], str]]:
    from specledger.wings.trajectories.tools.specs import new_policy, new_world

    return {"world": new_world, "policy": new_policy}


def _recordings() -> Recordings:
    from specledger.wings.trajectories.recording.compile import RECORDINGS

    return RECORDINGS


def _rule_words() -> Callable[..., str]:
    from specledger.wings.trajectories.explained import rule_words

    return rule_words


def _trajectory_sections() -> Callable[..., Iterable[ShownTrajectory]]:
    from specledger.wings.trajectories.pages import trajectory_sections

    return trajectory_sections


def _trajectory_names() -> Callable[[Path], Sequence[str]]:
    from specledger.wings.trajectories.pages import trajectory_names

    return trajectory_names


WING: Final = Wing(
    "trajectories",
    kinds=_kinds,
    starts=_starts,
    commands=_commands,
    recordings=_recordings,
    rule_words=_rule_words,
    trajectory_sections=_trajectory_sections,
    trajectory_names=_trajectory_names,
)
