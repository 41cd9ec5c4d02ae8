"""Who signed is said in a report where the reader says which keys count; an altered bundle is told, and what to do."""

import json

import pytest

from specledger.evidence.envelope import to_base64
from specledger.evidence.seal import Seal
from specledger.kinds import load
from specledger.pipeline.executing import execute
from tests.toys import CLIMB
from tests.unit.verify.conftest import ALICE, EVE


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """An unsigned bundle, one that Alice signed, and trust files of two readers."""
    folder = tmp_path_factory.mktemp("trusted")
    for name in ("unsigned", "signed"):
        execute(load(CLIMB / "climb.yaml")[0], folder / name)
    Seal(ALICE).attach(folder / "signed")
    for name, key in (("alice", ALICE), ("eve", EVE)):
        keys = [{"id": key.id, "public": to_base64(key.public)}]
        document = {"format": "specledger/trust/v1", "origin": "specledger/{run}", "threshold": 1, "keys": keys}
        (folder / f"{name}.json").write_text(json.dumps(document))
    return folder


SIGNED = {
    "a trusted key": (
        "signed",
        "alice",
        0,
        f"Keys that the reader trusts signed the evidence (signed by {ALICE.id} in the name specledger/",
    ),
    "another key": ("signed", "eve", 3, "Signatures of trusted keys were asked for, and not found: of your 1 trusted "),
    "nobody": ("unsigned", "alice", 3, "asked for, and not found: nobody signed: the bundle holds no signatures."),
    "nobody was asked": ("signed", None, 0, "Who made the evidence, and when, was not checked."),
}


@pytest.mark.parametrize(("bundle", "reader", "status", "said"), SIGNED.values(), ids=SIGNED)
def test_a_report_says_who_signed(spec, places, bundle, reader, status, said):
    trust = [] if reader is None else ["--trust", places / f"{reader}.json"]
    done = spec("report", places / bundle, *trust)
    assert done.status == status
    assert said in done.out
    assert ("signed by trusted keys was asked for, and is not shown: " in done.err) == (status == 3)


@pytest.mark.parametrize("command", ["diff", "report", "trace"])
def test_an_altered_bundle_is_told_with_why_and_what_to_do(spec, places, tmp_path, command):
    place = execute(load(CLIMB / "climb.yaml")[0], tmp_path / "altered bundle").place
    receipts = place / "receipts.jsonl"
    receipts.write_bytes(receipts.read_bytes().replace(b'"score":1', b'"score":2', 1))
    done = spec(command, *([places / "unsigned"] if command == "diff" else []), place)
    assert (done.status, done.out) == (1, "")
    assert f"error[E_FILES]: {place} is refuted (altered, or never whole), so nothing of it is read: " in done.err
    assert "receipts.jsonl has the SHA-256 " in done.err
    assert f"`spec verify '{place}'` lists every check" in done.err
