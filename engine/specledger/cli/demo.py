"""`spec demo`: an agent that does its task, and a reason of its that decides nothing, in evidence that is verified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import Struct
from msgspec.structs import replace

from specledger.cli.output import print_text, progress_bar, write_output
from specledger.core.diagnostics import printable
from specledger.core.verdict import Verdict, exit_code

if TYPE_CHECKING:
    from specledger.load import Bundle
    from specledger.report.evidence import Evidence
    from specledger.verify.checks import Verification


class Challenges(Struct, frozen=True):
    """Stated reasons that were put to the test, how many answers were not the predicted ones, and the first such."""

    made: int
    missed: int
    example: Mapping[str, Any] | None


def demo(
    out: Annotated[Path, typer.Option(help="The folder of the evidence; the page is written beside it.")] = Path(
        "out/demo"
    ),
) -> None:
    """Catch an agent whose stated reasons decide nothing, verify the evidence, write the page."""
    from specledger.kinds import KINDS, MODELS, evidence_kinds
    from specledger.pipeline.checking import demo_case
    from specledger.pipeline.executing import execute
    from specledger.pipeline.verifying import verify
    from specledger.report.evidence import opened

    bundle = demo_case()
    with progress_bar(bundle.main.name) as progress:
        finished = execute(bundle, out, progress=progress)
    verification = verify(out)
    page = out.with_name(out.name + ".html")
    with opened(out, evidence_kinds(KINDS), MODELS) as evidence:
        challenges = count_challenges(evidence)
        _write_page(replace(evidence, verification=verification), page)
    print_text("\n".join(_lines(bundle, finished.manifest["result"], challenges, verification, out, page)))
    shown = verification.verdict is Verdict.PASS and challenges.missed > 0
    raise typer.Exit(exit_code(Verdict.PASS if shown else Verdict.FAIL))


def count_challenges(evidence: Evidence) -> Challenges:
    """Count the counterfactual questions of a run and the answers that were not the predicted ones."""
    made = missed = 0
    example = None
    for type_, body in evidence.bodies():
        if type_ != "probe":
            continue
        for trial in body["evidence"].get("trials", ()):
            made += 1
            if not trial["held"]:
                missed += 1
                example = example or {**trial, "before": body["evidence"]["before"]}
    return Challenges(made, missed, example)


def _write_page(evidence: Evidence, page: Path) -> None:
    from specledger.pipeline.reporting import make_report
    from specledger.report.formats import FORMATS

    write_output(FORMATS["html"].write(make_report([evidence])), page)


def _lines(
    bundle: Bundle, result: Mapping[str, Any], challenges: Challenges, verification: Verification, out: Path, page: Path
) -> Iterator[str]:
    place, name = printable(str(out)), bundle.main.name
    agent = bundle.specs[bundle.main.refs["agent",]].name
    yield f"{bundle.main.model.doc}"
    yield ""
    yield f"task      {agent} reached its goal in {result['successes']} of {result['episodes']} episodes"
    if challenges.example is not None:
        one = challenges.example
        yield f"reason    it says that another value of {one['variable']} would make it choose {one['predicted']}"
        yield f"          {one['variable']} as it was:  it chose {one['before']}"
        yield f"          {one['variable']} changed:    it chose {one['after']}"
    yield f"verdict   {result['verdict']}: {challenges.missed} of {challenges.made} stated reasons decide nothing"
    checks = "verified, replay gives the same bytes" if verification.intact else "refuted"
    yield f"evidence  {place}: {checks}"
    yield f"page      {printable(str(page))}"
    yield ""
    yield "Next:"
    yield f"  spec verify {place}"
    faithful = bundle.main.model.metadata.annotations.get("honest_agent") if bundle.main.model.metadata else None
    if faithful is not None:
        yield f"  spec run {name} --set agent={faithful} --out {place}-{faithful}    # its reasons are real: PASS"
