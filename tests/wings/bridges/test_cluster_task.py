"""What a cluster is sent and returns, without a cluster: documents and indices, the same bytes, and nothing unchecked."""

import json
import pickle
import shutil
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.spans import Position, Span
from specledger.core.wing import wings
from specledger.evidence.resume import engine_digest
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.kinds.suite import SuiteRuns
from specledger.pipeline.executing import execute, share_runs
from specledger.pipeline.verifying import verify
from specledger.run.executor import Work
from specledger.run.scenario_run import EpisodeChunks
from specledger.run.workers import Processes
from specledger.verify.assurance_levels import Reader
from specledger.verify.run import JudgedChunks
from specledger.verify.suite import RunJudgements
from specledger.verify.suite_runs import HeldRuns, RunChecks
from specledger.wings.bridges.cluster import task as cluster_task
from specledger.wings.bridges.cluster.task import done_of, from_bytes, perform, read_reply, to_bytes
from specledger.wings.discovery.worker import Worker
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.runnable import LawRuns
from specledger.wings.laws.trial import run_law
from tests.toys import CLIMB, SMALL
from tests.toys.bundles import files_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.binary(max_size=20) | st.text(max_size=5, alphabet="a$é\n"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "$bytes", "$integer", "$plain"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_values_arrive_as_they_were(value):
    assert from_bytes(to_bytes(value)) == value


class Loopback:
    """An executor that does in this process what a cluster does elsewhere: requests and replies are bytes."""

    width, remote = 2, True

    def __init__(self, change=lambda reply: reply):
        self.change = change
        self.entries = set()

    @contextmanager
    def open(self, work, pieces=None):
        yield LoopbackCrew(self, work)


class LoopbackCrew:
    def __init__(self, executor, work):
        self.executor, self.work, self.done = executor, work, []

    def submit(self, index, item):
        work, sent = self.work, to_bytes(self.work.sent(item))
        self.executor.entries.add(work.entry)
        made = perform(engine_digest(), work.entry, to_bytes(work.document()), sent)
        reply = read_reply(work.entry, sent, self.executor.change(made))
        assert reply is not None
        self.done.insert(0, done_of(work, index, item, reply))  # the last is returned first

    def ready(self):
        done, self.done = self.done, []
        return done

    def wait(self):
        return self.done.pop(0)


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """A working folder with the toys and a suite of one."""
    shutil.copytree(CLIMB, tmp_path / "toys")
    shutil.copytree(SMALL, tmp_path / "toys", dirs_exist_ok=True)
    suite = {
        "spec": "suite/v1", "name": "heights", "replay": "bytes",
        "runs": {"long": {"scenarios": ["climb"], "seeds": [3, 4, 5]}},
        "figures": {"arrives": {"rate": "success"}},
        "checks": [{"id": "some", "require": "arrives.of > 0", "opportunities": "arrives.of"}],
    }  # fmt: skip
    (tmp_path / "toys" / "heights.yaml").write_text(json.dumps(suite))
    monkeypatch.chdir(tmp_path / "toys")
    return tmp_path


@pytest.mark.medium
@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("heights", {"suite", "checks", "judgements"}),
        ("climb", {"episodes", "judged chunks"}),
        pytest.param("small", {"discovery"}, marks=pytest.mark.slow),
    ],
    ids=["suite", "run", "discovery"],
)
def test_evidence_is_the_same_from_documents(toys, name, entries, monkeypatch):
    monkeypatch.setattr("specledger.run.loop.run_parallel.__kwdefaults__", {"worth": 1}, raising=False)
    monkeypatch.setattr("specledger.verify.run._WORTH", 1)
    pytest.importorskip("cel_expr_python", reason="the extra `judge`")
    (bundle,) = load(f"{name}.yaml")
    executor, reader = Loopback(), Reader(judge=True)
    alone = execute(bundle, toys / "alone").place
    far = execute(bundle, toys / "far", RunOptions(executor)).place
    assert files_of(far) == files_of(alone)
    found, expected = verify(far, executor=executor, reader=reader), verify(alone, reader=reader)
    assert (found.checks, found.facts) == (expected.checks, expected.facts)
    assert executor.entries == entries


@pytest.mark.medium
@pytest.mark.parametrize("executor", [Loopback(), Processes(2)], ids=["cluster", "processes"])
def test_laws_share_the_executor_and_keep_their_order(executor, monkeypatch):
    monkeypatch.setattr("specledger.pipeline.executing.MANY", 2)
    bundles = [load(name, kind="law")[0] for name in ("collision-bridge", "cars-conserved", "collisions-apart")]
    made = [list(each.events or ()) for each in share_runs(bundles, RunOptions(executor))]
    assert made == [list(run_law(compile_law(bundle))) for bundle in bundles]


def test_every_work_has_an_entry():
    works: set[type[Work]] = {EpisodeChunks, JudgedChunks, SuiteRuns, RunChecks, RunJudgements, Worker, LawRuns}
    entries = {*cluster_task._ENTRIES, *(name for wing in wings() for name in wing.works())}
    assert {work.entry for work in works} == entries
    made = [*Work.__subclasses__(), *HeldRuns.__subclasses__(), *EpisodeChunks.__subclasses__()]
    assert {one for one in made if one.__module__.startswith("specledger.")} - {HeldRuns} == works


def test_what_is_sent_is_a_name_and_no_code():
    sent = pickle.dumps(perform)
    assert len(sent) < 100
    assert b"specledger.wings.bridges.cluster.task" in sent


def test_another_engine_refuses(toys):
    reply = read_reply("episodes", b"x", perform("0" * 64, "episodes", b"nothing is read", b"x"))
    assert reply == {"refused": engine_digest()}


@pytest.mark.parametrize(
    "change", [lambda reply: reply[:-1], lambda reply: reply[:70] + b"x" + reply[71:], lambda reply: b""]
)
def test_a_changed_reply_is_noticed(change):
    assert read_reply("episodes", b"x", change(perform("0" * 64, "episodes", b"", b"x"))) is None


@pytest.mark.parametrize("known", [True, False])
def test_a_finding_keeps_its_code_and_place(toys, monkeypatch, known):
    (bundle,) = load("climb.yaml")
    finding = Diagnostic(
        "E_LIVE", "no", Span("a.yaml", Position(1, 2), Position(1, 3)), "a hint", expected="b", found="c"
    )

    def refuse(_given):
        raise Rejected([finding])

    monkeypatch.setattr(cluster_task, "_ENTRIES", {"episodes": refuse})
    reply = perform(engine_digest(), "episodes", to_bytes({"specs": bundle.document(), "n": known}), b"x")
    if not known:
        monkeypatch.setattr(cluster_task, "codes", dict)
    read = read_reply("episodes", b"x", reply)
    assert read is not None
    error = done_of(EpisodeChunks(bundle), 0, b"x", read).error
    assert isinstance(error, Rejected)
    (found,) = error.diagnostics
    other = replace(finding, code="E_CLUSTER_RESULT", message="E_LIVE: no")
    assert found == (finding if known else other)


def test_a_run_that_arrives_changed_does_not_count(toys, monkeypatch):
    (bundle,) = load("heights.yaml")
    whole = SuiteRuns.run_remotely

    def changed(self, item):
        result = whole(self, item)
        files = result["files"]
        changed = files["receipts.jsonl"].replace(b'"episode":0', b'"episode":7', 1)
        return {**result, "files": {**files, "receipts.jsonl": changed}}

    monkeypatch.setattr(SuiteRuns, "run_remotely", changed)
    with pytest.raises(Rejected) as rejected:
        execute(bundle, toys / "far", RunOptions(Loopback()))
    assert rejected.value.diagnostics[0].code == "E_CLUSTER_RESULT"
    assert not (toys / "far").exists()


INTEGERS = [0, -1, (1 << 53) - 1, 1 << 53, -(1 << 53), 1 << 200]


@pytest.mark.parametrize("value", INTEGERS)
def test_an_integer_is_a_text_only_where_a_number_of_json_is_not_exact(value):
    assert from_bytes(to_bytes(value)) == value
    assert (b"$integer" in to_bytes(value)) == (abs(value) >= 1 << 53)


def test_a_work_is_made_once_for_a_document(monkeypatch):
    made = []

    def make(given):
        made.append(given)
        return lambda item: [given["by"], item]

    monkeypatch.setattr(cluster_task, "_ENTRIES", {"times": make})
    cluster_task._opened.cache_clear()
    for document, item in [({"by": 2}, 3), ({"by": 2}, 4), ({"by": 5}, 4)]:
        sent = to_bytes(item)
        reply = read_reply("times", sent, perform(engine_digest(), "times", to_bytes(document), sent))
        assert reply == {"made": [document["by"], item]}
    assert made == [{"by": 2}, {"by": 5}]


def test_a_defect_in_a_work_is_told_by_its_type(monkeypatch):
    monkeypatch.setattr(cluster_task, "_ENTRIES", {"broken": lambda given: lambda item: 1 // item})
    sent = to_bytes(0)
    reply = read_reply("broken", sent, perform(engine_digest(), "broken", to_bytes({}), sent))
    assert reply == {"failed": "ZeroDivisionError: integer division or modulo by zero"}
