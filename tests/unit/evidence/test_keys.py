"""Keys: made once, for their owner alone, found in files and the environment, and never shown."""

import base64
import os
import pickle
import stat
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from specledger.core.diagnostics import Rejected
from specledger.evidence.keys import (
    key_id,
    load_key,
    load_public,
    new_key,
    public_pem,
    trust_document,
    verify,
)
from tests.toys.refusals import codes

SECRET = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")  # RFC 8032, 7.1, test 1
PUBLIC = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
SIGNATURE = bytes.fromhex(
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
)
PEM = "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n".format(
    base64.b64encode(bytes.fromhex("302e020100300506032b657004220420") + SECRET).decode()
)


def pem_of(private, password=None):
    encryption = serialization.NoEncryption() if password is None else serialization.BestAvailableEncryption(password)
    return private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)


def test_a_known_key_from_a_file(tmp_path):
    (tmp_path / "key").write_text(PEM)
    key = load_key(str(tmp_path / "key"))
    assert (key.public, key.sign(b"")) == (PUBLIC, SIGNATURE)
    assert verify(PUBLIC, SIGNATURE, b"")


def test_a_key_from_the_environment(monkeypatch):
    monkeypatch.setenv("SIGNING", PEM)
    assert load_key("env:SIGNING").public == load_public("env:SIGNING")


def test_a_new_key_is_for_its_owner_alone(tmp_path):
    place = tmp_path / "deep" / "key.pem"
    before = os.umask(0)
    try:
        key = new_key(place)
    finally:
        os.umask(before)
    beside = tmp_path / "deep" / "key.pem.pub"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert load_key(str(place)) == key
    assert load_public(str(place)) == load_public(str(beside)) == key.public
    assert beside.read_bytes() == public_pem(key.public)
    assert verify(key.public, key.sign(b"x"), b"x")
    assert new_key(tmp_path / "other").public != key.public


@pytest.mark.parametrize("taken", ["key", "key.pub"])
@pytest.mark.parametrize("what", ["file", "link", "folder"])
def test_nothing_is_overwritten(tmp_path, taken, what):
    put = {
        "file": lambda path: path.write_text("mine"),
        "link": lambda path: path.symlink_to("target"),
        "folder": Path.mkdir,
    }
    put[what](tmp_path / taken)
    assert codes(new_key, tmp_path / "key") == ["E_KEY_EXISTS"]
    assert [path.name for path in tmp_path.iterdir()] == [taken]
    assert what != "file" or (tmp_path / taken).read_text() == "mine"


def test_a_key_that_cannot_be_written_is_said_so(tmp_path):
    (tmp_path / "file").write_text("")
    assert codes(new_key, tmp_path / "file" / "key") in (["E_KEY"], ["E_KEY_EXISTS"])


HOSTILE = {
    "nothing": b"",
    "no PEM": b"MC4CAQAwBQYDK2VwBCIEIKT-SECRET-WORDS",
    "hexadecimal digits": SECRET.hex().encode(),
    "a damaged key": PEM.replace("MC4CAQ", "MC5CAQ").encode(),
    "a cut key": PEM[:60].encode(),
    "an encrypted key": pem_of(ed25519.Ed25519PrivateKey.from_private_bytes(SECRET), b"hush"),
    "a key of another kind": pem_of(ec.generate_private_key(ec.SECP256R1())),
    "a public key": public_pem(PUBLIC),
    "a file without end": b"-----BEGIN PRIVATE KEY-----\n" + b"A" * 20_000,
    "no text": b"\xff\x00" * 40,
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_private_key_is_refused_and_not_shown(tmp_path, data):
    (tmp_path / "key").write_bytes(data)
    with pytest.raises(Rejected) as rejected:
        load_key(str(tmp_path / "key"))
    assert rejected.value.diagnostics[0].code == "E_KEY"
    said = (
        repr(rejected.value) + str(rejected.value) + repr(rejected.value.__cause__) + repr(rejected.value.__context__)
    )
    lines = [line for line in data.decode(errors="replace").splitlines() if line and "-----" not in line]
    assert not any(line[:16] in said for line in lines if len(line) >= 16)


@pytest.mark.parametrize("source", ["env:NOT_THERE_AT_ALL", "env:", "not/there", "", "/", "a\0b"])
def test_a_key_that_is_not_there(source):
    assert codes(load_key, source) == ["E_KEY"]


@pytest.mark.parametrize("data", [b"", b"x", pem_of(ec.generate_private_key(ec.SECP256R1()))])
def test_what_is_no_public_key_is_refused(tmp_path, data):
    (tmp_path / "key").write_bytes(data)
    assert codes(load_public, str(tmp_path / "key")) == ["E_KEY"]


def test_a_key_shows_nothing_and_stays_in_its_process(tmp_path):
    (tmp_path / "key").write_text(PEM)
    key = load_key(str(tmp_path / "key"))
    assert SECRET.hex() not in repr(key)
    assert "rivate" not in repr(key)
    with pytest.raises(TypeError):
        pickle.dumps(key)


BAD = {
    "another document": lambda public, signature: (public, signature, b"other"),
    "another key": lambda public, signature: (bytes(32), signature, b"data"),
    "a short key": lambda public, signature: (public[:31], signature, b"data"),
    "no key": lambda public, signature: (b"", signature, b"data"),
    "a short signature": lambda public, signature: (public, signature[:63], b"data"),
    "no signature": lambda public, signature: (public, b"", b"data"),
    "a flipped bit": lambda public, signature: (public, bytes([signature[0] ^ 1]) + signature[1:], b"data"),
    "a signature plus the order": lambda public, signature: (
        public,
        signature[:32]
        + (int.from_bytes(signature[32:], "little") + 2**252 + 27742317777372353535851937790883648493).to_bytes(
            32, "little"
        ),
        b"data",
    ),
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_what_is_no_signature(change):
    private = ed25519.Ed25519PrivateKey.from_private_bytes(SECRET)
    public, signature = private.public_key().public_bytes_raw(), private.sign(b"data")
    assert verify(public, signature, b"data")
    assert verify(*change(public, signature)) is False


def test_trust_holds_the_public_key_alone():
    assert trust_document(PUBLIC, "example.org/{run}", {"run": "ab" * 16}) == {
        "format": "specledger/trust/v1",
        "origin": "example.org/{run}",
        "keys": [{"id": key_id(PUBLIC), "public": base64.b64encode(PUBLIC).decode()}],
        "threshold": 1,
        "run": "ab" * 16,
    }


CALLS = {
    "making one": lambda folder: new_key(folder / "key"),
    "reading one": lambda folder: load_key("env:SIGNING"),
    "reading a public one": lambda folder: load_public("env:SIGNING"),
    "verifying": lambda folder: verify(PUBLIC, bytes(64), b""),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_without_the_package_it_is_said_what_to_install(call, tmp_path, monkeypatch):
    monkeypatch.setenv("SIGNING", PEM)
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(Rejected) as rejected:
        call(tmp_path)
    assert rejected.value.diagnostics[0].code == "E_KEY_PACKAGE"
    assert rejected.value.diagnostics[0].message.endswith("is not installed: pip install 'specledger[sign]'")
    assert list(tmp_path.iterdir()) == []
