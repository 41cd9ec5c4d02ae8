"""Which files `spec check` takes from folders and patterns, and how it ends."""

import os

import pytest

from specledger.pipeline.targets import expand_targets

WORLD = "spec: world/v1\nname: {name}\nstate: {{n: int}}\nactions: {{go: {{}}}}\n"
FILES = {
    "specs/world/pond.yaml": WORLD.format(name="pond"),
    "drafts/deep/lake.yml": WORLD.format(name="lake"),
    "drafts/typo.yaml": WORLD.format(name="typo").replace("spec:", "sepc:"),
    "drafts/commented.yaml": "# mine\n" + WORLD.format(name="commented"),
    "compose.yaml": "services: {}\n",
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
        ["drafts/commented.yaml", "drafts/typo.yaml", "drafts/deep/lake.yml", "specs/world/pond.yaml"],
        ["compose.yaml"],
    ),
    "a folder below": (["drafts/deep"], ["drafts/deep/lake.yml"], []),
    "a pattern": (["drafts/*.yaml"], ["drafts/commented.yaml", "drafts/typo.yaml"], []),
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
