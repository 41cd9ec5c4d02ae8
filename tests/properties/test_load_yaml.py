"""Properties of the YAML reader: both parsers agree, places are right, and nothing but a finding comes out of bad input."""

import string

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.core.diagnostics import Diagnostics
from specledger.load.input_filter import find_forbidden, read_text
from specledger.load.scalars import Flaw, resolve
from specledger.load.yaml_reader import parse
from tests.conftest import examples

SAMPLE = """\
spec: world/v1
name: line-world   # a comment
state: {x: int, y: {type: integer, minimum: 0}}
functions:
  at: {args: [p, q], is: "p.x + q['y'] ? 1 : 2"}
  'quoted': >-
    folded (text,
    on lines)
every_step:
- {set: x, to: x + 1.50}
-  set: y
   to: |
     literal
       text

notes: [a, 'it''s', "tab\\t\\u00e9", -3, 0.25, true, null, [], {}]
prose: several
  lines of # text
"""
ALPHABET = "ab1 ,:[]{}#&*!|>'\"%@`?-+.\n\n  \\~=<$(é😀\t\r"


def read(text, pure=False):
    """The tree and the findings of a text that comes as bytes."""
    diagnostics = Diagnostics()
    admitted = read_text(text.encode(), "f.yaml", diagnostics)
    document = None if admitted is None else parse(admitted, "f.yaml", diagnostics, pure=pure)
    return document, diagnostics.sorted()


def texts(document):
    return [node.text for _, node in document.root.walk() if node.style not in ("block", "flow")]


def assert_parsers_agree(text):
    (quick, found), (slow, found_too) = read(text), read(text, pure=True)
    assert bool(found) == bool(found_too), (found, found_too)
    if not found:
        assert quick.root == slow.root
        assert texts(quick) == texts(slow)
    return quick, found


@st.composite
def mutations(draw):
    """The sample with pieces deleted, doubled, replaced or inserted."""
    text = SAMPLE
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        piece = draw(st.text(ALPHABET, max_size=6) | st.just(text[start:end] * 2))
        text = text[:start] + piece + text[end:]
    return text


TOKENS = ["a", "b: ", "- ", "{", "}", "[", "]", ", ", ": ", "? ", "\n", "  ", "'", '"', "|\n ", "> \n"]


@pytest.mark.medium
@settings(max_examples=examples(200))
@given(mutations() | st.text(ALPHABET, max_size=60) | st.lists(st.sampled_from(TOKENS)).map("".join))
def test_both_parsers_agree(text):
    assert_parsers_agree(text)


@given(st.binary(max_size=80))
def test_any_bytes_give_a_document_or_findings(data):
    diagnostics = Diagnostics()
    text = read_text(data, "f.yaml", diagnostics)
    document = None if text is None else parse(text, "f.yaml", diagnostics)
    assert document is not None or diagnostics.has_errors


CHARACTERS = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]) | st.sampled_from("\n \t'\"\\#:-")
VALUES = st.text(CHARACTERS, max_size=40).filter(lambda value: find_forbidden(value) is None)
WIDTHS = st.sampled_from([8, 20, 1000])


@pytest.mark.medium
@given(VALUES, WIDTHS)
def test_a_double_quoted_value_comes_back_with_its_places(value, width):
    assert_places("a: " + yaml.dump(value, default_style='"', allow_unicode=True, width=width), value)


@given(VALUES.filter(lambda value: "\t" not in value), WIDTHS)
def test_a_single_quoted_value_comes_back_with_its_places(value, width):
    text = yaml.dump({"a": value}, default_style="'", allow_unicode=True, width=width)
    assert_places(text.replace("'a'", "a", 1) if text.startswith("'a'") else text, value)


LINES = st.lists(st.text(string.ascii_letters + " é#:'", max_size=12), max_size=6)


@given(LINES, st.sampled_from(["|", "|-", "|+", ">", ">-", ">+"]), st.integers(1, 4))
def test_a_block_scalar_has_the_characters_of_its_lines(lines, header, indent):
    text = f"a: {header}\n" + "".join(f"{' ' * indent}{line}\n" if line else "\n" for line in lines) + "b: c\n"
    document, found = assert_parsers_agree(text)
    if not found:
        assert_places(text, document.root.at(("a",)).value)


@given(st.lists(st.text("xy+*(12)&|<=>. ", min_size=1, max_size=9), min_size=1, max_size=4))
def test_a_plain_value_on_several_lines_comes_back_with_its_places(lines):
    text = "a: x" + "\n  ".join(lines) + "\n"
    document, found = assert_parsers_agree(text)
    if not found:
        assert_places(text, document.root.at(("a",)).value)


def assert_places(text, value):
    """The value is read, and each character that needs no escape stands in the file where its place says."""
    document, found = assert_parsers_agree(text)
    assert found == ()
    written = document.root.at(("a",)).text
    assert document.root.at(("a",)).value == written.value == value
    rows = text.split("\n")
    for offset, character in enumerate(value):
        start = written.span(offset, offset + 1).start
        source = rows[start.line - 1][start.column - 1 : start.column]
        if character not in "\n '" and source != "\\":
            assert source == character


@given(st.from_regex(r"[-+.0-9_:eExXoOabfnN~yYtT]{1,12}", fullmatch=True))
def test_what_any_resolver_of_pyyaml_takes_for_no_string_is_refused_or_is_a_plain_decimal(text):
    resolved = resolve(text)
    tag = yaml.SafeLoader("").resolve(yaml.ScalarNode, text, (True, False))
    if isinstance(resolved, str) and not isinstance(resolved, Flaw):
        assert tag == "tag:yaml.org,2002:str"
    elif not isinstance(resolved, Flaw):
        value = yaml.safe_load(text)
        assert (type(value), value) == (type(resolved), resolved)
