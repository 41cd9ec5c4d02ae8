"""`python -m bench.guard`: how long a guard takes to decide a call by twenty rules, beside the forced write alone.

One process holds the guard and its client, which speak over the guard's socket; the same client without a guard only
reads and writes lines, and one that asks Cedar gets an answer that is not logged. Figures are of one call: processor time of the process, and time that passed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import yaml

from bench import guard_peer
from bench.trajectories_rules import CALLS, rules, write_logs
from specledger.kinds import load
from specledger.wings.guard.server import Connections, prepare_folder
from specledger.wings.guard.service import GuardService
from specledger.wings.trajectories.model import Call, Message, Result, Trajectory
from specledger.wings.trajectories.reading import read_logs

RULES = 20
PEER = "cedarpy"
Times = list[tuple[float, float]]
"""Processor time and time that passed, of each call, in seconds."""
Ask = Callable[[dict[str, Any]], Awaitable[Any]]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.guard", description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000, help="calls in all, fifty in a conversation (default 1000)")
    parser.add_argument("--folder", type=Path, help="where the logs are written (default: a temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        rows = asyncio.run(measure(Path(folder), max(options.calls // CALLS, 1)))
    if not guard_peer.FOUND:
        print(guard_peer.MISSING)
    print(f"{'':34}{'cpu p50':>10}{'cpu p99':>10}{'wall p50':>10}{'wall p99':>10}{'denied':>9}  in ms, of one call")
    for name, (times, denied) in rows.items():
        cpu, wall = (sorted(pair[number] for pair in times) for number in (0, 1))
        figures = [at(cpu, 0.5), at(cpu, 0.99), at(wall, 0.5), at(wall, 0.99)]
        print(f"{name:34}" + "".join(f"{1000 * figure:10.3f}" for figure in figures) + f"{denied:>9}")
    return 0


def at(values: list[float], share: float) -> float:
    """A quantile of sorted values."""
    return values[min(int(len(values) * share), len(values) - 1)]


async def measure(folder: Path, conversations: int) -> dict[str, tuple[Times, int]]:
    """The times of every row, and how many calls were denied."""
    logs = folder / "logs.jsonl"
    write_logs(logs, conversations * CALLS)
    trajectories = list(read_logs([logs]))
    rows = {
        "nothing but lines over a socket": await over_socket(folder / "e.sock", echo, trajectories),
        "the forced write alone": (written(folder / "written", trajectories), 0),
    }
    for number in (0, RULES):
        place = folder / f"guard{number}"
        prepare_folder(place)
        service = GuardService(load(str(scenario(folder, number)))[0], place)
        rows[f"a guard with {number} rules"] = await over_socket(
            place / "g.sock", Connections(service).take, trajectories
        )
        service.close()
        if guard_peer.FOUND:
            rows[f"{PEER} with {number} policies"] = await over_socket(
                folder / f"p{number}.sock", guard_peer.decider(number), trajectories
            )
    return rows


def scenario(folder: Path, number: int) -> Path:
    """The file of a scenario with so many rules."""
    documents: dict[str, dict[str, Any]] = {
        "agent": {"trajectories": {"otherwise": "call"}},
        "policy": json.loads(json.dumps(rules(number)))
        if number
        else {"rules": {"any": {"when": {"tool": "none"}, "require": "true"}}},
        "scenario": {"world": "any-call", "governor": "any-action", "agent": f"a{number}", "policies": [f"a{number}"]},
    }
    for kind, body in documents.items():
        path = folder / f"specs/{kind}/a{number}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            yaml.safe_dump({"spec": f"{kind}/v1", "name": f"a{number}", **body}, sort_keys=False), encoding="utf-8"
        )
    return folder / f"specs/scenario/a{number}.yaml"


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer each line by a decision that nothing decided."""
    while line := await reader.readline():
        answer = {"type": "decision", "decision": "allow", "call": json.loads(line).get("call")}
        writer.write(json.dumps(answer).encode() + b"\n")
    writer.close()


async def over_socket(path: Path, take: Any, trajectories: list[Trajectory]) -> tuple[Times, int]:
    """The times of each decision that a client asks for, and how many calls were denied."""
    server = await asyncio.start_unix_server(take, str(path), limit=8 << 20)
    reader, writer = await asyncio.open_unix_connection(str(path), limit=8 << 20)

    async def ask(message: dict[str, Any]) -> Any:
        writer.write(json.dumps({"id": 0, **message}).encode() + b"\n")
        return json.loads(await reader.readline())

    times: Times = []
    allowed = 0
    for trajectory in trajectories:
        own, made = await conversation(ask, trajectory)
        times += own
        allowed += made
    writer.close()
    await writer.wait_closed()
    server.close()
    await server.wait_closed()
    await asyncio.sleep(0.01)  # what answered reads the end
    return times, len(times) - allowed


async def conversation(ask: Ask, trajectory: Trajectory) -> tuple[Times, int]:
    """Ask about every call of a trajectory, and report the results of those that are allowed, which are counted."""
    times: Times = []
    of = {"conversation": trajectory.id}
    await ask({"type": "begin", "protocol": "specledger/guard/v1", **of})
    allowed: set[str] = set()
    for entry in trajectory.entries:
        if isinstance(entry, Message):
            await ask({"type": "say", "speaker": entry.speaker.value, "text": entry.text, **of})
        elif isinstance(entry, Call):
            message = {"type": "ask", "call": entry.id, "tool": entry.tool, "arguments": entry.arguments, **of}
            cpu, wall = process_time(), perf_counter()
            answer = await ask(message)
            times.append((process_time() - cpu, perf_counter() - wall))
            if answer["decision"] == "allow":
                allowed.add(entry.id)
        elif isinstance(entry, Result) and entry.call in allowed:
            await ask({"type": "report", "call": entry.call, "content": entry.content, **of})
    return times, len(allowed)


def written(path: Path, trajectories: list[Trajectory]) -> Times:
    """The times of a line of each call that is appended and forced to the disk."""
    times: Times = []
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for trajectory in trajectories:
        for entry in trajectory.entries:
            if isinstance(entry, Call):
                line = json.dumps({"tool": entry.tool, "arguments": entry.arguments, "more": "x" * 600}).encode()
                cpu, wall = process_time(), perf_counter()
                os.write(file, line + b"\n")
                os.fsync(file)
                times.append((process_time() - cpu, perf_counter() - wall))
    os.close(file)
    return times


if __name__ == "__main__":
    sys.exit(main())
