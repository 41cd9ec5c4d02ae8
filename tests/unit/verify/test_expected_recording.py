"""Which logs were judged is expected by the trust file, signed, printed and compared, by both verifiers alike."""

import base64
import contextlib
import io
import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from specledger.core.digest import file_digest
from specledger.evidence.keys import trust_document
from specledger.evidence.layout import ATTESTATION, GUIDE
from specledger.evidence.seal import UNSIGNED, Seal
from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.verify.assurance_levels import Reader, as_json, headline
from specledger.verify.check_names import EXPECTED
from specledger.verify.established import compared_words
from specledger.verify.fork import read_against
from specledger.verify.proof import verify_proof
from specledger.verify.trust import read_trust
from tests.pins import ROOT
from tests.toys.suites import suite_of_calls
from tests.unit.verify.conftest import ALICE
from tools import verify as tool
from tools.conformance import PLACE

OTHER = "0" * 64


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Signed bundles: a run of logs, a suite of it, and a run without logs."""
    folder = tmp_path_factory.mktemp("recordings")
    suite = suite_of_calls(folder, "clerks", logs="recorded-clerk")
    targets = {"logs": "recorded-clerk", "suite": suite, "none": "tests/toys/climb/climb.yaml"}
    for name, target in targets.items():
        (bundle,) = load_runs([target], [])
        execute(bundle, folder / name)
        Seal(ALICE).attach(folder / name)
    return folder


@pytest.fixture(scope="module")
def recording(places):
    """The digest of the logs."""
    return first_receipt(places / "logs")["recording"]["digest"]


def first_receipt(place):
    with (place / "receipts.jsonl").open() as lines:
        return json.loads(next(lines))["body"]


def trust(tmp_path, **expected):
    path = tmp_path / "trust.json"
    path.write_text(json.dumps(trust_document(ALICE.public, "specledger/{run}", expected)))
    return path


def by_tool(place, path):
    """The exit code of the second verifier, and what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = tool.main([str(place), *(["--trust", str(path)] if path else []), "--json"])
    return code, json.loads(printed.getvalue())


EXPECTED_LOGS = {
    "these": ("logs", lambda own: own, None),
    "these, in a list": ("logs", lambda own: [own], None),
    "others": ("logs", lambda own: OTHER, "the recording is {own}, expected is {other}"),
    "these and others": ("logs", lambda own: [own, OTHER], "the recording is {own}, expected is {other}, {own}"),
    "those of a suite": ("suite", lambda own: own, None),
    "others than those of a suite": ("suite", lambda own: OTHER, "the recording is {own}, expected is {other}"),
    "some where there are none": ("none", lambda own: own, "the recording is none, since the bundle holds no trajectories.jsonl, expected is {own}"),
}  # fmt: skip


@pytest.mark.parametrize(("base", "make", "said"), EXPECTED_LOGS.values(), ids=EXPECTED_LOGS)
def test_a_bundle_of_other_logs_is_refused_by_both(places, recording, tmp_path, base, make, said):
    path = trust(tmp_path, recording=make(recording))
    found = verify(places / base, reader=Reader(replay=False, trust=read_trust(path)))
    code, told = by_tool(places / base, path)
    refused = [check.code for check in found.checks if check.status == "failed"]
    assert refused == [check["code"] for check in told["checks"] if check["status"] == "failed"]
    assert (refused, code) == ([] if said is None else ["E_EXPECTED"], int(said is not None))
    (message,) = [check.message or "" for check in found.checks if check.number == EXPECTED.number]
    (also,) = [check["message"] for check in told["checks"] if check["number"] == EXPECTED.number]
    assert message.replace("specs' digest", "specs") == also
    assert message == said.format(own=recording, other=OTHER) if said else f"recording {recording}" in message


@pytest.mark.parametrize("base", ["logs", "suite", "none"])
def test_who_expects_no_recording_is_told_that_any_will_do(places, tmp_path, base):
    path = trust(tmp_path)
    found = verify(places / base, reader=Reader(replay=False, trust=read_trust(path)))
    (message,) = [check.message or "" for check in found.checks if check.number == EXPECTED.number]
    assert ("recording can be any" in message) == (base != "none")
    assert ("recording can be any" in json.dumps(by_tool(places / base, path)[1])) == (base != "none")


@pytest.mark.parametrize("base", ["logs", "suite", "none"])
def test_the_recording_is_a_fact_and_signed_and_in_the_guide(places, recording, tmp_path, base):
    wanted = [] if base == "none" else [recording]
    found = verify(places / base, reader=Reader(replay=False))
    assert found.facts["recorded"].get("recording", []) == wanted
    assert by_tool(places / base, trust(tmp_path))[1]["recorded"].get("recording", []) == wanted
    payload = json.loads(base64.b64decode(json.loads((places / base / ATTESTATION).read_bytes())["payload"]))
    configured = payload["predicate"]["configuration"]
    files = {file_digest(path) for path in (places / base).rglob("trajectories.jsonl")}
    assert {one["digest"]["sha256"] for one in configured if one["name"] == "trajectories.jsonl"} == files
    assert bool(files) == bool(wanted)
    assert (recording in (places / base / GUIDE).read_text()) == bool(wanted)


@pytest.mark.parametrize("base", ["logs", "suite"])
def test_a_statement_without_the_logs_is_refused_by_both(places, tmp_path, base):
    place = shutil.copytree(places / base, tmp_path / "bundle")
    for name in ("sha256sums", GUIDE):
        (place / name).unlink()
    envelope = json.loads((place / ATTESTATION).read_bytes())
    statement = json.loads(base64.b64decode(envelope["payload"]))
    del statement["predicate"]["configuration"][1:]
    payload = tool.canonical(statement)
    signed = b"DSSEv1 28 application/vnd.in-toto+json %d %b" % (len(payload), payload)
    envelope["payload"] = base64.b64encode(payload).decode()
    envelope["signatures"][0]["sig"] = base64.b64encode(ALICE.sign(signed)).decode()
    (place / ATTESTATION).write_bytes(tool.canonical(envelope) + b"\n")
    found = verify(place, reader=Reader(replay=False))
    code, told = by_tool(place, trust(tmp_path))
    assert [check.code for check in found.checks if check.status == "failed"] == ["E_ENVELOPE"]
    assert (code, told["checks"][-1]["code"]) == (1, "E_ENVELOPE")


PROOFS = {
    "these": ("logs", 0, True, "PASS"),
    "others": ("logs", 0, False, "FAIL"),
    "another receipt": ("logs", 1, True, "INCONCLUSIVE"),
    "a suite": ("suite", 0, True, "INCONCLUSIVE"),
}


@pytest.mark.parametrize(("base", "seq", "own", "verdict"), PROOFS.values(), ids=PROOFS)
def test_the_first_receipt_says_which_logs_a_proof_is_about(places, recording, tmp_path, base, seq, own, verdict):
    place = places / base
    proof = verify(place, reader=Reader(replay=False, proof=seq)).facts["proof"]
    (tmp_path / "proof.json").write_text(json.dumps(proof))
    expected = read_trust(trust(tmp_path, recording=recording if own else OTHER))
    seen = read_against(place / "checkpoint")
    found = verify_proof(tmp_path / "proof.json", Reader(trust=expected, against=(seen,)))
    assert found.verdict.value == verdict, headline(found)


def test_an_import_prints_the_digest_that_evidence_of_the_logs_has(spec, tmp_path):
    logs = Path("fixtures/trajectories/openai")
    done = spec("import", logs, "--out", tmp_path / "lines.jsonl")
    printed = next(line for line in done.err.splitlines() if line.startswith("recording "))
    assert spec("scan", logs, "--out", tmp_path / "scan").status != 2
    assert printed.split()[1] == first_receipt(tmp_path / "scan")["recording"]["digest"]


def scanned(spec, place, logs):
    """The digest of the recording in evidence about logs by the names of their files, which both verifiers find."""
    for name, text in logs.items():
        (place / "logs" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "logs" / name).write_text(text)
    assert spec("scan", place / "logs", "--out", place / "scan").status != 2
    found = verify(place / "scan", reader=Reader(replay=False))
    assert found.intact
    told = by_tool(place / "scan", None)[1]["recorded"]["recording"]
    assert told == found.facts["recorded"]["recording"] == [first_receipt(place / "scan")["recording"]["digest"]]
    assert "what the logs were called" in " ".join(by_tool(place / "scan", None)[1]["not_checked"])
    assert "what its logs were called" in " ".join(found.unchecked)
    return told[0]


def chat(*words, **own):
    call = {"id": "1", "type": "function", "function": {"name": "say", "arguments": json.dumps({"words": words})}}
    return json.dumps({**own, "messages": [{"role": "assistant", "tool_calls": [call]}]}) + "\n"


LOGS = {"a.jsonl": chat("yes") + chat("no"), "b.jsonl": chat("perhaps"), "c.jsonl": chat("well", id="own")}
ALTERED = {
    "renamed": (dict(zip(["k", "l.txt", "m/n"], LOGS.values(), strict=True)), True),
    "in another order": (dict(zip("cba", LOGS.values(), strict=True)), False),
    "another word": ({**LOGS, "b.jsonl": chat("never")}, False),
    "one less": ({"a.jsonl": LOGS["a.jsonl"], "c.jsonl": LOGS["c.jsonl"]}, False),
    "another id": ({**LOGS, "c.jsonl": chat("well", id="other")}, False),
    "an id of a file": ({**LOGS, "c.jsonl": chat("well", id="c.jsonl")}, False),
}


@pytest.mark.parametrize(("logs", "same"), ALTERED.values(), ids=ALTERED)
def test_the_digest_of_a_recording_is_over_what_was_judged_and_no_name_of_a_file(spec, tmp_path, logs, same):
    assert (scanned(spec, tmp_path / "first", LOGS) == scanned(spec, tmp_path / "second", logs)) == same


def test_two_files_of_one_name_in_two_folders_are_renamed_without_another_digest(spec, tmp_path):
    digests = set()
    for first, second in (("x/log", "y/log"), ("x/one", "y/two")):
        for name, text in ((first, "yes"), (second, "no")):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(chat(text))
        done = spec("import", tmp_path / first, tmp_path / second, "--out", tmp_path / "lines.jsonl")
        digests |= {line for line in done.err.splitlines() if line.startswith("recording ")}
    assert len(digests) == 1


def test_a_trust_file_of_expectations_is_written(spec, tmp_path, recording):
    spec("keys", "new", tmp_path / "key.pem")
    words = ["keys", "show", tmp_path / "key.pem", "--trust", "--run", "ab" * 16, "--specs", "cd" * 32]
    made = spec(*words, "--recording", recording).json
    assert (made["run"], made["specs"], made["recording"]) == ("ab" * 16, "cd" * 32, recording)
    assert spec(*words, "--recording", recording, "--recording", OTHER).json["recording"] == [recording, OTHER]
    for wrong in (["--recording", "ab"], ["--recording", recording, "--recording", recording]):
        assert "E_USAGE" in spec(*words, *wrong).err
    assert "--recording is part of a trust.json" in spec("keys", "show", tmp_path / "key.pem", "--recording", OTHER).err


@pytest.mark.parametrize(("base", "answered"), [("outside", True), ("taped", True), ("climb", False)])
def test_a_guide_says_what_binds_the_program_that_answered(tmp_path, base, answered):
    place = shutil.copytree(PLACE / "bases" / base, tmp_path / base)
    UNSIGNED.attach(place)
    text = (place / GUIDE).read_text()
    assert ("## Who answered" in text) == answered
    assert ("find . -name tape.jsonl -exec head -n 1 {} \\; | jq .programs" in text) == answered
    assert verify(place, reader=Reader(replay=False)).intact


def test_who_signed_is_a_fact_for_programs(places, tmp_path):
    trusting_alice = read_trust(trust(tmp_path))
    origin = f"specledger/{json.loads((places / 'none' / 'manifest.json').read_bytes())['run']}"
    for reader, trusted, others in ((None, [], [ALICE.id]), (trusting_alice, [ALICE.id], [])):
        found = verify(places / "none", reader=Reader(replay=False, trust=reader))
        assert found.facts["signers"] == {"origin": origin, "trusted": trusted, "others": others}


def test_intact_evidence_that_the_trust_file_does_not_name_is_not_called_false(spec, places, tmp_path):
    path = trust(tmp_path, recording=OTHER)
    done = spec("verify", places / "logs", "--trust", path)
    assert done.status == 1
    assert done.out.splitlines()[-1].endswith(": NOT THE EXPECTED EVIDENCE [E_EXPECTED].")
    assert "or correct the trust file" in done.out
    assert "REFUTED" not in done.out + spec("verify", places / "logs", places / "logs", "--trust", path).out
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert tool.main([str(places / "logs"), "--trust", str(path)]) == 1
    assert printed.getvalue().startswith("NOT THE EXPECTED EVIDENCE: ")


@pytest.fixture(scope="module")
def arms(tmp_path_factory):
    """A suite of two recordings, which are judged by a run each."""
    folder = tmp_path_factory.mktemp("arms")
    (bundle,) = load_runs([suite_of_calls(folder, "arms", calls="recorded-calls", clerk="recorded-clerk")], [])
    execute(bundle, folder / "arms")
    return folder / "arms"


def messages(place, path):
    """What both verifiers say of what is expected, and whether they refuse it."""
    found = verify(place, reader=Reader(replay=False, trust=read_trust(path)))
    code, told = by_tool(place, path)
    assert found.intact == (code != 1)
    (message,) = [check.message or "" for check in found.checks if check.number == EXPECTED.number]
    (also,) = [check["message"] for check in told["checks"] if check["number"] == EXPECTED.number]
    assert message.replace("specs' digest", "specs") == also
    return found.intact, message


def test_of_a_suite_of_several_recordings_both_say_that_their_runs_are_not_compared(arms, tmp_path):
    facts = verify(arms, reader=Reader(replay=False)).facts["recorded"]
    told = by_tool(arms, None)[1]["recorded"]
    assert (facts["recording"], facts["recordings"]) == (told["recording"], told["recordings"])
    assert sorted(facts["recordings"].values()) == facts["recording"]
    schema = json.loads((ROOT / "schemas/results/verification.schema.json").read_bytes())
    jsonschema.validate(as_json(verify(arms, reader=Reader(replay=False)), "x"), schema)
    printed = "".join(f", recording of {run} {digest}" for run, digest in facts["recordings"].items())
    assert printed in compared_words(facts)
    held, message = messages(arms, trust(tmp_path, recording=facts["recording"]))
    assert held
    assert "; which run judged which recording is not compared; run and" in message


def test_logs_that_were_exchanged_between_runs_are_refused_where_the_trust_file_names_the_runs(arms, tmp_path):
    recordings = verify(arms, reader=Reader(replay=False)).facts["recorded"]["recordings"]
    held, message = messages(arms, trust(tmp_path, recording=recordings))
    assert held
    assert "not compared" not in message
    names, digests = zip(*recordings.items(), strict=True)
    for other in (dict(zip(names, reversed(digests), strict=True)), {names[0]: digests[0]}, {"x": OTHER}):
        held, message = messages(arms, trust(tmp_path, recording=other))
        assert not held
        assert message.endswith(f"expected is {', '.join(f'{run} {digest}' for run, digest in sorted(other.items()))}")


def test_a_run_alone_has_no_names_of_runs(places, recording, tmp_path):
    held, message = messages(places / "logs", trust(tmp_path, recording={"logs": recording}))
    assert not held
    assert "the recording is none" in message
