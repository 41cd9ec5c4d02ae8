"""`VERIFY.md`: how to check a bundle with common tools alone.

It repeats only digests of the manifest, so no text of a spec is near commands that people copy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from specledger.evidence.envelope import PAYLOAD_TYPE
from specledger.evidence.guide_text import (
    CHECKPOINT_SECTION,
    HEAD,
    LOGS_SECTION,
    PROVENANCE_SECTION,
    SIGNED_SECTION,
    TAPED_SECTION,
    TIMESTAMP_SECTION,
    UNSIGNED_SECTION,
)
from specledger.evidence.layout import (
    ATTESTATION,
    CHECKPOINT,
    PROVENANCE,
    TAPE,
    TIMESTAMP,
)


def guide(
    manifest: Mapping[str, Any],
    digest: str,
    attached: Collection[str],
    listed: Collection[str],
    recordings: Sequence[str],
) -> bytes:
    """The guide to one bundle; `listed` are the paths of its files, those of the bundles in it included."""
    signed = ATTESTATION in attached
    logs = ",\n".join(f"`{recording}`" for recording in recordings)
    receipts = manifest["receipts"]
    text = HEAD.format(
        digest=digest,
        run=manifest["run"],
        specs=manifest["specs"],
        logs=LOGS_SECTION.format(digests=logs) if recordings else "",
        compared="the run, the specs, these logs or the root" if recordings else "the run, the specs or the root",
        count=receipts["count"],
        root=receipts["root"],
        trust=" --trust ../trust.json" if signed else "",
    )
    sections = {
        ATTESTATION: SIGNED_SECTION.format(envelope=ATTESTATION, type=PAYLOAD_TYPE, length=len(PAYLOAD_TYPE)),
        CHECKPOINT: CHECKPOINT_SECTION.format(file=CHECKPOINT),
        PROVENANCE: PROVENANCE_SECTION.format(file=PROVENANCE),
        TIMESTAMP: TIMESTAMP_SECTION.format(file=TIMESTAMP),
    }
    taped = [TAPED_SECTION.format()] if any(path.rpartition("/")[2] == TAPE for path in listed) else []
    parts = [text, *taped, *(section for name, section in sections.items() if name in attached)]
    return "".join(parts if signed else [*parts, UNSIGNED_SECTION]).encode()
