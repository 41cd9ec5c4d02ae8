"""A signed bundle is checked with the commands of its own VERIFY.md: sha256sum, jq and openssl, without this engine.

Each test needs tools that not every system has; it says which one is missing.
"""

import re
import shutil
import subprocess

import pytest

from specledger.evidence.keys import new_key, public_pem
from specledger.evidence.seal import Seal, seal_bundle
from specledger.kinds.running import RunOptions
from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from tests import toys
from tests.authority import stamp


def need(*tools):
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def commands(place, heading):
    """The commands under a heading of the guide."""
    (section,) = (one for one in (place / "VERIFY.md").read_text().split("\n## ")[1:] if one.startswith(heading))
    return "".join(line[4:] + "\n" for line in section.splitlines() if line.startswith("    "))


def shell(place, script):
    done = subprocess.run(["sh", "-c", script], cwd=place, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """A signed bundle; around it lies what its reader has."""
    folder = tmp_path_factory.mktemp("signed")
    key, other = new_key(folder / "key.pem"), new_key(folder / "other.pem")
    (bundle,) = load_runs([str(toys.CLIMB / "climb.yaml")])
    execute(bundle, folder / "bundle", options=RunOptions(seal=Seal(key)))
    seal_bundle(folder / "bundle", Seal(other))
    (folder / "key.pub").write_bytes(public_pem(key.public))
    return folder


@pytest.fixture
def place(signed, tmp_path):
    shutil.copytree(signed, tmp_path / "mine")
    return tmp_path / "mine" / "bundle"


def change(place, name, old, new):
    text = (place / name).read_text()
    assert old in text
    (place / name).write_text(text.replace(old, new, 1))


@pytest.mark.parametrize("name", ["receipts.jsonl", "specs.json", "manifest.json", "checkpoint", "VERIFY.md"])
def test_sha256sum_finds_a_changed_file(place, name):
    need("sha256sum")
    script = commands(place, "With sha256sum")
    assert shell(place, script) == (0, "", "")
    change(place, name, "1", "2")
    status, said, _ = shell(place, script)
    assert (status, f"{name}: FAILED" in said) == (1, True)


@pytest.mark.medium
def test_jq_and_sha256sum_find_a_broken_chain(place):
    need("jq", "sha256sum")
    script = commands(place, "With jq: the chain")
    assert shell(place, script) == (0, "the chain is whole\n", "")
    change(place, "receipts.jsonl", '"t":1', '"t":2')
    status, said, _ = shell(place, script)
    assert (status, said) == (1, "BROKEN\n")


BOUND = {
    "specs.json": ("specs.json", "specs.json: FAILED"),
    "receipts.jsonl": ("receipts.jsonl", "receipts.jsonl: FAILED"),
    "a file of a bundle inside": ("runs/a/receipts.jsonl", "BROKEN ./runs/a/manifest.json"),
    "a manifest without files": ("manifest.json", "BROKEN ./manifest.json"),
}


@pytest.mark.parametrize(("name", "said"), BOUND.values(), ids=BOUND)
def test_jq_binds_every_file_to_the_manifest_that_is_signed(place, name, said):
    """Whoever changes a file can mend its line in sha256sums, which nobody signs."""
    need("jq", "sha256sum", "find")
    shutil.copytree(place, place / "runs" / "a")
    script = commands(place, "With jq: the files")
    assert shell(place, script) == (0, "", "")
    change(place, name, '"files":[' if name == "manifest.json" else "1", '"none":[' if name == "manifest.json" else "2")
    _, out, _ = shell(place, script)
    assert said in out


ATTESTED = {
    "another manifest": (lambda place: change(place, "manifest.json", "PASS", "FAIL"), "manifest.json: FAILED"),
    "another payload": (lambda place: change(place, "attestation.dsse.json", '"payload":"eyJ', '"payload":"eyK'), ""),
    "another key": (lambda place: shutil.copy(place.parent / "other.pem.pub", place.parent / "key.pub"), None),
    "a key that did not sign": (
        lambda place: (place.parent / "key.pub").write_bytes(public_pem(bytes.fromhex("d7" * 31 + "1a"))),
        "",
    ),
}


@pytest.mark.parametrize(("alter", "said"), ATTESTED.values(), ids=ATTESTED)
def test_openssl_verifies_who_signed(place, alter, said):
    need("openssl", "jq", "sha256sum", "base64")
    script = commands(place, "With openssl: who")
    right = "Signature Verified Successfully\nmanifest.json: OK\n"
    assert shell(place, script)[:2] == (0, right)
    alter(place)
    status, out, _ = shell(place, script)
    if said is None:  # it signed too
        assert (status, out) == (0, right)
    elif said:
        assert (status, said in out) == (1, True)
    else:
        assert "Verified Successfully" not in out


def test_openssl_verifies_the_checkpoint(place):
    need("openssl", "jq", "base64", "od")
    script = commands(place, "With openssl: the checkpoint")
    _, out, _ = shell(place, script)
    verified = [line for line in out.splitlines() if line.startswith("Signature")]
    assert sorted(verified) == ["Signature Verification Failure", "Signature Verified Successfully"]  # of two keys
    assert len(set(out.splitlines()[-2:])) == 1
    change(place, "checkpoint", "\n", "\n1")
    assert "Verified Successfully" not in shell(place, script)[1]


def test_openssl_verifies_a_time_stamp(place):
    need("openssl")
    seal_bundle(place, Seal(timestamp=stamp(place.parent)))
    verification, reading = commands(place, "With openssl: when").splitlines()
    assert shell(place, verification)[:2] == (0, "Verification: OK\n")
    assert re.search(r"Time stamp: .* 20\d\d GMT", shell(place, reading)[1])
    change(place, "manifest.json", "PASS", "FAIL")
    assert shell(place, verification)[0] != 0


@pytest.mark.slow
def test_compliance_trestle_verifies_the_manifest(place):
    """`make slow` installs it in an environment of its own, whose `bin` is on the path."""
    need("trestle")
    _, command = commands(place, "With compliance-trestle").splitlines()
    assert shell(place, command)[0] == 0
    change(place, "manifest.json", "PASS", "FAIL")
    status, _, said = shell(place, command)
    assert (status, "digest does not match" in said) == (1, True)
