"""The files of a bundle against its manifest: what is missing, what is too many, and which words name it."""

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import sha256_hex
from specledger.evidence.layout import ATTESTATION, ENGINE, EVALUATOR, GUIDE
from specledger.verify.checks import Broken
from specledger.verify.manifest import (
    Changed,
    check_files,
    check_result,
    kind_of,
    other_maker,
    read_document,
    read_plain,
)

FILES = {"receipts.jsonl": b"{}\n", "specs.json": b"[]\n"}


@pytest.fixture
def folder(tmp_path):
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "manifest.json").write_bytes(b"{}\n")
    return tmp_path


def entry(path, data):
    return {"path": path, "sha256": sha256_hex(data), "size": len(data)}


def listed(**more):
    return [entry(path, data) for path, data in sorted({**FILES, **more}.items())]


def test_the_files_that_are_listed_are_there(folder):
    listing = check_files(folder, listed())
    assert (listing.more, listing.sources, listing.cases, listing.covers, listing.bundles) == ([], [], [], (), [])


@pytest.mark.parametrize("number", [1, 3, 4])
def test_three_files_are_named_and_that_there_are_more(number, folder):
    for index in range(number):
        (folder / f"x{index}").touch()
    with pytest.raises(Broken) as caught:
        check_files(folder, listed())
    names = ", ".join(f"x{index}" for index in range(min(number, 3)))
    assert caught.value.message == f"not listed: {names}{' ...' if number > 3 else ''}"
    assert caught.value.code == "E_FILES"


def test_every_kind_of_difference_is_said(folder):
    (folder / "odd").write_bytes(b"odd")
    (folder / "new").touch()
    (folder / "specs.json").unlink()
    with pytest.raises(Broken) as caught:
        check_files(folder, [entry("odd", b"odd"), entry("receipts.jsonl", b"{}\n")])
    assert caught.value.message == (
        "listed, and missing: specs.json; not listed: new; listed, and no file of such a bundle: odd"
    )


def test_a_further_file_of_such_a_bundle_may_be_listed(folder):
    (folder / "tape.jsonl").write_bytes(b"t")
    entries = listed(**{"tape.jsonl": b"t"})
    assert check_files(folder, entries, ["tape.jsonl", "other"]).more == ["tape.jsonl"]
    with pytest.raises(Broken, match=r"no file of such a bundle: tape\.jsonl"):
        check_files(folder, entries)


def test_a_signature_beside_the_manifest_is_no_listed_file(folder):
    for name in (GUIDE, ATTESTATION):
        (folder / name).touch()
    assert check_files(folder, listed()).covers == (ATTESTATION, GUIDE)
    with pytest.raises(Broken, match="not listed: "):
        check_files(folder, listed(), covered=False)


@pytest.mark.parametrize(
    "entries",
    [list(reversed(listed())), [listed()[0], *listed()], None, [{}], [{**listed()[0], "more": 1}, listed()[1]]],
)
def test_a_list_of_another_form_is_refused(entries, folder):
    with pytest.raises(Broken, match="`files` "):
        check_files(folder, entries)


def test_a_changed_file_is_named_with_what_differs(folder):
    (folder / "specs.json").write_bytes(b"[1]\n")
    with pytest.raises(Changed, match=r"specs.json has 4 bytes, and the manifest lists 3") as caught:
        check_files(folder, listed())
    assert caught.value.path == "specs.json"
    (folder / "specs.json").write_bytes(b"{}\n")
    with pytest.raises(Changed, match=r"specs.json has the SHA-256 ca3d163b.* lists 37517e5f"):
        check_files(folder, listed())


def test_a_link_is_no_plain_file(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "specs.json"
    other.write_bytes(b"[]\n")
    (folder / "specs.json").unlink()
    (folder / "specs.json").symlink_to(other)
    with pytest.raises(Broken):
        check_files(folder, listed())
    with pytest.raises(Broken, match=r"specs\.json is missing"):
        read_plain(folder / "specs.json", 10, "E_SPECS")


@pytest.mark.parametrize(("limit", "size"), [(2, 3), (3, 4), (4, 4), (9, 4)])
def test_no_more_than_the_limit_and_one_byte_are_read(limit, size, tmp_path):
    (tmp_path / "f").write_bytes(b"1234")
    assert len(read_plain(tmp_path / "f", limit, "E_SPECS")) == size


DOCUMENTS = {
    "as it is written": (b'{"a":1}\n', 7, None),
    "longer than the limit": (b'{"a":1}\n', 6, "d"),
    "without a newline": (b'{"a":1}', 9, "not in canonical form"),
    "two newlines": (b'{"a":1}\n\n', 9, "d"),
    "white space": (b'{"a": 1}\n', 9, "d"),
    "no JSON": (b"{\n", 9, "d"),
}


@pytest.mark.parametrize(("data", "limit", "words"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_has_one_form_and_a_bound(data, limit, words, tmp_path):
    (tmp_path / "d").write_bytes(data)
    if words is None:
        assert read_document(tmp_path / "d", limit, "E_MANIFEST") == {"a": 1}
        return
    with pytest.raises(Broken, match=words) as caught:
        read_document(tmp_path / "d", limit, "E_MANIFEST")
    assert caught.value.code == "E_MANIFEST"


@pytest.mark.parametrize(
    ("manifest", "kind"),
    [({"kind": "suite"}, "suite"), ({}, "scenario"), ({"kind": 7}, "scenario"), ([], "scenario"), (None, "scenario")],
)
def test_the_kind_that_a_manifest_names(manifest, kind, tmp_path):
    if manifest is not None:
        (tmp_path / "manifest.json").write_bytes(canonical_bytes(manifest) + b"\n")
    assert kind_of(tmp_path) == kind


def test_another_version_is_named():
    assert other_maker({"engine": ENGINE, "evaluator": EVALUATOR}) is None
    assert other_maker({}) is None
    older = other_maker({"engine": {**ENGINE, "version": "0.0.1"}, "evaluator": {**EVALUATOR, "version": "999"}})
    assert older == f"version 0.0.1 made it, and this is {ENGINE['version']}"
    evaluator = other_maker({"engine": ENGINE, "evaluator": {**EVALUATOR, "version": "999"}})
    assert evaluator == f"an evaluator of version 999 made it, and this is {EVALUATOR['version']}"


@pytest.mark.parametrize(
    ("recorded", "said"),
    [
        ({"verdict": "PASS", "steps": 3}, ": `verdict` is 'PASS', not 'FAIL'"),
        ({"verdict": "FAIL", "steps": 4}, ": `steps` is 4, not 3"),
        ({"verdict": "FAIL"}, ": `steps` is None, not 3"),
        ({"verdict": "FAIL", "steps": 3, "more": 1}, ": `more` is 1, not None"),
        ({"verdict": "FAIL", "steps": True}, ": `steps` is True, not 3"),
        ([], ""),
    ],
)
def test_the_first_figure_of_a_result_that_differs_is_told(recorded, said):
    with pytest.raises(Broken) as raised:
        check_result(recorded, {"verdict": "FAIL", "steps": 3})
    assert (raised.value.code, raised.value.message.partition(" give")[2]) == ("E_RESULT", said)
