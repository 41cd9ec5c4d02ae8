"""Signatures, what the reader trusts and expects, heads that were seen, and what is said of all that."""

import json
import shutil

import pytest
from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes
from specledger.core.merkle import root
from specledger.core.verdict import Verdict
from specledger.evidence.checkpoint import NoteSignature, note_text, read_note, sign_note
from specledger.evidence.layout import ATTESTATION, CHECKPOINT, PROVENANCE, SUMS
from specledger.evidence.seal import Seal
from specledger.kinds import KINDS
from specledger.verify.assurance_levels import Reader, headline, level_of, level_statuses
from specledger.verify.bundle import compile_bundle
from specledger.verify.check_names import EXPECTED
from specledger.verify.checks import Level, Stopped, Verification
from specledger.verify.fork import read_against
from specledger.verify.kind import Resources
from specledger.verify.run import RUN
from specledger.verify.signed import note_signers
from specledger.verify.trust import Seen
from tests.toys.refusals import codes
from tests.toys.trees import verify_consistency
from tests.unit.verify.conftest import ALICE, BOB, EVE, trusting
from tests.verifying import verify_bundle


@pytest.fixture
def signed(bundles, tmp_path):
    """A bundle that Alice and Bob signed, and its place."""
    folder = shutil.copytree(bundles["small"], tmp_path / "signed")
    Seal(ALICE).attach(folder)
    Seal(BOB).attach(folder)
    return folder


def manifest_of(folder):
    return json.loads((folder / "manifest.json").read_bytes())


def look(folder, **reader):
    return verify_bundle(folder, RUN, KINDS, Reader(**reader))


def failed(found):
    return [check.code for check in found.checks if check.status == "failed"]


def statuses(found):
    return {rung.level.value: (rung.status.value, rung.code) for rung in level_statuses(found)}


@pytest.mark.medium
def test_two_trusted_keys_reach_the_level_and_are_named(signed):
    found = look(signed, trust=trusting(ALICE, BOB, threshold=2))
    assert (found.verdict, level_of(found)) == (Verdict.PASS, Level.SIGNED)
    assert statuses(found)["L1"] == ("reached", None)
    assert "signed by trusted keys" in headline(found)
    assert all(key.id in str([check.message for check in found.checks]) for key in (ALICE, BOB))


@pytest.mark.parametrize(
    ("keys", "threshold"), [((EVE,), 1), ((ALICE, EVE), 2), ((ALICE, BOB, EVE), 3)], ids=["one", "two", "three"]
)
def test_too_few_trusted_keys_refute_nothing_and_reach_nothing(signed, keys, threshold):
    found = look(signed, trust=trusting(*keys, threshold=threshold))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert statuses(found)["L1"] == ("not checked", "E_UNTRUSTED")
    assert "signed, but by too few trusted keys" in headline(found)
    assert "signed, but by no trusted key" in headline(look(signed))


@pytest.mark.parametrize("name", [ATTESTATION, PROVENANCE])
def test_a_key_that_did_not_sign_everything_is_not_counted(signed, name):
    """Bob's signature is missing in one envelope; the checkpoint, which has both, is `signed` without it, too."""
    envelope = json.loads((signed / name).read_bytes())
    own = [one for one in envelope["signatures"] if one["keyid"] != BOB.id]
    assert len(own) == 1
    (signed / name).write_bytes(canonical_bytes({**envelope, "signatures": own}) + b"\n")
    (signed / SUMS).unlink(missing_ok=True)
    for keys, threshold, status in (
        ((ALICE, BOB), 2, ("not checked", "E_UNTRUSTED")),
        ((BOB,), 1, ("not checked", "E_UNTRUSTED")),
        ((ALICE, BOB), 1, ("reached", None)),
    ):
        assert statuses(look(signed, trust=trusting(*keys, threshold=threshold)))["L1"] == status


@pytest.mark.parametrize("name", ["manifest.json", "receipts.jsonl", "checkpoint"])
def test_signed_evidence_that_fails_early_is_not_called_unsigned(signed, name):
    (signed / name).write_bytes((signed / name).read_bytes() + b" ")
    found = look(signed)
    assert (found.verdict, found.signed) == (Verdict.FAIL, True)
    assert [rung.why for rung in level_statuses(found)][1] == "an earlier check failed"


def test_unsigned_evidence_is_never_called_anything_else(bundles):
    for trust in (None, trusting(ALICE)):
        found = look(bundles["small"], trust=trust)
        assert "unsigned" in headline(found)
        assert statuses(found)["L1"] == ("not checked", "E_UNSIGNED" if trust else None)
        assert found.verdict is (Verdict.INCONCLUSIVE if trust else Verdict.PASS)


def test_a_sealed_bundle_inside_a_suite_is_refused(signed):
    found = Verification()
    with pytest.raises(Stopped):
        compile_bundle(signed, RUN, Resources(KINDS), found, inner=True)
    assert failed(found) == ["E_FILES"]


@pytest.mark.parametrize("changes", [{"run": "00" * 16}, {"specs": "00" * 32}, {"origin": "other"}])
def test_evidence_that_was_not_expected_is_refused(signed, changes):
    assert failed(look(signed, trust=trusting(ALICE, **changes))) == ["E_EXPECTED"]
    manifest = manifest_of(signed)
    expected = {name: manifest[name] for name in ("run", "specs")}
    assert look(signed, trust=trusting(ALICE, **expected)).verdict is Verdict.PASS


BOUND = {
    "neither": ([], "; run and specs' digest can be any, since the trust file names none"),
    "the run": (["run"], "; specs' digest can be any, since the trust file names none"),
    "both": (["run", "specs"], None),
}


@pytest.mark.parametrize(("names", "free"), BOUND.values(), ids=BOUND)
def test_an_expectation_says_what_it_binds_and_what_can_be_any(signed, names, free):
    manifest = manifest_of(signed)
    found = look(signed, trust=trusting(ALICE, **{name: manifest[name] for name in names}))
    (message,) = [check.message for check in found.checks if check.number == EXPECTED.number]
    assert f"origin specledger/{manifest['run']}" in message
    assert all(manifest[name] in message for name in names)
    assert message.endswith(free) if free else "can be any" not in message


# ---- heads


def seen(folder, size=None):
    """The head of a log of which only so many receipts are there."""
    lines = (folder / "receipts.jsonl").read_bytes().splitlines()
    size = len(lines) if size is None else size
    return size, root(lines[:size])


@pytest.mark.parametrize("size", [0, 1, 3, 4, 7, None])
def test_a_log_that_only_grew_is_accepted_with_a_proof(bundles, tmp_path, size):
    count, head = seen(bundles["climb"], size)
    path = tmp_path / "head"
    origin = f"specledger/{manifest_of(bundles['climb'])['run']}"
    path.write_bytes(sign_note(note_text(origin, count, head), [NoteSignature(origin, b"1234", b"5" * 64)]))
    found = look(bundles["climb"], against=(read_against(path),))
    assert (found.verdict, statuses(found)["L3"]) == (Verdict.PASS, ("reached", None))
    heads = found.facts["heads"]
    assert heads["seen"] == {"size": count, "root": head.hex()}
    assert verify_heads(heads)


def verify_heads(heads):
    old, new = heads["seen"], heads["here"]
    proof = [bytes.fromhex(part) for part in heads["proof"]]
    roots = bytes.fromhex(old["root"]), bytes.fromhex(new["root"])
    return verify_consistency(old["size"], new["size"], *roots, proof)


def test_a_fork_shows_both_heads_and_a_rollback_says_so(bundles):
    count, head = seen(bundles["small"])
    for size, code in ((count, "E_FORK"), (count - 1, "E_FORK"), (count + 1, "E_ROLLBACK")):
        trust = trusting(ALICE, seen=Seen(size, b"\x01" * 32))
        found = look(bundles["small"], trust=trust, levels=frozenset({Level.UNFORKED}))
        (check,) = [check for check in found.checks if check.status == "failed"]
        assert (check.code, check.level) == (code, Level.UNFORKED)
        assert "01" * 32 in check.message
        assert head.hex() in check.message


def test_another_bundle_of_the_run_is_a_head_and_one_of_another_run_is_not(bundles):
    found = look(bundles["climb"], against=(read_against(bundles["climb"]),))
    assert statuses(found)["L3"] == ("reached", None)
    found = look(bundles["climb"], against=(read_against(bundles["other seed"]),))
    assert (found.verdict, statuses(found)["L3"]) == (Verdict.INCONCLUSIVE, ("not checked", "E_OTHER_LOG"))


def test_a_head_of_another_run_is_no_fork_of_signed_evidence_of_the_same_origin(bundles, tmp_path):
    """Runs of one laboratory have one origin, so the origin does not tell of which run a head is."""
    folders = {name: shutil.copytree(bundles[name], tmp_path / name) for name in ("small", "climb")}
    for folder in folders.values():
        Seal(ALICE, "lab").attach(folder)
    trust = trusting(ALICE, origin="lab")
    for name, status in (("climb", ("not checked", "E_OTHER_LOG")), ("small", ("reached", None))):
        found = look(folders["small"], trust=trust, against=(read_against(folders[name]),))
        assert statuses(found)["L3"] == status
        assert failed(found) == []


@pytest.mark.parametrize(("origin", "code", "refuted"), [("lab", "E_ROLLBACK", True), ("other", "E_OTHER_LOG", False)])
@pytest.mark.parametrize("sealed", [True, False], ids=["sealed", "not sealed"])
def test_a_checkpoint_of_another_log_is_no_rollback(bundles, tmp_path, sealed, origin, code, refuted):
    """A checkpoint names its log, no run. The log of the evidence stands in its own one, or else its reader knows it."""
    folders = {name: shutil.copytree(bundles[name], tmp_path / name) for name in ("small", "climb")}
    Seal(ALICE, origin).attach(folders["climb"])
    if sealed:
        Seal(ALICE, "lab").attach(folders["small"])
    before = read_against(folders["climb"] / CHECKPOINT)
    found = look(folders["small"], trust=trusting(ALICE, origin="lab"), against=(before,))
    assert statuses(found)["L3"][1] == code
    assert failed(found) == ([code] if refuted else [])


def test_a_signature_of_a_checkpoint_in_the_name_of_another_log_is_not_counted(signed):
    note = read_note((signed / CHECKPOINT).read_bytes())
    renamed = replace(note, signatures=tuple(replace(one, name="other") for one in note.signatures))
    trust = trusting(ALICE)
    assert len(note_signers(trust, note)) == 1
    assert note_signers(trust, renamed) == frozenset()


def test_two_histories_of_one_run_are_a_fork(bundles, forge):
    forger = forge("climb")
    forger.bodies("step")[0]["success"] = True
    forger.recount()
    forger.seal()
    found = look(bundles["climb"], against=(read_against(forger.folder),))
    assert failed(found) == ["E_FORK"]


@pytest.mark.parametrize("data", [None, b"", b"x\n", b'{"format":1}\n'], ids=["nothing", "empty", "text", "JSON"])
def test_what_states_no_head_is_refused(tmp_path, data):
    path = tmp_path / "head"
    if data is not None:
        path.write_bytes(data)
    for place in (path, tmp_path):
        assert codes(read_against, place) == ["E_AGAINST"]


# ---- levels


@pytest.mark.parametrize(
    ("levels", "replay", "verdict"),
    [
        ((), True, "PASS"), ((), False, "INCONCLUSIVE"), (("L0",), False, "PASS"), (("L1",), True, "INCONCLUSIVE"),
        (("L2",), True, "INCONCLUSIVE"), (("L3",), True, "INCONCLUSIVE"), (("L4",), True, "PASS"),
        (("L4",), False, "INCONCLUSIVE"), (("L0", "L4"), True, "PASS"), (("L1", "L4"), True, "INCONCLUSIVE"),
    ],
)  # fmt: skip
def test_the_levels_that_were_asked_for_decide(bundles, levels, replay, verdict):
    found = look(bundles["small"], replay=replay, levels=frozenset(map(Level, levels)))
    assert found.verdict.value == verdict


def test_every_level_is_always_told(bundles, forge):
    forger = forge("small")
    forger.write("receipts.jsonl", b"")
    for folder in (bundles["small"], forger.folder):
        rungs = level_statuses(look(folder))
        assert [rung.level.value for rung in rungs] == ["L0", "L1", "L2", "L3", "L4", "L5"]
        assert all(rung.why for rung in rungs if rung.status != "reached")
