"""What the entry points do before a command, and what a signal does in it, in this process: handlers, statuses, output."""

import gc
import os
import runpy
import signal
import sys
import threading
import time
from importlib import import_module

import pytest

from specledger import __main__ as entry
from specledger import __version__
from specledger.cli import main as command

INT, TERM = signal.SIGINT, signal.SIGTERM
BOTH = (INT, TERM)


class LeftError(Exception):
    """A process that would have ended."""


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    """Handlers, thresholds and the environment are as before afterwards; a process that ends says so."""

    def leave(status):
        raise LeftError(status)

    monkeypatch.setattr(os, "_exit", leave)
    monkeypatch.delenv("PYDANTIC_DISABLE_PLUGINS", raising=False)
    handlers, thresholds = {number: signal.getsignal(number) for number in BOTH}, gc.get_threshold()
    for number in BOTH:
        signal.signal(number, signal.default_int_handler)
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
    gc.set_threshold(*thresholds)


def run_as_module():
    runpy.run_path(entry.__file__, run_name="__main__")


@pytest.mark.parametrize(
    ("start", "words", "said"),
    [
        (entry.main, ["spec", "--version"], f"specledger {__version__}\n"),
        (run_as_module, ["spec", "--version"], f"specledger {__version__}\n"),
        (entry.document_commands, ["toy_pseudo_axion", "--help"], "toy_pseudo_axion"),
    ],
    ids=["spec", "python -m specledger", "the commands of a source document"],
)  # fmt: skip
def test_an_entry_point_runs_its_command_line_and_exits_with_its_status(start, words, said, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        start()
    assert not ended.value.code
    out = capsys.readouterr().out
    assert out == said if said.endswith("\n") else said in out
    assert gc.get_threshold() == (200_000, 20, 100)
    assert os.environ["PYDANTIC_DISABLE_PLUGINS"] == "__all__"


def test_the_module_of_the_entry_points_runs_nothing_under_another_name(capsys):
    for name in ("specledger.__main__", "AAA", "other"):
        assert "main" in runpy.run_path(entry.__file__, run_name=name)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("number", BOTH)
def test_a_signal_before_the_first_import_ends_the_process_with_one_line(number, capfd):
    entry._begin()
    with pytest.raises(LeftError, match=str(128 + number)):
        signal.raise_signal(number)
    assert capfd.readouterr() == ("", "error[E_INTERRUPTED]: interrupted before the work began\n")


@pytest.mark.parametrize("ignored", BOTH)
def test_a_signal_that_is_ignored_stays_ignored_and_the_other_one_does_not(ignored, monkeypatch):
    monkeypatch.setenv("PYDANTIC_DISABLE_PLUGINS", "one")
    signal.signal(ignored, signal.SIG_IGN)
    entry._begin()
    assert signal.getsignal(ignored) is signal.SIG_IGN
    (other,) = {*BOTH} - {ignored}
    with pytest.raises(LeftError):
        signal.raise_signal(other)
    assert os.environ["PYDANTIC_DISABLE_PLUGINS"] == "one"
    with command.interruptible() as received:
        signal.raise_signal(ignored)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(other)
    assert received == [other]
    assert signal.getsignal(ignored) is signal.SIG_IGN


def test_the_first_signal_interrupts_the_second_does_nothing_the_third_ends_the_process():
    before = [signal.getsignal(number) for number in BOTH]
    with command.interruptible() as received:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(TERM)
        signal.raise_signal(INT)
        with pytest.raises(LeftError, match=str(128 + TERM)):
            signal.raise_signal(INT)
    assert received == [TERM, INT, INT]
    assert [signal.getsignal(number) for number in BOTH] == before


def test_handlers_are_restored_after_an_exception_too():
    before = [signal.getsignal(number) for number in BOTH]
    with pytest.raises(ZeroDivisionError), command.interruptible():
        raise ZeroDivisionError
    assert [signal.getsignal(number) for number in BOTH] == before


def test_in_another_thread_nothing_is_changed():
    seen = []

    def work():
        with command.interruptible() as received:
            seen.append((received, [signal.getsignal(number) for number in BOTH]))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [([], [signal.default_int_handler] * 2)]


@pytest.fixture
def imported(tmp_path, monkeypatch):
    """A module that gets a signal while it is imported, and says when its import has ended."""
    source = "import signal, time\ndone = False\nsignal.raise_signal(signal.SIGTERM)\n"
    source += "for _ in range(30):\n    time.sleep(0.005)\ndone = True\n"
    (tmp_path / "interrupted_while_imported.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    yield "interrupted_while_imported"
    sys.modules.pop("interrupted_while_imported", None)


def wait_after(module):
    assert module.done
    for _ in range(500):
        time.sleep(0.01)


def test_a_signal_in_an_import_waits_for_its_end_and_counts_once(imported):
    with command.interruptible() as received:
        with pytest.raises(KeyboardInterrupt):
            wait_after(import_module(imported))
        signal.raise_signal(INT)  # the second one: the repetition was none
    assert sys.modules[imported].done
    assert received == [TERM, INT]


def test_an_import_that_lasts_too_long_is_interrupted(imported, monkeypatch):
    monkeypatch.setattr(command, "_LONGEST_IMPORT", 2)
    with command.interruptible() as received, pytest.raises(KeyboardInterrupt):
        import_module(imported)
    assert imported not in sys.modules
    assert received == [TERM]


NOTHING: dict[str, int] = {}

ENDS = {
    "a status": (lambda: 3, 3, []),
    "no status": (lambda: None, 0, []),
    "another result": (lambda: "text", 0, []),
    "an exit of the parser": (lambda: sys.exit(7), 0, []),
    "Ctrl-C": (lambda: signal.raise_signal(INT), 130, ["E_INTERRUPTED"]),
    "a termination": (lambda: signal.raise_signal(TERM), 143, ["E_INTERRUPTED"]),
    "an interruption that typer turned into a status": (lambda: 130, 130, ["E_INTERRUPTED"]),
    "an error of the system": (lambda: os.stat("/nothing/a"), 2, ["E_SYSTEM"]),
    "no memory": (lambda: (_ for _ in ()).throw(MemoryError), 2, ["E_SYSTEM"]),
    "a defect": (lambda: NOTHING["key"], 70, ["E_INTERNAL"]),
}  # fmt: skip


@pytest.mark.parametrize(("work", "status", "codes"), ENDS.values(), ids=ENDS)
def test_however_a_command_ends_the_process_has_its_status(work, status, codes, monkeypatch, capsys):
    def made(result):
        return next(result) if hasattr(result, "throw") else result

    monkeypatch.setattr(command, "_parser", lambda _name: lambda **_options: made(work()))
    monkeypatch.setattr(sys, "argv", ["spec"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == status
    out, err = capsys.readouterr()
    assert out == ""
    assert [code for code in ("E_INTERRUPTED", "E_SYSTEM", "E_INTERNAL") if f"error[{code}]" in err] == codes


def test_a_defect_is_raised_again_for_who_asks(monkeypatch):
    monkeypatch.setenv("SPECLEDGER_TRACEBACK", "1")
    monkeypatch.setattr(command, "_parser", lambda _name: lambda **_options: NOTHING["key"])
    monkeypatch.setattr(sys, "argv", ["spec"])
    with pytest.raises(KeyError):
        command.main()
