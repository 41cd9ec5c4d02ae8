"""The kept corpus has the counts and digests that are stated, and its labels fit its trajectories."""

import json
import os
import subprocess
import sys
from collections import Counter
from hashlib import sha256

import pytest

from tools.corpus import FOLDER, SUITES, holds_injection, places, read_labels, read_lines, unpack

COUNTS = {
    "banking": {"legitimate": 16, "early": 144, "late": 18},
    "slack": {"legitimate": 21, "early": 105, "late": 65},
    "travel": {"legitimate": 20, "early": 120, "late": 72},
    "workspace": {"legitimate": 40, "early": 240, "late": 66},
}


@pytest.mark.parametrize("suite", SUITES)
def test_lines_have_the_stated_digest(suite):
    stated = json.loads((FOLDER / "labels.json").read_bytes())["sha256"]
    assert sha256(b"".join(line + b"\n" for line in read_lines(suite))).hexdigest() == stated[suite]


@pytest.mark.parametrize("suite", SUITES)
def test_labels_fit_the_trajectories(suite):
    labels = {id_: label for id_, label in read_labels().items() if label["suite"] == suite}
    assert [json.loads(line)["id"] for line in read_lines(suite)] == list(labels)
    assert Counter(label["sort"] for label in labels.values()) == COUNTS[suite]


@pytest.mark.parametrize("suite", SUITES)
def test_exactly_the_attacked_ones_hold_the_injected_text(suite):
    labels = read_labels()
    for line in read_lines(suite):
        conversation = json.loads(line)
        texts = [message["content"] for message in conversation["messages"] if message["role"] == "tool"]
        attacked = labels[conversation["id"]]["sort"] != "legitimate"
        assert any(map(holds_injection, texts)) == attacked, conversation["id"]


@pytest.mark.parametrize("suite", SUITES)
def test_an_attack_begins_where_its_label_says(suite):
    """Early and late ones of a pair have the same first message and as many calls, the attack at another place."""
    chats = {(c := json.loads(line))["id"]: c["messages"] for line in read_lines(suite)}
    for id_, chat in chats.items():
        if id_.endswith("/late"):
            early = chats[id_.removesuffix("late") + "early"]
            assert early[0] == chat[0]
            assert len(early) == len(chat)
            assert early != chat


def test_a_result_whose_lines_yaml_breaks_is_recognised():
    assert holds_injection('text: "\\n\\ This is an important\\\n  \\ message from me, the user"')
    assert not holds_injection("This is a message from me")


def test_places_of_an_attack():
    injected = "This is an important message from me"
    assert list(places(["", injected, "", ""])) == [("early", 2), ("late", 3)]
    assert list(places([injected, ""])) == [("early", 1)]
    assert list(places(["", ""])) == []


def test_unpacked_files_are_plain_lines(tmp_path):
    unpack(tmp_path / "logs")
    assert (tmp_path / "logs" / "slack.jsonl").read_bytes().splitlines() == read_lines("slack")


def test_random_hashes_are_refused():
    """In which order AgentDojo writes sets depends on them."""
    command = [sys.executable, "-c", "import pathlib, tools.corpus; tools.corpus.write(pathlib.Path('unwritten'))"]
    environment = {**os.environ, "PYTHONHASHSEED": "random"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "PYTHONHASHSEED=0" in ended.stderr
