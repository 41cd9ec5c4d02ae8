"""The sections of a run: gates, invariants, probes, drifts, budget and episodes, each with the receipts that show it.

Decides what counts as an opportunity and which receipts stand for a row. Refuses to know how rows look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from specledger.report.agent_metrics import Account
from specledger.report.figures import share
from specledger.report.html.elements import Markup, bar, code, count, join, quoted, words
from specledger.report.html.embed import Embedded
from specledger.report.html.probes import probe_sections
from specledger.report.html.rows import UNTESTED, Place, Receipt, Row, RowLink, Section, Steps, anchor
from specledger.report.html.specs import Specs, demand, requirement

Body = Mapping[str, Any]

_FIRST: Final = 3  # receipts that stand for a row
_GRAVEST: Final = ("ERROR", "FAIL", "INCONCLUSIVE", "PASS")
_PROGRESS: Final = "progress"  # the name in results for steps in which nothing was admissible
_PROGRESS_SAYS: Final = "Of all proposals of a step one is admissible. Every run asks for it; no spec says so."


class RunFold:
    """Folds the receipts of one run into what its rows need.

    Attributes:
        chain: The chain that the receipts are of; told what it must embed.
    """

    def __init__(self, chain: Embedded, number: int, specs: Specs) -> None:
        """Begin.

        Args:
            chain: To be told which receipts rows rest on.
            number: Of the chain on the page.
            specs: That the run was made from.
        """
        self.chain = chain
        self.number = number
        self.specs = specs
        probes = [data["name"] for data in specs.of_kind("probe")]
        self.account = Account(specs.root["name"], specs.root["name"], probes)
        self.start: Body = {}
        self.episodes: list[Row] = []
        self.price: Counter[str] = Counter()
        self._places: dict[tuple[str, str], list[int]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._idle: Counter[str] = Counter()
        self._began = 0
        self._broken = 0

    def add(self, seq: int, type_: str, body: Body) -> None:
        """Take one receipt.

        Raises:
            KeyError, TypeError, AttributeError, ValueError: It is not what it must be.
        """
        if type_ != "audit":
            self.account.add(type_, body)
        if type_ == "start":
            self.start = body
        elif type_ == "episode":
            self._began = seq
        elif type_ == "drift":
            self._note("drift", body["drift"], seq)
        elif type_ == "probe":
            self._note(f"probe {body['verdict']}", body["probe"], seq)
        elif type_ == "step":
            self._step(seq, body)
        elif type_ == "error":
            self._note("error", "error", seq)
        elif type_ == "episode_end":
            self._end(seq, body)
        if type_ in ("start", "end"):
            self.chain.first.add(seq)

    def _note(self, kind: str, name: str, seq: int) -> None:
        """Count something, and keep the first receipts that show it."""
        self._counts[kind, name] += 1
        found = self._places.setdefault((kind, name), [])
        if len(found) < _FIRST and seq not in found:
            found.append(seq)
            self.chain.first.add(seq)

    def _step(self, seq: int, body: Body) -> None:
        for decision in body["decisions"]:
            for failing in decision["rejected"]:
                self._note("gate", failing["gate"], seq)
            if decision["error"] is not None:
                self._note("error", "error", seq)
        if body["chosen"] is None:
            self._note("invariant", _PROGRESS, seq)
        for breach in body["violations"]:
            self._note("invariant", breach["invariant"], seq)
            self._broken += 1
        for item, price in (body["cost"] or {}).items():
            self.price[item] += int(price)

    def _end(self, seq: int, body: Body) -> None:
        for breach in body["violations"]:
            self._note("invariant", breach["invariant"], seq)
            self._broken += 1
        self._idle.update(body["idle"])
        number, first = body["episode"], body["first_success"]
        self.chain.episodes[number] = (self._began, seq)
        self.episodes.append(
            Row(
                f"episode {number}",
                "",
                (
                    count(body["steps"]),
                    quoted(body["ended"]),
                    words("never" if first is None else f"in step {first}"),
                    count(self._broken),
                ),
                places=(Steps(self.number, number), Receipt(self.number, seq)),
            )
        )
        self._broken = 0

    def _shown(self, kind: str, name: str) -> list[Place]:
        return [Receipt(self.number, seq) for seq in self._places.get((kind, name), ())]

    def sections(self, result: Body) -> Iterator[Section]:
        """The sections, in the order of the page; `result` is the manifest's."""
        yield self._gates(result)
        yield self._invariants(result)
        agent = (self.specs.referred("agent") or {}).get("name", "")
        yield from probe_sections({agent: [self.account]}, self._probe_rows())
        yield self._drifts()
        yield self._budget()
        heads = ("episode", "steps", "ended", "goal first reached", "violations")
        yield Section("episodes", "Episodes", "", heads, self.episodes)

    def _gates(self, result: Body) -> Section:
        demands, proposals, rows = self.specs.gates(), result["proposals"], []
        for gate in self.start["gates"]:
            times = self._counts["gate", gate]
            of = share(times * 1_000_000 // max(proposals, 1))
            data = demands.get(gate, {})
            cells = (requirement(data), count(proposals), count(times), join(bar(times, proposals), words(of)))
            details = demand(data)
            if not times:
                told = "It rejected nothing here, so this run does not show that it can."
                details = [*details, ("evidence", words(told))]
            places = self._shown("gate", gate)
            steps = len(places) if times <= _FIRST else times
            rows.append(Row(gate, "held" if times else UNTESTED, cells, details, places, steps))
        intro = "Each proposal is judged by every gate; one proposal may be rejected by several."
        return Section(
            "gates", "Gates", intro, ("gate", "requirement", "judged", "rejected", "share of proposals"), rows
        )

    def _invariants(self, result: Body) -> Section:
        demands = {data["name"]: data for data in self.specs.of_kind("invariant")}
        rows = []
        for each in self.start["invariants"]:
            name, scope = each["name"], each["scope"]
            checked = result["steps"] if scope == "step" else result["episodes"] - self._idle[name]
            rows.append(self._invariant(name, (scope, each["severity"]), checked, demands.get(name, {})))
        rows.append(self._invariant(_PROGRESS, ("step", "fatal"), result["steps"], {"doc": _PROGRESS_SAYS}))
        heads = ("invariant", "requirement", "scope", "severity", "checked", "broken")
        return Section("invariants", "Invariants", "", heads, rows)

    def _invariant(self, name: str, said: tuple[str, str], checked: int, data: Body) -> Row:
        broken = self._counts["invariant", name]
        mark = ("broken" if said[1] == "fatal" else "warned") if broken else "held" if checked else UNTESTED
        cells = (requirement(data), *map(words, said), count(checked), count(broken))
        places = self._shown("invariant", name)
        return Row(name, mark, cells, demand(data), places, max(broken, len(places)))

    def _probe_rows(self) -> list[Row]:
        """What each probe is and where its verdicts stand."""
        rows = []
        for data in self.specs.of_kind("probe"):
            name = data["name"]
            made = sum(self._counts[f"probe {verdict}", name] for verdict in _GRAVEST)
            mark = next((v for v in _GRAVEST if self._counts[f"probe {v}", name]), UNTESTED)
            places = self._shown(f"probe {mark}", name)
            cells = (requirement(data), words(str(data.get("at", ""))), count(made))
            rows.append(Row(name, mark, cells, demand(data), places, len(places)))
        return rows

    def _drifts(self) -> Section:
        rows = []
        for each in self.start["drifts"]:
            times = self._counts["drift", each["drift"]]
            due = code(each["schedule"])
            places = self._shown("drift", each["drift"])
            rows.append(
                Row(each["drift"], "", (count(times),), [("due at steps", due)], places, max(times, len(places)))
            )
        return Section("drifts", "Drifts", "Changes of the world from outside, as scheduled.", ("drift", "times"), rows)

    def _budget(self) -> Section:
        whole = self.price.get("total", 0)
        items = sorted(self.price.items(), key=lambda item: (-item[1], item[0]))
        rows = [Row(item, "", (count(sum_), bar(sum_, whole))) for item, sum_ in items if whole]
        intro = "What the steps cost, item by item, in the units of the receipts. The curve over the steps is below."
        return Section("budget", "Budget", intro, ("item of the price", "sum", "of the total"), rows)


def headline(result: Body) -> Iterator[tuple[str, Markup]]:
    """What a run amounts to."""
    for noun in ("episodes", "successes", "steps", "drifts", "proposals", "checks", "errors"):
        yield noun, count(result[noun])


def broken(result: Body) -> Iterator[RowLink]:
    """What was broken, as links to its rows."""
    for name in sorted(result["violations"]):
        yield RowLink(anchor("invariants", name), name)
