"""Try an agent: it makes a few decisions of a scenario in place of the scenario's own agent.

The scenario has one episode and a short horizon; its probes, and those that a trial adds, send the messages beside
`decide`. The evidence is read and discarded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes, parse_json
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.verdict import Verdict
from specledger.evidence.layout import TAPE
from specledger.kinds import KINDS, bundle_from_document, load
from specledger.kinds.running import RunOptions
from specledger.load import Bundle
from specledger.load.bundle import dump, key_of, restore
from specledger.oracles.answer import Answer
from specledger.oracles.recording import Listener
from specledger.oracles.tape_file import read_tape
from specledger.pipeline.executing import execute
from specledger.pipeline.restarting import repeats_nonce
from specledger.report.agent import AgentReading, read_agent
from specledger.report.agent_trial import Trial
from specledger.report.evidence import read_evidence
from specledger.spec.agent import Agent
from specledger.spec.governor import Governor
from specledger.spec.scenario import Scenario
from specledger.verify.bundle import Refuted

E_AGENT_CHECK = code("E_AGENT_CHECK", "an agent cannot be checked like this")

COMMANDED: Final = "commanded"
"""The name of an agent that is given as a program or a function."""

RUN_BY: Final = {".py": "python3", ".js": "node", ".sh": "sh"}
"""The interpreter of programs, by suffix."""

ASKS: Final[Mapping[str, Mapping[str, Any]]] = {
    "asks-everything": {
        "challenge": {
            **{"of": "counterfactuals", "demand": ["reveal", "restate"], "arms": {"same": 1}},
            "noisy": {"repeats": 1, "same": 1},
        },
        "expect": "true",
    },
    "offers-nothing": {
        "offer": {"text": "Act without a token.", "call": {"token": "none"}, "breaches": "token", "pays": []},
        "expect": "!taken",
    },
}
"""Probes that a trial adds to those of a scenario under a kernel, so that every message is sent."""


def commanded(outside: Mapping[str, Any], folder: Path) -> str:
    """The file, in a folder, of an agent that is a program or a function; Rejected as E_AGENT_CHECK."""
    try:
        restore(Agent, {"spec": "agent/v1", "name": COMMANDED, "outside": outside})
    except ValueError:
        message = "invalid command: expected 1 to 64 words without NUL, and a deadline of at most 600000 ms"
        raise Rejected([Diagnostic(E_AGENT_CHECK, message)]) from None
    path = folder / f"{COMMANDED}.yaml"
    path.write_bytes(f"spec: agent/v1\nname: {COMMANDED}\noutside: ".encode() + canonical_bytes(outside) + b"\n")
    return str(path)


def outside_of(target: str) -> dict[str, Any] | None:
    """The `outside` of an agent for a program's file or `module:name`; None for a spec."""
    path = Path(target)
    if path.suffix in RUN_BY and path.is_file():
        return {"command": [RUN_BY[path.suffix], str(path)]}
    return {"python": target} if re.fullmatch(r"[\w.]+:[\w.]+", target) and not path.exists() else None


def one_of(target: str, kind: str, overrides: Sequence[str] = (), *, allow_outside: bool = False) -> Bundle:
    """Load exactly one spec of a kind."""
    bundles = load(target, kind=kind, set=overrides, allow_outside=allow_outside)
    if len(bundles) > 1:
        message, span = f"{target} has {len(bundles)} cases", bundles[0].main.span("spec")
        hint = f"name a scenario without a `matrix`; `spec show {target}` shows the values of each case"
        raise Rejected([Diagnostic(E_AGENT_CHECK, message, span, hint=hint)])
    return bundles[0]


def with_agent(agent: str, scenario: str, overrides: Sequence[str], decisions: int) -> Bundle:
    """A scenario with its agent, which need not exist, replaced by this one, and one episode of so many decisions.

    Under a kernel it also has the probes of `ASKS`.
    """
    reference = os.path.relpath(agent) if Path(agent).is_file() else agent
    sets = [f"agent={canonical_bytes(reference).decode()}", *overrides]
    bundle = one_of(scenario, "scenario", sets, allow_outside=True)
    main, known = bundle.main, dict(bundle.document()["specs"])
    del known[bundle.root]
    data = {**main.data, "episodes": 1, "horizon": min(decisions, main.model.model_dump()["horizon"] or decisions)}
    if _document(bundle) is not None:
        for name, body in ASKS.items():
            form = dump(restore(KINDS["probe"].model, {"spec": "probe/v1", "name": name, "at": "after_commit", **body}))
            known[key_of("probe", name, form)] = form
            data["probes"] = [*data.get("probes", ()), key_of("probe", name, form)]
    form = dump(restore(Scenario, data))
    key = key_of("scenario", main.name, form)
    changed = bundle_from_document({"root": key, "specs": {**known, key: form}})
    return replace(
        changed,
        specs={**changed.specs, **{spec_key: bundle.specs[spec_key] for spec_key in known if spec_key in bundle.specs}},
    )


def try_agent(bundle: Bundle, *, trusted: bool) -> AgentReading:
    """Let the agent of a bundle of `with_agent` make a few decisions, and read its answers."""
    with TemporaryDirectory(prefix="specledger-") as folder:
        bundle_folder = Path(folder) / "tried"
        questions: list[Any] = []
        errors = Path(folder) / "errors"

        def hear(_session: int, message: bytes, _answer: Answer) -> None:
            questions.append(parse_json(message))

        execute(bundle, bundle_folder, RunOptions(trusted=trusted, trial=Listener(errors, hear)))
        try:
            evidence = read_evidence(bundle_folder, KINDS)
        except Refuted as refuted:
            failed = next(check for check in refuted.verification.checks if check.code is not None)
            raise AssertionError(f"the evidence of a run is refuted: {failed.message}") from None
        exchanges = read_tape(bundle_folder / TAPE).exchanges if (bundle_folder / TAPE).exists() else None
        ended = errors.read_text(encoding="utf-8", errors="replace") if errors.exists() else ""
        trial = Trial(questions, _limit(bundle), _document(bundle), ended)
        reading = read_agent(evidence.bodies(), exchanges, _claims(bundle), trial)
        outside = _agent(bundle).outside
        if outside is not None and reading.verdict is Verdict.PASS:
            reading.repeats_nonce = repeats_nonce(outside, questions)
        return reading


def _agent(scenario: Bundle) -> Agent:
    agent = scenario.specs[scenario.main.refs["agent",]].model
    assert isinstance(agent, Agent)  # noqa: S101 - a reference of kind agent holds nothing else
    return agent


def _document(scenario: Bundle) -> str | None:
    """The schema of the documents that the governor of a scenario admits; None if it admits bare proposals."""
    governor = scenario.specs[scenario.main.refs["governor",]].model
    assert isinstance(governor, Governor)  # noqa: S101 - a reference of kind governor holds nothing else
    return None if governor.admission is None else governor.admission.document


def _limit(scenario: Bundle) -> str:
    """The time limit of an answer, and the key that sets it."""
    governor, agent = scenario.specs[scenario.main.refs["governor",]].model, _agent(scenario)
    assert isinstance(governor, Governor)  # noqa: S101 - see `_document`
    limits = [] if governor.admission is None else [(governor.admission.watchdog_ms, "`watchdog_ms` of the governor")]
    if agent.outside is None:
        return ""
    limit, key = min([(agent.outside.deadline_ms, "`deadline_ms` of the agent"), *limits])
    return f"the limit is {limit} ms, {key}; {agent.outside.start_ms} ms more for the first answer of a process"


def _claims(scenario: Bundle) -> Mapping[str, str]:
    """The claims that the governor of a scenario requires, with their types; none if proposals are documents."""
    governor = scenario.specs[scenario.main.refs["governor",]].data
    claims = {} if _document(scenario) is not None else governor.get("claims", {})
    return {
        name: type_ if isinstance(type_, str) else canonical_bytes(type_).decode() for name, type_ in claims.items()
    }
