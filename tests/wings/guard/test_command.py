"""`spec guard`: which words mean what, what is printed, and how the command ends."""

import json
from types import SimpleNamespace

import pytest
import typer

from specledger.cli.options import Format
from specledger.core.diagnostics import Rejected
from specledger.spec.scenario import Guard, Scenario
from specledger.wings.guard import claude_code, commands, dry_run, tools
from specledger.wings.trajectories import reading


@pytest.fixture
def scenario(monkeypatch):
    """The scenario whatever is named, and the names."""
    named: list[str] = []

    def loaded(target):
        named.append(target)
        return SimpleNamespace(main=SimpleNamespace(name="office"))

    monkeypatch.setattr(commands, "_scenario", loaded)
    return named


def ends(call, *given, **named):
    with pytest.raises(typer.Exit) as ended:
        call(*given, **named)
    return ended.value.exit_code


@pytest.mark.usefixtures("scenario")
@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"words": ["log.json"]}, "unexpected log.json; logs are for --dry-run"),
        ({"dry_run": True}, "--dry-run needs logs"),
        ({"dry_run": True, "words": ["none.json"]}, "there is no file none.json"),
        ({"mcp": True}, "--mcp needs the command of a server after `--`, or its URL"),
    ],
)
def test_words_that_do_not_belong_together(named, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(typer.BadParameter) as wrong:
        commands.guard("office", **named)
    assert wrong.value.message == message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "uninstall"),
    [
        ([], False),
        (["claude-code"], False),
        (["cursor", "office"], False),
        (["claude-code", "office", "more"], False),
        (["claude-code", "office"], True),
        ([], True),
    ],
)
def test_a_hook_is_installed_for_a_scenario_and_taken_out_without_one(words, uninstall, scenario):
    with pytest.raises(typer.BadParameter, match="spec guard install claude-code SCENARIO"):
        commands.guard("install", words, uninstall=uninstall)
    assert scenario == []


def test_where_a_hook_is_installed_is_said(scenario, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "_settings_of", lambda bundle: Guard(fail="open"))
    installed: list[tuple] = []
    monkeypatch.setattr(claude_code, "install", lambda *given: installed.append(given))
    commands.guard("install", ["claude-code", "office"])
    assert scenario == ["office"]
    (place, socket, fail) = installed[0]
    assert (place, str(socket), fail) == (claude_code.SETTINGS, "guard/guard.sock", "open")
    said = f"{claude_code.SETTINGS} has the hook of {tmp_path / 'guard/guard.sock'}, which fails open\n"
    assert capsys.readouterr().out == said
    commands.guard("install", ["claude-code", "office"], socket=tmp_path / "s", settings=tmp_path / "t")
    assert installed[1] == (tmp_path / "t", tmp_path / "s", "open")


@pytest.mark.parametrize(("there", "said"), [(True, "has the hook no more"), (False, "had no hook")])
def test_whether_there_was_a_hook_is_said(there, said, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(claude_code, "uninstall", lambda place: there)
    commands.guard("install", ["claude-code"], settings=tmp_path / "s", uninstall=True)
    assert capsys.readouterr().out == f"{tmp_path / 's'} {said}\n"


DECIDED = {
    "a call is denied": ({"denied": 1, "calls": 2, "not_read": []}, 1),
    "denied though not all was read": ({"denied": 1, "calls": 2, "not_read": ["x"]}, 1),
    "all allowed": ({"denied": 0, "calls": 2, "not_read": []}, 0),
    "not all was read": ({"denied": 0, "calls": 2, "not_read": ["x"]}, 3),
    "no call": ({"denied": 0, "calls": 0, "not_read": []}, 3),
}


@pytest.mark.usefixtures("scenario")
@pytest.mark.parametrize(("result", "status"), DECIDED.values(), ids=DECIDED)
def test_how_a_dry_run_ends(result, status, monkeypatch, tmp_path, capsys):
    log = tmp_path / "log.json"
    log.touch()
    monkeypatch.setattr(reading, "read_logs", lambda files: files)
    monkeypatch.setattr(dry_run, "dry_run", lambda bundle, logs: {**result, "logs": [str(file) for file in logs]})
    monkeypatch.setattr(dry_run, "dry_run_text", lambda given: ["one", "two"])
    assert ends(commands.guard, "office", [str(log)], dry_run=True) == status
    assert capsys.readouterr().out == "one\ntwo\n"
    assert ends(commands.guard, "office", [str(log)], dry_run=True, output=Format.JSON) == status
    assert json.loads(capsys.readouterr().out) == {**result, "logs": [str(log)]}


TOOLS = [
    {"name": "pay", "inputSchema": {"properties": {"to": {}, "sum": {}}}},
    {"name": "look", "inputSchema": {}},
]


def shown(monkeypatch, output, found=(), forbids=lambda name: ""):
    monkeypatch.setattr(tools, "misfits", lambda bundle, schemas: found)
    recording = None if forbids is None else SimpleNamespace(forbids=forbids)
    monkeypatch.setattr(
        "specledger.compile.scenario.compile_scenario", lambda bundle: SimpleNamespace(recording=recording)
    )
    commands._show_tools(None, TOOLS, output)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("forbids", "lines"),
    [
        (lambda name: "", ["pay(to, sum)", "look()"]),
        (lambda name: "by rule" if name == "pay" else "", ["pay(to, sum): never allowed, by rule", "look()"]),
        (None, ["pay(to, sum)", "look()"]),
    ],
)
def test_tools_of_a_server_are_listed_with_those_that_are_never_allowed(forbids, lines, monkeypatch, capsys):
    shown(monkeypatch, Format.HUMAN, forbids=forbids)
    assert capsys.readouterr().out.splitlines() == lines


def test_tools_as_json_are_listed_whatever_fits(monkeypatch, capsys):
    shown(monkeypatch, Format.JSON, found=["one"])
    assert json.loads(capsys.readouterr().out) == {"tools": TOOLS}
    with pytest.raises(Rejected) as refused:
        shown(monkeypatch, Format.HUMAN, found=["one"])
    assert [finding.code for finding in refused.value.diagnostics] == ["E_GUARD_TOOLS"]


def test_a_scenario_without_settings_of_a_guard_has_the_default():
    main = SimpleNamespace(model=Scenario.model_construct(spec="scenario/v1", name="office", world="office"))
    assert commands._settings_of(SimpleNamespace(main=main)) == Guard()  # type: ignore[arg-type]
