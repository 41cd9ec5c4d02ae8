"""The files of a bundle as data: they are written as they were read, and nothing outside the folder is."""

import pytest

from specledger.evidence.transport import InvalidFiles, read_files, write_files

FILES = {"manifest.json": b"{}", "runs/a.b-1/receipts.jsonl": b"\xff\n"}


def test_files_are_written_as_they_were_read(tmp_path):
    write_files(FILES, tmp_path / "there")
    assert read_files(tmp_path / "there") == FILES


HOSTILE = {
    "outside": "../mine",
    "absolute": "/tmp/mine",
    "a way back": "a/../../mine",
    "the folder": ".",
    "hidden": ".ssh/keys",
    "an option": "-x",
    "nothing": "",
    "backslashes": "..\\mine",
    "too deep": "a/" * 8 + "a",
}


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_no_path_leaves_the_folder(tmp_path, name):
    with pytest.raises(InvalidFiles):
        write_files({name: b"x"}, tmp_path / "there")
    assert list(tmp_path.rglob("*")) == [tmp_path / "there"]


@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b", "a")])
def test_a_path_is_a_file_or_a_folder(tmp_path, names):
    with pytest.raises(InvalidFiles, match="a file and a folder"):
        write_files(dict.fromkeys(names, b""), tmp_path / "there")


def test_an_existing_folder_is_not_written_to(tmp_path):
    with pytest.raises(FileExistsError):
        write_files(FILES, tmp_path)
    assert list(tmp_path.iterdir()) == []
