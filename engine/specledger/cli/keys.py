"""`spec keys`: make a key that signs evidence, and show what is public of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from specledger.cli.output import print_json, print_text
from specledger.cli.terminal import with_output_options
from specledger.core.diagnostics import printable

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
    place: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where the private key goes; the public one goes to FILE.pub.")
    ],
) -> None:
    """Make a key: FILE for its owner alone, FILE.pub for everybody. Nothing is ever overwritten."""
    from specledger.evidence.keys import PUBLIC_SUFFIX, new_key

    key = new_key(place)
    name = printable(str(place))
    print_text(f"private key  {name} (keep it to yourself)\npublic key   {name}{PUBLIC_SUFFIX}\nkey id       {key.id}")


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
) -> None:
    """Print the public key and its id, or a trust.json."""
    from specledger.evidence.checkpoint import ORIGIN, origin_of
    from specledger.evidence.keys import key_id, load_public, public_pem, trust_document

    if origin is not None and not trust:
        raise typer.BadParameter("--origin is part of a trust.json: add --trust")
    public = load_public(key)
    if trust:
        pattern = ORIGIN if origin is None else origin
        origin_of(pattern, "0" * 32)
        print_json(trust_document(public, pattern))
    else:
        print_text(f"key id {key_id(public)}\n{public_pem(public).decode().rstrip()}")
