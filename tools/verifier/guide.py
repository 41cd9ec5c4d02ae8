"""The words of VERIFY.md: those that this version writes, by their SHA-256 with the bundle's own figures taken out."""

import hashlib

from tools.verifier.basis import ATTESTATION, KNOWN_VERSION, TIMESTAMP, demand

GUIDE_WORDS = {
    (False, False): "173506f64c21016fe6f57f9d7c9e47a476ca3aead5c6457586bdf0292708a213",
    (False, True): "be5181e670ed9cd0bb1a2046ca3665c80ccc075d94b56e4bdff399cda7b68e21",
    (True, False): "5059486e7be7e2643ee13cb50a7de9612234b3a05d767e9c9256ea7d246f62e9",
    (True, True): "de5f6a9ff26adf53283d25764c59ec7118e27256957b306d6eea95c4e8e2d722",
}
"""By whether the bundle is signed, and whether it is stamped."""


def words_digest(text, digest, manifest):
    """SHA-256 of a guide in which the figures of its bundle, each at its first place, are replaced by their names."""
    receipts = manifest["receipts"]
    figures = [("digest", digest), ("root", receipts["root"]), *((name, manifest[name]) for name in ("run", "specs"))]
    for name, figure in figures:
        text = text.replace(f"`{figure}`", f"`{{{name}}}`", 1)
    text = text.replace(f"with {receipts['count']} receipts", "with {count} receipts", 1)
    return hashlib.sha256(text.encode()).hexdigest()


def check_words(bundle, text, digest):
    """See that the guide says what this version writes about such a bundle; another version's guide is not compared."""
    if bundle.manifest["engine"]["version"] != KNOWN_VERSION:
        bundle.unmade.append("the words of VERIFY.md, which another version wrote")
        return
    kind = (ATTESTATION in bundle.attached, TIMESTAMP in bundle.attached)
    same = words_digest(text, digest, bundle.manifest) == GUIDE_WORDS[kind]
    demand(same, "E_DIGESTS", "VERIFY.md has other words than it must")
