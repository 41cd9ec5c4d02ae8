"""`spec check`, `plan`, `show`, `schema`, `new` and `explain`: everything about specs that does not run them."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from specledger.cli import completion
from specledger.cli.codes import DEFECT, E_INTERNAL
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
    print_error,
    print_json,
    print_status,
    print_text,
    write_output,
)
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, Severity, counted, printable
from specledger.core.diagnostics import explain as page_of
from specledger.core.verdict import Exit
from specledger.report.formats import FORMATS

if TYPE_CHECKING:
    from specledger.load import Bundle
    from specledger.pipeline.authoring import Described
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
    from specledger.pipeline.targets import E_CHECK_NONE, expand_targets

    wanted = expand_targets(targets)
    checked, found = check_specs(wanted.files, overrides or (), _crashed, allow_outside=allow_outside)
    findings = (*wanted.findings, *found)
    _print_checked(checked, findings, format_, wanted)
    if any(one.code == E_INTERNAL for one in findings):
        raise typer.Exit(Exit.INTERNAL)
    wrong = [one for one in findings if one.severity is Severity.ERROR]
    nothing = not wanted.files and all(one.code == E_CHECK_NONE for one in wrong)
    raise typer.Exit(Exit.INCONCLUSIVE if nothing else Exit.INVALID if wrong else Exit.CONFORMS)


def _crashed(target: str, error: Exception) -> Diagnostic:
    """The finding about an exception that one file causes.

    Raises:
        Exception: The exception itself, if the environment asks for tracebacks.
    """
    if os.environ.get("SPECLEDGER_TRACEBACK"):
        raise error
    what = f"internal error while checking {target}: {type(error).__name__}: {error}"
    return Diagnostic(E_INTERNAL, what, hint=DEFECT)


def _print_checked(
    checked: Sequence[CheckedSpec], findings: Sequence[Diagnostic], format_: OutputFormat, wanted: Targets
) -> None:
    """Print valid specs and a count on standard output, and findings for people on standard error."""
    if format_ is OutputFormat.JSON:
        ok = [
            {"kind": one.kind, "name": one.name, "case": one.case, "digest": one.digest, "typed": one.typed}
            for one in checked
        ]
        skipped = list(wanted.skipped)
        print_json({"checked": ok, "diagnostics": diagnostics_json(findings), "skipped": skipped})
    elif format_ is not OutputFormat.HUMAN:
        from specledger.report.model import Report

        passed = [" ".join(word for word in (one.kind, one.name, one.case) if word) for one in checked]
        write_output(FORMATS[format_].write(Report.from_findings(findings, passed)))
    elif checked:
        print_status(_checked_text(checked))
    if findings:
        print_error(diagnostics_text(findings))
    if format_ is OutputFormat.HUMAN and (len(wanted.files) > 1 or wanted.skipped):
        print_status(_total(len({one.file for one in checked}), wanted))


def _total(fine: int, wanted: Targets) -> str:
    """How many files were checked, and how many are in order."""
    wrong = len(wanted.files) - fine
    skipped = f"; skipped {counted(len(wanted.skipped), 'YAML file')} without a spec" if wanted.skipped else ""
    return f"checked {counted(len(wanted.files), 'file')}: {fine} ok, {wrong} with errors{skipped}"


def _checked_text(checked: Sequence[CheckedSpec]) -> str:
    """A line for each valid spec."""
    depths = {"compiled": "", "shape": " (shape only: its expressions are typed in a scenario that uses it)"}
    return "\n".join(
        f"ok {one.kind} {one.name}{' ' + printable(one.case) if one.case else ''} {one.digest}{depths[one.depth]}"
        for one in checked
    )


def plan(
    files: Files,
    overrides: Overrides = None,
    case: CaseValues = None,
    allow_outside: AllowOutside = False,
    format_: TextOrJson = Format.HUMAN,
) -> None:
    """Show what would run, without running it: cases, seeds, episodes, the most steps, and what is checked."""
    from specledger.pipeline.checking import load_runs
    from specledger.pipeline.executing import preview

    found = [preview(bundle) for bundle in load_runs(files, overrides or (), allow_outside=allow_outside, case=case)]
    if format_ is Format.JSON:
        print_json({"plans": found})
    else:
        print_text("\n".join(_plan_text(one) for one in found))
        steps = sum(one.get("most_steps", 0) + one.get("most_trial_steps", 0) for one in found)
        print_text(f"{counted(len(found), 'case')}, {counted(steps, 'step')} at most; nothing was run")
    raise typer.Exit(Exit.CONFORMS)


def _plan_text(found: dict[str, Any]) -> str:
    """One case: its kind and name, then a line for each property."""
    name = found["name"] + (f" {found['case']}" if found["case"] else "")
    lines = [f"{found['kind']} {printable(name)}", f"  digest: {found['digest']}"]
    for key, value in found.items():
        if key in _HEAD:
            continue
        label = key.replace("_", " ")
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append(f"  {label}: {len(value)}")
            lines += [f"    {_row(row)}" for row in value[:_MOST_ROWS]]
            lines += [f"    and {len(value) - _MOST_ROWS} more"] if len(value) > _MOST_ROWS else []
        else:
            lines.append(f"  {label}: {_value(value)}")
    if found.get("invariants") == []:
        lines.append("  no invariant is checked, so the verdict cannot be PASS")
    return "\n".join(lines)


def _row(row: dict[str, Any]) -> str:
    """A mapping on a line: its first value, then the rest as `key value`."""
    first, *rest = row.items()
    return " ".join([_value(first[1]), *(f"{key} {_value(value)}" for key, value in rest)])


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_value(each) for each in value) or "none"
    if isinstance(value, dict):
        return _row({"": "", **value}).strip()
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
    """Each scalar of the resolved specs with its place in a file."""
    lines = []
    for key, spec in bundle.specs.items():
        lines.append(key)
        for path, node in sorted(spec.origins.items(), key=lambda item: [str(part) for part in item[0]]):
            if node.style not in ("block", "flow"):
                dotted = ".".join(str(part) for part in path)
                place = printable(str(spec.span(*path)))
                lines.append(f"  {printable(dotted)} = {printable(node.text.value)}  # {place}")
    return "\n".join(lines)


def schema(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]", autocompletion=completion.kinds, help="A kind, such as world; all if none is named."
        ),
    ] = None,
) -> None:
    """Print the JSON Schema of a kind, for editors and other tools."""
    from specledger.kinds import MODELS
    from specledger.load.schemas import schema_for

    wanted = MODELS if kind is None else {kind: MODELS.get(kind)}
    schemas = {name: schema_for(name, model) for name, model in wanted.items() if model is not None}
    if not schemas:
        raise typer.BadParameter(f"{kind!r} is no kind; there are {', '.join(MODELS)}")
    print_json(schemas if kind is None else schemas[kind])


def new(
    kind: Annotated[
        str,
        typer.Argument(
            autocompletion=completion.kinds, help="A kind, such as scenario; `spec explain kinds` lists them."
        ),
    ],
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Its name; by default that of the file or the example.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", show_default="NAME.yaml", help="The file to write.")
    ] = None,
) -> None:
    """Write a small commented spec of a kind; never overwrites a file."""
    from specledger.kinds import KINDS
    from specledger.pipeline.authoring import write_new

    file = write_new(kind, name, out)
    follows = shlex.join(["spec", "check" if KINDS[kind].runnable is None else "run", str(file)])
    print_status(f"wrote {printable(str(file))}; next: {printable(follows)}")


def explain(
    what: Annotated[
        str,
        typer.Argument(
            metavar="CODE|PATH",
            autocompletion=completion.explained,
            help="A code such as E_CHAIN; a kind or a key of one, such as scenario.probes; `codes` or `kinds`.",
        ),
    ],
) -> None:
    """Explain a diagnostic code, a kind, or a key of a kind."""
    from specledger.core.diagnostics import codes, suggest
    from specledger.kinds import KINDS
    from specledger.pipeline.authoring import describe, load_codes
    from specledger.pipeline.code_examples import example_of

    if what == "kinds":
        print_text(_kinds_text())
        return
    if what == "codes":
        load_codes()
        width = max(map(len, codes()))
        print_text("\n".join(f"{page.name:{width}}  {page.title}" for page in codes().values()))
        return
    if "." not in what and what not in KINDS:
        load_codes()
    page = page_of(what.upper())
    if page is not None:
        example = example_of(page.name)
        print_text(f"{page.name}: {page.title}\n\n{page.text}" + (f"\n\nExample: {example}" if example else ""))
        return
    if "." in what or what in KINDS:
        print_text(_key_text(describe(what)))
        return
    near = suggest(what.upper(), codes()) or suggest(what, KINDS)
    raise typer.BadParameter(f"there is no code or kind {what!r}" + (f"; did you mean {near}?" if near else ""))


def _key_text(found: Described) -> str:
    needed = "required" if found.required else "optional" if found.default is None else f"default {found.default}"
    lines = [f"{found.path}: {found.type} ({needed})"]
    lines += [f"  {found.doc}"] if found.doc else []
    lines += [f"  allowed: {', '.join(found.allowed)}"] if found.allowed else []
    lines += [f"  keys below: {', '.join(found.keys)}"] if found.keys else []
    return "\n".join(lines)


def _kinds_text() -> str:
    """Each kind of spec with its description."""
    from specledger.kinds import MODELS

    about = {kind: (sys.modules[model.__module__].__doc__ or "").partition("\n")[0] for kind, model in MODELS.items()}
    lines = [f"{kind:10} {text.partition(': ')[2]}".rstrip() for kind, text in about.items()]
    return "\n".join([*lines, "", "`spec schema KIND` prints the fields of one."])
