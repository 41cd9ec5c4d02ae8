"""The canonical form against an independent encoder, RFC 8785, and its own reader."""

import json
import re
from decimal import ROUND_HALF_EVEN, Context, Decimal
from itertools import product

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.canonical import NotCanonical, canonical_bytes, canonical_ints, parse_canonical, pretty
from specledger.core.floats import FLOATS_ANYWHERE

LIMIT = 2**53 - 1
DECIMALS = Context(prec=60)
# Characters at which encoders differ: controls, DEL, the escaped two, line separators, both ends of the surrogates' gap
# (where UTF-16 order leaves UTF-8 order), the last of the plane, astral.
HARD = '\x00\x08\t\n\x0b\x0c\r\x1f "/\\\x7f\x80\x9f\u2028\u2029\ud7ff\ue000\ufeff\uffee\uffff\U00010000\U0010ffff'
CHARACTERS = st.one_of(st.sampled_from(HARD), st.characters(exclude_categories=["Cs"]))
TEXT = st.text(CHARACTERS, max_size=8)
ASCII = st.text(st.characters(max_codepoint=0x7F), max_size=8)
INTEGERS = st.one_of(st.integers(-LIMIT, LIMIT), st.integers(-10, 10), st.sampled_from([LIMIT, -LIMIT, 2**31, 2**32]))
FLOATS = st.one_of(
    st.floats(-LIMIT, LIMIT),
    st.floats(-2, 2),
    st.integers(-(10**9), 10**9).map(lambda n: n / 512),  # ties at the ninth decimal
)


def documents(keys, *more):
    atoms = st.one_of(st.none(), st.booleans(), INTEGERS, TEXT, *more)
    return st.recursive(
        atoms,
        lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(keys, inner, max_size=5)),
        max_leaves=20,
    )


def reference(value):
    """The canonical text, written from the seed's rules without a JSON library."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = str(Decimal(value).quantize(Decimal("1e-8"), ROUND_HALF_EVEN, DECIMALS))
        text = f"{Decimal(text):f}".rstrip("0").rstrip(".")
        return "0" if text in ("", "-0", "-") else text
    if isinstance(value, str):
        return '"' + re.sub(r'[\x00-\x1f"\\]', escape, value) + '"'
    if isinstance(value, list):
        return "[" + ",".join(map(reference, value)) + "]"
    members = sorted(value.items(), key=lambda member: member[0].encode())
    return "{" + ",".join(f"{reference(key)}:{reference(member)}" for key, member in members) + "}"


def escape(match):
    short = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return short.get(match[0], f"\\u{ord(match[0]):04x}")


def reordered(value):
    if isinstance(value, list):
        return [reordered(element) for element in value]
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return value


def tupled(value):
    if isinstance(value, list):
        return tuple(tupled(element) for element in value)
    if isinstance(value, dict):
        return {key: tupled(member) for key, member in value.items()}
    return value


@given(documents(TEXT))
def test_both_paths_write_what_the_rules_say(value):
    assert canonical_ints(value) == canonical_bytes(value) == reference(value).encode()


@given(documents(TEXT, FLOATS))
def test_floats_are_written_as_the_rules_say(value):
    assert canonical_bytes(value, FLOATS_ANYWHERE) == reference(value).encode()


@pytest.mark.medium
@given(documents(ASCII))
def test_the_form_is_that_of_rfc_8785_for_integers_and_ascii_keys(value):
    assert canonical_bytes(value) == rfc8785.dumps(value)


def test_beyond_ascii_keys_the_order_is_another_than_that_of_rfc_8785():
    """The seed sorts UTF-8, RFC 8785 sorts UTF-16: the test above would fail with all keys."""
    value = {"\U00010000": 1, "\uffee": 2}
    assert canonical_bytes(value) != rfc8785.dumps(value)


@given(documents(TEXT, FLOATS))
def test_writing_again_what_was_read_changes_nothing(value):
    form = canonical_bytes(value, FLOATS_ANYWHERE)
    assert canonical_bytes(json.loads(form), FLOATS_ANYWHERE) == form
    assert canonical_bytes(json.loads(pretty(value)), FLOATS_ANYWHERE) == form


@given(documents(TEXT))
def test_what_was_written_is_read(value):
    form = canonical_bytes(value)
    assert parse_canonical(form) == value == json.loads(form)


@given(documents(TEXT, FLOATS))
def test_the_order_of_keys_and_the_kind_of_array_do_not_matter(value):
    form = canonical_bytes(value, FLOATS_ANYWHERE)
    assert canonical_bytes(reordered(value), FLOATS_ANYWHERE) == form
    assert canonical_bytes(tupled(value), FLOATS_ANYWHERE) == form


@given(documents(TEXT, FLOATS), documents(TEXT, FLOATS))
def test_different_values_have_different_forms(one, other):
    """Different as JSON texts of the standard library, where a rounded float is a text that no string can be."""
    same = json.dumps(rounded(one), sort_keys=True) == json.dumps(rounded(other), sort_keys=True)
    assert same == (canonical_bytes(one, FLOATS_ANYWHERE) == canonical_bytes(other, FLOATS_ANYWHERE))


def rounded(value):
    if isinstance(value, float):
        exact = Decimal(value).quantize(Decimal("1e-8"), ROUND_HALF_EVEN, DECIMALS).normalize(DECIMALS)
        return int(exact) if exact == exact.to_integral_value() else f"\ud800{exact}"
    if isinstance(value, list):
        return [rounded(element) for element in value]
    return {key: rounded(member) for key, member in value.items()} if isinstance(value, dict) else value


@given(FLOATS)
def test_rounding_moves_a_float_by_at_most_half_a_unit(value):
    form = canonical_bytes(value, FLOATS_ANYWHERE).decode()
    assert abs(Decimal(form) - Decimal(value)) <= Decimal("0.5e-8")
    assert re.fullmatch(r"0|-?[1-9]\d*|-?(0|[1-9]\d*)\.\d{0,7}[1-9]", form)


@pytest.mark.medium
@given(documents(TEXT))
def test_a_line_with_another_byte_is_refused_or_says_something_else(value):
    """Another character of JSON in each of the first places: some of these lines are canonical, too."""
    form, accepted = canonical_bytes([0, value]), 0
    for place, byte in product(range(min(len(form), 40)), b'019-" ,:]}\\e.u'):
        changed = form[:place] + bytes([byte]) + form[place + 1 :]
        if changed == form:
            continue
        try:
            read = parse_canonical(changed)
        except NotCanonical:
            continue
        accepted += 1
        assert canonical_bytes(read) == changed
    assert accepted >= 2  # the 0 may be 1 or 9


@given(st.one_of(st.binary(max_size=40), st.text('{}[]",:0123456789.-eE\\u truefalsn', max_size=20).map(str.encode)))
def test_any_bytes_are_read_or_refused(line):
    try:
        read = parse_canonical(line)
    except NotCanonical:
        return
    assert canonical_bytes(read) == line == canonical_ints(read)


@given(documents(TEXT), st.sampled_from([" ", "\n", "\t"]))
def test_white_space_is_refused(value, space):
    spaced = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(f",{space}", f":{space}")).encode()
    for line in (spaced, canonical_bytes(value) + space.encode()):
        if line != canonical_bytes(value):
            with pytest.raises(NotCanonical):
                parse_canonical(line)


@pytest.mark.parametrize("atom", [1, 0.5])
@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_depth_is_bounded_alike_with_and_without_floats(atom, wrap):
    document = atom
    for _ in range(64):
        document = wrap(document)
    assert orjson.loads(canonical_bytes(document, FLOATS_ANYWHERE)) == document
    for _ in range(200):
        document = wrap(document)
        with pytest.raises(NotCanonical) as caught:
            canonical_bytes(document, FLOATS_ANYWHERE)
        assert caught.value.code == "E_CANON_DEPTH"
