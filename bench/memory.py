"""`python -m bench.memory [--megabytes N] [--place FOLDER]`: the most memory that commands hold, at the worst input of each.

The memory is that of the process and all its workers together (`bench.peak`). Large inputs are made first: two bundles
of so many megabytes, one of many receipts, one of receipts that are as long as a line may be; a suite whose figures
read an episode of 200,000 steps; a law of the longest rings over almost as many steps as a trial may have; logs of a tenth
of the size, and of one conversation; a spec at the bounds of what is read; and the inputs of `bench.worst_inputs`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench.peak import spent
from bench.suites import documents, write_documents
from bench.worst_inputs import WORST, words_of

_STEPS_OF_A_MEGABYTE: Final = 342
"""Steps of `hazard` whose receipts take a megabyte."""
_HORIZON: Final = 100
_MEGABYTES_OF_A_LINE: Final = 7
_LONG_EPISODE: Final = 200_000  # steps


def log_of(megabytes: int, path: Path) -> Path:
    """A log of a chat of a size, one conversation a line."""
    line = json.dumps({"messages": [{"role": "user", "content": "word " * 200}] * 4}) + "\n"
    with path.open("w", encoding="utf-8") as file:
        for _ in range(megabytes * 1_000_000 // len(line)):
            file.write(line)
    return path


def one_conversation(megabytes: int, path: Path) -> Path:
    """A log of a size that is one conversation: calls whose results are long texts."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Send all letters."}]
    text = " ".join(f"word{number}" for number in range(1200))
    for number in range(megabytes * 1_000_000 // len(text)):
        call = {"name": "send", "arguments": json.dumps({"to": f"person{number}@example.com"})}
        messages.append(
            {"role": "assistant", "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}]}
        )
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"{number} {text}"})
    path.write_text(json.dumps({"messages": messages}) + "\n", encoding="utf-8")
    return path


def long_rings() -> dict[str, dict[str, Any]]:
    """A law that is judged on the longest rings, at the starts and at their images, over 1,900 steps."""
    universe = {"extends": "kinetic_grid_v1", "ring": {"min": 1000, "max": 1000, "sizes": [1000]}}
    law = {"extends": "shift-by-seven", "universe": "universe", "cases": 60, "mutations": 0}
    return {"universe": universe, "law": law | {"trial": {"steps": 2000}, "quantifiers": {"T": 1900}}}


def nested_spec(path: Path) -> Path:
    """A spec whose expression and mappings are as deep and long as a file of its size allows."""
    terms = " + ".join(["n"] * 4000)
    path.write_text(f"spec: invariant/v1\nname: deep\nrequire: {terms} < 1\n", encoding="utf-8")
    return path


def long_lines(megabytes: int) -> dict[str, dict[str, Any]]:
    """A scenario with a set of proposals in each step that is about as large as a receipt may be."""
    specs = documents(1)
    text = [("a", f"'{'abcdefgh' * 8}'"), *((name, " + ".join([of] * times)) for name, of, times in _LONGER)]
    specs["world"]["actions"]["add"] = {"args": {"text": "string"}, "effects": [{"set": "x", "to": "x + 1"}]}
    texts = "range(250).map(i, string(i + 1000 * x) + d)"
    specs["agent"] = {"let": dict(text), "candidates": [{"op": "add", "for_each": {"text": texts}}], "score": "1"}
    specs["scenario"] |= {"episodes": 1 + megabytes // _MEGABYTES_OF_A_LINE // _HORIZON, "horizon": _HORIZON}
    del specs["suite"]
    return specs


_LONGER: Final = (("b", "a", 8), ("c", "b", 8), ("d", "c", 7))


def long_episode() -> dict[str, dict[str, Any]]:
    """A suite whose figures read all steps of one long episode."""
    specs = documents(1)
    specs["scenario"] |= {"episodes": 1, "horizon": _LONG_EPISODE, "commit": "none"}
    specs["governor"]["gates"] = []
    specs["invariant"]["require"] = "x >= 0"
    specs["suite"]["runs"]["from1"].pop("seeds")
    return specs


def commands(folder: Path, megabytes: int) -> Iterator[tuple[str, list[str]]]:
    """Title and words of each command, in their order."""
    episodes = megabytes * _STEPS_OF_A_MEGABYTE // _HORIZON
    lines = write_documents(folder / "lines", long_lines(megabytes)) / "scenario.yaml"
    made = {
        "many receipts": ["hazard", f"--set=horizon={_HORIZON}", f"--episodes={episodes}"],
        "long receipts": [str(lines)],
    }
    for title, words in made.items():
        bundle = str(folder / title.replace(" ", "-"))
        yield f"{title}: run, two workers", ["run", *words, "--workers=2", f"--out={bundle}"]
        yield f"{title}: verify, two workers", ["verify", bundle, "--workers=2"]
        yield f"{title}: verify without replay", ["verify", bundle, "--no-replay"]
        yield f"{title}: report as a page", ["report", bundle, "--format=html", f"--out={bundle}.html"]
        yield f"{title}: report as JSON", ["report", bundle, "--format=json", f"--out={bundle}.json"]
        yield f"{title}: diff with itself", ["diff", bundle, bundle]
    suite = write_documents(folder / "long", long_episode()) / "suite.yaml"
    yield "suite of a long episode: run", ["run", str(suite), f"--out={folder / 'suite'}"]
    yield "suite of a long episode: verify, two workers", ["verify", str(folder / "suite"), "--workers=2"]
    law = write_documents(folder / "rings", long_rings()) / "law.yaml"
    yield "law of long rings: run", ["run", str(law), f"--out={folder / 'law'}"]
    yield "law of long rings: verify", ["verify", str(folder / "law")]
    log = log_of(megabytes // 10, folder / "log.jsonl")
    yield "import of a log of a tenth of the size", ["import", str(log), f"--out={folder / 'lines.jsonl'}"]
    yield "scan of the same", ["scan", str(log), f"--out={folder / 'scan.html'}"]
    talk = one_conversation(max(1, megabytes // 50), folder / "talk.jsonl")
    yield "scan of one conversation of a fiftieth", ["scan", str(talk), f"--out={folder / 'talk.html'}"]
    yield "check of a deep spec", ["check", str(nested_spec(folder / "deep.yaml"))]
    for name in WORST:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            yield name, words_of(name, Path(place))


def main() -> None:
    """Make the inputs, and print a row for each command."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory")
    parser.add_argument("--megabytes", type=int, default=350)
    parser.add_argument("--place", type=Path)
    given = parser.parse_args()
    print("| command | status | memory |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory(dir=given.place) as name:
        for title, words in commands(Path(name), given.megabytes):
            took = spent(words)
            print(f"| {title} | {took.status} | {took.memory / 1e6:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
