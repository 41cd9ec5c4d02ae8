"""`make("hazard")` gives a Gymnasium environment of a scenario or a world; it needs the extra `gym`.

The environment runs the loop of `specledger.run`, so that governor, drifts and invariants are those of `spec run`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specledger.core.diagnostics import code, missing_package

if TYPE_CHECKING:
    from specledger.wings.bridges.gym.environment import SpecEnv

E_GYM_MISSING = code("E_GYM_MISSING", "Gymnasium is not installed")


def make(
    target: str,
    *,
    set: Sequence[str] = (),  # noqa: A002 - the word of the command line
    horizon: int = 1000,
    reward: str | None = None,
    ends_at_success: bool = True,
) -> SpecEnv:
    """A Gymnasium environment of a spec.

    Args:
        target: A file or a name, of a scenario or else of a world. A world has no governor, and its own `start`.
        set: Changes as `path=value`, as for `spec run --set`.
        horizon: Steps of an episode at most, for a world; a scenario states its own.
        reward: An expression over the figures of the world's `record`, its constants, and `success`. By default the
            figure `reward`, if there is one, else `success ? 1 : 0`. Fixed point counts in millionths.
        ends_at_success: Whether an episode is terminated where the world's `success` holds.

    Raises:
        Rejected: E_GYM_MISSING, E_GYM_KERNEL, E_GYM_SPACE, or the spec does not load or compile.
    """
    try:
        from specledger.wings.bridges.gym.environment import SpecEnv, load_scenario
    except ModuleNotFoundError as error:
        if error.name != "gymnasium":
            raise
        raise missing_package(E_GYM_MISSING, "gymnasium", "gym") from None
    return SpecEnv(load_scenario(target, set, horizon), reward=reward, ends_at_success=ends_at_success)
