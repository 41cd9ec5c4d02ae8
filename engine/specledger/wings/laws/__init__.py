"""Universes, templates and laws of ring automata: checks, cases, proofs, verdicts, verification and reports.

Source: law proposer, sections 5, 6 and 13.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from specledger.core.wing import Wing

if TYPE_CHECKING:
    from specledger.kinds.kind import Kind
    from specledger.verify.check_names import CheckName


def _kinds() -> tuple[Kind, ...]:
    from specledger.wings.laws.kinds import KINDS

    return KINDS


def _works() -> Mapping[str, Callable[[Mapping[str, Any]], Callable[[Any], Any]]]:
    from specledger.wings.laws.runnable import laws_work

    return {"laws": laws_work}


def _checks() -> tuple[CheckName, ...]:
    from specledger.wings.laws.verify.verdicts import CHECKS

    return CHECKS


WING: Final = Wing("laws", kinds=_kinds, checks=_checks, works=_works)
