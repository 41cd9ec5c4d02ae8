"""What a refuted bundle claims and what of it was signed is said, and nothing of it counts."""

import json
import shutil

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.verdict import Verdict
from specledger.evidence.layout import ATTESTATION
from specledger.evidence.seal import Seal
from specledger.kinds import KINDS
from specledger.verify import claimed
from specledger.verify.assurance_levels import Reached, Reader, level_statuses
from specledger.verify.run import RUN
from tests.unit.verify.conftest import ALICE, BOB, EVE, trusting
from tests.verifying import verify_bundle


@pytest.fixture
def signed(bundles, tmp_path):
    """A bundle that Alice signed, and its place."""
    folder = shutil.copytree(bundles["small"], tmp_path / "signed")
    Seal(ALICE).attach(folder)
    return folder


def touch(path, old, new):
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))


def change_receipts(folder):
    touch(folder / "receipts.jsonl", b'"score":1', b'"score":2')


def change_verdict(folder):
    touch(folder / "manifest.json", b'"verdict":"PASS"', b'"verdict":"FAIL"')


def break_manifest(folder):
    (folder / "manifest.json").write_bytes(b"{}\n")


def change_signature(folder):
    change_receipts(folder)
    envelope = json.loads((folder / ATTESTATION).read_bytes())
    envelope["signatures"][0]["sig"] = "A" * 86 + "=="
    (folder / ATTESTATION).write_bytes(canonical_bytes(envelope) + b"\n")


def forge_statement(folder):
    change_receipts(folder)
    touch(folder / ATTESTATION, b'"payload":"', b'"payload":"AAAA')


HERE, OTHER = "manifest.json as it is here and the outcome PASSED", "another manifest.json than the one here"
SAID = {
    "a file was changed after signing": (change_receipts, [ALICE], 1, f"your trusted key {ALICE.id} signed {HERE}"),
    "the manifest was": (change_verdict, [ALICE], 1, f"your trusted key {ALICE.id} signed {OTHER}"),
    "the manifest says nothing": (break_manifest, [ALICE], 1, f"your trusted key {ALICE.id} signed {OTHER}"),
    "too few": (change_receipts, [ALICE, BOB], 2, f"key {ALICE.id}, 1 of the 2 that must, signed {HERE}"),
    "another key": (
        change_receipts,
        [EVE],
        1,
        f"none of your trusted keys signed it; the signatures claim to be over {HERE}",
    ),
    "no keys": (change_receipts, [], 1, f"(--trust): the signatures claim to be over {HERE}"),
    "a wrong signature": (change_signature, [ALICE], 1, f"key {ALICE.id} is wrong; it claims to be over {HERE}"),
    "no statement": (forge_statement, [ALICE], 1, None),
}


@pytest.mark.parametrize(("change", "keys", "threshold", "said"), SAID.values(), ids=SAID)
def test_what_was_signed_is_said_of_a_refuted_bundle(signed, change, keys, threshold, said):
    change(signed)
    trust = trusting(*keys, threshold=threshold) if keys else None
    found = verify_bundle(signed, RUN, KINDS, Reader(trust=trust))
    assert found.verdict is Verdict.FAIL
    assert all(status.status is not Reached.REACHED for status in level_statuses(found))
    told = found.facts["claimed"].get("signed")
    assert told is None if said is None else said in told


CLAIMED = {
    "receipts": (change_receipts, "PASS"),
    "the verdict": (change_verdict, "FAIL"),
    "all": (break_manifest, None),
}


@pytest.mark.parametrize(("change", "verdict"), CLAIMED.values(), ids=CLAIMED)
def test_the_claimed_verdict_is_said_where_the_manifest_can_be_read(signed, change, verdict):
    manifest = json.loads((signed / "manifest.json").read_bytes())
    change(signed)
    facts = verify_bundle(signed, RUN, KINDS, Reader()).facts["claimed"]
    assert facts.get("verdict") == verdict
    assert {facts.get("run"), facts.get("specs")} == ({manifest["run"], manifest["specs"]} if verdict else {None})


def test_intact_evidence_has_no_claims_and_unsigned_evidence_no_signers(bundles, signed, tmp_path):
    assert "claimed" not in verify_bundle(signed, RUN, KINDS, Reader()).facts
    unsigned = shutil.copytree(bundles["small"], tmp_path / "unsigned")
    change_receipts(unsigned)
    facts = verify_bundle(unsigned, RUN, KINDS, Reader(trust=trusting(ALICE))).facts["claimed"]
    assert "signed" not in facts


@pytest.mark.parametrize("data", [b"[]\n", b"\xff", b'{"result":{"verdict":"\\u001b"}}\n', b""], ids=repr)
def test_hostile_manifests_claim_nothing(tmp_path, data):
    (tmp_path / "manifest.json").write_bytes(data)
    assert claimed.claims_of(tmp_path) is None


def test_signatures_that_nothing_here_can_verify_are_not_checked(signed, monkeypatch):
    def refuse(*_):
        raise Rejected([Diagnostic("E_FINDINGS", "the extra `sign` is not installed")])

    change_receipts(signed)
    monkeypatch.setattr(claimed, "envelope_signers", refuse)
    said = verify_bundle(signed, RUN, KINDS, Reader(trust=trusting(ALICE))).facts["claimed"]["signed"]
    assert said == f"not checked (the extra `sign` is not installed): the signatures claim to be over {HERE}"
