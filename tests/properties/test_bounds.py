"""What is exactly as large as its bound is admitted, and what is larger by one is not."""

from importlib import import_module

import pytest

from specledger.core.canonical import NotCanonical, canonical_bytes, is_plain
from specledger.core.diagnostics import Diagnostics, suggest
from specledger.core.log_json import log_value, parse_log_json
from specledger.evidence.checkpoint import InvalidNote, note_text, read_note
from specledger.evidence.envelope import to_base64
from specledger.evidence.runlog import InvalidLog, read_runlog
from specledger.expr import EvaluationError
from specledger.expr.eval.values import concatenated, joined, to_double
from specledger.lang.draws import misfit
from specledger.lang.notation import name as known_name
from specledger.load.input_filter import read_text
from specledger.load.plain_yaml import NotPlain, read_plain
from specledger.suites.series import flatten
from specledger.wings.challenges.transcript import sentences
from specledger.wings.trajectories.model import Message, Speaker
from specledger.wings.trajectories.rules.structured import structured
from specledger.wings.trajectories.stamps import stamp_at, stamp_of
from specledger.worlds.maps import MapError, read_drawing


def admits(refusal, call, size):
    """Whether a value of this size is admitted; what is no refusal is an error of the test."""
    try:
        call(size)
    except refusal:
        return False
    return True


def nested(depth):
    """Lists inside one another."""
    value: list[object] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def brackets(depth):
    return "[" * depth + "]" * depth


def note(signatures=1, size=1, filled=0):
    """A checkpoint with so many signatures, of a log of that size, filled up to so many bytes."""
    text = note_text("log", size, bytes(32))
    lines = [f"— key{number} {to_base64(bytes(68))}\n".encode() for number in range(signatures)]
    whole = text + b"\n" + b"".join(lines)
    return whole if not filled else text.replace(b"log", b"l" * (filled - len(whole) + 3), 1) + b"\n" + b"".join(lines)


def said(texts):
    return sentences([Message(Speaker.USER, text) for text in texts]) is not None


REFUSED = {
    "a list made of lists": ("suites.series.MAX_LIST", 4, EvaluationError, lambda n: flatten([[0], [0] * (n - 1)])),
    "a joined list": ("expr.eval.values.MAX_LIST", 4, EvaluationError, lambda n: joined([0], [0] * (n - 1))),
    "a text of two": ("expr.eval.values.MAX_STRING", 4, EvaluationError, lambda n: concatenated("a", "b" * (n - 1))),
    "a text that is a number": ("expr.eval.values.MAX_STRING", 4, EvaluationError, lambda n: to_double("1" * n)),
    "a range": ("expr.eval.builtins.MAX_LIST", 4, EvaluationError, lambda n: import_module("specledger.expr.eval.builtins")._range(n)),
    "proposals of a decision": ("agents.propose.MOST_PROPOSALS", 4, EvaluationError, lambda n: import_module("specledger.agents.propose")._bounded([{}] * n)),
    "combinations of arguments": ("agents.propose.MOST_COMBINATIONS", 4, EvaluationError, lambda n: import_module("specledger.agents.propose")._countable([[0], [0] * n])),
    "containers of canonical JSON": ("core.canonical.MAX_DEPTH", None, NotCanonical, lambda n: canonical_bytes(nested(n))),
    "an integer of canonical JSON": ("core.canonical.MAX_INTEGER", None, NotCanonical, canonical_bytes),
    "a negative one": ("core.canonical.MAX_INTEGER", None, NotCanonical, lambda n: canonical_bytes([-n])),
    "containers of a log": ("core.log_json.MAX_VALUE_DEPTH", None, NotCanonical, lambda n: parse_log_json(brackets(n).encode())),
    "of a log around a decimal": ("core.log_json.MAX_VALUE_DEPTH", None, NotCanonical, lambda n: parse_log_json(b"[" * (n - 1) + b"1.5" + b"]" * (n - 1))),
    "containers of a value of Python": ("core.log_json.MAX_VALUE_DEPTH", None, NotCanonical, lambda n: log_value(nested(n))),
    "digits of a number of a log": ("core.log_json._LONGEST_NUMBER", None, ValueError, lambda n: parse_log_json(b"[0." + b"1" * (n - 2) + b"]")),
    "bytes of a checkpoint": ("evidence.checkpoint.MAX_NOTE", 300, InvalidNote, lambda n: read_note(note(filled=n))),
    "signatures of a checkpoint": ("evidence.checkpoint.MOST_SIGNATURES", None, InvalidNote, lambda n: read_note(note(n))),
    "receipts of a checkpoint": ("core.canonical.MAX_INTEGER", None, InvalidNote, lambda n: read_note(note(size=n))),
    "bytes of a run log": ("evidence.runlog.MAX_LOG", 7, InvalidLog, lambda n: read_runlog(b"#" * n)),
    "characters of plain YAML": ("load.plain_yaml.MOST_TEXT", 4, NotPlain, lambda n: read_plain("a" * n)),
    "levels of plain YAML": ("load.plain_yaml.MOST_DEPTH", 4, NotPlain, lambda n: read_plain(brackets(n - 1))),
    "events of plain YAML": ("load.plain_yaml.MOST_NODES", 9, NotPlain, lambda n: read_plain(f"[{'1,' * (n - 6)}]")),
    "characters of a line of a map": ("worlds.maps.MAX_SIDE", None, MapError, lambda n: read_drawing("." * n)),
    "lines of a map": ("worlds.maps.MAX_SIDE", None, MapError, lambda n: read_drawing(".\n" * n)),
}  # fmt: skip

KEPT = {
    "bytes of a spec": ("load.input_filter.MAX_BYTES", 8, lambda n: read_text(b"#" * n, "a.yaml", Diagnostics()) is not None),
    "the sum of weights": ("core.canonical.MAX_INTEGER", None, lambda n: misfit(2, [n - 1, 1]) is None),
    "a misspelt name": ("lang.notation.MOST_TEXT", 4, lambda n: known_name("A" * n, ["a" * n]) == "a" * n),
    "a word with a suggestion": ("core.diagnostics._MAX_WORD", None, lambda n: suggest("a" * n, ["a" * (n - 1)]) is not None),
    "a suggested word": ("core.diagnostics._MAX_WORD", None, lambda n: suggest("a" * (n - 1), ["a" * n]) is not None),
    "names to suggest": ("core.diagnostics._MAX_CANDIDATES", None, lambda n: suggest("word", ["words", *map(str, range(n - 1))]) == "words"),
    "containers that are plain": ("core.canonical.MAX_DEPTH", None, lambda n: is_plain(nested(n))),
    "sentences of a challenge": ("wings.challenges.transcript.MOST_SENTENCES", 4, lambda n: said(["a"] * n)),
    "characters of a challenge": ("wings.challenges.transcript.MOST_CHARACTERS", 4, lambda n: said(["a", "b" * (n - 1)])),
    "a result read as YAML": ("wings.trajectories.rules.structured.MOST", 8, lambda n: structured("a: " + "b" * (n - 3)) == {"a": "b" * (n - 3)}),
    "a time stamp": ("core.canonical.MAX_INTEGER", None, lambda n: stamp_at(n) == n),
    "one before 1970": ("core.canonical.MAX_INTEGER", None, lambda n: stamp_at(-n) == -n),
    "a text that is no time": ("wings.trajectories.stamps._LONGEST", 8, lambda n: stamp_of("a" * n) == "a" * n),
}  # fmt: skip


def bound(monkeypatch, where, small):
    """The bound, which is set to a small one where values of its size take long."""
    module, _, constant = where.rpartition(".")
    module = import_module(f"specledger.{module}")
    if small is not None:
        monkeypatch.setattr(module, constant, small)
    return getattr(module, constant)


@pytest.mark.parametrize(("where", "small", "refusal", "call"), REFUSED.values(), ids=REFUSED)
def test_what_is_larger_than_its_bound_is_refused(where, small, refusal, call, monkeypatch):
    most = bound(monkeypatch, where, small)
    assert [admits(refusal, call, size) for size in (most - 1, most, most + 1)] == [True, True, False]


@pytest.mark.parametrize(("where", "small", "holds"), KEPT.values(), ids=KEPT)
def test_what_is_larger_than_its_bound_is_treated_as_such(where, small, holds, monkeypatch):
    most = bound(monkeypatch, where, small)
    assert [holds(size) for size in (most - 1, most, most + 1)] == [True, True, False]
