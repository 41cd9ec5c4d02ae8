"""Results and verifications for other programs: what `spec run` and `spec verify` say with `--format`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli import show
from engine.cli.options import Told
from engine.cli.report import open_all, say_text, write_summary

if TYPE_CHECKING:
    from engine.pipeline import Finished
    from engine.verify.checks import Verification


def say_runs(finished: Sequence[Finished], shown: Told, workers: int) -> None:
    """Say what runs came to: as JSON, or the checks of their evidence, which is read again as `spec report` reads it.

    Args:
        finished: The runs, whose evidence is there.
        shown: For whom.
        workers: Processes that check the runs of a suite.
    """
    if shown is Told.JSON:
        show.say_json({"runs": [show.finished_json(one) for one in finished]})
        return
    from engine.report.github import annotate, step_summary
    from engine.report.junit import write_junit
    from engine.report.readings import read_subject
    from engine.report.results import Report
    from engine.report.sarif import write_sarif

    with ExitStack() as held:
        made = Report(tuple(map(read_subject, open_all([one.place for one in finished], workers, held))))
    if shown is Told.GITHUB:
        write_summary(step_summary(made))
        say_text(annotate(made))
    else:
        say_text(write_junit(made) if shown is Told.JUNIT else write_sarif(made))


def say_verification(place: Path, verification: Verification, shown: Told) -> None:
    """Say what was checked: every numbered check and every level; one that was not made is never told as passed.

    Args:
        place: Where the evidence lies.
        verification: What was checked.
        shown: For whom.
    """
    from engine.report.verified import github_of, junit_of, sarif_of, summary_of
    from engine.verify.ladder import as_json

    evidence = str(place)
    if shown is Told.JSON:
        show.say_json(as_json(verification, evidence))
    elif shown is Told.GITHUB:
        write_summary(summary_of(evidence, verification))
        say_text(github_of(evidence, verification))
    elif shown is Told.HUMAN:
        show.say(show.verification_text(place, verification))
    else:
        say_text(junit_of(evidence, verification) if shown is Told.JUNIT else sarif_of(evidence, verification))
