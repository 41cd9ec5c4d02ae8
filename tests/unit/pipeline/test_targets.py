"""Which files commands take from folders and patterns."""

import os

import pytest

from specledger.core.diagnostics import Rejected
from specledger.kinds import KINDS
from specledger.pipeline.targets import expand_runs, expand_targets

WORLD = "spec: world/v1\nname: {name}\nstate: {{n: int}}\nactions: {{go: {{}}}}\n"
FILES = {
    "specs/world/pond.yaml": WORLD.format(name="pond"),
    "drafts/deep/lake.yml": WORLD.format(name="lake"),
    "drafts/typo.yaml": WORLD.format(name="typo").replace("spec:", "sepc:"),
    "drafts/unversioned.yaml": WORLD.format(name="unversioned").replace("/v1", ""),
    "drafts/commented.yaml": "# mine\n" + WORLD.format(name="commented"),
    "compose.yaml": "services: {}\n",
    "k8s.yaml": "kind: Service\nspec:\n  ports: []\n",
    ".github/ci.yaml": WORLD.format(name="ci"),
    "node_modules/a.yaml": WORLD.format(name="a"),
    "out/run/manifest.json": "{}",
    "out/run/receipts.jsonl": "",
    "out/run/specs/world/pond.yaml": WORLD.format(name="pond"),
    "empty/notes.txt": "",
}
TARGETS = {
    "a folder": (
        ["."],
        [
            "drafts/commented.yaml",
            "drafts/typo.yaml",
            "drafts/unversioned.yaml",
            "drafts/deep/lake.yml",
            "specs/world/pond.yaml",
        ],
        ["compose.yaml", "k8s.yaml"],
    ),
    "a folder below": (["drafts/deep"], ["drafts/deep/lake.yml"], []),
    "a pattern": (["drafts/*.yaml"], ["drafts/commented.yaml", "drafts/typo.yaml", "drafts/unversioned.yaml"], []),
    "a pattern of every depth": (["**/*.yml"], ["drafts/deep/lake.yml"], []),
    "a pattern of folders": (["drafts/d*"], ["drafts/deep/lake.yml"], []),
    "a file that is no spec is checked if it is named": (["compose.yaml"], ["compose.yaml"], []),
    "a name": (["hazard"], ["hazard"], []),
    "each file once": (["specs", "specs/world/pond.yaml"], ["specs/world/pond.yaml"], []),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("targets", "files", "skipped"), TARGETS.values(), ids=TARGETS)
def test_targets(targets, files, skipped):
    found = expand_targets(targets)
    assert (list(found.files), list(found.skipped), found.findings) == (files, skipped, ())


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("target", ["empty", "nothing/*.yaml"])
def test_a_target_without_specs_is_a_finding(target):
    found = expand_targets(["specs", target])
    assert [one.code for one in found.findings] == ["E_CHECK_NONE"]


@pytest.mark.usefixtures("folder")
def test_a_pipe_in_a_folder_is_not_waited_for():
    os.mkfifo("drafts/pipe.yaml")
    expanded = expand_targets(["drafts"])
    assert "drafts/pipe.yaml" not in [str(file) for file in expanded.files]


RUNNABLE = {
    "specs/scenario/swim.yaml": "spec: scenario/v1\nname: swim\n",
    "specs/law/still.yaml": "spec: law/v1\nname: still\n",
    "specs/law/odd.yaml": "spec: lwa/v1\nname: odd\n",
}
RUNS = {
    "a folder": (["specs"], ["specs/law/odd.yaml", "specs/law/still.yaml", "specs/scenario/swim.yaml"]),
    "a pattern": (["specs/*/s*.yaml"], ["specs/law/still.yaml", "specs/scenario/swim.yaml"]),
    "a pattern of other kinds too": (["specs/**/*[in]*.yaml"], ["specs/law/still.yaml", "specs/scenario/swim.yaml"]),
    "a file of another kind, so that the finding says it": (["specs/world/pond.yaml"], ["specs/world/pond.yaml"]),
    "a name that is a folder without specs": (["empty"], ["empty"]),
    "each file once": (["specs/law", "specs/law/still.yaml"], ["specs/law/odd.yaml", "specs/law/still.yaml"]),
}


@pytest.mark.parametrize(("targets", "files"), RUNS.values(), ids=RUNS)
def test_what_is_run_of_folders_and_patterns(folder, targets, files):
    for name, text in RUNNABLE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    assert expand_runs(targets, KINDS.may_run) == files


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("target", ["specs/world", "./empty", "nothing/*.yaml", "drafts/**/*.yml"])
def test_a_folder_or_pattern_with_nothing_to_run_is_a_finding(target):
    with pytest.raises(Rejected, match="E_CHECK_NONE"):
        expand_runs([target], KINDS.may_run)
