"""`python -m bench.asks`: what a question to an agent from outside costs beside the agent's own time, and what a panel.

One run under a kernel is made with a probe that asks often and once without; the difference, by question, is in
processor time: of the kernel's process without the agent's own, and of the process that records and replays. Then 30
episodes with every probe and layer are run with an agent in YAML and with the same one as a program.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from statistics import median
from typing import Final

from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute

AIM_US: Final = 120
AIM_RATIO: Final = 3
ROOT: Final = Path(__file__).resolve().parent.parent
TWINS: Final = ("honest", "{use: examples/panel/program.yaml, with: {kind: honest}}")

AGENT: Final = """
import json, sys, time
count = 0
for line in sys.stdin:
    message = json.loads(line)
    count += 1
    claims = [{"variable": "self.energy", "becomes": n, "choice": {"op": "wait"}} for n in (3, 4, 5)]
    answer = {
        "hello": {"type": "hello", "name": "asked", "deterministic": True},
        "reset": {"type": "ready"},
        "bye": {},
    }.get(message["type"], {"type": "statement", "action": {"op": "wait"}, "claims": claims})
    if message["type"] == "decide":
        answer["commitment"] = f"{message['id']:064x}"
    sys.stdout.write(json.dumps({"id": message.get("id"), **answer}) + "\\n")
    sys.stdout.flush()
    if message["type"] == "bye":
        open("own.json", "w").write(json.dumps([time.process_time(), count]))
        break
"""
FILES: Final = {
    "asked.py": AGENT,
    "asked.yaml": f"spec: agent/v1\nname: asked\noutside: {{command: [{sys.executable}, asked.py], deadline_ms: 20000}}\n",
    "patient.yaml": "spec: governor/v1\nname: patient\nextends: axion-kernel\nadmission: {watchdog_ms: 20000}\n",
    "ask.yaml": "spec: probe/v1\nname: ask\nat: after_commit\nexpect: after.choice == claim.choice\n"
    "challenge: {of: counterfactuals, draw: {least: 3, most: 3}, repeats: 32, arms: {same: 32}}\n",
    "asks.yaml": "spec: scenario/v1\nname: asks\nextends: axion-basic\ngovernor: patient\nagent: asked\nprobes: [ask]\n"
    "episodes: 2\nhorizon: 20\n",
}


def seconds(who: int) -> float:
    """The processor time of this process, or of its children that have ended, in seconds."""
    used = getrusage(who)
    return used.ru_utime + used.ru_stime


def run(*changes: str) -> tuple[float, float, float, int]:
    """The seconds of recording, of the kernel and of the agent, and the number of messages that the agent read."""
    bundle = load("asks.yaml", set=list(changes))[0]
    recording, children = seconds(RUSAGE_SELF), seconds(RUSAGE_CHILDREN)
    execute(bundle, Path("out"), options=RunOptions(trusted=True))
    recording, children = seconds(RUSAGE_SELF) - recording, seconds(RUSAGE_CHILDREN) - children
    own, count = json.loads(Path("own.json").read_text("ascii"))
    return recording, children - own, own, count


def panel(agent: str, place: Path) -> float:
    """The processor time in seconds of the panel of probes on an agent, its own time and that of all processes in it."""
    changes = [f"agent={agent}", "episodes=30", "governor.admission.watchdog_ms=20000"]
    bundle = load("specs/scenario/axion-panel.yaml", set=changes)[0]
    before = seconds(RUSAGE_SELF) + seconds(RUSAGE_CHILDREN)
    execute(bundle, place, options=RunOptions(trusted=True))
    return seconds(RUSAGE_SELF) + seconds(RUSAGE_CHILDREN) - before


def main(rounds: int = 5) -> None:
    """Measure in a folder of its own, and print the median of some rounds."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        os.chdir(folder)
        for name, text in FILES.items():
            Path(name).write_text(text, "utf-8")
        found, questions = [], 0
        for _ in range(rounds):
            less, more = run("probes=[]"), run()
            questions = more[3] - less[3]
            found.append([1e6 * (there - here) / questions for here, there in zip(less[:3], more[:3], strict=True)])
        os.chdir(ROOT)
        pairs = [[panel(agent, Path(folder) / "panel") for agent in TWINS] for _ in range(3)]
    recording, kernel, own = (median(one) for one in zip(*found, strict=True))
    print(f"{questions:,} questions, median of {rounds} rounds, processor time by question:")
    print(f"  the kernel that asks  {kernel:6.0f} us, of it changing the world and judging the answer (aim: {AIM_US})")
    print(f"  recording and replay  {recording:6.0f} us, beside it in a process of its own")
    print(f"  the agent itself      {own:6.0f} us")
    spec, program = (median(one) for one in zip(*pairs, strict=True))
    print(f"30 episodes with every probe and layer, median of {len(pairs)} rounds, processor time of all processes:")
    print(
        f"  {spec:.1f} s with an agent in YAML, {program:.1f} s with the same one as a program: {program / spec:.2f} times (aim: {AIM_RATIO})"
    )


if __name__ == "__main__":
    main()
