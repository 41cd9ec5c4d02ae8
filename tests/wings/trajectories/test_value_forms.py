"""The form in which a value of each type is compared, and which values occur in a text, at the edges of each form."""

import pytest

from specledger.wings.trajectories.rules.leaks import runs as runs_of
from specledger.wings.trajectories.rules.past import tool_matcher
from specledger.wings.trajectories.rules.values import INSIDE, PLURAL, WHOLE, stem, text_of, words

FORMS = {
    "url": [
        ("https://A.com/B/", "a.com/B"),
        ("http://www.a.com", "a.com"),
        ("www.a.com:80", "a.com"),
        ("a.com:8080/x", "a.com:8080/x"),
        ("a.com:443/x?y=1", "a.com/x?y=1"),
        ("a.com?", "a.com"),
        ("localhost", "localhost"),
        ("https://intranet", "intranet"),
        ("http://intranet:8080/x", "intranet:8080/x"),
        ("intranet", None),
        ("intranet:8080/x", "intranet:8080/x"),
        ("localhost:80/x", "localhost/x"),
        ("10:30", None),
        ("http://[::1]:8080/X", "[::1]:8080/X"),
        ("[::1]:443", "[::1]"),
        ("https://Ann:Pw@WWW.A.com/", "Ann:Pw@a.com"),
        ("www.www.a.com", "www.a.com"),
        ("a.com b", None),
        ("ftp://a.com", None),
        ("a.com/http://b", "a.com/http://b"),
        ("", None),
    ],
    "email": [
        ("Ann@B.org", "ann@b.org"),
        ("Ann <ann@b.org>", "ann@b.org"),
        (" ann@b.org ", "ann@b.org"),
        ("a" * 64 + "@b.org", "a" * 64 + "@b.org"),
        ("a" * 65 + "@b.org", None),
        ("ann@b", None),
        ("ann", None),
        ("'ann@b.org", None),
        ("o'neil@b.org", "o'neil@b.org"),
    ],
    "iban": [
        ("de89 3704-0044", None),
        ("DE89 3704 0044 0532 013", "DE893704004405320 13".replace(" ", "")),
        ("de89370400440532013000", "DE89370400440532013000"),
        ("DE89" + "1" * 10, None),
        ("DE89" + "1" * 11, "DE89" + "1" * 11),
        ("DE89" + "1" * 30, "DE89" + "1" * 30),
        ("DE89" + "1" * 31, None),
        ("D189" + "1" * 20, None),
    ],
    "name": [
        ("Ann  SMITH", "ann smith"),
        ("Ann <ann@b.org>", "ann"),
        ("@ann", "ann"),
        ("#general", "general"),
        ("...", None),
        ("M\u00fcller", "m\u00fcller"),
    ],
    "number": [
        ("3", "3"),
        ("3.50", "3.5"),
        ("-0", "0"),
        ("+3", "3"),
        ("$ 1,234.50", "1234.5"),
        ("1,23", None),
        ("12,345,678", "12345678"),
        (".5", "0.5"),
        ("1e3", "1000"),
        ("1e1000", None),
        ("5.", None),
        ("three", None),
        ("1" * 60, "1" * 60),
        ("1" * 59 + "2", "1" * 59 + "2"),
        ("-0.0", "0"),
        ("1e999", "1" + "0" * 999),
        ("1" * 61, None),
    ],
    "path": [
        ("/a//b/./c/../d", "/a/b/d"),
        ("a/../..", ".."),
        ("/../a", "/a"),
        ("../../a", "../../a"),
        ("C:\\a\\b", "C:/a/b"),
        ("a\\b", "a\\b"),
        ("\\\\host\\x", "/host/x"),
        ("file:///a", "/a"),
        (".", "."),
        ("/", "/"),
        ("", None),
        ("a\nb", None),
        ("a\0b", None),
    ],
    "date": [
        ("2024-5-6", "2024-05-06"),
        ("2024/12/31", "2024-12-31"),
        ("2024-13-01", None),
        ("2024-00-01", None),
        ("2024-12-32", None),
        ("2024-01-31", "2024-01-31"),
        ("May 6, 2024", "2024-05-06"),
        ("6th of May 2024", "2024-05-06"),
        ("Sep. 6 2024", "2024-09-06"),
        ("May 6", None),
        ("13/05/2024", "2024-05-13"),
        ("05/13/2024", "2024-05-13"),
        ("05/06/2024", None),
        ("6.6.2024", "2024-06-06"),
        ("2024-05-06" + " " * 48, "2024-05-06"),
        ("on " + "2024-05-06".rjust(57), None),
    ],
    "text": [("A  b!", "a b"), ("", None), ("!", None)],
}
CASES = [(type_, text, value) for type_, cases in FORMS.items() for text, value in cases]


@pytest.mark.parametrize(("type_", "text", "value"), CASES)
def test_the_form_of_a_value(type_, text, value):
    assert WHOLE[type_](text) == value


TEXTS = [
    ("url", "See https://a.com/x, or www.b.org.", {"a.com/x", "b.org"}),
    ("url", "Look at a.com.They say so", {"a.com.they", "a.com"}),
    ("url", "ann@a.com", set()),
    ("email", "'ann@b.org' and Bob@C.org.", {"ann@b.org", "bob@c.org"}),
    ("email", "Write to ann@b.co.uk. Then go on...", {"ann@b.co.uk"}),
    ("email", "ann@b.", set()),
    ("email", f"ann@{'a.' * 8}org.", {f"ann@{'a.' * 8}org"}),
    ("iban", "to DE89 3704 0044 0532 0130 00 now", {"DE89370400440532013000"}),
    ("date", "on May 6 or 2024-05-07", {"--05-06", "2024-05-07"}),
    ("date", "on 1/2/2024", {"2024-01-02", "2024-02-01"}),
    ("date", "12024-05-06", set()),
    ("number", "3 of 1,234.5 are -2", {"3", "1234.5", "-2"}),
    ("number", "v3 and x1", set()),
    ("path", "open /a/b. Then c/d?", {"/a/b", "c/d", "open", "Then"}),
]


@pytest.mark.parametrize(("type_", "text", "values"), TEXTS)
def test_the_values_in_a_text(type_, text, values):
    assert values <= set(INSIDE[type_](text))
    if not values:
        assert set(INSIDE[type_](text)) == set()


@pytest.mark.parametrize(
    ("type_", "text", "values"),
    [
        ("urls", "https://a.com and b.com", ["a.com"]),
        ("dates", "May 6 or May 7, 2024", ["2024-05-07"]),
        ("emails", "a@b.org, A@B.org", ["a@b.org", "a@b.org"]),
        ("ibans", "DE89 3704 0044 0532 0130 00 EUR", ["DE89370400440532013000"]),
    ],
)
def test_the_values_that_a_text_is_taken_to_have(type_, text, values):
    assert list(PLURAL[type_][1](text)) == values


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("payments", "payment"),
        ("paying", "pay"),
        ("reservations", "reserv"),
        ("cities", "cit"),
        ("bed", "bed"),
        ("added", "add"),
        ("does", "doe"),
        ("is", "is"),
        ("dog", "dog"),
    ],
)
def test_a_word_without_its_ending(word, stemmed):
    assert stem(word) == stemmed


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), (True, "true"), (False, "false"), (3, "3"), ({"$number": "0.5"}, "0.5"), ([1], None), ({}, None)],
)
def test_a_value_as_text(value, text):
    assert text_of(value) == text


def test_words_are_spelt_alike():
    assert words("  It's\ta_B-c\n") == "it s a_b c"
    assert words("\uff21\u00df") == "ass"
    assert words("") == ""


@pytest.mark.parametrize(
    ("least", "runs"),
    [
        (1, ["aa", "b", "ccc"]),
        (2, ["aa", "b ccc", "ccc"]),
        (4, ["aa b", "b ccc"]),
        (8, ["aa b ccc"]),
        (9, []),
    ],
)
def test_the_shortest_run_of_words_at_each_word(least, runs):
    assert [*runs_of("aa b ccc", least)] == runs
    assert [*runs_of("", least)] == []


@pytest.mark.parametrize(
    ("names", "tool", "matches"),
    [
        (("pay",), "pay", True),
        (("pay",), "pays", False),
        (("pay*",), "pays", True),
        (("*pay",), "repay", True),
        (("a.*",), "abc", False),
        (("a.*",), "a.\n", True),
        (("any",), "x", True),
        (("*",), "", True),
        (("anything",), "any", False),
        (("pay", "look*"), "looks", True),
    ],
)
def test_which_tools_a_name_means(names, tool, matches):
    assert tool_matcher(names)(tool) is matches
