"""The honest bundles that cases are made from: one small run of every kind, fresh from the engine.

They are not signed: who makes a case does that, after the fault.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from specledger.kinds.running import RunOptions
from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from tools.tampering.forger import HELP

ROOT: Final = Path(__file__).parents[2]
CLIMB: Final = ROOT / "tests/toys/climb"
DISCOVERY: Final = ROOT / "tests/toys/small"

SUITE: Final = """\
spec: suite/v1
name: heights
runs:
  short: {scenarios: [climb], seeds: [3], set: {horizon: 2, episodes: 1}}
  long: {scenarios: [climb], seeds: [3], set: {episodes: 1}}
measures:
  heights: "steps.map(s, s.record.reached)"
  top: "maximum(heights, 0)"
figures:
  highest: {greatest: top, over: [long]}
  lead: {difference: top, over: [long, short]}
checks:
  - {id: climbs, require: highest.value > 1, opportunities: highest.of}
mutants:
  - {id: idle, arms: [long], set: {agent.candidates: [{op: climb, for_each: {by: "[0]"}}]}}
"""
WALKER: Final = """\
spec: agent/v1
name: walker
outside: {command: [PYTHON, walker.py], deadline_ms: 600000, start_ms: 600000}
"""
PROGRAM: Final = """\
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    answer = {"id": message.get("id"), "type": "hello", "name": "walker"}
    if message["type"] == "reset":
        answer = {"id": message["id"], "type": "ready"}
    if message["type"] == "decide":
        n = message["observation"]["n"]
        proposals = [{"action": {"op": "climb", "by": by}, "score": by, "top": n + by} for by in (0, 1)]
        answer = {"id": message["id"], "type": "proposals", "proposals": proposals}
    print(json.dumps(answer), flush=True)
"""

READING: Final = {
    "reading.yaml": """\
spec: scenario/v1
name: reading
world: any-call
governor: any-action
agent: reader
policies: [mail]
""",
    "reader.yaml": """\
spec: agent/v1
name: reader
trajectories:
  files: [reader.json]
  otherwise: call
  tools: {read_mail: {type: object, properties: {id: {type: integer}}}, send_mail: null}
""",
    "mail.yaml": """\
spec: policy/v1
name: mail
rules:
  few: {memory: {calls: {count: {}}}, require: calls <= 5}
  sent: {when: {tool: sendmail}, require: "false"}
""",
    "reader.json": """\
[{"role": "user", "content": "Read mail 7."},
 {"role": "assistant", "tool_calls": [
  {"id": "1", "type": "function", "function": {"name": "read_mail", "arguments": "{\\"id\\": 7}"}}]},
 {"role": "tool", "tool_call_id": "1", "content": "Hello."}]
""",
}
"""A log whose agent has no tool that one of its rules is about."""


class Base(NamedTuple):
    """What an honest bundle is a run of: a target of `spec run`, and the fields that are set."""

    target: str
    changes: tuple[str, ...] = ()


BASES: Final = {
    "climb": Base("climb.yaml"),
    "other": Base("climb.yaml", ("seed=5",)),
    "short": Base("climb.yaml", ("episodes=1", "horizon=2")),
    "stuck": Base("climb.yaml", ("governor.with.stamina=2",)),
    "failing": Base("climb.yaml", ("agent.with.fear=2",)),
    "outside": Base("climb.yaml", ("agent=walker", "episodes=1", "horizon=2")),
    "together": Base("scenario/pursuit", ("horizon=2",)),
    "in-turn": Base("scenario/pursuit", ("horizon=2", "turns=order")),
    "kernel": Base("axion-basic", ("episodes=1", "horizon=2")),
    "proved": Base("total-particles"),
    "refuted": Base("mirror-only"),
    "suite": Base("heights.yaml"),
    "discovery": Base("small.yaml"),
    "reading": Base("reading.yaml"),
    "taped": Base("small.yaml", ("model=small-cassette", "iterations=2")),
}


@contextmanager
def project() -> Iterator[None]:
    """Stand in a folder that holds the specs of all bases."""
    with tempfile.TemporaryDirectory(prefix="specledger-tampering-") as work:
        for source in (CLIMB, DISCOVERY):
            shutil.copytree(source, work, dirs_exist_ok=True)
        texts = {"heights.yaml": SUITE, "walker.yaml": WALKER.replace("PYTHON", "python3"), "walker.py": PROGRAM}
        texts |= READING
        for name, text in texts.items():
            Path(work, name).write_text(text, encoding="utf-8")
        with chdir(work):
            yield


def build(name: str, place: Path) -> None:
    """Run a base; its bundle goes to a place, without what is for people: those words change more often than evidence.

    Args:
        name: One of `BASES`, within `project`.
        place: An absolute path where nothing is.
    """
    base = BASES[name]
    (bundle,) = load_runs([base.target], list(base.changes))
    with _path():
        execute(bundle, place, RunOptions(trusted=True, record=True))
    for words in HELP:
        (place / words).unlink()


@contextmanager
def _path() -> Iterator[None]:
    """Let the `python3` of the agent be the one that runs now."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before
