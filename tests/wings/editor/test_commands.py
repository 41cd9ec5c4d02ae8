"""The commands that editors, coding agents and authors start: what each hands on, and what a missing package says."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.diagnostics import Rejected
from specledger.wings.editor import commands, mcp_server, watch


def refusal(call):
    with pytest.raises(Rejected) as refused:
        call()
    (finding,) = refused.value.diagnostics
    return finding.code, finding.message


@pytest.mark.parametrize("package", ["pygls", "lsprotocol"])
def test_a_language_server_without_its_packages_names_the_extra(monkeypatch, package):
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "specledger.wings.editor.server", raising=False)
    message = "the package `pygls` is not installed: pip install 'specledger[lsp]'"
    assert refusal(commands.lsp) == ("E_EDITOR_PACKAGE", message)


def test_a_module_of_our_own_that_is_missing_is_a_defect(monkeypatch):
    monkeypatch.setitem(sys.modules, "specledger.wings.editor.server", None)
    with pytest.raises(ModuleNotFoundError):
        commands.lsp()


def test_a_language_server_answers_on_standard_input_and_output(monkeypatch):
    started = []
    server: Any = SimpleNamespace(make_server=lambda: SimpleNamespace(start_io=lambda: started.append("io")))
    monkeypatch.setitem(sys.modules, "specledger.wings.editor.server", server)
    commands.lsp()
    assert started == ["io"]


@pytest.mark.parametrize(("given", "served"), [((), (Path(), 120)), ((Path("a"), 7), (Path("a"), 7))])
def test_a_server_for_coding_agents_has_a_folder_and_a_deadline(monkeypatch, given, served):
    done = []
    monkeypatch.setattr(commands, "find_spec", lambda name: name == "fastmcp" or None)
    monkeypatch.setattr(mcp_server, "serve", lambda *arguments: done.append(arguments))
    commands.mcp(*given)
    assert done == [served]


def test_a_server_for_coding_agents_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setattr(commands, "find_spec", lambda name: None)
    message = "the package `fastmcp` is not installed: pip install 'specledger[mcp]'"
    assert refusal(commands.mcp) == ("E_EDITOR_PACKAGE", message)


@pytest.mark.medium
def test_a_server_for_coding_agents_speaks_on_its_streams_alone(monkeypatch, project):
    asked = []

    async def run_async(transport, **settings):
        asked.append((transport, settings))

    monkeypatch.setattr(mcp_server, "make_server", lambda tools: SimpleNamespace(run_async=run_async))
    mcp_server.serve(project, 5)
    assert asked == [("stdio", {"show_banner": False, "log_level": "CRITICAL"})]


@pytest.mark.parametrize(("targets", "watched"), [(None, ["."]), ([], ["."]), (["a", "b"], ["a", "b"])])
def test_what_is_watched_is_the_folder_unless_something_is_named(monkeypatch, targets, watched):
    done = []

    class Watch:
        def __init__(self, targets, tell):
            done.append(targets)

        def start(self):
            done.append("started")

        def forever(self, stopped):
            done.append(stopped.is_set())

    monkeypatch.setattr(watch, "Watch", Watch)
    commands.watch(targets)
    assert done == [watched, "started", False]


def test_a_command_of_the_watch_has_a_process_of_its_own_and_its_status(monkeypatch):
    ran = []

    def run(words, **options):
        ran.append((words, options))
        return SimpleNamespace(returncode=3)

    monkeypatch.setattr("subprocess.run", run)
    assert watch._spec("check", "a.yaml") == 3
    assert ran == [([sys.executable, "-m", "specledger", "check", "a.yaml"], {"check": False})]
