"""Test a case: its verdict must be PASS and its pin the accepted one. Each failure is a finding with its span."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

from specledger.core.diagnostics import Diagnostic, code
from specledger.core.spans import Span
from specledger.core.verdict import Verdict
from specledger.kinds import KINDS, case_name
from specledger.kinds.running import RunOptions
from specledger.load import Bundle, Resolved
from specledger.pipeline.executing import execute
from specledger.pipeline.golden import E_GOLDEN_DIFFERS, pin, pin_matches
from specledger.pipeline.reporting import make_report
from specledger.report.evidence import read_evidence
from specledger.report.model import Check
from specledger.report.outcome import Outcome
from specledger.spec.agent import Agent

E_TEST_VERDICT = code("E_TEST_VERDICT", "the verdict of a tested spec is not PASS")

MOST_CHECKS: Final = 5
"""Failed checks that are described."""


def find_failures(
    bundle: Bundle, goldens: Path | None = None, *, update: bool = False, accept: str = "", trusted: bool = False
) -> list[Diagnostic]:
    """Run a case; return findings about its verdict and its golden, if any. `accept` is the command for the hint.

    An agent from outside is asked only if it is `trusted`; such a run has no golden, since its agent may answer
    otherwise the next time.
    """
    if trusted and _asks_outside(bundle):
        with TemporaryDirectory(prefix="specledger-") as folder:
            finished = execute(bundle, Path(folder) / "tested", RunOptions(trusted=True))
            verdict = Verdict(finished.manifest["result"]["verdict"])
            return [] if verdict is Verdict.PASS else [*_failures(bundle, verdict, finished.place)]
    current, failures = pin(bundle), []
    difference = None if goldens is None else pin_matches(current, goldens)
    if goldens is not None and difference is not None:
        if update:
            current.write(goldens)
        else:
            span = bundle.main.span("name")
            failures.append(
                Diagnostic(E_GOLDEN_DIFFERS, f"{current.name}: {difference}", span, hint=f"to accept it: {accept}")
            )
    verdict = Verdict(current.tree["result"]["verdict"])
    if verdict is not Verdict.PASS:
        with TemporaryDirectory(prefix="specledger-") as folder:
            failures += _failures(bundle, verdict, execute(bundle, Path(folder) / "tested").place)
    return failures


def _asks_outside(bundle: Bundle) -> bool:
    """Whether an agent of a case is asked outside."""
    agents = [spec.model for spec in bundle.specs.values() if isinstance(spec.model, Agent)]
    return any(agent.outside is not None for agent in agents)


def _failures(bundle: Bundle, verdict: Verdict, evidence: Path) -> Iterator[Diagnostic]:
    """The failed checks behind a verdict, from evidence."""
    (subject,) = make_report([read_evidence(evidence, KINDS)]).subjects
    for outcome in (Outcome.FAILED, Outcome.CANNOT_TELL):
        checks = [check for check in subject.checks if check.outcome is outcome and not check.warning]
        for check in checks[:MOST_CHECKS]:
            yield Diagnostic(
                E_TEST_VERDICT, f"{case_name(bundle)} is {verdict}: {_words(check)}", _span_of(bundle, check)
            )
        if checks:
            return
    message = f"{case_name(bundle)} is {verdict}: no check failed, and too little was checked"
    yield Diagnostic(E_TEST_VERDICT, message, bundle.main.span("name"))


def _words(check: Check) -> str:
    """What failed, how often, and where first."""
    words = check.id if check.outcome is Outcome.CANNOT_TELL else f"{check.id} failed {check.tally}"
    words += f", {check.why}" if check.why else ""
    for first in check.observations[:1]:
        where = f", first in {', '.join(first.place)}" if first.place else ""
        words += f"{where}: {first.what} {first.detail}"
    return words


def _span_of(bundle: Bundle, check: Check) -> Span:
    """The span of the requirement that a check states, by its text or its expression, else of the name of its spec."""
    spec = bundle.specs.get(check.spec or bundle.root, bundle.main)
    for path, text in spec.expressions():
        if path[-1] == "require" and check.says in (text, _doc_beside(spec, path)):
            return spec.span(*path)
    return spec.span("name")


def _doc_beside(spec: Resolved, path: tuple[str | int, ...]) -> str | None:
    """The `doc` of the mapping that has an expression."""
    owner: Any = spec.data
    for step in path[:-1]:
        owner = owner[step]
    return cast(str | None, owner.get("doc"))
