"""A bundle as one file: the same bytes everywhere, and nothing but what `pack` writes is taken."""

import io
import os
import stat
import zipfile

import pytest

from specledger.evidence.archive import InvalidArchive, pack, read_member, unpack
from specledger.evidence.layout import CHECKPOINT, MANIFEST
from specledger.evidence.workplace import covers_of
from tests.toys.bundles import files_of

FILES = {
    "manifest.json": b"{}\n",
    "b.jsonl": b"x" * 3000,
    "runs/one.a.3/manifest.json": b"[]\n",
    "Z": b"",
    "runs/a": b"1",
}
ORDER = ["Z", "b.jsonl", "manifest.json", "runs/a", "runs/one.a.3/manifest.json"]


def make(folder, files=FILES):
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture
def packed(tmp_path):
    pack(make(tmp_path / "folder"), tmp_path / "a.zip")
    return tmp_path / "a.zip"


def test_what_covers_a_bundle_is_found_in_a_folder_and_in_an_archive(tmp_path):
    plain, covered = (
        make(tmp_path / name, {MANIFEST: b"{}\n", **more}) for name, more in (("a", {}), ("b", {CHECKPOINT: b"1\n"}))
    )
    for folder, covers in ((plain, set()), (covered, {CHECKPOINT})):
        pack(folder, folder.with_suffix(".zip"))
        assert covers_of(folder) == covers_of(folder.with_suffix(".zip")) == covers
    assert covers_of(tmp_path / "none") == set()


def test_what_is_packed_is_unpacked(packed, tmp_path):
    unpack(packed, tmp_path / "again")
    assert files_of(tmp_path / "again") == FILES
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "again", "folder"]


def test_the_bytes_depend_on_the_files_alone(packed, tmp_path):
    other = make(tmp_path / "other", dict(reversed(FILES.items())))
    for number, path in enumerate(sorted(other.rglob("*"))):
        os.utime(path, (10**9 + number, 10**9 + number))
        path.chmod(0o755 if path.is_dir() else 0o600)
    pack(other, tmp_path / "b.zip")
    assert (tmp_path / "b.zip").read_bytes() == packed.read_bytes()


def test_other_programs_read_it(packed):
    with zipfile.ZipFile(packed) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ORDER
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {stat.filemode(entry.external_attr >> 16) for entry in archive.infolist()} == {"-rw-r--r--"}
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}


def entry(name, **changes):
    made = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    made.create_system, made.external_attr = 3, (stat.S_IFREG | 0o644) << 16
    for key, value in changes.items():
        setattr(made, key, value)
    return made


def archive(*entries, comment=b""):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.comment = comment
        for one in entries:
            file.writestr(one, b"x" * 100)
    return data.getvalue()


GOOD = archive(entry("a"), entry("b/c"))
HOSTILE = {
    "a path that leaves": archive(entry("../a")),
    "a path that leaves later": archive(entry("a/../../b")),
    "an absolute path": archive(entry("/tmp/a")),
    "a drive": archive(entry("c:a")),
    "a backslash": archive(entry("a\\b")),
    "a folder": archive(entry("a/")),
    "a hidden file": archive(entry(".a")),
    "a name like an option": archive(entry("-rf")),
    "a space": archive(entry("a b")),
    "a newline": archive(entry("a\nb")),
    "another script": archive(entry("\u0430")),
    "two names that differ in case": archive(entry("A"), entry("a")),
    "too deep": archive(entry("/".join("abcdefghi"))),
    "a file that is a folder too": archive(entry("a"), entry("a/b")),
    "another order": archive(entry("b"), entry("a")),
    "another date": archive(entry("a", date_time=(2000, 1, 1, 0, 0, 0))),
    "a link": archive(entry("a", external_attr=(stat.S_IFLNK | 0o777) << 16)),
    "other rights": archive(entry("a", external_attr=(stat.S_IFREG | 0o755) << 16)),
    "another system": archive(entry("a", create_system=0)),
    "compressed": archive(entry("a", compress_type=zipfile.ZIP_DEFLATED)),
    "a comment": archive(entry("a"), comment=b"x"),
    "a comment of a file": archive(entry("a", comment=b"x")),
    "something before it": b"#!/bin/sh\n" + GOOD,
    "something after it": GOOD + b"x",
    "cut off": GOOD[:-1],
    "an encrypted file": GOOD.replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"),
    "no archive": b"x" * 100,
    "nothing": b"",
}


def test_the_archives_of_these_tests_are_of_the_form(tmp_path):
    (tmp_path / "a.zip").write_bytes(GOOD)
    unpack(tmp_path / "a.zip", tmp_path / "folder")
    assert files_of(tmp_path / "folder") == {"a": b"x" * 100, "b/c": b"x" * 100}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_other_archives_are_refused_and_nothing_leaves_the_folder(data, tmp_path):
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(InvalidArchive):
        unpack(tmp_path / "a.zip", tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "folder"]


def test_a_file_twice_is_refused(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        (tmp_path / "a.zip").write_bytes(archive(entry("a"), entry("a")))
    with pytest.raises(InvalidArchive):
        unpack(tmp_path / "a.zip", tmp_path / "folder")


@pytest.mark.slow
def test_every_changed_byte_is_refused(tmp_path):
    whole = archive(entry("a"), entry("b/c"))
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 0x20
        file, folder = tmp_path / f"{place}.zip", tmp_path / f"{place}"
        file.write_bytes(changed)
        try:
            unpack(file, folder)
        except InvalidArchive:
            continue
        assert files_of(folder) != {"a": b"x" * 100, "b/c": b"x" * 100}, place


def test_a_member_is_read_without_unpacking(packed, tmp_path):
    assert read_member(packed, "b.jsonl", 3000) == b"x" * 3000
    assert read_member(packed, "b.jsonl", 2999) is None
    assert read_member(packed, "c", 10) is None
    (tmp_path / "b.zip").write_bytes(b"x")
    with pytest.raises(InvalidArchive):
        read_member(tmp_path / "b.zip", "a", 1)


def test_an_archive_of_too_much_is_refused(packed, tmp_path, monkeypatch):
    monkeypatch.setattr("specledger.evidence.archive.MAX_SIZE", 3000)
    with pytest.raises(InvalidArchive, match="more than"):
        unpack(packed, tmp_path / "again")
    monkeypatch.undo()
    monkeypatch.setattr("specledger.evidence.archive.MOST_FILES", 4)
    with pytest.raises(InvalidArchive, match="more than"):
        unpack(packed, tmp_path / "other")
