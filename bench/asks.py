"""`python -m bench.asks`: what a question to an agent from outside costs beside the agent's own time.

One run under a kernel is made with a probe that asks often and once without; the difference, by question, is in
processor time: of the kernel's process without the agent's own, and of the process that records and replays.
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
        os.chdir("/")
    recording, kernel, own = (median(one) for one in zip(*found, strict=True))
    print(f"{questions:,} questions, median of {rounds} rounds, processor time by question:")
    print(f"  the kernel that asks  {kernel:6.0f} us, of it changing the world and judging the answer (aim: {AIM_US})")
    print(f"  recording and replay  {recording:6.0f} us, beside it in a process of its own")
    print(f"  the agent itself      {own:6.0f} us")


if __name__ == "__main__":
    main()
