"""Tokens signed by Ed25519: a run signs with a key that no evidence holds, a replay verifies, a forgery is found."""

import json

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.run.loop import run
from specledger.wings.kernel.documents.signatures import E_SIGN_KEY, Signing

PRIVATE = bytes(range(32))
PUBLIC = Ed25519PrivateKey.from_private_bytes(PRIVATE).public_key().public_bytes_raw()
OTHER = bytes(range(1, 33))
VARIABLE = "KERNEL_KEY"


@pytest.fixture
def bundle(tmp_path):
    """A scenario whose kernel signs with a key from the environment."""
    return signed(tmp_path, {"variable": VARIABLE})


def signed(folder, key):
    governor = {
        "spec": "governor/v1", "name": "signing-kernel", "extends": "axion-kernel",
        "admission": {"signature": "ed25519", "public": PUBLIC.hex(), "key": key},
    }  # fmt: skip
    scenario = {
        "spec": "scenario/v1", "name": "signed", "extends": "axion-resource", "governor": "./signing-kernel.yaml",
        "episodes": 1, "horizon": 5, "probes": [],
    }  # fmt: skip
    (folder / "signing-kernel.yaml").write_text(yaml.safe_dump(governor, sort_keys=False), encoding="utf-8")
    (folder / "signed.yaml").write_text(yaml.safe_dump(scenario, sort_keys=False), encoding="utf-8")
    (case,) = load(str(folder / "signed.yaml"))
    return case


def text_of(place):
    return b"".join(path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file())


@pytest.mark.medium
def test_a_run_signs_and_a_replay_without_the_key_verifies(bundle, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, PRIVATE.hex())
    execute(bundle, tmp_path / "out")
    monkeypatch.delenv(VARIABLE)
    assert verify(tmp_path / "out").verdict == "PASS"
    entries = [json.loads(line) for line in (tmp_path / "out" / "audit.log.jsonl").read_bytes().splitlines()]
    signatures = [token["signature"] for entry in entries for token in entry["capability_tokens"]]
    assert signatures
    assert {len(signature) for signature in signatures} == {128}
    assert PRIVATE.hex().encode() not in text_of(tmp_path / "out").lower()


@pytest.mark.medium
def test_a_key_in_a_file_signs_the_same(bundle, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, PRIVATE.hex())
    (tmp_path / "key").write_text(PRIVATE.hex() + "\n", encoding="ascii")
    case = signed(tmp_path, {"file": str(tmp_path / "key")})
    made = [[event.body for event in run(compile_scenario(one)) if event.type == "audit"] for one in (bundle, case)]
    assert made[0] == made[1] != []


@pytest.mark.medium
def test_a_forged_signature_is_found(bundle, tmp_path, monkeypatch):
    """Evidence that is whole in itself, but whose signatures are another key's."""
    monkeypatch.setenv(VARIABLE, PRIVATE.hex())
    with monkeypatch.context() as forging:
        forger = Ed25519PrivateKey.from_private_bytes(OTHER)
        forging.setattr(Signing, "signer", lambda self, recorded: lambda payload: forger.sign(payload).hex())
        execute(bundle, tmp_path / "out")
    found = verify(tmp_path / "out")
    assert found.verdict == "FAIL"
    assert [check.name for check in found.checks if check.status == "failed"] == ["replay gives the same bytes"]
    assert not any(check.status == "failed" for check in verify(tmp_path / "out", replay=False).checks)


@pytest.mark.medium
def test_one_signature_for_another_token_is_found(bundle, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, PRIVATE.hex())
    plan = compile_scenario(bundle)
    events = list(run(plan))
    signatures = [t["signature"] for e in events if e.type == "audit" for t in e.body["capability_tokens"]]
    assert len(signatures) > 2
    assert list(run(replace(plan, signatures=tuple(signatures)))) == events
    swapped = (signatures[1], signatures[0], *signatures[2:])
    found = run(replace(plan, signatures=swapped))
    told = [event.body["kernel_decision"]["notes"] for event in found if event.type == "audit"]
    assert any(note.endswith("refused:bad_signature") for note in told)


@pytest.mark.parametrize(
    "content",
    [None, "", "00" * 31, "zz" * 32, OTHER.hex(), "\u0663" * 64],
    ids=["missing", "empty", "short", "no hex", "another", "other digits"],
)
@pytest.mark.parametrize("where", ["file", "variable"])
def test_a_key_that_is_not_there_is_told_and_never_shown(tmp_path, monkeypatch, where, content):
    if where == "file":
        signing = Signing(PUBLIC, file=str(tmp_path / "key"))
        if content is not None:
            (tmp_path / "key").write_text(content, encoding="utf-8")
    else:
        signing = Signing(PUBLIC, variable=VARIABLE)
        monkeypatch.delenv(VARIABLE, raising=False)
        if content is not None:
            monkeypatch.setenv(VARIABLE, content)
    with pytest.raises(Rejected) as rejected:
        signing.signer(None)
    (finding,) = rejected.value.diagnostics
    assert finding.code == E_SIGN_KEY
    assert not content or content not in finding.message


@pytest.mark.parametrize(
    "admission",
    [
        "admission.signature=ed25519",
        "admission.public=" + PUBLIC.hex(),
        "admission.key={variable: KERNEL_KEY}",
    ],
)
def test_a_signature_and_its_keys_belong_together(admission):
    with pytest.raises(Rejected):
        load("specs/scenario/axion-resource.yaml", set=[f"governor.{admission}"])
