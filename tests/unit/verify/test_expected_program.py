"""Which program answered is expected by the trust file and printed by both verifiers alike."""

import hashlib
import json
from typing import Any

import jsonschema
import pytest

from specledger.evidence.keys import trust_document
from specledger.pipeline.verifying import verify
from specledger.verify.assurance_levels import Reader, as_json
from specledger.verify.check_names import EXPECTED
from specledger.verify.proof import verify_proof
from specledger.verify.trust import read_trust
from tests.pins import ROOT
from tests.unit.verify.conftest import ALICE
from tests.unit.verify.test_expected_recording import by_tool
from tools.conformance import PLACE

OTHER = "0" * 64
DIGEST = "88aef67776e3f17618f3e4b22f5a2f4e05854dce190d52999db7273c28c71425"
OWN: dict[str, Any] = {"command": ["python3", "walker.py"], "files": {"walker.py": DIGEST}}
WORDS = f"`python3 walker.py` with walker.py {DIGEST}"


def trust(tmp_path, program):
    path = tmp_path / "trust.json"
    expected = {} if program is None else {"program": program}
    path.write_text(json.dumps(trust_document(ALICE.public, "specledger/{run}", expected)))
    return path


EXPECTED_PROGRAMS: dict[str, tuple[str, Any, str | None]] = {
    "this": ("outside", OWN, None),
    "this, in a list": ("outside", [OWN], None),
    "another file": ("outside", {**OWN, "files": {"walker.py": OTHER}}, f"the program is {WORDS}, expected is `python3 walker.py` with walker.py {OTHER}"),
    "another command": ("outside", {**OWN, "command": ["python3", "-B", "walker.py"]}, f"the program is {WORDS}, expected is `python3 -B walker.py` with walker.py {DIGEST}"),
    "a word less that looks alike": ("outside", {**OWN, "command": ["python3 walker.py"]}, f"the program is {WORDS}, expected is `'python3 walker.py'` with walker.py {DIGEST}"),
    "no file": ("outside", {**OWN, "files": {}}, f"the program is {WORDS}, expected is `python3 walker.py` with no file of it"),
    "a function": ("outside", {"python": "walker:ask", "files": OWN["files"]}, f"the program is {WORDS}, expected is `walker:ask` with walker.py {DIGEST}"),
    "one more": ("outside", [OWN, {"python": "walker:ask", "files": {}}], f"the program is {WORDS}, expected is {WORDS}, `walker:ask` with no file of it"),
    "some where nobody was asked": ("climb", OWN, f"the program is none, since no program answered, expected is {WORDS}"),
}  # fmt: skip


@pytest.mark.parametrize(("base", "program", "said"), EXPECTED_PROGRAMS.values(), ids=EXPECTED_PROGRAMS)
def test_a_bundle_of_another_program_is_refused_by_both(tmp_path, base, program, said):
    place, path = PLACE / "bases" / base, trust(tmp_path, program)
    found = verify(place, reader=Reader(replay=False, trust=read_trust(path)))
    code, told = by_tool(place, path)
    refused = [check.code for check in found.checks if check.status == "failed"]
    assert refused == [check["code"] for check in told["checks"] if check["status"] == "failed"]
    assert refused == ([] if said is None else ["E_EXPECTED"])
    assert (code == 1) == (said is not None)
    (message,) = [check.message or "" for check in found.checks if check.number == EXPECTED.number]
    (also,) = [check["message"] for check in told["checks"] if check["number"] == EXPECTED.number]
    assert message.replace("specs' digest", "specs") == also
    assert message == said if said else message.startswith(f"program {WORDS}; ")


def test_who_expects_no_program_is_told_that_any_will_do(tmp_path):
    document = trust_document(ALICE.public, "specledger/{run}", {})
    place, path = PLACE / "bases" / "outside", tmp_path / "trust.json"
    stated = json.loads((place / "manifest.json").read_bytes())["specs"]
    path.write_text(json.dumps({**document, "specs": stated}))
    found = verify(place, reader=Reader(replay=False, trust=read_trust(path)))
    (message,) = [check.message or "" for check in found.checks if check.number == EXPECTED.number]
    assert message.endswith("run and program can be any, since the trust file names none")
    assert "run and program can be any" in json.dumps(by_tool(place, path)[1])


def test_the_program_is_a_fact_of_the_published_schema_and_nothing_binds_what_it_imports():
    place = PLACE / "bases" / "outside"
    found = verify(place, reader=Reader(replay=False))
    assert found.facts["recorded"]["program"] == [OWN] == by_tool(place, None)[1]["recorded"]["program"]
    assert "program" not in verify(PLACE / "bases" / "climb", reader=Reader(replay=False)).facts["recorded"]
    schema = json.loads((ROOT / "schemas/results/verification.schema.json").read_bytes())
    jsonschema.validate(as_json(found, "x"), schema)
    assert any("not recorded: what it imports" in line for line in found.unchecked)


MALFORMED: dict[str, Any] = {
    "neither a command nor a function": {"files": {}},
    "both": {**OWN, "python": "walker:ask"},
    "no files": {"command": ["python3"]},
    "no word": {**OWN, "command": []},
    "a number": {**OWN, "command": [1]},
    "no digest": {**OWN, "files": {"walker.py": "88ae"}},
    "another key": {**OWN, "model": "x"},
    "nothing": [],
    "null": None,
    "twice": [OWN, OWN],
    "a text": "python3 walker.py",
}


@pytest.mark.parametrize("program", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_program_in_a_trust_file_is_an_error_of_use_and_no_verdict(spec, tmp_path, program):
    path = trust(tmp_path, OWN)
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "program": program}))
    place = PLACE / "bases" / "outside"
    done = spec("verify", place, "--trust", path)
    assert (done.status, done.out) == (2, "")
    assert "error[E_TRUST]" in done.err
    code, told = by_tool(place, path)
    assert (code, told["verdict"], told["code"]) == (2, None, "E_TRUST")


def test_a_trust_file_is_written_for_the_program_that_the_reader_holds(spec, tmp_path, monkeypatch):
    spec("keys", "new", tmp_path / "key.pem")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "walker.py").write_text("print()\n")
    digest = hashlib.sha256(b"print()\n").hexdigest()
    words = ["keys", "show", "key.pem", "--trust"]
    files = {"walker.py": digest}
    assert spec(*words, "--program", "python3 walker.py").json["program"] == {**OWN, "files": files}
    both = spec(*words, "--program", "walker:ask", "--program", "python3 'a b.py'").json["program"]
    assert both == [{"python": "walker:ask", "files": files}, {"command": ["python3", "a b.py"], "files": {}}]
    for wrong in ("", "'"):
        assert "E_USAGE" in spec(*words, "--program", wrong).err


def test_no_proof_of_a_receipt_says_which_program_answered(tmp_path):
    proof = verify(PLACE / "bases" / "outside", reader=Reader(replay=False, proof=0)).facts["proof"]
    (tmp_path / "proof.json").write_text(json.dumps(proof))
    found = verify_proof(tmp_path / "proof.json", Reader(trust=read_trust(trust(tmp_path, OWN))))
    assert found.verdict.value == "INCONCLUSIVE"
    assert any("verify the bundle" in (check.message or "") for check in found.checks)
