"""The discovery loop: a model proposes laws, trials judge them, and the next prompt reports the results.

It uses the wing `laws`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from specledger.core.wing import Wing

if TYPE_CHECKING:
    from specledger.kinds.kind import Kind
    from specledger.verify.check_names import CheckName


def _kinds() -> tuple[Kind, ...]:
    from specledger.wings.discovery.kinds import KINDS

    return KINDS


def _commands() -> Mapping[str, Mapping[str, Callable[..., None]]]:
    from specledger.wings.discovery.commands import discover

    return {"Run them": {"discover": discover}}


def _prompts() -> Mapping[str, Callable[..., object]]:
    from specledger.wings.discovery.prompt import check_prompt

    return {"laws": check_prompt}


def _works() -> Mapping[str, Callable[[Mapping[str, Any]], Callable[[Any], Any]]]:
    from specledger.wings.discovery.worker import discovery_work

    return {"discovery": discovery_work}


def _checks() -> tuple[CheckName, ...]:
    from specledger.wings.discovery.verify import CHECKS

    return CHECKS


WING: Final = Wing("discovery", kinds=_kinds, commands=_commands, prompts=_prompts, checks=_checks, works=_works)
