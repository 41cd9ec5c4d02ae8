"""The journal: a discovery that ends anywhere resumes to the same events, and a file that does not fit is refused."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes, parse_canonical
from specledger.core.diagnostics import Rejected
from specledger.core.digest import tagged
from specledger.core.rng import Stream
from specledger.evidence.chain import Chain, run_id
from specledger.kinds import load
from specledger.oracles.failures import FAILURES, UNASKED
from specledger.run.workers import Pool
from specledger.wings.discovery.coordinator import Coordinator, forget_failures
from specledger.wings.discovery.journal import ROW_TAG, Journal
from specledger.wings.discovery.worker import Worker, open_all
from tests.toys import SMALL
from tests.toys.refusals import codes

OPERATIONS = 4 + 6  # answers of 4 iterations; results of them, of an escalation and of the closing one


class Killed(BaseException):
    """The process is gone."""


class Dying:
    """A journal whose process dies at its n-th write, before or after the write is durable."""

    def __init__(self, journal, at, after):
        self._journal, self._left, self._after = journal, at, after

    def __getattr__(self, name):
        found = getattr(self._journal, name)
        if not name.startswith("keep"):
            return found

        def write(*arguments):
            self._left -= 1
            if self._left >= 0:
                return found(*arguments)
            if self._after:
                found(*arguments)
            raise Killed

        return write


class Line:
    """The scripted model over a line that fails for some questions; notes what is asked."""

    def __init__(self, model, failures=()):
        self.model, self.failures, self.asked = model, dict(failures), []

    def ask(self, request):
        self.asked.append(request.turn)
        answer = self.model.ask(request)
        reason = self.failures.get(request.turn)
        return answer if reason is None else replace(answer, text=None, failure=reason)


@pytest.fixture
def journal_of(small, tmp_path):
    """Opens the journal of the small discovery; the one that was open before is closed."""
    held: list[Journal] = []

    def open_journal(bundle=small[0], path=tmp_path / "journal"):
        for one in held:
            one.close()
        held.append(Journal(str(path), bundle.document()))
        return held[-1]

    yield open_journal
    for one in held:
        one.close()


def events(small, journal, ask=None):
    bundle, workbench, model = small
    with Pool(Worker(bundle, plan=workbench.plan), 1) as pool:
        return list(Coordinator(workbench, model.identity, pool, journal, ask=ask).events())


@pytest.mark.parametrize(("at", "after"), [(0, False), *((at, True) for at in range(OPERATIONS))])
def test_a_discovery_that_ends_at_any_write_resumes(small, quick, facts, journal_of, at, after):
    with pytest.raises(Killed):
        events(small, Dying(journal_of(), at, after))
    journal = journal_of()
    answered = len(journal.answers())
    line = Line(small[2].open(False))
    assert events(small, journal, line.ask) == facts
    assert len(line.asked) == 4 - answered  # no question is asked twice


def test_there_are_no_more_writes(small, quick, facts, journal_of):
    assert events(small, Dying(journal_of(), OPERATIONS, False)) == facts


@pytest.mark.parametrize("changes", [["iterations=6"], ["iterations=2"], ["iterations=6", "stop={evaluations: 5}"]])
def test_another_number_of_iterations_goes_on_with_the_same_journal(small, quick, journal_of, changes):
    events(small, journal_of())
    bundle = load(str(SMALL / "small.yaml"), set=changes)[0]
    other = bundle, *open_all(bundle)
    with closing(Journal(None, bundle.document())) as journal:
        alone = events(other, journal)
    line = Line(other[2].open(False))
    assert events(other, journal_of(bundle), line.ask) == alone
    assert all(turn >= 4 for turn in line.asked)


KILLED = """
import os, signal, sys
from specledger.wings.discovery.journal import Journal
from specledger.cli.main import main

def dying(name, left=[int(sys.argv.pop(1))]):
    keep = getattr(Journal, name)
    def write(*arguments):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        keep(*arguments)
        if left[0] == 0 and os.environ.get("AFTER"):
            os.kill(os.getpid(), signal.SIGKILL)
    setattr(Journal, name, write)

dying("keep_answer")
dying("keep_result")
main()
"""


@pytest.mark.slow
def test_a_killed_command_resumes_to_the_same_bytes(small, facts, tmp_path, interruptible):
    """Killed at seeded writes, alone and with two workers."""
    stream, out = Stream.named(7, "kill"), tmp_path / "out"

    def run(writes, workers):
        words = ["discover", str(SMALL / "small.yaml"), f"--out={out}", f"--workers={workers}"]
        command = [sys.executable, "-c", KILLED, str(writes), *words]
        return subprocess.run(command, env=interruptible, capture_output=True, check=False, timeout=120)

    for workers in (1, 2):
        done = run(stream.integer(1, 4), workers)
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert not out.exists()
    assert run(OPERATIONS, 1).returncode == 0
    chain = Chain(run_id(small[0].digest))
    assert (out / "receipts.jsonl").read_bytes() == b"".join(chain.seal(fact) + b"\n" for fact in facts)


@pytest.mark.slow
def test_an_interrupted_command_resumes(tmp_path, interruptible):
    command = [sys.executable, "-m", "specledger", "discover", "kinetic", f"--out={tmp_path / 'out'}", "--workers=2"]
    words = {"env": interruptible, "start_new_session": True, "stderr": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([*command, "--iterations=12"], **words)
    while not (tmp_path / "out.journal.sqlite").exists() and process.poll() is None:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130, said
    assert "the same command resumes" in said
    assert not (tmp_path / "out").exists()


# A journal that was altered


def put(*path, value):
    """A change of one member of a document."""

    def change(document):
        place = document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        return document

    return change


FIRST, ESCALATION, ANSWER = "results", "results WHERE kind = 'escalate'", "answers WHERE iteration = 1"
ALTERED = {
    "an answer is missing": (ANSWER, None),
    "an answer is a list": (ANSWER, lambda document: [document]),
    "an answer has another text": (ANSWER, put("answer", "text", value="[]")),
    "an answer without usage": (ANSWER, put("answer", "usage", value=5)),
    "a result is null": (FIRST, lambda document: []),
    "a result is empty": (FIRST, lambda document: {}),
    "laws that are numbers": (FIRST, put("laws", value=[5])),
    "a document that is no law": (FIRST, put("laws", 0, "document", value={})),
    "a verdict without a status": (FIRST, put("laws", 0, "verdict", value={})),
    "a proposal without warnings": (FIRST, lambda document: document["proposal"].pop("warnings") and document),
    "another iteration": (FIRST, put("proposal", "iteration", value=1)),
    "another memory": (FIRST, put("proposal", "snapshot", value="ab" * 32)),
    "a law that was never accepted": (ESCALATION, put("laws", 0, "law", value="law/x@0")),
    "another kind": (ESCALATION, put("proposal", value={})),
}


@pytest.fixture(scope="module")
def finished(small, tmp_path_factory):
    """Copies of the journal of the finished discovery."""
    path = tmp_path_factory.mktemp("journal") / "journal"
    journal = Journal(str(path), small[0].document())
    events(small, journal)
    journal.close()
    return path.read_bytes


def alter(path, table, change):
    with sqlite3.connect(path) as connection:
        row, data = connection.execute(f"SELECT rowid, document FROM {table}").fetchone()
        table = table.partition(" ")[0]
        if change is None:
            connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
        else:
            new = canonical_bytes(change(parse_canonical(data)))
            values = new, tagged(ROW_TAG, new), row
            connection.execute(f"UPDATE {table} SET document = ?, digest = ? WHERE rowid = ?", values)
    connection.close()


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_row_is_refused(small, quick, finished, journal_of, tmp_path, name):
    path = tmp_path / "journal"
    path.write_bytes(finished())
    alter(path, *ALTERED[name])
    assert codes(events, small, journal_of()) == ["E_STORE_BROKEN"]


def test_an_unaltered_journal_needs_no_model(small, quick, finished, facts, journal_of, tmp_path):
    (tmp_path / "journal").write_bytes(finished())
    assert events(small, journal_of(), ask=None) == facts


# A file that does not fit


def write_rows(*statements):
    def write(path):
        with sqlite3.connect(path) as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    return write


def torn(path):
    path.write_bytes(path.read_bytes()[:5000])


def pipe(path):
    path.unlink()
    os.mkfifo(path)


FILES = {
    "text": (lambda path: path.write_bytes(b"not a database" * 999), "E_STORE_BROKEN"),
    "cut off": (torn, "E_STORE_BROKEN"),
    "a head that was changed": (write_rows("UPDATE head SET specs = x'7b7d'"), "E_STORE_BROKEN"),
    "without its head": (write_rows("DELETE FROM head"), "E_STORE_VERSION"),
    "another database": (write_rows("PRAGMA application_id = 0"), "E_STORE_FOREIGN"),
    "a database with a greater number": (write_rows("PRAGMA application_id = 2147483647"), "E_STORE_FOREIGN"),
    "other tables": (write_rows("PRAGMA user_version = 7"), "E_STORE_VERSION"),
    "another engine": (write_rows("UPDATE head SET engine = substr(engine, 2)"), "E_STORE_VERSION"),
    "a folder": (lambda path: (path.unlink(), path.mkdir()), "E_STORE_OPEN"),
    "a FIFO": (pipe, "E_STORE_OPEN"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_does_not_fit_is_refused_and_left_as_it_is(finished, journal_of, tmp_path, name):
    path, (spoil, code) = tmp_path / "journal", FILES[name]
    path.write_bytes(finished())
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    assert codes(journal_of) == [code]
    assert before is None or path.read_bytes() == before


def test_a_row_that_was_changed_by_accident_is_refused(small, finished, journal_of, tmp_path):
    (tmp_path / "journal").write_bytes(finished())
    write_rows("UPDATE results SET document = x'7b7d' WHERE position = 0")(tmp_path / "journal")
    assert codes(events, small, journal_of()) == ["E_STORE_BROKEN"]


def test_one_process_at_a_time(small, journal_of, tmp_path, monkeypatch):
    monkeypatch.setattr("specledger.wings.discovery.journal.PATIENCE", 0.05)
    journal_of()
    assert codes(Journal, str(tmp_path / "journal"), small[0].document()) == ["E_STORE_BUSY"]
    journal_of()


def test_no_folder(journal_of, tmp_path):
    assert codes(lambda: journal_of(path=tmp_path / "none" / "journal")) == ["E_STORE_OPEN"]


def test_a_file_that_cannot_be_written(small, journal_of, tmp_path):
    journal = journal_of()
    journal._connection.execute("PRAGMA query_only = 1")
    assert codes(journal.keep_answer, 0, "question", {}) == ["E_STORE_FULL"]


CHANGED = {
    "lag=3": ["`lag` of the discovery is 3, was 2"],
    "trial.cases=61": ["`trial.cases` of the discovery is 61, was 60"],
    "model=small-cassette": ['`model` of the discovery is "model/small-cassette", was "model/small-script"'],
}


@pytest.mark.parametrize("change", CHANGED)
def test_the_journal_of_a_changed_discovery_says_what_changed(journal_of, change):
    journal_of()
    with pytest.raises(Rejected) as caught:
        journal_of(load(str(SMALL / "small.yaml"), set=[change])[0])
    (found,) = caught.value.diagnostics
    assert found.code == "E_STORE_CHANGED"
    assert all(line in found.message for line in CHANGED[change])
    assert "another --journal or --out" in str(found.hint)


# Failed answers


def test_every_failure_is_of_the_model_or_of_the_way_to_it():
    kept = {"blocked", "empty", "withheld", "truncated", "malformed", "too_large", "exhausted"}
    assert set(FAILURES) == kept | UNASKED
    assert not kept & UNASKED


@pytest.fixture
def work(small, quick, journal_of):
    """Make the discovery over a line that fails; the events, and which questions were asked."""

    def to_the_end(**failures):
        line = Line(small[2].open(False), {int(turn.removeprefix("turn_")): why for turn, why in failures.items()})
        return events(small, journal_of(), line.ask), line.asked

    return to_the_end


@pytest.fixture
def forget(work, small, journal_of):
    """Delete the failed answers; how many there were."""
    return lambda: forget_failures(small[1].plan, journal_of())


@pytest.mark.parametrize("reason", sorted(UNASKED))
def test_after_a_retry_all_is_as_if_the_line_had_not_failed(work, forget, facts, reason):
    assert work(turn_0=reason)[0] != facts
    assert forget() == 1
    again, asked = work()
    assert again == facts
    assert 0 in asked
    assert forget() == 0


def test_a_retry_asks_nothing_that_does_not_depend_on_the_failure(work, forget, facts):
    work(turn_1="refused")  # with a lag of 2 iteration 2 does not look at its result
    forget()
    again, asked = work()
    assert again == facts
    assert 2 not in asked


def test_a_line_that_still_fails_costs_no_other_answer(work, forget):
    before, _ = work(turn_0="refused")
    for _ in range(2):
        forget()
        assert work(turn_0="refused") == (before, [0])


def test_a_failure_of_the_model_is_its_answer(work, forget):
    before, _ = work(turn_0="withheld")
    assert forget() == 0
    assert work() == (before, [])
