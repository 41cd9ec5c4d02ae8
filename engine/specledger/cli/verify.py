"""`spec verify`: what the reader brings and asks for, and how what was found is shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specledger.cli import show
from specledger.cli.announcing import EnteredIn, LogHead
from specledger.cli.options import OutputFormat, ToldAs, Workers
from specledger.cli.outcomes import say_verification
from specledger.core.verdict import exit_code

if TYPE_CHECKING:
    from specledger.verify.checks import Level, Verification

_LEVELS = ("L0", "L1", "L2", "L3", "L4", "L5")


Evidence = Annotated[
    Path,
    typer.Argument(
        metavar="BUNDLE", help="A bundle that `spec run` wrote, an audit log, a run log, or an inclusion proof."
    ),
]
TrustFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Whom you trust and what you expect: a trust.json, never from the bundle."),
]
Stampers = Annotated[
    list[Path] | None,
    typer.Option(
        "--tsa", metavar="FILE", help="Certificates (PEM) of a time-stamping authority that you trust; may be repeated."
    ),
]
Heads = Annotated[
    list[Path] | None,
    typer.Option(metavar="CHECKPOINT", help="A head that you saw before: a checkpoint, or a bundle; may be repeated."),
]
Levels = Annotated[
    list[str] | None,
    typer.Option("--level", metavar="L0..L5", help="A level that must be reached, and no other; may be repeated."),
]
Judged = Annotated[bool, typer.Option("--judge", help="Have a second evaluator of CEL look at every verdict.")]
Proved = Annotated[int | None, typer.Option(metavar="SEQ", min=0, help="Print an inclusion proof of one receipt.")]
Included = Annotated[bool, typer.Option("--inclusion", help="The argument is an inclusion proof: check that, alone.")]


def verify(  # noqa: PLR0913, PLR0917 - each is an option
    bundle: Evidence,
    replay: Annotated[bool, typer.Option(help="Make the run again and compare every byte.")] = True,
    trust: TrustFile = None,
    authorities: Stampers = None,
    against: Heads = None,
    levels: Levels = None,
    judge: Judged = False,
    proof: Proved = None,
    inclusion: Included = False,
    log: EnteredIn = None,
    log_head: LogHead = None,
    workers: Workers = None,
    shown: ToldAs = OutputFormat.HUMAN,
) -> None:
    """Check evidence: the chain, who signed it, forks, replay; and say what was not checked."""
    from specledger.pipeline.verifying import verify as verify_evidence
    from specledger.run.workers import available
    from specledger.verify.assurance_levels import Reader
    from specledger.verify.fork import read_against
    from specledger.verify.proof import verify_proof
    from specledger.verify.runlog import is_runlog
    from specledger.verify.timestamps import read_authorities
    from specledger.verify.trust import read_trust

    named = _named(levels or [])
    if inclusion and (judge or authorities or log is not None or log_head is not None or proof is not None):
        raise typer.BadParameter("--inclusion goes with --trust, --against and --level alone")
    if log_head is not None and log is None and not is_runlog(bundle):
        raise typer.BadParameter("--log-head is a head of the run log that --log names")
    if proof is not None and shown not in (OutputFormat.HUMAN, OutputFormat.JSON):
        raise typer.BadParameter("--proof goes with --format human or json alone")
    reader = Reader(
        replay=replay,
        trust=None if trust is None else read_trust(trust),
        against=tuple(read_against(place) for place in against or ()),
        judge=judge or "L5" in (levels or ()),
        levels=named,
        proof=proof,
        log=log,
        log_head=log_head,
        authorities=read_authorities(authorities or []),
    )
    if inclusion:
        verification = verify_proof(bundle, reader)
    else:
        verification = verify_evidence(bundle, workers=workers or available(), reader=reader)
    _show(bundle, verification, shown, proof is not None)
    raise typer.Exit(exit_code(verification.verdict))


def _named(levels: list[str]) -> frozenset[Level]:
    """The levels that the reader named."""
    from specledger.verify.checks import Level

    for name in levels:
        if name not in _LEVELS:
            raise typer.BadParameter(f"{name!r} is no level; there are {', '.join(_LEVELS)}")
    return frozenset(Level(name) for name in levels)


def _show(place: Path, verification: Verification, shown: OutputFormat, proving: bool) -> None:
    """Show what was found; an inclusion proof is the one thing on standard output then."""
    if proving and shown is OutputFormat.HUMAN:
        show.complain(show.verification_text(place, verification))
        if "proof" in verification.facts:
            show.say_json(verification.facts["proof"])
    else:
        say_verification(place, verification, shown)
