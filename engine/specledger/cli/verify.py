"""`spec verify` and `spec seal`: check evidence, sign or stamp it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from specledger.cli import completion
from specledger.cli.executors import executor_of
from specledger.cli.options import (
    UNREPLAYED,
    AnyFormat,
    ClusterAddress,
    Origin,
    OutputFormat,
    Replayed,
    Sign,
    Stamp,
    Workers,
    seal_of,
)
from specledger.cli.output import (
    diagnostics_json,
    diagnostics_text,
    fitted,
    print_error,
    print_json,
    print_status,
    print_text,
    write_output,
)
from specledger.core.diagnostics import Diagnostic, Rejected, counted, printable
from specledger.core.verdict import Exit, Verdict, combine, exit_code
from specledger.report.formats import FORMATS

if TYPE_CHECKING:
    from specledger.verify.checks import Level, Verification

Evidence = Annotated[
    list[Path],
    typer.Argument(
        metavar="BUNDLE...",
        autocompletion=completion.bundles,
        help="Bundles that `spec run` wrote, an audit log, a run log, or an inclusion proof. Of several, a line each.",
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
    typer.Option("--level", metavar="L0..L5", help="Ask for this level in place of L4; may be repeated."),
]
EnteredIn = Annotated[Path | None, typer.Option("--log", metavar="FILE", help="The run log that must list it.")]
LogHead = Annotated[str | None, typer.Option(metavar="DIGEST", help="A head of the run log that you saw before.")]
Judged = Annotated[bool, typer.Option("--judge", help="Have a second evaluator of CEL judge every verdict.")]
Proved = Annotated[int | None, typer.Option(metavar="SEQ", min=0, help="Print an inclusion proof of one receipt.")]
Included = Annotated[bool, typer.Option("--inclusion", help="The argument is an inclusion proof: check only that.")]


def verify(  # noqa: PLR0913, PLR0917 - each is an option
    bundles: Evidence,
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
    from specledger.verify.checks import Level
    from specledger.verify.fork import read_against
    from specledger.verify.proof import verify_proof
    from specledger.verify.runlog import is_runlog
    from specledger.verify.timestamps import read_authorities
    from specledger.verify.trust import read_trust

    named = _named(levels or [])
    aside = bool(judge or authorities or log is not None or log_head is not None or proof is not None)
    _check_usage(bundles, format_, proving=proof is not None, inclusion=inclusion, aside=aside)
    if log_head is not None and log is None and not all(map(is_runlog, bundles)):
        raise typer.BadParameter("--log-head is a head of the run log that --log names")
    reader = Reader(
        replay=replay,
        trust=None if trust is None else read_trust(trust),
        against=tuple(read_against(path) for path in against or ()),
        judge=judge or Level.JUDGED in named,
        levels=named,
        proof=proof,
        log=log,
        log_head=log_head,
        authorities=read_authorities(authorities or []),
    )
    with executor_of(workers, cluster) as executor:
        verify_one = partial(verify_evidence, executor=executor, reader=reader)
        if len(bundles) > 1:
            raise typer.Exit(_verify_several(bundles, verify_one, format_))
        verification = verify_proof(bundles[0], reader) if inclusion else verify_one(bundles[0])
    _print(bundles[0], verification, format_, proof is not None)
    raise typer.Exit(exit_code(verification.verdict))


def _check_usage(
    bundles: Sequence[Path], format_: OutputFormat, *, proving: bool, inclusion: bool, aside: bool
) -> None:
    """Reject options that exclude each other; `aside` is whether one is given that `--inclusion` does not use."""
    if len(bundles) > 1 and (proving or inclusion):
        raise typer.BadParameter("--proof and --inclusion are for one bundle: name one")
    if inclusion and aside:
        raise typer.BadParameter("--inclusion goes with --trust, --against and --level alone")
    if proving and format_ not in (OutputFormat.HUMAN, OutputFormat.JSON):
        raise typer.BadParameter("--proof goes with --format human or json alone")


def _verify_several(bundles: Sequence[Path], verify_one: Callable[[Path], Verification], format_: OutputFormat) -> int:
    """Verify bundles, print a line for each and a total, or one document, and return the exit code of the worst."""
    from specledger.report.model import Report
    from specledger.verify.assurance_levels import as_json

    results: list[tuple[Path, Verification]] = []
    findings: list[Diagnostic] = []
    for path in bundles:
        try:
            results.append((path, verify_one(path)))
        except Rejected as rejected:
            findings += rejected.diagnostics
            continue
        if format_ is OutputFormat.HUMAN:
            _print_line(*results[-1])
    if format_ is OutputFormat.JSON:
        documents = [as_json(verification, str(path)) for path, verification in results]
        print_json({"verifications": documents, "diagnostics": diagnostics_json(findings)})
    elif format_ is not OutputFormat.HUMAN:
        named = [(str(path), verification) for path, verification in results]
        write_output(FORMATS[format_].write(Report.from_verifications(named, findings)))
    else:
        print_text(_totals(len(bundles), [verification for _, verification in results]))
    if findings:
        print_error(diagnostics_text(findings))
    verdict = combine(verification.verdict for _, verification in results) if results else Verdict.PASS
    return Exit.INVALID if findings and verdict is not Verdict.FAIL else exit_code(verdict)


_WORDS: Final = {Verdict.PASS: "VERIFIED", Verdict.FAIL: "REFUTED", Verdict.INCONCLUSIVE: "NOT DECIDED"}
"""What a verification of evidence ends with; PASS and FAIL are left to what the evidence says of its run."""


def _totals(number: int, verifications: Sequence[Verification]) -> str:
    """How many bundles are verified, and what the runs found in those whose result is established."""
    from specledger.verify.assurance_levels import result_of

    ends = Counter(_WORDS[verification.verdict].lower() for verification in verifications)
    ends["no evidence"] = number - len(verifications)
    results = Counter(result.removeprefix("verdict ") for result in map(result_of, verifications) if result)
    told = [", ".join(f"{count} {word}" for word, count in counts.items() if count) for counts in (ends, results)]
    return f"{counted(number, 'bundle')}: {told[0]}{f'; recorded verdicts: {told[1]}' if told[1] else ''}"


def _print_line(path: Path, verification: Verification) -> None:
    """Print the end of one of several verifications with what failed, and what the evidence says of its run."""
    from specledger.verify.assurance_levels import UNEXPECTED, headline, result_of, unexpected

    failed = "; ".join(check.message or check.name for check in verification.checks if check.status == "failed")
    claim, result = verification.facts.get("claimed", {}).get("verdict"), result_of(verification)
    why = f" {failed}" if failed else ""
    why += f"; it claims the verdict {claim}" if claim else f"; recorded {result}" if result else ""
    word = UNEXPECTED if unexpected(verification) else _WORDS[verification.verdict]
    line = f"{word:12}  {printable(f'{path}: {headline(verification)}{why}')}"
    (print_status if verification.verdict is Verdict.PASS else print_text)(line)


def _named(levels: list[str]) -> frozenset[Level]:
    from specledger.verify.checks import Level

    for name in levels:
        if name not in (*Level,):
            raise typer.BadParameter(f"{name!r} is no level; there are {', '.join(Level)}")
    return frozenset(Level(name) for name in levels)


def _print(path: Path, verification: Verification, format_: OutputFormat, proving: bool) -> None:
    """Print the result; if a proof was requested, only that goes to standard output."""
    from specledger.cli.verification_text import verification_text

    if proving and format_ is OutputFormat.HUMAN:
        print_error(verification_text(path, verification))
        if "proof" in verification.facts:
            print_json(verification.facts["proof"])
    else:
        print_verification(path, verification, format_)


def print_verification(path: Path, verification: Verification, format_: OutputFormat) -> None:
    """Print every check and every level."""
    from specledger.cli.verification_text import verification_text
    from specledger.report.model import Report
    from specledger.verify.assurance_levels import as_json

    if format_ is OutputFormat.JSON:
        print_json(as_json(verification, str(path)))
    elif format_ is OutputFormat.HUMAN:
        passed = verification.verdict is Verdict.PASS
        (print_status if passed else print_text)(fitted(verification_text(path, verification)))
    else:
        write_output(FORMATS[format_].write(Report.from_verifications([(str(path), verification)])))


def seal(
    bundle: Annotated[
        Path,
        typer.Argument(metavar="BUNDLE", autocompletion=completion.bundles, help="A folder that `spec run` wrote."),
    ],
    sign: Sign = None,
    origin: Origin = None,
    timestamp: Stamp = None,
    replay: Replayed = False,
    workers: Workers = None,
) -> None:
    """Sign an existing bundle or attach a time stamp, after checking its chain; does not replay unless asked."""
    from specledger.cli.verification_text import verification_text
    from specledger.pipeline.verifying import seal_evidence

    wanted = seal_of(sign, origin, timestamp)
    if wanted.key is None and wanted.timestamp is None:
        raise typer.BadParameter("name a key by --sign, or a time stamp by --timestamp")
    if not replay:
        print_error(f"{printable(str(bundle))}: sealed {UNREPLAYED}")
    with executor_of(workers, None) as executor:
        verification, allowed = seal_evidence(bundle, wanted, replay=replay, executor=executor)
    if not allowed:
        print_error(verification_text(bundle, verification))
        raise typer.Exit(exit_code(verification.verdict))
    signed = "" if wanted.key is None else f", signed by the key {wanted.key.id}"
    stamped = "" if wanted.timestamp is None else ", with a time stamp"
    again = ", replay gives the same bytes" if replay else ""
    print_status(f"sealed {printable(str(bundle))}{signed}{stamped}{again}")
