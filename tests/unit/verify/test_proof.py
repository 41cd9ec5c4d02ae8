"""The proof that one receipt is part of a log, made from a bundle and checked without it."""

import hashlib
import json
import shutil

import pytest

from specledger.core.verdict import Verdict
from specledger.evidence.checkpoint import NoteSignature, read_note, sign_note
from specledger.evidence.seal import Seal
from specledger.kinds import KINDS
from specledger.verify.assurance_levels import Reader, headline, level_statuses
from specledger.verify.checks import Level
from specledger.verify.fork import Against, read_against
from specledger.verify.proof import verify_proof
from specledger.verify.run import RUN
from specledger.verify.trust import Seen
from tests.toys.refusals import codes
from tests.unit.verify.conftest import ALICE, BOB, trusting
from tests.verifying import verify_bundle


def proof_of(folder, index):
    return verify_bundle(folder, RUN, KINDS, Reader(replay=False, proof=index)).facts["proof"]


def written(tmp_path, proof):
    path = tmp_path / "proof.json"
    path.write_bytes(proof if isinstance(proof, bytes) else json.dumps(proof, indent=1).encode())
    return path


def recomputed(proof):
    """The root that a proof leads to, by RFC 9162, 2.1.3.2, with hashlib alone."""
    node = hashlib.sha256(b"\x00" + proof["receipt"].encode()).digest()
    place, last = proof["index"], proof["size"] - 1
    for part in map(bytes.fromhex, proof["path"]):
        if place & 1 or place == last:
            node = hashlib.sha256(b"\x01" + part + node).digest()
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            node = hashlib.sha256(b"\x01" + node + part).digest()
        place, last = place >> 1, last >> 1
    return node.hex()


def test_every_receipt_has_a_proof_that_others_can_check(bundles, tmp_path):
    folder = bundles["small"]
    lines = (folder / "receipts.jsonl").read_bytes().splitlines()
    root = json.loads((folder / "manifest.json").read_bytes())["receipts"]["root"]
    for index, line in enumerate(lines):
        proof = proof_of(folder, index)
        assert (proof["receipt"].encode(), proof["root"], proof["size"]) == (line, root, len(lines))
        assert recomputed(proof) == root
        found = verify_proof(written(tmp_path, proof), Reader(against=(read_against(folder),)))
        assert found.verdict is Verdict.PASS


def test_a_proof_alone_concludes_nothing_about_its_root(bundles, tmp_path):
    proof = proof_of(bundles["small"], 1)
    path = written(tmp_path, proof)
    assert verify_proof(path, Reader()).verdict is Verdict.INCONCLUSIVE
    other = Against(Seen(proof["size"], b"\x01" * 32), "elsewhere")
    found = verify_proof(path, Reader(against=(other,)))
    assert [check.code for check in found.checks if check.code] == ["E_FORK"]


@pytest.fixture
def sealed(bundles, tmp_path):
    """A bundle of a variant that Alice signed, with an origin."""

    def make(variant="small", origin="specledger/{run}"):
        folder = shutil.copytree(bundles[variant], tmp_path / f"{variant} {len(origin)}")
        Seal(ALICE, origin).attach(folder)
        return folder

    return make


def told(found):
    """The verdict, and status and code of L1 and L3."""
    levels = {rung.level.value: (rung.status.value, rung.code) for rung in level_statuses(found)}
    return found.verdict.value, levels["L1"], levels["L3"]


REACHED, OPEN = ("reached", None), ("not checked", None)
TRUSTED = {
    "signed by who is trusted": (trusting(ALICE), "PASS", REACHED),
    "signed, and nobody is trusted": (None, "PASS", OPEN),
    "by another key": (trusting(BOB), "INCONCLUSIVE", ("not checked", "E_UNTRUSTED")),
    "by too few": (trusting(ALICE, BOB, threshold=2), "INCONCLUSIVE", ("not checked", "E_UNTRUSTED")),
    "another run is expected": (trusting(ALICE, run="0" * 32), "FAIL", ("refuted", "E_EXPECTED")),
    "specs are expected that the receipt does not tell": (trusting(ALICE, specs="0" * 64), "INCONCLUSIVE", OPEN),
}


@pytest.mark.parametrize(("trust", "verdict", "signed"), TRUSTED.values(), ids=TRUSTED)
def test_the_signatures_of_a_checkpoint_are_those_of_the_proof(sealed, tmp_path, trust, verdict, signed):
    folder = sealed()
    path = written(tmp_path, proof_of(folder, 1))
    found = verify_proof(path, Reader(trust=trust, against=(read_against(folder / "checkpoint"),)))
    assert told(found)[:2] == (verdict, signed)
    assert "unsigned" not in headline(found)


@pytest.mark.parametrize(("specs", "verdict"), [(None, "PASS"), ("0" * 64, "FAIL")])
def test_the_first_receipt_tells_which_specs_it_is_of(sealed, tmp_path, specs, verdict):
    folder = sealed()
    specs = specs or json.loads((folder / "manifest.json").read_bytes())["specs"]
    reader = Reader(trust=trusting(ALICE, specs=specs), against=(read_against(folder / "checkpoint"),))
    assert verify_proof(written(tmp_path, proof_of(folder, 0)), reader).verdict.value == verdict


def test_a_forged_checkpoint_is_refuted_and_none_is_not_enough(sealed, tmp_path):
    folder = sealed()
    path = written(tmp_path, proof_of(folder, 1))
    note = read_note((folder / "checkpoint").read_bytes())
    forged = [NoteSignature(one.name, one.hint, b"\x41" * 64) for one in note.signatures]
    (tmp_path / "forged").write_bytes(sign_note(note.signed, forged))
    found = verify_proof(path, Reader(trust=trusting(ALICE), against=(read_against(tmp_path / "forged"),)))
    assert told(found)[:2] == ("FAIL", ("refuted", "E_SIGNATURE"))
    alone = verify_proof(path, Reader(trust=trusting(ALICE)))
    assert told(alone) == ("INCONCLUSIVE", ("not checked", "E_UNSIGNED"), OPEN)
    levels = frozenset({Level.SIGNED})
    unsigned = Reader(levels=levels, against=(read_against(folder / "checkpoint"),))
    assert told(verify_proof(path, unsigned))[0] == "INCONCLUSIVE"
    assert told(verify_proof(path, Reader(levels=levels, trust=trusting(ALICE), against=unsigned.against)))[0] == "PASS"


OTHERS = {
    "a checkpoint of another run": ("climb", "specledger/{run}", "checkpoint", None, "E_OTHER_LOG"),
    "one of another run, for who trusts": ("climb", "specledger/{run}", "checkpoint", trusting(ALICE), "E_OTHER_LOG"),
    "a bundle of another run": ("climb", "specledger/{run}", "", None, "E_OTHER_LOG"),
    "one of this run, with another origin": ("small", "other/{run}", "checkpoint", trusting(ALICE), "E_OTHER_LOG"),
    "one of this run whose origin does not tell": ("small", "lab", "checkpoint", None, None),
}


@pytest.mark.parametrize(("variant", "origin", "name", "trust", "code"), OTHERS.values(), ids=OTHERS)
def test_a_head_of_another_log_is_no_fork(sealed, bundles, tmp_path, variant, origin, name, trust, code):
    before = read_against(sealed(variant, origin) / name)
    found = verify_proof(written(tmp_path, proof_of(bundles["small"], 1)), Reader(trust=trust, against=(before,)))
    assert told(found)[2] == (("not checked", code) if code else REACHED)
    assert found.verdict is (Verdict.INCONCLUSIVE if code else Verdict.PASS)


def test_a_signed_checkpoint_of_another_log_does_not_make_a_proof_signed(sealed, bundles, tmp_path):
    path = written(tmp_path, proof_of(bundles["small"], 1))
    for variant, words in (("climb", "unsigned"), ("small", "signed, but by no trusted key")):
        found = verify_proof(path, Reader(against=(read_against(sealed(variant) / "checkpoint"),)))
        assert words in headline(found).split(", ", 1)[1]
        assert found.signed == (variant == "small")


def test_heads_of_one_log_contradict_each_other_only_in_one_size(bundles, tmp_path):
    proof = proof_of(bundles["small"], 1)
    path = written(tmp_path, proof)
    for size, code in ((proof["size"], "E_FORK"), (proof["size"] + 1, None)):
        before = Against(Seen(size, b"\x01" * 32), "elsewhere", run=proof["run"])
        found = verify_proof(path, Reader(against=(before,)))
        assert told(found)[2] == (("refuted" if code else "not checked"), code)


def test_there_is_no_proof_of_a_receipt_that_is_not_there(bundles):
    assert codes(proof_of, bundles["small"], 1_000) == ["E_NO_RECEIPT"]


FAULTS = {
    "another receipt": {"receipt": lambda text: text.replace('"t":0', '"t":1')},
    "a receipt in another form": {"receipt": lambda text: text.replace(":", ": ", 1)},
    "another place": {"index": lambda index: index + 1},
    "another run": {"run": lambda run: "00" * 16},
    "another size": {"size": lambda size: 2 * size},
    "another root": {"root": lambda root: "00" * 32},
    "another leaf": {"leaf": lambda leaf: "00" * 32},
    "a shorter path": {"path": lambda path: path[:-1]},
    "a longer path": {"path": lambda path: [*path, path[0]]},
    "another path": {"path": lambda path: ["00" * 32, *path[1:]]},
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_single_fault_in_a_proof_is_refused(bundles, tmp_path, name):
    proof = proof_of(bundles["small"], 3)
    for field, change in FAULTS[name].items():
        assert change(proof[field]) != proof[field]
        proof[field] = change(proof[field])
    found = verify_proof(written(tmp_path, proof), Reader())
    assert [check.code for check in found.checks if check.status == "failed"] == ["E_PROOF"]


MALFORMED = {
    "nothing": b"",
    "a list": [],
    "a missing field": {"format": "specledger/inclusion/v1"},
    "another format": {"format": "specledger/inclusion/v2"},
    "a number that is true": {"index": True},
    "a number that is negative": {"size": -1},
    "a root that is short": {"root": "00"},
    "a path that is none": {"path": 1},
    "a path without end": {"path": ["00" * 32] * 65},
    "a receipt that is none": {"receipt": 1},
    "half of a character": {"receipt": "\ud800"},
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_proof_is_refused(bundles, tmp_path, name):
    changes = MALFORMED[name]
    if isinstance(changes, dict) and name != "a missing field":
        changes = proof_of(bundles["small"], 3) | changes
    assert codes(verify_proof, written(tmp_path, changes), Reader()) == ["E_PROOF_FORM"]
