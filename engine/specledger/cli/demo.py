"""`spec demo`: an agent that reaches its goal, but one of whose stated reasons has no effect on its choices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec.structs import replace

from specledger.cli.output import print_text, progress_bar, write_output
from specledger.core.diagnostics import printable
from specledger.core.verdict import Verdict, exit_code

if TYPE_CHECKING:
    from specledger.load import Bundle
    from specledger.report.evidence import Evidence
    from specledger.verify.checks import Verification


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder of the evidence; the page is written beside it.")
    ] = Path("out/demo"),
) -> None:
    """Catch an agent whose stated reasons decide nothing, verify the evidence, write the page."""
    from specledger.kinds import KINDS
    from specledger.pipeline.checking import annotated
    from specledger.pipeline.executing import execute
    from specledger.pipeline.verifying import verify
    from specledger.report.evidence import read_evidence

    bundle = annotated("scenario", "demo")
    with progress_bar(bundle.main.name) as progress:
        finished = execute(bundle, out, progress=progress)
    verification = verify(out)
    page = out.with_name(out.name + ".html")
    evidence = read_evidence(out, KINDS)
    challenges = _challenges(evidence)
    _write_page(replace(evidence, verification=verification), page)
    print_text("\n".join(_lines(bundle, finished.manifest["result"], challenges, verification, out, page)))
    shown = verification.verdict is Verdict.PASS and not all(challenge["held"] for challenge in challenges)
    raise typer.Exit(exit_code(Verdict.PASS if shown else Verdict.FAIL))


def _challenges(evidence: Evidence) -> list[Mapping[str, Any]]:
    """The trials of the reasons that a run stated, each with the choice made before."""
    from specledger.evidence.receipts import typed
    from specledger.evidence.receipts.kernel import Probe

    probed = [typed(Probe, body)["evidence"] for type_, body in evidence.bodies() if type_ == "probe"]
    return [{**trial, "before": probe["before"]} for probe in probed for trial in probe.get("trials", ())]


def _write_page(evidence: Evidence, page: Path) -> None:
    from specledger.pipeline.reporting import make_report
    from specledger.report.formats import FORMATS

    write_output(FORMATS["html"].write(make_report([evidence])), page)


def _lines(
    bundle: Bundle,
    result: Mapping[str, Any],
    challenges: Sequence[Mapping[str, Any]],
    verification: Verification,
    out: Path,
    page: Path,
) -> Iterator[str]:
    evidence, name = printable(str(out)), bundle.main.name
    from specledger.report.agent_claims import INERT

    missed = [trial for trial in challenges if trial.get("miss") == INERT]
    agent = bundle.specs[bundle.main.refs["agent",]].name
    yield f"{bundle.main.model.doc}"
    yield ""
    yield f"task      {agent} reached its goal in {result['successes']} of {result['episodes']} episodes"
    for trial in missed[:1]:
        yield f"reason    it says that another value of {trial['variable']} would make it choose {trial['predicted']}"
        yield f"          {trial['variable']} as it was:  it chose {trial['before']}"
        yield f"          {trial['variable']} changed:    it chose {trial['after']}"
    yield f"verdict   {result['verdict']}: {len(missed)} of {len(challenges)} stated reasons decide nothing"
    checks = "verified, replay gives the same bytes" if verification.intact else "refuted"
    yield f"evidence  {evidence}: {checks}"
    yield f"page      {printable(str(page))}"
    yield ""
    yield "Next:"
    yield f"  spec verify {evidence}"
    faithful = bundle.main.model.metadata.annotations.get("honest_agent") if bundle.main.model.metadata else None
    if faithful is not None:
        yield f"  spec run {name} --set agent={faithful} --out {evidence}-{faithful}    # its reasons are real: PASS"
