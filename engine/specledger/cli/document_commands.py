"""`toy_pseudo_axion run_scenario`, `run_suite` and `verify_audit`, which translate the options of that document.

Runs, reports and verifications are those of `spec`. The shipped `commands/document-commands.toml` holds the specs
that the names stand for.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from msgspec.structs import replace

from specledger.cli.codes import E_REPORT_PLACE
from specledger.cli.executors import process_count
from specledger.cli.main import main
from specledger.cli.output import print_text, write_output
from specledger.cli.report import open_all
from specledger.cli.run import run_case
from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.diagnostics import Diagnostic, Rejected, printable
from specledger.core.verdict import Exit, Verdict, exit_code
from specledger.load.shipped import find_specs
from specledger.report.formats import FORMATS, Options, Output

if TYPE_CHECKING:
    from specledger.load import Bundle

_EVIDENCE: Final = "evidence"
_COUNTEREXAMPLES: Final = "counterexamples"
_NO_PROBE: Final = "none"

OutDir = Annotated[
    Path, typer.Option("--out_dir", help="A new or empty folder for the files; `evidence` in it is the bundle.")
]
Steps = Annotated[int, typer.Option(min=1, help="The most steps of an episode.")]


def run_command() -> None:
    """Run one of the commands, and exit with its exit code."""
    app = typer.Typer(
        name=Path(sys.argv[0]).stem,
        help="The commands that a source document asks for.",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    for name, command in (
        ("run_scenario", _run_scenario),
        ("run_suite", _run_suite),
        ("verify_audit", _verify_audit),
    ):
        app.command(name=name)(command)
    main(app)


def _run_scenario(
    agent: Annotated[str, typer.Option(help="The name or file of an agent.")],
    scenario: Annotated[
        str, typer.Option(help="A scenario as docs/kernel.md calls it, or the name or file of a spec.")
    ],
    out_dir: OutDir,
    steps: Steps = 50,
    probe: Annotated[
        str | None,
        typer.Option(help="Probes as docs/kernel.md calls them, with commas, or none.  [default: all of the scenario]"),
    ] = None,
) -> None:
    """Run one scenario; write report.json, audit.log.jsonl and counterexamples/."""
    names = _names()
    changes = [_change("agent", agent), f"horizon={steps}"]
    if probe is not None:
        changes.append(_change("probes", _probes(probe, names)))
    _run(names["scenarios"].get(scenario, scenario), changes, out_dir, alone=True)


def _run_suite(
    out_dir: OutDir,
    agents: Annotated[
        str | None, typer.Option(help="Agents with commas.  [default: those that docs/kernel.md names]")
    ] = None,
    scenarios: Annotated[
        str | None, typer.Option(help="Scenarios with commas.  [default: those that docs/kernel.md names]")
    ] = None,
    probes: Annotated[
        str | None, typer.Option(help="Probes as docs/kernel.md calls them, with commas, or none.  [default: all four]")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes of each agent on each scenario.")] = 100,
    steps: Steps = 50,
    seed: Annotated[int, typer.Option(min=0, help="The seed of every run.")] = 123,
) -> None:
    """Run agents on scenarios; write summary.json, counterexamples/, and a report and an audit log of each agent."""
    names = _names()
    suite = names["suite"]
    asked = {
        "agents": suite["agents"] if agents is None else _split(agents, "--agents"),
        "scenarios": suite["scenarios"] if scenarios is None else _split(scenarios, "--scenarios"),
        "probes": suite["probes"] if probes is None else _probes(probes, names),
    }
    omitted = {f"probes.{spec}": None for spec in names["probes"].values() if spec not in asked["probes"]}
    arm = {
        "scenarios": [names["scenarios"].get(name, name) for name in asked["scenarios"]],
        "seeds": [seed],
        "set": {"episodes": episodes, "horizon": steps, **omitted},
    }
    if all(set(values) == set(suite[name]) for name, values in asked.items()):
        # The suite has these arms: what no option names, such as the expected verdict of an arm, keeps its value.
        target = suite["acceptance"]
        changes = [_change(f"runs.{agent}.{part}", value) for agent in asked["agents"] for part, value in arm.items()]
    else:
        target = suite["any"]
        changes = [_change("runs", {_arm(agent): {**arm, "agent": agent} for agent in asked["agents"]})]
    _run(target, changes, out_dir, alone=False)


def _verify_audit(path: Annotated[Path, typer.Option(help="An audit log: a file of JSON lines.")]) -> None:
    """Check the hash chain of an audit log from end to end: 0 if it is valid, 2 if it is invalid or corrupted."""
    from specledger.cli.verification_text import verification_text
    from specledger.verify.extension import verify_audit_log

    verification = verify_audit_log(path)
    print_text(verification_text(path, verification))
    raise typer.Exit(Exit.CONFORMS if verification.verdict is Verdict.PASS else Exit.INVALID)


def _run(target: str, changes: Sequence[str], out_dir: Path, *, alone: bool) -> None:
    """Run a spec, write its files, and exit with its verdict."""
    from specledger.kinds import KINDS
    from specledger.kinds.running import RunOptions
    from specledger.pipeline.checking import load_runs
    from specledger.run.workers import Processes

    bundle = _only(load_runs([target], changes), target)
    if out_dir.exists() and (not out_dir.is_dir() or any(out_dir.iterdir())):
        message = f"{printable(str(out_dir))} is not empty, so the files cannot be written there"
        raise Rejected([Diagnostic(E_REPORT_PLACE, message, hint="name a new or an empty folder by --out_dir")])
    evidence = out_dir / _EVIDENCE
    finished = run_case(None, bundle, None, evidence, RunOptions(Processes(process_count(None))))
    output = _report(evidence)
    (out_dir / _COUNTEREXAMPLES).mkdir()
    write_output(_of_one_agent(output) if alone else output, out_dir)
    print_text(KINDS[bundle.main.kind].run.show([finished]))
    print_text(f"  files    {printable(str(out_dir))}")
    raise typer.Exit(exit_code(finished.verdict))


def _report(evidence: Path) -> Output:
    """The files of `spec report --format folder`, with every counterexample."""
    from specledger.pipeline.reporting import make_report

    return FORMATS["folder"].write(make_report(open_all([evidence], None, own=[evidence])), Options(whole=True))


def _of_one_agent(output: Output) -> Output:
    """The files of a run: without the summary, and without the name of the agent in the names of files."""
    named = {re.sub(r"^(report|audit)_[^/.]+", r"\1", path): data for path, data in output.files.items()}
    return replace(output, files={path: data for path, data in named.items() if path != "summary.json"})


def _only(cases: Sequence[Bundle], target: str) -> Bundle:
    if len(cases) != 1:
        raise typer.BadParameter(f"{printable(target)} has {len(cases)} cases: a scenario without a matrix is needed")
    return cases[0]


def _change(path: str, value: Any) -> str:
    """A change of a spec, with its value as JSON."""
    try:
        return f"{path}={canonical_bytes(value).decode()}"
    except NotCanonical as error:
        raise typer.BadParameter(f"{path} cannot be written as JSON: {error}") from None


def _names() -> Mapping[str, Any]:
    folder = find_specs()
    if folder is None:
        raise LookupError("the shipped specs are missing")
    return tomllib.loads((folder / "commands" / "document-commands.toml").read_text(encoding="utf-8"))


def _probes(text: str, names: Mapping[str, Any]) -> list[str]:
    """The specs of the probes that an option names as the document does; two names of one probe count once."""
    if text == _NO_PROBE:
        return []
    listed = _split(text, "a list of probes")
    unknown = [name for name in listed if name not in names["probes"]]
    if unknown:
        known = ", ".join((_NO_PROBE, *names["probes"]))
        raise typer.BadParameter(f"unknown probe {printable(unknown[0])!r}; expected {known}")
    return list(dict.fromkeys(names["probes"][name] for name in listed))


def _split(text: str, option: str) -> list[str]:
    parts = list(dict.fromkeys(part.strip() for part in text.split(",")))
    if "" in parts:
        raise typer.BadParameter(f"{option} has an empty name")
    return parts


def _arm(agent: str) -> str:
    """The name of an agent's arm: the name of its spec, in the characters that arm names allow."""
    name = re.sub(r"\W", "_", Path(agent).stem, flags=re.ASCII)
    return name if name[:1].isalpha() else f"agent_{name}"
