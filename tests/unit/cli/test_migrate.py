"""`spec migrate`: keys with a later name are renamed; comments, values and all else stay, and a second time nothing."""

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.load.yaml_reader import parse
from specledger.pipeline.formatting import migrate_document
from tests.toys import ROOT

pytestmark = [pytest.mark.wing("laws")]

OLD = """spec: law/v1 # claim
name: still
template: bound
universe: kinetic_grid_v1
# what is claimed
claim:   nothing moves   # in words
claim_ast: {op: "==", lhs: {obs: Right, t: {var: t}}, rhs: {const: 0}}
forbidden: "claim: a start with movers"
"""
NEW = OLD.replace("claim:   nothing", "says:   nothing")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.yaml").write_text(OLD)
    (tmp_path / "new.yaml").write_text(NEW)
    return tmp_path


def test_a_key_is_renamed_and_nothing_else_is_touched(spec, folder):
    done = spec("migrate", ".")
    assert (done.status, done.out, done.err) == (0, "migrated old.yaml\n2 files: 1 changed, 1 not\n", "")
    assert [(folder / name).read_text() for name in ("old.yaml", "new.yaml")] == [NEW, NEW]
    assert spec("migrate", ".").out == "2 files: 0 changed, 2 not\n"


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_nothing_is_written_where_it_is_only_asked(spec, folder, option):
    done = spec("migrate", option, ".")
    assert (done.status, done.err) == (1, "")
    assert "would change old.yaml" in done.out
    assert ("\n+says:   nothing moves   # in words\n" in done.out) == (option == "--diff")
    assert (folder / "old.yaml").read_text() == OLD
    assert spec("migrate", option, "new.yaml").status == 0


@pytest.mark.parametrize(
    "text",
    [
        OLD.replace('claim_ast: {op: "==", lhs: {obs: Right, t: {var: t}}, rhs: {const: 0}}\n', ""),
        OLD + "says: nothing moves\n",
        "spec: governor/v1\nname: a\ngates: []\nchoose: {maximise: 1}\n",
    ],
    ids=["a formula", "the new key is there", "another kind"],
)
def test_what_needs_no_new_name_is_left_alone(spec, folder, text):
    (folder / "old.yaml").write_text(text)
    assert spec("migrate", "--check", "old.yaml").status == 0


def test_a_file_that_cannot_be_read_is_reported_as_a_check_does(spec, folder):
    (folder / "old.yaml").write_text("spec: law/v1\nname: [\n")
    done = spec("migrate", "old.yaml")
    assert (done.status, done.err) == (2, spec("check", "old.yaml").err)


SHIPPED = sorted((ROOT / "specs/law").glob("*.yaml"))


@pytest.mark.medium
def test_shipped_laws_that_are_migrated_are_read_and_mean_the_same():
    changed = 0
    for path in SHIPPED:
        text = path.read_text(encoding="utf-8")
        document = parse(text, str(path), Diagnostics())
        assert document is not None
        after = migrate_document(document)
        read = parse(after, str(path), Diagnostics())
        assert read is not None
        plain = read.root.plain()
        assert migrate_document(read) == after
        if after != text:
            changed += 1
            assert document.root.plain() == {**{k: v for k, v in plain.items() if k != "says"}, "claim": plain["says"]}
    assert changed > 5


@pytest.mark.medium
def test_a_migrated_law_has_the_verdict_that_it_had(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "momentum-stays-positive.yaml"
    path.write_text((ROOT / "specs/law" / path.name).read_text(encoding="utf-8"), encoding="utf-8")
    before = spec("run", path.name, "--out", "before", "--format", "json").json["runs"][0]["manifest"]["result"]
    assert spec("migrate", path.name).out.startswith("migrated ")
    assert spec("check", path.name).status == 0
    after = spec("run", path.name, "--out", "after", "--format", "json").json["runs"][0]["manifest"]["result"]
    assert after["verdict"] == before["verdict"] == "PASS"
