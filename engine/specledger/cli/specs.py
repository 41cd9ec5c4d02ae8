"""`spec check`, `plan` and `show`: the commands that read specs without running them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from specledger.cli import completion
from specledger.cli.codes import DEFECT, E_INTERNAL, E_SYSTEM
from specledger.cli.options import (
    AllowOutside,
    AnyFormat,
    CaseValues,
    Files,
    Format,
    OutputFormat,
    Overrides,
    TextOrJson,
)
from specledger.cli.output import (
    diagnostics_json,
    diagnostics_text,
    fitted,
    print_error,
    print_json,
    print_status,
    print_text,
    with_short_digests,
    write_findings,
)
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, Severity, counted, printable
from specledger.core.verdict import Exit

if TYPE_CHECKING:
    from specledger.load import Bundle
    from specledger.pipeline.checking import CheckedSpec
    from specledger.pipeline.targets import Targets

File = Annotated[
    str,
    typer.Argument(metavar="FILE", autocompletion=completion.specs, help="A spec file, or the name of a shipped spec."),
]

_MOST_ROWS: Final = 12
"""Rows of a list in text; JSON has all of them."""

_HEAD: Final = ("kind", "name", "case", "digest")


def check(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET...",
            autocompletion=completion.specs,
            help="Files, names of specs, folders, or patterns such as 'a/**/*.yaml'.",
        ),
    ],
    overrides: Overrides = None,
    allow_outside: AllowOutside = False,
    format_: AnyFormat = OutputFormat.HUMAN,
) -> None:
    """Check specs without running them, and print all findings of all files."""
    from specledger.pipeline.checking import check as check_specs
    from specledger.pipeline.editor_schemas import refresh_schemas
    from specledger.pipeline.targets import E_CHECK_NONE, expand_targets
    from specledger.pipeline.whole import Whole

    expanded = expand_targets(targets)
    whole = Whole(expanded.files, expanded.skipped)
    checked, diagnostics = check_specs(
        expanded.files, overrides or (), _crashed, allow_outside=allow_outside, whole=whole
    )
    findings = (*expanded.findings, *diagnostics)
    if any(map(os.path.isdir, targets)) and not overrides:
        findings += (*whole.findings(complete=all(found.severity is not Severity.ERROR for found in findings)),)
    refresh_schemas(expanded.files)
    _print_checked(checked, findings, format_, expanded)
    if any(finding.code == E_INTERNAL for finding in findings):
        raise typer.Exit(Exit.INTERNAL)
    wrong = [finding for finding in findings if finding.severity is Severity.ERROR]
    nothing = not expanded.files and all(finding.code == E_CHECK_NONE for finding in wrong)
    raise typer.Exit(Exit.INCONCLUSIVE if nothing else Exit.INVALID if wrong else Exit.CONFORMS)


def _crashed(target: str, error: Exception) -> Diagnostic:
    """The finding about an exception that one file causes.

    Raises:
        Exception: The exception itself, if the environment asks for tracebacks.
    """
    if os.environ.get("SPECLEDGER_TRACEBACK"):
        raise error
    if isinstance(error, OSError | MemoryError):
        why = "memory is short" if isinstance(error, MemoryError) else error.strerror or error
        return Diagnostic(E_SYSTEM, f"operating system error while checking {target}: {why}")
    what = f"internal error while checking {target}: {type(error).__name__}: {error}"
    return Diagnostic(E_INTERNAL, what, hint=DEFECT)


def _print_checked(
    checked: Sequence[CheckedSpec], findings: Sequence[Diagnostic], format_: OutputFormat, expanded: Targets
) -> None:
    """Print valid specs and a count on standard output, and findings for people on standard error."""
    if format_ is OutputFormat.JSON:
        ok = [
            {"kind": spec.kind, "name": spec.name, "case": spec.case, "digest": spec.digest, "typed": spec.typed}
            for spec in checked
        ]
        skipped = list(expanded.skipped)
        print_json({"checked": ok, "diagnostics": diagnostics_json(findings), "skipped": skipped})
    elif format_ is not OutputFormat.HUMAN:
        passed = [" ".join(word for word in (spec.kind, spec.name, spec.case) if word) for spec in checked]
        write_findings(format_, findings, passed, about="specledger/check")
    elif checked:
        print_status(_checked_text(checked))
    if findings:
        print_error(diagnostics_text(findings))
    if format_ is OutputFormat.HUMAN and (len(expanded.files) > 1 or expanded.skipped):
        print_status(_total(len({spec.file for spec in checked}), expanded))


def _total(fine: int, expanded: Targets) -> str:
    """The number of checked files, and of those that are valid."""
    wrong = len(expanded.files) - fine
    skipped = f"; skipped {counted(len(expanded.skipped), 'YAML file')} without a spec" if expanded.skipped else ""
    return f"checked {counted(len(expanded.files), 'file')}: {fine} ok, {wrong} with errors{skipped}"


def _checked_text(checked: Sequence[CheckedSpec]) -> str:
    """A line for each valid spec."""
    depths = {"compiled": "", "shape": " (shape only: its expressions are typed in a scenario that uses it)"}
    return with_short_digests(
        "\n".join(
            f"ok {spec.kind} {spec.name}{' ' + printable(spec.case) if spec.case else ''} {spec.digest} "
            f"{printable(spec.file)}{depths[spec.depth]}"
            for spec in checked
        )
    )


def plan(
    files: Files,
    overrides: Overrides = None,
    case: CaseValues = None,
    allow_outside: AllowOutside = False,
    format_: TextOrJson = Format.HUMAN,
) -> None:
    """Show what would run, without running it: cases, seeds, episodes, the most steps, and what is checked."""
    from specledger.kinds.asking_cost import doubtful_prices
    from specledger.oracles.retry_clock import Clock
    from specledger.pipeline.checking import load_runs
    from specledger.pipeline.executing import preview

    plans = [preview(bundle) for bundle in load_runs(files, overrides or (), allow_outside=allow_outside, case=case)]
    for entry in plans:
        if doubts := doubtful_prices(entry, Clock().today()):
            entry["prices"] = doubts
    if format_ is Format.JSON:
        print_json({"plans": plans})
    else:
        print_text(fitted(with_short_digests("\n".join(_plan_text(entry) for entry in plans))))
        steps = sum(entry.get("most_steps", 0) + entry.get("most_trial_steps", 0) for entry in plans)
        at_most = f", {counted(steps, 'step')} at most" if steps else ""
        print_text(f"{counted(len(plans), 'case')}{at_most}; nothing was run")
    raise typer.Exit(Exit.CONFORMS)


def _plan_text(entry: dict[str, Any]) -> str:
    """One case: its kind and name, then a line for each property."""
    name = entry["name"] + (f" {entry['case']}" if entry["case"] else "")
    lines = [f"{entry['kind']} {printable(name)}", f"  digest: {entry['digest']}"]
    for key, value in entry.items():
        if key in _HEAD:
            continue
        label = key.replace("_", " ")
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append(f"  {label}: {len(value)}")
            lines += _rows(value[:_MOST_ROWS])
            lines += [f"    and {len(value) - _MOST_ROWS} more"] if len(value) > _MOST_ROWS else []
        else:
            lines.append(f"  {label}: {_value(value)}")
    if entry.get("invariants") == [] and not (entry.get("rules") or entry.get("probes")):
        lines.append("  no invariant is checked, so the verdict cannot be PASS")
    return "\n".join(lines)


def _rows(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Mappings as a table with heads; digests, and what the name of a row says already, are left to JSON."""
    name, *others = [key for key in dict.fromkeys(key for row in rows for key in row) if key != "digest"]
    heads = [name, *(key for key in others if not all(f".{row.get(key)}." in f".{row[name]}." for row in rows))]
    cells = [[key.replace("_", " ") for key in heads], *([_value(row.get(key, "")) for key in heads] for row in rows)]
    from specledger.kinds.running import text_table

    return text_table("", cells)[1:]


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_value(item) for item in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key.replace('_', ' ')} {_value(member)}" for key, member in value.items())
    if value is None:
        return "none"
    return printable(value) if isinstance(value, str) else canonical_bytes(value).decode()


def show_spec(
    file: File,
    resolved: Annotated[
        bool, typer.Option("--resolved/--origins", help="The resolved form as JSON, or where each value came from.")
    ] = True,
    overrides: Overrides = None,
    case: CaseValues = None,
    allow_outside: AllowOutside = False,
) -> None:
    """Show a spec after extends, params, matrix and references are resolved."""
    from specledger.pipeline.checking import load_cases

    for bundle in load_cases(file, overrides or (), allow_outside=allow_outside, case=case):
        if resolved:
            print_json({"case": bundle.case, "digest": bundle.digest, **bundle.document()})
        else:
            print_text(_origins_text(bundle))


def _origins_text(bundle: Bundle) -> str:
    """Each scalar of the resolved specs with its location in a file."""
    lines = []
    for key, spec in bundle.specs.items():
        lines.append(key)
        for path, node in sorted(spec.origins.items(), key=lambda item: [str(part) for part in item[0]]):
            if node.style not in ("block", "flow"):
                dotted = ".".join(str(part) for part in path)
                location = printable(str(spec.span(*path)))
                lines.append(f"  {printable(dotted)} = {printable(node.text.value)}  # {location}")
    return "\n".join(lines)
