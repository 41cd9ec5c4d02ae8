"""Values are compared by type, never by sub-string; hearing entry by entry is judging from scratch."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import KINDS
from specledger.load import load
from specledger.wings.trajectories.model import Call, Message, Result, Speaker
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.values import INSIDE, PLURAL, WHOLE

NEW = Path(__file__).resolve().parents[4] / "specs/new/policy/new-policy.yaml"


@pytest.fixture(scope="module")
def policy():
    bundle, *_ = load(str(NEW), KINDS)
    return compile_policy(bundle.main, Diagnostics())


@pytest.mark.parametrize(
    ("type_", "written", "other"),
    [
        ("email", "Mitchell@gmail.com", "mitchell <mitchell@GMAIL.com>"),
        ("url", "https://www.X.com/a/", "http://x.com/a"),
        ("iban", "gb29 NWBK 6016 1331 9268 19", "GB29NWBK60161331926819"),
        ("name", "@Ann  LEE", "ann lee"),
        ("date", "May 14th, 2026", "2026-05-14 10:00"),
        ("number", "1,200.50", "1200.5"),
        ("path", "/a/./b/../c", "/a//c"),
    ],
)
def test_other_spellings_are_equal(type_, written, other):
    assert WHOLE[type_](written) == WHOLE[type_](other) is not None


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        ("email", "mitchell@gmail.com", "write to john.mitchell@gmail.com"),
        ("email", "a@b.co", "a@b.com"),
        ("url", "good.com", "https://good.com@evil.com/ and notgood.com or good.com.evil.com"),
        ("iban", "GB29NWBK60161331926819", "GB29NWBK601613319268190"),
        ("number", "100", "1000 and 0.100.1 and x100"),
        ("date", "2026-05-01", "2026-05-011 or 12026-05-01"),
        ("path", "/a/b", "/a/bc"),
    ],
)
def test_a_part_of_a_value_is_another_value(type_, value, text):
    assert WHOLE[type_](value) not in list(INSIDE[type_](text))


@pytest.mark.parametrize("text", ["mail 'ann@b.org'.", "'ann@b.org'", "`ann@b.org`", "to ''ann@b.org''", "(ann@b.org)"])
def test_an_address_in_quotes_is_an_address(text):
    assert list(INSIDE["email"](text)) == ["ann@b.org"]


def test_a_quote_within_an_address_is_part_of_it():
    assert list(INSIDE["email"]("to o'ann@b.org")) == ["o'ann@b.org"]
    assert WHOLE["email"]("'ann@b.org'") is None


WORD = st.text("abcdefghij", min_size=1, max_size=8)
MAILS = st.builds("{}@{}.com".format, WORD, WORD)


@given(MAILS, MAILS, WORD)
def test_an_address_is_found_only_where_it_stands_by_itself(mail, other, before):
    assert list(INSIDE["email"](f"to {mail}, and")) == [mail]
    if mail != other:
        assert WHOLE["email"](mail) not in list(INSIDE["email"](f"{other} {before}.{mail} {mail}.org"))


@pytest.mark.parametrize("type_", INSIDE)
@pytest.mark.parametrize("unit", ["a", "a.", "1", "1,", "@a", "GB29", "a@a.", "/", "jan 1 ", "http://"])
def test_hostile_texts_take_linear_time(type_, unit):
    assert len(list(INSIDE[type_](unit * 100_000))) <= 300_000


@pytest.mark.parametrize("text", ["see www.a.com.They say", "see https://a.com.They", "a.com.They"])
def test_a_full_stop_without_a_space_ends_a_link_of_a_source(text):
    assert "a.com" in list(INSIDE["url"](text))


@pytest.mark.parametrize("text", ["b.a.com", "a.com.evil.net", "www.a.com.they", "a.com.They/x", "a.com.Net.org"])
def test_other_labels_of_a_host_are_not_left_out(text):
    assert "a.com" not in list(INSIDE["url"](text))


def test_plural_types_are_all_that_occur():
    assert list(PLURAL["urls"][1]("see https://a.com/x, www.b.org. and report.pdf")) == ["a.com/x", "b.org"]


PAYEES = st.sampled_from(["Ann", "Bob", "City Hall", "GB29NWBK60161331926819"])
ENTRIES = st.lists(
    st.one_of(
        st.builds(Message, st.sampled_from(Speaker), PAYEES),
        st.tuples(PAYEES, st.integers(0, 300), st.integers(0, 3)),
        PAYEES,
    ),
    max_size=20,
)


def spelled(drawn):
    entries: list[Any] = []
    for number, item in enumerate(drawn):
        if isinstance(item, tuple):
            entries.append(Call(f"{number}", "send_money", {"recipient": item[0], "amount": item[1]}, item[2]))
        elif isinstance(item, str):
            entries.append(Call(f"{number}", "get_most_recent_transactions", {}))
            entries.append(Result(f"{number}", [{"sender": item}]))
        else:
            entries.append(item)
    return entries


def outcomes(policy, entries):
    session = policy.begin()
    return [session.hear(entry) for entry in entries]


@pytest.mark.medium
@given(ENTRIES)
def test_what_comes_later_changes_no_outcome(policy, drawn):
    entries = spelled(drawn)
    everything = outcomes(policy, entries)
    for length in range(len(entries)):
        assert outcomes(policy, entries[: length + 1])[-1] == everything[length]


@given(ENTRIES)
def test_memory_is_a_fold(policy, drawn):
    count, row, last = 0, 0, None
    for entry, heard in zip(spelled(drawn), outcomes(policy, spelled(drawn)), strict=True):
        if isinstance(entry, Call):
            count += 1
            row = row + 1 if last == (entry.tool, entry.arguments) else 1
            last = (entry.tool, entry.arguments)
            status = next(outcome.status.value for outcome in heard if outcome.rule == "forty")
            assert status == ("held" if count <= 40 and row <= 3 else "broken")
