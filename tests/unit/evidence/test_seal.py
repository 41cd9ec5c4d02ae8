"""What covers a bundle from outside its manifest: what it says, what it refuses, and that no key is in it."""

import base64
import hashlib
import json
import os

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519

from specledger.core.diagnostics import Rejected
from specledger.core.events import Event
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.checkpoint import key_hash, read_note
from specledger.evidence.envelope import attestation, outcome, pae, provenance, read_envelope
from specledger.evidence.keys import SigningKey, key_id, verify
from specledger.evidence.kind import SUITE
from specledger.evidence.layout import ATTACHED
from specledger.evidence.seal import UNSIGNED, Seal, listed_files, read_timestamp_file, seal_bundle, sums
from tests.toys.bundles import files_of
from tests.toys.refusals import codes
from tests.unit.evidence.test_timestamp import info, response

RUN = "ab" * 16
DIGEST = "cd" * 32
SPECS = {"root": "scenario/a@0", "specs": {"scenario/a@0": {"name": "a"}}}
EVENTS = [
    Event(
        "start", {"invariants": [{"name": "low", "scope": "step", "severity": "warn"}], "gates": [], "specs": DIGEST}
    ),
    Event("step", {"decisions": [], "chosen": 0, "violations": []}),
    Event("end", {}),
]
SECRETS = [bytes([number]) * 32 for number in (1, 2)]
HELD = ["manifest.json", "receipts.jsonl", "specs.json"]
SIGNED = ["attestation.dsse.json", "checkpoint", "manifest.json.dsse.json"]
ALWAYS = ["VERIFY.md", "sha256sums"]


def key_of(secret):
    private = ed25519.Ed25519PrivateKey.from_private_bytes(secret)
    return SigningKey(private.public_key().public_bytes_raw(), private)


ONE, OTHER = map(key_of, SECRETS)


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def write(place, seal=UNSIGNED, events=EVENTS):
    with BundleWriter(place, RUN, SPECS, DIGEST) as writer:
        for event in events:
            writer.add(event)
        return writer.finish(attach=seal.attach)


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def stamp(place):
    return response(info(digest=hashlib.sha256((place / "manifest.json").read_bytes()).digest()))


@pytest.fixture
def place(tmp_path):
    return tmp_path / "evidence"


def test_a_bundle_that_nobody_signs_holds_digests_and_a_guide(place):
    write(place)
    assert sorted(files_of(place)) == sorted([*HELD, *ALWAYS])
    assert "Nobody signed this bundle" in (place / "VERIFY.md").read_text()


ATTACHED_FILES = ("attestation.dsse.json", "checkpoint.txt", "provenance.dsse.json", "timestamp.tsr")


def test_the_guide_has_the_command_and_the_sections_of_what_is_there(place, tmp_path):
    write(place)
    unsigned = (place / "VERIFY.md").read_text()
    write(tmp_path / "signed", Seal(ONE))
    signed = (tmp_path / "signed" / "VERIFY.md").read_text()
    assert "    spec verify .\n" in unsigned
    assert "    spec verify . --trust ../trust.json\n" in signed
    assert "    python3 ../verify.py . --trust ../trust.json\n" in signed
    assert "Nobody signed this bundle" not in signed
    for heading in ("## With openssl: who signed it", "## With openssl: the checkpoint"):
        assert heading in signed
        assert heading not in unsigned
    assert "## With openssl: when" not in signed
    seal_bundle(place, Seal(timestamp=stamp(place)))
    assert "## With openssl: when" in (place / "VERIFY.md").read_text()
    assert "Nobody signed this bundle" in (place / "VERIFY.md").read_text()


def test_what_is_signed_is_the_same_bytes_again(place, tmp_path):
    write(place, Seal(ONE))
    assert sorted(files_of(place)) == sorted([*HELD, *ALWAYS, *SIGNED])
    write(tmp_path / "again", Seal(ONE))
    assert files_of(place) == files_of(tmp_path / "again")


def test_a_signature_changes_nothing_that_is_hashed(place, tmp_path):
    assert write(place) == write(tmp_path / "signed", Seal(ONE))
    assert {name: files_of(place)[name] for name in HELD} == {
        name: files_of(tmp_path / "signed")[name] for name in HELD
    }


def test_the_digests_are_those_of_all_files(place):
    write(place, Seal(ONE))
    lines = [line.split("  ") for line in (place / "sha256sums").read_text().splitlines()]
    assert lines == [[digest(place / name), name] for name in sorted(files_of(place)) if name != "sha256sums"]


def test_the_attestation(place):
    """An in-toto Statement about manifest.json, signed in the way of DSSE."""
    manifest = write(place, Seal(ONE))
    envelope = json.loads((place / "attestation.dsse.json").read_bytes())
    payload = base64.b64decode(envelope["payload"])
    assert json.loads(payload) == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "manifest.json", "digest": {"sha256": digest(place / "manifest.json")}}],
        "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
        "predicate": {
            "result": "PASSED",
            "configuration": [{"name": "specs.json", "digest": {"sha256": digest(place / "specs.json")}}],
        },
    }
    assert payload == attestation(manifest, [])
    (signature,) = envelope["signatures"]
    assert signature["keyid"] == hashlib.sha256(ONE.public).hexdigest()
    signed = b"DSSEv1 28 application/vnd.in-toto+json %d %b" % (len(payload), payload)
    assert verify(ONE.public, base64.b64decode(signature["sig"]), signed)


def test_the_envelope_for_another_program(place):
    manifest = write(place, Seal(ONE))
    envelope = read_envelope((place / "manifest.json.dsse.json").read_bytes())
    assert envelope.payload == provenance(manifest)
    statement = json.loads(envelope.payload)
    canonical = hashlib.sha256((place / "manifest.json").read_bytes().removesuffix(b"\n")).hexdigest()
    assert statement["subject"] == [{"name": "manifest.json", "digest": {"sha256": canonical}}]
    assert verify(ONE.public, envelope.signatures[0].raw, pae("application/vnd.in-toto+json", envelope.payload))


def test_the_checkpoint(place):
    manifest = write(place, Seal(ONE, "example.org/lab/{run}"))
    note = read_note((place / "checkpoint").read_bytes())
    (signature,) = note.signatures
    assert (note.origin, note.size, note.root.hex()) == (f"example.org/lab/{RUN}", 3, manifest["receipts"]["root"])
    assert (signature.name, signature.hint) == (note.origin, key_hash(note.origin, ONE.public))
    text = f"{note.origin}\n3\n{base64.b64encode(note.root).decode()}\n".encode()
    assert verify(ONE.public, signature.raw, text)


OUTCOMES = {
    "a pass": ({"verdict": "PASS", "warnings": {}}, "PASSED"),
    "a pass of a kind without warnings": ({"verdict": "PASS"}, "PASSED"),
    "a pass with warnings": ({"verdict": "PASS", "warnings": {"low": 2}}, "WARNED"),
    "a failure": ({"verdict": "FAIL", "warnings": {"low": 2}}, "FAILED"),
    "nothing concluded": ({"verdict": "INCONCLUSIVE"}, "WARNED"),
    "an error": ({"verdict": "ERROR"}, "FAILED"),
}


@pytest.mark.parametrize(("result", "called"), OUTCOMES.values(), ids=OUTCOMES)
def test_what_a_verdict_is_called(result, called):
    assert outcome(result) == called


def test_a_bundle_is_signed_afterwards_as_at_once(place, tmp_path):
    write(place)
    seal_bundle(place, Seal(ONE))
    write(tmp_path / "once", Seal(ONE))
    assert files_of(place) == files_of(tmp_path / "once")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evidence", "once"]


def test_a_second_key_signs_beside_the_first_in_whatever_order(place, tmp_path):
    write(place, Seal(ONE))
    seal_bundle(place, Seal(OTHER))
    for name in ("attestation.dsse.json", "manifest.json.dsse.json"):
        envelope = read_envelope((place / name).read_bytes())
        assert {one.key for one in envelope.signatures} == {key_id(ONE.public), key_id(OTHER.public)}
        keys = {key_id(key.public): key.public for key in (ONE, OTHER)}
        assert all(verify(keys[one.key], one.raw, envelope.signed) for one in envelope.signatures)
    note = read_note((place / "checkpoint").read_bytes())
    assert [one.hint for one in note.signatures] == [key_hash(note.origin, key.public) for key in (ONE, OTHER)]
    before = files_of(place)
    seal_bundle(place, Seal(OTHER))
    assert files_of(place) == before


def test_a_time_stamp_is_attached(place, tmp_path):
    write(place, Seal(ONE))
    seal_bundle(place, Seal(timestamp=stamp(place)))
    assert (place / "timestamp.tsr").read_bytes() == stamp(place)
    assert "openssl ts -verify -in timestamp.tsr" in (place / "VERIFY.md").read_text()
    write(tmp_path / "once", Seal(ONE, timestamp=stamp(place)))
    assert files_of(place) == files_of(tmp_path / "once")


WRONG = {
    "a time stamp of something else": (lambda place: Seal(ONE, timestamp=response()), "E_TIMESTAMP"),
    "no time stamp": (lambda place: Seal(ONE, timestamp=b"x"), "E_TIMESTAMP"),
    "no origin": (lambda place: Seal(ONE, "a b"), "E_ORIGIN"),
    "another origin": (lambda place: Seal(OTHER, "example.org/other"), "E_SEAL_OTHER"),
}


@pytest.mark.parametrize(("seal", "code"), WRONG.values(), ids=WRONG)
def test_a_seal_that_does_not_fit_changes_nothing(place, seal, code):
    write(place, Seal(ONE))
    before = files_of(place)
    assert codes(seal_bundle, place, seal(place)) == [code]
    assert files_of(place) == before


def test_another_origin_is_told_with_the_one_that_is_there(place):
    write(place, Seal(ONE, "example.org/it's"))
    with pytest.raises(Rejected) as rejected:
        seal_bundle(place, Seal(OTHER))
    (found,) = rejected.value.diagnostics
    assert (found.code, found.hint) == ("E_SEAL_OTHER", """--origin 'example.org/it'"'"'s'""")
    seal_bundle(place, Seal(OTHER, "example.org/it's"))


@pytest.mark.parametrize("name", SIGNED)
@pytest.mark.parametrize("content", [b"", b"x\n", None], ids=["empty", "malformed", "of another bundle"])
def test_what_covers_something_else_is_not_signed_over(place, tmp_path, name, content):
    write(place, Seal(ONE))
    write(tmp_path / "other", Seal(ONE), [*EVENTS[:-1], EVENTS[1], EVENTS[-1]])
    (place / name).write_bytes((tmp_path / "other" / name).read_bytes() if content is None else content)
    assert codes(seal_bundle, place, Seal(OTHER)) == ["E_SEAL_OTHER"]


def altered(**changes):
    return lambda manifest: json.dumps(manifest | changes, separators=(",", ":"), sort_keys=True).encode() + b"\n"


ENTRY = {"path": "specs.json", "sha256": DIGEST, "size": 1}
MANIFESTS = {
    "empty": lambda manifest: b"",
    "not canonical": lambda manifest: json.dumps(manifest).encode() + b"\n",
    "without a newline": lambda manifest: altered()(manifest)[:-1],
    "a list": lambda manifest: b"[]\n",
    "another format": altered(format="specledger/bundle/v2"),
    "a run with commands": altered(run="`rm -rf /`" + "a" * 22),
    "a short digest": altered(specs="ab"),
    "a root with commands": altered(receipts={"count": 1, "head": DIGEST, "root": "\n\n    rm -rf /\n"}),
    "a count that is no number": altered(receipts={"count": "1", "head": DIGEST, "root": DIGEST}),
    "no specs": altered(files=[]),
    "a path that leaves": altered(files=[ENTRY, {"path": "../manifest.json", "sha256": DIGEST, "size": 1}]),
    "a path with a line break": altered(files=[ENTRY, {"path": "a\nb", "sha256": DIGEST, "size": 1}]),
    "a digest that is none": altered(files=[ENTRY, {"path": "a", "sha256": "x", "size": 1}]),
    "a file that is none": altered(files=[ENTRY, 1]),
    "no verdict": altered(result={}),
}


@pytest.mark.parametrize("change", MANIFESTS.values(), ids=MANIFESTS)
def test_a_manifest_of_another_form_is_not_sealed(place, change):
    manifest = write(place)
    (place / "manifest.json").write_bytes(change(manifest))
    before = files_of(place)
    assert codes(seal_bundle, place, Seal(ONE)) == ["E_SEAL_BUNDLE"]
    assert files_of(place) == before


@pytest.mark.parametrize("name", ["nothing", "empty", "file", "deep/nothing"])
def test_what_is_no_bundle_is_not_sealed(tmp_path, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("mine")
    assert codes(seal_bundle, tmp_path / name, Seal(ONE)) == ["E_SEAL_BUNDLE"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file"]


def test_a_seal_that_fails_leaves_no_bundle(place):
    with pytest.raises(Rejected):
        write(place, Seal(ONE, timestamp=response()))
    assert list(place.parent.iterdir()) == []


def test_a_suite_is_covered_by_its_own_manifest_alone(place):
    """Inner bundles hold their files only; the digests of all of them are in the outer list."""
    with BundleWriter(place, RUN, SPECS, DIGEST, SUITE) as writer:
        for name in ("a.b", "c"):
            (writer.inside / "runs").mkdir(exist_ok=True)
            with BundleWriter(writer.inside / "runs" / name, RUN, SPECS, DIGEST) as inner:
                for event in EVENTS:
                    inner.add(event)
                inner.finish()
        writer.add(Event("start", {"runs": 0, "allowed": {}}))
        writer.finish(["runs/a.b", "runs/c"], Seal(ONE).attach)
    assert sorted(path.name for path in (place / "runs" / "c").iterdir()) == HELD
    lines = [line.split("  ") for line in (place / "sha256sums").read_text().splitlines()]
    assert lines == [[digest(place / name), name] for name in sorted(files_of(place)) if name != "sha256sums"]
    (place / "runs" / "c" / "receipts.jsonl").write_bytes(b"")
    assert sums(place, listed_files(place)) == (place / "sha256sums").read_bytes(), (
        "the digests of the manifests, not of what lies there"
    )


def test_a_bundle_replaces_a_bundle_with_all_that_covers_it(place):
    write(place, Seal(ONE))
    write(place)
    assert sorted(files_of(place)) == sorted([*HELD, *ALWAYS])


def test_what_is_no_bundle_is_not_replaced(place):
    place.write_text("mine")
    assert codes(write, place) == ["E_OUT_FOREIGN"]


def spellings(secret):
    """How a key could stand somewhere: raw, in digits, in base64 at any offset."""
    encoded = [base64.b64encode(b"\0" * lead + secret)[4:-4] for lead in range(3)]
    return [secret, secret[:16], secret.hex().encode(), secret.hex().upper().encode(), *encoded]


def test_no_private_key_is_in_any_file(place, tmp_path):
    secrets = [os.urandom(32) for _ in range(2)]
    one, other = map(key_of, secrets)
    write(place, Seal(one))
    seal_bundle(place, Seal(other, timestamp=stamp(place)))
    written = files_of(tmp_path)
    assert len(written) == len(HELD) + len(ATTACHED)
    for data in written.values():
        assert not any(spelling in data for secret in secrets for spelling in spellings(secret))
    assert one.public.hex() not in b"".join(written.values()).decode("latin-1"), "a key in a bundle is never trusted"


def test_the_guide_repeats_digests_only(place):
    hostile = [Event("start", {**EVENTS[0].body, "gates": ["`rm -rf /`"]}), *EVENTS[1:]]
    write(place, Seal(ONE), hostile)
    guide = (place / "VERIFY.md").read_text()
    assert "rm -rf" not in guide
    assert "rm -rf" in (place / "manifest.json").read_text()
    assert digest(place / "manifest.json") in guide


def test_a_time_stamp_is_read_from_a_file(tmp_path):
    (tmp_path / "good").write_bytes(response())
    assert read_timestamp_file(tmp_path / "good") == response()
    (tmp_path / "bad").write_bytes(response()[:-1])
    for name in ("bad", "none", "."):
        assert codes(read_timestamp_file, tmp_path / name) == ["E_TIMESTAMP"]


@pytest.mark.parametrize(
    ("seal", "shared"),
    [
        (UNSIGNED, True),
        (Seal(ONE), True),
        (Seal(ONE, "example.org/a/{run}"), True),
        (Seal(ONE, "example.org/a"), False),
        (Seal(timestamp=b"x"), False),
    ],
)
def test_what_serves_several_bundles(seal, shared):
    assert seal.shared is shared


def test_a_seal_that_is_killed_on_the_way_leaves_nothing_that_is_wrong(place, monkeypatch):
    """At every moment the digests are those of the files, or are not there."""
    write(place, Seal(ONE))
    renamed, moments = type(place).rename, []

    def rename(self, target):
        moments.append((place / "sha256sums").exists())
        return renamed(self, target)

    monkeypatch.setattr(type(place), "rename", rename)
    seal_bundle(place, Seal(OTHER))
    assert moments == [False] * 5
    assert sums(place, listed_files(place)) == (place / "sha256sums").read_bytes()
