"""What a reader trusts is read strictly: whatever is not exactly right is refused, and never guessed."""

import base64
import hashlib
import json

import pytest

from specledger.core.diagnostics import Rejected
from specledger.evidence.keys import is_weak, verify
from specledger.verify.trust import MAX_TRUST, Seen, _Document, read_trust
from tools import verify as tool

RAW = [bytes([number]) * 32 for number in range(7, 10)]
RUN, SPECS = "ab" * 16, "cd" * 32


def key(raw):
    return {"id": hashlib.sha256(raw).hexdigest(), "public": base64.b64encode(raw).decode()}


def document(**changes):
    whole = {"format": "specledger/trust/v1", "origin": "lab/{run}", "keys": [key(RAW[0]), key(RAW[1])], "threshold": 2}
    return {name: value for name, value in (whole | changes).items() if value is not ...}


def read(tmp_path, data):
    path = tmp_path / "trust.json"
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data, indent=2).encode())
    return read_trust(path)


def test_what_is_right_is_read(tmp_path):
    head = {"size": 7, "root": "ef" * 32}
    trust = read(tmp_path, document(run=RUN, specs=SPECS, checkpoint=head))
    assert trust.keys == {key(raw)["id"]: raw for raw in RAW[:2]}
    assert (trust.threshold, trust.run, trust.specs) == (2, RUN, SPECS)
    assert trust.origin_for(RUN) == f"lab/{RUN}"
    assert trust.seen == Seen(7, bytes.fromhex("ef" * 32))


@pytest.mark.parametrize("recording", [SPECS, [SPECS], [SPECS, "ab" * 32]], ids=["one", "a list of one", "two"])
def test_one_recording_or_several_are_read_and_sorted(tmp_path, recording):
    trust = read(tmp_path, document(recording=recording))
    assert trust.recording == tuple(sorted([recording] if isinstance(recording, str) else recording))
    assert trust.expects


WRONG = {
    "not there": (None, "No such file"),
    "no JSON": (b"{", ""),
    "no UTF-8": (b"\xff", "utf-8"),
    "too large": (b" " * (MAX_TRUST + 1), "more than"),
    "nested": (b"[" * 100_000, ""),
    "a key twice": (b'{"format": 1, "format": 2}', "duplicate"),
    "a fraction": (json.dumps(document(threshold=1.0)).encode(), "Expected `int`, got `float`"),
    "not a number": (b'{"threshold": NaN}', "not a JSON number"),
    "a list": ([], "Expected `object`, got `array`"),
    "an unknown field": (document(more=1), "unknown"),
    "a missing field": (document(origin=...), "missing required field `origin`"),
    "another format": (document(format="specledger/trust/v2"), "format"),
    "an origin with a space": (document(origin="a b"), "origin"),
    "an origin with another name in braces": (document(origin="lab/{rum}"), "braces only in `{run}`"),
    "an origin that is no text": (document(origin=1), "origin"),
    "no keys": (document(keys=[]), "length >= 1 - at `$.keys`"),
    "keys that are no list": (document(keys={}), "Expected `array`"),
    "a key with a further field": (document(keys=[key(RAW[0]) | {"name": "x"}], threshold=1), "unknown field `name`"),
    "a key that is no text": (document(keys=[{"id": "", "public": 1}], threshold=1), "$.keys[0].public"),
    "a key that is no base64": (document(keys=[{"id": "", "public": "-"}], threshold=1), "base64"),
    "too many keys": (document(keys=[key(bytes([at]) * 32) for at in range(7, 24)]), "length <= 16"),
    "a short key": (document(keys=[key(b"short")], threshold=1), "5 bytes"),
    "an id of another key": (document(keys=[key(RAW[0]) | {"id": key(RAW[1])["id"]}], threshold=1), "SHA-256"),
    "an id in capitals": (document(keys=[key(RAW[0]) | {"id": key(RAW[0])["id"].upper()}], threshold=1), "SHA-256"),
    "one key twice": (document(keys=[key(RAW[0]), key(RAW[0])]), "twice"),
    "no threshold": (document(threshold=0), "threshold"),
    "a threshold beyond the keys": (document(threshold=3), "threshold"),
    "a threshold that is a truth value": (document(threshold=True), "threshold"),
    "a run in capitals": (document(run=RUN.upper()), "{32}"),
    "a run that is null": (document(run=None), "$.run"),
    "specs that are short": (document(specs="cd"), "{64}"),
    "a recording that is short": (document(recording="cd"), "$.recording"),
    "a recording that is short in a list": (document(recording=[SPECS, "cd"]), "$.recording[1]"),
    "a recording that is null": (document(recording=None), "$.recording"),
    "no recordings": (document(recording=[]), "$.recording"),
    "no recordings of runs": (document(recording={}), "$.recording"),
    "a recording of a run that is short": (document(recording={"a": "cd"}), "$.recording"),
    "a recording twice": (document(recording=[SPECS, SPECS]), "a recording stands there twice"),
    "no programs": (document(program=[]), "$.program"),
    "a program without files": (document(program={"command": ["python3"]}), "$.program"),
    "a program of no words": (document(program={"command": [], "files": {"a.py": SPECS}}), "$.program"),
    "a program of another digest": (document(program={"command": ["a"], "files": {"a.py": "cd"}}), "$.program"),
    "a program twice": (document(program=[{"command": ["a"], "files": {"a.py": SPECS}}] * 2), "a program stands there twice"),
    "a checkpoint without a root": (document(checkpoint={"size": 1}), "missing required field `root`"),
    "a checkpoint of a negative size": (document(checkpoint={"size": -1, "root": SPECS}), "size"),
    "a checkpoint of a size that no log has": (document(checkpoint={"size": 2**53, "root": SPECS}), "size"),
    "a checkpoint of a true size": (document(checkpoint={"size": True, "root": SPECS}), "size"),
    "a checkpoint with a short root": (document(checkpoint={"size": 1, "root": "cd"}), "root"),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name, (data, _) in WRONG.items() if isinstance(data, dict)])
def test_the_second_verifier_refuses_the_same_trust_files(tmp_path, name):
    path = tmp_path / "trust.json"
    path.write_text(json.dumps(WRONG[name][0]))
    with pytest.raises(tool.NoEvidence) as error:
        tool.brought(path, "E_TRUST", tool.read_trust)
    assert error.value.code == "E_TRUST"


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused(tmp_path, name):
    data, why = WRONG[name]
    with pytest.raises(Rejected) as error:
        read_trust(tmp_path / "none") if data is None else read(tmp_path, data)
    (found,) = error.value.diagnostics
    assert found.code == "E_TRUST"
    assert why in found.message


IDENTITY = bytes([1]) + bytes(31)
WEAK = {
    "the identity": IDENTITY,
    "of order 2": bytes.fromhex("ec" + "ff" * 30 + "7f"),
    "of order 4": bytes(32),
    "of order 4, the other": bytes(31) + bytes([128]),
    "of order 8": bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85"),
    "of order 8, another": bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
    "the identity, spelled otherwise": bytes.fromhex("ee" + "ff" * 30 + "7f"),
}


@pytest.mark.parametrize("raw", WEAK.values(), ids=WEAK)
def test_a_key_in_whose_name_anybody_can_sign_is_no_key_to_trust(tmp_path, raw):
    """The order of its point is small, so there are signatures that need no private key."""
    with pytest.raises(Rejected, match="anybody can sign"):
        read(tmp_path, document(keys=[key(raw)], threshold=1))
    with pytest.raises(tool.NoEvidence, match="anybody can sign"):
        tool.brought(tmp_path / "trust.json", "E_TRUST", tool.read_trust)


def test_signatures_in_the_name_of_a_weak_key_need_no_private_key():
    assert verify(IDENTITY, IDENTITY + bytes(32), b"anything")
    assert not is_weak(RAW[0])


def test_a_key_in_place_of_a_trust_file_is_told_how_one_is_made(spec, tmp_path):
    spec("keys", "new", tmp_path / "key.pem")
    for name in ("key.pem", "key.pem.pub"):
        done = spec("verify", tmp_path, "--trust", tmp_path / name)
        assert (done.status, done.out) == (2, "")
        assert f"{name} is no trust file: it is a key" in done.err
        assert f"`spec keys show {tmp_path / name} --trust --out trust.json`" in done.err.replace("\n", " ")
        with pytest.raises(tool.NoEvidence, match="it is a key"):
            tool.brought(tmp_path / name, "E_TRUST", tool.read_trust)


def test_a_folder_in_place_of_a_recording_is_told_what_prints_its_digest(spec, tmp_path):
    spec("keys", "new", tmp_path / "key.pem")
    done = spec("keys", "show", tmp_path / "key.pem", "--trust", "--recording", tmp_path)
    assert done.status == 2
    assert f"`spec import {tmp_path} --out lines.jsonl`" in done.err.replace("\n", " ")


def test_the_explanation_names_every_key_of_a_trust_file(spec):
    text = spec("explain", "E_TRUST").out
    assert [name for name in _Document.__struct_fields__ if name not in text] == []
