"""Bounds of files about evidence: what has as much as it may is read, what has one more is refused with the bound."""

import base64
import os

import pytest

from specledger.core.canonical import MAX_INTEGER
from specledger.core.diagnostics import Rejected
from specledger.evidence import counterexamples, runlog, transport
from specledger.evidence.append_file import AppendFile
from specledger.evidence.checkpoint import MAX_NOTE, InvalidNote, origin_of, read_note
from specledger.evidence.envelope import MAX_ENVELOPE, InvalidEnvelope, Signature, read_envelope, write_envelope
from specledger.evidence.keys import load_key
from specledger.evidence.layout import DEPTH, counterexample_path, is_counterexample, is_source, walk
from specledger.evidence.runlog import InvalidLog, announce, attempt_of, enter, read_runlog, result_of
from specledger.evidence.timestamp import MAX_TIMESTAMP, InvalidTimestamp, read_timestamp
from tests.unit.evidence.test_timestamp import der, response

ROOT = base64.b64encode(bytes(32)).decode()
SIGNED = base64.b64encode(b"hash" + b"s" * 64).decode()


def note(names=("a",), origin="a", size="12"):
    return f"{origin}\n{size}\n{ROOT}\n\n" + "".join(f"\u2014 {name} {SIGNED}\n" for name in names)


def test_a_note_has_so_many_bytes_at_most():
    """One signature line is as long as the note allows: its signature has any length."""
    head = f"a\n12\n{ROOT}\n\n\u2014 "
    text = head + "a " + base64.b64encode(bytes(4 * 12_276)).decode()
    name = "a" * (MAX_NOTE - len(text.encode()))
    text = text.replace("\u2014 a ", f"\u2014 a{name[1:]} ")
    assert len((text + "\n").encode()) == MAX_NOTE
    assert len(read_note((text + "\n").encode()).signatures) == 1
    with pytest.raises(InvalidNote, match="it has more than 65536 bytes"):
        read_note((text.replace("\u2014 a", "\u2014 aa") + "\n").encode())


NOTES = {
    "sixteen signatures": (note([f"a{n}" for n in range(16)]), None),
    "seventeen signatures": (note([f"a{n}" for n in range(17)]), "it has more than 16 signatures"),
    "one signature": (note(), None),
    "an origin of one character": (note(origin="!"), None),
    "an origin of 255 characters": (note(origin="~" * 255), None),
    "an origin of 256 characters": (note(origin="~" * 256), "its origin is no visible ASCII"),
    "a size of nothing": (note(size="0"), None),
    "the largest size": (note(size=str(MAX_INTEGER)), None),
    "a larger size": (note(size=str(MAX_INTEGER + 1)), "its size is no decimal number"),
    "one name with two hashes": (note() + f"\u2014 a {base64.b64encode(b'hasi' + b's' * 64).decode()}\n", None),
    "one hash under two names": (note("ab"), None),
    "a signature of one byte": (note().replace(SIGNED, base64.b64encode(b"hashs").decode()), None),
    "a signature of no byte": (note().replace(SIGNED, base64.b64encode(b"hash").decode()), "a signature line holds 4 bytes"),
    "a root of 33 bytes": (note().replace(ROOT, base64.b64encode(bytes(33)).decode()), "its root has 33 bytes, not 32"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "refused"), NOTES.values(), ids=NOTES)
def test_bounds_of_a_note(text, refused):
    if refused is None:
        assert read_note(text.encode()).origin == text.partition("\n")[0]
    else:
        with pytest.raises(InvalidNote, match=refused):
            read_note(text.encode())


@pytest.mark.parametrize(("pattern", "length"), [("a" * 253 + "{run}", 255), ("{run}{run}", 4), ("{run}", 2)])
def test_an_origin_is_measured_with_the_run_in_it(pattern, length):
    assert len(origin_of(pattern, "ab")) == length


def test_an_origin_that_is_too_long_with_the_run_in_it_is_refused_as_it_was_typed():
    with pytest.raises(Rejected) as caught:
        origin_of("a" * 254 + "{run}", "ab")
    (finding,) = caught.value.diagnostics
    assert finding.message == "an origin has 1 to 255 visible ASCII characters, no `+`, and braces only in `{run}`"
    assert finding.found == "a" * 254 + "{run}"


def test_an_envelope_has_so_many_bytes_at_most():
    signature = Signature("0" * 64, bytes(64))
    rest = MAX_ENVELOPE - len(write_envelope(b"", [signature]))
    assert len(write_envelope(bytes(rest // 4 * 3), [signature])) == MAX_ENVELOPE - rest % 4
    payload = bytes(rest // 4 * 3)
    assert read_envelope(write_envelope(payload, [signature])).payload == payload
    with pytest.raises(InvalidEnvelope, match="more than 1048575"):
        read_envelope(write_envelope(payload + b"\0", [signature]))


def test_a_response_has_so_many_bytes_at_most():
    rest = MAX_TIMESTAMP - len(response(tail=der(0x31, bytes(60_000))))
    data = response(tail=der(0x31, bytes(60_000 + rest)))
    assert len(data) == MAX_TIMESTAMP
    assert read_timestamp(data).time == "2026-01-31T12:05:09Z"
    with pytest.raises(InvalidTimestamp, match="it has more than 65536 bytes"):
        read_timestamp(response(tail=der(0x31, bytes(60_001 + rest))))


@pytest.mark.parametrize("size", [126, 127, 128, 129, 255, 256, 257, 65_000])
def test_each_form_of_a_length_is_read(size):
    """DER writes a length in one byte below 128, and in as few bytes as it takes from there on."""
    more = bytes(size - 3)  # what follows the status in its sequence
    assert read_timestamp(response(status=b"\x02\x01\x00" + more)).time == "2026-01-31T12:05:09Z"


LENGTHS = {
    "127 in two bytes": b"\x81\x7f" + bytes(127),
    "128 in three bytes": b"\x82\x00\x80" + bytes(128),
    "256 in four bytes": b"\x83\x00\x01\x00" + bytes(256),
    "no byte of a length": b"\x80" + bytes(128),
    "four bytes of a length": b"\x84\x00\x01\x00\x00" + bytes(256),
}


@pytest.mark.parametrize("content", LENGTHS.values(), ids=LENGTHS)
def test_a_length_in_another_form_than_der_is_refused(content):
    with pytest.raises(InvalidTimestamp, match="the status has no length in DER"):
        read_timestamp(der(0x30, b"\x30" + content))


def test_a_length_of_three_bytes_is_one_of_der_although_no_response_can_have_it():
    with pytest.raises(InvalidTimestamp, match="the status is cut off"):
        read_timestamp(der(0x30, b"\x30\x83\x01\x00\x00" + bytes(256)))


ATTEMPT = attempt_of("suite", "heights", "c" * 64, "d" * 32, [1], None)


@pytest.fixture
def log(tmp_path):
    announce(tmp_path / "log", ATTEMPT)
    return tmp_path / "log"


def test_a_log_has_so_many_bytes_at_most(log, monkeypatch):
    data = log.read_bytes()
    monkeypatch.setattr(runlog, "MAX_LOG", len(data))
    assert len(read_runlog(data).attempts) == 1
    with pytest.raises(InvalidLog, match=f"it has more than {len(data)} bytes"):
        read_runlog(data + b"{")
    announce(log, ATTEMPT)
    with pytest.raises(Rejected) as caught:
        announce(log, ATTEMPT)
    (finding,) = caught.value.diagnostics
    assert finding.message == f"{log} cannot be continued: it has more than {len(data)} bytes"


def test_a_line_of_a_log_has_so_many_bytes_at_most_with_its_newline(log, monkeypatch):
    data = log.read_bytes()
    longest = max(len(line) for line in data.splitlines(keepends=True))
    monkeypatch.setattr(runlog, "MAX_ENTRY", longest)
    assert len(read_runlog(data).attempts) == 1
    monkeypatch.setattr(runlog, "MAX_ENTRY", longest - 1)
    with pytest.raises(InvalidLog, match=f"line 1: .*more than {longest - 2}"):
        read_runlog(data)


MANIFEST = {"receipts": {"count": 2, "head": "a" * 64, "root": "b" * 64}, "result": {"verdict": "PASS"}}
BODIES = {
    "a text of 4096 characters": (ATTEMPT | {"name": "n" * 4096}, True),
    "a text of 4097 characters": (ATTEMPT | {"name": "n" * 4097}, False),
    "a digest of 32 digits": (ATTEMPT | {"specs": "c" * 32}, True),
    "a digest of 33 digits": (ATTEMPT | {"specs": "c" * 33}, False),
    "a digest of 64 digits": (ATTEMPT | {"run": "c" * 64}, True),
    "a digest of 65 digits": (ATTEMPT | {"run": "c" * 65}, False),
    "no seeds": (ATTEMPT | {"seeds": []}, True),
    "the seed 0": (ATTEMPT | {"seeds": [0]}, True),
    "a negative seed": (ATTEMPT | {"seeds": [-1]}, False),
}


@pytest.mark.parametrize(("body", "taken"), BODIES.values(), ids=BODIES)
def test_bounds_of_what_is_announced(log, body, taken):
    before = log.read_bytes()
    if taken:
        assert announce(log, body) == (2, ())
        assert read_runlog(log.read_bytes()).attempts[1].announced == body
    else:
        with pytest.raises(Rejected) as caught:
            announce(log, body)
        assert caught.value.diagnostics[0].message.startswith(f"{log} cannot be continued: line 2 is no attempt: ")
        assert log.read_bytes() == before


def test_what_was_torn_is_told_once_with_its_size_and_digest(log):
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"body')
    seq, (warning,) = enter(log, result_of(1, MANIFEST))
    digest = "14556b16b728d2211ab6023b0585f2dafbf56319db992a37016cbaf63c3b8c03"
    assert (seq, warning.code, str(warning.severity)) == (2, "W_RUNLOG_TORN", "warning")
    assert warning.message == f"6 bytes (SHA-256 {digest}) were cut off the end of {log}"
    assert announce(log, ATTEMPT) == (3, ())


def test_a_result_that_nothing_waits_for_is_told_with_its_number(log):
    with pytest.raises(Rejected) as caught:
        enter(log, result_of(7, MANIFEST))
    assert caught.value.diagnostics[0].message == f"{log} holds no attempt 7 that waits for a result"


def test_the_file_of_a_key_has_so_many_bytes_at_most(tmp_path):
    """One that is too long is told apart from one that holds no key."""
    told = {}
    for size in (16_384, 16_385):
        (tmp_path / "key").write_bytes(b"x" * size)
        with pytest.raises(Rejected) as caught:
            load_key(str(tmp_path / "key"))
        told[size] = caught.value.diagnostics[0].message.removeprefix(f"the file {tmp_path / 'key'} ")
    assert told == {
        16_384: "holds no Ed25519 private key in PEM that is not encrypted",
        16_385: "is longer than any key",
    }


PATHS = {
    "specs/a/b.yaml": (True, False),
    "specs/world/line.yml": (True, False),
    "specs/origin.json": (True, False),
    f"specs/{'a' * 40}/{'b' * 95}.yaml": (True, False),
    f"specs/{'a' * 41}/b.yaml": (False, False),
    f"specs/a/{'b' * 96}.yaml": (False, False),
    "specs/a/.b.yaml": (False, False),
    "specs/a/b.json": (False, False),
    "specs/a/b/c.yaml": (False, False),
    "specs/A/b.yaml": (False, False),
    "counterexamples/00000001.json": (False, True),
    "counterexamples/1234567890123456.json": (False, True),
    "counterexamples/0000001.json": (False, False),
    "counterexamples/12345678901234567.json": (False, False),
    "counterexamples/0000000a.json": (False, False),
    "counterexamples/00000001.jsonl": (False, False),
}


@pytest.mark.parametrize("path", PATHS)
def test_what_a_path_in_a_bundle_is(path):
    assert (is_source(path), is_counterexample(path)) == PATHS[path]


@pytest.mark.parametrize(("number", "path"), [(0, "00000000"), (12_345_678, "12345678"), (123_456_789, "123456789")])
def test_the_path_of_a_failing_case(number, path):
    assert counterexample_path(number) == f"counterexamples/{path}.json"
    assert is_counterexample(counterexample_path(number))


def test_a_bundle_is_walked_so_deep(tmp_path):
    """Of a bundle in a folder of bundles the manifest alone is named; a folder that is empty or too deep by itself."""
    for path in ("a", "b/c", "runs/1/manifest.json", "runs/1/more", "runs/2/other", "d/e/f/g", "d/e/f/h"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "b")
    shallow = {"a", "b/c", "runs/1/manifest.json", "runs/2/other", "empty/", "link"}
    assert DEPTH == 3
    assert set(walk(tmp_path, {"runs"})) == shallow | {"d/e/f/"}
    assert set(walk(tmp_path, {"runs"}, depth=4)) == shallow | {"d/e/f/g", "d/e/f/h"}
    assert {path for path in walk(tmp_path, ()) if path.startswith("runs")} == {
        "runs/1/manifest.json",
        "runs/1/more",
        "runs/2/other",
    }


@pytest.mark.parametrize("piece", [1, 3, 4, 5, 100])
def test_the_end_of_the_whole_lines_is_found_whatever_is_read_at_a_time(tmp_path, monkeypatch, piece):
    monkeypatch.setattr("specledger.evidence.append_file._PIECE", piece)
    for data, whole in {
        b"": 0,
        b"a": 0,
        b"a\n": 2,
        b"\n": 1,
        b"ab\ncd": 3,
        b"ab\ncdefghi\n": 11,
        b"ab\ncdefghi\nj": 11,
        b"ab\n\0cd\n": 3,
        b"ab\ncd\0\n": 3,
        b"ab\n\0": 3,
        b"\0ab\n": 0,
    }.items():
        (tmp_path / "file").write_bytes(data)
        with AppendFile(tmp_path / "file", wait=False) as file:
            assert (file.size, file.whole) == (len(data), whole), data
            assert file.read() == data
            assert file.read(1, 3) == data[1:3]
            assert file.read(2) == data[2:]


@pytest.mark.parametrize("piece", [1, 4, 5, 6, 100])
def test_files_are_copied_whole_whatever_is_read_at_a_time(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(transport, "_PIECE", piece)
    (tmp_path / "from/in").mkdir(parents=True)
    (tmp_path / "from/a").write_bytes(b"12345")
    (tmp_path / "from/in/b").write_bytes(b"")
    transport.copy_files(tmp_path / "from", tmp_path / "to")
    assert transport.read_files(tmp_path / "to") == {"a": b"12345", "in/b": b""}
    transport.sync_files(tmp_path / "to")


def test_so_many_failing_cases_are_kept():
    """The number of the case that closes one is counted from the first receipt on, whatever was kept before."""
    assert counterexamples.MOST_CASES == 100
    cases = counterexamples.Cases(lambda: lambda seq, type_, body: counterexamples.Case.at(seq, f"rule:{body['rule']}"))
    for number in range(102):
        cases.add("rules", {"rule": number // 2 if number < 100 else number})
    assert [case.first for case in cases.kept] == [*range(0, 100, 2), 100, 101]
    assert [case.path for case in cases.kept[-1:]] == ["counterexamples/00000101.json"]


def test_the_bytes_of_a_file_that_was_closed_cannot_be_read(tmp_path):
    file = AppendFile(tmp_path / "file", wait=False)
    assert not file.closed
    file.close()
    file.close()
    assert file.closed
    with pytest.raises(OSError, match="the file is closed"):
        file.read()


def test_a_line_is_not_appended_where_nobody_would_find_it(tmp_path):
    with AppendFile(tmp_path / "file", wait=False) as file:
        file.append(b"a\n", sync=True)
        os.replace(tmp_path / "file", tmp_path / "moved")
        (tmp_path / "file").touch()
        with pytest.raises(OSError, match="another file is at its path"):
            file.append(b"b\n", sync=False)
        assert file.closed
    assert (tmp_path / "moved").read_bytes() == b"a\n"
