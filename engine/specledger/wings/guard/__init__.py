"""Guard: the calls of live agents are decided by a scenario before they are made, and leave its evidence.

The hook of this folder is started for every call of an agent, so the folder imports nothing before it is asked for its
`WING`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specledger.core.wing import Wing

    WING: Wing


def _commands() -> Mapping[str, Mapping[str, Callable[..., None]]]:
    from specledger.wings.guard.commands import guard

    return {"Run them": {"guard": guard}}


def __getattr__(name: str) -> Wing:
    if name != "WING":
        raise AttributeError(name)
    from specledger.core.wing import Wing

    return Wing("guard", commands=_commands)
