"""What a run log says of a bundle: which attempt it is, hidden attempts, loosened specs, and logs written anew."""

import pytest

from specledger.evidence.runlog import announce, attempt_of, enter, read_runlog, result_of
from specledger.verify.checks import Broken
from specledger.verify.runlog import LogSubject, check_runlog, is_runlog, verify_runlog

STRICT, LOOSE = "a" * 64, "b" * 64
HEIGHTS = LogSubject("suite", "heights", [1])


def manifest(specs=STRICT, verdict="PASS", mark="0"):
    receipts = {"count": 2, "head": mark * 64, "root": mark * 64}
    return {"specs": specs, "run": specs[:32], "receipts": receipts, "result": {"verdict": verdict}}


@pytest.fixture
def log(tmp_path):
    """Attempts in a log: the specs, what came of it, its name, its seeds."""
    path = tmp_path / "runs.log.jsonl"

    def write(*attempts):
        for specs, verdict, *more in attempts:
            name = more[0] if more else "heights"
            seeds = more[1] if len(more) > 1 else [1]
            seq, _ = announce(path, attempt_of("suite", name, specs, specs[:32], seeds, None))
            if verdict is not None:
                enter(path, result_of(seq, manifest(specs, verdict, str(seq % 10))))
        return path

    return write


@pytest.mark.parametrize(
    ("attempts", "seq", "parts", "absent"),
    [
        ([(STRICT, "PASS")], 1, ["attempt 1 of 1 of suite heights", "number 1 of 1 with"], ["without", "others"]),
        ([(STRICT, "FAIL"), (STRICT, "PASS")], 3, ["attempt 2 of 2", "number 2 of 2 with", "FAIL in line 1"], ["from"]),
        ([(STRICT, None), (STRICT, "PASS")], 2, ["attempt 2 of 2", "1 without a result, in line 1"], ["from"]),
        ([(STRICT, "PASS"), (STRICT, None)], 1, ["attempt 1 of 2", "1 without a result, in line 3"], ["from"]),
        (
            [(STRICT, "FAIL"), (LOOSE, "PASS")],
            3,
            ["attempt 2 of 2", "number 1 of 1", "others from line 3 on"],
            ["seeds"],
        ),
        ([(STRICT, "FAIL"), (LOOSE, "PASS", "heights", [2])], 3, ["others from line 3 (with other seeds) on"], []),
        ([(STRICT, "FAIL", "other"), (STRICT, "PASS")], 3, ["attempt 1 of 1 of suite heights"], ["other ", "FAIL"]),
        ([(STRICT, "FAIL", "heights.seed=1"), (STRICT, "PASS", "heights.seed=2")], 3, ["attempt 2 of 2"], []),
    ],
    ids=["alone", "failed before", "hidden", "hidden after", "loosened", "other seeds", "another name", "a matrix"],
)
def test_it_says_which_attempt_it_is_and_what_became_of_the_others(attempts, seq, parts, absent, log):
    path = log(*attempts)
    specs, verdict, *more = next(attempt for attempt in reversed(attempts) if attempt[1] is not None)
    used = more[1] if len(more) > 1 else [1]
    words = check_runlog(path, manifest(specs, verdict, str(seq % 10)), LogSubject("suite", "heights", used))
    assert [part for part in parts if part not in words] == []
    assert [part for part in absent if part in words] == []


def test_a_bundle_that_was_entered_twice_is_its_first_attempt(log):
    path = log((STRICT, "PASS"))
    seq, _ = announce(path, attempt_of("suite", "heights", STRICT, STRICT[:32], [1], None))
    enter(path, result_of(seq, manifest(mark="1")))
    words = check_runlog(path, manifest(mark="1"), HEIGHTS)
    assert "attempt 1 of 2" in words
    assert "entered 2 times" in words


def broken(path, told, seen=None, thing=HEIGHTS):
    with pytest.raises(Broken) as caught:
        check_runlog(path, told, thing, seen)
    return caught.value.code


def test_a_bundle_that_is_not_in_it_or_not_what_was_announced_is_refused(log):
    path = log((STRICT, "PASS"))
    assert broken(path, manifest(mark="7")) == "E_RUNLOG_UNLISTED"
    seq, _ = announce(path, attempt_of("suite", "heights", LOOSE, LOOSE[:32], [1], None))
    enter(path, result_of(seq, manifest(STRICT, mark="5")))
    assert broken(path, manifest(STRICT, mark="5")) == "E_RUNLOG_UNLISTED"
    seq, _ = announce(path, attempt_of("suite", "heights", STRICT, LOOSE[:32], [1], None))
    enter(path, result_of(seq, manifest(STRICT, mark="6")))
    assert broken(path, manifest(STRICT, mark="6")) == "E_RUNLOG_UNLISTED"


OTHERWISE: dict[str, tuple] = {
    "another kind": ("scenario", "heights", [1], {}),
    "another name": ("suite", "depths", [1], {}),
    "a name that begins alike": ("suite", "heights-of-innocence", [1], {}),
    "other seeds": ("suite", "heights", [7], {}),
    "another verdict": ("suite", "heights", [1], {"verdict": "FAIL"}),
    "other receipts": ("suite", "heights", [1], {"receipts": {"count": 1, "head": "0" * 64, "root": "0" * 64}}),
}


@pytest.mark.parametrize("case", OTHERWISE)
def test_a_log_that_says_otherwise_than_the_bundle_is_refused(case, log):
    kind, name, seeds, result = OTHERWISE[case]
    path = log((STRICT, "FAIL", "heights"))
    seq, _ = announce(path, attempt_of(kind, name, STRICT, STRICT[:32], seeds, None))
    enter(path, result_of(seq, manifest(mark="9")) | result)
    assert broken(path, manifest(mark="9")) == "E_RUNLOG_UNLISTED"


def test_a_log_that_was_written_anew_is_noticed_by_whoever_saw_its_head(log, tmp_path):
    path = log((STRICT, "FAIL"))
    seen = read_runlog(path.read_bytes()).head
    log((STRICT, "PASS"))
    assert "attempt 2 of 2" in check_runlog(path, manifest(mark="3"), HEIGHTS, seen)
    path.unlink()
    log((STRICT, "PASS"))
    assert "attempt 1 of 1" in check_runlog(path, manifest(mark="1"), HEIGHTS)
    assert broken(path, manifest(mark="1"), seen) == "E_RUNLOG_REWRITTEN"


def test_a_log_alone_tells_its_head_and_every_attempt(log):
    path = log((STRICT, "FAIL"), (LOOSE, None), (STRICT, "PASS", "other"))
    held = read_runlog(path.read_bytes())
    found = verify_runlog(path, held.heads[2])
    assert [check.status for check in found.checks] == ["passed"] * 3
    said = " ".join(check.message or "" for check in found.checks)
    assert f"6 lines, head {held.head}" in said
    assert "line 1 suite heights FAIL, line 3 suite heights without a result, line 4 suite other PASS" in said
    told = found.facts["runlog"]
    assert (told["head"], told["lines"], told["torn"]) == (held.head, 6, 0)
    assert [(one["line"], one["verdict"]) for one in told["attempts"]] == [(1, "FAIL"), (3, None), (4, "PASS")]


def test_a_log_alone_is_refuted_where_it_is_broken_or_another_one(log):
    path = log((STRICT, "PASS"))
    codes = [check.code for check in verify_runlog(path, "0" * 64).checks]
    assert codes == [None, None, "E_RUNLOG_REWRITTEN"]
    data = path.read_bytes()
    path.write_bytes(data + b'{"bo')
    assert "4 bytes were not read" in (verify_runlog(path).checks[0].message or "")
    path.write_bytes(data.replace(b'"PASS"', b'"FAIL"', 1).replace(b"heights", b"heighth"))
    found = verify_runlog(path, "0" * 64)
    assert [(check.status, check.code) for check in found.checks] == [("failed", "E_RUNLOG"), ("not made", None)]
    assert is_runlog(path)


def test_what_does_not_begin_as_a_log_is_none(tmp_path):
    (tmp_path / "other").write_bytes(b'{"a":1}\n{"format":"specledger/runlog/v1"}\n')
    assert [is_runlog(tmp_path / name) for name in ("other", "nothing", ".")] == [False] * 3


def test_a_torn_line_is_said_and_a_broken_or_missing_log_refused(log, tmp_path):
    path = log((STRICT, "PASS"), (LOOSE, "PASS"))
    data = path.read_bytes()
    path.write_bytes(data + b'{"bo')
    assert "4 bytes were not read" in check_runlog(path, manifest(mark="1"), HEIGHTS)
    path.write_bytes(data.replace(b'"PASS"', b'"FAIL"', 1))
    assert broken(path, manifest(mark="1")) == "E_RUNLOG"
    assert broken(tmp_path / "nothing", manifest()) == "E_RUNLOG"
    assert broken(tmp_path, manifest()) == "E_RUNLOG"
