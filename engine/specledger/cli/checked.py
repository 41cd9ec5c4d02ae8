"""How `spec check` shows what it found, for people and for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specledger.cli import show
from specledger.cli.options import OutputFormat
from specledger.cli.report import say_output
from specledger.report.formats import FORMATS

if TYPE_CHECKING:
    from specledger.core.diagnostics import Diagnostic
    from specledger.pipeline.checking import CheckedSpec


def say_checked(checked: Sequence[CheckedSpec], findings: Sequence[Diagnostic], shown: OutputFormat) -> None:
    """Say what is in order on standard output, and findings for people on standard error.

    Args:
        checked: The specs that are in order.
        findings: What is not.
        shown: For whom.
    """
    if shown is OutputFormat.JSON:
        ok = [
            {"kind": one.kind, "name": one.name, "case": one.case, "digest": one.digest, "typed": one.typed}
            for one in checked
        ]
        show.say_json({"checked": ok, "diagnostics": show.diagnostics_json(findings)})
    elif shown is not OutputFormat.HUMAN:
        from specledger.report.model import Report

        passed = [" ".join(word for word in (one.kind, one.name, one.case) if word) for one in checked]
        say_output(FORMATS[shown].write(Report.from_findings(findings, passed)))
    elif checked:
        show.say(show.checked_text(checked))
    if findings:
        show.complain(show.diagnostics_text(findings))
