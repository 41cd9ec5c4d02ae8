"""Under a kernel, with `on_denied: tell`, who was denied is told the gate and the reason with the next questions."""

import json

import pytest

from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from tests.loopback_model import faithful
from tests.unit.oracles.loopback import Said, Service

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads

TOLD = "Your last call was not carried out"


def ran(agent, folder, *changes):
    settings = [f"agent={agent}", "episodes=1", "horizon=2", "seed=11", *changes]
    (bundle,) = load("model-reasons", kind="scenario", set=settings, allow_outside=True)
    finished = execute(bundle, folder / "out", RunOptions(trusted=True))
    assert [check.message for check in verify(finished.place).checks if check.code] == []
    return finished


def dances_until_it_is_told(asked):
    return faithful(asked) if TOLD in asked.prompt else Said(calls=(("dance", '{"reasons": []}'),))


def says_too_little_until_it_is_told(asked):
    ((name, text),) = faithful(asked).calls
    few = {**json.loads(text), "reasons": []}
    return Said(calls=((name, text if TOLD in asked.prompt else json.dumps(few)),))


@pytest.mark.medium
@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (dances_until_it_is_told, "schema refused it: unknown_action. the world has no such action"),
        (says_too_little_until_it_is_told, "schema refused it: too_few_claims. too few reasons were given"),
    ],
)
def test_a_model_is_told(behaviour, said, tmp_path):
    service = Service(behaviour)
    model = f"openai: {{model: made-up, endpoint: '{service.address}v1'}}"
    (tmp_path / "made.yaml").write_text(f"spec: model/v1\nname: made\n{model}\n")
    (tmp_path / "asked.yaml").write_text(
        "spec: agent/v1\nname: asked\nextends: candid-start\noutside: {model: ./made.yaml}\n"
    )
    try:
        finished = ran(tmp_path / "asked.yaml", tmp_path, "probes.p5-one-claim.steps=null")
    finally:
        service.close()
    prompts = [body["messages"][-1]["content"] for _, _, body in service.requests]
    assert (TOLD in prompts[0], TOLD in prompts[-1]) == (False, True)
    told = [prompt for prompt in prompts if TOLD in prompt]
    assert len(told) > 10  # the questions of probes look like the decision that they are about
    assert all(said in prompt for prompt in told)
    result = finished.manifest["result"]
    assert (result["violations"], result["verdict"] == "FAIL") == ({}, False)


PROGRAM = """
import json
from pathlib import Path

def answer(message):
    if message["type"] == "hello":
        return {"type": "hello", "name": "dancer", "can": ["claims", "commit"]}
    if message["type"] != "decide":
        return {"type": "ready"}
    with Path("heard.jsonl").open("a") as heard:
        heard.write(json.dumps(message.get("denied")) + "\\n")
    return {"type": "statement", "action": {"op": "dance"}, "claims": [], "commitment": f"{message['id']:064x}"}
"""


@pytest.mark.medium
def test_an_agent_from_outside_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dancer.py").write_text(PROGRAM)
    (tmp_path / "dancing.yaml").write_text(
        'spec: agent/v1\nname: dancing\noutside: {python: "dancer:answer", deadline_ms: 5000}\n'
    )
    ran("dancing.yaml", tmp_path, "probes=[]")
    first, second = map(json.loads, (tmp_path / "heard.jsonl").read_text().splitlines())
    doc = "the world has no such action, or not with these arguments"
    assert (first, second) == (None, [{"gate": "schema", "reason": "unknown_action", "doc": doc}])
