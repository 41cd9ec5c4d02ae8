"""Programs and functions are started, asked and ended; whatever they do is an answer."""

import os
import sys
import textwrap
from pathlib import Path

import pytest

from specledger.core.diagnostics import Rejected
from specledger.oracles.answer import CLOSED, MOST_ANSWER, NOT_JSON, RAISED, TOO_LONG
from specledger.oracles.outside import MOST_ERRORS, MOST_TEXT, Function, Program, transport_of
from specledger.spec.agent import Outside
from tests.waiting import wait

QUESTION = b'{"id":5,"t":3}'
PROGRAMS = {
    "an answer": ("print(json.dumps([q]), flush=True)", b'[{"id": 5, "t": 3}]', ""),
    "an empty line": ("print(flush=True)", None, ""),
    "garbage": ("sys.stdout.buffer.write(b'\\xff\\x00\\n'); sys.stdout.flush()", b"\xff\x00", ""),
    "two lines": ("print('1\\n2', flush=True)", b"1", ""),
    "noise on its standard error": ("sys.stderr.write('x' * 1000000); print(1, flush=True)", b"1", ""),
    "an exit": ("sys.exit(1)", None, CLOSED),
    "half a line": ("sys.stdout.write('[1'); sys.stdout.flush(); sys.exit(0)", None, CLOSED),
    "a closed output": ("os.close(1); time.sleep(60)", None, CLOSED),
    "too long a line": ("sys.stdout.write('x' * 10000000); sys.stdout.flush()", None, TOO_LONG),
    "bytes without an end": ("while True: sys.stdout.write('x' * 65536)", None, TOO_LONG),
}


def program(body):
    lines = "import json, os, sys, time\nfor line in sys.stdin:\n    q = json.loads(line)\n" + textwrap.indent(
        body, "    "
    )
    return Program([sys.executable, "-c", lines], {})


@pytest.mark.parametrize(("body", "data", "failure"), PROGRAMS.values(), ids=PROGRAMS)
def test_whatever_a_program_says_is_an_answer(body, data, failure):
    asked = program(body)
    try:
        answer = asked.exchange(QUESTION)
        assert (answer.received, answer.failure) == (data, failure)
        assert answer.size <= MOST_ANSWER + 1
        assert asked.started == (failure == "")
    finally:
        asked.close()
    assert not asked.started


def test_a_program_that_has_ended_is_started_again():
    asked = program("print(os.getpid(), flush=True)\nif q['t'] == 1: sys.exit()")
    try:
        pids = [asked.exchange(f'{{"t":{t}}}'.encode()).received for t in range(4)]
        assert pids[0] == pids[1]
        assert pids[2] in (None, pids[3])  # whether its end was noticed before it was asked
        assert pids[3] not in (None, pids[1])
    finally:
        asked.close()


def test_what_was_said_before_a_question_answers_nothing(tmp_path):
    said = tmp_path / "said"
    asked = program(f"print(q['t'], flush=True)\nprint('more', flush=True)\nopen({str(said)!r}, 'w').close()")
    try:
        assert asked.exchange(b'{"t":0}').received == b"0"
        wait(said.exists)
        assert asked.exchange(b'{"t":1}').received == b"1"
    finally:
        asked.close()


@pytest.mark.parametrize("command", [["/no/such/program"], ["/"], ["a\x00b"]])
def test_a_program_that_cannot_be_started_is_the_users_mistake(command):
    with pytest.raises(Rejected, match="E_AGENT_START"):
        Program(command, {}).exchange(QUESTION)


def test_a_program_sees_no_variable_that_is_not_listed(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "hush")
    monkeypatch.setenv("LISTED", "said")
    show = "import os, sys, json\nfor line in sys.stdin: print(json.dumps(sorted(os.environ)), flush=True)"
    outside = Outside(command=[sys.executable, "-c", show], environment=["LISTED", "NOT_THERE"])
    asked = transport_of(outside)
    try:
        given = asked.exchange(QUESTION).received
    finally:
        asked.close()
    assert given is not None
    assert b"SECRET_KEY" not in given
    assert b"LISTED" in given


FUNCTIONS = {
    "a value": ("return [question]", b'[{"id":5,"t":3}]', ""),
    "an object": ("return {'a': 1}", b'{"a":1,"id":5}', ""),
    "an object of another message": ("return {'id': 6}", b'{"id":6}', ""),
    "text": ("return '[1 ]'", b"[1 ]", ""),
    "bytes": ("return b'x'", b"x", ""),
    "a float": ("return 0.25", b"0.25", ""),
    "nothing": ("return None", None, ""),
    "NaN": ("return float('nan')", None, NOT_JSON),
    "no value": ("return object()", None, NOT_JSON),
    "a cycle": ("x = []; x.append(x); return x", None, NOT_JSON),
    "a raise": ("raise KeyError('secret')", None, RAISED),
    "an exit": ("exit()", None, RAISED),
    "an interruption": ("raise KeyboardInterrupt", None, RAISED),
    "a strange exception": ("raise type('Ä' * 300, (Exception,), {})", None, RAISED),
    "half a character": ("return chr(0xd800)", None, RAISED),
    "endless recursion": ("return decide(question)", None, RAISED),
    "10 MB": ("return 'x' * 10_000_000", None, TOO_LONG),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    return tmp_path


@pytest.mark.parametrize("name", FUNCTIONS)
def test_whatever_a_function_does_is_an_answer(name, folder):
    body, data, failure = FUNCTIONS[name]
    module = f"agent_{list(FUNCTIONS).index(name)}_of_a_test"
    Path(folder, f"{module}.py").write_text(f"def decide(question):\n    {body}\n", encoding="utf-8")
    asked = transport_of(Outside(python=f"{module}:decide"))
    assert not asked.started
    answer = asked.exchange(QUESTION)
    assert asked.started
    assert (answer.received, answer.failure) == (data, failure)
    assert answer.reason.isascii()
    assert "secret" not in answer.reason
    assert set(os.environ) <= {"PATH"}
    asked.close()
    assert not asked.started


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("no_such_module:f", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("json:no_such_name", "no attribute 'no_such_name'"),
        ("sys:path", "not a function"),
        ("broken_agent_of_a_test:f", "SystemExit: 3 (broken_agent_of_a_test.py:1)"),
        ("hostile_agent_of_a_test:f", r"KeyError: '\x1b[31m"),
        ("mute_agent_of_a_test:f", "Mute (mute_agent_of_a_test.py:3)"),
    ],
)
def test_a_function_that_cannot_be_imported_is_the_users_mistake(target, words, folder):
    Path(folder, "broken_agent_of_a_test.py").write_text("exit(3)", encoding="utf-8")
    Path(folder, "hostile_agent_of_a_test.py").write_text("raise KeyError('\x1b[31m' * 999)", encoding="utf-8")
    mute = "class Mute(Exception):\n    def __str__(self): exit()\nraise Mute"
    Path(folder, "mute_agent_of_a_test.py").write_text(mute, encoding="utf-8")
    with pytest.raises(Rejected, match="E_AGENT_START") as rejected:
        Function(target, {}).exchange(QUESTION)
    (found,) = rejected.value.diagnostics
    assert words in found.message
    assert len(found.message) < 300


def test_a_class_is_instantiated_once_for_each_session(folder):
    text = """
class Counter:
    def __init__(self): self.n = 0
    def __call__(self, message):
        self.n += 1
        return [self.n]
class Failing:
    def __init__(self): raise KeyError("secret")
    def __call__(self, message): return []
"""
    Path(folder, "counting_agent_of_a_test.py").write_text(text, encoding="utf-8")
    first, second = (transport_of(Outside(python="counting_agent_of_a_test:Counter")) for _ in range(2))
    assert [one.exchange(QUESTION).received for one in (first, first, second)] == [b"[1]", b"[2]", b"[1]"]
    with pytest.raises(Rejected, match="E_AGENT_START"):
        transport_of(Outside(python="counting_agent_of_a_test:Failing")).exchange(QUESTION)


@pytest.mark.parametrize(
    ("body", "reason"), [("sys.exit(3)", "exit:3"), ("os.kill(os.getpid(), 9)", "signal:9"), ("sys.exit(0)", "exit:0")]
)
def test_how_a_program_ended_is_said(body, reason):
    asked = program(body)
    try:
        assert asked.exchange(QUESTION).reason == reason
    finally:
        asked.close()


def test_the_end_of_the_standard_error_is_kept_until_bye(tmp_path):
    errors = tmp_path / "errors"
    lines = "import sys\nfor line in sys.stdin:\n    sys.stderr.write(f'a{\"b\" * 4096}' if 'id' in line else 'bye')\n    sys.stderr.flush()\n    print(1, flush=True)"
    asked = Program([sys.executable, "-c", lines], {}, errors)
    asked.exchange(QUESTION)
    wait(lambda: errors.exists() and len(errors.read_bytes()) == MOST_ERRORS)
    asked.close(bye=True)
    assert errors.read_bytes() == b"b" * 4096


def test_what_a_function_raised_first_is_kept_with_its_line_and_cut(folder):
    Path(folder, "raising_agent_of_a_test.py").write_text(
        "def decide(question):\n    raise ValueError(str(question['id']) * 300)\n", encoding="utf-8"
    )
    errors = folder / "errors"
    asked = transport_of(Outside(python="raising_agent_of_a_test:decide"), errors)
    for number in (1, 2):
        assert asked.exchange(b'{"id":%d}' % number).reason == "ValueError"
    text = errors.read_text(encoding="utf-8")
    location = " (raising_agent_of_a_test.py:2)"
    assert text.startswith("ValueError: 111")
    assert text.endswith(f"1{location}")
    assert len(text) == MOST_TEXT == 200


@pytest.mark.parametrize(
    ("name", "shown"), [("N" * 100, "N" * 100), ("N" * 101, "N" * 100), ("a b", "Exception"), ("\u00c4", "Exception")]
)
def test_the_class_of_an_exception_is_a_short_word(name, shown, folder):
    module = f"class_agent_{len(name)}_{shown[0]}_of_a_test"
    Path(folder, f"{module}.py").write_text(
        f"def decide(question):\n    raise type({name!r}, (Exception,), {{}})\n", encoding="utf-8"
    )
    assert transport_of(Outside(python=f"{module}:decide")).exchange(QUESTION).reason == shown


def test_a_fraction_of_more_than_eight_decimals_is_no_answer(folder):
    Path(folder, "exact_agent_of_a_test.py").write_text(
        "def decide(question):\n    return 0.12345678 if question['id'] else 0.123456789\n", encoding="utf-8"
    )
    asked = transport_of(Outside(python="exact_agent_of_a_test:decide"))
    assert asked.exchange(b'{"id":1}').received == b"0.12345678"
    assert (asked.exchange(b'{"id":0}').failure, asked.exchange(b'{"id":0}').reason) == (NOT_JSON, "not_exact")
