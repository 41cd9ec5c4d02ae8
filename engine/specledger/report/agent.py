"""Findings about how an agent answered in a run: in time, in the form of the protocol, with well-formed proposals.

A rejection by a gate other than `schema` is no finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct, field, to_builtins

from specledger.core.canonical import NotCanonical
from specledger.core.causes import Cause
from specledger.core.diagnostics import Diagnostic, code, printable
from specledger.core.verdict import Verdict
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.kernel import Probe
from specledger.evidence.receipts.run import Commit, EpisodeEnd, Rejection, Step
from specledger.gates.documents import shipped_schemas
from specledger.gates.governor import SCHEMA
from specledger.oracles.answer import RAISED, TIMED_OUT, Exchange
from specledger.oracles.statement import UNREAD, payload_of
from specledger.report.agent_claims import ClaimsReading, read_claims
from specledger.report.agent_trial import Trial, body_of
from specledger.run.outside_proposals import MALFORMED
from specledger.run.session import ANSWERS

E_AGENT_LATE = code("E_AGENT_LATE", "an agent did not answer in time")
E_AGENT_PROTOCOL = code("E_AGENT_PROTOCOL", "an agent does not speak the protocol")
E_AGENT_PROPOSAL = code("E_AGENT_PROPOSAL", "a proposal of an agent is malformed")
E_AGENT_PROMISE = code("E_AGENT_PROMISE", "an agent does not do what it says of itself")

FORMAT: Final = "specledger/agent-check/v1"


_QUESTIONS: Final = ("ask", "offer", "restate", "reveal")
"""Messages of probes; without an answer to one of the others there is no decision."""


UNOPENED: Final = "it does not open its commitment"


class AgentReading(Struct):
    """How an agent answered in a run.

    Attributes:
        malformed: Proposals that the gate `schema` rejected, by reason; `rejected` by the other gates, by gate.
        lacking: Missing claims: where each is first missing, and its type.
        places: The first decision of each failure and each malformed form.
        untried: Messages that it was not sent, and why.
        details: What is wrong with the first answer of each failure and each malformed form, if it is known.
        errors: The end of the standard error of its program.
        broken: What it says of itself and does not do, with the number of probes that saw it.
        hashed: Of the first commitment that did not open, the text that the kernel hashed after the nonce.
        repeats_nonce: Whether a process that is started again commits by a nonce of the one before.
        claims: How many of its claims could be tested, and held.
    """

    decisions: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    proposals: int = 0
    malformed: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    admitted: int = 0
    lacking: dict[str, str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    outside: bool = False
    messages: Counter[str] = field(default_factory=Counter)
    untried: dict[str, str] = field(default_factory=dict)
    broken: Counter[str] = field(default_factory=Counter)
    details: dict[str, str] = field(default_factory=dict)
    errors: str = ""
    hashed: str = ""
    repeats_nonce: bool = False
    claims: ClaimsReading = field(default_factory=ClaimsReading)

    @property
    def verdict(self) -> Verdict:
        """FAIL if there is a finding; INCONCLUSIVE if it was never asked or never proposed anything."""
        if self.failures or self.malformed or self.broken or self.repeats_nonce:
            return Verdict.FAIL
        return Verdict.PASS if self.decisions and self.proposals else Verdict.INCONCLUSIVE

    def findings(self) -> list[Diagnostic]:
        """A finding for each kind of failure and each malformed form."""
        diagnostics = []
        for why, count in sorted(self.failures.items()):
            code_ = E_AGENT_LATE if why == TIMED_OUT else E_AGENT_PROTOCOL
            message = f"{self._of(count, why)} of {self.messages.total()} messages have no valid answer: {why}"
            hint = (
                None if why != TIMED_OUT else "flush every line as it is written; a slower agent needs a longer limit"
            )
            diagnostics.append(Diagnostic(code_, message + self._detail(why), hint=hint))
        for why, count in sorted(self.malformed.items()):
            message = f"{self._of(count, why)} of {self.proposals} proposals are malformed: {printable(why)}"
            lacks = "".join(f", {words}" for _, words in sorted(self.lacking.items())) if why == MALFORMED else ""
            diagnostics.append(Diagnostic(E_AGENT_PROPOSAL, f"{message}{self._detail(why)}{lacks}"))
        for why, count in sorted(self.broken.items()):
            suffix = f"; the kernel hashed the nonce and then {self.hashed}" if why == UNOPENED and self.hashed else ""
            diagnostics.append(Diagnostic(E_AGENT_PROMISE, f"{why}: seen by {count} probes{suffix}"))
        if self.repeats_nonce:
            message = "started again, it commits by a nonce that it used before, which opens no second commitment"
            hint = "draw it from the system (`secrets.token_bytes`), or from a secret and the `id` of the question"
            diagnostics.append(Diagnostic(E_AGENT_PROMISE, message, hint=hint))
        return diagnostics

    def _detail(self, why: str) -> str:
        return f" ({self.details[why]})" if self.details.get(why) else ""

    def _of(self, count: int, why: str) -> str:
        return f"{count} (first in {self.places[why]})"

    def document(self, agent: str, scenario: str) -> dict[str, Any]:
        """The reading as JSON."""
        known = to_builtins(self)
        stderr, _ = known.pop("errors"), known.pop("places")
        return {
            **known,
            "format": FORMAT,
            "agent": agent,
            "scenario": scenario,
            "verdict": self.verdict.value,
            "stderr": stderr,
            "lacking": sorted(self.lacking),
        }


def read_agent(
    bodies: Iterable[tuple[str, Mapping[str, Any]]],
    exchanges: Iterable[Exchange] | None,
    claims: Mapping[str, str] = MappingProxyType({}),
    trial: Trial | None = None,
) -> AgentReading:
    """Read how an agent answered in a run.

    `exchanges` are those that were recorded, None if the agent is a spec; `claims` the claims that each proposal must
    have, with their types; `trial` what was seen of an agent outside.
    """
    reading = AgentReading(outside=exchanges is not None, errors="" if trial is None else trial.errors)
    exchanges = tuple(exchanges or ()) if reading.outside else None
    if trial is not None and exchanges:
        reading.details.update(trial.faults(exchanges))
        if RAISED in reading.details:  # they say what it raised
            reading.errors = ""
    bodies = [*bodies]
    reading.claims = read_claims(bodies)
    asked: set[tuple[int, int]] = set()
    failed: set[tuple[int, int]] = set()
    steps: list[Step] = []
    documents = _documents(bodies)
    said = _hear(reading, exchanges or (), claims)
    for type_, body in bodies:
        if type_ == "step":
            step = typed(Step, body)
            steps.append(step)
            asked.add((step["episode"], step["t"]))
        if type_ == "probe":
            probe = typed(Probe, body)
            reading.broken.update(_broken(said, probe))
            if not reading.hashed and probe["evidence"].get("revealed") is False:
                reading.hashed = _hashed(exchanges or (), (probe["episode"], probe["t"]))
        if type_ == "episode_end":
            _faults(reading, typed(EpisodeEnd, body), (asked, failed), trial, exchanges or ())
    for step in steps:
        for decision in step["decisions"] if (step["episode"], step["t"]) not in failed else ():
            why = _decided(reading, step, decision["rejected"])
            if why is not None and why not in reading.details and trial is not None:
                position = (step["episode"], step["t"])
                document = documents.get(position)
                reading.details[why] = trial.submission(why, position, exchanges or (), document)
    reading.decisions = len(asked)
    if reading.outside:
        reading.untried = {
            name: _why(name, said, trial is not None and trial.document is not None)
            for name in ANSWERS
            if not reading.messages[name]
        }
    return reading


def _documents(bodies: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[tuple[int, int], str]:
    """The document that was submitted at each decision, as text."""
    commits = [typed(Commit, body) for type_, body in bodies if type_ == "commit"]
    return {
        (commit["episode"], commit["t"]): proposal["document"]
        for commit in commits
        for proposal in commit["proposals"][:1]
        if isinstance(proposal, dict) and isinstance(proposal.get("document"), str)
    }


def _faults(
    reading: AgentReading,
    body: EpisodeEnd,
    decisions: tuple[set[tuple[int, int]], set[tuple[int, int]]],
    trial: Trial | None,
    exchanges: Sequence[Exchange],
) -> None:
    """Count the faults of an episode; their decisions were asked for, and those without an answer failed."""
    asked, failed = decisions
    for fault in body.get("faults", ()):
        asked.add((body["episode"], fault["t"]))
        if fault["message"] not in _QUESTIONS:
            failed.add((body["episode"], fault["t"]))
        reading.failures[fault["reason"]] += 1
        where = f"`{fault['message']}` of {_place(body['episode'], fault['t'])}"
        reading.places.setdefault(fault["reason"], where)
        if trial is not None and fault["reason"] == UNREAD and UNREAD not in reading.details:
            reading.details[UNREAD] = trial.submission(UNREAD, (body["episode"], fault["t"]), exchanges)


def _hear(reading: AgentReading, exchanges: Iterable[Exchange], claims: Mapping[str, str]) -> Mapping[str, Any]:
    """Count the messages and the claims that proposals lack; what the agent says of itself."""
    said: Mapping[str, Any] = {}
    for exchange in exchanges:
        reading.messages[exchange.asked.message] += 1
        said = _greeting(exchange) or said
        for index, proposal in _proposals(exchange):
            for name in claims.keys() - proposal.keys():
                where = f"`[{index}].{name}` is missing in {_place(exchange.episode, exchange.t)}"
                reading.lacking.setdefault(name, f"{where}, expected {claims[name]}")
    return said


def _greeting(exchange: Exchange) -> Mapping[str, Any] | None:
    """What the agent says of itself, if this is the exchange in which it does."""
    body = body_of(exchange) if exchange.asked.message == "hello" else None
    return body if shipped_schemas("protocol").check(ANSWERS["hello"]["hello"])(body) else None


def _why(message: str, said: Mapping[str, Any], kernel: bool) -> str:
    """Why an agent was not sent a message."""
    if not said:
        return "`hello` has no valid answer"
    if not kernel:
        return "no kernel asks it here"
    if message in ("snapshot", "restore") and said.get("state") != "snapshot":
        return f"it declares `state: {said.get('state', 'none')}`"
    can = said.get("can")
    if message == "ask" and isinstance(can, list) and "disguise" in can:
        return "it says `can: [disguise]`: it is asked by `decide`"
    return "nothing that it submitted could be asked about"


def _null_changed(probe: Probe) -> bool:
    """Whether the same question got another answer."""
    return "null" in probe["evidence"] and bool(probe["evidence"]["null"].get("changed"))


def _broken(said: Mapping[str, Any], probe: Probe) -> list[str]:
    """What a probe shows that the agent says of itself and does not do."""
    contradictions = (
        ["it declares `state: replay`, and does not answer as before"] if probe["cause"] == Cause.NOT_REPEATABLE else []
    )
    if said.get("deterministic") is True and _null_changed(probe):
        contradictions.append("it declares `deterministic`, and the same question got another answer")
    if said.get("deterministic") is True and probe["evidence"].get("restated") is False:
        contradictions.append("it declares `deterministic`, and gives other reasons when it restates them")
    if probe["evidence"].get("revealed") is False:
        contradictions.append(UNOPENED)
    return contradictions


def _hashed(exchanges: Iterable[Exchange], position: tuple[int, int]) -> str:
    """The text that the commitment of the statement at a decision covers; empty if there is none."""
    for exchange in exchanges:
        body = body_of(exchange)
        if (exchange.episode, exchange.t, exchange.asked.message) == (*position, "decide") and "claims" in body:
            try:
                return printable(payload_of(body).decode())
            except NotCanonical:
                return ""
    return ""


def _proposals(exchange: Exchange) -> list[tuple[int, Mapping[str, Any]]]:
    """The proposals of an answer that are mappings, numbered; the gate `schema` reports the others."""
    given = body_of(exchange).get("proposals")
    return (
        [(n, proposal) for n, proposal in enumerate(given) if isinstance(proposal, dict)]
        if isinstance(given, list)
        else []
    )


def _decided(reading: AgentReading, body: Step, rejected: Iterable[Rejection]) -> str | None:
    """Count a proposal; the reason if the gate `schema` rejected it."""
    gates = {failing["gate"]: failing["reason"] for failing in rejected}
    formless = gates.get(SCHEMA)
    reading.proposals += 1
    if formless is not None:
        reading.malformed[str(formless)] += 1
        reading.places.setdefault(str(formless), _place(body["episode"], body["t"]))
    elif gates:
        reading.rejected.update(gates.keys())
    else:
        reading.admitted += 1
    return None if formless is None else str(formless)


def _place(episode: int, t: int) -> str:
    return f"episode {episode}, step {t}"
