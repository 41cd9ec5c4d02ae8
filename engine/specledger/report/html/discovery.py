"""The sections of a discovery: what was asked and answered, every law with its last verdict, and what was expected.

Decides that a law stands with the verdict that counts last, and which prompt and model are named in the head. Refuses
to know models. What a model wrote is evidence like all other: text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from specledger.discovery.plan import compile_discovery
from specledger.load import Bundle
from specledger.report.html.elements import Markup, block, code, count, quoted, words
from specledger.report.html.law import law_cells, law_details
from specledger.report.html.ring import spacetime
from specledger.report.html.rows import Place, Receipt, Row, RowLink, Section, anchor

Body = Mapping[str, Any]

MOST_DRAWN: Final = 40
"""Laws of which a ring is drawn, first those with a counterexample."""

_LAST: Final = "Each with the verdict that counts last. A refuted law is a finding, and no fault of the discovery."
_COUNTS: Final = ("iterations", "evaluations", "escalations", "failures", "rejected", "redundant", "tokens")


class DiscoveryFold:
    """Folds the receipts of a discovery."""

    def __init__(self) -> None:
        """Begin before the first receipt."""
        self._start: Body = {}
        self._stop: Body = {}
        self._iterations: list[tuple[int, Body]] = []
        self._expected: list[tuple[int, Body]] = []
        self._laws: dict[str, list[tuple[int, Body]]] = {}
        self._late: list[tuple[int, Body]] = []

    def add(self, seq: int, type_: str, body: Body) -> None:
        """Take one receipt."""
        if type_ == "start":
            self._start = body
        elif type_ == "stop":
            self._stop = body
        elif type_ == "iteration":
            self._iterations.append((seq, body))
        elif type_ == "expected":
            self._expected.append((seq, body))
        elif type_ == "escalation" or (type_ == "law" and body["late"] is None):
            self._laws.setdefault(body["law"], []).append((seq, body))
        elif type_ == "law":
            self._late.append((seq, body))

    def facts(self, result: Body) -> Iterator[tuple[str, Markup]]:
        """Figures, who was asked and how; `result` is the manifest's."""
        for noun in _COUNTS:
            yield noun, count(result[noun])
        for status, number in result["laws"].items():
            if number:
                yield status, count(number)
        yield "stopped by", quoted(self._stop["reason"])
        yield "prompt", code(self._start["prompt"])
        yield "model", code(self._start["model"]["spec"])
        yield "ranking", code(self._start["ranking"])

    def broken(self) -> Iterator[RowLink]:
        """Laws that were expected and not found."""
        for _, body in self._expected:
            if body["found"] is None:
                yield RowLink(anchor("expected", body["law"]), body["law"])

    def sections(self) -> Iterator[Section]:
        """The sections, in the order of the page."""
        rows = [_expected(seq, body) for seq, body in self._expected]
        yield Section("expected", "Expected laws", "", ("law", "status", "found as"), rows)
        heads = ("law", "claim", "rests on", "about", "proposed in")
        yield Section(
            "laws",
            "Laws",
            _LAST,
            heads,
            [*map(_law, self._laws.values())],
        )
        rows = [_late(seq, body) for seq, body in self._late]
        told = "Proposed while an equal law was under way: tried, and then left out."
        yield Section("late", "Found twice", told, ("law", "equal to"), rows)
        yield self._asked()
        rows = [Row("identity", "", (code(self._start["model"]["identity"]),), (), (Receipt(0, 0),))]
        yield Section("model", "Model", "Who was asked, as the first receipt says.", ("", "as it names itself"), rows)

    def _asked(self) -> Section:
        rows = []
        for seq, body in self._iterations:
            answer, prompt, usage = body["answer"], body["prompt"], body["answer"]["usage"]
            laws = sum(one["iteration"] == body["iteration"] for laws in self._laws.values() for _, one in laws[:1])
            cells = (
                code(prompt["digest"][:16]),
                count(prompt["tokens"]),
                count(usage["output_tokens"] + usage["thinking_tokens"]),
                count(laws),
                count(len(body["rejections"])),
                count(len(body["redundant"])),
            )
            details = [
                ("prompt", block(prompt)),
                ("request", code(body["request"])),
                ("answer", block(answer)),
                ("refused of the answer", block(body["rejections"])),
                ("equal to what was known", block(body["redundant"])),
                ("what the order hung on", block(body["sensitivity"])),
            ]
            mark = "failed" if answer["failure"] is not None else ""
            rows.append(Row(f"iteration {body['iteration']}", mark, cells, details, (Receipt(0, seq),)))
        heads = ("iteration", "prompt", "tokens asked", "answered", "laws", "refused", "redundant")
        return Section("iterations", "Asked and answered", "", heads, rows)

    def spacetimes(self, specs: Bundle) -> list[dict[str, Any]]:
        """What is drawn of the laws."""
        plan = compile_discovery(specs)
        drawn: list[dict[str, Any]] = []
        told = [(key, bodies[0][1], bodies[-1][1]["verdict"]) for key, bodies in self._laws.items()]
        judged = [(key, first["document"], verdict) for key, first, verdict in told if verdict is not None]
        for key, document, verdict in sorted(judged, key=lambda one: one[2]["counterexample"] is None):
            if len(drawn) == MOST_DRAWN:
                break
            ring = spacetime(plan.parsed(document).plan.law, verdict, anchor("laws", _name(key)))
            drawn += [] if ring is None else [ring]
        return drawn


def _name(key: str) -> str:
    return key.partition("/")[2]


def _law(told: list[tuple[int, Body]]) -> Row:
    (_, first), (_, last) = told[0], told[-1]
    verdict = last["verdict"] or first["verdict"]
    places: list[Place] = [Receipt(0, seq) for seq, _ in told]
    proposed = words(f"iteration {first['iteration']}")
    details = [("as it was proposed", block(first["document"])), ("value when it was ranked", block(first["features"]))]
    if len(told) > 1:
        details.append(("on other rules", block(last["held_out"])))
    if verdict is None:
        return Row(
            _name(first["law"]), "ERROR", (quoted(last["error"]), words(""), words(""), proposed), details, places
        )
    details = [*law_details(verdict), *details]
    return Row(_name(first["law"]), verdict["status"], (*law_cells(verdict), proposed), details, places)


def _late(seq: int, body: Body) -> Row:
    return Row(_name(body["law"]), "", (code(body["late"]),), (), (Receipt(0, seq),))


def _expected(seq: int, body: Body) -> Row:
    found = body["found"]
    where: list[Place] = [] if found is None else [RowLink(anchor("laws", _name(found)), _name(found))]
    cells = (quoted(body["status"] or "accepted"), code(found) if found is not None else words("nothing"))
    return Row(body["law"], "found" if found is not None else "missed", cells, (), [*where, Receipt(0, seq)])
