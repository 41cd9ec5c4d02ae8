"""The receipts that the benchmark of logs makes by hand are those of the run, byte for byte."""

from bench.trajectories_handwritten import Recording
from bench.trajectories_rules import CALLS, write_logs
from bench.trajectories_work import events_of, run_logs, write_specs
from specledger.wings.trajectories.reading import read_logs


def test_receipts_by_hand_are_those_of_the_run(tmp_path):
    log = tmp_path / "log.jsonl"
    write_specs(tmp_path, 10)
    write_logs(log, 2 * CALLS)
    run_logs(log, tmp_path)
    made = list(Recording(events_of(tmp_path), list(read_logs([log]))).receipts())
    assert made == (tmp_path / "out" / "receipts.jsonl").read_bytes().splitlines()
    assert len(made) > 6 * CALLS
