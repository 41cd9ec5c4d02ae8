"""What a shell proposes for arguments: kinds, names of specs with files beside them, keys, codes and bundles."""

import pytest

from specledger.cli import completion
from specledger.kinds import KINDS

WORLD = "spec: world/v1\nname: {name}\nstate: {{n: int}}\nactions: {{go: {{}}}}\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("zz-pond", "zz-lake"):
        path = tmp_path / "specs" / "world" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(WORLD.format(name=name))
    for name in ("zz.yaml", "zz.yml", "zz.txt"):
        (tmp_path / name).touch()
    (tmp_path / "zzz").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("propose", "typed", "words"),
    [
        (completion.kinds, "wor", ["world"]),
        (completion.kinds, "zz", []),
        (completion.starts, "wo", ["world"]),
        (completion.editors, "", ["helix", "neovim", "vscode"]),
        (completion.editors, "n", ["neovim"]),
        (completion.explained, "world.sta", ["world.state", "world.start"]),
        (completion.explained, "worlds.sta", []),
        (completion.explained, "E_YAML_DUP", ["E_YAML_DUPLICATE_KEY"]),
        (completion.explained, "W_AGENT_R", ["W_AGENT_READS"]),
        (completion.explained, "code", ["codes"]),
        (completion.explained, "kin", ["kinds"]),
    ],
)
def test_words_that_begin_with_what_is_typed(propose, typed, words):
    assert sorted(propose(typed)) == sorted(words)


def test_all_kinds_are_sorted():
    assert completion.kinds("") == sorted(KINDS)
    assert completion.explained("") == sorted(["codes", "kinds", *KINDS])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("propose", "names"),
    [(completion.specs, ["zz-lake", "zz-pond"]), (completion.runnable_specs, []), (completion.scenarios, [])],
)
def test_names_of_a_kind_stand_before_files_and_folders(propose, names):
    assert propose("zz") == [*names, "zz.yaml", "zz.yml", "zzz/"]


@pytest.mark.usefixtures("folder")
def test_without_a_letter_no_file_is_proposed():
    names = completion.specs("")
    assert {"zz-lake", "zz-pond", "hazard"} <= set(names)
    assert not {"zz.yaml", "zzz/", "specs/"} & set(names)
    assert "hazard" in completion.scenarios("haz")
    assert "hazard" not in completion.agents("haz")


def test_an_absolute_path_is_left_to_the_shell(folder):
    assert completion.specs(str(folder)) == []


def test_folders_that_may_hold_bundles(folder):
    (folder / "out" / "run").mkdir(parents=True)
    (folder / "out" / "run" / "manifest.json").touch()
    assert completion.bundles("ou") == ["out"]
    assert completion.bundles("out") == ["out"]
    assert completion.bundles("out/") == ["out/run"]
    assert completion.bundles("") == ["out", "specs", "zzz"]
    assert completion.bundles("nothing") == []
