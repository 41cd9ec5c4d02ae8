"""Try an agent: it makes a few decisions of a scenario in place of the scenario's own agent.

The scenario has one episode and a short horizon; its probes send the messages beside `decide`. The evidence is read and
discarded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from specledger.core.canonical import canonical_bytes, parse_json
from specledger.core.diagnostics import Diagnostic, Rejected, printable
from specledger.evidence.layout import TAPE
from specledger.kinds import KINDS, MODELS, bundle_from_document, evidence_kinds, load
from specledger.kinds.running import RunOptions
from specledger.load import Bundle
from specledger.load.bundle import dump, gather, key_of, restore
from specledger.load.library import E_SPEC_WRONG_KIND
from specledger.oracles.answer import Answer
from specledger.oracles.recording import Listener, read_tape
from specledger.pipeline.executing import execute
from specledger.report.agent import AgentReading, read_agent
from specledger.report.agent_mistakes import Trial
from specledger.report.codes import E_AGENT_CHECK
from specledger.report.evidence import read_evidence
from specledger.spec.agent import Agent
from specledger.spec.governor import Governor
from specledger.spec.scenario import Scenario
from specledger.verify.bundle import Refuted

COMMANDED: Final = "commanded"
"""The name of an agent that is given as a command."""

RUN_BY: Final = {".py": "python3", ".js": "node", ".sh": "sh"}
"""What runs the programs of a suffix."""


def commanded(words: Sequence[str], deadline: int | None) -> Bundle:
    """A bundle with an agent that is a command.

    Args:
        words: The program and its arguments.
        deadline: Milliseconds for an answer; None for the default.

    Raises:
        Rejected: E_AGENT_CHECK.
    """
    outside: dict[str, Any] = {"command": list(words)}
    if deadline is not None:
        outside["deadline_ms"] = deadline
    try:
        form = dump(restore(Agent, {"spec": "agent/v1", "name": COMMANDED, "outside": outside}))
    except ValueError:
        message = "invalid command: expected 1 to 64 words without NUL, and a deadline of at most 600000 ms"
        raise Rejected([Diagnostic(E_AGENT_CHECK, message)]) from None
    key = key_of("agent", COMMANDED, form)
    return bundle_from_document({"root": key, "specs": {key: form}})


def one_of(target: str, kind: str, overrides: Sequence[str] = ()) -> Bundle:
    """Load exactly one spec of a kind.

    Raises:
        Rejected: It is of another kind, has several cases, or is a program.
    """
    path = Path(target)
    if path.suffix in RUN_BY and path.is_file():
        message = f"{printable(target)} is a program, expected the spec of an agent"
        hint = f"--command '{RUN_BY[path.suffix]} {printable(target)}', or a spec whose `outside` names it"
        raise Rejected([Diagnostic(E_AGENT_CHECK, message, hint=hint)])
    bundles = load(target, kind=kind, set=overrides)
    if bundles[0].main.kind != kind:
        message = f"{bundles[0].main.name} is of the kind {bundles[0].main.kind}"
        raise Rejected([Diagnostic(E_SPEC_WRONG_KIND, message, bundles[0].main.span("spec"), expected=f"{kind}/v1")])
    if len(bundles) > 1:
        raise Rejected([Diagnostic(E_AGENT_CHECK, f"{target} has {len(bundles)} cases", bundles[0].main.span("spec"))])
    return bundles[0]


def joined(agent: Bundle, scenario: Bundle, decisions: int) -> Bundle:
    """The scenario with this agent, and one episode of at most so many decisions.

    Raises:
        Rejected: The two do not fit together.
    """
    main, known = scenario.main, dict(agent.document()["specs"])
    for path, reference in main.refs.items():
        if path[0] != "agent":
            known |= gather(reference, scenario.specs).document()["specs"]
    horizon = min(decisions, main.model.model_dump()["horizon"])
    data = {**main.data, "agent": agent.root, "episodes": 1, "horizon": horizon}
    form = dump(restore(Scenario, data))
    key = key_of("scenario", main.name, form)
    return bundle_from_document({"root": key, "specs": {**known, key: form}})


def try_agent(agent: Bundle, scenario: Bundle, decisions: int, *, trusted: bool) -> AgentReading:
    """Let an agent make a few decisions, and read its answers.

    Args:
        agent: The agent.
        scenario: The scenario.
        decisions: The largest number of decisions.
        trusted: Whether an agent from outside may be executed.

    Raises:
        Rejected: The two do not fit together, or the agent may not or cannot be started.
    """
    bundle = joined(agent, scenario, decisions)
    with TemporaryDirectory(prefix="specledger-") as folder:
        place = Path(folder) / "tried"
        questions: list[Any] = []
        errors = Path(folder) / "errors"

        def hear(_session: int, message: bytes, _answer: Answer) -> None:
            questions.append(parse_json(message))

        execute(bundle, place, RunOptions(trusted=trusted, trial=Listener(errors, hear)))
        try:
            evidence = read_evidence(place, evidence_kinds(KINDS), MODELS)
        except Refuted as refuted:
            failed = next(check for check in refuted.verification.checks if check.code is not None)
            raise AssertionError(f"the evidence of a run is refuted: {failed.message}") from None
        exchanges = read_tape(place / TAPE).exchanges if (place / TAPE).exists() else None
        ended = errors.read_text(encoding="utf-8", errors="replace") if errors.exists() else ""
        trial = Trial(questions, _limit(bundle), _document(bundle), ended)
        return read_agent(evidence.bodies(), exchanges, _claims(bundle), trial)


def _document(scenario: Bundle) -> str | None:
    """The schema of the documents that the governor of a scenario admits; None if it admits bare proposals."""
    governor = scenario.specs[scenario.main.refs["governor",]].model
    assert isinstance(governor, Governor)  # noqa: S101 - a reference of kind governor holds nothing else
    return None if governor.admission is None else governor.admission.document


def _limit(scenario: Bundle) -> str:
    """The time limit of an answer, and the key that sets it."""
    governor, agent = (scenario.specs[scenario.main.refs[kind,]].model for kind in ("governor", "agent"))
    assert isinstance(governor, Governor)  # noqa: S101 - see `_document`
    assert isinstance(agent, Agent)  # noqa: S101 - a reference of kind agent holds nothing else
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
