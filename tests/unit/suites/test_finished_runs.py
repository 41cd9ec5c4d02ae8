"""What a suite that ended early takes over: finished runs stay, all else in its folders is removed."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import sha256_hex
from specledger.kinds import failed_answers as failed_answers_of
from specledger.kinds.finished_runs import fault_of, remove_unfinished
from specledger.oracles.answer import RAISED, Answer

FILES = ("runs/a/1/x", "runs/a/2/x", "runs/b/1/x", "runs/odd", "controls/c/1/x", "kept/x")
CASES: Any = [SimpleNamespace(place=place) for place in ("runs/a/1", "runs/a/2", "controls/c/1")]


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def folder(tmp_path):
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("finished", "left"),
    [
        ((), ["kept/x"]),
        (("runs/a/2",), ["kept/x", "runs/a/2/x"]),
        (("runs/a/1", "runs/a/2", "controls/c/1"), ["controls/c/1/x", "kept/x", "runs/a/1/x", "runs/a/2/x"]),
    ],
)
def test_what_is_no_finished_run_is_removed_from_folders_of_runs_alone(finished, left, folder):
    remove_unfinished(folder, CASES, finished)
    assert files(folder) == left


def manifest(folder, **changes):
    (folder / "receipts.jsonl").write_bytes(b"{}\n")
    (folder / "specs.json").write_bytes(b"{}\n")
    listed = [{"path": name, "sha256": sha256_hex(b"{}\n"), "size": 3} for name in ("receipts.jsonl", "specs.json")]
    document = {"run": "r", "specs": "s", "result": {"verdict": "PASS"}, "receipts": {"count": 1}, "files": listed}
    document |= changes
    (folder / "manifest.json").write_bytes(canonical_bytes(document) + b"\n")
    return {name: document[name] for name in ("specs", "receipts", "result") if name in document} | {"run": "r"}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, None),
        ({"specs": "t"}, "it was made from other specs"),
        ({"files": []}, "listed, and missing"),
        ({"files": 7}, "`files` lists"),
    ],
)
def test_why_a_run_of_a_cluster_is_not_the_one_that_was_asked_for(changes, fault, tmp_path):
    outcome = manifest(tmp_path, **changes)
    said = fault_of(tmp_path, "s", outcome)
    assert said == fault if fault is None or fault.startswith("it") else fault.split(",")[0] in str(said)


def test_another_outcome_than_that_of_the_manifest_is_said(tmp_path):
    outcome = manifest(tmp_path)
    assert fault_of(tmp_path, "s", {**outcome, "result": {"verdict": "FAIL"}}) == "its manifest says something else"
    assert fault_of(tmp_path, "s", {}) == "its manifest is malformed (KeyError)"
    (tmp_path / "manifest.json").write_bytes(b"[]\n")
    assert fault_of(tmp_path, "s", outcome) == "its manifest is malformed (TypeError)"
    (tmp_path / "manifest.json").unlink()
    assert fault_of(tmp_path, "s", outcome) == "manifest.json is missing"


def answer(failure, why=RAISED):
    document = {"id": 1, "source": {"answer": {"failure": failure}}}
    return Answer(json.dumps(document).encode(), why)


def finished(folder, faults, *runs):
    receipts = [{"type": "start"}, *({"type": "run", "place": place, "result": {"faults": n}} for place, n in runs)]
    return SimpleNamespace(place=folder, manifest={"result": {"faults": faults}}, receipts=receipts)


FAILED = {
    "none": ((0,), {}, None),
    "no faults, whatever the tape says": ((0,), {".": ["timed_out"]}, None),
    "of the run itself": ((1,), {".": ["timed_out"]}, "1 answer failed on the way to the model (1 E_MODEL_TIMED_OUT)"),
    "of runs with faults": (
        (0, ("a", 1), ("b", 0), ("c", 2)),
        {"a": ["timed_out"], "b": ["timed_out"], "c": ["refused", "timed_out"]},
        "3 answers failed on the way to the model (1 E_MODEL_REFUSED, 2 E_MODEL_TIMED_OUT)",
    ),
    "what the model itself did": ((1,), {".": ["empty", "blocked"]}, None),
}


@pytest.mark.parametrize(("given", "tapes", "said"), FAILED.values(), ids=FAILED)
def test_how_many_answers_failed_on_the_way_to_the_model(given, tapes, said, tmp_path, monkeypatch):
    known = {(tmp_path / run).resolve(): [answer(failure) for failure in of] for run, of in tapes.items()}
    monkeypatch.setattr(failed_answers_of, "answers_of", lambda folder: known.get(folder.resolve(), []))
    monkeypatch.setattr(
        failed_answers_of,
        "model_answer",
        lambda answer: SimpleNamespace(failure=json.loads(answer.received)["source"]["answer"]["failure"]),
    )
    text = failed_answers_of.failed_answers(finished(tmp_path, *given))
    first, *rest = text.split("\n")
    assert first == ("" if said is None else f"{tmp_path}: {said}")
    assert bool(rest) == (said is not None)
    assert "--record" in text or said is None
