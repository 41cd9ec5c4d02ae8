"""The kernel: agents submit documents with reasons, tokens are bound to them, and probes challenge the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specledger.core.wing import Wing

if TYPE_CHECKING:
    from specledger.verify.check_names import CheckName


def _kinds() -> tuple[Any, ...]:
    from specledger.wings.kernel.kinds import KINDS

    return KINDS


def _admission() -> Any:
    from specledger.wings.kernel.compile import ADMISSION

    return ADMISSION


def _controlled() -> Any:
    from specledger.wings.kernel.verify.controlled import CONTROLLED

    return CONTROLLED


def _audit_logs() -> Any:
    from specledger.wings.kernel.audit.writing import AUDIT_LOGS

    return AUDIT_LOGS


def _meanings() -> Any:
    from specledger.wings.kernel.names import MEANINGS

    return MEANINGS


def _checks() -> tuple[CheckName, ...]:
    from specledger.wings.kernel.verify.audit_log import CHECKS

    return CHECKS


WING: Final = Wing(
    "kernel",
    _kinds,
    checks=_checks,
    admission=_admission,
    audit_logs=_audit_logs,
    controlled=_controlled,
    meanings=_meanings,
)
