"""Memory is bounded as work is: whoever verifies a stranger's bundle evaluates the worst that it may hold."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from specledger.agents.propose import KnownValues
from specledger.core.canonical import plain_form
from specledger.core.spans import Text
from specledger.core.weight import footprint
from specledger.expr import EvaluationError
from specledger.expr.generate import emitter, source
from specledger.run.loop import run
from tests.toys import ROOT, number_scenario, plan_of

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")

MOST = 300_000_000
"""Bytes that a process may hold, the engine itself among them."""
TEXT = "'" + "a" * 4000 + "'"
LONG = f"[0, 0, 0, 0].reduce(s, v, {TEXT}, s + s)"
WORST = {
    "lists in lists": "range(1000).map(i, range(1000).map(j, [i * 1000 + j]))",
    "records": "range(1000).map(i, range(1000).map(j, {'a': i * 1000 + j}))",
    "empty maps": "range(1000).map(i, range(1000).map(j, {}))",
    "long texts": f"range(1000).map(i, range(9).map(j, {TEXT} + {TEXT} + string(i)))",
    "texts made of texts": f"range(1000).map(i, {LONG} + string(i))",
    "a text of the state": "range(1000).map(i, s + string(i))",
    "lists made longer": "range(1000).map(i, range(900) + range(900))",
    "dynamic texts": "range(1000).map(i, d + d)",
}
EVALUATE = r"""
import re, sys
from pathlib import Path
from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import Environment, EvaluationError, STRING, compile_expression
from specledger.expr.check.checker import check
from specledger.expr.check.types import DYN
found = Diagnostics()
checked = check(Text.inline(sys.argv[1]), Environment({"s": STRING, "d": DYN}), found)
found.raise_if_errors()
try:
    made = compile_expression(checked, ("s", "d"))("b" * 60_000, "b" * 30_000)
except EvaluationError as error:
    made = error.code
print(made if type(made) is str else "", 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]))
"""
RUN = r"""
import re, sys
from pathlib import Path
from specledger.compile.scenario import compile_scenario
from specledger.kinds import load
from specledger.run.loop import run
events = list(run(compile_scenario(load(sys.argv[1])[0])))
errors = sum(one["error"] is not None for event in events for one in event.body.get("decisions", ()))
print(errors, 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]))
"""

COMMAND = r"""
import re, sys
from pathlib import Path
from specledger.__main__ import main
try:
    main()
except SystemExit as done:
    print(done.code or 0, 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]))
"""


def said(program, *words):
    """The last two words that a program says in a process of its own."""
    command = [sys.executable, "-c", program, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    first, most = done.stdout.rsplit(" ", 1)
    return first, int(most)


@pytest.mark.slow
@pytest.mark.parametrize("text", WORST.values(), ids=WORST)
def test_one_evaluation(text):
    code, most = said(EVALUATE, text)
    assert code == "E_EVAL_LIMIT"
    assert most < MOST


KEPT = f"size(range(300).map(i, {LONG} + string(i)))"
PLACES: dict[str, dict[str, Any]] = {
    "a gate": {"gates": [{"id": "g", "reason": "r", "deny": f"{KEPT} / (x - x) > 0"}]},
    "a witness": {"gates": [{"id": "g", "reason": "r", "deny": "true", "witness": {"w": f"{KEPT} / (x - x)"}}]},
    "both sides of a junction": {
        "gates": [{"id": "g", "reason": "r", "deny": f"{KEPT} / (x - x) > 0 || {KEPT} / (x - x) > 0"}]
    },
    "the choice": {"choose": {"maximise": f"{KEPT} / (x - x)"}},
}


@pytest.mark.medium
@pytest.mark.parametrize("place", PLACES)
def test_what_failed_for_one_proposal_is_not_kept_for_the_next(tmp_path, place):
    """Each of forty proposals makes texts of 19 MB, which its error must not hold."""
    agent = {"candidates": [{"op": "add", "for_each": {"n": "range(40)"}}]}
    path = number_scenario(tmp_path, governor=PLACES[place], agent=agent, scenario={"horizon": 1})
    errors, most = said(RUN, path)
    assert errors == "40"
    assert most < MOST


MANY = "range(60).map(i, range(1000).map(j, [1000 + j + x]))"
EMPTY = "range(60).map(i, range(1000 + x).map(j, []))"
LISTS = {f"l{i}": "range(300).map(i, range(1000 + x).map(j, []))" for i in range(20)}
SIZES = " + ".join(f"size({name})" for name in LISTS)
HOSTILE: dict[str, dict[str, Any]] = {
    "witnesses of many proposals": {
        "governor": {"gates": [{"id": "g", "reason": "r", "deny": "true", "witness": {"w": MANY}}]}
    },
    "empty lists as witnesses": {
        "governor": {"gates": [{"id": "g", "reason": "r", "deny": "true", "witness": {"w": EMPTY}}]}
    },
    "many witnesses": {
        "governor": {
            "gates": [{"id": "g", "reason": "r", "deny": "true", "witness": {f"w{i}": MANY for i in range(60)}}]
        }
    },
    "named values of an agent": {"agent": {"let": LISTS, "score": SIZES}},
    "figures of the record": {"world": {"record": {f"r{i}": MANY for i in range(60)}}},
}


@pytest.mark.slow
@pytest.mark.parametrize("place", HOSTILE)
def test_what_is_kept_until_the_receipt_is_bounded_in_spec_verify(tmp_path, place):
    """A hundred witnesses of 7 MB each: no receipt could hold them, so no more of them are kept than it could."""
    agent = {"candidates": [{"op": "add", "for_each": {"n": "range(100)"}}], **HOSTILE[place].get("agent", {})}
    path = number_scenario(tmp_path, **{**HOSTILE[place], "agent": agent}, scenario={"horizon": 1})
    for command in (["run", str(path), "--out", str(tmp_path / "bundle")], ["verify", str(tmp_path / "bundle")]):
        code, most = said(COMMAND, *command)
        assert code.split()[-1] in {"0", "3", "4"}
        assert most < MOST


NAMED = [f"range(100 + x).map(j, [{i}])" for i in range(10)]
LET = {f"l{i}": text for i, text in enumerate(NAMED)}
SUM = " + ".join(f"size({name})" for name in LET)
NAMING: dict[str, dict[str, Any]] = {
    "let of an agent": {"agent": {"let": LET, "score": SUM}},
    "each of an agent": {"agent": {"each": LET, "score": SUM}},
    "let of a governor": {"governor": {"let": LET, "choose": {"maximise": SUM}}},
    "each of a governor": {"governor": {"each": LET, "choose": {"maximise": SUM}}},
    "let of an action": {
        "world": {
            "actions": {"add": {"args": {"n": "int"}, "let": LET, "effects": [{"set": "x", "to": SUM}]}},
        }
    },
    "the record": {"world": {"record": LET}},
    "what is observed": {"world": {"observe": {"x": "x", **LET}}},
    "arguments of candidates": {
        "agent": {
            "candidates": [{"op": "add", "for_each": {"n": f"range(20 + x).map(j, {i} + j * 9999)"}} for i in range(10)]
        }
    },
}


@pytest.mark.parametrize("place", NAMING)
def test_named_values_share_the_memory_of_one_function(tmp_path, monkeypatch, place):
    """Ten values of about 10 kB each, of which no two are the same."""
    monkeypatch.setattr(emitter, "WORK_WITHOUT_CHARGE", 0)
    path = number_scenario(tmp_path, **NAMING[place], scenario={"horizon": 1})
    for most, error in ((200_000, None), (50_000 if place != "arguments of candidates" else 5_000, "E_EVAL_LIMIT")):
        monkeypatch.setattr(source, "MAX_MEMORY", most)
        events = list(run(plan_of(path)))
        errors = [event.body["code"] for event in events if event.type == "error"]
        errors += [one["error"]["code"] for event in events for one in event.body.get("decisions", ()) if one["error"]]
        assert set(errors) == ({error} if error else set())


def test_values_that_take_each_other_s_place_do_not_add_up(monkeypatch):
    monkeypatch.setattr(source, "MAX_MEMORY", 50_000)
    memory = source.Memory()
    memory.texts += [Text.inline("a"), Text.inline("b")]
    for _ in range(10):
        memory.hold(0, list(range(1000, 2000)))
    with pytest.raises(EvaluationError) as refused:
        memory.hold(1, list(range(1000, 2000)))
    assert (refused.value.code, refused.value.text) == ("E_EVAL_LIMIT", memory.texts[1])


@pytest.mark.medium
def test_a_part_that_a_value_shares_counts_once():
    row = [1000] * 1000
    assert footprint([row] * 1000, 10**9) < footprint([list(row) for _ in range(3)], 10**9)
    assert footprint("a" * 1000, 10**9) > 1000
    assert footprint([[[] for _ in range(100)] for _ in range(10**4)], 10**5) < 10**6


def test_an_agent_does_not_remember_large_values():
    known = KnownValues(10_000)
    small, large, read = [1], list(range(1000, 2000)), ("s",)
    known.keep(read, small)
    assert known.find(read) is not None
    other = ("t",)
    assert known.keep(other, large) == (other, large)
    assert known.find(other) is None


def test_values_for_equal_objects_are_found_where_they_hold_no_floats():
    by_identity, by_value = KnownValues(), KnownValues(by_value=True)
    for known in (by_identity, by_value):
        read = ({"x": 1},)
        assert known.find(read) is None
        known.keep(read, ["value"])
    again = ({"x": 1},)
    assert by_identity.find(again) is None
    assert by_value.find(again) == (again, ["value"])
    for other in (({"x": True},), ({"x": "1"},), ({"x": [1]},), ({"y": 1},), (1,), (object(),)):
        assert by_value.find(other) is None


def test_the_order_of_keys_tells_objects_apart():
    known = KnownValues(by_value=True)
    read = ({"a": 1, "b": 2},)
    assert known.find(read) is None
    known.keep(read, "first a")
    assert known.find(({"b": 2, "a": 1},)) is None


def test_values_for_equal_objects_are_bounded_together():
    known = KnownValues(10_000, by_value=True)
    for number in range(100):
        read = ([number],)
        assert known.find(read) is None
        known.keep(read, list(range(1000, 1010)))
    assert known.find(([99],)) is not None
    assert known.find(([0],)) is None


@pytest.mark.parametrize(("spare", "kept"), [(0, [True, True]), (-1, [False, True])])
def test_values_for_equal_objects_fill_their_bound_and_no_more(spare, kept):
    reads, value = [([1],), ([2],), ([3],), ([4],)], [5]
    size = footprint(value, 10**6) + len(plain_form(reads[0]) or b"")
    known = KnownValues(2 * size + spare, by_value=True)
    for read in reads:
        known.find(read)
        known.keep(read, value)
    assert [known.find(([number],)) is not None for number in (1, 2)] == [False, False]
    assert [known.find(([number],)) is not None for number in (3, 4)] == kept


@pytest.fixture
def hasty():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.medium
@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("by_value", [False, True])
def test_threads_may_share_what_is_known(by_value):
    known = KnownValues(2_000, by_value=by_value)
    wrong: list[Any] = []

    def look_up(first):
        try:
            for number in range(first, first + 20_000):
                read = ([number % 1000],)
                held = known.find(read) or known.keep(read, [number % 1000])
                if held != (read, read[0]):
                    wrong.append(held)
        except (LookupError, RuntimeError) as error:
            wrong.append(error)

    threads = [threading.Thread(target=look_up, args=(7 * number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


INNER = {"type": "array", "items": "int"}
TABLE = {"type": "array", "items": {"type": "array", "items": INNER}}
MORE = "rows + [range(5000).map(j, [j + 1000 + x])]"
KEEPS = {
    "memory": {"fields": {"rows": {"type": TABLE, "start": "[]"}}},
    "remember": [{"id": "more", "effect": {"set": "rows", "to": MORE}}],
}
ADD = {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}]}
GATHERING: dict[str, dict[str, Any]] = {
    "a state": {
        "world": {
            "state": {"x": "int", "rows": TABLE},
            "start": {"x": "0", "rows": "[]"},
            "actions": {"add": {**ADD, "effects": [*ADD["effects"], {"set": "rows", "to": MORE}]}},
        }
    },
    "an agent": {"agent": KEEPS},
    "a governor": {"governor": KEEPS},
    "an invariant": {"invariant": {**KEEPS, "severity": "warn", "require": "true"}},
    "an agent and a governor": {"agent": KEEPS, "governor": KEEPS},
}


def gathering(folder, place, horizon):
    """A scenario in which 5000 short lists are added in every step to what is kept."""
    more = {"invariants": ["invariant"]} if place == "an invariant" else {}
    return number_scenario(folder, **GATHERING[place], scenario={"horizon": horizon, **more})


@pytest.mark.slow
@pytest.mark.parametrize("place", GATHERING)
def test_what_is_gathered_over_many_steps_is_bounded(tmp_path, place):
    """Three million lists, if each of the 600 steps were made."""
    path = gathering(tmp_path, place, 600)
    for command in (["run", str(path), "--out", str(tmp_path / "bundle")], ["verify", str(tmp_path / "bundle")]):
        code, most = said(COMMAND, *command)
        assert most < MOST
        assert code.split()[-1] == ("4" if command[0] == "run" else "0")
    assert b'"code":"E_CANON_SIZE"' in (tmp_path / "bundle" / "receipts.jsonl").read_bytes()


@pytest.mark.medium
@pytest.mark.parametrize("place", GATHERING)
def test_what_is_gathered_is_weighed(tmp_path, monkeypatch, place):
    """A list of one number weighs 32 in a list: 160,000 a step, and what is kept by all of one run counts together."""
    path = gathering(tmp_path, place, 9)
    for weight, steps in ((4_000_000, 9), (800_000, 2 if place == "an agent and a governor" else 4)):
        for module in ("core.weight", "run.decision", "run.episode"):
            monkeypatch.setattr(f"specledger.{module}.MAX_WEIGHT", weight)
        events = list(run(plan_of(path)))
        assert sum(event.type == "step" for event in events) == steps
        assert [event.body["code"] for event in events if event.type == "error"] == ["E_CANON_SIZE"] * (steps < 9)
