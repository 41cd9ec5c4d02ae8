"""Laws on the command line: one table, exit codes, JSON, and evidence that verifies."""

import json

import pytest

from tests.toys.claims import measured


def write(folder, name, expr, expect=None, **fields):
    """A law that an observable is what it was at the start."""
    law = {
        "spec": "law/v1",
        "name": name,
        "universe": "kinetic_grid_v1",
        "forbidden": "x",
        **measured(expr),
        **({} if expect is None else {"expect": expect}),
        **fields,
    }
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(law), encoding="utf-8")
    return str(path)


KEPT, LOST = "count('>') + count('X')", "count('>')"
LONG = {"quantifiers": {"T": 201}}

EXITS = {
    "proved": (KEPT, None, {}, 0),
    "failed": (LOST, None, {}, 1),
    "unknown": (KEPT, None, LONG, 3),
    "proved as expected": (KEPT, {"status": "PROVED"}, {}, 0),
    "failed as expected": (LOST, {"status": "FAIL"}, {}, 0),
    "unknown as expected": (KEPT, {"status": "UNKNOWN", "reason": "resource_limit"}, LONG, 0),
    "proved against expectation": (KEPT, {"status": "FAIL"}, {}, 1),
    "unknown for another reason": (KEPT, {"status": "UNKNOWN", "reason": "vacuous_pass"}, LONG, 1),
}


@pytest.mark.parametrize(("expr", "expect", "fields", "status"), EXITS.values(), ids=EXITS)
def test_exit_codes(spec, tmp_path, expr, expect, fields, status):
    done = spec("run", write(tmp_path, "mine", expr, expect, **fields), "--out", tmp_path / "out")
    assert done.status == status
    assert spec("verify", tmp_path / "out").status == 0


@pytest.mark.medium
def test_one_table_of_all_laws(spec, tmp_path):
    files = [write(tmp_path, "kept", KEPT, {"status": "PROVED"}), write(tmp_path, "lost", LOST, {"status": "PROVED"})]
    done = spec("run", *files, "--out", tmp_path / "out")
    lines = done.out.splitlines()
    assert [line.split()[:2] for line in lines[:4]] == [
        ["laws"],
        ["law", "status"],
        ["kept", "PROVED"],
        ["lost", "FAIL"],
    ]
    assert "MISSED: PROVED" in lines[3]
    assert lines[5:] == ["2 laws: 1 PROVED, 1 FAIL; 1 not as expected"]
    assert all((tmp_path / "out" / name / "manifest.json").is_file() for name in ("kept", "lost"))
    quiet = spec("run", *files, "--out", tmp_path / "out", "-q").out.splitlines()
    assert [line.split()[0] for line in quiet] == ["laws", "law", "lost", "evidence", "2"]
    assert quiet[-1] == lines[-1]
    assert spec("run", files[0], "--out", tmp_path / "out", "-q").out == ""


def test_a_plan_says_why_nothing_can_be_said_of_a_law(spec, tmp_path):
    out = spec("plan", write(tmp_path, "mine", KEPT, **LONG)).out
    assert "  unknown: resource_limit (T = 201 is above 200)" in out.splitlines()


@pytest.mark.medium
def test_shards_of_a_list_of_laws_are_its_bundles(spec, tmp_path):
    files = [write(tmp_path, name, KEPT) for name in ("one", "two", "three")]
    spec("run", *files, "--out", tmp_path / "whole")
    for shard in ("1/2", "2/2"):
        assert spec("run", *files, "--shard", shard, "--out", tmp_path / shard[0]).status == 0
    assert sorted(place.name for place in (tmp_path / "1").iterdir()) == ["one", "three"]
    assert [place.name for place in (tmp_path / "2").iterdir()] == ["two"]
    for shard, name in (("1", "one"), ("2", "two"), ("1", "three")):
        parts = [tmp_path / folder / name / "manifest.json" for folder in (shard, "whole")]
        assert parts[0].read_bytes() == parts[1].read_bytes()
    assert "shard 4/4 is empty" in spec("run", *files, "--shard", "4/4").err


@pytest.mark.medium
@pytest.mark.parametrize(
    ("expr", "fields", "why"),
    [
        (KEPT, {}, None),
        (LOST, {}, None),
        (KEPT, LONG, "not tried; T, H or the work of the law is above its limit: T = 201 is above 200"),
        (
            "max_gap('>')",
            {"preconditions": ["max_gap('>') == grid_length"]},
            "tried on cases (263 of 300 usable, 13413 hits); proved for rings of up to 6 cells; the claim is not about "
            "additive observables",
        ),
    ],
)
def test_a_law_that_is_neither_proved_nor_refuted_says_why_in_one_line(spec, tmp_path, expr, fields, why):
    lines = spec("run", write(tmp_path, "mine", expr, **fields), "--out", tmp_path / "out").out.splitlines()
    said = [line for line in lines if "not proved" in line]
    assert said == ([] if why is None else [f"  not proved: mine, {why}"])


PROSE = {"claim": "N stays what it is", "claim_ast": None}


@pytest.mark.parametrize(
    ("expect", "fields", "warned"),
    [
        (None, PROSE, True),
        (None, LONG, True),
        ({"status": "PROVED"}, LONG, True),
        ({"status": "UNKNOWN"}, PROSE, False),
        (None, {}, False),
    ],
)
def test_check_warns_of_a_law_of_which_nothing_can_be_said(spec, tmp_path, expect, fields, warned):
    done = spec("check", write(tmp_path, "mine", KEPT, expect, **fields))
    assert done.status == 0
    assert ("W_LAW_UNDECIDED" in done.err) is warned


def test_a_claim_that_cannot_be_read_is_shown_as_it_was_written(spec, tmp_path):
    done = spec("run", write(tmp_path, "mine", KEPT, **PROSE), "--out", tmp_path / "out")
    (row,) = [line for line in done.out.splitlines() if line.split()[:1] == ["mine"]]
    assert row.endswith(PROSE["claim"])
    assert "UNKNOWN (ambiguous_claim)" in row
    assert f"`{PROSE['claim']}`" in spec("report", tmp_path / "out", "--format=markdown").out


@pytest.mark.parametrize(
    ("expect", "told"),
    [
        (None, "FAIL"),
        ({"status": "PROVED"}, "FAIL, expected was PROVED"),
        ({"status": "UNKNOWN", "reason": "vacuous_pass"}, "FAIL, expected was UNKNOWN (vacuous_pass)"),
    ],
    ids=["nothing", "another status", "another status with a reason"],
)
def test_a_report_says_the_status_and_what_was_expected(spec, tmp_path, expect, told):
    spec("run", write(tmp_path, "lost", LOST, expect), "--out", tmp_path / "out")
    lines = spec("report", tmp_path / "out", "--format", "junit").out.splitlines()
    (failure,) = [line for line in lines if "<failure" in line]
    assert f"opportunities: {told} (first: receipt 2" in failure
