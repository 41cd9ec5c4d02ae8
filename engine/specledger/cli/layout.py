"""`spec fmt`: lays out specs, or says which ones are not laid out."""

from __future__ import annotations

from typing import Annotated

import typer

from specledger.cli import completion
from specledger.cli.output import diagnostics_text, print_error, print_status, print_text
from specledger.core.diagnostics import Diagnostics, Severity, counted, printable
from specledger.core.verdict import Exit


def fmt(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET...",
            autocompletion=completion.specs,
            help="Files, folders, or patterns such as 'a/**/*.yaml'.",
        ),
    ],
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if a file would change.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; print what would change.")] = False,
) -> None:
    """Lay out specs: indentation, quotes, the order of keys. Comments are kept, and the meaning stays the same."""
    from specledger.pipeline.formatting import format_files
    from specledger.pipeline.targets import E_CHECK_NONE, expand_targets

    expanded = expand_targets(targets)
    diagnostics = Diagnostics()
    diagnostics.extend(expanded.findings)
    changed = [file for file in format_files(expanded.files, diagnostics) if file.changes]
    for file in changed:
        if diff:
            print_text("\n".join(map(printable, file.diff().split("\n"))))
        elif not check:
            file.write()
    verb = "would change" if check or diff else "formatted"
    total = f"{counted(len(expanded.files), 'file')}: {len(changed)} changed, {len(expanded.files) - len(changed)} not"
    print_status("\n".join([*(f"{verb} {printable(file.file)}" for file in changed), total]))
    findings = diagnostics.sorted()
    if findings:
        print_error(diagnostics_text(findings))
    wrong = [finding for finding in findings if finding.severity is Severity.ERROR]
    if wrong:
        nothing = not expanded.files and all(finding.code == E_CHECK_NONE for finding in wrong)
        raise typer.Exit(Exit.INCONCLUSIVE if nothing else Exit.INVALID)
    raise typer.Exit(Exit.FINDINGS if changed and (check or diff) else Exit.CONFORMS)
