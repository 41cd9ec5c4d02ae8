"""What a verification of intact evidence establishes beside its checks: what it records, and who signed it.

Both are facts that programs read, and lines of the text for people that say the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from specledger.core.diagnostics import counted
from specledger.evidence.decided import challenges_of
from specledger.evidence.layout import ATTESTATION, MANIFEST
from specledger.evidence.recordings import is_log, recordings_by_run, recordings_of
from specledger.evidence.seal import listed_files
from specledger.verify.checks import E_MANIFEST
from specledger.verify.manifest import MAX_MANIFEST, read_document
from specledger.verify.programs import program_words, programs_of
from specledger.verify.signed import Seals, envelope_signers, note_signers
from specledger.verify.trust import Trust


def recorded_facts(folder: Path, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the evidence records: its verdict, and what readers compare with values from elsewhere."""
    listed = listed_files(folder)
    inner = [path for path in listed if path.startswith("runs/") and path.endswith(f"/{MANIFEST}")]
    results = [read_document(folder / path, MAX_MANIFEST, E_MANIFEST)["result"] for path in inner]
    recordings = recordings_of(folder, listed)
    logs = {
        "challenges": challenges_of(results or [manifest["result"]]),
        "program": programs_of(folder, listed),
        "recording": sorted({*recordings.values()}),
        "recordings": recordings_by_run(recordings),
        "withheld": sum(kept_verdicts(folder, listed).values()),
    }
    named = {"verdict": manifest["result"]["verdict"], "run": manifest["run"], "specs": manifest["specs"]}
    return named | {name: value for name, value in logs.items() if value}


def kept_verdicts(folder: Path, listed: Iterable[str]) -> Mapping[str, int]:
    """How many verdicts of each rule are from before a value was withheld: replay only takes them over.

    `listed` are the paths of the files of a bundle. That of a recording stands beside the manifest of its run.
    """
    kept: Counter[str] = Counter()
    for path in listed:
        if is_log(path):
            result = read_document((folder / path).with_name(MANIFEST), MAX_MANIFEST, E_MANIFEST)["result"]
            kept.update({rule: counts.get("withheld", 0) for rule, counts in result.get("rules", {}).items()})
    return {rule: times for rule, times in kept.items() if times}


def kept_words(number: int) -> str:
    """What is not checked of verdicts about withheld values."""
    are = "is" if number == 1 else "are"
    return f"{counted(number, 'verdict')} about withheld values {are} as recorded; nobody can check that here"


def signer_facts(trust: Trust | None, seals: Seals) -> Mapping[str, Any]:
    """Who signed: the trusted keys that signed everything, and the keys that others are said to be."""
    if seals.note is None:
        return {"origin": None, "trusted": [], "others": []}
    trusted: frozenset[str] = frozenset()
    if trust is not None:
        parts = [envelope_signers(trust, name, envelope) for name, envelope in seals.envelopes.items()]
        trusted = note_signers(trust, seals.note).intersection(*parts)
    named = {signature.key for signature in seals.envelopes[ATTESTATION].signatures}
    return {"origin": seals.note.origin, "trusted": sorted(trusted), "others": sorted(named - trusted)}


def compared_words(recorded: Mapping[str, Any]) -> str:
    """What readers compare, in words: every digest is whole."""
    by_run, digests = recorded.get("recordings", {}), recorded.get("recording", ())
    named = [f"of {run} {digest}" for run, digest in by_run.items()] if len(digests) > 1 else digests
    logs = "".join(f", recording {name}" for name in named)
    programs = f", program {program_words(recorded['program'])}" if "program" in recorded else ""
    return f"run {recorded['run']}, specs {recorded['specs']}{logs}{programs}"


def signer_words(signers: Mapping[str, Any]) -> str:
    """Who signed, in words."""
    if signers["origin"] is None:
        return "nobody signed: anybody can have written it"
    parts = [f"by your trusted {_keys(signers['trusted'])}"] if signers["trusted"] else []
    if signers["others"]:
        parts.append(f"said to be by the {_keys(signers['others'])}, not checked: it is no key that you trust")
    return f"{'; '.join(parts)}; in the name {signers['origin']}"


def _keys(ids: Sequence[str]) -> str:
    return f"key{'' if len(ids) == 1 else 's'} {', '.join(ids)}"
