"""Inclusion proofs: one receipt is at one place of a log with a given root, shown without the other receipts.

A proof, `specledger/inclusion/v1`, holds the receipt's line, its place, the size and the root of the log, and the path.
Whether the root is the right one follows only from a known head of the same run.

Source: RFC 6962, section 2.1.1; RFC 9162, section 2.1.3.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, convert

from specledger.core.canonical import NotCanonical, parse_canonical, parse_json
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.merkle import leaf_hash, root_of
from specledger.core.merkle_proofs import inclusion_path, verify_inclusion
from specledger.evidence.layout import MAX_LINE, Count, Digest
from specledger.verify import check_names
from specledger.verify.assurance_levels import Reader
from specledger.verify.check_names import CheckName
from specledger.verify.checks import Broken, Lacking, Level, Nothing, Stopped, Verification
from specledger.verify.fork import E_FORK, E_OTHER_LOG, Against
from specledger.verify.signed import E_EXPECTED, E_UNSIGNED, E_UNTRUSTED, note_signers
from specledger.verify.trust import Seen, Trust, read_bounded

MAX_PROOF: Final = 2 * MAX_LINE
"""Bytes of a proof's file at most."""

E_PROOF = code("E_PROOF", "an inclusion proof does not hold")
E_PROOF_FORM = code("E_PROOF_FORM", "the file is no inclusion proof")
E_NO_RECEIPT = code("E_NO_RECEIPT", "there is no such receipt")


class Proof(Struct, frozen=True, forbid_unknown_fields=True):
    """An inclusion proof; `path` leads from the hash of `receipt`, the `leaf` of the number `index`, to `root`."""

    format: Literal["specledger/inclusion/v1"]
    run: str
    index: Count
    size: Count
    leaf: Digest
    path: Annotated[tuple[Digest, ...], Meta(max_length=64)]
    root: Digest
    receipt: str


def prove(lines: Iterable[bytes], run: str, index: int) -> dict[str, Any]:
    """The proof that the receipt of a number is part of a run, all of whose receipts were found in order."""
    hashes, receipt = [], b""
    for number, line in enumerate(lines):
        hashes.append(leaf_hash(line))
        if number == index:
            receipt = line
    if not 0 <= index < len(hashes):
        raise Rejected([Diagnostic(E_NO_RECEIPT, f"there is no receipt {index}: the last one is {len(hashes) - 1}")])
    return {
        "format": "specledger/inclusion/v1",
        "run": run,
        "index": index,
        "size": len(hashes),
        "leaf": hashes[index].hex(),
        "path": [part.hex() for part in inclusion_path(hashes, index)],
        "root": root_of(hashes).hex(),
        "receipt": receipt.decode(),
    }


def verify_proof(path: Path, reader: Reader) -> Verification:
    """Check an inclusion proof by itself, and by what the reader knows from elsewhere: heads, and whom he trusts.

    Of the reader it takes the heads (`against`), whom he trusts, and the levels that he names.
    """
    proof, verification = _read(path), Verification()
    verification.asked = reader.asked if reader.levels else reader.asked - {Level.REPLAYED} | {Level.UNFORKED}
    verification.demanded = reader.levels
    verification.signed = any(before.note is not None and _states(before.seen, proof) for before in reader.against)
    with suppress(Stopped):
        _check(verification, proof, reader)
    planned = [(check_names.PROOF_PATH, Level.INTACT)]
    if reader.trust is not None:
        planned += [(check_names.PROOF_EXPECTED, Level.SIGNED), (check_names.PROOF_SIGNED, Level.SIGNED)]
    planned += [(_head_name(before), Level.UNFORKED) for before in reader.against]
    verification.stop(planned)
    return verification


def _check(verification: Verification, proof: Proof, reader: Reader) -> None:
    trust, against = reader.trust, reader.against
    verification.attempt(check_names.PROOF_RECEIPT, partial(_check_receipt, proof))
    verification.attempt(check_names.PROOF_PATH, partial(_check_path, proof))
    if trust is None:
        why = "no trusted keys given (--trust)"
        verification.not_made(check_names.PROOF_SIGNED, why, Level.SIGNED)
    else:
        verification.attempt(check_names.PROOF_EXPECTED, partial(_check_expected, proof, trust), Level.SIGNED)
        verification.attempt(check_names.PROOF_SIGNED, partial(_check_signed, proof, trust, against), Level.SIGNED)
    # one for each checkpoint
    for before in against:
        verification.attempt(_head_name(before), partial(_check_head, proof, before, trust), Level.UNFORKED)
    if not against:
        why = "no checkpoint was given by --against: any root can be made"
        verification.not_made(check_names.PROOF_UNKNOWN_HEAD, why, Level.UNFORKED)


def _head_name(before: Against) -> CheckName:
    return check_names.PROOF_HEAD.of(before.where)


def _check_expected(proof: Proof, trust: Trust) -> str:
    if trust.run is not None and trust.run != proof.run:
        raise Broken(E_EXPECTED, f"the run is {proof.run}, expected is {trust.run}")
    if not trust.expects:
        raise Nothing("the trust file names no run, no specs, no recording and no program, so any will do")
    if trust.program is not None:
        raise Lacking("no receipt says which program answered: verify the bundle")
    bound = [f"run {proof.run}"]
    logs = trust.recording
    if isinstance(logs, Mapping):
        raise Lacking("no receipt says which logs each run of a suite judged: verify the bundle")
    for name, expected in (("specs", trust.specs), ("recording", logs)):
        if expected is not None:
            bound.append(_check_stated(proof, name, expected))
    return ", ".join(bound)


def _check_stated(proof: Proof, name: str, expected: str | tuple[str, ...]) -> str:
    """Compare what receipt 0 states of the specs or of the logs that were judged; words for what it states."""
    receipt: Any = parse_canonical(proof.receipt.encode(), limit=MAX_LINE)
    first = receipt["body"] if receipt.get("type") == "start" and isinstance(receipt.get("body"), dict) else {}
    if "specs" not in first:
        raise Lacking(f"only receipt 0 has the digest of the {name}, and this is another receipt")
    stated = first["specs"]
    if name == "recording":
        if "scenario" not in first:
            raise Lacking("the first receipt of what is no single run does not say which logs were judged")
        logs = first.get(name)
        stated = (logs["digest"],) if isinstance(logs, dict) and "digest" in logs else ()
    if stated != expected:
        message = f"the receipt states the {name} {_listed(stated)}, expected is {_listed(expected)}"
        raise Broken(E_EXPECTED, message)
    return f"{name} {_listed(expected)}"


def _listed(digests: Any) -> str:
    return str(digests) if isinstance(digests, str) else ", ".join(map(str, digests)) or "none"


def _check_signed(proof: Proof, trust: Trust, heads: Sequence[Against]) -> str:
    """Check that enough trusted keys signed one checkpoint of the proof's head, and no signature is wrong."""
    origin = trust.origin_for(proof.run)
    notes = [before.note for before in heads if before.note is not None and before.note.origin == origin]
    if not notes:
        raise Lacking(f"no signed checkpoint of the log {origin} was given by --against", E_UNSIGNED)
    signers = [(note, note_signers(trust, note)) for note in notes]
    head = proof.size, proof.root
    most = max((keys for note, keys in signers if (note.size, note.root.hex()) == head), key=len, default=None)
    if most is None:
        raise Lacking("no checkpoint that was given states this head", E_UNSIGNED)
    if len(most) < trust.threshold:
        message = f"{len(most)} of your {len(trust.keys)} trusted keys signed it, {trust.threshold} must"
        raise Lacking(message, E_UNTRUSTED)
    return f"signed by {', '.join(sorted(most))} in the name {origin}"


def _check_head(proof: Proof, before: Against, trust: Trust | None) -> str:
    """Compare the proof's head with one that was seen; only two of one size and one log can contradict each other."""
    seen, run = before.seen, proof.run
    note = None if before.trusted else before.note
    if before.run is not None and before.run != run:
        raise Lacking(f"{before.where} is evidence of the run {before.run}, the proof of {run}", E_OTHER_LOG)
    if note is not None and trust is not None and note.origin != trust.origin_for(run):
        message = f"{before.where} is of the log {note.origin!a}, the proof of {trust.origin_for(run)!a}"
        raise Lacking(message, E_OTHER_LOG)
    if _states(seen, proof):
        return str(seen)  # the leaf holds the run, so the head is one of it
    if note is not None and before.run is None and trust is None and run not in note.origin:
        raise Lacking(f"that {before.where}, of the log {note.origin!a}, is of this run is not known", E_OTHER_LOG)
    both = f"the proof is for {proof.size} receipts, root {proof.root}; {before.where}: {seen}"
    if seen.size != proof.size:
        raise Lacking(f"{both}: ask for a proof for that size")
    raise Broken(E_FORK, both)


def _states(seen: Seen, proof: Proof) -> bool:
    """Whether a head that was seen is that of the proof."""
    return (seen.size, seen.root.hex()) == (proof.size, proof.root)


def _check_receipt(proof: Proof) -> str:
    line = proof.receipt.encode()
    try:
        receipt: Any = parse_canonical(line, limit=MAX_LINE)
    except NotCanonical as error:
        raise Broken(E_PROOF, f"the receipt is not canonical: {error}") from None
    known = isinstance(receipt, dict) and (receipt.get("run"), receipt.get("seq")) == (proof.run, proof.index)
    if not known or type(receipt["seq"]) is not int:
        raise Broken(E_PROOF, "the receipt is not that of the run and the number in the proof")
    if leaf_hash(line).hex() != proof.leaf:
        raise Broken(E_PROOF, "the leaf is not the hash of the receipt")
    return f"receipt {proof.index} of run {proof.run}"


def _check_path(proof: Proof) -> str:
    path, root = [bytes.fromhex(part) for part in proof.path], bytes.fromhex(proof.root)
    if not verify_inclusion(proof.receipt.encode(), proof.index, proof.size, path, root):
        raise Broken(E_PROOF, "the path does not lead from the receipt to the root")
    return f"root {proof.root} over {proof.size} receipts"


def _read(path: Path) -> Proof:
    try:
        proof = convert(parse_json(read_bounded(path, MAX_PROOF)), Proof)
        proof.receipt.encode()  # half of a pair of surrogates is no text
    except ValueError as error:
        raise Rejected([Diagnostic(E_PROOF_FORM, f"{path} is no inclusion proof: {error}")]) from error
    return proof
