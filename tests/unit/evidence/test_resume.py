"""What an unfinished run left: whether it can be continued, and how much of it is counted."""

import pytest

from specledger.core.diagnostics import Rejected
from specledger.evidence.resume import IDENTITY, belongs, count_finished
from specledger.evidence.workplace import count_kept

OWN = "specs engine"


@pytest.fixture
def work(tmp_path):
    """The working folder of an unfinished run."""
    (tmp_path / "work/new").mkdir(parents=True)
    (tmp_path / "work" / IDENTITY).write_text(OWN)
    return tmp_path / "work"


def test_a_run_is_continued_by_one_of_the_same_identity(work):
    assert belongs(work, OWN)


def test_what_holds_nothing_of_use_is_not_continued(work):
    (work / IDENTITY).write_text("")
    assert not belongs(work, OWN)
    (work / IDENTITY).unlink()
    assert not belongs(work, OWN)
    (work / IDENTITY).write_text(OWN)
    (work / "new").rmdir()
    assert not belongs(work, OWN)


@pytest.mark.parametrize("identity", ["specs other", "specs", "specs engine "])
def test_a_run_of_another_identity_is_refused(work, identity):
    with pytest.raises(Rejected) as caught:
        belongs(work, identity)
    (finding,) = caught.value.diagnostics
    message = f"{work} is an unfinished run of other specs or by another engine"
    assert (finding.code, finding.message) == ("E_RESUME_OTHER", message)


def test_a_link_is_left_by_no_run(work):
    (work / "new/deep").mkdir()
    (work / "new/deep/link").symlink_to(work / IDENTITY)
    with pytest.raises(Rejected) as caught:
        belongs(work, OWN)
    assert (
        caught.value.diagnostics[0].message
        == f"{work / 'new/deep/link'} is a link or no file, which no run leaves there"
    )


END = b'{"body":{},"type":"episode_end"}\n'
RECEIPTS = {
    "nothing": (b"", 0),
    "one": (END, 1),
    "two with a step between": (END + b'{"body":{},"type":"step"}\n' + END, 2),
    "a torn one": (END + END[:-1], 1),
    "one that only speaks of it": (b'{"body":{"a":"episode_end"},"type":"step"}\n', 0),
}


@pytest.mark.parametrize(("data", "episodes"), RECEIPTS.values(), ids=RECEIPTS)
def test_whole_episodes_are_counted(work, data, episodes):
    (work / "new/receipts.jsonl").write_bytes(data)
    assert count_finished(work, {"runs"}) == {"run": 0, "episode": episodes}


def test_the_runs_of_a_suite_are_counted_in_all_its_folders(work):
    for path in ("runs/a", "runs/b", "mutants/m/a", "other/a"):
        (work / "new" / path).mkdir(parents=True)
        (work / "new" / path / "manifest.json").touch()
    assert count_finished(work, {"runs", "mutants", "controls"}) == {"run": 3, "episode": 0}


def test_what_unfinished_runs_to_other_places_left_is_not_counted(tmp_path):
    assert count_kept(tmp_path / "nowhere" / "out") == {}
    assert count_kept(tmp_path / "out") == {}
