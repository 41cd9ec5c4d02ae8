"""`spec keys`, `spec seal`, and the options of `spec run` that sign: what they write, say, refuse, and never show."""

import base64
import hashlib
import json
import shutil
import stat
import subprocess

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from specledger.evidence.keys import load_key
from tests.toys.bundles import files_of
from tests.unit.evidence.test_seal import spellings
from tests.unit.evidence.test_timestamp import info, response

ORIGIN = "example.org/lab/{run}"


def public_of(secret):
    """The public key of a private one."""
    return Ed25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


@pytest.fixture
def key(spec, project):
    assert spec("keys", "new", "key.pem").status == 0
    return "key.pem"


def test_a_key_is_made_and_shown(spec, project):
    done = spec("keys", "new", "keys/mine")
    assert (done.status, done.err) == (0, "")
    assert stat.S_IMODE((project / "keys" / "mine").stat().st_mode) == 0o600
    name = done.out.split()[-1]
    shown = [spec("keys", "show", source).out for source in ("keys/mine", "keys/mine.pub")]
    assert shown[0] == shown[1] == f"key id {name}\n{(project / 'keys' / 'mine.pub').read_text()}"
    again = spec("keys", "new", "keys/mine")
    assert (again.status, "E_KEY_EXISTS" in again.err) == (2, True)


@pytest.fixture
def repository(project):
    """A folder of a git repository that tracks files of `specs`."""
    git = shutil.which("git")
    if git is None:
        pytest.skip("there is no git")
    folder = project / "repository"
    (folder / "specs").mkdir(parents=True)
    (folder / "specs" / "a.yaml").write_text("a")
    for words in (["init", "-q"], ["add", "specs"]):
        subprocess.run([git, *words], cwd=folder, check=True)
    return folder


def not_ignored(repository):
    """The files that `git add .` would stage."""
    done = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=all"],
        cwd=repository,
        check=True,
        capture_output=True,
        text=True,
    )
    return [line[3:] for line in done.stdout.splitlines() if line.startswith("??")]


@pytest.mark.parametrize("name", ["key.pem", "keys/mine.pem"])
def test_a_private_key_in_a_repository_is_ignored_by_git(spec, repository, monkeypatch, name):
    monkeypatch.chdir(repository)
    done = spec("keys", "new", name)
    assert (done.status, f"added to {repository / '.gitignore'}" in done.out) == (0, True)
    assert not_ignored(repository) == [".gitignore", f"{name}.pub"]


def test_a_key_that_is_ignored_already_changes_nothing(spec, repository, monkeypatch):
    (repository / ".gitignore").write_text("*.pem")
    monkeypatch.chdir(repository)
    assert "added" not in spec("keys", "new", "key.pem").out
    assert (repository / ".gitignore").read_text() == "*.pem"


@pytest.mark.parametrize(
    ("name", "ignored"), [("specs/key.pem", None), ("keys/key.pem", "# mine\n")], ids=["tracked", "cannot be ignored"]
)
def test_where_git_would_take_it_no_key_is_made(spec, repository, monkeypatch, name, ignored):
    if ignored is not None:
        (repository / ".gitignore").write_text(ignored)
        (repository / "keys").mkdir()
        (repository / "keys" / ".gitignore").write_text("!key.pem\n")
    before = files_of(repository)
    monkeypatch.chdir(repository)
    done = spec("keys", "new", name)
    assert (done.status, "error[E_KEY_TRACKED]" in done.err) == (2, True)
    assert files_of(repository) == before


def test_a_trust_that_cannot_be_printed_leaves_no_file_that_passes_for_one(spec, project, key):
    assert spec("keys", "show", "none.pem", "--trust").json == {"error": ["E_KEY"]}
    refused = spec("keys", "show", "none.pem", "--trust", "--out", "trust.json")
    assert (refused.status, refused.out, (project / "trust.json").exists()) == (2, "", False)
    assert spec("keys", "show", key, "--trust", "--out", "trust.json").out == ""
    assert json.loads((project / "trust.json").read_bytes()) == spec("keys", "show", key, "--trust").json


def test_what_a_reader_keeps(spec, key):
    trust = spec("keys", "show", f"{key}.pub", "--trust", "--origin", ORIGIN).json
    assert (trust["format"], trust["origin"], trust["threshold"]) == ("specledger/trust/v1", ORIGIN, 1)
    assert spec("keys", "show", key, "--trust").json["origin"] == "specledger/{run}"
    assert trust["keys"][0]["id"] in spec("keys", "show", key).out


def test_a_run_is_signed_as_it_is_sealed_later(spec, project, key, monkeypatch):
    assert spec("run", "climb.yaml", "--out", "once", "--sign", key, "--origin", ORIGIN).status == 0
    assert spec("run", "climb.yaml", "--out", "later").status == 0
    monkeypatch.setenv("SIGNING", (project / key).read_text())
    done = spec("seal", "later", "--sign", "env:SIGNING", "--origin", ORIGIN, "--replay")
    assert (done.status, done.err) == (0, "")
    assert files_of(project / "once") == files_of(project / "later")
    run = json.loads((project / "once" / "manifest.json").read_bytes())["run"]
    assert (project / "once" / "checkpoint").read_text().startswith(f"example.org/lab/{run}\n")


REFUSED = {
    "a key that is not there": (["run", "climb.yaml", "--sign", "none.pem"], "E_KEY"),
    "a variable that is not there": (["run", "climb.yaml", "--sign", "env:NOT_THERE_AT_ALL"], "E_KEY"),
    "a public key": (["run", "climb.yaml", "--sign", "key.pem.pub"], "E_KEY"),
    "an origin without a key": (["run", "climb.yaml", "--origin", "a"], "E_USAGE"),
    "an origin that is none": (["run", "climb.yaml", "--sign", "key.pem", "--origin", "a b"], "E_ORIGIN"),
    "one origin for two runs": (["run", "climb.yaml", "rise.yaml", "--sign", "key.pem", "--origin", "a"], "E_ORIGIN"),
    "one time stamp for two runs": (["run", "climb.yaml", "rise.yaml", "--timestamp", "stamp"], "E_TIMESTAMP"),
    "a time stamp of something else": (["run", "climb.yaml", "--timestamp", "stamp"], "E_TIMESTAMP"),
    "no time stamp": (["run", "climb.yaml", "--timestamp", "climb.yaml"], "E_TIMESTAMP"),
    "a seal of nothing": (["seal", "bundle"], "E_USAGE"),
    "no bundle": (["seal", "none", "--sign", "key.pem"], "E_NO_EVIDENCE"),
    "another origin": (["seal", "bundle", "--sign", "key.pem", "--origin", "b"], "E_SEAL_OTHER"),
    "an origin without a trust": (["keys", "show", "key.pem", "--origin", "a"], "E_USAGE"),
    "no key to show": (["keys", "show", "climb.yaml"], "E_KEY"),
}


@pytest.mark.parametrize(("words", "code"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_writes_nothing(spec, project, key, words, code):
    (project / "rise.yaml").write_text((project / "climb.yaml").read_text().replace("name: climb", "name: rise"))
    (project / "stamp").write_bytes(response())
    assert spec("run", "climb.yaml", "--out", "bundle", "--sign", key).status == 0
    before = files_of(project)
    done = spec(*words)
    assert (done.status, f"[{code}]" in done.err) == (2, True)
    assert files_of(project) == before
    assert "PRIVATE" not in done.out + done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--timestamp", "stamp"], "sealed bundle, with a time stamp"),
        (["--sign", "key.pem"], "sealed bundle, signed by the key {id}"),
        (["--sign", "key.pem", "--timestamp", "stamp", "--replay"],
         "sealed bundle, signed by the key {id}, with a time stamp, replay gives the same bytes"),
    ],
)  # fmt: skip
def test_what_was_sealed_is_said(spec, project, key, words, said):
    assert spec("run", "climb.yaml", "--out", "bundle").status == 0
    covered = hashlib.sha256((project / "bundle/manifest.json").read_bytes()).digest()
    (project / "stamp").write_bytes(response(info(covered)))
    done = spec("seal", "bundle", *words)
    public = json.loads(spec("keys", "show", key, "--trust", "--origin", "lab").out)
    assert (done.status, done.out) == (0, said.format(id=public["keys"][0]["id"]) + "\n")


def test_a_broken_bundle_is_not_sealed(spec, project, key):
    spec("run", "climb.yaml", "--out", "bundle")
    receipts = project / "bundle" / "receipts.jsonl"
    receipts.write_bytes(receipts.read_bytes().replace(b'"t":1', b'"t":2', 1))
    before = files_of(project / "bundle")
    done = spec("seal", "bundle", "--sign", key)
    assert (done.status, "E_FILES" in done.err) == (1, True)
    assert files_of(project / "bundle") == before


def test_no_private_key_is_in_any_output_or_file(spec, project, key, monkeypatch):
    pem = (project / key).read_bytes()
    secret = base64.b64decode(pem.splitlines()[1])[-32:]
    assert public_of(secret) == load_key(key).public
    monkeypatch.setenv("SIGNING", pem.decode())
    monkeypatch.setenv("BROKEN", pem.decode().replace("-----END", "----END"))
    (project / "broken").write_bytes(pem.replace(b"MC4C", b"MC5C"))
    said = [
        spec("run", "climb.yaml", "--out", "a", "--sign", key),
        spec("run", "climb.yaml", "--out", "b", "--sign", "env:SIGNING", "--format", "json"),
        spec("run", "climb.yaml", "--out", "c", "--sign", "env:BROKEN"),
        spec("seal", "a", "--sign", "broken"),
        spec("keys", "show", key),
        spec("keys", "show", key, "--trust"),
        spec("keys", "show", "env:BROKEN"),
        spec("keys", "new", key),
        spec("verify", "a"),
    ]
    written = b"".join(data for name, data in files_of(project).items() if name not in (key, "broken"))
    everything = written + "".join(done.out + done.err for done in said).encode()
    body = base64.b64encode(secret)[1:-4]
    assert not any(spelling in everything for spelling in (*spellings(secret), body))
    assert b"PRIVATE KEY" not in everything
