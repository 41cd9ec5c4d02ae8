"""The guide of a bundle: which sections it has, what it compares, and which command it names."""

from typing import Any

import pytest

from specledger.evidence import guide_text, layout
from specledger.evidence.guide import guide

MANIFEST: Any = {"run": "RUN", "specs": "SPECS", "receipts": {"count": 12, "root": "ROOT"}}
HEADS = {
    "signed": guide_text.SIGNED_SECTION,
    "checkpoint": guide_text.CHECKPOINT_SECTION,
    "provenance": guide_text.PROVENANCE_SECTION,
    "timestamp": guide_text.TIMESTAMP_SECTION,
    "taped": guide_text.TAPED_SECTION,
    "unsigned": guide_text.UNSIGNED_SECTION,
}


def titles(text):
    """The lines of a text that are headings."""
    return [line for line in text.splitlines() if line.startswith("## ")]


COMMON = titles(guide_text.HEAD)
FILES = {
    "signed": layout.ATTESTATION,
    "checkpoint": layout.CHECKPOINT,
    "provenance": layout.PROVENANCE,
    "timestamp": layout.TIMESTAMP,
}


def made(attached=(), listed=(), recordings=()):
    return guide(MANIFEST, "DIGEST", [*attached], [*listed], [*recordings]).decode()


@pytest.mark.parametrize(("name", "file"), FILES.items(), ids=FILES)
def test_a_guide_has_the_section_of_each_file_that_is_attached(name, file):
    own = [] if name == "signed" else titles(HEADS["unsigned"])
    text = made([file])
    assert titles(text) == [*COMMON, *titles(HEADS[name]), *own]
    assert file in text


def test_only_a_signed_bundle_names_a_trust_file():
    assert made().count(" --trust ../trust.json") == 0
    assert "    spec verify .\n" in made()
    signed = made([layout.ATTESTATION])
    assert "    spec verify . --trust ../trust.json\n" in signed
    assert HEADS["unsigned"] not in signed
    assert made().endswith(HEADS["unsigned"])


@pytest.mark.parametrize(
    ("listed", "taped"), [([], False), (["tape.jsonl"], True), (["runs/a/tape.jsonl"], True), (["a-tape.jsonl"], False)]
)
def test_a_bundle_with_answers_from_outside_says_what_binds_who_answered(listed, taped):
    (title,) = titles(HEADS["taped"])
    assert (title in made(listed=listed)) is taped


@pytest.mark.parametrize(
    ("recordings", "compared", "shown"),
    [
        ([], "the run, the specs or the root", ""),
        (["AA"], "the run, the specs, these logs or the root", "`AA`"),
        (["AA", "BB"], "the run, the specs, these logs or the root", "`AA`,\n`BB`"),
    ],
)
def test_a_guide_compares_what_the_manifest_says(recordings, compared, shown):
    text = made(recordings=recordings)
    assert f"Compare {compared} with values that you have from elsewhere." in text
    assert shown in text
    assert text.startswith(
        "# How to verify this bundle\n\nmanifest.json has the SHA-256 digest\n`DIGEST`.\n"
        "It is about the run `RUN` of the specs\n`SPECS`,\n"
    )
    assert "with 12 receipts under the Merkle root\n`ROOT`.\n" in text
    assert ("these logs" in text) is bool(recordings)
