"""The sections of a suite: checks with the figures that they read and the mutants that they noticed, and its runs.

Decides which runs are embedded: those that failing checks name, then the first ones. Refuses to know how rows look.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from specledger.core.canonical import parse_canonical
from specledger.evidence.layout import MANIFEST, MAX_LINE, RECEIPTS, SPECS
from specledger.report.agent_metrics import Account
from specledger.report.figures import figure_rows, share
from specledger.report.html.elements import NOTHING, Markup, bar, block, code, count, element, join, quoted, words
from specledger.report.html.embed import MOST_TEXT, Embedded
from specledger.report.html.probes import probe_sections
from specledger.report.html.rows import Place, Receipt, Row, RowLink, Section, Steps, anchor
from specledger.report.html.specs import Specs, demand, requirement
from specledger.verify.documents import MAX_MANIFEST, MAX_SPECS

Body = Mapping[str, Any]

MOST_RUNS: Final = 3
"""Runs whose receipts are embedded."""

_MUTANTS: Final = {"PASS": "caught", "FAIL": "survived"}
_NOUNS: Final = ("episodes", "successes", "steps", "drifts", "errors")


class SuiteFold:
    """Folds the receipts of a suite, and reads those of some of its runs.

    Attributes:
        chain: Of the suite.
        runs: The chains of the runs that are embedded; their numbers on the page begin at 1.
    """

    def __init__(self, chain: Embedded, specs: Specs, place: Path) -> None:
        """Begin; the suite's bundle lies at `place`."""
        self.chain = chain
        self.specs = specs
        self.runs: list[Embedded] = []
        self._place = place
        self._told: dict[str, list[tuple[int, Body]]] = {}
        self._own: list[tuple[int, Body]] = []
        self._agents: dict[str, list[Account]] = {}

    def add(self, seq: int, type_: str, body: Body) -> None:
        """Take one receipt."""
        self._told.setdefault(type_, []).append((seq, body))

    def read_runs(self) -> None:
        """Read the suite's own runs as far as the page needs them.

        Raises:
            KeyError, TypeError, ValueError: A receipt is not what it must be.
            OSError: A file cannot be read.
        """
        own = self._all("run")[: self._all("start")[0][1]["runs"]]
        self._own = own
        wanted = [each["run"] for each in self._witnesses()] + [run["run"] for _, run in own]
        by_name = {run["run"]: run for _, run in own}
        chosen = [by_name[name] for name in dict.fromkeys(wanted) if name in by_name][:MOST_RUNS]
        self.runs = [_embed(self._place, run) for run in chosen]
        for _, run in own:
            agent, account = _account(self._place, run)
            if account is not None:
                self._agents.setdefault(agent, []).append(account)

    def _all(self, type_: str) -> list[tuple[int, Body]]:
        return self._told.get(type_, [])

    def _witnesses(self) -> Iterator[Body]:
        """The episodes that figures of failing checks name."""
        for _, check in self._all("check"):
            if check["verdict"] == "FAIL":
                for figure in self._read_by(check["check"]):
                    for group in figure["groups"]:
                        yield from group.get("failed", ())

    def _demand(self, check: str) -> Body:
        return next((each for each in self.specs.root.get("checks", ()) if each["id"] == check), {})

    def _read_by(self, check: str) -> list[Body]:
        """The figures whose names stand in a check's expressions."""
        data = self._demand(check)
        texts = [data.get("require", ""), data.get("opportunities", ""), *data.get("witness", {}).values()]
        names = {name for text in texts for name in re.findall(r"[A-Za-z_][A-Za-z0-9_]*", str(text))}
        return [figure for _, figure in self._all("figure") if figure["figure"] in names]

    def sections(self) -> Iterator[Section]:
        """The sections, in the order of the page."""
        yield self._checks()
        yield self._figures()
        yield self._mutants()
        yield from probe_sections(self._agents)
        yield self._gates()
        yield self._runs()

    def _checks(self) -> Section:
        rows = []
        for seq, body in self._all("check"):
            name = body["check"]
            caught = [each["mutant"] for _, each in self._all("mutant") if name in each["caught"]]
            cells = (requirement(self._demand(name)), count(body["opportunities"]), count(len(caught)))
            details = [*demand(self._demand(name)), ("witness", block(body["witness"]))]
            if body["error"] is not None:
                details.append(("error", block(body["error"])))
            read = self._read_by(name)
            details += [("figures", _figure_list(read))] if read else []
            links = [element("a", quoted(each), href=f"#{anchor('mutants', each)}", class_="near") for each in caught]
            none = words("none of the mutants shows that this check can fail")
            details.append(("noticed", join(*links) if links else none))
            places: list[Place] = [Receipt(0, seq), *self._episodes(read)]
            rows.append(Row(name, body["verdict"], cells, details, places))
        intro = "Opportunities: how often the check could have failed. Without any it is inconclusive, never passed."
        return Section("checks", "Checks", intro, ("check", "requirement", "opportunities", "mutants noticed"), rows)

    def _episodes(self, figures: list[Body]) -> Iterator[Place]:
        """Embedded episodes in which what a check reads did not hold, else in which it held."""
        numbers = {chain.name: number for number, chain in enumerate(self.runs, 1)}
        for key in ("failed", "held"):
            found = [each for figure in figures for group in figure["groups"] for each in group.get(key, ())]
            known = [Steps(numbers[each["run"]], each["episode"]) for each in found if each["run"] in numbers]
            if known:
                yield known[0]
                return

    def _figures(self) -> Section:
        rows = []
        for seq, body in self._all("figure"):
            for name, statistic, *rest in figure_rows(body, _said):
                value, of, interval, clustered = rest
                cells = [words(each) for each in (statistic, value, of, interval, clustered)]
                rows.append(Row(name, "error" if value == "error" else "", cells, places=(Receipt(0, seq),)))
        heads = ("figure", "statistic", "value", "of", "95 %", "95 % over layouts")
        intro = "Intervals of rates (Wilson) take episodes as independent; those over layouts do not."
        return Section("figures", "Figures", intro, heads, rows)

    def _mutants(self) -> Section:
        says = {each["id"]: each for each in self.specs.root.get("mutants", ())}
        rows = []
        for seq, body in self._all("mutant"):
            name = body["mutant"]
            links = [
                element("a", quoted(each), href=f"#{anchor('checks', each)}", class_="near") for each in body["caught"]
            ]
            data = says.get(name, {})
            changed = {key: value for key, value in data.items() if key not in ("id", "doc")}
            verdicts = {key: body[key] for key in ("control", "mutated")}
            details = [*demand(data), ("what is other", block(changed)), ("verdicts", block(verdicts))]
            cells = (join(*links) if links else words("nothing"), quoted(body["suite"]))
            rows.append(Row(name, _MUTANTS.get(body["verdict"], "error"), cells, details, (Receipt(0, seq),)))
        intro = "Each is a fault put in on purpose; a check must notice it that passes without it."
        return Section("mutants", "Mutants", intro, ("mutant", "caught by", "checks of"), rows)

    def _gates(self) -> Section:
        rejections: Counter[str] = Counter()
        for _, run in self._own:
            rejections.update({gate: int(times) for gate, times in run["result"]["rejections"].items()})
        proposals = sum(int(run["result"]["proposals"]) for _, run in self._own)
        rows = [
            Row(
                gate,
                "held" if times else "untested",
                (
                    count(proposals),
                    count(times),
                    join(bar(times, proposals), words(share(times * 1_000_000 // max(proposals, 1)))),
                ),
            )
            for gate, times in sorted(rejections.items(), key=lambda item: (-item[1], item[0]))
        ]
        intro = "Over the suite's own runs, not those of its mutants."
        return Section("gates", "Gates", intro, ("gate", "judged", "rejected", "share of proposals"), rows)

    def _runs(self) -> Section:
        numbers = {chain.name: number for number, chain in enumerate(self.runs, 1)}
        rows = []
        for seq, body in self._own:
            result, number = body["result"], numbers.get(body["run"])
            details = [
                ("bundle", code(body["place"])),
                ("specs", code(body["specs"])),
                ("root", code(body["receipts"]["root"])),
                ("broken", block({key: result[key] for key in ("violations", "warnings", "rejections")})),
                ("replay, as its receipt says", block(body["replay"])),
            ]
            embedded: list[Place] = [] if number is None else [Steps(number, min(self.runs[number - 1].episodes))]
            cells = tuple(count(result[noun]) for noun in _NOUNS)
            rows.append(Row(body["run"], result["verdict"], cells, details, [Receipt(0, seq), *embedded]))
        told = f"The receipts of {len(self.runs)} of them are embedded, as far as there is room."
        return Section("runs", "Runs", told, ("run", *_NOUNS), rows)


def _figure_list(figures: list[Body]) -> Markup:
    rows = [row for figure in figures for row in figure_rows(figure, _said)]
    items = [element("tr", *(element("td", words(cell)) for cell in row)) for row in rows[:24]]
    more = element("p", words(f"and {len(rows) - 24} more")) if len(rows) > 24 else NOTHING
    return join(element("table", element("tbody", *items)), more)


def _said(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _document(path: Path, limit: int) -> Any:
    return parse_canonical(path.read_bytes().removesuffix(b"\n"), limit=limit)


def _lines(folder: Path) -> Iterator[bytes]:
    with (folder / RECEIPTS).open("rb") as file:
        for line in file:
            yield line[:-1]


def _embed(place: Path, run: Body) -> Embedded:
    """The chain of one run, with its first lines as candidates."""
    folder = Path(place, *run["place"].split("/"))
    manifest = _document(folder / MANIFEST, MAX_MANIFEST)
    drawing = Specs(_document(folder / SPECS, MAX_SPECS)).drawing()
    chain = Embedded(run["run"], run["place"], manifest, extra={"drawing": drawing})
    kept, began = 0, 0
    for seq, line in enumerate(_lines(folder)):
        kept += len(line)
        ends = line.endswith((b'"type":"end"}', b'"type":"start"}'))
        chain.add(line, kept < MOST_TEXT // MOST_RUNS or ends)
        if ends:
            chain.first.add(seq)
        elif line.endswith(b'"type":"episode"}'):
            began = seq
        elif line.endswith(b'"type":"episode_end"}'):
            receipt: Any = parse_canonical(line, limit=MAX_LINE)
            chain.episodes[receipt["body"]["episode"]] = (began, seq)
    return chain


def _account(place: Path, run: Body) -> tuple[str, Account | None]:
    """The agent of a run, and what its probes found; none, if it made none."""
    folder = Path(place, *run["place"].split("/"))
    specs = Specs(_document(folder / SPECS, MAX_SPECS))
    probes = [data["name"] for data in specs.of_kind("probe")]
    agent = (specs.referred("agent") or {}).get("name", "")
    if not probes:
        return agent, None
    account = Account(run["run"], run["scenario"], probes)
    wanted = tuple(f'"type":"{type_}"}}'.encode() for type_ in ("episode", "probe", "episode_end"))
    for line in _lines(folder):
        if line.endswith(wanted):
            receipt: Any = parse_canonical(line, limit=MAX_LINE)
            account.add(receipt["type"], receipt["body"])
    return agent, account


def headline(result: Body) -> Iterator[tuple[str, Markup]]:
    """What a suite amounts to."""
    for noun in ("runs", "trials", "episodes", "steps", "drifts", "errors"):
        yield noun, count(result[noun])


def broken(result: Body) -> Iterator[RowLink]:
    """The checks that did not pass and the mutants that nothing caught."""
    for name, verdict in result["checks"].items():
        if verdict != "PASS":
            yield RowLink(anchor("checks", name), name)
    for name, caught in result["mutants"].items():
        if not caught:
            yield RowLink(anchor("mutants", name), name)
