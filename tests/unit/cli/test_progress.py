"""The progress bar, and files that cannot be written in full."""

import io
import sys

import pytest

from specledger.cli import output


class Screen(io.StringIO):
    def isatty(self):
        return True


def to_screen(monkeypatch):
    """Make standard error a screen; in a fixture pytest would replace it again."""
    stream = Screen()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "argv", ["spec"])
    return stream


def bar(filled, percent):
    return f"\rruns [{'#' * filled}{'.' * (30 - filled)}] {percent:>3}%"


def test_a_bar_is_drawn_when_its_percentage_changes_and_cleared_at_the_end(monkeypatch):
    screen = to_screen(monkeypatch)
    with output.progress_bar("runs") as draw:
        assert draw is not None
        for done in (0, 1, 2, 400, 599, 600):
            draw(done, 600)
    shown = [bar(0, 0), bar(20, 66), bar(29, 99), bar(30, 100)]
    assert screen.getvalue() == "".join(shown) + "\r\x1b[2K"


def test_nothing_to_do_is_no_division_by_zero(monkeypatch):
    screen = to_screen(monkeypatch)
    with output.progress_bar("runs") as draw:
        assert draw is not None
        draw(0, 0)
    assert screen.getvalue() == bar(0, 0) + "\r\x1b[2K"


def test_a_bar_is_cleared_after_an_exception_too(monkeypatch):
    screen = to_screen(monkeypatch)
    with pytest.raises(ZeroDivisionError), output.progress_bar("runs"):
        raise ZeroDivisionError
    assert screen.getvalue() == "\r\x1b[2K"


@pytest.mark.parametrize(("stream", "words"), [(None, []), (io.StringIO(), []), (Screen(), ["--quiet"])])
def test_there_is_no_bar_without_a_screen_or_where_it_is_not_wanted(monkeypatch, stream, words):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "argv", ["spec", "run", *words])
    with output.progress_bar("runs") as draw:
        assert draw is None
    assert stream is None or stream.getvalue() == ""


@pytest.mark.parametrize("there", [False, True], ids=["a new file", "a file that was there"])
def test_a_file_that_cannot_be_written_leaves_none_behind(tmp_path, monkeypatch, there):
    path = tmp_path / "out"
    if there:
        path.write_bytes(b"before")

    def fill(self, data):
        with self.open("wb") as file:
            file.write(data[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(path), "write_bytes", fill)
    with pytest.raises(OSError, match="No space"):
        output.write_text("text", path)
    assert path.exists() == there


def test_a_text_is_written_to_a_file_as_it_is_and_printed_with_one_end_of_line(tmp_path, capsys):
    output.write_text("text", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"text"
    for text in ("", "one", "two\n", "three\n\n"):
        output.write_text(text)
    assert capsys.readouterr().out == "one\ntwo\nthree\n\n"


class Closed(io.StringIO):
    """A stream whose reader is gone, or whose disk is full."""

    def __init__(self, error, file):
        super().__init__()
        self.error, self.file = error, file

    def write(self, text):
        raise self.error

    def fileno(self):
        return self.file.fileno()


def test_a_reader_that_is_gone_is_no_error_and_a_full_disk_is_one(tmp_path, monkeypatch, capsys):
    for error in (BrokenPipeError(), OSError(28, "No space left on device")):
        with (tmp_path / "out").open("wb") as file:
            monkeypatch.setattr(sys, "stdout", Closed(error, file))
            if isinstance(error, BrokenPipeError):
                output.write_text("text")
            else:
                with pytest.raises(OSError, match="No space"):
                    output.write_text("text")
            file.write(b"what is flushed at exit goes nowhere")
        assert (tmp_path / "out").read_bytes() == b""
    monkeypatch.setattr(sys, "stdout", None)
    output.write_text("nobody reads it")


NAMED = {
    "none": ([], ""),
    "a word after it": (["run", "--format", "json"], "json"),
    "an equals sign": (["run", "--format=junit"], "junit"),
    "the last one counts": (["--format", "json", "--format=sarif"], "sarif"),
    "another option": (["--formats", "json", "format", "x"], ""),
    "no value": (["run", "--format"], ""),
}


@pytest.mark.parametrize(("words", "value"), NAMED.values(), ids=NAMED)
def test_the_last_value_of_an_option(words, value):
    assert output._last_value(words, "--format") == value
