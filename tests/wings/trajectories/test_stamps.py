"""Time stamps: every way of writing one comes to the same microseconds, and what is no time stays a text."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.canonical import MAX_INTEGER
from specledger.wings.trajectories.lines import HEADER, entry_document, entry_line
from specledger.wings.trajectories.model import Call, Message, Speaker, Trajectory
from specledger.wings.trajectories.reading import read_logs
from specledger.wings.trajectories.stamps import NANOSECONDS, stamp_of

NINE = 1_778_749_205_000_000
WRITTEN = {
    "2026-05-14T09:00:05Z": NINE,
    "2026-05-14t09:00:05z": NINE,
    " 2026-05-14 09:00:05 ": NINE,
    "2026-05-14T09:00:05": NINE,
    "2026-05-14T11:00:05+02:00": NINE,
    "2026-05-14T04:30:05-0430": NINE,
    "2026-05-14T09:00:05.123456789Z": NINE + 123_456,
    "2026-05-14T09:00:05.5Z": NINE + 500_000,
    "2026-05-14T09:00:05.1234567Z": NINE + 123_456,
    "2026-05-14T09:00:05,5Z": NINE + 500_000,
    "2026-05-14T09:00Z": NINE - 5_000_000,
    "2016-12-31T23:59:60Z": 1_483_228_800_000_000,
    "1778749205": NINE,
    "1778749205.25": NINE + 250_000,
    "1778749205123": NINE + 123_000,
    "1778749205123456": NINE + 123_456,
    "1778749205123456789": NINE + 123_456,
    "0": 0,
}


@pytest.mark.parametrize("text", WRITTEN)
def test_a_time_stamp(text):
    assert stamp_of(text) == WRITTEN[text]


@pytest.mark.parametrize("value", [1_778_749_205, {"$number": "1778749205.0"}], ids=str)
def test_a_number_is_as_its_text(value):
    assert stamp_of(value) == NINE


NO_TIME = [
    "soon",
    "2026-13-01T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:00:00.Z",
    "2026-01-01T00:00:00.5+01:00Z",
    "2026-W01-1T00:00:00Z",
    "2026-01-01T00:00:00+25:00",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "-5",
    "14 May 2026",
]


@pytest.mark.parametrize("text", NO_TIME)
def test_what_is_no_time_stays_as_it_was(text):
    assert stamp_of(text) == text


@pytest.mark.parametrize("value", [None, "", [], {}, True], ids=str)
def test_there_is_none(value):
    assert stamp_of(value) == ""


def test_a_long_text_is_cut():
    assert stamp_of("9" * 300) == "9" * 200


@given(st.text(max_size=300))
def test_no_text_is_an_error_and_none_is_too_large_for_a_line(text):
    stamp = stamp_of(text)
    assert isinstance(stamp, str) or abs(stamp) <= MAX_INTEGER


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)),  # noqa: DTZ001 - the offset is added
    st.integers(-23 * 60, 23 * 60),
)
def test_it_is_what_datetime_says(moment, minutes):
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    wanted = (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert stamp_of(aware.isoformat()) == wanted


def test_a_format_that_says_what_its_numbers_count():
    assert stamp_of("1000", scale=NANOSECONDS) == 1


def test_lines_of_before_are_read_and_brought_into_form(tmp_path):
    head = b'{"trajectory":{"file":"a","format":"atif","id":"a"}}\n'
    old = b'{"call":{"arguments":{},"id":"1","time":"2026-05-14T09:00:05Z","tool":"pay"}}\n'
    log = tmp_path / "a.jsonl"
    log.write_bytes(HEADER + head + old + b'{"end":1}\n')
    (trajectory,) = read_logs([log])
    assert trajectory == Trajectory("a", "a", "atif", (Call("1", "pay", {}, time=NINE),))


@pytest.mark.parametrize("time", [0, NINE, "soon"])
def test_a_line_holds_it(time):
    entry = Message(Speaker.USER, "Hello", time=time)
    assert entry_document(entry)["message"]["time"] == time
    assert b'"time":' in entry_line(entry)
