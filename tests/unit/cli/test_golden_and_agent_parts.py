"""Parts of `spec golden` and `spec agent check` by hand: folders, what is missing, comparisons, and an agent in words."""

import inspect
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from specledger.cli import agent as agent_command
from specledger.cli import golden as command
from specledger.cli.agent import MOST_LINES, _text, _words
from specledger.cli.options import OutputFormat
from specledger.core.diagnostics import Diagnostic
from specledger.core.spans import Position, Span
from specledger.pipeline import golden as pins
from specledger.report.agent import AgentReading
from specledger.report.held_claims import NO_PROOF


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A working folder in which a project lies."""
    (tmp_path / "mine" / "specs" / "scenario").mkdir(parents=True)
    for name in ("b", "a"):
        (tmp_path / "mine" / "specs" / "scenario" / f"{name}.yaml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_folder_of_goldens_is_the_named_one_or_that_of_the_project(project, monkeypatch):
    spec = "mine/specs/scenario/a.yaml"
    assert command._goldens_folder([spec], Path("x")) == Path("x")
    assert command._goldens_folder([spec], None).as_posix() == "mine/fixtures/golden"
    assert command._goldens_folder(["none.yaml"], None).as_posix() == "fixtures/golden"
    assert command._goldens_folder([], None).as_posix() == "fixtures/golden"
    assert command._scenarios() == []
    monkeypatch.chdir(project / "mine")
    assert command._scenarios() == ["specs/scenario/a.yaml", "specs/scenario/b.yaml"]
    assert command._goldens_folder([], None).as_posix() == "fixtures/golden"
    monkeypatch.chdir(project / "mine" / "specs")
    assert [Path(name).name for name in command._scenarios()] == ["a.yaml", "b.yaml"]


NOTHING = ("there is no specs/scenario/*.yaml in the project", "name a file")
MISSING: dict[str, tuple[list[str], str | None, bool, Any]] = {
    "nothing is named or pinned": ([], None, False, NOTHING),
    "nothing, in a folder": ([], "full", True, NOTHING),
    "a file": (["a.yaml"], None, False, None),
    "a folder that there is": (["a.yaml"], "full", False, None),
    "a folder that there is not": (
        ["a b.yaml"],
        "none",
        False,
        ("there is no folder none", "to make it: spec golden --update --dir=none 'a b.yaml'"),
    ),
    "a folder that is to be made": (["a.yaml"], "none", True, None),
}


@pytest.mark.parametrize(("named", "folder", "update", "said"), MISSING.values(), ids=MISSING)
def test_what_is_missing_for_a_comparison(tmp_path, monkeypatch, named, folder, update, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    found = command._missing(named, named, None if folder is None else Path(folder), update)
    assert (None if found is None else (found.message, found.hint)) == said


def case(name, case_="", file="a.yaml") -> Any:
    span = Span(file, Position(1, 1), Position(1, 2))
    return SimpleNamespace(main=SimpleNamespace(name=name, span=lambda *_: span), case=case_)


def test_pins_without_a_spec_or_a_case_are_told(monkeypatch):
    specs = {"b": Path("b.yaml"), "b.n=2": Path("b.yaml"), "c": None, "b.n=9": Path("b.yaml")}
    loaded = []

    def load_runs(files, allow_outside):
        loaded.append((files, allow_outside))
        return (case("b"), case("b", "n=2"), case("a"))

    monkeypatch.setattr(pins, "pinned_spec", lambda name, folder: specs[name])
    monkeypatch.setattr("specledger.pipeline.checking.load_runs", load_runs)
    more, findings = command._pinned([case("a")], ["a", *specs], Path("pins"), True)
    assert loaded == [(["b.yaml"], True)]
    assert [(each.main.name, each.case) for each in more] == [("b", ""), ("b", "n=2")]
    assert [(found.message, found.hint) for found in findings] == [
        (
            f"{name}: pinned, but there is no such spec",
            f"name its file, or remove pins/{name}.json and pins/{name}.jsonl",
        )
        for name in ("c", "b.n=9")
    ]


# The difference from a pin, whether it is accepted: the word, the finding, and whether the pin is written.
COMPARED: dict[str, tuple[Any, bool, str, Any, bool]] = {
    "the same": (None, False, "same", None, False),
    "the same, to be accepted": (None, True, "same", None, False),
    "another": ("x differs", False, "differs", "a: x differs", False),
    "another, to be accepted": ("x differs", True, "accepted", None, True),
    "not pinned": (pins.NOT_PINNED, False, "not pinned", f"a: {pins.NOT_PINNED}", False),
    "not pinned, to be accepted": (pins.NOT_PINNED, True, "accepted", None, True),
}


@pytest.mark.parametrize(("difference", "update", "word", "message", "written"), COMPARED.values(), ids=COMPARED)
def test_a_case_is_compared_with_its_pin(monkeypatch, difference, update, word, message, written):
    made: list[Path] = []
    current = SimpleNamespace(name="a", tree={"result": {"verdict": "PASS"}}, write=made.append)
    monkeypatch.setattr(pins, "pin", lambda bundle, workers: current)
    monkeypatch.setattr(pins, "pin_matches", lambda pin, folder: difference)
    ((told, finding),) = command._compare([case("a", file="a b.yaml")], update, Path("pins"), 1)
    assert told == {"name": "a", "pinned": word, "difference": difference, "verdict": "PASS"}
    hint = "to accept it: spec golden --update --dir=pins 'a b.yaml'"
    assert (None if finding is None else (finding.message, finding.hint)) == (message and (message, hint))
    assert made == ([Path("pins")] if written else [])


CASES = [
    {"name": name, "pinned": word}
    for name, word in (("a", "same"), ("b", "differs"), ("c", "accepted"), ("d", "not pinned"))
]
FINDING = Diagnostic(pins.E_GOLDEN_DIFFERS, "b: it differs")


def test_the_end_of_a_comparison_for_programs(capsys):
    command._end(CASES, [FINDING], OutputFormat.JSON)
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert document["compared"] == CASES
    assert [found["message"] for found in document["diagnostics"]] == ["b: it differs"]
    assert "b: it differs" in printed.err
    command._end(CASES, [], OutputFormat.HUMAN)
    assert capsys.readouterr() == ("", "")


def test_the_end_of_a_comparison_in_a_format_names_what_is_the_same(monkeypatch, capsys):
    given = []
    monkeypatch.setattr(command, "write_findings", lambda *args, **named: given.append((*args, named)))
    command._end(CASES, [FINDING], OutputFormat.JUNIT)
    assert given == [(OutputFormat.JUNIT, [FINDING], ["a: same", "c: accepted"], {"about": "specledger/golden"})]
    assert "b: it differs" in capsys.readouterr().err


def reading(**parts):
    made = AgentReading()
    for name, value in parts.items():
        held = getattr(made, name)
        held.update(value) if hasattr(held, "update") else setattr(made, name, value)
    return made


HEAD = "hare in woods: "
ASKED = {"decisions": 3, "proposals": 4, "admitted": 2}
COUNTS = [
    "  decisions 3",
    "  proposals 4, of which 0 malformed and 2 admitted by every gate",
]
ANSWERED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "it follows the protocol": (ASKED, [f"{HEAD}answers in time and with valid proposals", *COUNTS]),
    "it was never asked": (
        {},
        [f"{HEAD}was never asked", "  decisions 0", "  proposals 0, of which 0 malformed and 0 admitted by every gate"],
    ),
    "it proposed nothing": (
        {"decisions": 1},
        [
            f"{HEAD}proposed nothing",
            "  decisions 1",
            "  proposals 0, of which 0 malformed and 0 admitted by every gate",
        ],
    ),
    "a proposal is malformed": (
        {**ASKED, "malformed": {"unknown_action": 1, "malformed_action": 2}},
        [
            f"{HEAD}does not follow the protocol",
            COUNTS[0],
            "  proposals 4, of which 3 malformed and 2 admitted by every gate",
        ],
    ),
    "messages": (
        {**ASKED, "messages": {"hello": 1, "decide": 3}},
        [
            f"{HEAD}answers in time and with valid proposals",
            *COUNTS,
            "  messages 4, of which 0 without a valid answer in time: decide 3, hello 1",
        ],
    ),
    "messages without an answer": (
        {**ASKED, "messages": {"decide": 3}, "failures": {"timed_out": 1, "closed": 1}},
        [
            f"{HEAD}does not follow the protocol",
            *COUNTS,
            "  messages 3, of which 2 without a valid answer in time: decide 3",
        ],
    ),
    "messages that were not tried": (
        {**ASKED, "untried": {"offer": "no probe", "ask": "no claims", "reveal": "no probe"}},
        [
            f"{HEAD}answers in time and with valid proposals",
            *COUNTS,
            "  not tried: `offer`, `reveal`: no probe",
            "  not tried: `ask`: no claims",
        ],
    ),
    "gates": (
        {**ASKED, "rejected": {"low": 1, "high": 2}},
        [f"{HEAD}answers in time and with valid proposals", *COUNTS, "  rejected by gates: high 2, low 1"],
    ),
    "its standard error, where it fails": (
        {**ASKED, "failures": {"closed": 1}, "errors": "\n".join(map(str, range(MOST_LINES + 2)))},
        [
            f"{HEAD}does not follow the protocol",
            *COUNTS,
            "  end of its standard error:",
            *(f"    | {number}" for number in range(2, MOST_LINES + 2)),
        ],
    ),
    "its standard error, where it does not": (
        {**ASKED, "errors": "a note"},
        [f"{HEAD}answers in time and with valid proposals", *COUNTS],
    ),
    "an empty standard error": (
        {**ASKED, "failures": {"closed": 1}, "errors": " \n"},
        [f"{HEAD}does not follow the protocol", *COUNTS],
    ),
}


@pytest.mark.parametrize(("parts", "lines"), ANSWERED.values(), ids=ANSWERED)
def test_how_an_agent_answered_in_words(parts, lines):
    told = _text(reading(**parts), "hare", "woods").splitlines()
    assert [line for line in told if NO_PROOF not in line] == lines


@pytest.mark.parametrize(
    ("command_", "words"), [("python a.py", ["python", "a.py"]), ("'a b' c", ["a b", "c"]), ("", [])]
)
def test_the_words_of_a_command(command_, words):
    assert _words(command_) == words


def test_a_command_with_an_open_quote_is_refused():
    with pytest.raises(typer.BadParameter) as caught:
        _words("a 'b")
    assert str(caught.value) == "--command: No closing quotation"


@pytest.mark.parametrize(
    ("parts", "passed"),
    [(ASKED, ["agent hare"]), ({}, []), ({**ASKED, "failures": {"closed": 1}, "places": {"closed": "step 0"}}, [])],
)
def test_in_a_format_an_agent_that_follows_the_protocol_is_named(monkeypatch, parts, passed):
    given = []
    monkeypatch.setattr(agent_command, "write_findings", lambda *args, **named: given.append((*args, named)))
    made = reading(**parts)
    agent_command._print_reading(made, "hare", "woods", OutputFormat.SARIF)
    assert given == [(OutputFormat.SARIF, made.findings(), passed, {"about": "specledger/check"})]


# The verdict of a case and its difference: what is told as a status, and what as a result.
VERDICTS: dict[str, tuple[str, Any, list[str], list[str]]] = {
    "the same, and a pass": ("PASS", None, ["a: same"], []),
    "the same, and no pass": ("FAIL", None, ["a: same, and its verdict is FAIL"], []),
    "another": ("PASS", "x differs", [], ["a: differs"]),
    "another, and no pass": ("INCONCLUSIVE", "x differs", [], ["a: differs, and its verdict is INCONCLUSIVE"]),
}


@pytest.mark.parametrize(("verdict", "difference", "status", "text"), VERDICTS.values(), ids=VERDICTS)
def test_each_case_is_told_and_a_difference_ends_with_1(monkeypatch, verdict, difference, status, text):
    told: dict[str, list[str]] = {"status": [], "text": []}
    current = SimpleNamespace(name="a", tree={"result": {"verdict": verdict}})
    monkeypatch.setattr(pins, "pin", lambda bundle, workers: current)
    monkeypatch.setattr(pins, "pin_matches", lambda pin, folder: difference)
    monkeypatch.setattr(
        "specledger.pipeline.checking.load_runs", lambda files, allow_outside: (case("a"),) if files else ()
    )
    monkeypatch.setattr(command, "print_status", told["status"].append)
    monkeypatch.setattr(command, "print_text", told["text"].append)
    with pytest.raises(typer.Exit) as ended:
        command.golden(files=["a.yaml"])
    assert ended.value.exit_code == (1 if difference else 0)
    assert told == {"status": status, "text": text}


# What is named as an agent, the time limit, and the agent that is tried, or why none is.
TRIED: dict[str, tuple[dict[str, Any], Any]] = {
    "a spec": ({"target": "hare"}, "hare"),
    "a program": ({"target": "a.py"}, {"command": ["python3", "a.py"]}),
    "a command": ({"command": "python 'a b.py'"}, {"command": ["python", "a b.py"]}),
    "a command with a limit": ({"command": "a", "deadline": 5}, {"command": ["a"], "deadline_ms": 5}),
    "a program with a limit": ({"target": "a.py", "deadline": 5}, {"command": ["python3", "a.py"], "deadline_ms": 5}),
    "nothing": ({}, "name an agent by its spec or by --command, not by both"),
    "both": ({"target": "hare", "command": "a"}, "name an agent by its spec or by --command, not by both"),
    "a spec with a limit": (
        {"target": "hare", "deadline": 5},
        "--deadline-ms needs a program; a spec has its own `deadline_ms`",
    ),
}


@pytest.mark.parametrize(("words", "tried"), TRIED.values(), ids=TRIED)
def test_which_agent_is_tried(tmp_path, monkeypatch, capsys, words, tried):
    monkeypatch.chdir(tmp_path)
    Path("a.py").touch()
    asked: list[Any] = []

    def with_agent(agent, scenario, overrides, decisions):
        asked.append((agent, scenario, tuple(overrides), decisions))
        named = SimpleNamespace(name="hare")
        return SimpleNamespace(specs={"k": named}, main=SimpleNamespace(refs={("agent",): "k"}, name="woods"))

    monkeypatch.setattr("specledger.pipeline.trying.commanded", lambda outside, folder: outside)
    monkeypatch.setattr("specledger.pipeline.trying.with_agent", with_agent)
    monkeypatch.setattr("specledger.pipeline.trying.try_agent", lambda bundle, trusted: reading(**ASKED))
    check: Any = inspect.unwrap(agent_command.check)
    if isinstance(tried, str) and tried != "hare":
        with pytest.raises(typer.BadParameter) as refused:
            check(scenario="woods", **words)
        assert str(refused.value) == tried
        return
    with pytest.raises(typer.Exit) as ended:
        check(scenario="woods", **words)
    assert (ended.value.exit_code, asked) == (0, [(tried, "woods", (), 8)])
    assert capsys.readouterr().out.startswith("hare in woods: answers in time")
