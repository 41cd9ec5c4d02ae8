"""Memory is bounded as work is: whoever verifies a stranger's bundle evaluates the worst that it may hold."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.toys import ROOT, number_scenario

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


@pytest.mark.parametrize("place", PLACES)
def test_what_failed_for_one_proposal_is_not_kept_for_the_next(tmp_path, place):
    """Each of forty proposals makes texts of 19 MB, which its error must not hold."""
    agent = {"candidates": [{"op": "add", "for_each": {"n": "range(40)"}}]}
    path = number_scenario(tmp_path, governor=PLACES[place], agent=agent, scenario={"horizon": 1})
    errors, most = said(RUN, path)
    assert errors == "40"
    assert most < MOST


MANY = "range(60).map(i, range(1000).map(j, [1000 + j + x]))"
HOSTILE: dict[str, dict[str, Any]] = {
    "witnesses of many proposals": {"gates": [{"id": "g", "reason": "r", "deny": "true", "witness": {"w": MANY}}]},
    "many witnesses": {
        "gates": [{"id": "g", "reason": "r", "deny": "true", "witness": {f"w{i}": MANY for i in range(60)}}]
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("place", HOSTILE)
def test_what_is_kept_until_the_receipt_is_bounded_in_spec_verify(tmp_path, place):
    """A hundred witnesses of 7 MB each: no receipt could hold them, so no more of them are kept than it could."""
    agent = {"candidates": [{"op": "add", "for_each": {"n": "range(100)"}}]}
    path = number_scenario(tmp_path, governor=HOSTILE[place], agent=agent, scenario={"horizon": 1})
    for command in (["run", str(path), "--out", str(tmp_path / "bundle")], ["verify", str(tmp_path / "bundle")]):
        code, most = said(COMMAND, *command)
        assert code.split()[-1] in {"0", "4"}
        assert most < MOST
