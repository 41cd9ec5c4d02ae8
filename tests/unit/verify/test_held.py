"""What readers of receipts keep is looked at now and then, so that a stranger's evidence is read in bounded memory."""

import sys
from collections import Counter

import pytest

from specledger.core.diagnostics import Rejected
from specledger.evidence.result import Tally
from specledger.pipeline.verifying import verify
from specledger.verify import held
from specledger.verify.assurance_levels import Reader
from specledger.verify.receipts import Receipts
from specledger.verify.replay import whole_episodes
from tests.toys.bundles import receipts_of


class Holding:
    """An object with one attribute."""

    def __init__(self, value):
        self.value = value


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("text", ["text"]),
        (b"bytes", [b"bytes"]),
        (1 << 60, [1 << 60]),
        ([["a"], ("b",)], [[["a"], ("b",)], ["a"], "a", ("b",), "b"]),
        ({"key": {"inner": 7}}, [{"key": 0}, "key", {"inner": 0}, "inner", 7]),
        (Counter({("a", 1): 2}), [Counter({("a", 1): 2}), ("a", 1), "a", 1, 2]),
        ({"b"}, [{"b"}, "b"]),
        (len, []),
        (None, []),
    ],
)
def test_the_size_of_a_value_is_that_of_its_parts(value, parts):
    assert held.size_of(Holding(value)) == sum(map(sys.getsizeof, parts))


def test_what_a_function_remembers_counts():
    text = "remembered"
    assert held.size_of(Holding(lambda: text)) == sys.getsizeof(text)


def test_a_size_is_not_counted_far_beyond_what_may_be_kept(monkeypatch):
    monkeypatch.setattr(held, "MOST_KEPT", 1000)
    assert 1000 < held.size_of(Holding(["x" * 100] * 1_000_000), Holding(["y" * 100] * 10)) < 9_000_000


def test_there_is_a_look_at_what_is_kept_after_each_mebibyte_of_lines():
    reader = Holding([])
    kept = held.Kept(reader)
    reader.value = ["x" * 1_000_000 for _ in range(70)]
    kept.look((1 << 20) - 1)
    with pytest.raises(Rejected, match="takes more than 67108864 bytes of memory"):
        kept.look(1)


def test_the_more_is_kept_the_rarer_are_looks(monkeypatch):
    sizes = iter([32 << 20, 32 << 20])
    monkeypatch.setattr(held, "size_of", lambda *readers: next(sizes))
    kept = held.Kept()
    for _ in range(6):
        kept.look(1 << 19)
    assert next(sizes, None) is None


def test_what_is_kept_of_receipts_is_bounded(forge, monkeypatch):
    """Ends of episodes that name what could not be read: each name is counted, and no specs say which there are."""
    forger = forge()
    forger.first("episode_end")["unread"] = {f"claim{number}": 1 for number in range(2000)}
    forger.seal()
    assert verify(forger.folder, reader=Reader(replay=False)).intact
    monkeypatch.setattr(held, "_BETWEEN", 10_000)
    monkeypatch.setattr(held, "MOST_KEPT", 100_000)
    with pytest.raises(Rejected, match="E_EVIDENCE_SIZE"):
        verify(forger.folder, reader=Reader(replay=False))


def test_what_is_kept_of_the_receipts_of_all_shards_is_bounded(forge, monkeypatch):
    """Each file names other things; together they are too many."""
    forger, tally = forge("small"), Tally()
    monkeypatch.setattr(held, "_BETWEEN", 10_000)
    monkeypatch.setattr(held, "MOST_KEPT", 150_000)
    receipts = Receipts(forger.folder / "receipts.jsonl", forger.manifest["run"])

    def name(word):
        forger.first("episode_end")["unread"] = {f"{word}{number}": 1 for number in range(700)}
        forger.seal()

    name("first")
    assert whole_episodes(receipts, forger.lines[0], 0, tally) == 1
    name("other")
    with pytest.raises(Rejected, match="E_EVIDENCE_SIZE"):
        whole_episodes(receipts, forger.lines[0], 0, tally)


def test_an_honest_run_makes_its_readers_keep_little(bundles):
    tally = Tally()
    for receipt in receipts_of(bundles["climb"]):
        tally.add(receipt["type"], receipt["body"])
    assert held.size_of(tally) < 20_000
