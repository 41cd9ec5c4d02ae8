"""`spec run`: run specs or shards of them, and write their evidence."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec.structs import replace

from specledger.cli.codes import Interrupted
from specledger.cli.executors import executor_of, process_count
from specledger.cli.options import (
    UNREPLAYED,
    AllowOutside,
    AnyFormat,
    CaseValues,
    ClusterAddress,
    Files,
    Log,
    Origin,
    Out,
    OutputFormat,
    Overrides,
    Purpose,
    Replayed,
    Sign,
    Stamp,
    TrustAgent,
    Workers,
    check_changes,
    check_purpose,
    check_shared,
    seal_of,
)
from specledger.cli.output import (
    diagnostics_text,
    fitted,
    print_error,
    print_json,
    print_sources,
    print_text,
    progress_bar,
    terminal,
    with_short_digests,
    write_output,
)
from specledger.cli.replaying import print_replay
from specledger.cli.shards import print_shards, read_shard, take_shard
from specledger.core.diagnostics import Diagnostic, Rejected, counted, printable
from specledger.core.verdict import Exit, Verdict, combine, exit_code
from specledger.report.formats import FORMATS

if TYPE_CHECKING:
    from specledger.kinds.running import Finished, RunOptions
    from specledger.load import Bundle

Record = Annotated[bool, typer.Option("--record", help="Ask for answers that a cassette does not hold, and keep them.")]


Trajectories = Annotated[
    list[Path] | None,
    typer.Option(
        "--trajectories",
        metavar="PATH",
        help="A log, or a folder of logs, in place of those that a recorded agent names; may be repeated.",
    ),
]
Live = Annotated[bool, typer.Option("--live", help="Write each entry of the audit log to the disk before its action.")]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Continue an unfinished run to the same place, keep this one if it ends early, and run nothing if a "
        "complete one is there.",
    ),
]
Changed = Annotated[
    bool, typer.Option("--changed", help="Run those alone that differ from a commit, or that depend on what does.")
]
Since = Annotated[
    str, typer.Option("--since", metavar="COMMIT", help="The commit, branch or tag that --changed compares with.")
]
ShardNumber = Annotated[
    str | None,
    typer.Option(
        metavar="I/N", help="Make part I of N of a suite or a scenario (`spec merge` joins them), or of a list of laws."
    ),
]


def run(  # noqa: PLR0913, PLR0917 - each is an option
    files: Files,
    seed: Annotated[int | None, typer.Option(min=0, help="Replace the seed.")] = None,
    episodes: Annotated[int | None, typer.Option(min=1, help="Replace the number of episodes.")] = None,
    out: Out = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    trust_agent: TrustAgent = False,
    resume: Resume = False,
    shard: ShardNumber = None,
    changed: Changed = False,
    since: Since = "HEAD",
    live: Live = False,
    record: Record = False,
    sign: Sign = None,
    origin: Origin = None,
    timestamp: Stamp = None,
    replay: Replayed = False,
    log: Log = None,
    purpose: Purpose = None,
    overrides: Overrides = None,
    case: CaseValues = None,
    allow_outside: AllowOutside = False,
    trajectories: Trajectories = None,
    format_: AnyFormat = OutputFormat.HUMAN,
) -> None:
    """Run scenarios, suites, laws and discoveries, and write their evidence."""
    from specledger.evidence.seal import UNSIGNED
    from specledger.kinds.running import RunOptions
    from specledger.pipeline.executing import place_cases

    files = _touched(files, since) if changed else files
    seal = seal_of(sign, origin, timestamp)
    wanted = {key: value for key, value in (("episodes", episodes), ("seed", seed)) if value is not None}
    cases = _load_cases(files, overrides or [], wanted, case, allow_outside=allow_outside)
    print_sources(cases)
    check_shared(seal, len(cases))
    check_purpose(log, purpose)
    sealed = sign is not None or log is not None or timestamp is not None or replay
    part = read_shard(shard, cases, sealed=sealed)
    todo, part = take_shard(list(zip(cases, place_cases(cases, out), strict=True)), part, named=out is not None)
    with executor_of(workers, cluster) as executor:
        tell = partial(_print_resumed, unreplayed=seal != UNSIGNED and not replay)
        options = RunOptions(executor, trust_agent, live, record, seal, resume=resume, shard=part, tell=tell)
        options = replace(options, trajectories=tuple(trajectories or ()), replay=replay)
        finished = _run_each(todo, log, purpose, options, show=format_ is OutputFormat.HUMAN)
    if part is not None:
        print_shards(finished)
    else:
        _print_runs(finished, format_, process_count(workers), options)
    raise typer.Exit(exit_code(combine(result.ending for result in finished)))


def _touched(files: Sequence[str], commit: str) -> list[str]:
    """The targets that differ from a commit, or depend on what does; with none of them nothing is run."""
    from specledger.cli.repository import changed_files
    from specledger.pipeline.changes import touched_runs

    touched = touched_runs(files, changed_files(commit))
    if not touched:
        print_error(f"nothing of {' '.join(map(printable, files))} changed since {printable(commit)}: nothing was run")
        raise typer.Exit(Exit.INCONCLUSIVE)
    return touched


def _run_each(
    cases: Sequence[tuple[Bundle, Path]], log: Path | None, purpose: str | None, options: RunOptions, *, show: bool
) -> list[Finished]:
    """Run cases, each to its place, and print each result that is not part of a table."""
    from specledger.kinds import KINDS
    from specledger.pipeline.executing import share_runs

    finished = []
    together = share_runs([bundle for bundle, _ in cases], options) if log is None else repeat(options)
    for bundle, folder in cases:
        try:
            finished.append(run_case(log, bundle, purpose, folder, next(together)))
        except KeyboardInterrupt:
            raise _interrupted(folder, resume=options.resume) from None
        if show and options.shard is None and not KINDS[bundle.main.kind].run.table:
            say(finished[-1:])
    return finished


def _interrupted(folder: Path, *, resume: bool) -> Interrupted:
    """The error of an interrupted run: what is kept, and the command that resumes it."""
    from specledger.evidence.workplace import count_kept

    again = shlex.join(["spec", *sys.argv[1:]])
    if not resume:
        message = "interrupted: the unfinished run was discarded"
        return Interrupted(message, f"`{again} --resume` runs it so that an interruption keeps what is finished")
    kept = " and ".join(counted(number, noun) for noun, number in count_kept(folder).items() if number)
    return Interrupted(f"interrupted; kept beside {folder}: {kept or 'nothing that is finished'}", f"`{again}` resumes")


def _print_resumed(finished: int, wanted: int, what: str, *, unreplayed: bool = False) -> None:
    """Print on standard error how much a resumed run reuses, and whether that is sealed without replay."""
    more = f"; the finished ones are sealed {UNREPLAYED}" if unreplayed and finished else ""
    print_error(f"{finished} of {counted(wanted, what)} were finished, {wanted - finished} are run{more}")


def say(finished: Sequence[Finished], *more: str) -> None:
    """Print the results of runs of one kind; with `--quiet` only of those that do not pass, and the total of all."""
    from specledger.kinds import KINDS

    run = KINDS[finished[0].kind].run
    shown = [result for result in finished if not terminal().quiet or result.verdict is not Verdict.PASS]
    if shown:
        total = [run.total(finished)] if run.total is not None and len(finished) > 1 else []
        print_text(fitted(with_short_digests("\n".join([run.show(shown), *more, *total]))))


def _load_cases(
    files: Sequence[str], changes: list[str], wanted: Mapping[str, int], case: Any, *, allow_outside: bool
) -> Sequence[Bundle]:
    """Load the cases; Rejected by the kind if `--seed` or `--episodes` is given for specs whose runs have their own."""
    from specledger.kinds import KINDS
    from specledger.pipeline.checking import load_runs

    load = partial(load_runs, files, allow_outside=allow_outside, case=case)
    changed = [*changes, *(f"{key}={value}" for key, value in wanted.items())]
    check_changes(changed)
    try:
        return load(changed)
    except Rejected:
        if not wanted:
            raise
        kinds = [(KINDS[bundle.main.kind].run.refuse, bundle) for bundle in load(changes)]
        refusals = [
            refuse(bundle, *option) for refuse, bundle in kinds if refuse is not None for option in wanted.items()
        ]
        if refusals:
            raise Rejected(refusals) from None
        raise


def run_case(log: Path | None, bundle: Bundle, purpose: str | None, folder: Path, options: RunOptions) -> Finished:
    """Run one case; with a run log it is announced before, and its result is entered after."""
    from specledger.pipeline.executing import announce_run, enter_result, execute

    attempt = None
    if log is not None:
        attempt, warnings = announce_run(log, bundle, purpose)
        _print_warnings(warnings)
    with progress_bar(bundle.main.name) as progress:
        finished = execute(bundle, folder, options, progress, announced=log is not None)
    if finished.complete:
        outside = any(spec.data.get("outside") for spec in bundle.specs.values())
        more = "; whether its agents from outside changed since is not known" if outside else ""
        message = "is complete and intact: it is of these specs, by this version of the engine, so nothing was run"
        print_error(f"{folder} {message}{more}")
    if log is not None and attempt is not None:
        _print_warnings(enter_result(log, attempt, finished.manifest))
    _print_warnings(finished.found)
    print_replay(finished)
    return finished


def _print_warnings(warnings: Sequence[Diagnostic]) -> None:
    if warnings:
        print_error(diagnostics_text(warnings))


def _print_runs(finished: Sequence[Finished], format_: OutputFormat, workers: int, options: RunOptions) -> None:
    """Print the results of runs, and of those that record which answers failed."""
    _print_results(finished, format_, workers, replay=options.replay)
    if options.record:
        from specledger.kinds.failed_answers import failed_answers

        for line in filter(None, map(failed_answers, finished)):
            print_error(line)


def _print_results(finished: Sequence[Finished], format_: OutputFormat, workers: int, *, replay: bool) -> None:
    """Print what is part of a table, all as JSON, or a report of the evidence."""
    from specledger.kinds import KINDS

    if format_ is OutputFormat.HUMAN:
        for kind in dict.fromkeys(result.kind for result in finished if KINDS[result.kind].run.table):
            say([result for result in finished if result.kind == kind])
        return
    if format_ is OutputFormat.JSON:
        print_json({"runs": [run_as_json(result) for result in finished]})
        return
    from specledger.cli.report import open_all
    from specledger.pipeline.reporting import make_report

    folders = {result.place: result.complete for result in finished}
    own = {folder for folder, complete in folders.items() if not complete}
    evidence = open_all([*folders], workers, replay=replay, own=own)
    write_output(FORMATS[format_].write(make_report(evidence)))


def run_as_json(finished: Finished) -> dict[str, Any]:
    """The result of a run as JSON values."""
    from specledger.evidence.decided import challenges_of
    from specledger.kinds import KINDS
    from specledger.report.held_claims import claims_told

    run = KINDS[finished.kind].run
    known = {"name": finished.name, "evidence": str(finished.place), "manifest": finished.manifest}
    known |= {"challenges": challenges} if (challenges := challenges_of(run.results(finished))) else {}
    known |= {"remarks": [*run.remarks(finished)], **claims_told(run.claims(finished))}
    if finished.receipts:
        return {**known, "receipts": [dict(receipt) for receipt in finished.receipts if receipt["type"] != "run"]}
    return {
        **known,
        "incidents": [
            {
                **{
                    "episode": incident.episode,
                    "t": incident.t,
                    "what": incident.what,
                    "detail": incident.detail,
                    "at": incident.at,
                },
                **({} if incident.why is None else {"why": incident.why}),
            }
            for incident in finished.incidents
        ],
    }
