"""What is said of recorded calls that do not fit the actions of a world."""

from typing import Any

import pytest

from specledger.kinds import load
from specledger.lang.statement import lines_of
from specledger.wings.trajectories.recording.misfits import misfits_of
from tests.wings.trajectories.test_scan import chat

WORLD = """
spec: world/v1
name: office
state: {n: int}
start: {n: 0}
actions:
  pay:
    args: {amount: int, to: string, how: {enum: [card, cash]}}
    effects: [{set: n, to: n + amount}]
  ask: {}
observe: {n: n}
"""
GOOD = {"amount": 1, "to": "Ann", "how": "card"}


def pay(**changed):
    return "pay", {name: value for name, value in {**GOOD, **changed}.items() if value != "(left out)"}


def said(folder, calls):
    (folder / "office.yaml").write_text(WORLD, encoding="utf-8")
    (folder / "log.json").write_text(chat(*calls), encoding="utf-8")
    return list(lines_of(misfits_of(load(folder / "office.yaml")[0], [folder / "log.json"])))


# one call, and what is wrong with it
WRONG: dict[str, tuple[Any, str]] = {
    "a misspelt action": (("pya", GOOD), "there is no such action; did you mean pay?"),
    "an action like none": (("zzz", {}), "there is no such action."),
    "a missing argument": (pay(to="(left out)"), "`args.to` is missing."),
    "a misspelt argument": (pay(amount="(left out)", amuont=1), "`args.amount` is missing; did you mean `args.amuont`?"),
    "a text for a number": (pay(amount="x"), "`args.amount` is a text, not int."),
    "a number for a text": (pay(to=5), "`args.to` is a number, not string."),
    "null": (pay(to=None), "`args.to` is null, not string."),
    "none of the choices": (pay(how="gold"), "`args.how` is none of its choices."),
    "a list": (("pay", [1]), "its arguments are a list, not an object."),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_call_that_does_not_fit(case, tmp_path):
    call, why = WRONG[case]
    assert said(tmp_path, [call]) == [
        "1 of 1 call does not fit the actions of the world office:",
        f"  - log.json, call c0: 1 call of {call[0]} that does not fit: {why}",
    ]


@pytest.mark.parametrize("calls", [[pay()], [pay(), ("ask", {"x": 1})], [pay(how="cash", more=1)]])
def test_calls_that_fit(calls, tmp_path):
    heard = len(calls)
    assert said(tmp_path, calls) == [f"all calls fit the actions of the world office: {heard} of {heard}."]


def test_calls_that_do_not_fit_are_counted_by_what_is_wrong(tmp_path):
    calls = [pay(to=5), pay(to=6), ("zzz", {}), pay(), pay(amount="x", to=7)]
    assert said(tmp_path, calls) == [
        "4 of 5 calls do not fit the actions of the world office:",
        "  - log.json, call c4: 1 call of pay that does not fit: `args.amount` is a text, not int.",
        "  - log.json, call c0: 3 calls of pay that do not fit: `args.to` is a number, not string.",
        "  - log.json, call c2: 1 call of zzz that does not fit: there is no such action.",
    ]


def test_without_logs_nothing_is_said(tmp_path):
    (tmp_path / "office.yaml").write_text(WORLD, encoding="utf-8")
    assert list(misfits_of(load(tmp_path / "office.yaml")[0], [])) == []
