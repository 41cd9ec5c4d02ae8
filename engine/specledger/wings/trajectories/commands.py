"""`spec import` and `spec scan`: logs of agents become canonical lines, and are judged by rules."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from specledger.cli.options import Format
from specledger.cli.output import print_error, print_json, print_status, print_text, terminal, with_short_digests
from specledger.core.diagnostics import counted, printable
from specledger.core.verdict import Exit, Verdict, exit_code

if TYPE_CHECKING:
    from specledger.load import Resolved
    from specledger.wings.trajectories.model import Trajectory
    from specledger.wings.trajectories.readers.reader import Reader
    from specledger.wings.trajectories.rules.policy import Policy
    from specledger.wings.trajectories.tools.schemas import Schemas
    from specledger.wings.trajectories.withholding import Withholding

_MOST_SHOWN: Final = 20
"""Findings that are shown one by one; the summary counts all."""

_MOST_IN_MEMORY: Final = 2**24
"""Bytes of lines that wait in memory; more wait in a file."""

Logs = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Logs, or folders of which all files are logs.")]
LogFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        show_default="recognised by content",
        help="The format of all logs: one that is built in, or a spec of the kind format by its name or file.",
    ),
]
Lines = Annotated[
    Path, typer.Option("--out", "-o", metavar="PATH", help="The file of the lines; - is standard output.")
]
Withhold = Annotated[
    list[str] | None,
    typer.Option(
        "--withhold",
        metavar="FIELD",
        help="Put a salted digest in place of a value: arguments.password, result, messages (of user, system or "
        "assistant alone: messages.user); may be repeated.",
    ),
]
Salt = Annotated[
    Path | None,
    typer.Option("--salt", metavar="FILE", help="The salt of --withhold: a file with 64 hexadecimal digits."),
]

KeptPolicies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="FILE",
        help="Rules whose verdicts are kept where --withhold takes away what they read; may be repeated.",
    ),
]


def import_logs(
    files: Logs,
    read_as: LogFormat = None,
    out: Lines = Path("-"),
    withhold: Withhold = None,
    salt: Salt = None,
    policy: KeptPolicies = None,
) -> None:
    """Read logs of agents, and write what they say as canonical lines; their digest is the `recording` of evidence."""
    from specledger.core.digest import Digesting
    from specledger.evidence.recordings import judged_line
    from specledger.wings.trajectories.lines import write_lines
    from specledger.wings.trajectories.reading import read_logs
    from specledger.wings.trajectories.rules.kept import withhold as withheld

    name, files = _known_format(read_as), _existing(files)
    withholding = _withholding(withhold or [], salt)
    summary, recording = _Summary(), Digesting(judged_line)
    trajectories = read_logs(files, name)
    if withholding is not None:
        policies = [_policy(each)[1] for each in policy or ()]
        trajectories = (withheld(trajectory, withholding, policies) for trajectory in trajectories)
    elif policy:
        raise typer.BadParameter("--policy is for --withhold: its rules judge before values are withheld")
    lines = recording.listen(write_lines(summary.listen(trajectories)))
    _write(lines if withholding is None else _withheld_lines(lines, withholding), out)
    summary.show()
    for remark in () if withholding is None else withholding.remarks():
        print_error(remark)
    print_error(f"recording {recording.digest()}")
    raise typer.Exit(Exit.FINDINGS if summary.codes else Exit.CONFORMS)


def _known_format(name: str | None) -> Reader | None:
    """The reader of a format; None if none is named."""
    from specledger.wings.trajectories.formats.names import reader_named

    try:
        return None if name is None else reader_named(name)
    except LookupError as error:
        raise typer.BadParameter(str(error)) from None


def _existing(paths: list[Path]) -> list[Path]:
    missing = next((path for path in paths if not path.exists()), None)
    if missing is not None:
        raise typer.BadParameter(f"there is no file {printable(str(missing))}")
    return paths


def _withholding(paths: list[str], salt: Path | None) -> Withholding | None:
    from specledger.wings.trajectories.withholding import Withholding

    if not paths:
        if salt is not None:
            raise typer.BadParameter("--salt is for --withhold")
        return None
    if salt is None:
        raise typer.BadParameter("--withhold needs --salt FILE, such as what `openssl rand -hex 32` writes")
    try:
        key = bytes.fromhex(salt.read_text(encoding="ascii").strip())
    except ValueError:
        key = b""
    if len(key) != 32:
        raise typer.BadParameter(f"{printable(str(salt))} does not hold 64 hexadecimal digits")
    try:
        return Withholding(paths, key)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _withheld_lines(lines: Iterable[bytes], withholding: Withholding) -> Iterator[bytes]:
    """The lines, of which none is given before it is known that each path withheld something."""
    from tempfile import SpooledTemporaryFile

    from specledger.core.diagnostics import Rejected

    with SpooledTemporaryFile(_MOST_IN_MEMORY) as file:
        file.writelines(lines)
        if absent := [*withholding.absent()]:
            raise Rejected(absent)
        file.seek(0)
        yield from file


def _write(lines: Iterable[bytes], out: Path) -> None:
    """Write lines to a file that is complete or absent; a device or a pipe, such as `/dev/null`, stays what it is."""
    if str(out) == "-":
        for line in lines:
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        return
    target = out.resolve()  # a link stays a link
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            file.writelines(lines)
        return
    part = target.with_name(target.name + ".part")
    try:
        with part.open("wb") as file:
            file.writelines(lines)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


class _Summary:
    """What was read."""

    def __init__(self) -> None:
        self.codes: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()

    def listen(self, trajectories: Iterable[Trajectory]) -> Iterator[Trajectory]:
        """The trajectories, each counted; the first findings are printed."""
        from specledger.wings.trajectories.findings import shown
        from specledger.wings.trajectories.model import Finding

        for trajectory in trajectories:
            self._counts["trajectory"] += 1
            for entry in trajectory.entries:
                if isinstance(entry, Finding):
                    self.codes[entry.code] += 1
                    if self.codes.total() <= _MOST_SHOWN:
                        print_error(shown(entry.code, entry.message, trajectory.file, entry.line))
                else:
                    self._counts[type(entry).__name__.lower()] += 1
            yield trajectory

    def show(self) -> None:
        """Print the summary on standard error."""
        count = self._counts
        parts = [counted(count[noun], noun) for noun in ("trajectory", "message", "call", "result")]
        print_error(f"{', '.join(parts)}, {counted(self.codes.total(), 'finding')}")
        for code, times in sorted(self.codes.items()):
            print_error(f"  {code} {times}")


Places = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[PATH...]",
        show_default="Claude Code's folder",
        help="Logs, or folders of which all files are logs.",
    ),
]
PolicyFile = Annotated[
    str | None,
    typer.Option("--policy", metavar="FILE", show_default="five rules to begin with", help="The rules: a policy."),
]
Results = Annotated[Format, typer.Option("--output", help="The format of the results.")]
MutantCount = Annotated[
    int,
    typer.Option(
        "--mutants",
        metavar="N",
        min=0,
        max=1000,
        help="Try at most N mutants of each rule, and N of trajectories for each rule: which are noticed.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**53 - 1, help="The seed by which mutants are chosen.")]
ToolFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--tools",
        metavar="FILE",
        help="Lists of tools: calls that do not fit them are told, and rules about others can never fire.",
    ),
]
Evidence = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        show_default="no evidence",
        help="Write evidence: the logs as canonical lines, the rules, what they say; `spec verify` makes it again.",
    ),
]


def scan(
    paths: Places = None,
    policy: PolicyFile = None,
    read_as: LogFormat = None,
    tools: ToolFiles = None,
    mutants: MutantCount = 0,
    seed: Seed = 0,
    out: Evidence = None,
    output: Results = Format.HUMAN,
) -> None:
    """Judge logs of agents by rules: which were broken, where, which could not be judged, and which notice nothing."""
    from specledger.wings.trajectories.coverage import Watch
    from specledger.wings.trajectories.mutants.mutation import Mutation
    from specledger.wings.trajectories.reading import read_logs
    from specledger.wings.trajectories.scan import scan as scan_logs
    from specledger.wings.trajectories.scan_whole import scan_document_of, scan_text_of
    from specledger.wings.trajectories.tools.fit import Fit, tool_problems
    from specledger.wings.trajectories.tools.lists import read_tools
    from specledger.wings.trajectories.tools.schemas import schemas_of

    resolved, compiled = _policy(policy)
    places = _existing(paths or [_claude_code()])
    logs = read_logs(places, _known_format(read_as))
    known = read_tools(_existing(tools)) if tools else None
    fit = None if known is None else Fit(tool_problems(schemas_of(known)))
    mutation = Mutation(resolved, mutants, seed) if mutants else None
    watch = Watch(resolved, compiled, known)
    result = scan_logs(compiled, _tapped(logs, [part.hear for part in (mutation, fit) if part is not None]), watch)
    result.misfits = 0 if fit is None else fit.calls
    coverage = watch.finish()
    result.unable = tuple(rule.rule for rule in coverage.rules if not rule.able)
    result.misspelt = tuple(rule.rule for rule in coverage.rules if rule.is_misspelt)
    parts = (coverage, None if mutation is None else mutation.finish(), None if fit is None else fit.misfits)
    evidence = None if out is None else _write_evidence(places, policy, read_as, out, schemas_of(known or {}))
    if output is Format.JSON:
        document = scan_document_of(result, compiled.name, *parts)
        print_json(document if out is None else {**document, "evidence": str(out)})
    else:
        write = print_status if result.verdict is Verdict.PASS else print_text
        text = scan_text_of(result, compiled.name, *parts, quiet=terminal().quiet)
        write("\n".join([text, *(evidence or ())]))
        if policy is None:
            own = f"a policy with `extends: {compiled.name}`, or `spec new policy NAME`, then --policy FILE"
            print_status(f"rules of your own: {own}")
    raise typer.Exit(exit_code(result.verdict))


def _tapped(
    trajectories: Iterable[Trajectory], listeners: Sequence[Callable[[Trajectory], None]]
) -> Iterator[Trajectory]:
    """The trajectories, each heard before it is given."""
    for trajectory in trajectories:
        for hear in listeners:
            hear(trajectory)
        yield trajectory


def _write_evidence(
    places: list[Path], policy: str | None, read_as: str | None, out: Path, tools: Schemas
) -> list[str]:
    """Run the scenario of recorded calls on these logs under a policy; the last lines of the text about it."""
    from tempfile import TemporaryDirectory

    from specledger.core.canonical import canonical_bytes
    from specledger.kinds import load
    from specledger.kinds.running import RunOptions, footer
    from specledger.pipeline.checking import annotated
    from specledger.pipeline.executing import execute
    from specledger.wings.trajectories.lines import write_lines
    from specledger.wings.trajectories.reading import read_logs

    scenario = annotated("scenario", "scan").main.span().file
    sets = []
    if policy is not None:
        file = load(policy, kind="policy")[0].main.span().file
        sets.append(f"policies={canonical_bytes([Path(os.path.relpath(file)).as_posix()]).decode()}")
    if tools:
        sets.append(f"agent.trajectories.tools={canonical_bytes(tools).decode()}")
    (bundle,) = load(scenario, kind="scenario", set=sets, allow_outside=True)
    with TemporaryDirectory() as folder:
        logs = places
        if read_as is not None:  # a run reads canonical lines whatever the format, which may be a file of one's own
            logs = [Path(folder, "trajectories.jsonl")]
            with logs[0].open("wb") as lines:
                lines.writelines(write_lines(read_logs(places, _known_format(read_as))))
        finished = execute(bundle, out, RunOptions(trajectories=tuple(logs)))
        return [*map(with_short_digests, footer(finished))]


def _policy(target: str | None) -> tuple[Resolved, Policy]:
    """A policy, or the shipped one to begin with, and its compiled rules; Rejected with all findings."""
    from specledger.core.diagnostics import Diagnostics
    from specledger.kinds import load
    from specledger.pipeline.checking import annotated
    from specledger.wings.trajectories.rules.compile import compile_policy

    bundle = annotated("policy", "scan") if target is None else load(target, kind="policy")[0]
    return bundle.main, compile_policy(bundle.main, Diagnostics())


def _claude_code() -> Path:
    """The folder in which Claude Code keeps its logs."""
    folder = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "projects"
    if not folder.is_dir():
        raise typer.BadParameter(f"there are no logs in {printable(str(folder))}; name files or folders")
    return folder
