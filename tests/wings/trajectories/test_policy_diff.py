"""`spec diff OLD NEW --logs PATH`: the verdicts that flip between two versions of a policy."""

import json

import pytest

from tests.toys import ROOT
from tests.wings.trajectories.test_scan import chat

OLD = """
spec: policy/v1
name: old
rules:
  payee: {when: {tool: pay}, each: args.to, as: name, from: [request]}
  often: {memory: {calls: {count: {}}}, require: calls <= 2}
  gone: {when: {tool: fly}, each: args.to, from: [request]}
"""
NEW = OLD.replace("name: old", "name: new").replace("calls <= 2", "calls <= 1").replace("tool: pay", 'tool: "p*"')
NEW = NEW.replace("  gone:", "  fresh:").replace("tool: fly", "tool: pay")
CALLS = [("pay", {"to": "Ann"}), ("post", {"to": "Eve"})]


@pytest.fixture
def diff(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("old.yaml", OLD), ("new.yaml", NEW), ("chat.json", chat(*CALLS))):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return lambda *words: spec("diff", *words)


def test_the_verdicts_that_flip_are_listed(diff):
    done = diff("old.yaml", "new.yaml", "--logs", "chat.json")
    assert done.status == 1
    assert done.out.splitlines() == [
        "old -> new: 1 trajectory, 3 flips",
        "fresh (added)",
        "  none -> held: 1",
        "  chat.json, call c0 pay  none -> held",
        "often (changed)",
        "  held -> broken: 1",
        "  chat.json, call c1 post  held -> broken: often does not hold",
        "payee (changed)",
        "  none -> broken: 1",
        "  chat.json, call c1 post  none -> broken: payee does not hold",
        "without a flip in these logs: gone (removed)",
    ]


def test_flips_as_json(diff):
    done = diff("old.yaml", "new.yaml", "--logs", "chat.json", "--format", "json")
    document = json.loads(done.out)
    assert (document["format"], document["same"], document["policies"]) == (
        "specledger/policy-diff/v1",
        False,
        ["old", "new"],
    )
    assert document["rules"] == {"fresh": "added", "gone": "removed", "often": "changed", "payee": "changed"}
    assert document["flips"]["often"] == {
        "counts": [{"before": "held", "after": "broken", "count": 1}],
        "calls": [
            {
                "before": "held",
                "after": "broken",
                "trajectory": "chat.json:1",
                "file": "chat.json",
                "line": 0,
                "call": "c1",
                "tool": "post",
                "reason": "often does not hold",
            }
        ],
    }


@pytest.mark.parametrize(
    ("logs", "status", "words"),
    [
        ({"chat.json": chat(*CALLS)}, 0, "0 flips"),
        ({"chat.json": chat(*CALLS), "other.json": "{"}, 3, "not read: E_LOG_JSON 1"),
        ({"chat.json": chat()}, 3, "neither policy had an opportunity in these logs"),
    ],
)
def test_what_could_not_be_compared_is_not_the_same(diff, tmp_path, logs, status, words):
    folder = tmp_path / "logs"
    folder.mkdir()
    for name, text in logs.items():
        (folder / name).write_text(text, encoding="utf-8")
    done = diff("old.yaml", "old.yaml", "--logs", "logs")
    assert (done.status, words in done.out) == (status, True), done.out


def test_logs_of_a_format_that_is_data_are_compared(diff):
    log = str(ROOT / "fixtures/trajectories/formats/langchain.json")
    assert diff("old.yaml", "new.yaml", "--logs", log).status == 3
    done = diff("old.yaml", "new.yaml", "--logs", log, "--log-format", "langchain")
    assert (done.status, "not read" in done.out) == (1, False), done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("old.yaml", "new.yaml"), "specs are compared over logs: name them by --logs PATH"),
        (("old.yaml", "new.yaml", "--logs", "none.json"), "there is no file none.json"),
        (("old.yaml", "world.yaml", "--logs", "chat.json"), "world"),
        (("world.yaml", "world.yaml", "--logs", "chat.json"), "specs of the kind world say nothing of logs"),
        (("old.yaml", "new.yaml", "--logs", "chat.json", "--log-format", "opena"), "did you mean openai?"),
        (("old", "new", "--log-format", "openai"), "--log-format is for --logs"),
    ],
)
def test_what_cannot_be_compared_is_refused(diff, spec, words, message):
    spec("new", "world", "--out", "world.yaml")
    done = diff(*words)
    assert done.status == 2
    assert message in done.err
