"""`spec keys`: make keys, and show their public parts."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from specledger.cli.output import print_json, print_text, with_output_options, write_text
from specledger.core.canonical import pretty
from specledger.core.diagnostics import Rejected, printable

keys = typer.Typer(
    name="keys",
    help="Keys that sign evidence (Ed25519).",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
)


@keys.command()
@with_output_options
def new(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where the private key goes; the public one goes to FILE.pub.")
    ],
) -> None:
    """Make a key: FILE for its owner alone, FILE.pub for everybody. Nothing is overwritten, and git ignores FILE."""
    from specledger.cli.repository import ignore_private
    from specledger.evidence.keys import PUBLIC_SUFFIX, new_key, refuse_existing

    refuse_existing(file)
    ignored = ignore_private(file)
    key = new_key(file)
    name = printable(str(file))
    says = "" if ignored is None else f"; added to {printable(str(ignored))}"
    print_text(
        f"private key  {name} (keep it to yourself{says})\npublic key   {name}{PUBLIC_SUFFIX}\nkey id       {key.id}"
    )


@keys.command(name="show")
@with_output_options
def show_key(
    key: Annotated[
        str,
        typer.Argument(metavar="KEY", help="A public or a private key's file, or env:NAME. Nothing private is shown."),
    ],
    trust: Annotated[
        bool, typer.Option("--trust", help="Print the trust.json of a reader who trusts this key alone.")
    ] = False,
    origin: Annotated[
        str | None, typer.Option(metavar="NAME", show_default="specledger/{run}", help="The origin in it.")
    ] = None,
    run: Annotated[str | None, typer.Option(metavar="ID", help="The run that is expected.")] = None,
    specs: Annotated[
        str | None, typer.Option(metavar="DIGEST", help="The digest of the specs that are expected.")
    ] = None,
    recording: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIGEST", help="The digest of the logs that are expected, by `spec import`; may be repeated."
        ),
    ] = None,
    program: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMMAND", help="The program that is expected: a command or module:name, of files here; repeatable."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write it to a file, whole or not at all.")
    ] = None,
) -> None:
    """Print the public key and its id, or a trust.json; or write it to a file."""
    named = {"--origin": origin, "--run": run, "--specs": specs, "--recording": recording, "--program": program}
    given = [option for option, value in named.items() if value]
    if given and not trust:
        raise typer.BadParameter(f"{given[0]} is part of a trust.json: add --trust")
    several = {"recording": [*map(_recording, recording or ())], "program": [*map(_program, program or ())]}
    expected: dict[str, Any] = {name: value for name, value in (("run", run), ("specs", specs)) if value}
    expected |= {name: values[0] if len(values) == 1 else values for name, values in several.items() if values}
    try:
        text = _trust_text(key, origin, expected) if trust else _shown_key(key)
    except Rejected as rejected:
        # A shell has emptied the file of `> trust.json` by now: what stands in it shall say that it is none.
        if trust and out is None and not sys.stdout.isatty():
            print_json({"error": [str(each.code) for each in rejected.diagnostics]})
        raise
    write_text(text, out)


def _recording(text: str) -> Any:
    if Path(text).exists():
        name = printable(text)
        message = f"--recording is a digest of 64 hexadecimal digits, and {name} is a file or a folder"
        raise typer.BadParameter(f"{message}: `spec import {name} --out lines.jsonl` prints the one of such logs")
    return text


def _program(text: str) -> Any:
    """The program of a command, or the function `module:name`, with the digests of its files in the current folder."""
    import shlex

    from specledger.oracles.program_files import program_files
    from specledger.spec.agent import Outside

    try:
        asked = Outside(python=text) if _FUNCTION.fullmatch(text) else Outside(command=shlex.split(text))
    except ValueError:
        raise typer.BadParameter(f"{printable(text)} is neither a command nor `module:name`") from None
    called = {"command": asked.command} if asked.python is None else {"python": asked.python}
    return {**called, "files": program_files(asked)}


_FUNCTION: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def _shown_key(key: str) -> str:
    from specledger.evidence.keys import key_id, load_public, public_pem

    public = load_public(key)
    return f"key id {key_id(public)}\n{public_pem(public).decode()}"


def _trust_text(key: str, origin: str | None, expected: Mapping[str, Any]) -> str:
    from specledger.evidence.checkpoint import ORIGIN, origin_of
    from specledger.evidence.keys import load_public, trust_document
    from specledger.verify.trust import trust_of

    pattern = ORIGIN if origin is None else origin
    origin_of(pattern, "0" * 32)
    document = trust_document(load_public(key), pattern, expected)
    try:
        trust_of(document)
    except ValueError as error:
        raise typer.BadParameter(f"that is no trust.json: {error}") from None
    return pretty(document)
