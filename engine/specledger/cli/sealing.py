"""What evidence is covered with, as options that every command has which writes a bundle; and `spec seal`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specledger.cli import show
from specledger.core.diagnostics import Diagnostic, Rejected, printable
from specledger.core.verdict import exit_code

if TYPE_CHECKING:
    from specledger.evidence.seal import Seal

Sign = Annotated[
    str | None,
    typer.Option(
        metavar="KEY", help="Sign the evidence: a private key's file, or env:NAME for one in the environment."
    ),
]
Origin = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The name of the log in the checkpoint; {run} in it is the run's identifier.  [default: specledger/{run}]",
    ),
]
Stamp = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Attach the response of a time-stamping authority (RFC 3161).")
]
Packed = Annotated[bool, typer.Option("--zip", help="Write each bundle as one zip file.")]


def seal_of(sign: str | None, origin: str | None, timestamp: Path | None) -> Seal:
    """What the options ask for.

    Raises:
        Rejected: A key, an origin or a time stamp is not as it must be.
        typer.BadParameter: An origin without a key.
    """
    from specledger.evidence.checkpoint import ORIGIN, origin_of
    from specledger.evidence.keys import load_key
    from specledger.evidence.seal import Seal, read_timestamp_file

    if origin is not None and sign is None:
        raise typer.BadParameter("--origin is for a checkpoint, which is signed: name a key by --sign")
    pattern = ORIGIN if origin is None else origin
    origin_of(pattern, "0" * 32)
    stamp = None if timestamp is None else read_timestamp_file(timestamp)
    return Seal(None if sign is None else load_key(sign), pattern, stamp)


def check_shared(seal: Seal, bundles: int) -> None:
    """See that what covers several bundles can cover each of them.

    Raises:
        Rejected: E_ORIGIN, E_TIMESTAMP.
    """
    from specledger.evidence.checkpoint import E_ORIGIN
    from specledger.evidence.seal import E_TIMESTAMP

    if bundles < 2 or seal.shared:
        return
    if seal.timestamp is not None:
        raise Rejected([Diagnostic(E_TIMESTAMP, f"one time stamp cannot be over {bundles} manifests")])
    message = f"{bundles} runs are {bundles} logs, and {seal.origin} names one"
    raise Rejected([Diagnostic(E_ORIGIN, message, hint=f"--origin '{seal.origin}/{{run}}'")])


def seal(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="A folder or a zip file that `spec run` wrote.")],
    sign: Sign = None,
    origin: Origin = None,
    timestamp: Stamp = None,
) -> None:
    """Sign a bundle that is there already, or attach a time stamp, after checking its chain; nothing is run again."""
    from specledger.pipeline.verifying import seal_evidence

    wanted = seal_of(sign, origin, timestamp)
    if wanted.key is None and wanted.timestamp is None:
        raise typer.BadParameter("name a key by --sign, or a time stamp by --timestamp")
    verification = seal_evidence(bundle, wanted)
    if not verification.intact:
        show.complain(show.verification_text(bundle, verification))
        raise typer.Exit(exit_code(verification.verdict))
    signed = "" if wanted.key is None else f", signed by the key {wanted.key.id}"
    stamped = "" if wanted.timestamp is None else ", with a time stamp"
    show.say(f"sealed {printable(str(bundle))}{signed}{stamped}")
