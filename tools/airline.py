"""Writes the gold calls of tau2's airline tasks with their results in `fixtures/trajectories/tau2-airline`.

`make airline` runs it. The data is in the wheel of `inspect-evals`, which is installed without what it needs: its tools
are plain functions on a data base, and stand-ins take the place of Inspect's classes.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import lzma
import sys
import types
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tools.corpus import messages

FOLDER: Final = Path(__file__).resolve().parents[1] / "fixtures" / "trajectories" / "tau2-airline"
LOG: Final = FOLDER / "gold.jsonl.xz"


def read_lines(log: Path = LOG) -> list[bytes]:
    """The tasks as they are kept: chat messages of OpenAI's format, one task on each line."""
    return lzma.decompress(log.read_bytes()).splitlines()


def _tools() -> tuple[Any, Path]:
    """The class of the tools, and the folder of the data."""
    from pydantic import BaseModel  # noqa: PLC0415

    class ToolError(Exception):
        """What a tool answers instead of a result."""

    stand_ins: dict[str, dict[str, Any]] = {
        "inspect_ai": {},
        "inspect_ai.tool": {"ToolError": ToolError},
        "inspect_ai.util": {"StoreModel": BaseModel, "store_as": None},
        "inspect_ai.model": {"Content": object, "ContentText": object},
    }
    for name, members in stand_ins.items():
        module = types.ModuleType(name)
        vars(module).update(members)
        sys.modules[name] = module
    package = importlib.util.find_spec("inspect_evals")
    assert package is not None
    assert package.submodule_search_locations
    home = Path(next(iter(package.submodule_search_locations)))
    for name in ("", ".tau2", ".tau2.airline", ".tau2.environment"):  # without what they import themselves
        module = types.ModuleType(f"inspect_evals{name}")
        module.__path__ = [str(home.joinpath(*name.split(".")))]
        sys.modules[module.__name__] = module
    tools = importlib.import_module("inspect_evals.tau2.airline.AirlineAgentTools").AirlineAgentTools
    return tools, home / "tau2" / "data" / "domains" / "airline"


def _request(task: dict[str, Any]) -> str:
    """What the user knows and wants; a simulated user of tau2 says it in words of its own, over several messages."""
    instructions = task["user_scenario"]["instructions"]
    parts = (instructions[key] for key in ("reason_for_call", "known_info", "task_instructions"))
    return "\n\n".join(part for part in parts if part)


def write(log: Path = LOG) -> None:
    """Write the tasks that have gold calls, each on a data base of its own."""
    tools, data = _tools()
    lines = []
    for task in json.loads((data / "tasks.json").read_bytes()):
        gold = task["evaluation_criteria"]["actions"] or []
        desk = tools()
        desk.initialize()
        calls: list[tuple[str, Any, str, str | None]] = []
        for action in gold:
            tool = getattr(desk, action["name"], None)
            if tool is None:  # `calculate` and the transfer to a human have no effect on the data base
                calls.append((action["name"], action["arguments"], "", None))
                continue
            try:
                calls.append((action["name"], action["arguments"], tool(**action["arguments"]), None))
            except sys.modules["inspect_ai.tool"].ToolError as error:
                calls.append((action["name"], action["arguments"], "", f"Error: {error}"))
        if calls:
            chat = messages(_request(task), calls, "")
            row = {"id": f"airline/{task['id']}", "messages": chat}
            lines.append(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    content = "".join(lines).encode()
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    digest = sha256(content).hexdigest()
    print(f"inspect-evals {version('inspect-evals')}: {len(lines)} tasks, {len(content)} bytes, SHA-256 {digest}")


if __name__ == "__main__":
    write()
