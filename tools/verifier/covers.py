"""What covers a manifest: in-toto statements, signed checkpoints, the digest that a time stamp is over (RFC 3161)."""

import hashlib
import re

from tools.verifier.basis import ATTESTATION, BIG, MANIFEST, PROVENANCE, SPECS, Refuted, demand, unbase64, write


def statement(type_, subject, predicate):
    """An in-toto statement about the manifest, in canonical JSON."""
    digest = {"sha256": hashlib.sha256(subject).hexdigest()}
    kind = "https://in-toto.io/Statement/v1"
    return write(
        {
            "_type": kind,
            "predicate": predicate,
            "predicateType": type_,
            "subject": [{"digest": digest, "name": MANIFEST}],
        }
    )


def statements(manifest, data):
    """What the two envelopes must say, all of which follows from the manifest; `data` are its bytes."""
    result = manifest["result"]
    outcome = "WARNED" if result.get("warnings") else "PASSED"
    outcome = outcome if result["verdict"] == "PASS" else "FAILED"
    specs = next(entry["sha256"] for entry in manifest["files"] if entry["path"] == SPECS)
    tested = {"configuration": [{"digest": {"sha256": specs}, "name": SPECS}], "result": outcome}
    canonical = {"canonicalization": "RFC8785", "digestAlgorithm": "sha256"}
    canonical.update(digestSource="canonical-json", tool="specledger")
    oscal = "https://oscal-compass.github.io/compliance-trestle/predicates/oscal-signing/v1"
    types = {
        ATTESTATION: ("https://in-toto.io/attestation/test-result/v0.1", data, tested),
        PROVENANCE: (oscal, data[:-1], canonical),
    }
    return {name: statement(*one) for name, one in types.items()}


NAME = re.compile(r"[!-*,-~]{1,255}")


def note(data, code="E_CHECKPOINT"):
    """A checkpoint: its origin, its head, its signatures, and the text that they are over."""
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        raise Refuted(code, "the checkpoint is not UTF-8") from None
    demand(len(lines) >= 6 and not lines[3] and not lines[-1], code, "a checkpoint is three lines and signatures")
    demand(NAME.fullmatch(lines[0]), code, "the origin is none")
    demand(re.fullmatch(r"0|[1-9][0-9]{0,15}", lines[1]) and int(lines[1]) <= BIG, code, "the size is none")
    root = unbase64(lines[2], code, "the root")
    demand(len(root) == 32, code, "the root has not 32 bytes")
    signatures = []
    for line in lines[4:-1]:
        parts = line.split(" ")
        demand(
            len(parts) == 3 and parts[0] == "\u2014" and NAME.fullmatch(parts[1]), code, "a signature line is malformed"
        )
        raw = unbase64(parts[2], code, "a signature")
        demand(len(raw) > 4, code, "a signature line is too short")
        signatures.append((parts[1], raw))
    own = {(name, raw[:4]) for name, raw in signatures}
    demand(len(own) == len(signatures) <= 16, code, "a key signed twice, or more than 16 did")
    text = "".join(f"{line}\n" for line in lines[:3]).encode()
    return {"origin": lines[0], "head": (int(lines[1]), root.hex()), "signatures": signatures, "text": text}


# Time stamps (RFC 3161): what is stamped; whether an authority signed it takes its certificates


class Der:
    """Reads the values of a constructed DER value in their order."""

    def __init__(self, data):
        self.data = data

    def take(self, tag):
        """The content of the next value, which has this tag."""
        code, data = "E_TIMESTAMP", self.data
        demand(len(data) >= 2 and data[0] == tag, code, "the time stamp is malformed")
        start, length = 2, data[1]
        if length >= 0x80:
            start = 2 + length - 0x80
            length = int.from_bytes(data[2:start], "big")
            short = length < 0x80 or data[2] == 0
            demand(3 <= start <= 5 and len(data) >= start and not short, code, "the time stamp is not DER")
        content, self.data = data[start : start + length], data[start + length :]
        demand(len(content) == length, code, "the time stamp is cut off")
        return content

    def into(self, tag):
        """A reader of the next value, which is constructed."""
        return Der(self.take(tag))


def imprint(data):
    """The SHA-256 digest that a granted response is over."""
    code = "E_TIMESTAMP"
    whole = Der(data)
    response = whole.into(0x30)
    status = response.into(0x30).take(0x02)
    demand(status in (b"\0", b"\1"), code, "the time stamp was not granted")
    token = response.into(0x30)
    demand(not whole.data and not response.data, code, "something follows the time stamp")
    kind = token.take(0x06).hex()
    demand(kind == "2a864886f70d010702", code, "the token is no SignedData")
    signed = token.into(0xA0).into(0x30)
    signed.take(0x02), signed.take(0x31)
    content = signed.into(0x30)
    kind = content.take(0x06).hex()
    demand(kind == "2a864886f70d0109100104", code, "the signed content is no TSTInfo")
    info = Der(content.into(0xA0).take(0x04)).into(0x30)
    version = info.take(0x02)
    demand(version == b"\1", code, "the version of the TSTInfo is not 1")
    info.take(0x06)
    stamped = info.into(0x30)
    kind = stamped.into(0x30).take(0x06).hex()
    demand(kind == "608648016503040201", code, "the digest is not one of SHA-256")
    digest = stamped.take(0x04)
    demand(len(digest) == 32 and not stamped.data, code, "the digest has not 32 bytes")
    info.take(0x02)
    when = info.take(0x18)
    demand(re.fullmatch(rb"\d{14}(\.\d*[1-9])?Z", when), code, "the time is none")
    return digest
