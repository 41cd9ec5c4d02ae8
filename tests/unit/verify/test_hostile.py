"""Evidence is whatever somebody sends: no value in any place, no flipped byte and no cut makes the verifier fall over."""

import json

import pytest

import specledger.worlds.drift
from specledger.core.diagnostics import Rejected
from specledger.core.verdict import Verdict
from specledger.kinds import KINDS
from specledger.verify.checks import Status
from specledger.verify.run import RUN
from tests.toys.refusals import codes
from tests.verifying import verify_bundle

HOSTILE: list[object] = [None, True, "\x1b[31m\u202e", {}, [{"action": {"op": []}, "rejected": 0}]]


def paths(value, path=()):
    """The path of the value and of everything in it."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, member in members for found in paths(member, (*path, key)))]


def put(document, path, value):
    for step in path[:-1]:
        document = document[step]
    same = json.dumps(document[path[-1]]) == json.dumps(value)
    document[path[-1]] = value
    return not same


def hostile(document, values=HOSTILE):
    """Copies of a document, each with one hostile value in one place."""
    text = json.dumps(document)
    for path in paths(document):
        for value in values if path else ():
            copy = json.loads(text)
            if put(copy, path, value):
                yield path, value, copy


@pytest.fixture
def small(forge):
    return forge("small")


@pytest.mark.slow
def test_a_manifest_may_hold_anything(small):
    for path, value, manifest in hostile(small.manifest):
        small.manifest = manifest
        small.save()
        assert verify_bundle(small.folder, RUN, KINDS).verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE), (path, value)


def test_only_another_version_is_no_refutation(small):
    small.manifest["engine"]["version"] = "99.0"
    small.save()
    found = verify_bundle(small.folder, RUN, KINDS)
    assert [check.status for check in found.checks] == [Status.PASSED] * 7 + [Status.NOT_MADE]
    assert "99.0" in str(found.checks[-1].message)
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.slow
@pytest.mark.usefixtures("specs_once")
def test_receipts_may_hold_anything(small):
    """The chain is sealed over it, so that it reaches the checks of what receipts say."""
    first = {receipt["type"]: receipt for receipt in reversed(small.receipts)}  # one of each type
    for path, value, bodies in hostile({type_: receipt["body"] for type_, receipt in first.items()}):
        for type_, body in bodies.items():
            first[type_]["body"] = body
        small.seal()
        assert verify_bundle(small.folder, RUN, KINDS).verdict is Verdict.FAIL, (path, value)


@pytest.mark.slow
def test_specs_may_hold_anything(small, monkeypatch):
    """The digests fit; what happens to be valid is other specs, of which the receipts are not."""
    monkeypatch.setattr("specledger.verify.run.compare", lambda plan, lines: 0)
    document = json.loads(small.read("specs.json"))
    for path, value, specs in hostile(document, [None, {}]):
        keyed = isinstance(specs["specs"], dict) and specs["specs"].keys() == document["specs"].keys()
        if not keyed or not isinstance(specs["root"], str):
            small.write("specs.json", json.dumps(specs, sort_keys=True, separators=(",", ":")).encode() + b"\n")
            small.relist()
            assert verify_bundle(small.folder, RUN, KINDS).verdict is Verdict.FAIL, (path, value)
            continue
        small.write("specs.json", json.dumps(document).encode())
        small.respec(lambda old, new=specs: old.update(new))
        small.seal()
        found = verify_bundle(small.folder, RUN, KINDS)
        assert {check.code for check in found.checks} <= {None, "E_SPECS"}, (path, value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["receipts.jsonl", "specs.json"])
def test_no_flipped_byte_is_accepted_when_the_file_list_fits(small, name):
    data = small.read(name)
    for offset in range(0, len(data), 13):
        small.write(name, data[:offset] + bytes([data[offset] ^ 0x01]) + data[offset + 1 :])
        small.relist()
        found = verify_bundle(small.folder, RUN, KINDS)
        assert found.verdict is Verdict.FAIL, offset
        assert found.checks[1].status is Status.PASSED


def test_an_untouched_bundle_is_accepted(bundles):
    for name, folder in bundles.items():
        found = verify_bundle(folder, RUN, KINDS)
        assert {check.status for check in found.checks} == {Status.PASSED}, name
        assert found.verdict is Verdict.PASS


def test_a_bundle_may_be_reached_by_a_link(bundles, tmp_path):
    (tmp_path / "link").symlink_to(bundles["climb"])
    assert verify_bundle(tmp_path / "link", RUN, KINDS).verdict is Verdict.PASS


@pytest.mark.slow
@pytest.mark.parametrize("at", ["size(range(60000).filter(x, x % 7 == t % 7)) > t", "[1, 2].exists(x, x == t)"])
def test_a_costly_schedule_over_a_long_horizon_is_refused_in_bounded_work(forge, monkeypatch, at):
    monkeypatch.setattr(specledger.worlds.drift, "MAX_SCHEDULE", 2_000_000)
    forger = forge("small")

    def change(document):
        document["specs"][document["root"]]["horizon"] = 1_000_000
        for spec in document["specs"].values():
            if spec["spec"] == "drift/v1":
                spec["at"] = at

    forger.respec(change)
    forger.seal()
    (check,) = [check for check in verify_bundle(forger.folder, RUN, KINDS).checks if check.code]
    assert check.code == "E_SPECS"
    assert "too much work" in str(check.message)


@pytest.mark.parametrize("what", ["nothing", "file", "empty", "other"])
def test_what_is_no_bundle_is_no_evidence(tmp_path, what):
    (tmp_path / "file").write_text("{}")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "readme.md").write_text("")
    assert codes(verify_bundle, tmp_path / what, RUN, KINDS) == ["E_NO_EVIDENCE"]


@pytest.mark.parametrize("place", ["manifest.file_digest", "recorded.read_document", "manifest.read_document"])
def test_what_the_system_refuses_to_read_is_not_refuted(small, monkeypatch, place):
    def refuse(path, *arguments):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(f"specledger.verify.{place}", refuse)
    with pytest.raises(Rejected) as error:
        verify_bundle(small.folder, RUN, KINDS)
    (found,) = error.value.diagnostics
    assert found.code == "E_NO_EVIDENCE"
    assert "Permission denied" in found.message
    assert str(small.folder) in found.message
