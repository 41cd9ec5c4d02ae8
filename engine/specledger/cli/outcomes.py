"""Results, verifications and refusals for other programs: what commands say with `--format`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from specledger.cli import show
from specledger.cli.options import OutputFormat
from specledger.cli.report import open_all, say_output
from specledger.report.formats import FORMATS

if TYPE_CHECKING:
    from specledger.core.diagnostics import Diagnostic
    from specledger.kinds.running import Finished
    from specledger.verify.checks import Verification


def say_runs(finished: Sequence[Finished], shown: OutputFormat, workers: int) -> None:
    """Say what runs came to: as JSON, or the checks of their evidence, which is read again as `spec report` reads it.

    Args:
        finished: The runs, whose evidence is there.
        shown: For whom.
        workers: Processes that check the runs of a suite.
    """
    if shown is OutputFormat.JSON:
        show.say_json({"runs": [show.finished_json(one) for one in finished]})
        return
    from specledger.kinds import KINDS, report_kinds
    from specledger.report.subject import from_evidence

    with ExitStack() as held:
        made = from_evidence(open_all([one.place for one in finished], workers, held), report_kinds(KINDS))
        say_output(FORMATS[shown].write(made))


def say_verification(place: Path, verification: Verification, shown: OutputFormat) -> None:
    """Say what was checked: every numbered check and every level; one that was not made is never told as passed.

    Args:
        place: Where the evidence lies.
        verification: What was checked.
        shown: For whom.
    """
    from specledger.report.model import Report
    from specledger.verify.assurance_levels import as_json

    if shown is OutputFormat.JSON:
        show.say_json(as_json(verification, str(place)))
    elif shown is OutputFormat.HUMAN:
        show.say(show.verification_text(place, verification))
    else:
        say_output(FORMATS[shown].write(Report.from_verification(str(place), verification)))


def refuse(diagnostics: Sequence[Diagnostic]) -> None:
    """Say why a command ends without a result: on standard error, and as a document where a program waits for one."""
    shown = _asked(sys.argv)
    if shown == OutputFormat.JSON:
        show.say_json({"diagnostics": show.diagnostics_json(diagnostics)})
    elif shown in (OutputFormat.JUNIT, OutputFormat.SARIF, OutputFormat.GITHUB):
        from specledger.report.model import Report

        say_output(FORMATS[shown].write(Report.from_findings(diagnostics, about="specledger", not_run=True)))
    show.complain(show.diagnostics_text(diagnostics))


def _asked(words: Sequence[str]) -> str:
    """The last `--format` of a command line: whoever cannot read the command is to be answered in it too."""
    named = [
        after if word == "--format" else word.partition("=")[2]
        for word, after in pairwise([*words, ""])
        if word.partition("=")[0] == "--format"
    ]
    return named[-1] if named else OutputFormat.HUMAN
