"""What the system refuses is told in its own words, wherever files are read or written; without words there are others."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.cli.specs import _crashed
from specledger.core.diagnostics import Rejected
from specledger.evidence.keys import new_key
from specledger.evidence.seal import Seal, read_timestamp_file, seal_bundle
from specledger.evidence.workplace import Workplace
from specledger.pipeline.golden import Pin
from specledger.report.profile import read_tests
from specledger.verify.bundle import _unreadable
from specledger.verify.fork import read_against
from specledger.verify.trust import read_trust

PLACE: Any = SimpleNamespace(target="out")
FULL = OSError(28, "No space left on device")
MISSING, INSIDE = "No such file or directory", "Not a directory"


def crash(error):
    raise Rejected([_crashed("a.yaml", error)])


def refuse(function, error):
    raise function(error)


READERS = {  # what is asked, and the words of the system
    "a bundle to seal": (lambda folder: seal_bundle(folder / "none", Seal(timestamp=b"x")), MISSING),
    "a time stamp": (lambda folder: read_timestamp_file(folder / "none"), MISSING),
    "a checkpoint": (lambda folder: read_against(folder / "none"), MISSING),
    "a trust file": (lambda folder: read_trust(folder / "none"), MISSING),
    "a new key": (lambda folder: new_key(folder / "file" / "key"), "file/key cannot be written: File exists"),
    "a pin": (lambda folder: Pin("a", {}, ()).write(folder / "file" / "pins"), INSIDE),
    "results of tests": (lambda folder: read_tests(folder / "none"), MISSING),
    "evidence": (lambda folder: refuse(lambda error: _unreadable(folder, error), FULL), FULL.strerror),
    "a place for evidence": (lambda _: refuse(lambda error: Workplace.unwritable(PLACE, error), FULL), FULL.strerror),
    "a spec that is checked": (lambda _: crash(FULL), FULL.strerror),
}


@pytest.mark.parametrize(("ask", "words"), READERS.values(), ids=READERS)
def test_the_words_of_the_system_are_told_without_its_numbers(tmp_path: Path, ask, words):
    (tmp_path / "file").touch()
    with pytest.raises(Rejected) as refused:
        ask(tmp_path)
    (finding,) = refused.value.diagnostics
    assert words in finding.message
    assert "Errno" not in finding.message


WORDLESS = {
    "evidence": (lambda folder: refuse(lambda error: _unreadable(folder, error), OSError()), "operating system error"),
    "a place for evidence": (lambda _: refuse(lambda error: Workplace.unwritable(PLACE, error), OSError("why")), "why"),
    "a spec that is checked": (lambda _: crash(OSError("why")), "why"),
}


@pytest.mark.parametrize(("ask", "words"), WORDLESS.values(), ids=WORDLESS)
def test_an_error_without_words_of_the_system_has_others(tmp_path: Path, ask, words):
    with pytest.raises(Rejected) as refused:
        ask(tmp_path)
    assert refused.value.diagnostics[0].message.endswith(words)


def test_short_memory_is_told_as_that(monkeypatch):
    monkeypatch.delenv("SPECLEDGER_TRACEBACK", raising=False)
    assert _crashed("a.yaml", MemoryError()).message.endswith("a.yaml: memory is short")
