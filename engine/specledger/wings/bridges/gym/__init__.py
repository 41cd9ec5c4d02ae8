"""`make("hazard")` gives a Gymnasium environment of a scenario or a world; it needs the extra `gym`.

The environment runs the loop of `specledger.run`, so that governor, drifts and invariants are those of `spec run`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from specledger.core.diagnostics import code, missing_package
from specledger.load.overrides import changes_of

if TYPE_CHECKING:
    import gymnasium

    from specledger.wings.bridges.gym.environment import SpecEnv

E_GYM_MISSING = code("E_GYM_MISSING", "Gymnasium is not installed")


@overload
def make(
    target: str,
    *,
    set: Mapping[str, Any] | Sequence[str] = ...,
    horizon: int = ...,
    reward: str | None = ...,
    ends_at_success: bool = ...,
    flat: Literal[True],
) -> gymnasium.Env[Any, Any]: ...
@overload
def make(
    target: str,
    *,
    set: Mapping[str, Any] | Sequence[str] = ...,
    horizon: int = ...,
    reward: str | None = ...,
    ends_at_success: bool = ...,
    flat: Literal[False] = ...,
) -> SpecEnv: ...
def make(
    target: str,
    *,
    set: Mapping[str, Any] | Sequence[str] = (),  # noqa: A002 - the word of the command line
    horizon: int = 1000,
    reward: str | None = None,
    ends_at_success: bool = True,
    flat: bool = False,
) -> gymnasium.Env[Any, Any]:
    """A Gymnasium environment of a spec.

    Args:
        target: A file or a name, of a scenario or else of a world. A world has no governor, and its own `start`.
        set: New values by their paths, as `specledger.load` takes them, or as texts `path=value`.
        horizon: Steps of an episode at most, for a world; a scenario states its own.
        reward: An expression over the figures of the world's `record`, its constants, and `success`. By default the
            figure `reward`, if there is one, else `success ? 1 : 0`. Fixed point counts in millionths.
        ends_at_success: Whether an episode is terminated where the world's `success` holds.
        flat: Whether an observation is one array, in the order of `gymnasium.spaces.flatten`; texts and lists have no
            place in it (E_GYM_SPACE).

    Raises:
        Rejected: E_GYM_MISSING, E_GYM_KERNEL, E_GYM_SPACE, or the spec does not load or compile.
    """
    try:
        from specledger.wings.bridges.gym.environment import SpecEnv, flattened, load_scenario
    except ModuleNotFoundError as error:
        if error.name != "gymnasium":
            raise
        raise missing_package(E_GYM_MISSING, "gymnasium", "gym") from None
    changes = changes_of(set) if isinstance(set, Mapping) else [*set]
    made = SpecEnv(load_scenario(target, changes, horizon), reward=reward, ends_at_success=ends_at_success)
    return flattened(made) if flat else made
