"""A real language model goes through every stage: agent, probes, a study, a discovery, a recorded decision.

It is a test of the instrument and no finding about models: SmolLM2-135M knows no tools and has no reasons. `make model`
installs it and its server; without them these tests are skipped.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specledger.core.canonical import parse_canonical
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify

pytest.importorskip("xllamacpp", reason="`make model` installs the small model and its server")

SPECS = Path(__file__).with_name("specs.yaml")
LOG = [
    {"role": "user", "content": "Pay the bill. Be quick."},
    {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "ask", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "asked"},
]
RUNS = ("acts", "explains-itself", "study", "recorded", "proposes")


@pytest.fixture(scope="module")
def address():
    """The address of the model, served by a process of its own."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tools.small_model"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdin is not None
    assert server.stdout is not None
    yield server.stdout.readline().strip()
    server.stdin.close()
    server.wait(60)
    server.stdout.close()


def lay(folder):
    """The specs, each in its file, and the log of the recording."""
    for document in SPECS.read_text(encoding="utf-8").split("\n---\n")[1:]:
        kind, name = (re.search(rf"^{key}: ([\w-]+)", document, re.MULTILINE) for key in ("spec", "name"))
        assert kind is not None
        assert name is not None
        path = folder / "specs" / kind[1] / f"{name[1]}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{document}\n", encoding="utf-8")
    (folder / "logs").mkdir()
    (folder / "logs/one.json").write_text(json.dumps(LOG), encoding="utf-8")


def done(folder, out, *, record):
    """The receipts and tapes of all runs, by their paths."""
    for name in RUNS:
        (path,) = folder.glob(f"specs/*/{name}.yaml")
        execute(load(str(path))[0], folder / out / name, RunOptions(record=record))
    files = [*(folder / out).rglob("receipts.jsonl"), *(folder / out).rglob("tape.jsonl")]
    return {str(file.relative_to(folder / out)): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def runs(address, tmp_path_factory):
    """The same runs twice, each with a record of its own, and both again from the first record."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", address)
        patch.delenv("OPENAI_API_KEY", raising=False)
        folders = [tmp_path_factory.mktemp(name) for name in ("first", "second")]
        for folder in folders:
            lay(folder)
        both = [done(folder, "out", record=True) for folder in folders]
        patch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        return folders, [*both, done(folders[0], "again", record=False)]


def receipts(files, name, type_):
    lines: Any = map(parse_canonical, files[f"{name}/receipts.jsonl"].splitlines())
    return [line["body"] for line in lines if line["type"] == type_]


def test_two_runs_give_the_same_bytes_and_the_record_gives_them_without_the_model(runs):
    (first, second), (one, two, again) = runs
    assert one == two == again
    assert (first / "specs/model/kept.jsonl").read_bytes() == (second / "specs/model/kept.jsonl").read_bytes()


@pytest.mark.parametrize("name", RUNS)
def test_every_stage_is_verified_without_the_model(name, runs):
    (folder, _), _ = runs
    assert verify(folder / "out" / name).verdict == "PASS"


def test_it_decides_by_labels_whose_log_probabilities_are_kept(runs):
    (folder, _), (files, *_) = runs
    steps = receipts(files, "acts", "step")
    assert [step["chosen"] for step in steps] == [0, 0]
    answers = [json.loads(line)["answer"] for line in (folder / "specs/model/kept.jsonl").read_bytes().splitlines()[1:]]
    asked = [json.loads(answer["text"])["labels"] for answer in answers if "calls" in answer]
    assert asked
    for label in (label for labels in asked for label in labels):
        assert label["logprobs"][label["label"]] == max(label["logprobs"].values()) < 0


def test_its_reasons_are_put_to_the_test(runs):
    _, (files, *_) = runs
    for name in ("explains-itself", "recorded"):
        (probe,) = receipts(files, name, "probe")
        assert probe["evidence"]["trials"], (name, probe["cause"])


def test_the_study_and_the_discovery_come_to_an_end(runs):
    _, (files, *_) = runs
    (figure,) = [body for body in receipts(files, "study", "figure") if body["figure"] == "calls"]
    assert figure["groups"][0]["value"] > 0
    assert receipts(files, "proposes", "iteration")[0]["answer"]["usage"]["output_tokens"] > 0
