"""What is said of a bundle that does not hold: its claims, file by file, and who signed what, in full."""

import shutil
from typing import Any

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import sha256_hex
from specledger.evidence.layout import MAX_LINE
from specledger.evidence.seal import Seal
from specledger.verify import claimed
from specledger.verify.manifest import MAX_MANIFEST
from tests.unit.verify.conftest import ALICE, BOB, EVE, trusting
from tests.unit.verify.test_claimed import change_receipts, change_signature, change_verdict, forge_statement

RUN, SPECS, LOGS = "ab" * 16, "cd" * 32, "ef" * 32
MANIFEST: Any = {"run": RUN, "specs": SPECS, "result": {"verdict": "PASS", "more": 1}, "also": [2]}
NAMED = {"verdict": "PASS", "run": RUN, "specs": SPECS}
FIRST: Any = {"body": {"recording": {"digest": LOGS, "more": 1}}, "type": "start"}


def lines(*documents):
    return b"".join(canonical_bytes(document) + b"\n" for document in documents)


# The manifest and the receipts, and what is claimed.
CLAIMS: dict[str, tuple[Any, Any, Any]] = {
    "a manifest": (lines(MANIFEST), None, NAMED),
    "without a line feed": (canonical_bytes(MANIFEST), None, NAMED),
    "with two": (lines(MANIFEST) + b"\n", None, None),
    "no manifest": (None, lines(FIRST), None),
    "another verdict": (lines({**MANIFEST, "result": {"verdict": "GOOD"}}), None, None),
    "no run": (lines({name: value for name, value in MANIFEST.items() if name != "run"}), None, None),
    "a run that is none": (lines({**MANIFEST, "run": "ab"}), None, None),
    "specs that are none": (lines({**MANIFEST, "specs": "x" * 64}), None, None),
    "logs": (lines(MANIFEST), lines(FIRST, {"type": "end"}), {**NAMED, "recording": [LOGS]}),
    "logs, without a manifest that can be read": (b"{}\n", lines(FIRST), None),
    "no logs": (lines(MANIFEST), lines({"body": {}, "type": "start"}), NAMED),
    "logs of the second line": (lines(MANIFEST), lines({"body": {}}, FIRST), NAMED),
    "a digest that is none": (lines(MANIFEST), lines({"body": {"recording": {"digest": "x"}}}), NAMED),
    "no JSON": (lines(MANIFEST), b"\xff\n", NAMED),
    "no receipts": (lines(MANIFEST), b"", NAMED),
    "a first line that is too long": (lines(MANIFEST), lines({**FIRST, "z": "a" * MAX_LINE}), NAMED),
}


@pytest.mark.parametrize(("manifest", "receipts", "claims"), CLAIMS.values(), ids=CLAIMS)
def test_what_a_bundle_claims(tmp_path, manifest, receipts, claims):
    for name, data in (("manifest.json", manifest), ("receipts.jsonl", receipts)):
        if data is not None:
            (tmp_path / name).write_bytes(data)
    assert claimed.claims_of(tmp_path) == claims
    assert claimed.claimed(tmp_path, None) == (claims or {})


def test_links_folders_and_large_files_claim_nothing(tmp_path):
    (tmp_path / "real.json").write_bytes(lines(MANIFEST))
    (tmp_path / "manifest.json").symlink_to("real.json")
    assert claimed.claims_of(tmp_path) is None
    (tmp_path / "manifest.json").unlink()
    (tmp_path / "manifest.json").mkdir()
    assert claimed.claims_of(tmp_path) is None
    (tmp_path / "manifest.json").rmdir()
    (tmp_path / "manifest.json").write_bytes(lines({**MANIFEST, "z": "a" * MAX_MANIFEST}))
    assert claimed.claims_of(tmp_path) is None
    (tmp_path / "manifest.json").write_bytes(lines(MANIFEST))
    (tmp_path / "first.jsonl").write_bytes(lines(FIRST))
    (tmp_path / "receipts.jsonl").symlink_to("first.jsonl")
    assert claimed.claims_of(tmp_path) == NAMED


@pytest.mark.parametrize(("size", "read"), [(0, 0), (9, 9), (10, 10), (11, 0)])
def test_a_file_is_read_up_to_its_limit(tmp_path, size, read):
    (tmp_path / "f").write_bytes(b"x" * size)
    assert claimed._read(tmp_path / "f", 10) == b"x" * read


@pytest.fixture(scope="module")
def attested(bundles, tmp_path_factory):
    """A bundle that Alice signed; nothing changes it."""
    folder = shutil.copytree(bundles["small"], tmp_path_factory.mktemp("attested") / "signed")
    Seal(ALICE).attach(folder)
    return folder


HERE = "manifest.json as it is here and the outcome PASSED"
CLAIM = "the signatures claim to be over"
TWO = ", ".join(sorted([ALICE.id, BOB.id]))


def other(folder):
    """What is said where another manifest was signed."""
    digest = sha256_hex((folder / "manifest.json").read_bytes())
    return f"another manifest.json than the one here, with the SHA-256 {digest} and the outcome PASSED"


# Whose keys count, how many of them must sign, and what is said.
SIGNERS = {
    "her key": ([ALICE], 1, f"your trusted key {ALICE.id} signed {HERE}"),
    "her key among others": ([EVE, ALICE], 1, f"your trusted key {ALICE.id} signed {HERE}"),
    "one of two that must": ([ALICE, BOB], 2, f"your trusted key {ALICE.id}, 1 of the 2 that must, signed {HERE}"),
    "another key": ([EVE], 1, f"none of your trusted keys signed it; {CLAIM} {HERE}"),
    "no keys": ([], 1, f"not checked, since no trusted keys were given (--trust): {CLAIM} {HERE}"),
}


@pytest.mark.parametrize(("keys", "threshold", "said"), SIGNERS.values(), ids=SIGNERS)
def test_who_signed_what(attested, keys, threshold, said):
    trust = trusting(*keys, threshold=threshold) if keys else None
    assert claimed.signed_words(attested, trust) == said


def test_what_two_signed_names_both(bundles, tmp_path):
    folder = shutil.copytree(bundles["small"], tmp_path / "signed")
    Seal(ALICE).attach(folder)
    Seal(BOB).attach(folder)
    assert claimed.signed_words(folder, trusting(ALICE, BOB, threshold=2)) == f"your trusted key {TWO} signed {HERE}"


def test_what_was_changed_after_signing(attested, tmp_path):
    said = {}
    for change in (change_receipts, change_verdict, change_signature, forge_statement):
        folder = shutil.copytree(attested, tmp_path / change.__name__)
        change(folder)
        said[change.__name__] = claimed.signed_words(folder, trusting(ALICE))
    assert said.pop("change_signature") == (
        f"attestation.dsse.json: the signature of the trusted key {ALICE.id} is wrong; it claims to be over {HERE}"
    )
    assert said == {
        "change_receipts": f"your trusted key {ALICE.id} signed {HERE}",
        "change_verdict": f"your trusted key {ALICE.id} signed {other(attested)}",
        "forge_statement": None,
    }
