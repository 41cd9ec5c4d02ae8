"""The worst inputs of commands that read logs or specs: large, and made so that what is kept of them takes most memory.

`WORST` has them by name: what writes the input into a folder, and the words of the command. Used by `bench.memory`, and by
`tests/conformance/test_memory.py`, which holds each command to `MOST_MEMORY`.
"""

from __future__ import annotations

import json
import string
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice, product
from pathlib import Path
from typing import Any, Final

from bench.worst_evidence import FORGED, forged

MOST_MEMORY: Final = 300_000_000
"""Bytes that a command may hold, whatever it reads."""
_POLICY: Final = """
spec: policy/v1
name: sources
rules:
  name: {when: {tool: send}, each: args.to, as: name, from: [request, {text_of: any}]}
  words: {when: {tool: send}, each: args.text, as: text, not_from: [{text_of: read}]}
  number: {when: {tool: send}, each: args.number, as: number, from: [{text_of: any}]}
  field: {when: {tool: send}, each: args.to, as: name, from: [{result_of: read, field: payee}]}
"""

_SCENARIO: Final = {
    "world.yaml": "spec: world/v1\nname: world\nstate: {x: int}\nstart: {x: 0}\nactions: {add: {effects: [{set: x, to: x + 1}]}}\n",
    "agent.yaml": "spec: agent/v1\nname: agent\ncandidates: [{op: add}]\nscore: '1'\n",
    "governor.yaml": "spec: governor/v1\nname: governor\ngates: []\nchoose: {maximise: proposal.score}\n",
}
_FIELDS: Final = "world: world\nagent: agent\ngovernor: governor\nepisodes: 1\nhorizon: 5\ninvariants: ["

Lines = Callable[[], Iterator[Any]]
"""Gives the records of a log without end."""


def _message() -> Iterator[Any]:
    return ({"role": "user", "content": f"message {number}"} for number in count())


def _no_record() -> Iterator[Any]:
    yield {"role": "user", "content": "the first record says which format it is"}
    yield from (0 for _ in count())


def _session() -> Iterator[Any]:
    for number in count():
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"ls {number}"}}
        line = {"type": "assistant", "sessionId": "s", "uuid": f"u{number}"}
        yield {**line, "message": {"id": f"m{number}", "content": [call]}}


def _rpc() -> Iterator[Any]:
    return ({"jsonrpc": "2.0", "id": number, "method": "ping"} for number in count())


def _span() -> Iterator[Any]:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "send"}
    return (
        {"traceId": f"t{number}", "spanId": f"s{number}", "name": "send", "attributes": attributes}
        for number in count()
    )


def _many_tools() -> Iterator[Any]:
    for number in count():
        function = {"name": f"tool{number}" + "x" * 200, "arguments": "{}"}
        yield {"messages": [{"role": "assistant", "tool_calls": [{"id": "c", "function": function}]}]}


def _canonical() -> Iterator[Any]:
    yield {"format": "specledger/trajectories/v1"}
    yield {"trajectory": {"file": "f", "format": "openai", "id": "a"}}
    yield from ({"message": {"speaker": "user", "text": f"message {number}"}} for number in count())


def _lines(records: Lines) -> Callable[[Path, int], Path]:
    """What writes so many bytes of records, one on a line."""

    def write(folder: Path, size: int) -> Path:
        path = folder / "log.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for record in records():
                file.write(json.dumps(record, separators=(",", ":")) + "\n")
                if file.tell() > size:
                    return path
        raise AssertionError("records have no end")

    return write


def _document(messages: Callable[[int], list[Any]]) -> Callable[[Path, int], Path]:
    """What writes one document of a conversation that has so many bytes, about."""

    def write(folder: Path, size: int) -> Path:
        path = folder / "log.json"
        text = ",\n".join(map(json.dumps, messages(size)))
        path.write_text(f'{{"messages":[\n{text}]}}', encoding="utf-8")
        return path

    return write


def _conversation(results: list[str]) -> list[Any]:
    """A conversation whose calls have these results, with a call at its end that asks where values are from."""
    messages: list[Any] = [{"role": "user", "content": "pay"}]
    for number, result in enumerate(results):
        function = {"name": "read", "arguments": "{}"}
        messages.append({"role": "assistant", "tool_calls": [{"id": f"c{number}", "function": function}]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    asked = {"to": "no word of it", "text": "four words that occur", "number": 1}
    send = {"id": "last", "function": {"name": "send", "arguments": json.dumps(asked)}}
    return [*messages, {"role": "assistant", "tool_calls": [send]}]


def _many_words(size: int) -> list[Any]:
    words = map("".join, product(string.ascii_lowercase, repeat=5))
    results = [" ".join(islice(words, 20_000)) for _ in range(size // 120_000)]
    return _conversation(results)


def _many_values(size: int) -> list[Any]:
    return _conversation(["[" + ",".join(["[]"] * 330_000) + "]"] * (size // 1_000_000))


def _wide_texts(size: int) -> list[Any]:
    return [{"role": "user", "content": "\U0001f600" + " x" * 500_000}] * (size // 1_000_000)


def _many_messages(size: int) -> list[Any]:
    return [{"role": "user", "content": ""}] * (size // 34)


def _constants(number: int, size: int) -> str:
    return "constants:\n" + "".join(f"  K{number}_{index}: {index}\n" for index in range(size // 16))


def _lists(number: int, size: int) -> str:
    members = ",\n".join(f"[{index}]" for index in range(size // 16))
    return f"metadata: {{annotations: {{L{number}: [\n{members}]}}}}\n"


def _sums(number: int, size: int) -> str:
    line = " || ".join(f"({' + '.join(['x'] * 31)}) < {number}" for _ in range(31))
    return "witness:\n" + "".join(f"  w{index}: '{line}'\n" for index in range(size // len(line)))


def _scenario(body: Callable[[int, int], str], bundle: bool = False) -> Callable[[Path, int], Path]:
    """What writes a scenario with invariants of such a body, of so many bytes together; or the bundle of its run."""

    def write(folder: Path, size: int) -> Path:
        count = -(-size // 720_000)
        names = [f"i{number}" for number in range(count)]
        texts = dict(_SCENARIO) | {
            "scenario.yaml": f"spec: scenario/v1\nname: scenario\n{_FIELDS}{', '.join(names)}]\n"
        }
        for number, name in enumerate(names):
            texts[f"{name}.yaml"] = f"spec: invariant/v1\nname: {name}\nrequire: x >= 0\n{body(number, size // count)}"
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        if not bundle:
            return folder / "scenario.yaml"
        words = [sys.executable, "-m", "specledger", "run", str(folder / "scenario.yaml"), f"--out={folder / 'bundle'}"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        return folder / "bundle"

    return write


def constants(folder: Path, size: int) -> Path:
    """Write a scenario whose invariants have constants in so many bytes."""
    return _scenario(_constants)(folder, size)


def _arms(folder: Path, size: int) -> Path:
    """What writes a suite of so many bytes whose arms change many values of a scenario each."""
    _scenario(_constants)(folder, 720_000 * 20)
    for number in range(20):
        invariant = f"spec: invariant/v1\nname: i{number}\nrequire: x >= -{number}\n"
        (folder / f"i{number}.yaml").write_text(invariant, encoding="utf-8")
    arms = [
        f"  a{arm}: {{scenarios: [scenario], set: {{"
        + ", ".join(f"invariants.{index}.require: 'x >= -{arm}{index}'" for index in range(20))
        + "}}\n"
        for arm in range(size // 800)
    ]
    text = "measures: {x: steps.size()}\nfigures: {f: {mean: x}}\nchecks: [{id: c, require: f.of > 0, opportunities: f.of}]\n"
    (folder / "suite.yaml").write_text(f"spec: suite/v1\nname: suite\nruns:\n{''.join(arms)}{text}", encoding="utf-8")
    return folder / "suite.yaml"


WORST: Final[dict[str, tuple[Callable[[Path, int], Path], int, str]]] = {
    "import: messages of one conversation": (_lines(_message), 40_000_000, "import"),
    "import: records that are none": (_lines(_no_record), 8_000_000, "import"),
    "import: a session of Claude Code": (_lines(_session), 80_000_000, "import"),
    "import: requests of MCP that are no calls": (_lines(_rpc), 80_000_000, "import"),
    "import: spans of many traces": (_lines(_span), 60_000_000, "import"),
    "import: canonical lines of one trajectory": (_lines(_canonical), 40_000_000, "import"),
    "import: a document of empty messages": (_document(_many_messages), 33_000_000, "import"),
    "import: a document of wide texts": (_document(_wide_texts), 33_000_000, "import"),
    "scan: tools of different names": (_lines(_many_tools), 80_000_000, "scan"),
    "scan: results of different words": (_document(_many_words), 30_000_000, "scan"),
    "scan: results that are lists of lists": (_document(_many_values), 30_000_000, "scan"),
    "scan with mutants: results of different words": (_document(_many_words), 30_000_000, "mutants"),
    "diff of policies: results of different words": (_document(_many_words), 30_000_000, "diff"),
    "check: as many constants as may be": (_scenario(_constants), 3_100_000, "check"),
    "check: as many lists as may be": (_scenario(_lists), 3_100_000, "check"),
    "check: as many characters of expressions as may be": (_scenario(_sums), 1_000_000, "check"),
    "check: a suite of many changes": (_arms, 200_000, "check"),
    "verify: as many constants as may be": (_scenario(_constants, bundle=True), 3_100_000, "verify"),
    "report: as many constants as may be": (_scenario(_constants, bundle=True), 3_100_000, "report"),
    "diff: as many constants as may be": (_scenario(_constants, bundle=True), 3_100_000, "bundles"),
    "diff: as many lists as may be": (_scenario(_lists, bundle=True), 3_100_000, "bundles"),
    **{f"verify of what is forged: {name}": (partial(forged, name), 60_000_000, "forged") for name in FORGED},
}
"""By name: what writes the input, its bytes, and what is done with it."""


def words_of(name: str, folder: Path) -> list[str]:
    """Write the input of a case into a folder; the words of the command that reads it."""
    write, size, does = WORST[name]
    log = str(write(folder, size))
    policy = folder / "sources.yaml"
    policy.write_text(_POLICY, encoding="utf-8")
    return {
        "import": ["import", log, f"--out={folder / 'lines.jsonl'}"],
        "scan": ["scan", log, f"--policy={policy}"],
        "mutants": ["scan", log, f"--policy={policy}", "--mutants=2"],
        "diff": ["diff", str(policy), str(policy), f"--logs={log}"],
        "check": ["check", log],
        "verify": ["verify", log, "--workers=2"],
        "forged": ["verify", log, "--no-replay"],
        "report": ["report", log, "--format=json", f"--out={folder / 'report.json'}"],
        "bundles": ["diff", log, log],
    }[does]
