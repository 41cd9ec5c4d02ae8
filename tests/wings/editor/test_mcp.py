"""`spec mcp` with a real MCP client: five tools, and no way out of the folder."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

fastmcp = pytest.importorskip("fastmcp", reason="the extra `mcp`")
transports = pytest.importorskip("fastmcp.client.transports")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

WIRED = """\
spec: agent/v1
name: wired
outside: {command: [sh, -c, "touch executed"]}
"""


@pytest.fixture
def agent(project):
    """Runs a conversation `(client) -> awaitable` with a server of the project."""

    def converse(talk, *options):
        async def session():
            environment = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "TMPDIR") if name in os.environ}
            environment["SOME_API_KEY"] = "secret"
            command = ["-m", "specledger", "mcp", *options]
            transport = transports.StdioTransport(
                sys.executable, command, cwd=str(project), env=environment, keep_alive=False
            )
            async with asyncio.timeout(120), fastmcp.Client(transport) as client:
                return await talk(client)

        return asyncio.run(session())

    return converse


@pytest.mark.medium
def test_an_agent_authors_a_spec(agent, project):
    async def talk(client):
        names = {tool.name: tool for tool in await client.list_tools()}

        async def call(name, **arguments):
            return (await client.call_tool(name, arguments)).data

        first = await call("check")
        why = await call("explain", what="governor.gates.deny")
        failed = await call("run", target="first")
        governor = project / "specs/governor/careful.yaml"
        governor.write_text(governor.read_text().replace("choose:", "chose:"))
        wrong = await call("check", targets=["specs/governor"])
        governor.write_text(governor.read_text().replace("chose:", "choose:").replace("LIMIT: 12", "LIMIT: 9"))
        passed = await call("run", target="specs/scenario/first.yaml", episodes=1)
        return (
            names,
            first,
            why,
            failed,
            wrong,
            passed,
            [
                await call("verify", bundle=passed["bundle"]),
                await call("report", bundle=passed["bundle"]),
                await call("verify", bundle=failed["bundle"], replay=False),
            ],
        )

    names, first, why, failed, wrong, passed, evidence = agent(talk)
    assert set(names) == {"check", "explain", "run", "verify", "report"}
    assert all(tool.description for tool in names.values())
    assert len(json.loads(first["output"])["checked"]) == 5
    assert "What rejects a proposal" in why["output"]
    assert (failed["exit_code"], failed["bundle"]) == (1, "out/mcp/first-1")
    assert wrong["exit_code"] == 2
    assert all(finding["hint"] for finding in json.loads(wrong["output"])["diagnostics"])
    assert (passed["exit_code"], passed["bundle"]) == (0, "out/mcp/first-2")
    assert [answer["exit_code"] for answer in evidence] == [0, 0, 3], "without replay not everything was checked"
    assert evidence[1]["output"].startswith("#")


@pytest.mark.medium
def test_nothing_outside_the_folder_is_read_or_written(agent, project, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "secret.yaml").write_text("spec: agent/v1\nname: secret\n")
    (project / "linked.yaml").symlink_to(other / "secret.yaml")
    (project / "specs/agent/reaching.yaml").write_text(
        f"spec: agent/v1\nname: reaching\nextends: {os.path.relpath(other / 'secret.yaml', project / 'specs/agent')}\n"
    )
    tries = [
        ("check", {"targets": [str(other / "secret.yaml")]}),
        ("check", {"targets": ["../" + other.name]}),
        ("check", {"targets": ["specs/../../x.yaml"]}),
        ("check", {"targets": ["linked.yaml"]}),
        ("check", {"targets": ["."]}),
        ("run", {"target": "../first.yaml"}),
        ("verify", {"bundle": str(other)}),
        ("verify", {"bundle": "../x"}),
        ("report", {"bundle": "a\\..\\b"}),
        ("explain", {"what": "a\nb"}),
        ("explain", {"what": ""}),
    ]

    async def talk(client):
        refused = [await client.call_tool(name, arguments, raise_on_error=False) for name, arguments in tries]
        (project / "linked.yaml").unlink()
        reaching = await client.call_tool("check", {"targets": ["specs/agent/reaching.yaml"]})
        return refused, reaching.data

    refused, reaching = agent(talk)
    for answer, attempt in zip(refused, tries, strict=True):
        assert answer.is_error, attempt
        assert "E_MCP_PATH" in answer.content[0].text, attempt
        assert "secret\n" not in answer.content[0].text
    assert "E_REF_PATH" in reaching["output"]


@pytest.mark.medium
def test_options_are_no_targets(agent):
    async def talk(client):
        return [
            (await client.call_tool("check", {"targets": ["--allow-outside"]})).data,
            (await client.call_tool("run", {"target": "--trust-agent"})).data,
            (await client.call_tool("explain", {"what": "--help"})).data,
        ]

    assert [answer["exit_code"] for answer in agent(talk)] == [2, 2, 2]


@pytest.mark.medium
def test_agents_from_outside_are_not_executed(agent, project):
    (project / "specs/agent/wired.yaml").write_text(WIRED)
    scenario = project / "specs/scenario/first.yaml"
    scenario.write_text(scenario.read_text().replace("agent: filler", "agent: wired"))

    async def talk(client):
        return (await client.call_tool("run", {"target": "first"})).data

    answer = agent(talk)
    assert answer["exit_code"] == 2
    assert "E_AGENT_UNTRUSTED" in answer["output"]
    assert not (project / "executed").exists()


@pytest.mark.medium
def test_a_call_ends_at_its_deadline(agent):
    async def talk(client):
        return (await client.call_tool("run", {"target": "hazard", "episodes": 100000})).data

    answer = agent(talk, "--deadline", "3")
    assert (answer["exit_code"], answer["meaning"]) == (-1, "not finished after 3 seconds, and ended")


@pytest.mark.parametrize("name", ["none", "agent"])
def test_a_folder_that_is_no_project_is_refused(spec, tmp_path, name):
    folder = tmp_path / name
    (folder / ("specs" if name == "agent" else "")).mkdir(parents=True)
    done = spec("mcp", str(folder))
    assert (done.status, "E_MCP_FOLDER" in done.err) == (2, True)
    assert Path(folder).is_dir()
