"""What `import specledger as sl` gives: runs, records of steps, and one exception with findings."""

import ast
import json
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

import specledger as sl
from specledger.api import PROBE_COLUMNS, STEP_COLUMNS
from tests.toys import CLIMB, NUMBER, write_specs

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/python.md").read_text(encoding="utf-8")
NOTEBOOK = json.loads((ROOT / "docs/notebook.ipynb").read_text(encoding="utf-8"))
TYPES = {"int64": int, "bool": bool}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return sl.run(CLIMB / "climb.yaml", tmp_path_factory.mktemp("api") / "climb")


@pytest.fixture
def edited(bundle, tmp_path):
    place = Path(shutil.copytree(bundle.place, tmp_path / "edited"))
    receipts = place / "receipts.jsonl"
    receipts.write_bytes(receipts.read_bytes().replace(b'"success":false', b'"success":true', 1))
    return place


def findings(call, *given, **named):
    with pytest.raises(sl.Rejected) as raised:
        call(*given, **named)
    return [one.code for one in raised.value.diagnostics]


def test_every_public_name_is_there_and_listed():
    assert {name for name in sl.__all__ if not hasattr(sl, name)} == set()
    assert dir(sl) == sorted(sl.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        sl.nothing  # noqa: B018 - reading it is what is tested


def test_a_run_is_read_back_and_verified(bundle):
    assert (bundle.kind, bundle.name, bundle.verdict) == ("scenario", "climb", "PASS")
    assert sl.verify(bundle).verdict == "PASS"
    assert sl.verify(bundle.place, replay=False).verdict == "INCONCLUSIVE"
    assert sl.verify(bundle, levels=["L4"]).verdict == "PASS"
    assert sl.verify(bundle, levels=["L1"]).verdict == "INCONCLUSIVE"


def test_receipts_are_records_of_the_lines(bundle):
    lines = map(json.loads, (bundle.place / "receipts.jsonl").read_text(encoding="utf-8").splitlines())
    assert list(bundle.receipts()) == [{"seq": one["seq"], "type": one["type"], **one["body"]} for one in lines]


@pytest.mark.medium
@pytest.mark.parametrize("target", [str(CLIMB / "climb.yaml"), "axion-basic"])
def test_steps_have_the_columns_and_their_types(target, tmp_path):
    bundle = sl.run(target, tmp_path / "run", set={"episodes": 1, "horizon": 4})
    steps = list(bundle.steps())
    assert len(steps) == sum(one["type"] == "step" for one in bundle.receipts()) > 0
    for step in steps:
        assert step.keys() == STEP_COLUMNS.keys()
        typed = {name: type_ for name, type_ in STEP_COLUMNS.items() if type_ in TYPES and step[name] is not None}
        assert {name: type(step[name]) for name in typed} == {name: TYPES[type_] for name, type_ in typed.items()}


def test_steps_are_an_arrow_table(bundle):
    table = bundle.to_arrow()
    assert {field.name: str(field.type) for field in table.schema} == STEP_COLUMNS
    assert table.column("cost").to_pylist() == [step["cost"] for step in bundle.steps()]
    assert [json.loads(one) for one in table.column("rejected").to_pylist()] == [s["rejected"] for s in bundle.steps()]


def test_a_missing_extra_is_named(bundle, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert findings(bundle.to_arrow) == ["E_ARROW_PACKAGE"]


def test_new_values_are_those_of_the_command_line(tmp_path):
    (case,) = sl.load(CLIMB / "climb.yaml", set={"horizon": 3, "agent.with.fear": 2})
    assert case.document["specs"][case.document["root"]]["horizon"] == 3
    assert sl.run(case, tmp_path / "run").manifest["specs"] == case.digest
    with pytest.raises(ValueError, match="load"):
        sl.run(case, tmp_path / "run", set={"horizon": 4})


def test_a_matrix_has_several_cases(tmp_path):
    scenario = (CLIMB / "climb.yaml").read_text(encoding="utf-8")
    folder = Path(shutil.copytree(CLIMB, tmp_path / "climb"))
    (folder / "both.yaml").write_text(
        scenario.replace("name: climb\n", "name: both\nparams: {most: {type: int}}\nmatrix: {most: [3, 4]}\n").replace(
            "horizon: 3", 'horizon: "${most}"'
        ),
        encoding="utf-8",
    )
    assert [case.case for case in sl.load(folder / "both.yaml")] == ["most=3", "most=4"]
    assert findings(sl.run, folder / "both.yaml", tmp_path / "out") == ["E_CASES"]


def test_failures_are_one_exception_with_findings(edited, tmp_path):
    assert findings(sl.load, "no-such-spec") == ["E_REF_MISSING"]
    assert findings(lambda: sl.Bundle(tmp_path / "nothing").verdict) == ["E_NO_EVIDENCE"]
    assert findings(lambda: list(sl.Bundle(edited).steps())) == ["E_FILES"]
    assert findings(sl.report, edited) == ["E_FILES"]
    assert sl.verify(edited).verdict == "FAIL"


def test_a_notebook_shows_verdict_and_checks_escaped(bundle, tmp_path):
    shown = sl.Bundle(shutil.copytree(bundle.place, tmp_path / "<script>"))._repr_html_()
    assert "<b>climb: PASS</b>" in shown
    assert "invariant/" in shown
    assert "<script>" not in shown


@pytest.mark.parametrize(("format_", "begins"), [("html", "<!doctype html>"), ("markdown", "# `climb`"), ("json", "{")])
def test_a_report_is_text(bundle, format_, begins):
    assert sl.report(bundle, format=format_).lower().startswith(begins)


def test_a_report_of_the_wrong_number_of_bundles_is_a_wrong_argument(bundle):
    for bundles, format_ in (((), "html"), ((bundle, bundle), "svg"), ((bundle,), "folder"), ((bundle,), "pdf")):
        with pytest.raises(ValueError, match="format"):
            sl.report(*bundles, format=format_)


def test_a_report_may_be_of_several_bundles(bundle):
    assert sl.report(bundle, bundle, format="markdown").count("# `climb`") >= 2


def test_a_picture_is_of_one_bundle_without_a_profile(bundle):
    with pytest.raises(ValueError, match="one bundle without a profile"):
        sl.report(bundle, format="svg", profile="toy-pseudo-axion", episode=0)


def test_a_picture_is_of_one_bundle_that_has_one(bundle):
    assert findings(lambda: sl.report(bundle, format="svg")) == ["E_PICTURE_NONE"]


def test_an_agent_from_outside_is_not_executed_unless_it_is_trusted(tmp_path):
    marker = tmp_path / "started"
    agent = {"command": [sys.executable, "-c", f"open({str(marker)!r}, 'w')"]}
    path = write_specs(tmp_path, NUMBER | {"agent": {"outside": agent}})
    assert findings(sl.run, path, tmp_path / "out") == ["E_AGENT_UNTRUSTED"]
    assert not marker.exists()


def evaluate(cell, names):
    """Run a cell as a notebook does: the value of its last line, if that is an expression."""
    *head, last = ast.parse(cell).body
    shown = isinstance(last, ast.Expr)
    exec(compile(ast.Module(head if shown else [*head, last], []), "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if shown else None


@pytest.mark.medium
def test_the_notebook_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    names: dict[str, object] = {}
    values = [evaluate(cell["source"], names) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert "PASS" in values[0]._repr_html_()
    assert values[1]["proposed"] == 5
    assert values[2]
    assert values[3][-1][2] == "passed"
    assert values[4][1] > 0
    assert values[5] == "FAIL"


@pytest.mark.medium
def test_the_examples_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(block, "<page>", "exec"), names)
    assert capsys.readouterr().out.split()[0] == "PASS"
    assert Path("hazard.html").exists()


@pytest.mark.medium
def test_the_queries_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bundle = sl.run("hazard", "out/hazard", set={"horizon": 20})
    costs, reasons = (
        duckdb.execute(query).fetchall() for query in re.findall(r"^```sql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    )
    assert sum(row[2] for row in costs) == sum(step["cost"] for step in bundle.steps())
    counted = sum(one["count"] for step in bundle.steps() for one in step["rejected"])
    assert sum(row[2] for row in reasons) == counted > 0


@pytest.mark.medium
def test_probes_are_records(tmp_path):
    made = sl.run("axion-panel", tmp_path / "panel", set={"horizon": 3})
    records = list(made.probes())
    assert records
    assert all(tuple(record) == PROBE_COLUMNS for record in records)
    judged = [record for record in records if record["probe"] == "p5-predictions"]
    assert [(record["verdict"], record["asked"], record["held"], record["same"]) for record in judged] == [
        ("PASS", 3, 3, 1)
    ]
    assert {record["verdict"] for record in records} == {"PASS"}
    offered = [record for record in records if record["probe"] == "p3-audit"]
    assert [(record["asked"], record["held"], record["same"]) for record in offered] == [(0, 0, 0)], (
        "it asks nothing again"
    )


EVIDENCE: dict[str, tuple[dict[str, Any], tuple[int, int, int]]] = {
    "nothing": ({}, (0, 0, 0)),
    "an offer": ({"taken": False}, (0, 0, 0)),
    "changes": (
        {"trials": [{"held": held} for held in (True, None, False, True, None)], "null": {"asked": 4, "changed": 1}},
        (3, 2, 4),
    ),
}


@pytest.mark.parametrize(("evidence", "counts"), EVIDENCE.values(), ids=EVIDENCE)
def test_a_change_that_was_not_asked_about_does_not_count(evidence, counts):
    receipt = {**dict.fromkeys(PROBE_COLUMNS), "type": "probe", "evidence": evidence}
    run: Any = SimpleNamespace(receipts=lambda: [{"type": "step"}, receipt])
    (record,) = sl.Bundle.probes(run)
    assert tuple(record[name] for name in ("asked", "held", "same")) == counts


@pytest.mark.medium
def test_a_reference_may_be_an_absolute_path(tmp_path):
    agent = tmp_path / "mine.yaml"
    agent.write_text("spec: agent/v1\nname: mine\nextends: honest\n")
    made = sl.run("axion-basic", tmp_path / "out", set={"agent": str(agent), "horizon": 1})
    assert (made.verdict, made.place.joinpath("specs/agent/mine.yaml").is_file()) == ("PASS", True)


def test_a_run_without_probes_has_no_records_of_them(bundle):
    assert list(bundle.probes()) == []


def test_a_run_makes_the_folders_above_its_own(tmp_path):
    place = sl.run(CLIMB / "climb.yaml", tmp_path / "a/b/climb", set={"episodes": 1, "horizon": 1}).place
    assert place == tmp_path / "a/b/climb"
    assert (place / "manifest.json").is_file()
