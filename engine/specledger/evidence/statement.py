"""The in-toto Statements about a bundle: what its envelopes say.

Decides their bytes, all of which follow from the manifest, so that a verifier makes them again and compares. Refuses to
know who signs them.

- `attestation`: the manifest is the subject, by SHA-256 of the file; `specs.json` is the configuration. PASS is called
  `PASSED`, or `WARNED` if the result has warnings; every other verdict is `FAILED`, also INCONCLUSIVE and ERROR, since
  nothing but a pass may be read as one. There is no `url`.
- `provenance`: the same subject for `trestle verify`. Its digest is over the canonical JSON of the manifest, which is
  the file without its final newline.

Source: in-toto Attestation Framework, Statement v1; predicate test-result v0.1; compliance-trestle 5.2, `trestle sign`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import sha256_hex
from specledger.core.verdict import Verdict
from specledger.evidence.layout import MANIFEST, SPECS

STATEMENT: Final = "https://in-toto.io/Statement/v1"
TEST_RESULT: Final = "https://in-toto.io/attestation/test-result/v0.1"
OSCAL_SIGNING: Final = "https://oscal-compass.github.io/compliance-trestle/predicates/oscal-signing/v1"


def attestation(manifest: Mapping[str, Any]) -> bytes:
    """The payload of `attestation.dsse.json`.

    Args:
        manifest: The manifest's content.
    """
    specs = next(entry["sha256"] for entry in manifest["files"] if entry["path"] == SPECS)
    predicate = {
        "configuration": [{"digest": {"sha256": specs}, "name": SPECS}],
        "result": outcome(manifest["result"]),
    }
    return _statement(canonical_bytes(manifest) + b"\n", TEST_RESULT, predicate)


def provenance(manifest: Mapping[str, Any]) -> bytes:
    """The payload of `manifest.json.dsse.json`.

    Args:
        manifest: The manifest's content.
    """
    predicate = {
        "canonicalization": "RFC8785",
        "digestAlgorithm": "sha256",
        "digestSource": "canonical-json",
        "tool": "specledger",
    }
    return _statement(canonical_bytes(manifest), OSCAL_SIGNING, predicate)


def outcome(result: Mapping[str, Any]) -> str:
    """What the predicate calls the result of a run: PASSED, WARNED or FAILED."""
    if result["verdict"] != Verdict.PASS:
        return "FAILED"
    return "WARNED" if result.get("warnings") else "PASSED"


def _statement(subject: bytes, type_: str, predicate: Mapping[str, Any]) -> bytes:
    return canonical_bytes(
        {
            "_type": STATEMENT,
            "predicate": dict(predicate),
            "predicateType": type_,
            "subject": [{"digest": {"sha256": sha256_hex(subject)}, "name": MANIFEST}],
        }
    )
