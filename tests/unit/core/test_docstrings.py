"""What a docstring says of attributes, and what it says besides."""

from specledger.core.docstrings import attributes_of, summary_of

TEXT = """What it is,
    in two lines.

    Attributes:
        first, second: One text
            for both.
        third: Another one: with a colon.
    """


def test_attributes_are_on_one_line_each():
    assert attributes_of(TEXT) == {
        "first": "One text for both.",
        "second": "One text for both.",
        "third": "Another one: with a colon.",
    }


def test_the_summary_is_what_stands_before_the_attributes():
    assert summary_of(TEXT) == "What it is,\nin two lines."


def test_no_docstring_says_nothing():
    assert (summary_of(None), attributes_of(None)) == ("", {})
