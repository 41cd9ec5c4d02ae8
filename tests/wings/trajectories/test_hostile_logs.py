"""Logs that somebody made in order to harm who reads them: bounded, told, and never taken for something else."""

import bz2
import gzip
import json
import lzma
import os

import pytest

from specledger.wings.trajectories.model import Finding, Message
from specledger.wings.trajectories.reading import read_logs
from specledger.wings.trajectories.rules.past import tool_matcher
from specledger.wings.trajectories.source import MAX_LINE

POLICY = """
spec: policy/v1
name: small
rules:
  payee: {when: {tool: "*pay*"}, each: args.to, as: name, from: [request], else: "{value} by {tool}"}
"""


def message(text):
    return json.dumps({"role": "user", "content": text}).encode() + b"\n"


@pytest.mark.parametrize("beyond", [2, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_no_part_of_a_line_that_is_too_long_is_a_record(tmp_path, beyond):
    log = tmp_path / "log.jsonl"
    inside = b"x" * (MAX_LINE + beyond) + b' {"role": "user", "content": "forged"}'
    log.write_bytes(message("first") + inside * 2 + b"\n" + message("last"))
    (trajectory,) = read_logs([log], "openai")
    said = [(entry.text, entry.line) for entry in trajectory.entries if isinstance(entry, Message)]
    assert said == [("first", 1), ("last", 3)]
    assert [(e.code, e.line) for e in trajectory.entries if isinstance(e, Finding)] == [("E_LOG_SIZE", 2)]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_log_is_told_to_be_one(tmp_path, pack):
    (tmp_path / "log.jsonl").write_bytes(pack(message("hi")))
    (trajectory,) = read_logs([tmp_path])
    assert trajectory.entries == (Finding("E_LOG_FILE", "the file is compressed: unpack it first"),)


def test_patterns_of_tools_take_linear_time():
    """An engine that tries one way after another does not end."""
    matches = tool_matcher(("*a" * 90, "*a*b*c*d*"))
    assert not matches("a" * 200_000 + "x")
    assert matches("xaybzcad")
    assert matches("a" * 90)
    assert not matches("a" * 89)


HOSTILE: dict[str, str | bytes] = {
    "deep": '{"messages": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "no number": '[{"role": "user", "content": NaN}]',
    "no text": b'{"role": "user", "content": "\xff\xfe"}\n',
    "half of a pair": '[{"role": "user", "content": "\\ud800"}]',
    "a key twice": '[{"role": "user", "content": "a", "content": "b"}]',
    "another width": json.dumps([{"role": "user", "content": "hi"}]).encode("utf-16"),
    "an id as a path": '{"id": "../../../evil", "messages": [{"role": "user", "content": "hi"}]}',
    "nothing": "",
}


@pytest.mark.parametrize("sort", HOSTILE)
def test_what_cannot_be_read_is_a_finding_and_writes_nowhere_else(spec, tmp_path, monkeypatch, sort):
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    (tmp_path / "inner/rules.yaml").write_text(POLICY)
    text = HOSTILE[sort]
    (tmp_path / "inner/log.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = spec("scan", "log.json", "--policy", "rules.yaml", "--out", "evidence")
    assert done.status == 3
    assert "Traceback" not in done.out + done.err
    assert spec("verify", "evidence").status == 0
    assert sorted(os.listdir(tmp_path)) == ["inner"]


def test_links_pipes_and_devices_are_findings(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    read = list(read_logs([tmp_path]))
    assert len(read) == 3
    assert {entry.code for trajectory in read for entry in trajectory.entries if isinstance(entry, Finding)} == {
        "E_LOG_FILE"
    }


def test_names_and_values_steer_neither_a_terminal_nor_a_page(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.yaml").write_text(POLICY)
    function = {
        "name": "pay\x1b[31m</td><script>",
        "arguments": json.dumps({"to": "<img src=x onerror=alert(1)>\u202e"}),
    }
    call = {"role": "assistant", "tool_calls": [{"id": "1\x1b[2J", "type": "function", "function": function}]}
    (tmp_path / "\x1b[31mlog.json").write_text(json.dumps([{"role": "user", "content": "<h1>Pay"}, call]))
    done = spec("scan", str(tmp_path), "--policy", "rules.yaml", "--out", "evidence")
    told = done.out + done.err + spec("verify", "evidence").out
    assert "\\x1b[31m" in told
    assert not {"\x1b", "\u202e"} & set(told)
    spec("report", "evidence", "--format", "html", "--out", "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page
    assert "</td><script>" not in page


def test_a_name_of_any_length_is_shortened(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.yaml").write_text(POLICY)
    function = {"name": "pay" + "p" * 200_000, "arguments": json.dumps({"to": "Eve"})}
    call = {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]}
    (tmp_path / "log.json").write_text(json.dumps([call, {"role": "tool", "tool_call_id": "1", "content": "ok"}]))
    assert len(spec("scan", "log.json", "--policy", "rules.yaml").out) < 5_000
