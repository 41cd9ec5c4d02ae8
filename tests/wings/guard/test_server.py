"""The process of a guard: its socket, its folder, and clients that misbehave."""

import signal
import stat
from pathlib import Path

import pytest

from specledger.wings.guard.server import listening_socket, prepare_folder
from tests.toys import findings_of
from tests.wings.guard.conftest import KNOWN, carry_out


@pytest.mark.medium
def test_a_conversation_over_the_socket_survives_a_kill(process_of, office):
    first = process_of()
    assert "guard of office at guard/guard.sock, fails closed" in first.said
    assert stat.S_IMODE((office / "guard").stat().st_mode) == 0o700
    assert stat.S_IMODE(first.path.stat().st_mode) == 0o600
    client = first.client()
    client("begin")
    carry_out(client, "1", "ask_approval", {"amount": 900}, {"ok": True})
    half = first.client()
    half.socket.sendall(b'{"type": "ask", "id": 1, "conversation": "a", "call": "2"')
    half.close()
    assert client("ask", call="2", tool="read_mail", arguments={"id": 1})["decision"] == "allow"
    first.end(signal.SIGKILL)
    client.close()
    second = process_of()
    client = second.client()
    assert client("begin")["resumed"] is True
    client("report", call="2", content="text")
    assert carry_out(client, "3", "send_money", {"amount": 900, "to": KNOWN})["decision"] == "allow"
    assert client("end")["verdict"] == "PASS"
    client.close()
    assert second.end() == 0
    assert not second.path.exists()


def test_a_folder_that_others_may_use_is_refused(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    shared.chmod(0o755)
    findings_of(prepare_folder, shared, code="E_GUARD_FOLDER", words="others may use")
    findings_of(listening_socket, shared / "s", code="E_GUARD_FOLDER")


@pytest.mark.parametrize("there", ["a file", "a long name"])
def test_a_path_that_is_taken_is_refused(tmp_path, monkeypatch, there):
    tmp_path.chmod(0o700)
    monkeypatch.chdir(tmp_path)
    path = Path("s") if there == "a file" else tmp_path / ("s" * 90)
    if there == "a file":
        path.touch()
    findings_of(listening_socket, path, code="E_GUARD_SOCKET")


def test_a_path_is_free_once_its_guard_ended(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    monkeypatch.chdir(tmp_path)
    with listening_socket(Path("s")) as first:
        first.listen()
        findings_of(listening_socket, Path("s"), code="E_GUARD_SOCKET", words="another guard listens")
    listening_socket(Path("s")).close()
    assert stat.S_IMODE(Path("s").stat().st_mode) == 0o600
