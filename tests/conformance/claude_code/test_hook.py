"""Claude Code itself, guarded by its hook, with a model on the loopback interface that asks for calls.

`make claude-code` installs it (400 MB) and runs these tests; without it they say so, and are skipped.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from specledger.pipeline.verifying import verify
from tests.conformance.claude_code.messages_api import MessagesApi, script, text, tool_use
from tests.toys.bundles import bodies_of

HERE = Path(__file__).parent
FOUND = sorted(HERE.glob("node_modules/@anthropic-ai/claude-code-*/claude"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOUND, reason="Claude Code is not installed: `make claude-code` brings it"),
]
QUIET = (
    *("DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING"),
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
)
DOCUMENTS = {
    "scenario/shell": "{spec: scenario/v1, name: shell, world: any-call, governor: any-action, agent: coder,"
    " policies: [commands], guard: {fail: FAIL}}",
    "agent/coder": "{spec: agent/v1, name: coder, trajectories: {otherwise: call}}",
    "policy/commands": """
spec: policy/v1
name: commands
sets: {commands: [echo hello, "false"]}
rules:
  known-commands:
    when: {tool: Bash}
    each: args.command
    as: text
    from: [request, {set: commands}]
    else: no user asked for {value}
""",
}


class Project:
    """A project of which Claude Code may run few commands, and the guard of it."""

    def __init__(self, root: Path, fail: str) -> None:
        self.root, self.home = root, root / "home"
        for name, body in DOCUMENTS.items():
            path = root / f"work/specs/{name}.yaml"
            path.parent.mkdir(parents=True)
            path.write_text(body.replace("FAIL", fail), encoding="utf-8")
        self.home.mkdir()
        self.work = root / "work"
        self.guard = subprocess.Popen([*SPEC, "guard", "shell"], cwd=self.work, stderr=subprocess.PIPE)
        assert self.guard.stderr is not None
        assert b"guard of shell" in self.guard.stderr.readline()
        subprocess.run([*SPEC, "guard", "install", "claude-code", "shell"], cwd=self.work, check=True)

    def ask(self, prompt, *answers, tools="Bash", model=None):
        """What Claude Code says at the end, and the server of its model."""
        api = MessagesApi(model or script(*answers))
        environment = {
            **dict.fromkeys(QUIET, "1"),
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "none",
        }
        command = [str(FOUND[0]), "-p", prompt, "--output-format", "json", "--allowedTools", tools]
        try:
            done = subprocess.run(
                command, cwd=self.work, env=environment, capture_output=True, text=True, timeout=120, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        finally:
            api.close()
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), api

    def sealed(self):
        """The evidence of the one session."""
        (evidence,) = (self.work / "guard/sealed").iterdir()
        return evidence

    def end(self):
        self.guard.send_signal(signal.SIGTERM)
        self.guard.communicate(timeout=30)


SPEC = (sys.executable, "-m", "specledger")


@pytest.fixture
def project_of(tmp_path):
    """Makes a project with a guard that fails as it is said."""
    made = []

    def make(fail="closed"):
        made.append(Project(tmp_path, fail))
        return made[-1]

    yield make
    for each in made:
        each.end()


def entries(evidence, kind):
    lines = (evidence / "trajectories.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)[kind] for line in lines if line.startswith(f'{{"{kind}":')]


def test_a_call_is_made_and_another_is_denied_with_a_reason_that_the_model_reads(project_of, tmp_path):
    project = project_of()
    said, api = project.ask(
        "Greet.",
        [text("I greet."), tool_use(1, "Bash", command="echo hello")],
        [tool_use(2, "Bash", command="touch evil")],
        [text("I was denied.")],
    )
    assert said["result"] == "I was denied."
    results = [block["content"] for block in api.tool_results().values()]
    assert results[0] == "hello"
    assert "denied by the guard: commands.known-commands: no user asked for touch evil (receipt " in results[1]
    assert not (project.work / "evil").exists()
    evidence = shutil.copytree(project.sealed(), tmp_path / "elsewhere")
    assert verify(evidence).verdict == "PASS"
    guarded = bodies_of(evidence, "guard")
    assert [(body["tool"], body["made"]) for body in guarded] == [("Bash", True), ("Bash", False)]
    assert guarded[1]["receipt"] in results[1]


def test_parallel_failing_and_forbidden_calls_have_the_results_that_the_model_reads(project_of):
    project = project_of()
    for name in "ab":
        (project.work / name).write_text(name, encoding="utf-8")
    paths = [str(project.work / name) for name in ("a", "b", "none")]
    _, api = project.ask(
        "Read.",
        [tool_use(number, "Read", file_path=path) for number, path in enumerate(paths)],
        [tool_use(3, "Bash", command="false")],
        [tool_use(4, "Write", file_path=str(project.work / "c"), content="x")],
        [tool_use(5, "Bash", command="echo hello")],
        tools="Bash,Read",
    )
    assert [bool(block.get("is_error")) for block in api.tool_results().values()].count(True) == 3
    evidence = project.sealed()
    assert verify(evidence).verdict == "PASS"
    assert [body["made"] for body in bodies_of(evidence, "guard")] == [True] * 6
    results = {result["call"][-1]: result for result in entries(evidence, "result")}
    assert [results[number].get("error") for number in "012345"] == [False, False, True, True, None, False]
    assert "requested permissions" in results["4"]["content"], "the client forbade it after the guard had not"


def test_what_a_subagent_writes_is_no_request(project_of):
    project = project_of()

    def model(body):
        said = json.dumps(body["messages"])
        if "Do it." in json.dumps(body["messages"][0]):
            return [text("touch evil")]
        if tool_use(2, "")["id"] in said:
            return [text("I was denied.")]
        if "<task-notification>" in said:
            return [tool_use(2, "Bash", command="touch evil")]
        if tool_use(1, "")["id"] in said:
            return [text("I wait.")]
        return [tool_use(1, "Agent", description="a", prompt="Do it.", subagent_type="general-purpose")]

    project.ask("Ask an agent.", tools="Bash,Agent", model=model)
    evidence = project.sealed()
    assert verify(evidence).intact
    notices = [message for message in entries(evidence, "message") if "touch evil" in message["text"]]
    assert [message["actor"] for message in notices] == ["claude-code"]
    assert [body["made"] for body in bodies_of(evidence, "guard")] == [True, False]
    assert not (project.work / "evil").exists()


@pytest.mark.parametrize("fail", ["closed", "open"])
def test_without_the_guard_it_fails_as_the_scenario_says(project_of, fail):
    project = project_of(fail)
    project.guard.kill()
    project.guard.wait()
    _, api = project.ask("Greet.", [tool_use(1, "Bash", command="touch made")], [text("done")])
    (result,) = api.tool_results().values()
    assert (project.work / "made").exists() == (fail == "open")
    assert ("the scenario fails closed" in result["content"]) == (fail == "closed")
