"""Options that several commands share: shards, purposes, seals; and what is printed of a verification."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from specledger.cli import executors
from specledger.cli.executors import executor_of, process_count
from specledger.cli.options import check_purpose, check_shared, seal_of
from specledger.cli.shards import print_shards, read_shard, take_shard
from specledger.core.diagnostics import Rejected
from specledger.evidence.checkpoint import ORIGIN
from specledger.evidence.seal import Seal
from specledger.kinds import load
from specledger.pipeline.formatting import Rewritten
from specledger.pipeline.trying import commanded, outside_of

LAWS: Any = load("calm-comes")
SCENARIO: Any = load("hazard")[:1]
PARTS = [("1/1", (1, 1)), ("2/4", (2, 4)), ("4/4", (4, 4)), ("9999/9999", (9999, 9999))]


@pytest.mark.parametrize(("text", "part"), PARTS)
def test_a_shard_is_one_of_so_many(text, part):
    assert read_shard(text, SCENARIO, sealed=False) == part


def test_without_the_option_all_is_run():
    assert read_shard(None, SCENARIO, sealed=True) is None


@pytest.mark.parametrize("text", ["0/4", "5/4", "1/0", "1", "1/2/3", "a/b", " 1/2", "10000/10000", "01/2", ""])
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(typer.BadParameter, match="--shard is I/N, such as 2/4"):
        read_shard(text, SCENARIO, sealed=False)


def test_a_shard_is_sealed_after_it_is_merged():
    with pytest.raises(typer.BadParameter, match="a shard is no evidence yet"):
        read_shard("1/2", SCENARIO, sealed=True)


def test_a_list_of_laws_has_no_more_shards_than_laws():
    several = [*LAWS, *LAWS]
    assert read_shard(f"2/{len(several)}", several, sealed=True) == (2, len(several))
    assert read_shard(f"{len(several)}/9", several, sealed=False) == (len(several), 9)
    with pytest.raises(typer.BadParameter, match=f"there are only {len(several)} to run"):
        read_shard(f"{len(several) + 1}/9", several, sealed=False)


def test_a_shard_of_laws_is_a_part_of_the_list_and_one_of_a_scenario_is_a_part_of_its_run():
    laws: Any = [(LAWS[0], Path(f"out/{number}")) for number in range(5)]
    assert take_shard(laws, (2, 2), named=False) == (laws[1::2], None)
    assert take_shard(laws, (1, 3), named=False) == ([laws[0], laws[3]], None)
    todo: Any = [(SCENARIO[0], Path("out/hazard"))]
    assert take_shard(todo, None, named=False) == (todo, None)
    assert take_shard(todo, (2, 3), named=True) == (todo, (2, 3))
    assert take_shard(todo, (2, 3), named=False) == ([(SCENARIO[0], Path("out/hazard.shard-2-of-3"))], (2, 3))


def test_each_shard_is_said_on_a_line(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["spec"])
    result = {"shard": [2, 4], "made": 1, "of": 5, "what": "episode"}
    shard: Any = SimpleNamespace(name="hazard", place=Path("out/s"), manifest={"result": result})
    print_shards([shard, shard])
    assert capsys.readouterr().out == "hazard  shard 2/4: 1 of 5 episodes, out/s\n" * 2


@pytest.mark.parametrize(
    ("log", "purpose", "fits"),
    [
        (None, None, True),
        (Path("l"), None, True),
        (Path("l"), "x" * 1000, True),
        (Path("l"), "x" * 1001, False),
        (None, "x", False),
        (None, "", False),
    ],
)
def test_a_purpose_is_entered_in_a_log(log, purpose, fits):
    if fits:
        check_purpose(log, purpose)
    else:
        with pytest.raises(typer.BadParameter, match="--purpose"):
            check_purpose(log, purpose)


def test_an_origin_is_for_what_is_signed():
    assert seal_of(None, None, None) == Seal(None, ORIGIN, None)
    with pytest.raises(typer.BadParameter, match="--origin is for a checkpoint"):
        seal_of(None, "me/{run}", None)


KEY: Any = "a key"
SHARED: list[tuple[Seal, int, str | None]] = [
    (Seal(None, "me", None), 2, None),
    (Seal(KEY, "me", None), 1, None),
    (Seal(KEY, "me/{run}", None), 2, None),
    (Seal(KEY, "me", None), 2, "E_ORIGIN"),
    (Seal(None, "me/{run}", b"stamp"), 1, None),
    (Seal(None, "me/{run}", b"stamp"), 2, "E_TIMESTAMP"),
]


@pytest.mark.parametrize(("seal", "bundles", "code"), SHARED)
def test_one_seal_covers_one_bundle_unless_it_names_the_run(seal, bundles, code):
    if code is None:
        check_shared(seal, bundles)
    else:
        with pytest.raises(Rejected) as refused:
            check_shared(seal, bundles)
        assert [one.code for one in refused.value.diagnostics] == [code]


def test_processes_are_those_that_are_asked_for(monkeypatch):
    monkeypatch.setattr("specledger.run.workers.available", lambda: 3)
    assert (process_count(None), process_count(1), process_count(5)) == (3, 1, 5)


def test_a_cluster_has_workers_of_its_own(monkeypatch):
    with pytest.raises(typer.BadParameter, match="a cluster has its own"), executor_of(1, "local:2"):
        pass
    monkeypatch.setattr(executors, "wings", lambda: [SimpleNamespace(cluster=None)])
    with pytest.raises(Rejected, match="no wing connects to a cluster"), executor_of(None, "local:2"):
        pass


@pytest.mark.parametrize("found", [[], ["w"]])
def test_what_a_cluster_found_is_printed_at_the_end_even_after_an_error(found, monkeypatch):
    printed: list[Any] = []

    class Connected:
        def __init__(self, address):
            self.found, self.address = found, address

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

    other = SimpleNamespace(cluster=None)
    monkeypatch.setattr(executors, "wings", lambda: [other, SimpleNamespace(cluster=lambda: Connected)])
    monkeypatch.setattr(executors, "print_error", printed.append)
    monkeypatch.setattr(executors, "diagnostics_text", list)
    seen: list[Any] = []

    def work():
        with executor_of(None, "local:2") as executor:
            seen.append(vars(executor)["address"])
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert seen == ["local:2"]
    assert printed == ([found] if found else [])


@pytest.mark.parametrize(
    ("name", "outside"),
    [
        ("agent.py", {"command": ["python3", "agent.py"]}),
        ("agent.js", {"command": ["node", "agent.js"]}),
        ("agent.sh", {"command": ["sh", "agent.sh"]}),
        ("agent.yaml", None),
        ("gone.py", None),
        ("package.module:function", {"python": "package.module:function"}),
        ("a:b", None),
        ("hazard", None),
        ("not a module:f", None),
    ],
)
def test_an_agent_may_be_a_program_or_a_function(tmp_path, monkeypatch, name, outside):
    monkeypatch.chdir(tmp_path)
    for file in ("agent.py", "agent.js", "agent.sh", "agent.yaml", "a:b"):
        (tmp_path / file).touch()
    assert outside_of(name) == outside


@pytest.mark.parametrize(("words", "fits"), [(1, True), (64, True), (0, False), (65, False)])
def test_a_command_has_1_to_64_words(tmp_path, words, fits):
    outside = {"command": ["x"] * words}
    if fits:
        assert Path(commanded(outside, tmp_path)).read_text(encoding="utf-8").startswith("spec: agent/v1\n")
    else:
        with pytest.raises(Rejected, match="expected 1 to 64 words"):
            commanded(outside, tmp_path)


def test_a_change_of_layout_is_a_unified_diff():
    changed = Rewritten("f.yaml", "a: 1\nb:  2\n", "a: 1\nb: 2\n")
    assert changed.changes
    assert changed.diff() == "--- a/f.yaml\n+++ b/f.yaml\n@@ -1,2 +1,2 @@\n a: 1\n-b:  2\n+b: 2"
    assert not Rewritten("f.yaml", "a", "a").changes
