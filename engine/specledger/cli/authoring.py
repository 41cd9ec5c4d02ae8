"""`spec init`, `new`, `ls`, `explain` and `schema`: what helps to write specs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from specledger.cli import completion
from specledger.cli.options import Format, Overrides, TextOrJson
from specledger.cli.output import columns, fitted, print_json, print_status, print_text
from specledger.core.diagnostics import counted, printable, suggest
from specledger.report.markup import shorten

if TYPE_CHECKING:
    from specledger.load.doc_pages import TermRow
    from specledger.pipeline.authoring import Described
    from specledger.pipeline.targets import ListedSpec

_MOST_LINE: Final = 65_536  # characters of a line of what a model is asked
_REUSE: Final = ("extends", "use", "params", "matrix")
"""Keys of every kind that are resolved before a model sees the document."""
_MOST_ROWS: Final = 8
"""Rows of the documentation's tables that explain one name."""


def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="The folder; it may exist.")] = Path(),
    start: Annotated[
        str,
        typer.Option(
            "--start",
            autocompletion=completion.starts,
            help="What it begins with: `world` (an agent and rules in a world), `reasons` (are an agent's reasons "
            "real?), or `logs` (rules over logs of tool calls).",
        ),
    ] = "world",
    editor: Annotated[
        str | None,
        typer.Option(
            "--editor",
            autocompletion=completion.editors,
            show_default="VS Code, with schemas alone",
            help="The editor whose settings for `spec lsp` are written: `vscode`, `neovim` or `helix`.",
        ),
    ] = None,
) -> None:
    """Write a project: specs whose run fails until one edit is made, CI, and schemas for editors."""
    from specledger.pipeline.editor_schemas import SCHEMAS
    from specledger.pipeline.project import editors, starts, write_project

    known = starts()
    if start not in known:
        near = suggest(start, known)
        hint = f"; did you mean {near}?" if near else ""
        raise typer.BadParameter(f"there is no start {printable(start)}, but {', '.join(known)}{hint}")
    if editor is not None and editor not in editors():
        raise typer.BadParameter(f"there are settings for {', '.join(editors())}, not for {printable(editor)}")
    project = write_project(folder, start, editor)
    lines = [f"wrote {printable(str(folder / file))}" for file in project.written]
    lines += [f"kept  {printable(str(folder / file))}" for file in project.kept]
    lines.append(f"wrote {printable(str(folder / SCHEMAS))} (JSON Schemas for editors)")
    run, edit, line = f"  spec run {project.start.run}", project.start.edit, project.line(folder)
    lines += ["", "Next:"] if folder == Path() else ["", "Next:", f"  cd {printable(shlex.quote(str(folder)))}"]
    lines += ["  spec check .", f"{run:<24}# FAIL: {project.start.reason}"]
    if line is not None:
        lines += ["", f"Then write `{edit.by}` in {edit.file}, line {line}, and:", f"{run:<24}# PASS"]
    lines += ["", "For one of your own change, in this order:", *project.start.own_files(), "", "Other starts:"]
    lines += [f"  spec init --start {name:<9}# {other.doc}" for name, other in known.items() if name != start]
    print_status("\n".join(lines))


def ls(
    kind: Annotated[
        str | None,
        typer.Argument(metavar="[KIND]", autocompletion=completion.kinds, help="One kind only, such as scenario."),
    ] = None,
    format_: TextOrJson = Format.HUMAN,
) -> None:
    """List the specs of the project and then the shipped ones, of each kind, with a line about each."""
    from specledger.kinds import KINDS
    from specledger.pipeline.targets import list_specs

    if kind is not None and kind not in KINDS:
        near = suggest(kind, KINDS)
        hint = f"; did you mean {near}?" if near else f"; kinds are {', '.join(KINDS)}"
        raise typer.BadParameter(f"there is no kind {printable(kind)}{hint}")
    listed = list(list_specs(kind))
    if format_ is Format.JSON:
        rows = [
            {
                "kind": spec.kind,
                "name": spec.name,
                "file": str(spec.file),
                "shipped": spec.shipped,
                "summary": spec.summary,
            }
            for spec in listed
        ]
        print_json({"specs": rows})
        return
    for group, members in groupby(listed, key=lambda spec: spec.kind):
        specs = list(members)
        width = max(len(spec.name) for spec in specs)
        print_text(f"{group} ({len(specs)})")
        for spec in specs:
            own = "" if spec.shipped else "  (project)"
            line = f"  {printable(spec.name):<{width}}  {printable(spec.summary)}"
            most = columns()
            print_text((line if most is None else shorten(line, max(most - len(own), 40))).rstrip() + own)


def schema(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]", autocompletion=completion.kinds, help="A kind, such as world; all if none is named."
        ),
    ] = None,
) -> None:
    """Print the JSON Schema of a kind, for editors and other tools; `receipts/run` is of the receipts of a run."""
    from specledger.evidence.receipts.schemas import schema_of
    from specledger.kinds import KINDS
    from specledger.load.schemas import schema_for
    from specledger.pipeline.authoring import RECEIPTS

    if kind is not None and kind.startswith(RECEIPTS):
        name, types = kind.removeprefix(RECEIPTS), KINDS.receipts()
        if name not in types:
            raise typer.BadParameter(f"there are receipts of {', '.join(types)}, not of {name!r}")
        print_json(schema_of(name, types[name]))
        return
    wanted = KINDS if kind is None else {kind: KINDS.get(kind)}
    schemas = {name: schema_for(name, row.model) for name, row in wanted.items() if row is not None}
    if not schemas:
        raise typer.BadParameter(f"{kind!r} is no kind; there are {', '.join(KINDS)}")
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
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", show_default="[specs/KIND/]NAME.yaml", help="The file to write."),
    ] = None,
    tools: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Make a world or a policy of tools: MCP's tools/list, OpenAI's tools, ATIF, or logs; may be repeated.",
        ),
    ] = None,
) -> None:
    """Write a small commented spec of a kind; never overwrites a file."""
    from specledger.kinds import KINDS
    from specledger.pipeline.authoring import write_new

    missing = next((path for path in tools or () if not path.exists()), None)
    if missing is not None:
        raise typer.BadParameter(f"there is no file {printable(str(missing))}")
    file = write_new(kind, name, out, tools or ())
    follows = shlex.join(["spec", "run" if KINDS[kind].runs else "check", str(file)])
    print_status(f"wrote {printable(str(file))}; next: {printable(follows)}")


def explain(
    what: Annotated[
        str,
        typer.Argument(
            metavar="CODE|PATH|TERM|FILE|NAME",
            autocompletion=completion.explained,
            help="A code such as E_CHAIN; a kind or a key of one, such as scenario.probes; a term or a name in a "
            "report, such as vacuous_pass; a file or the name of a spec, whose rules are said in sentences, or of an "
            "agent that is a model; `codes` or `kinds`.",
        ),
    ],
    scenario: Annotated[
        str | None,
        typer.Option(metavar="SCENARIO", show_default="a shipped one", help="Where an agent that is a model is asked."),
    ] = None,
    trajectories: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            show_default="those of the scenario's agent",
            help="Logs whose calls are compared with the actions of a world or a scenario; may be repeated.",
        ),
    ] = None,
    overrides: Overrides = None,
) -> None:
    """Explain a code, a kind, a key, a term, the rules of a spec in plain sentences, or what a model would be asked.

    Of a scenario whose agent is a recording it says which calls do not fit the actions of its world.
    """
    from specledger.core.diagnostics import title_of
    from specledger.kinds import KINDS
    from specledger.pipeline.authoring import load_codes

    if trajectories:
        missing = next((path for path in trajectories if not path.exists()), None)
        if missing is not None:
            raise typer.BadParameter(f"there is no file {printable(str(missing))}")
        if not _explained_rules(what, overrides or (), trajectories):
            raise typer.BadParameter(f"there is no world and no scenario {what!r}")
        return
    if what == "kinds":
        print_text(fitted(_kinds_text()))
        return
    if what == "codes":
        print_text(fitted(_codes_text()))
        return
    if "." not in what and what not in KINDS:
        load_codes()
    code = what.upper()
    if (title := title_of(code)) is not None:
        print_text(_code_text(code, title))
        return
    _explain_name(what, scenario, overrides or ())


def _explain_name(what: str, scenario: str | None, overrides: Sequence[str]) -> None:
    """Print what a kind, a key, a spec, a term or a name in a report means."""
    from specledger.core.diagnostics import codes
    from specledger.kinds import KINDS
    from specledger.load.doc_pages import rows_about
    from specledger.load.library import SUFFIXES
    from specledger.pipeline.authoring import RECEIPTS, describe, fields_named, keys_named
    from specledger.pipeline.targets import specs_named

    is_file = what.endswith(SUFFIXES)
    rows, specs = ([], []) if is_file else (rows_about(what), [] if what in KINDS else specs_named(what))
    keys = [] if specs or what in KINDS else keys_named(what) or ([] if rows else fields_named(what))
    kind, _, key = what.partition(".")
    if what in KINDS:
        print_text(fitted(_kind_text(what, describe(what))))
    elif (specs or not rows) and (_explained_model(what, scenario, overrides) or _explained_rules(what, overrides)):
        return
    elif specs:
        parts = [*(_spec_text(spec) for spec in specs), *([_rows_text(what, rows)] if rows else [])]
        print_text(fitted("\n\n".join(parts)))
    elif kind in KINDS and key in _REUSE:
        print_text(fitted(_rows_text(what, rows_about(key))))
    elif ("." in what or what.startswith(RECEIPTS)) and not rows:
        print_text(fitted(_key_text(describe(what))))
    elif rows or keys:
        parts = [*map(_key_text, keys), *([_rows_text(what, rows)] if rows else [])]
        print_text(fitted("\n\n".join(parts)))
    else:
        near = suggest(what.upper(), codes()) if what.upper()[:2] in ("E_", "W_") else _near(what)
        listed = f"did you mean {near}?" if near else "`spec explain codes` and `spec explain kinds` list what there is"
        raise typer.BadParameter(f"there is no code, kind or term {what!r}; {listed}")


def _near(word: str) -> str | None:
    """The kind, the spec or the term that was probably meant by a misspelt word."""
    from specledger.kinds import KINDS
    from specledger.load.doc_pages import term_like
    from specledger.pipeline.targets import spec_names

    near = (suggest(word, KINDS), suggest(word, spec_names(KINDS)), term_like(word))
    return suggest(word, [name for name in near if name is not None])


def _spec_text(spec: ListedSpec) -> str:
    """What a spec is, where it is, and what can be done with it."""
    from specledger.kinds import KINDS

    whose, runs = "shipped" if spec.shipped else "of the project", KINDS[spec.kind].runs
    lines = [f"{spec.kind} {printable(spec.name)} ({whose}): {printable(spec.doc, _MOST_LINE) or 'it has no doc'}"]
    lines.append(f"  file: {printable(str(spec.file))}")
    return "\n".join([*lines, f"  `spec {'run' if runs else 'show'} {printable(shlex.quote(spec.name))}`"])


def _codes_text() -> str:
    """Each diagnostic code with its title."""
    from specledger.core.diagnostics import codes
    from specledger.pipeline.authoring import load_codes

    load_codes()
    width = max(map(len, codes()))
    return "\n".join(f"{code:{width}}  {title}" for code, title in codes().items())


def _code_text(code: str, title: str) -> str:
    """What a code means, what to do about it, and an example."""
    from specledger.load.doc_pages import page_of

    page = page_of(code)
    example = f"\n\nExample: {shown}" if (shown := page.shown_example()) else ""
    return fitted(f"{code}: {title}\n\n{page.about}") + example


def _explained_model(what: str, scenario: str | None, overrides: Sequence[str]) -> bool:
    """Print what a model would be asked, if an agent that is one is named, or a scenario with one."""
    from specledger.pipeline.asked_model import first_question, is_spec

    if not is_spec(what):
        return False
    asked = first_question(what, scenario, overrides)
    if asked is None:
        return False
    tokens = asked.tokens
    parts = {"system": asked.system, "question": asked.question, "functions": asked.tools}
    lines = [f"{printable(asked.agent)} in {printable(asked.scenario)}: its first question"]
    for name, text in parts.items():
        lines += [
            "",
            f"== {name}, about {counted(tokens[name], 'token')} ==",
            *(printable(line, _MOST_LINE) for line in text.splitlines()),
        ]
    total = (
        f"about {counted(tokens['all'], 'token')}: one for every four bytes of UTF-8; a service counts in its own way"
    )
    print_text("\n".join([*lines, "", total]))
    return True


def _explained_rules(what: str, overrides: Sequence[str], logs: Sequence[Path] = ()) -> bool:
    """Print the rules of a spec in sentences, if a file or the name of a spec that has rules is given."""
    from specledger.lang.statement import lines_of
    from specledger.load.library import SUFFIXES
    from specledger.pipeline.explaining import explain, explain_name

    is_file = what.endswith(SUFFIXES)
    specs = explain(what, overrides, logs=logs) if is_file else explain_name(what, overrides, logs)
    blocks = []
    for spec in specs:
        doc = f" ({spec.doc.rstrip('.')})" if spec.doc else ""
        blocks.append([f"{spec.kind} {spec.name}{doc}:", *(f"  {line}" for line in lines_of(spec.statements))])
    if blocks:
        shown = ("\n".join(printable(line, _MOST_LINE) for line in block) for block in blocks)
        print_text(fitted("\n\n".join(shown)))
    return bool(blocks)


def _rows_text(what: str, rows: Sequence[TermRow]) -> str:
    """The rows of the documentation's tables about a name."""
    lines = []
    for row in rows[:_MOST_ROWS]:
        cells = [(head, cell) for head, cell in row.cells.items() if cell]
        alone = len(row.cells) == 1
        lines += [f"{what}: {cells[0][1]}"] if alone else [what, *(f"  {head}:  {cell}" for head, cell in cells)]
        lines.append(f"  (docs/{row.page}, {row.section})")
    more = len(rows) - _MOST_ROWS
    return "\n".join([*lines, *([f"and {more} more in the documentation"] if more > 0 else [])])


def _key_text(key: Described) -> str:
    needed = "required" if key.required else "optional" if key.default is None else f"default {key.default}"
    lines = [f"{key.path}: {key.type} ({needed})"]
    lines += [f"  {key.doc}"] if key.doc else []
    lines += [f"  allowed: {', '.join(key.allowed)}"] if key.allowed else []
    return "\n".join([*lines, *(["  keys below:", *_rows_of_keys(key)] if key.keys else [])])


def _rows_of_keys(key: Described) -> list[str]:
    """Each key below a key, with what it is."""
    from specledger.pipeline.authoring import describe

    width = max(map(len, key.keys))
    below = {name: describe(f"{key.path}.{name}") for name in key.keys}
    return [f"    {name:{width}}  {under.doc}{_allowed(under)}" for name, under in below.items()]


def _allowed(key: Described) -> str:
    """The values that a key allows, and whether it is needed, in parentheses."""
    needed = ["required"] if key.required else [] if key.default is None else [f"default {key.default}"]
    parts = "; ".join([*([", ".join(key.allowed)] if key.allowed else []), *needed])
    return f" ({parts})" if parts else ""


def _kind_text(kind: str, description: Described) -> str:
    from specledger.pipeline.authoring import about_kinds

    lines = [f"{kind}: {about_kinds()[kind]}", "  keys:", *_rows_of_keys(description)]
    return "\n".join([*lines, f"  `spec explain {kind}.KEY` explains a key; `spec new {kind}` writes an example"])


def _kinds_text() -> str:
    """Each kind of spec with its description."""
    from specledger.pipeline.authoring import about_kinds

    lines = [f"{kind:10} {text}".rstrip() for kind, text in about_kinds().items()]
    return "\n".join([*lines, "", "`spec schema KIND` prints the fields of one."])
