"""Standard output and error: a bar for a terminal only, readers that leave, and characters that a stream lacks."""

import os
import re
import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-m", "specledger"]


@pytest.fixture
def start(environment, tmp_path):
    """Start a process with streams of one's own."""

    def run(*words, **options):
        options = {"cwd": tmp_path, "env": environment, "stdin": subprocess.DEVNULL} | options
        return subprocess.Popen([*COMMAND, *words], **options)

    return run


def read_all(descriptor):
    data = b""
    while True:
        try:
            chunk = os.read(descriptor, 4096)
        except OSError:  # the other side of a terminal is closed
            return data
        if not chunk:
            return data
        data += chunk


@pytest.mark.medium
def test_a_terminal_sees_how_far_a_run_is(start, climb):
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    running = start("run", climb, stdout=subprocess.PIPE, stderr=slave)
    os.close(slave)
    shown = read_all(master).decode()
    out, _ = running.communicate(timeout=120)
    os.close(master)
    assert running.returncode == 0
    assert [int(percent) for percent in re.findall(r"climb \[[#.]{30}\] +(\d+)%", shown)] == [16, 33, 50, 66, 83, 100]
    assert shown.endswith("\r\x1b[2K"), "the line is cleared"
    assert "\x1b" not in out.decode()
    assert "%" not in out.decode()


@pytest.mark.medium
def test_a_terminal_is_left_clean_by_a_run_that_is_refused(start, climb, tmp_path):
    pty = pytest.importorskip("pty")
    (tmp_path / "out").write_text("in the way")
    master, slave = pty.openpty()
    running = start("run", climb, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    shown = read_all(master).decode()
    os.close(master)
    assert running.wait(timeout=120) == 2
    assert "\r\x1b[2K\x1b[31m\x1b[1merror[E_OUT_UNWRITABLE]\x1b[0m: " in shown


@pytest.mark.medium
def test_with_a_terminal_for_results_alone_there_is_no_bar(start, climb):
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    running = start("run", climb, stdout=slave, stderr=subprocess.PIPE)
    os.close(slave)
    shown = read_all(master).decode()
    _, err = running.communicate(timeout=120)
    os.close(master)
    assert (running.returncode, err) == (0, b"")
    assert shown.startswith("climb  \x1b[32mPASS\x1b[0m  ")
    assert "\r\x1b" not in shown


@pytest.mark.medium
@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["schema"], 0),
        (["--help"], 0),
        (["run", "{climb}"], 0),
        (["check", "{climb}", "--set", "horizon=0", "--format", "json"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_reader_that_leaves_changes_nothing(start, climb, tmp_path, words, status):
    """Nobody reads a single byte; the work is done, and its status told."""
    reader, writer = os.pipe()
    os.close(reader)
    running = start(*[word.format(climb=climb) for word in words], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    _, err = running.communicate(timeout=120)
    assert running.returncode == status
    assert b"Traceback" not in err
    assert b"Broken pipe" not in err
    assert b"Exception ignored" not in err
    assert (tmp_path / "out" / "climb" / "manifest.json").exists() == ("run" in words)


@pytest.mark.medium
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_stream_that_is_closed_changes_nothing(environment, climb, tmp_path, stream):
    number = {"stdout": 1, "stderr": 2}[stream]
    line = f'exec "$0" -m specledger check "$1" "$2" {number}>&-'
    command = ["sh", "-c", line, sys.executable, climb, "nowhere.yaml"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=120, check=False)
    assert done.returncode == 2
    assert (done.stdout, b"E_SPEC_FILE" in done.stderr) == ((b"", True) if stream == "stdout" else (done.stdout, False))
    assert b"Traceback" not in done.stderr


@pytest.mark.medium
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
def test_a_stream_that_is_full_is_told(start):
    with open("/dev/full", "wb") as full:
        running = start("schema", stdout=full, stderr=subprocess.PIPE)
        _, err = running.communicate(timeout=120)
    assert running.returncode == 2
    assert b"error[E_SYSTEM]: operating system error: No space left on device" in err
    assert b"Traceback" not in err
    assert b"Exception ignored" not in err


@pytest.mark.medium
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_character_that_the_stream_lacks_is_escaped(process, environment, tmp_path, encoding):
    (tmp_path / "bad.yaml").write_text("spec: scenario/v1\nname: Łódź\n", encoding="utf-8")
    environment = environment | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = process("check", "bad.yaml", cwd=tmp_path, env=environment, text=False)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    shown = "Łódź".encode(encoding, "backslashreplace")
    assert b"name: " + shown in done.stderr
