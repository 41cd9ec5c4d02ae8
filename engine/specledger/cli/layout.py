"""`spec fmt` and `spec migrate`: rewrite specs, or say which ones are to be rewritten."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from specledger.cli import completion
from specledger.cli.output import diagnostics_text, print_error, print_status, print_text
from specledger.core.diagnostics import Diagnostics, Severity, counted, printable
from specledger.core.verdict import Exit

if TYPE_CHECKING:
    from specledger.load.document import Document

Targets = Annotated[
    list[str],
    typer.Argument(
        metavar="TARGET...",
        autocompletion=completion.specs,
        help="Files, folders, or patterns such as 'a/**/*.yaml'.",
    ),
]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if a file would change.")]
Diff = Annotated[bool, typer.Option("--diff", help="Write nothing; print what would change.")]


def fmt(targets: Targets, check: Check = False, diff: Diff = False) -> None:
    """Lay out specs: indentation, quotes, the order of keys. Comments are kept, and the meaning stays the same."""
    from specledger.pipeline.formatting import format_document

    _rewrite(targets, format_document, "formatted", check=check, diff=diff)


def migrate(targets: Targets, check: Check = False, diff: Diff = False) -> None:
    """Rename keys that later versions of specs have under another name. Comments, values and all else are kept."""
    from specledger.pipeline.formatting import migrate_document

    _rewrite(targets, migrate_document, "migrated", check=check, diff=diff)


def _rewrite(targets: list[str], rewrite: Callable[[Document], str], did: str, *, check: bool, diff: bool) -> None:
    """Rewrite the files that need it, or print which ones do.

    Raises:
        typer.Exit: Always; 1 if files would change that are only looked at, 2 if one cannot be read.
    """
    from specledger.pipeline.formatting import rewrite_files
    from specledger.pipeline.targets import E_CHECK_NONE, expand_targets

    expanded = expand_targets(targets)
    diagnostics = Diagnostics()
    diagnostics.extend(expanded.findings)
    changed = []
    for file in rewrite_files(expanded.files, diagnostics, rewrite):
        if not file.changes:
            continue
        changed.append(file.file)
        if diff:
            print_text("\n".join(map(printable, file.diff().split("\n"))))
        elif not check:
            file.write()
    verb = "would change" if check or diff else did
    total = f"{counted(len(expanded.files), 'file')}: {len(changed)} changed, {len(expanded.files) - len(changed)} not"
    print_status("\n".join([*(f"{verb} {printable(file)}" for file in changed), total]))
    findings = diagnostics.sorted()
    if findings:
        print_error(diagnostics_text(findings))
    wrong = [finding for finding in findings if finding.severity is Severity.ERROR]
    if wrong:
        nothing = not expanded.files and all(finding.code == E_CHECK_NONE for finding in wrong)
        raise typer.Exit(Exit.INCONCLUSIVE if nothing else Exit.INVALID)
    raise typer.Exit(Exit.FINDINGS if changed and (check or diff) else Exit.CONFORMS)
