"""How an agent answered in a run: in time, in the protocol's form, with proposals that mean something.

Decides what a finding about an agent is. All of it follows from evidence: the tape says what came and when nothing did,
the receipts what became of it. Refuses to judge what an agent wants: a gate's rejection is no finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from specledger.core.canonical import parse_json
from specledger.core.diagnostics import Diagnostic, printable
from specledger.core.verdict import Verdict
from specledger.gates.governor import SCHEMA
from specledger.oracles.answer import TIMED_OUT, Answer
from specledger.report.codes import E_AGENT_LATE, E_AGENT_PROPOSAL, E_AGENT_PROTOCOL
from specledger.run.outside_agent import MALFORMED

FORMAT: Final = "specledger/agent-check/v1"


@dataclass
class AgentReading:
    """What a run shows of its agent.

    Attributes:
        decisions: Decisions for which it was asked.
        failures: Questions without an answer, by why.
        proposals: Proposals that came, of whatever form.
        malformed: Those that the gate `schema` rejected, by why.
        rejected: Rejections by the other gates, by the gate.
        admitted: Proposals that every gate admitted.
        lacking: Claims that proposals lack, by the words for each: where it is first lacking, and its type.
        places: Of each failure and each malformed reason the first decision.
        outside: Whether the agent is asked outside.
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

    @property
    def verdict(self) -> Verdict:
        """FAIL if something is found; INCONCLUSIVE if it was never asked, or never proposed anything."""
        if self.failures or self.malformed:
            return Verdict.FAIL
        return Verdict.PASS if self.decisions and self.proposals else Verdict.INCONCLUSIVE

    def findings(self) -> list[Diagnostic]:
        """A finding for each kind of failure and each malformed form."""
        found = []
        for why, count in sorted(self.failures.items()):
            code_ = E_AGENT_LATE if why == TIMED_OUT else E_AGENT_PROTOCOL
            message = f"{self._of(count, why)} of {self.decisions} questions have no answer: {why}"
            found.append(Diagnostic(code_, message))
        for why, count in sorted(self.malformed.items()):
            message = f"{self._of(count, why)} of {self.proposals} proposals have not the form of one: {printable(why)}"
            lacks = "".join(f", {words}" for _, words in sorted(self.lacking.items())) if why == MALFORMED else ""
            found.append(Diagnostic(E_AGENT_PROPOSAL, f"{message}{lacks}"))
        return found

    def _of(self, count: int, why: str) -> str:
        return f"{count} (first in {self.places[why]})"

    def document(self, agent: str, scenario: str) -> dict[str, Any]:
        """The reading as JSON.

        Args:
            agent: What the agent is called.
            scenario: What it was tried in.
        """
        return {
            "format": FORMAT,
            "agent": agent,
            "scenario": scenario,
            "verdict": self.verdict.value,
            "outside": self.outside,
            "decisions": self.decisions,
            "failures": dict(sorted(self.failures.items())),
            "proposals": self.proposals,
            "malformed": dict(sorted(self.malformed.items())),
            "lacking": sorted(self.lacking),
            "rejected": dict(sorted(self.rejected.items())),
            "admitted": self.admitted,
        }


def read_agent(
    told: Iterable[tuple[str, Mapping[str, Any]]],
    answers: Iterable[Answer] | None,
    claims: Mapping[str, str] = MappingProxyType({}),
) -> AgentReading:
    """Read how an agent answered.

    Args:
        told: The type and body of each receipt, in order.
        answers: What is on the tape; None if the agent is a spec.
        claims: What each proposal of an answer must claim, and of which type.
    """
    reading = AgentReading(outside=answers is not None)
    asked: set[tuple[int, int]] = set()
    failed: set[tuple[int, int]] = set()
    for answer in answers or ():
        asked.add((answer.episode, answer.t))
        if answer.failure:
            failed.add((answer.episode, answer.t))
            reading.failures[answer.failure] += 1
            reading.places.setdefault(answer.failure, _place(answer.episode, answer.t))
        for index, proposal in _proposals(answer):
            for name in claims.keys() - proposal.keys():
                where = f"`[{index}].{name}` is missing in {_place(answer.episode, answer.t)}"
                reading.lacking.setdefault(name, f"{where}, expected {claims[name]}")
    for type_, body in told:
        if type_ != "step":
            continue
        asked.add((body["episode"], body["t"]))
        for decision in body["decisions"] if (body["episode"], body["t"]) not in failed else ():
            _decided(reading, body, decision["rejected"])
    reading.decisions = len(asked)
    return reading


def _proposals(answer: Answer) -> list[tuple[int, Mapping[str, Any]]]:
    """What an answer proposes, numbered, as far as it is a list of mappings: of the rest the gate `schema` tells."""
    try:
        given = parse_json(answer.received or b"")
    except ValueError:
        return []
    return [(n, one) for n, one in enumerate(given) if isinstance(one, dict)] if isinstance(given, list) else []


def _decided(reading: AgentReading, body: Mapping[str, Any], rejected: Iterable[Mapping[str, Any]]) -> None:
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


def _place(episode: int, t: int) -> str:
    return f"episode {episode}, step {t}"
