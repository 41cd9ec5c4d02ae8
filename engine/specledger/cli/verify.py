"""`spec verify` and `spec seal`: check evidence, and sign or stamp it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from specledger.cli import completion
from specledger.cli.options import (
    AnyFormat,
    ClusterAddress,
    Origin,
    OutputFormat,
    Sign,
    Stamp,
    Workers,
    executor_of,
    seal_of,
)
from specledger.cli.output import print_error, print_json, print_status, print_text, write_output
from specledger.core.diagnostics import printable
from specledger.core.verdict import Verdict, exit_code
from specledger.report.formats import FORMATS

if TYPE_CHECKING:
    from specledger.verify.checks import Level, Verification

_MARKS: Final = {"passed": "ok      ", "failed": "FAILED  ", "not made": "not made"}
_LEVELS: Final = ("L0", "L1", "L2", "L3", "L4", "L5")


Evidence = Annotated[
    Path,
    typer.Argument(
        metavar="BUNDLE",
        autocompletion=completion.bundles,
        help="A bundle that `spec run` wrote, an audit log, a run log, or an inclusion proof.",
    ),
]
TrustFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A trust.json: trusted keys and expectations; never from the bundle."),
]
Stampers = Annotated[
    list[Path] | None,
    typer.Option(
        "--tsa", metavar="FILE", help="Certificates (PEM) of a trusted time-stamping authority; may be repeated."
    ),
]
Heads = Annotated[
    list[Path] | None,
    typer.Option(metavar="CHECKPOINT", help="A previously seen checkpoint, or a bundle with one; may be repeated."),
]
Levels = Annotated[
    list[str] | None,
    typer.Option("--level", metavar="L0..L5", help="A level that must be reached; may be repeated."),
]
EnteredIn = Annotated[Path | None, typer.Option("--log", metavar="FILE", help="The run log that must list it.")]
LogHead = Annotated[str | None, typer.Option(metavar="DIGEST", help="A head of the run log that you saw before.")]
Judged = Annotated[bool, typer.Option("--judge", help="Have a second evaluator of CEL judge every verdict.")]
Proved = Annotated[int | None, typer.Option(metavar="SEQ", min=0, help="Print an inclusion proof of one receipt.")]
Included = Annotated[bool, typer.Option("--inclusion", help="The argument is an inclusion proof: check only that.")]


def verify(  # noqa: PLR0913, PLR0917 - each is an option
    bundle: Evidence,
    replay: Annotated[bool, typer.Option(help="Replay the run and compare every byte.")] = True,
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
    cluster: ClusterAddress = None,
    format_: AnyFormat = OutputFormat.HUMAN,
) -> None:
    """Verify evidence: its chain, signatures, forks and replay; and list what was not checked."""
    from specledger.pipeline.verifying import verify as verify_evidence
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
    if proof is not None and format_ not in (OutputFormat.HUMAN, OutputFormat.JSON):
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
        with executor_of(workers, cluster) as executor:
            verification = verify_evidence(bundle, executor=executor, reader=reader)
    _print(bundle, verification, format_, proof is not None)
    raise typer.Exit(exit_code(verification.verdict))


def _named(levels: list[str]) -> frozenset[Level]:
    """The levels that the reader named."""
    from specledger.verify.checks import Level

    for name in levels:
        if name not in _LEVELS:
            raise typer.BadParameter(f"{name!r} is no level; there are {', '.join(_LEVELS)}")
    return frozenset(Level(name) for name in levels)


def _print(place: Path, verification: Verification, format_: OutputFormat, proving: bool) -> None:
    """Print the result; of a proof that was asked for, only the proof goes to standard output."""
    if proving and format_ is OutputFormat.HUMAN:
        print_error(verification_text(place, verification))
        if "proof" in verification.facts:
            print_json(verification.facts["proof"])
    else:
        print_verification(place, verification, format_)


def verification_text(place: Path, verification: Verification) -> str:
    """Every check, every level, and the verdict."""
    from specledger.verify.assurance_levels import QUALIFIED, headline, level_statuses

    lines = []
    for check in verification.checks:
        detail = "" if check.message is None else f": {printable(check.message)}"
        prefix = f" [{check.code}]" if check.code else ""
        lines.append(f"{check.number}. {_MARKS[check.status]} {check.name}{prefix}{detail}")
    for rung in level_statuses(verification):
        why = f": {printable(rung.why)}" if rung.status != "reached" or rung.level in QUALIFIED else ""
        lines.append(f"{rung.level} {rung.status:11} {rung.name}{why}")
    lines += [f"not checked: {one}" for one in verification.unchecked]
    return "\n".join([*lines, f"{printable(str(place))}: {headline(verification)}."])


def print_verification(place: Path, verification: Verification, format_: OutputFormat) -> None:
    """Print every check and every level."""
    from specledger.report.model import Report
    from specledger.verify.assurance_levels import as_json

    if format_ is OutputFormat.JSON:
        print_json(as_json(verification, str(place)))
    elif format_ is OutputFormat.HUMAN:
        passed = verification.verdict is Verdict.PASS
        (print_status if passed else print_text)(verification_text(place, verification))
    else:
        write_output(FORMATS[format_].write(Report.from_verification(str(place), verification)))


def seal(
    bundle: Annotated[
        Path,
        typer.Argument(
            metavar="BUNDLE", autocompletion=completion.bundles, help="A folder or a zip file that `spec run` wrote."
        ),
    ],
    sign: Sign = None,
    origin: Origin = None,
    timestamp: Stamp = None,
) -> None:
    """Sign an existing bundle or attach a time stamp, after checking its chain; does not replay."""
    from specledger.pipeline.verifying import seal_evidence

    wanted = seal_of(sign, origin, timestamp)
    if wanted.key is None and wanted.timestamp is None:
        raise typer.BadParameter("name a key by --sign, or a time stamp by --timestamp")
    verification = seal_evidence(bundle, wanted)
    if not verification.intact:
        print_error(verification_text(bundle, verification))
        raise typer.Exit(exit_code(verification.verdict))
    signed = "" if wanted.key is None else f", signed by the key {wanted.key.id}"
    stamped = "" if wanted.timestamp is None else ", with a time stamp"
    print_status(f"sealed {printable(str(bundle))}{signed}{stamped}")
