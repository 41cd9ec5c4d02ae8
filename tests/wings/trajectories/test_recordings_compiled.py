"""Mistakes in an agent that is a recording, each in full, what its tools are, and where its logs are."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import UNSET

from specledger.compile.plan import PlannedRecording
from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.core.spans import Position, Span
from specledger.evidence.recordings import recording_digest
from specledger.expr import STRING, RecordType
from specledger.spec.agent import Recording
from specledger.spec.scenario import Scenario
from specledger.wings.trajectories.formats.names import known_formats
from specledger.wings.trajectories.model import Call, Message, Speaker, Trajectory
from specledger.wings.trajectories.recording import store
from specledger.wings.trajectories.recording.compile import _check_recording, _check_scenario, _planned, _tools
from specledger.wings.trajectories.recording.store import logs_of, project_of
from tests.toys import told_of
from tests.wings.trajectories.test_recording import AGENT, GOVERNOR, WORLD, loaded

LONG = "its trajectories say how long they are, and what happened"
OWN = "its logs have requests and times"


def no_meaning(key, value, because, hint="leave it out"):
    return f"E_RECORDING at `{value}`: `{key}` has no meaning for a recording: {because} | hint: {hint}"


WRONG_OTHER = "E_RECORDING at `{0}`: the action '{0}' has other arguments than `tool`, or a result | hint: `args: {{tool: string}}` takes the calls of all other tools"
NO_ACTION = "E_RECORDING at `{0}`: the world has no action '{0}' | hint: {1}"
NO_FORMAT = "E_LOG_FORMAT at `{0}`: there is no format '{0}' | hint: {1}"
ACTED: Any = WORLD
RECORDED: Any = AGENT["trajectories"]
MISTAKES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a horizon": ({"horizon": 5}, [no_meaning("horizon", "5", LONG)]),
    "a request": ({"request": "Pay"}, [no_meaning("request", "Pay", OWN)]),
    "a time": ({"time": "1"}, [no_meaning("time", "'1'", OWN)]),
    "probes": (
        {"probes": ["call-causal"]},
        [no_meaning("probes", "probes", LONG, "`asks` in the agent names a model that answers them")],
    ),
    "several keys, in the order of the file": (
        {"until": "paid > 3.0", "episodes": 2, "time": "1", "horizon": 3},
        [
            no_meaning("horizon", "3", LONG),
            no_meaning("until", "paid > 3.0", LONG),
            no_meaning("episodes", "2", LONG),
            no_meaning("time", "'1'", OWN),
        ],
    ),
    "agent faults": ({"agent_faults": {"most": 1}}, [no_meaning("agent_faults", "agent_faults", LONG)]),
    "an action like another one": (
        {"agent": {"trajectories": {"otherwise": "othr"}}},
        [NO_ACTION.format("othr", "did you mean `other`?")],
    ),
    "an action like none": (
        {"agent": {"trajectories": {"otherwise": "zzzzzz"}}},
        [NO_ACTION.format("zzzzzz", "its actions are ask, other, pay")],
    ),
    "an action of other arguments": ({"agent": {"trajectories": {"otherwise": "pay"}}}, [WRONG_OTHER.format("pay")]),
    "an action with a result": (
        {
            "world": {
                **ACTED,
                "actions": {**ACTED["actions"], "other": {"args": {"tool": "string"}, "result": {"ok": "bool"}}},
            }
        },
        [WRONG_OTHER.format("other")],
    ),
    "a format like another one": (
        {"agent": {"trajectories": {"format": "opnai"}}},
        [NO_FORMAT.format("opnai", "did you mean `openai`?")],
    ),
    "a format like none": (
        {"agent": {"trajectories": {"format": "zzzzzz"}}},
        [NO_FORMAT.format("zzzzzz", f"formats are {', '.join(known_formats())}")],
    ),
    "a world that draws": (
        {
            "world": {
                **ACTED,
                "chance": {
                    "draw": {"d": {"from": "[1, 2]"}},
                    "effects": [{"set": "paid", "to": "paid", "when": "d > 1"}],
                },
            }
        },
        [
            "E_RECORDING at `world`: the `chance` of every step draws, and what a recording left is not drawn | "
            "hint: say what comes back as the `result` of an action"
        ],
    ),
    "a governor that admits documents": (
        {
            "governor": {
                **GOVERNOR,
                "admission": {
                    "document": "open_proposal",
                    "env": "now",
                    "vocabulary": "axion-claims",
                    "free": {"other": {"allowed_ops": ["other"], "max_calls": 1, "per_ms": 100, "expiry_ms": 100}},
                },
            }
        },
        [
            "E_RECORDING at `admission`: a recording gives no documents to admit | hint: use a governor without `admission`"
        ],
    ),
}


@pytest.mark.parametrize(("changes", "told"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_recording_is_told_in_full(tmp_path, changes, told):
    assert told_of(lambda: compile_scenario(loaded(tmp_path, **changes))) == told


@pytest.mark.parametrize(("origins", "found"), [({}, 0), ({("name",): 1}, 1)])
def test_whoever_verifies_evidence_needs_no_format(origins, found):
    at = Span("a.yaml", Position(1, 1), Position(1, 2))
    agent: Any = SimpleNamespace(origins=origins, span=lambda *path: at)
    diagnostics, world = Diagnostics(), SimpleNamespace(actions={})
    _check_recording(Recording.model_validate({"format": "zzzzzz"}), agent, world, diagnostics)  # type: ignore[arg-type]
    assert len(diagnostics.sorted()) == found


ACTIONS: Any = {"pay": SimpleNamespace(args=RecordType("pay", {"to": STRING}))}
# The tools that a recorded agent had: those that it lists, else the actions of the world, unless other tools are one.
TOOLS: dict[str, tuple[dict[str, Any], Any]] = {
    "listed": ({"tools": {"pay": {"type": "object", "properties": {"to": {}, "sum": {}}}}}, {"pay": {"to", "sum"}}),
    "listed without arguments": ({"tools": {"pay": None}}, {"pay": None}),
    "listed, where other tools are one action": ({"tools": {"pay": None}, "otherwise": "other"}, {"pay": None}),
    "other tools are one action": ({"otherwise": "other"}, None),
}


@pytest.mark.parametrize(("recording", "tools"), TOOLS.values(), ids=TOOLS)
def test_the_tools_of_a_recorded_agent(recording, tools):
    world: Any = SimpleNamespace(actions=ACTIONS)
    found = _tools(Recording.model_validate(recording), world)
    assert (
        None if found is None else {name: None if args is None else {*args} for name, args in found.items()}
    ) == tools


PLACES = {
    "a project": ("p/specs/agent/a.yaml", "p"),
    "a folder of specs": ("p/specs/a.yaml", "p"),
    "a folder of agents": ("p/agent/a.yaml", "p"),
    "another folder": ("p/x/a.yaml", "p/x"),
    "specs in a folder of agents": ("p/agent/specs/a.yaml", "p/agent"),
    "agents in another folder": ("p/specs/x/agent/a.yaml", "p/specs/x"),
}


@pytest.mark.parametrize(("spec", "project"), PLACES.values(), ids=PLACES)
def test_logs_are_relative_to_the_project_of_an_agent(tmp_path, spec, project):
    assert project_of(tmp_path / spec) == tmp_path / project


def agent_in(folder, files):
    """An agent whose file lies in a folder and names files."""
    spec = folder / "specs" / "agent" / "me.yaml"
    spec.parent.mkdir(parents=True, exist_ok=True)
    spec.write_text("spec: agent/v1\n", encoding="utf-8")
    start = Position(1, 1)
    origins: Any = {("trajectories", "files"): 1}
    agent: Any = SimpleNamespace(
        name="me", origins=origins, span=lambda *path: Span(str(spec), start, Position(1, 1 + len(path)))
    )
    return agent, Recording.model_validate({"files": files})


@pytest.fixture
def logs(tmp_path):
    for name in ("logs/b.json", "logs/a.json", "more/c.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("[]")
    return tmp_path


def test_logs_are_in_the_order_of_their_names_each_once(logs):
    found = logs_of(*agent_in(logs, ["more/*.json", "logs/*.json", "logs/a.*"]))
    assert [path.relative_to(logs).as_posix() for path in found] == ["logs/a.json", "logs/b.json", "more/c.json"]


def absent(folder, files):
    with pytest.raises(Rejected) as caught:
        logs_of(*agent_in(folder, files))
    (finding,) = caught.value.diagnostics
    assert finding.span is not None
    return finding.code, finding.message, finding.hint, finding.span.end.column - 1


def test_logs_that_there_are_not(logs, monkeypatch):
    assert absent(logs, []) == (
        "E_LOG_ABSENT",
        "me names no files",
        "name logs with --trajectories, or as its `files`",
        1,
    )
    assert absent(logs, ["logs/*.json", "none/*"]) == (
        "E_LOG_ABSENT",
        f"no file matches 'none/*' in {logs}",
        "patterns are as in a shell",
        3,
    )
    monkeypatch.setattr(store, "MOST_LOGS", 2)
    assert absent(logs, ["*/*.json"]) == ("E_LOG_ABSENT", "3 files match, more than 2", "name fewer", 1)
    monkeypatch.setattr(store, "MOST_LOGS", 3)
    assert len(logs_of(*agent_in(logs, ["*/*.json"]))) == 3


def test_a_link_that_leads_out_of_the_project_is_no_log(logs):
    project = logs / "project"
    (project / "own").mkdir(parents=True)
    (project / "own" / "in.json").write_text("[]")
    (project / "own" / "out.json").symlink_to(logs / "logs" / "a.json")
    (project / "own" / "link.json").symlink_to(project / "own" / "in.json")
    found = logs_of(*agent_in(project, ["own/*.json"]))
    assert [Path(path).name for path in found] == ["in.json", "link.json"]


def test_what_is_heard_of_logs_is_how_many_calls_each_has():
    trajectories = [
        Trajectory("1", "a", "f", (Message(Speaker.USER, "x"), Call("1", "pay", {}), Call("2", "look", UNSET))),
        Trajectory("2", "b", "f", ()),
        Trajectory("3", "c", "f", (Call("1", "pay", {}),)),
    ]
    heard = store._Heard()
    assert list(heard.listen(trajectories)) == trajectories
    assert heard.lengths == [2, 0, 1]


def rule_of(name, *forbidden):
    return SimpleNamespace(name=name, forbids=lambda tool: tool in forbidden)


POLICIES: Any = (
    SimpleNamespace(name="p", rules=[rule_of("a", "look"), rule_of("b", "pay", "look")]),
    SimpleNamespace(name="q", rules=[rule_of("c", "pay", "fly")]),
)
# A tool, the action of other tools, whether a guard is closed, and what forbids it.
FORBIDDEN: dict[str, tuple[str, Any, bool, str]] = {
    "the first rule that does": ("look", "other", True, "p.a"),
    "a later rule of a policy": ("pay", "other", True, "p.b"),
    "a rule of a later policy": ("fly", "other", True, "q.c"),
    "no rule": ("wait", "other", True, ""),
    "no action of the world": ("fly", None, True, "the world has no action fly"),
    "no action, where a guard is open": ("fly", None, False, "q.c"),
    "an action of the world": ("pay", None, True, "p.b"),
}


@pytest.mark.parametrize(("tool", "otherwise", "closed", "said"), FORBIDDEN.values(), ids=FORBIDDEN)
def test_what_forbids_a_tool_whatever_its_arguments(tool, otherwise, closed, said):
    world, agent = SimpleNamespace(actions=ACTIONS), SimpleNamespace(name="a")
    given: Any = Recording.model_validate({} if otherwise is None else {"otherwise": otherwise})
    made: Any = _planned
    planned = made(given, agent, world, POLICIES, (), lambda called: (), ("s", "d"), closed=closed)
    assert planned.forbids(tool) == said


@pytest.mark.parametrize(("asks", "found"), [(None, ["probes", "horizon"]), ("agent/model@1", ["horizon"])])
def test_probes_of_a_recording_that_asks_a_model_are_no_mistake(asks, found):
    places = []

    def span(*path):
        places.append(path[0])
        return Span("a.yaml", Position(1, len(places)), Position(1, len(places) + 1))

    fields: Any = {"probes": ["p"], "horizon": 3, "seed": 1}
    main = SimpleNamespace(model=Scenario.model_construct(**fields), span=span)
    world = SimpleNamespace(drawing_in_a_step="")
    stage: Any = SimpleNamespace(bundle=SimpleNamespace(main=main), world=world, diagnostics=Diagnostics())
    decider = SimpleNamespace(trajectories=SimpleNamespace(asks=asks))
    role: Any = SimpleNamespace(name="", rules=SimpleNamespace(admission=None), decider=decider)
    _check_scenario(stage, role)
    assert sorted(places, reverse=True) == found


def test_what_logs_hold_is_written_once_and_read_again(tmp_path, monkeypatch):
    trajectories = [
        Trajectory("1", "a", "f", (Call("1", "pay", {"to": "Ann"}),)),
        Trajectory("2", "b", "f", (Message(Speaker.USER, "x"),)),
    ]
    monkeypatch.setattr(store, "read_logs", lambda logs, reader: iter(trajectories))
    parts = store.Parts(lambda actor, read: (actor, list(read)), lambda called: ({"tools": sorted(called.calls)},))
    nothing: Any = None
    planned = PlannedRecording((), nothing, nothing)
    path = tmp_path / "trajectories.jsonl"
    for made in (store.store(planned, [], None, path, parts), store.read(planned, path, parts)):
        assert made.lengths == (1, 0)
        assert made.digest == recording_digest(path)
        controller: Any = made.controller
        assert controller("actor") == ("actor", trajectories)
        assert made.rules == ({"tools": ["pay"]},)
