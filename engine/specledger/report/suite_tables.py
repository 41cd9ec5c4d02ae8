"""The tables of a suite's mutants and of its runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from specledger.evidence.receipts import suite
from specledger.report.observations import as_int
from specledger.report.sections import (
    Block,
    Cell,
    Code,
    Count,
    Joined,
    Place,
    Quoted,
    ReceiptLink,
    Row,
    RowLink,
    Section,
    Words,
    anchor,
)
from specledger.report.specs import spec_details

_Noun = Literal["episodes", "successes", "steps", "drifts", "errors"]

_NOUNS: Final[tuple[_Noun, ...]] = ("episodes", "successes", "steps", "drifts", "errors")
_OF_LOGS: Final[tuple[_Noun, ...]] = ("episodes", "steps", "errors")
_CALLED: Final = {"episodes": "trajectories", "steps": "calls"}
_MUTANTS: Final = {"PASS": "caught", "FAIL": "survived"}
_BROKEN: Final[tuple[Literal["violations", "warnings", "rejections"], ...]] = ("violations", "warnings", "rejections")


def called(noun: str, recorded: bool) -> str:
    """What episodes and steps are called, which are trajectories and calls where all runs are of logs."""
    return _CALLED.get(noun, noun) if recorded else noun


def mutant_section(mutants: Iterable[tuple[int, suite.Mutant, Sequence[str]]], written: Mapping[str, Any]) -> Section:
    """The mutants, each with the number of its receipt and what its being caught leaves in doubt."""
    says = {entry["id"]: entry for entry in written.get("mutants", ())}
    rows = []
    for seq, mutant, doubts in mutants:
        data = says.get(mutant["mutant"], {})
        changed = {key: value for key, value in data.items() if key not in ("id", "doc")}
        verdicts = {"control": mutant["control"], "mutated": mutant["mutated"]}
        doubtful: list[tuple[str, Cell]] = [("caught, but", Quoted(doubt)) for doubt in doubts]
        details = [*spec_details(data), *doubtful, ("changed", Block(changed)), ("verdicts", Block(verdicts))]
        caught = [RowLink(anchor("checks", entry), entry) for entry in mutant["caught"]]
        cells = (Joined(caught, listed=True) if caught else Words("nothing"), Quoted(mutant["suite"]))
        mark = _MUTANTS.get(mutant["verdict"], "error")
        rows.append(Row(mutant["mutant"], mark, cells, details, (ReceiptLink(seq),)))
    intro = "Faults that are put in on purpose. A check that passes without the fault must notice it."
    return Section("mutants", "Mutants", intro, ("mutant", "caught by", "checks of"), rows)


def run_heads(recorded: bool) -> Sequence[str]:
    """The heads of the table of runs."""
    return ("run", "agent", "model", *(called(noun, recorded) for noun in (_OF_LOGS if recorded else _NOUNS)))


def run_row(run: suite.Run, actor: Sequence[str], recorded: bool, links: Sequence[Place]) -> Row:
    """A run with its agent and the models of that, as its specs name them."""
    result = run["result"]
    details: list[tuple[str, Cell]] = [
        ("bundle", Code(run["place"])),
        ("specs", Code(run["specs"])),
        ("root", Code(run["receipts"]["root"])),
        *([("expected", Block({"status": result["status"], "met": result["met"]}))] if "met" in result else []),
        ("broken", Block({key: result[key] for key in _BROKEN})),
        ("replay, as its receipt says", Block(run["replay"])),
    ]
    agent, model = actor or ("", "")
    counts = [Count(as_int(result[noun])) for noun in (_OF_LOGS if recorded else _NOUNS)]
    cells: list[Cell] = [Quoted(agent.replace("+", ", ")), Quoted(model), *counts]
    return Row(run["run"], result["verdict"], cells, details, links)
