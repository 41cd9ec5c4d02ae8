"""`spec new`: a first spec of every kind is in order, and what can be run passes; `spec explain` says what its keys hold."""

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from specledger.kinds import KINDS
from specledger.load.schemas import schema_for
from specledger.load.shipped import find_specs
from specledger.pipeline.authoring import describe, kinds_with_start
from specledger.pipeline.project import starts


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """An empty working folder, whose specs are the shipped ones."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestNew:
    def test_there_is_one_of_every_kind(self):
        assert kinds_with_start() == tuple(KINDS)

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_first_spec_is_in_order_and_commented(self, spec, empty, kind):
        done = spec("new", kind, "my-own")
        assert (done.status, done.err) == (0, "")
        text = (empty / "my-own.yaml").read_text(encoding="utf-8")
        modeline, text = text.split("\n", 1)
        schema = Path(modeline.removeprefix("# yaml-language-server: $schema=file://"))
        assert json.loads(schema.read_text())["title"]
        assert text.startswith(f"spec: {kind}/v1\nname: my-own\ndoc: ")
        assert " # " in text or kind == "vocabulary"
        checked = spec("check", "my-own.yaml")
        assert (checked.status, checked.err) == (0, "")
        assert checked.out.startswith(f"ok {kind} my-own ")

    @pytest.mark.medium
    @pytest.mark.parametrize("kind", KINDS.runnable())
    def test_what_can_be_run_passes_at_once(self, spec, empty, kind):
        assert spec("new", kind).out.rpartition("next: spec ")[2].startswith("run ")
        (file,) = empty.glob("*.yaml")
        done = spec("run", file.name, "--workers", "1", "--format=json")
        assert (done.status, done.err) == (0, "")
        assert [run["manifest"]["result"]["verdict"] for run in done.json["runs"]] == ["PASS"]

    def test_the_name_is_that_of_the_file(self, spec, empty):
        assert spec("new", "world", "--out", "pond.yaml").status == 0
        assert "\nname: pond\n" in (empty / "pond.yaml").read_text()
        assert spec("new", "world", "lake", "--out", "water.yml").status == 0
        assert "\nname: lake\n" in (empty / "water.yml").read_text()

    def test_where_there_is_a_folder_of_specs_it_is_written_there(self, spec, empty):
        (empty / "specs").mkdir()
        assert "next: spec check specs/policy/mine.yaml" in spec("new", "policy", "mine").out
        assert spec("check", "policy/mine").out.startswith("ok policy mine ")
        assert spec("new", "policy", "other", "--out", "other.yaml").status == 0
        assert (empty / "other.yaml").is_file()

    def test_nothing_is_written_over(self, spec, empty):
        (empty / "pond.yaml").write_text("mine")
        done = spec("new", "world", "pond")
        assert (done.status, done.out) == (2, "")
        assert "error[E_NEW_EXISTS]" in done.err
        assert "--out pond-2.yaml" in done.err
        assert (empty / "pond.yaml").read_text() == "mine"

    @pytest.mark.parametrize(
        ("words", "code", "hint"),
        [
            (["wrold"], "E_NEW_KIND", "did you mean `world`?"),
            (["../world"], "E_NEW_KIND", ""),
            (["world", "My World"], "E_NEW_NAME", "my-first-one"),
            (["world", "../pond"], "E_NEW_NAME", ""),
            (["world", "pond", "--out", "pond.txt"], "E_NEW_NAME", "pond.txt.yaml"),
            (["world", "--out", "/proc/none/pond.yaml"], "E_SYSTEM", "error at /proc/none"),
        ],
        ids=str,
    )
    def test_what_is_refused_writes_nothing(self, spec, empty, words, code, hint):
        done = spec("new", *words)
        assert done.status == 2
        assert f"error[{code}]" in done.err
        assert hint in done.err
        assert list(empty.iterdir()) == []

    def test_a_kind_without_an_example_is_named(self, spec, empty, monkeypatch):
        monkeypatch.setattr("specledger.pipeline.authoring.find_specs", lambda: empty)
        assert "no first spec of the kind world is shipped" in spec("new", "world").err


NEEDS = {"reasons": ["kernel"], "logs": ["trajectories"]}
"""The wing of a start that needs one."""


class TestInit:
    @pytest.mark.medium
    def test_a_project_is_in_order_and_what_editors_and_git_need_is_there(self, spec, empty, monkeypatch):
        done = spec("init", "mine")
        assert (done.status, done.err) == (0, "")
        monkeypatch.chdir(empty / "mine")
        done = spec("check", ".")
        assert (done.status, done.err) == (0, "")
        assert "shape only" not in done.out, "the scenario types what it uses"
        assert done.out.endswith("checked 5 files: 5 ok, 0 with errors\n")
        assert spec("run", "first").status == 1
        assert spec("check", ".").out.endswith("checked 5 files: 5 ok, 0 with errors\n"), "evidence is passed over"
        assert "out/" in Path(".gitignore").read_text()
        for place, files in json.loads(Path(".vscode/settings.json").read_text())["yaml.schemas"].items():
            assert json.loads(Path(place).read_text())["title"], files
        assert len(list(Path(".specledger/schemas").iterdir())) == len(KINDS)
        assert spec("new", "drift", "rain", "--out", "specs/world/rain.yaml").status == 0
        assert (
            Path("specs/world/rain.yaml")
            .read_text()
            .startswith("# yaml-language-server: $schema=../../.specledger/schemas/drift.schema.json\n")
        )
        assert ".github/workflows/specs.yml" in spec("init").out

    @pytest.mark.medium
    @pytest.mark.parametrize(
        "name",
        [pytest.param(name, marks=[pytest.mark.wing(wing) for wing in NEEDS.get(name, ())]) for name in starts()],
    )
    def test_each_start_fails_on_purpose_and_passes_after_the_edit_that_it_names(self, spec, empty, name):
        start, said = starts()[name], spec("init", "--start", name).out
        assert all(f"  {file:<{max(map(len, start.yours))}}  # {what}" in said for file, what in start.yours.items())
        assert all(Path(file).exists() for file in start.yours)
        edit = re.search(r"Then write `(.*)` in (.*), line ([0-9]+), and:", said)
        assert edit is not None
        assert (spec("check", ".").status, spec("check", ".").err) == (0, "")
        failed = spec("run", start.run, "--format", "json")
        assert (failed.status, failed.err) == (1, "")
        assert [run["manifest"]["result"]["verdict"] for run in failed.json["runs"]] == ["FAIL"]
        lines = Path(edit[2]).read_text(encoding="utf-8").split("\n")
        line = lines[int(edit[3]) - 1]
        lines[int(edit[3]) - 1] = line.replace(start.edit.replace, edit[1])
        assert lines[int(edit[3]) - 1] != line
        Path(edit[2]).write_text("\n".join(lines), encoding="utf-8")
        assert spec("run", start.run, "--out", "again").status == 0
        assert spec("verify", "again").status == 0
        assert spec("golden", "--update").status == 0
        assert spec("golden").out == f"{start.run}: same\n"
        assert start.edit.by in Path("README.md").read_text(encoding="utf-8")

    def test_a_start_that_is_none_is_refused_with_those_that_there_are(self, spec, empty):
        done = spec("init", "--start", "reason")
        assert done.status == 2
        assert "but world, reasons, logs; did you mean reasons?" in done.err
        assert list(empty.iterdir()) == []

    @pytest.mark.medium
    def test_what_exists_is_kept(self, spec, empty):
        (empty / "README.md").write_text("mine")
        assert "kept  README.md" in spec("init").out
        assert (empty / "README.md").read_text() == "mine"
        done = spec("init", "README.md")
        assert (done.status, "E_INIT" in done.err) == (2, True)

    @pytest.mark.parametrize(
        "link", ["mine", "mine/specs", "mine/.specledger", "mine/README.md", "mine/fixtures/golden/a"]
    )
    def test_nothing_is_written_through_a_link(self, spec, empty, link):
        (empty / "outside").mkdir()
        (empty / link).parent.mkdir(parents=True, exist_ok=True)
        (empty / link).symlink_to(empty / "outside")
        done = spec("init", "mine")
        assert (done.status, "E_INIT" in done.err) == (2, True)
        assert list((empty / "outside").iterdir()) == []
        assert not (empty / "mine" / "specs" / "scenario").exists()

    @pytest.mark.medium
    def test_what_an_installation_compiled_is_not_copied(self, spec, empty, monkeypatch):
        shipped = find_specs()
        assert shipped is not None
        shutil.copytree(shipped / "new", empty / "shipped/new")
        compiled = empty / "shipped/new/project/reasons/__pycache__/mine.cpython-311.pyc"
        compiled.parent.mkdir(exist_ok=True)
        compiled.write_bytes(b"compiled")
        monkeypatch.setattr("specledger.pipeline.project.find_specs", lambda: empty / "shipped")
        done = spec("init", "own", "--start", "reasons")
        assert (done.status, done.err) == (0, "")
        assert (empty / "own/mine.py").exists()
        assert not [*(empty / "own").rglob("*.pyc"), *(empty / "own").rglob("__pycache__")]

    def test_the_root_of_the_file_system_is_no_project(self, spec, empty, monkeypatch):
        monkeypatch.setattr("specledger.pipeline.project._write_new", lambda *_: pytest.fail("it writes there"))
        done = spec("init", "/")
        assert (done.status, "E_INIT" in done.err) == (2, True)


class TestExplainAPath:
    @pytest.mark.parametrize(
        ("path", "words"),
        [
            (
                "scenario.probes",
                ["a list; each item: a reference to a spec of the kind probe", "(optional)", "in this order"],
            ),
            ("scenario.horizon", ["an integer, at least 1, at most 1000000", "How many steps an episode has at most"]),
            ("scenario.map.vary", ['(default "run")', "allowed: run, episode"]),
            ("scenario.world", ["a reference to a spec of the kind world (required)"]),
            ("governor.gates.deny", ["an expression"]),
            ("governor.gates.0.reason", ["a name, at most 120 characters (required)"]),
            ("model.openai.endpoint", ["text, at most 500 characters, of the form ^https?://"]),
            ("world.actions.move.when", ["an expression", '(default "true")']),
            ("suite.figures.at", ["a decimal number", "(default 0.95)"]),
            ("suite.runs.any.seeds", ["a list; each item: an integer, at least 0"]),
            ("law.expect.status", ["allowed: PROVED, PASS, FAIL, UNKNOWN"]),
            ("governor", ["gates over the predicted next state", "`spec new governor`"]),
            ("governor", ["    gates       The conditions on single proposals. (required)"]),
            ("world.draw", ["keys below:", "    weights  How likely each element is"]),
            ("scenario", ['before one is chosen. (proposals, none; default "proposals")']),
        ],
        ids=str,
    )
    def test_it_says_what_may_stand_there(self, spec, path, words):
        done = spec("explain", path)
        assert (done.status, done.err) == (0, "")
        assert done.out.startswith(f"{path}: ")
        for word in words:
            assert word in done.out

    @pytest.mark.parametrize(
        ("path", "hint"),
        [
            ("scenario.prob", "did you mean `probes`?"),
            ("scenarios.map", "did you mean `scenario`?"),
            ("governor.gates.den", "did you mean `deny`?"),
            ("suite.runs.senarios", "did you mean `scenarios`?"),
            ("scenario.horizon.x", "nothing is below it"),
            ("scenario..map", "there is spec, name"),
        ],
    )
    def test_what_is_misspelt(self, spec, path, hint):
        done = spec("explain", path)
        assert (done.status, done.out) == (2, "")
        assert "error[E_EXPLAIN_PATH]" in done.err
        assert hint in done.err

    @pytest.mark.medium
    def test_every_key_of_every_kind_is_explained(self):
        for kind in KINDS:
            for key, member in schema_for(kind, KINDS[kind].model)["definitions"]["Document"]["properties"].items():
                if key not in ("extends", "use", "params", "matrix"):
                    described = describe(f"{kind}.{key}")
                    assert described.type
                    assert described.doc == member["description"]


class TestInitForEditors:
    @pytest.mark.medium
    @pytest.mark.parametrize(
        ("editor", "files"),
        [
            ("vscode", [".vscode/extensions.json", ".vscode/settings.json"]),
            ("neovim", [".nvim.lua"]),
            ("helix", [".helix/languages.toml"]),
        ],
    )
    def test_the_settings_of_an_editor_start_the_language_server(self, spec, empty, editor, files):
        done = spec("init", "--editor", editor)
        assert (done.status, done.err) == (0, "")
        assert [file for file in files if not (empty / file).is_file()] == []
        text = "".join((empty / file).read_text(encoding="utf-8") for file in files)
        assert '"spec"' in text
        assert '"lsp"' in text
        for file in files:
            if file.endswith(".json"):
                json.loads((empty / file).read_text(encoding="utf-8"))
            elif file.endswith(".toml"):
                tomllib.loads((empty / file).read_text(encoding="utf-8"))

    @pytest.mark.medium
    def test_settings_that_exist_are_kept(self, spec, empty):
        (empty / ".vscode").mkdir()
        (empty / ".vscode/settings.json").write_text("{}")
        assert "kept  .vscode/settings.json" in spec("init", "--editor", "vscode").out
        assert (empty / ".vscode/settings.json").read_text() == "{}"

    def test_an_editor_without_settings_is_refused(self, spec, empty):
        done = spec("init", "--editor", "emacs")
        assert done.status == 2
        assert "helix, neovim, vscode, not for emacs" in done.err
        assert list(empty.iterdir()) == []
