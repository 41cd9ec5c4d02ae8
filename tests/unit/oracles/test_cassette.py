"""A cassette gives back what was recorded, asks nobody in replay, and is nothing else than a record."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.compile.model import compile_model
from specledger.core import disk
from specledger.core.canonical import canonical_bytes, parse_canonical
from specledger.core.diagnostics import Rejected, render
from specledger.core.disk import Disk
from specledger.kinds import bundle_from_document, load
from specledger.oracles import cassette
from specledger.oracles.cassette import FORMAT, CassetteModel
from specledger.oracles.failures import FAILURES, UNASKED
from specledger.oracles.model import ModelRequest, TokenUsage, answered, failed
from tests.toys import findings_of

WHO = {"oracle": "somebody"}
TURNS = [ModelRequest(turn, "s", "p") for turn in range(4)]


class Somebody:
    """Counts how often it is asked."""

    def __init__(self, answers=()):
        self.answers, self.asked, self.opened = list(answers), [], 0

    def open(self):
        self.opened += 1
        return self

    def ask(self, request):
        self.asked.append(request.turn)
        if self.answers:
            return self.answers[request.turn]
        return answered(f"[{request.turn}]", TokenUsage(1, request.turn), "STOP")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "record.jsonl"


@pytest.fixture
def recorded(file):
    model = CassetteModel(file, WHO, Somebody)
    for request in TURNS:
        model.ask(request)
    return file


def code_of(caught):
    (found,) = caught.value.diagnostics
    return found.code


def refused(file, code, **more):
    with pytest.raises(Rejected) as caught:
        CassetteModel(file, WHO, **more)
    assert code_of(caught) == code
    return caught.value.diagnostics[0]


def test_what_was_recorded_is_given_back(recorded):
    model = CassetteModel(recorded, WHO)
    for request in TURNS:
        assert model.ask(request) == Somebody().ask(request)


def test_replay_and_a_full_record_ask_nobody(recorded):
    before, somebody = recorded.read_bytes(), Somebody()
    model = CassetteModel(recorded, WHO, somebody.open)
    assert [model.ask(request).text for request in TURNS] == ["[0]", "[1]", "[2]", "[3]"]
    assert (somebody.opened, recorded.read_bytes()) == (0, before)  # so that no key is looked for either


def test_only_what_is_missing_is_asked(recorded):
    somebody = Somebody()
    model = CassetteModel(recorded, WHO, somebody.open)
    for request in (*TURNS, ModelRequest(9, "s", "p"), ModelRequest(9, "s", "p"), ModelRequest(1, "s", "other")):
        model.ask(request)
    assert (somebody.opened, somebody.asked) == (1, [9, 1])
    assert CassetteModel(recorded, WHO).ask(ModelRequest(1, "s", "other")).text == "[1]"


MISSES = {
    "another turn": (ModelRequest(7, "s", "p"), "turn 7 is not recorded"),
    "another prompt": (ModelRequest(1, "s", "q"), "turn 1 was recorded with another prompt"),
    "another system": (ModelRequest(1, "t", "p"), "turn 1 was recorded with another system"),
    "two things": (ModelRequest(1, "s", "q", {}), "turn 1 was recorded with another prompt and schema"),
    "temperature": (ModelRequest(1, "s", "p", temperature=0), "turn 1 was recorded with another temperature"),
}


@pytest.mark.parametrize("name", MISSES)
def test_a_miss_is_an_error_that_says_what_is_new(name, recorded):
    request, message = MISSES[name]
    model = CassetteModel(recorded, WHO)
    (found,) = findings_of(model.ask, request)
    assert (found.code, found.message) == ("E_CASSETTE_MISS", message)
    assert "--record" in str(found.hint)


def test_the_lines_are_canonical_and_hold_no_prompt(file):
    CassetteModel(file, WHO, Somebody).ask(ModelRequest(0, "my system", "my prompt"))
    head, line = file.read_bytes().splitlines()
    assert parse_canonical(head) == {"format": FORMAT, "model": WHO}
    held = parse_canonical(line)
    assert isinstance(held, dict)
    assert held.keys() == {"answer", "key", "request"}
    assert b"my " not in line


def test_failures_are_recorded_as_they_came(file):
    answers = [failed(failure, "why", text="[{") for failure in sorted(FAILURES)]
    model = CassetteModel(file, WHO, lambda: Somebody(answers))
    requests = [ModelRequest(turn, "s", "p") for turn in range(len(answers))]
    assert [model.ask(request) for request in requests] == answers
    assert [CassetteModel(file, WHO).ask(request) for request in requests] == answers


def test_recording_asks_again_what_failed_on_the_way_to_the_model(file):
    failures = sorted(FAILURES)
    requests = [ModelRequest(turn, "s", "p") for turn in range(len(failures))]
    failing = [failed(failure, "why") for failure in failures]
    for _ in range(2):
        recording = CassetteModel(file, WHO, lambda: Somebody(failing))
        assert [recording.ask(request) for request in requests] == failing
    assert len(file.read_bytes().splitlines()) == 1 + len(failures)  # the same failure is there once
    other, somebody = [failed("refused", "another port") for _ in failures], Somebody([answered("[]")] * len(failures))
    recording = CassetteModel(file, WHO, lambda: Somebody(other))
    last = [failed("refused", "another port") if failure in UNASKED else failed(failure, "why") for failure in failures]
    assert [recording.ask(request) for request in requests] == last
    assert [CassetteModel(file, WHO).ask(request) for request in requests] == last
    recording = CassetteModel(file, WHO, somebody.open)
    last = [answered("[]") if failure in UNASKED else failed(failure, "why") for failure in failures]
    for _ in range(2):
        assert [recording.ask(request) for request in requests] == last
    assert somebody.asked == [turn for turn, failure in enumerate(failures) if failure in UNASKED]
    assert [CassetteModel(file, WHO).ask(request) for request in requests] == last


def test_an_answer_that_another_process_recorded_meanwhile_replaces_a_failure(file):
    (first, *_), down = TURNS, Somebody([failed("refused", "")])
    CassetteModel(file, WHO, down.open).ask(first)
    late = CassetteModel(file, WHO, down.open)
    CassetteModel(file, WHO, Somebody).ask(first)
    assert late.ask(first).text == "[0]"
    assert down.asked == [0]


TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=30)


@settings(max_examples=25)
@given(st.lists(TEXTS, min_size=1, max_size=5), st.dictionaries(st.sampled_from("abc"), TEXTS.map(ascii)))
@pytest.mark.slow
def test_any_text_is_given_back(tmp_path_factory, texts, who):
    file = tmp_path_factory.mktemp("any") / "record.jsonl"
    requests = [ModelRequest(turn, text.encode(errors="replace").decode(), "p") for turn, text in enumerate(texts)]
    answers = [answered(text) for text in texts]
    recording = CassetteModel(file, who, lambda: Somebody(answers))
    assert [recording.ask(request) for request in requests] == answers
    replay = CassetteModel(file, who)
    assert [replay.ask(request) for request in reversed(requests)] == answers[::-1]


# Damage


def line(asked=TURNS[0], text="[]", who=WHO, **more):
    held = {"answer": answered(text).document(), "key": asked.key(who), "request": asked.document()}
    return canonical_bytes({**held, **more}) + b"\n"


HEAD = canonical_bytes({"format": FORMAT, "model": WHO}) + b"\n"
DAMAGED = {
    "empty": (b"", "E_CASSETTE_FORM", 1),
    "no head": (line(), "E_CASSETTE_FORM", 1),
    "no JSON": (b"hello\n", "E_CASSETTE_FORM", 1),
    "no line": (b"hello", "E_CASSETTE_FORM", 1),
    "an empty line": (HEAD + b"\n", "E_CASSETTE_FORM", 2),
    "another format": (canonical_bytes({"format": "vcr", "model": WHO}) + b"\n", "E_CASSETTE_FORM", 1),
    "a newer format": (
        canonical_bytes({"format": "specledger/cassette/v2", "model": WHO}) + b"\n",
        "E_CASSETTE_FORM",
        1,
    ),
    "another model": (canonical_bytes({"format": FORMAT, "model": {"oracle": "other"}}) + b"\n", "E_CASSETTE_MODEL", 1),
    "no object": (HEAD + b"[]\n", "E_CASSETTE_FORM", 2),
    "white space": (HEAD + line().replace(b",", b", "), "E_CASSETTE_FORM", 2),
    "a key too many": (HEAD + line(more=1), "E_CASSETTE_FORM", 2),
    "another key": (HEAD + line() + line(TURNS[1], key=TURNS[0].key(WHO)), "E_CASSETTE_FORM", 3),
    "a key that is none": (HEAD + line(key=7), "E_CASSETTE_FORM", 2),
    "another turn": (HEAD + line(request={**TURNS[0].document(), "turn": 3}), "E_CASSETTE_FORM", 2),
    "a request that is none": (HEAD + line(request=[]), "E_CASSETTE_FORM", 2),
    "of another model": (HEAD + line(who={"oracle": "other"}), "E_CASSETTE_FORM", 2),
    "no answer": (HEAD + line(answer="[]"), "E_CASSETTE_FORM", 2),
    "a forged answer": (HEAD + line().replace(b'"failure":null', b'"failure":"tired"'), "E_CASSETTE_FORM", 2),
    "a torn line": (HEAD + line() + line(TURNS[1])[:-9], "E_CASSETTE_FORM", 3),
    "no last newline": (HEAD + line()[:-1], "E_CASSETTE_FORM", 2),
    "two answers": (HEAD + line() + line(text="[ ]"), "E_CASSETTE_TWICE", 3),
    "no UTF-8": (HEAD + b"\xff\n", "E_CASSETTE_FORM", 2),
    "a long line": (HEAD + b"x" * (1 << 20) + b"x\n", "E_CASSETTE_FORM", 2),
    "a deep line": (HEAD + b"[" * 100_000 + b"\n", "E_CASSETTE_FORM", 2),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_a_clear_error_and_stays_as_it_is(name, file):
    data, code, number = DAMAGED[name]
    file.write_bytes(data)
    found = refused(file, code)
    assert (found.span.file, found.span.start.line) == (str(file), number)
    assert "\x1b" not in render(found, lambda _: None)
    if name not in ("empty", "a torn line", "no last newline"):
        refused(file, code, source=Somebody)
    assert file.read_bytes() == data


def test_whatever_an_interrupted_recording_leaves_is_completed(recorded, tmp_path):
    whole = recorded.read_bytes()
    for size in [*range(0, len(whole), 97), *(len(whole) - n for n in (1, 2))]:
        torn = tmp_path / "torn.jsonl"
        torn.write_bytes(whole[:size])
        model = CassetteModel(torn, WHO, Somebody)
        for request in TURNS:
            model.ask(request)
        assert torn.read_bytes() == whole


def test_what_is_not_there_is_not_replayed(file):
    refused(file, "E_CASSETTE_FILE")


PLACES = {
    "a folder": lambda file: file.mkdir(),
    "a pipe": os.mkfifo,
    "a device": lambda file: file.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("name", PLACES)
def test_what_is_no_plain_file_is_neither_replayed_nor_recorded_to(name, file):
    PLACES[name](file)
    refused(file, "E_CASSETTE_FILE")
    refused(file, "E_CASSETTE_FILE", source=Somebody)


def test_a_link_is_not_recorded_to(file, tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"")
    file.symlink_to(victim)
    refused(file, "E_CASSETTE_FILE", source=Somebody)
    assert victim.read_bytes() == b""


def test_a_file_is_bounded(recorded, monkeypatch):
    size = recorded.stat().st_size
    monkeypatch.setattr(cassette, "MOST_FILE", size)
    model = CassetteModel(recorded, WHO, Somebody)
    with pytest.raises(Rejected) as caught:
        model.ask(ModelRequest(9, "s", "p"))
    assert code_of(caught) == "E_CASSETTE_FILE"
    assert recorded.stat().st_size == size
    monkeypatch.setattr(cassette, "MOST_FILE", size - 1)
    refused(recorded, "E_CASSETTE_FILE")


def test_a_file_that_was_shortened_meanwhile_is_a_clear_error(recorded):
    model = CassetteModel(recorded, WHO, Somebody)
    recorded.write_bytes(HEAD)
    with pytest.raises(Rejected) as caught:
        model.ask(ModelRequest(9, "s", "p"))
    assert code_of(caught) == "E_CASSETTE_FILE"


# Several recorders


def test_what_another_recorder_added_is_not_asked_again(file):
    first, second = Somebody(), Somebody()
    one, two = CassetteModel(file, WHO, first.open), CassetteModel(file, WHO, second.open)
    for request in TURNS:
        assert one.ask(request) == two.ask(request)
    assert (first.asked, second.asked) == ([0, 1, 2, 3], [])


def test_of_two_answers_the_first_is_kept(file):
    class Slow(Somebody):
        def ask(self, request):
            other.ask(request)  # somebody else records the same question while this one waits
            return answered("mine")

    other = CassetteModel(file, WHO, Somebody)
    model = CassetteModel(file, WHO, Slow)
    assert model.ask(TURNS[2]).text == other.ask(TURNS[2]).text == "[2]"
    assert len(file.read_bytes().splitlines()) == 2


def test_it_is_locked_while_it_is_written_and_free_while_somebody_thinks(file, monkeypatch):
    def is_free():
        with file.open("rb") as other:
            try:
                fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    class Watched(Somebody):
        def ask(self, request):
            seen.append(("asked", is_free()))
            return super().ask(request)

    class Watching(Disk):
        def write(self, file, data):
            seen.append(("written", is_free()))
            return super().write(file, data)

    seen: list = []
    monkeypatch.setattr(disk, "SYSTEM", Watching())
    CassetteModel(file, WHO, Watched).ask(TURNS[0])
    assert seen == [("written", False), ("asked", True), ("written", False)]


PROGRAM = """
import sys
from pathlib import Path
from specledger.oracles.cassette import CassetteModel
from specledger.oracles.model import ModelRequest, answered

class Somebody:
    def ask(self, request):
        return answered(sys.argv[2] * 2000)

print("ready", flush=True)
sys.stdin.readline()
model = CassetteModel(Path(sys.argv[1]), {}, Somebody)
for turn in range(50):
    model.ask(ModelRequest(turn, "s", "p"))
"""


@pytest.mark.slow
def test_several_processes_record_to_one_file(file):
    commands = [[sys.executable, "-c", PROGRAM, str(file), word] for word in "abc"]
    started = [subprocess.Popen(each, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for each in commands]
    assert [process.stdout.readline() for process in started if process.stdout] == ["ready\n"] * 3
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in started:
        process.communicate()
    assert [process.returncode for process in started] == [0, 0, 0]
    model = CassetteModel(file, {})
    texts = {turn: model.ask(ModelRequest(turn, "s", "p")).text for turn in range(50)}
    assert {str(text)[:1] for text in texts.values()} <= set("abc")
    assert len(file.read_bytes().splitlines()) == 51


# The spec


@pytest.fixture
def specs(tmp_path):
    (tmp_path / "script.yaml").write_text(
        'spec: model/v1\nname: script\nscripted: {answers: [{text: "[]"}]}\n', encoding="utf-8"
    )
    (tmp_path / "tape.yaml").write_text(
        "spec: model/v1\nname: tape\ncassette: {records: script, file: records/tape.jsonl}\n", encoding="utf-8"
    )
    (tmp_path / "records").mkdir()
    return tmp_path


def test_a_spec_names_a_file_beside_it(specs, monkeypatch):
    monkeypatch.chdir(Path("/"))
    (bundle,) = load(specs / "tape.yaml")
    planned = compile_model(bundle, bundle.root)
    script = compile_model(bundle, next(key for key in bundle.specs if key.startswith("model/script")))
    assert (planned.outside, script.outside) == (True, False)
    assert planned.identity == script.identity
    with pytest.raises(Rejected, match="E_CASSETTE_FILE"):
        planned.open(False)
    assert planned.open(True).ask(TURNS[0]) == script.open(False).ask(TURNS[0])
    assert (specs / "records" / "tape.jsonl").is_file()
    assert planned.open(False).ask(TURNS[0]) == script.open(False).ask(TURNS[0])


def test_evidence_opens_no_file(specs):
    (bundle,) = load(specs / "tape.yaml")
    again = bundle_from_document(bundle.document())
    planned = compile_model(again, again.root)
    for record in (False, True):
        with pytest.raises(Rejected, match="E_CASSETTE_FILE"):
            planned.open(record)


ELSEWHERE = "../x.jsonl /etc/x.jsonl a/../x.jsonl .x.jsonl a//x.jsonl x.txt ~/x.jsonl a\\x.jsonl x.jsonl/"


@pytest.mark.parametrize("name", ELSEWHERE.split())
def test_a_spec_cannot_name_a_file_elsewhere(name, specs):
    (specs / "tape.yaml").write_text(
        f"spec: model/v1\nname: tape\ncassette: {{records: script, file: '{name}'}}\n", encoding="utf-8"
    )
    with pytest.raises(Rejected):
        load(specs / "tape.yaml")


def test_a_link_does_not_lead_elsewhere(specs, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (specs / "records").rmdir()
    (specs / "records").symlink_to(elsewhere)
    (bundle,) = load(specs / "tape.yaml")
    for record in (False, True):
        with pytest.raises(Rejected, match="outside the folder"):
            compile_model(bundle, bundle.root).open(record)
    assert list(elsewhere.iterdir()) == []
