"""`spec check`: every finding of every file, without running anything."""

from __future__ import annotations

import os

import typer

from specledger.cli.checked import say_checked
from specledger.cli.codes import DEFECT, E_INTERNAL
from specledger.cli.options import Files, OutputFormat, Overrides, ToldAs
from specledger.core.diagnostics import Diagnostic, Severity
from specledger.core.verdict import Exit


def check(files: Files, overrides: Overrides = None, shown: ToldAs = OutputFormat.HUMAN) -> None:
    """Check specs without running them; every finding of every file at once."""
    from specledger.pipeline.checking import check as check_specs

    checked, findings = check_specs(files, overrides or (), _crashed)
    say_checked(checked, findings, shown)
    if any(one.code == E_INTERNAL for one in findings):
        raise typer.Exit(Exit.INTERNAL)
    wrong = any(one.severity is Severity.ERROR for one in findings)
    raise typer.Exit(Exit.INVALID if wrong else Exit.CONFORMS)


def _crashed(target: str, error: Exception) -> Diagnostic:
    """The finding that one file met a defect of the engine.

    Raises:
        Exception: The defect itself, where the environment asks for its traceback.
    """
    if os.environ.get("SPECLEDGER_TRACEBACK"):
        raise error
    what = f"internal error while checking {target}: {type(error).__name__}: {error}"
    return Diagnostic(E_INTERNAL, what, hint=DEFECT)
