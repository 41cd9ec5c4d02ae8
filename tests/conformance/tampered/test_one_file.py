"""The one-file verifier by itself: Ed25519, canonical form, hostile input, old Pythons; and the runner of the suite."""

import ast
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from specledger.core.canonical import NotCanonical, parse_canonical
from specledger.core.diagnostics import codes
from tests.conformance.tampered.verifiers import by_one_file
from tools import conformance, verify
from tools.conformance import PLACE, Laid

SOURCE = Path(verify.__file__)

RFC_8032 = [
    ("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "", "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
    ("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72", "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
    ("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82", "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"),
]  # fmt: skip
"""RFC 8032, 7.1, tests 1 to 3: secret, public, message, signature."""

SMALL = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
]
"""Encodings of points of small order."""


def by_openssl(public, signature, message):
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


@pytest.mark.parametrize(("secret", "public", "message", "signature"), RFC_8032, ids=["1", "2", "3"])
def test_the_vectors_of_rfc_8032(secret, public, message, signature):
    public, message, signature = map(bytes.fromhex, (public, message, signature))
    assert Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret)).sign(message) == signature
    assert verify.ed25519(public, signature, message)
    assert not verify.ed25519(public, signature, message + b"x")


def test_what_is_a_signature_is_as_for_openssl():
    draw = random.Random(8032)
    for number in range(40):
        key = Ed25519PrivateKey.from_private_bytes(draw.randbytes(32))
        public, message = key.public_key().public_bytes_raw(), draw.randbytes(number)
        right = key.sign(message)
        more = (int.from_bytes(right[32:], "little") + verify.ORDER).to_bytes(32, "little")
        at = draw.randrange(64)
        flipped = right[:at] + bytes([right[at] ^ 1 << draw.randrange(8)]) + right[at + 1 :]
        for signature in (right, right[:32] + more, flipped, draw.randbytes(64), right[:63], right + b"\0", b""):
            found = verify.ed25519(public, signature, message)
            assert found == by_openssl(public, signature, message) == (signature == right)


def test_points_of_small_order_are_as_for_openssl():
    """R of small order with S = 0 under a key of small order: accepted by both where the equation holds."""
    accepted = 0
    for public in map(bytes.fromhex, SMALL[:3] + SMALL[4:]):
        for point in map(bytes.fromhex, SMALL):
            for message in (b"", b"a", b"b"):
                signature = point + bytes(32)
                found = verify.ed25519(public, signature, message)
                assert found == by_openssl(public, signature, message)
                accepted += found
    assert accepted


@pytest.mark.parametrize(
    "public", [(verify.P + 1).to_bytes(32, "little"), bytes.fromhex(SMALL[0])[:31] + b"\x80", b"\x02" + bytes(31)]
)
def test_a_key_that_is_not_the_one_encoding_of_a_point_is_refused(public):
    assert not verify.ed25519(public, bytes.fromhex(SMALL[0]) + bytes(32), b"")


TEXTS = [b'"a"', b"1", b"-0", b"1.0", b"1e1", b"null", b"true", b"[", b"]", b"{", b"}", b":", b",", b" ", b'"\\u00e9"', b'"\xc3\xa9"', b'"\\/"', b"\xef\xbb\xbf", b"9007199254740991", b"9007199254740992", b"\x00", b'"\\ud83d\\ude00"', b'"\xf0\x9f\x98\x80"', b'"b"', b"NaN", b'"\x7f"', b'"\\u001f"', b'"\\b"', b'"\\u0008"']  # fmt: skip


def test_what_is_canonical_is_as_for_the_engine():
    draw, agreed = random.Random(1), 0
    whole = [b'{"a":[1,{"b":null}],"b":"\xc3\xa9"}', b"[" * 64 + b"]" * 64, b"[" * 65 + b"]" * 65, b'{"b":1,"a":2}']
    for number in range(3000):
        text = whole[number] if number < len(whole) else b"".join(draw.choices(TEXTS, k=draw.randrange(1, 7)))
        try:
            wanted = parse_canonical(text)
        except NotCanonical:
            with pytest.raises(verify.Refuted):
                verify.read(text, "E_LINE", "x")
        else:
            assert verify.read(text, "E_LINE", "x") == wanted
            agreed += 1
    assert agreed > 50


@pytest.mark.parametrize("base", ["short", "outside", "refuted", "suite"])
def test_no_input_crashes_it(tmp_path, base):
    """Values in the files are replaced at random, and what covers them is gone; whatever comes of it has a code."""
    draw = random.Random(base)
    place = shutil.copytree(PLACE / "bases" / base, tmp_path / "bundle")
    for path in (place / "checkpoint", place / "attestation.dsse.json", place / "manifest.json.dsse.json"):
        path.unlink()
    files = sorted(place.rglob("*.json*"))
    for _ in range(60):
        path = draw.choice(files)
        data = path.read_bytes()
        lines = data.split(b"\n")
        at = draw.randrange(len(lines) - 1)
        document = json.loads(lines[at])
        spoil(document, draw)
        lines[at] = verify.write(document)
        path.write_bytes(b"\n".join(lines))
        refit(place, path)
        said = by_one_file(Laid(place, {}))
        assert said.exit in (0, 1)
        path.write_bytes(data)
        refit(place, path)
    assert by_one_file(Laid(place, {})).exit == 0


def spoil(document, draw):
    """Put something else in the place of one value."""
    holder = document
    while True:
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        key = draw.choice(keys)
        if not isinstance(holder[key], (dict, list)) or not holder[key] or draw.random() < 0.2:
            holder[key] = draw.choice([None, True, -1, 2**53 - 1, "", "x" * 64, [], {}, [[]], {"a": {}}])
            return
        holder = holder[key]


def refit(place, path):
    """Let the manifest beside a file list it as it is, if it lists it at all."""
    if path.name == "manifest.json":
        return
    manifest = next(folder / "manifest.json" for folder in path.parents if (folder / "manifest.json").exists())
    document = json.loads(manifest.read_bytes())
    for entry in document["files"]:
        if entry["path"] == path.relative_to(manifest.parent).as_posix():
            entry |= {"sha256": verify.file_sha256(path), "size": path.stat().st_size}
    manifest.write_bytes(verify.write(document) + b"\n")


@pytest.mark.parametrize("data", [b"", b"x", b"PK\5\6" + bytes(18), b"\0" * 100])
def test_a_file_that_is_no_bundle_is_said_to_be_none(tmp_path, capsys, data):
    (tmp_path / "file").write_bytes(data)
    assert verify.main([str(tmp_path / "file"), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["code"] == "E_NO_EVIDENCE"
    assert verify.main([str(tmp_path / "gone")]) == 2


def test_it_shares_no_code_with_the_engine_and_needs_nothing_but_python():
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"), feature_version=(3, 9))
    roots = {
        alias.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    roots |= {str(node.module).partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert roots <= sys.stdlib_module_names
    ast.parse(Path(conformance.__file__).read_text(encoding="utf-8"), feature_version=(3, 9))


def test_every_code_that_it_tells_has_a_page():
    """`NoLaw` is told the beginning of a code of the engine, and tells nobody."""
    told = set()
    for call in ast.walk(ast.parse(SOURCE.read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") != "NoLaw":
            given = [one.value for one in call.args if isinstance(one, ast.Constant)]
            told |= {one for one in given if isinstance(one, str) and re.fullmatch(r"E_[A-Z_]+", one)}
    assert len(told) > 30
    assert told <= set(codes())


def test_any_command_can_be_run_on_the_suite():
    """The worked example of the documentation, on one family; and a program that accepts everything."""
    runner = [sys.executable, str(Path(conformance.__file__)), "--only", "rollback"]
    done = subprocess.run([*runner, sys.executable, str(SOURCE)], capture_output=True, text=True, check=False)
    assert (done.returncode, "It conforms." in done.stdout) == (0, True), done.stdout + done.stderr
    done = subprocess.run([*runner, sys.executable, "-c", ""], capture_output=True, text=True, check=False)
    assert (done.returncode, "2 WRONG" in done.stdout) == (1, True)


@pytest.mark.parametrize(
    "words", [["--only", "rollback", "no-such-command"], ["--only", "no-such-case", sys.executable]]
)
def test_a_suite_that_cannot_be_run_is_said_so_in_one_line(capsys, words):
    with pytest.raises(SystemExit) as ended:
        conformance.main(words)
    said = capsys.readouterr()
    assert (ended.value.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "no-such" in said.err
