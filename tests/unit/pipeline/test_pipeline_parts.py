"""Parts of the pipeline by hand: targets, files that a change names, trials, covers that are lost, seals, diffs."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.diagnostics import Rejected
from specledger.core.verdict import Verdict
from specledger.evidence.seal import UNSIGNED
from specledger.kinds import KINDS
from specledger.kinds.running import Finished, RunOptions
from specledger.pipeline import changes, executing, explaining, targets, trying, verifying
from specledger.pipeline.formatting import Rewritten, format_text, renames_in
from specledger.pipeline.project import Edit, Project, Start
from specledger.pipeline.targets import ListedSpec, expand_targets
from specledger.spec.agent import Agent
from specledger.spec.governor import Governor
from specledger.spec.renames import Rename
from specledger.verify.assurance_levels import Reader
from specledger.verify.checks import Level

HEADS: dict[str, tuple[bytes | None, str | None]] = {
    "a head": (b"spec: world/v1\n", "world"),
    "after a comment": (b"# a\n\nspec: world/v1\n", "world"),
    "with a comment": (b"spec: world/v1 # a\n", "world"),
    "in quotes": (b'"spec": "world/v1"\n', "world"),
    "with spaces": (b"spec : world/v12  \r\n", "world"),
    "without a version sign": (b"spec: world/1\n", "world"),
    "a misspelt key": (b"spek: world/v1\n", "world"),
    "without a version": (b"spec: world\n", ""),
    "no head": (b"name: a\n", None),
    "inside": (b"  spec: world/v1\n", None),
    "more behind it": (b"spec: world/v1 a\n", None),
    "too far down": (b"#" * 4096 + b"\nspec: world/v1\n", None),
    "nothing": (b"", None),
    "no file": (None, ""),
}


@pytest.mark.parametrize(("data", "kind"), HEADS.values(), ids=HEADS)
def test_the_kind_in_the_head_of_a_file(tmp_path, data, kind):
    file = tmp_path / "a.yaml"
    if data is not None:
        file.write_bytes(data)
    assert targets._kind_of(file) == kind


@pytest.mark.parametrize(
    ("doc", "summary"),
    [
        ("One. Two.", "One."),
        ("One", "One"),
        ("Of 1.5 m. Two.", "Of 1.5 m."),
        ("", ""),
        ("One? Two. Three.", "One? Two."),
    ],
)
def test_the_summary_of_a_spec_is_its_first_sentence(doc, summary):
    assert ListedSpec("world", "a", Path("a"), False, doc).summary == summary


def test_targets_without_specs_are_told_as_what_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.yaml").write_text("spec: world/v1\n")
    (tmp_path / "own" / "b.yaml").write_text("name: b\n")
    found = expand_targets(["empty", "none/*.yaml", "own", "own/a.yaml", "name"])
    assert [(finding.code, finding.message) for finding in found.findings] == [
        ("E_CHECK_NONE", "there is no spec in empty"),
        ("E_CHECK_NONE", "there is no file of the pattern none/*.yaml"),
    ]
    assert (found.files, found.skipped) == (("own/a.yaml", "name"), ("own/b.yaml",))
    assert expand_targets(["own/b.yaml", "own"]).skipped == ()


NAMED: dict[str, tuple[str, str, bool]] = {
    "a path": ("logs/a.json", "/p/logs/a.json", True),
    "a path from here": ("./logs/a.json", "/p/logs/a.json", True),
    "a pattern": ("logs/*.json", "/p/logs/a.json", True),
    "another one": ("logs/*.json", "/p/log/a.json", False),
    "the end of a name": ("a.json", "/p/logs/aa.json", False),
    "a function": ("agents.mine:act", "/p/agents/mine.py", True),
    "another module": ("agents.mine:act", "/p/agents/yours.py", False),
    "a path with a colon": ("a.json:act", "/p/a.json", False),
    "white space": ("  ", "/p/a.json", False),
    "nothing": ("", "/p/a.json", False),
    "the longest text": ("*" * 1023, "/p/a.json", True),
    "a longer one": ("*" * 1024, "/p/a.json", False),
}


@pytest.mark.parametrize(("text", "file", "named"), NAMED.values(), ids=NAMED)
def test_whether_a_text_names_a_file(text, file, named):
    nodes = [((), SimpleNamespace(value=7)), ((), SimpleNamespace(value=text))]
    document: Any = SimpleNamespace(root=SimpleNamespace(walk=lambda: nodes))
    assert changes._names(document, Path(file)) is named


OUTSIDE: dict[str, tuple[str, Any]] = {
    "a program in Python": ("a.py", {"command": ["python3", "a.py"]}),
    "a program in JavaScript": ("a.js", {"command": ["node", "a.js"]}),
    "a program of the shell": ("a.sh", {"command": ["sh", "a.sh"]}),
    "a program that there is not": ("b.py", None),
    "a spec": ("a.yaml", None),
    "a function": ("own.mine:act", {"python": "own.mine:act"}),
    "a file with a colon": ("own:act", None),
    "a name": ("mine", None),
    "two colons": ("a:b:c", None),
}


@pytest.mark.parametrize(("target", "outside"), OUTSIDE.values(), ids=OUTSIDE)
def test_how_an_agent_is_asked_that_is_a_program_or_a_function(tmp_path, monkeypatch, target, outside):
    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "a.js", "a.sh", "a.yaml", "own:act"):
        (tmp_path / name).touch()
    assert trying.outside_of(target) == outside


def scenario_of(outside: Any, admission: Any = None, **governor):
    specs = {
        "agent": SimpleNamespace(model=Agent.model_construct(**{"outside": outside})),
        "governor": SimpleNamespace(model=Governor.model_construct(**{"admission": admission}), data=governor),
    }
    made: Any = SimpleNamespace(
        specs=specs, main=SimpleNamespace(refs={("agent",): "agent", ("governor",): "governor"})
    )
    return made


def asked(deadline, start=2000):
    return SimpleNamespace(deadline_ms=deadline, start_ms=start)


def admitting(watchdog):
    return SimpleNamespace(watchdog_ms=watchdog, document="proposal")


MORE = "2000 ms more for the first answer of a process"
LIMITS: dict[str, tuple[Any, Any, str]] = {
    "of the agent": (asked(200), None, f"the limit is 200 ms, `deadline_ms` of the agent; {MORE}"),
    "of the agent, which is shorter": (
        asked(200),
        admitting(300),
        f"the limit is 200 ms, `deadline_ms` of the agent; {MORE}",
    ),
    "of the governor": (asked(200), admitting(100), f"the limit is 100 ms, `watchdog_ms` of the governor; {MORE}"),
    "of the agent, which is equal": (
        asked(200),
        admitting(200),
        f"the limit is 200 ms, `deadline_ms` of the agent; {MORE}",
    ),
    "none": (None, admitting(100), ""),
}


@pytest.mark.parametrize(("outside", "admission", "said"), LIMITS.values(), ids=LIMITS)
def test_the_time_limit_of_an_answer(outside, admission, said):
    assert trying._limit(scenario_of(outside, admission)) == said


def test_the_claims_that_a_governor_requires_of_bare_proposals():
    claims = {"sure": "int", "why": {"type": "string", "maxLength": 9}}
    assert trying._claims(scenario_of(None, None, claims=claims)) == {
        "sure": "int",
        "why": '{"maxLength":9,"type":"string"}',
    }
    assert trying._claims(scenario_of(None)) == {}
    assert trying._claims(scenario_of(None, admitting(1), claims=claims)) == {}


def test_a_command_is_written_as_an_agent_or_refused(tmp_path):
    file = trying.commanded({"command": ["python3", "a b.py"]}, tmp_path)
    assert file == str(tmp_path / "commanded.yaml")
    assert Path(file).read_text() == 'spec: agent/v1\nname: commanded\noutside: {"command":["python3","a b.py"]}\n'
    refused: list[dict[str, Any]] = [{"command": []}, {"command": ["a"], "deadline_ms": 600_001}]
    for wrong in refused:
        with pytest.raises(Rejected) as caught:
            trying.commanded(wrong, tmp_path)
        (finding,) = caught.value.diagnostics
        assert (finding.code, finding.message) == (
            "E_AGENT_CHECK",
            "invalid command: expected 1 to 64 words without NUL, and a deadline of at most 600000 ms",
        )


def case(name, case_="") -> Any:
    return SimpleNamespace(main=SimpleNamespace(name=name, kind="scenario"), case=case_, digest="d")


PLACED: dict[str, tuple[list[Any], Any, tuple[str, ...]]] = {
    "one": ([case("a")], None, ("out/a",)),
    "one in a place": ([case("a")], Path("x"), ("x",)),
    "a case": ([case("a", "n=1")], None, ("out/a.n=1",)),
    "two": ([case("a"), case("b")], None, ("out/a", "out/b")),
    "two in a place": ([case("a"), case("b")], Path("x"), ("x/a", "x/b")),
}


@pytest.mark.parametrize(("cases", "out", "places"), PLACED.values(), ids=PLACED)
def test_where_the_evidence_of_cases_goes(cases, out, places):
    assert tuple(path.as_posix() for path in executing.place_cases(cases, out)) == places


def test_nothing_is_written_into_a_bundle(tmp_path):
    for name in ("manifest.json", "receipts.jsonl"):
        (tmp_path / name).touch()
    assert executing.place_cases([case("a")], tmp_path / "a") == (tmp_path / "a",)
    (tmp_path / "specs.json").touch()
    with pytest.raises(Rejected) as caught:
        executing.place_cases([case("a")], tmp_path / "a")
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.message, finding.hint) == (
        "E_OUT_FOREIGN",
        f"{tmp_path} is a bundle, so nothing else can be written into it",
        "name another folder by --out",
    )


@pytest.fixture
def ran(monkeypatch):
    """Options with which a run was made, and what it leaves in its folder."""
    made: list[Any] = []

    def execute(bundle, folder, options, progress):
        made.append(options)
        for file in folder.iterdir() if folder.is_dir() else ():
            file.unlink()
        return Finished("a", "scenario", folder, {"result": {}})

    row = SimpleNamespace(run=SimpleNamespace(execute=execute))
    monkeypatch.setattr(executing, "KINDS", {"scenario": row})
    return made


@pytest.mark.parametrize(
    ("covers", "lost"),
    [
        ([], None),
        (["attestation.dsse.json"], "attestation.dsse.json"),
        (["checkpoint", "attestation.dsse.json"], "attestation.dsse.json, checkpoint"),
    ],
)
def test_covers_that_a_run_takes_away_are_a_warning(tmp_path, ran, covers, lost):
    for name in ("manifest.json", *covers):
        (tmp_path / name).touch()
    finished = executing.execute(case("a"), tmp_path)
    assert finished.replaced is True
    said = f"the bundle that was at {tmp_path} held {lost}; the one that is there now does not"
    hint = "name another --out to keep both; `spec seal` covers the new one"
    assert [(found.code, found.message, found.hint) for found in finished.found] == (
        [] if lost is None else [("W_COVER_LOST", said, hint)]
    )
    assert executing.execute(case("a"), tmp_path / "new").replaced is False


def test_a_run_that_is_replayed_is_sealed_afterwards(tmp_path, ran, monkeypatch):
    sealed = []

    def seal_evidence(place, seal, *, replay, executor):
        sealed.append((place, seal, replay))
        return "verified", True

    monkeypatch.setattr(verifying, "seal_evidence", seal_evidence)
    seal: Any = SimpleNamespace(key="k")
    finished = executing.execute(case("a"), tmp_path, RunOptions(seal=seal, replay=True))
    assert (sealed, repr(finished.replayed), ran[0].seal) == ([(tmp_path, seal, True)], "'verified'", UNSIGNED)
    finished = executing.execute(case("a"), tmp_path, RunOptions(seal=seal))
    assert (len(sealed), finished.replayed, ran[1].seal) == (1, None, seal)


# Options of a resumed run, whether it was announced, and whether complete evidence is read in place of running.
RESUMED: dict[str, tuple[dict[str, Any], bool, bool]] = {
    "resumed": ({"resume": True}, False, True),
    "not resumed": ({}, False, False),
    "announced": ({"resume": True}, True, False),
    "sealed as it is made": ({"resume": True, "seal": SimpleNamespace(key="k")}, False, False),
    "sealed after replay": ({"resume": True, "seal": SimpleNamespace(key="k"), "replay": True}, False, True),
    "a shard": ({"resume": True, "shard": (1, 2)}, False, False),
    "live": ({"resume": True, "live": True}, False, False),
    "recorded": ({"resume": True, "record": True}, False, False),
}


@pytest.mark.parametrize(("options", "announced", "read"), RESUMED.values(), ids=RESUMED)
def test_when_complete_evidence_is_read_in_place_of_a_run(tmp_path, ran, monkeypatch, options, announced, read):
    done = Finished("a", "scenario", tmp_path, {"result": {}}, complete=True)
    monkeypatch.setattr(executing, "read_complete", lambda *_: done)
    monkeypatch.setattr(executing, "replay_and_seal", lambda finished, options: finished)
    finished = executing.execute(case("a"), tmp_path, RunOptions(**options), announced=announced)
    assert (finished.complete, len(ran)) == (read, 0 if read else 1)


VERIFIED: dict[str, tuple[bool, bool, Verdict, bool]] = {
    "intact": (False, True, Verdict.INCONCLUSIVE, True),
    "not intact": (False, False, Verdict.PASS, False),
    "replayed": (True, True, Verdict.PASS, True),
    "replay was not possible": (True, True, Verdict.INCONCLUSIVE, False),
    "replayed, and refuted": (True, False, Verdict.FAIL, False),
}


@pytest.mark.parametrize(("replay", "intact", "verdict", "allowed"), VERIFIED.values(), ids=VERIFIED)
def test_when_evidence_is_sealed(tmp_path, monkeypatch, replay, intact, verdict, allowed):
    sealed = []
    verification: Any = SimpleNamespace(intact=intact, verdict=verdict)
    monkeypatch.setattr(verifying, "verify", lambda *_, **__: verification)
    monkeypatch.setattr(verifying, "seal_bundle", lambda *given: sealed.append(given))
    seal: Any = SimpleNamespace(key="k")
    assert verifying.seal_evidence(tmp_path, seal, replay=replay) == (verification, allowed)
    assert sealed == ([(tmp_path, seal)] if allowed else [])
    sealed.clear()
    assert verifying.seal_evidence(tmp_path, UNSIGNED, replay=replay) == (verification, allowed)
    assert sealed == []


def test_a_file_is_verified_as_the_log_that_it_is_and_a_folder_as_a_bundle(tmp_path, monkeypatch):
    asked_for: list[Any] = []
    log: Any = SimpleNamespace(ask=asked_for.append)
    monkeypatch.setattr(verifying, "verify_evidence", lambda path, reader, *_: ("bundle", reader.replay))

    def read(what):
        asked_for.append(what)
        return log

    monkeypatch.setattr(verifying, "verify_runlog", lambda path, head: read(f"run log {head}"))
    monkeypatch.setattr(verifying, "verify_audit_log", lambda path: read("audit log"))
    monkeypatch.setattr(verifying, "is_runlog", lambda path: path.name == "runs")
    monkeypatch.setattr(verifying, "require_reference", lambda: asked_for.append("the judge"))
    verify: Any = verifying.verify
    assert verify(tmp_path) == ("bundle", True)
    assert verify(tmp_path, replay=False) == ("bundle", False)
    assert verify(tmp_path, replay=False, reader=Reader(judge=True)) == ("bundle", True)
    assert asked_for.pop() == "the judge"
    for name in ("runs", "audit"):
        (tmp_path / name).touch()
    verifying.verify(tmp_path / "runs", reader=Reader(log_head="h"))
    verifying.verify(tmp_path / "audit", reader=Reader(levels=frozenset({Level.REPLAYED})))
    assert asked_for == ["run log h", {Level.INTACT}, "audit log", {Level.INTACT, Level.REPLAYED}]


def test_a_file_that_is_rewritten_and_its_change(tmp_path):
    file = str(tmp_path / "a.yaml")
    made = Rewritten(file, "a: 1\nb: 2\n", "a: 1\nb: 3\n")
    assert (made.changes, Rewritten(file, "a", "a").changes) == (True, False)
    assert made.diff() == f"--- a/{file}\n+++ b/{file}\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n+b: 3"
    made.write()
    assert Path(file).read_bytes() == b"a: 1\nb: 3\n"


RENAMES = [Rename("a", "A", "spec", ""), Rename("b", "B", "c", ""), Rename("d", "D", "spec", "")]
WRITTEN: dict[str, tuple[list[str], list[str]]] = {
    "one": (["spec", "a"], ["a"]),
    "two, the last first": (["spec", "a", "d"], ["d", "a"]),
    "the new name is there": (["spec", "a", "A"], []),
    "without what it needs": (["spec", "b"], []),
    "with what it needs": (["spec", "b", "c"], ["b"]),
    "none": (["spec"], []),
}


@pytest.mark.parametrize(("keys", "renamed"), WRITTEN.values(), ids=WRITTEN)
def test_which_keys_of_a_document_are_renamed(monkeypatch, keys, renamed):
    members = {key: SimpleNamespace(place=SimpleNamespace(start=at)) for at, key in enumerate(keys)}
    document: Any = SimpleNamespace(root=SimpleNamespace(members=members))
    monkeypatch.setattr("specledger.pipeline.formatting._model", lambda document: SimpleNamespace(renames=RENAMES))
    assert [rename.old for rename in renames_in(document)] == renamed


def test_what_to_change_in_a_project_and_where_its_edit_is(tmp_path):
    edit = Edit("a.yaml", "level: 3", "level: 4")
    start = Start("doc", "run", "reason", edit, {"a.yaml": "the level", "specs/b.yaml": "the rest"})
    assert start.own_files() == ["  a.yaml        # the level", "  specs/b.yaml  # the rest"]
    (tmp_path / "a.yaml").write_text("a\nlevel: 3\nlevel: 3\n")
    project = Project(start, (), ())
    assert project.line(tmp_path) == 2
    (tmp_path / "a.yaml").write_text("a\nlevel: 4\n")
    assert project.line(tmp_path) is None


@pytest.mark.parametrize(("kind", "can"), [("scenario", True), ("world", True), ("prompt", False), ("zzz", False)])
def test_which_kinds_have_rules_to_explain(kind, can):
    assert explaining.can_explain(kind) is can


def test_a_spec_without_rules_or_actions_is_refused_with_what_has_some(tmp_path):
    for logs, message in (
        ((), "a spec of the kind prompt has no rules to explain"),
        ([tmp_path / "log"], "a spec of the kind prompt has no actions that calls could fit"),
    ):
        with pytest.raises(Rejected) as caught:
            explaining.explain("blind", kind="prompt", logs=logs)
        (finding,) = caught.value.diagnostics
        have = ", ".join(kind for kind in KINDS if explaining.can_explain(kind))
        hint = (
            "name a world, or a scenario"
            if logs
            else f"`spec explain prompt` explains its keys; kinds with rules are {have}"
        )
        assert (finding.code, finding.message, finding.hint) == ("E_EXPLAIN_RULES", message, hint)


TEXTS: dict[str, tuple[str, str | None]] = {
    "as laid out": ("spec: law/v1\nname: x\n", "spec: law/v1\nname: x\n"),
    "a trap": ("spec: law/v1\nname: x\ndoc: yes\n", None),
    "a key twice": ("spec: law/v1\nname: x\nname: x\n", None),
    "no head": ("name: x\n", None),
    "no YAML": ("spec: [\n", None),
}


@pytest.mark.parametrize(("text", "laid_out"), TEXTS.values(), ids=TEXTS)
def test_only_a_text_without_findings_is_laid_out(text, laid_out):
    assert format_text(text, "a.yaml") == laid_out
