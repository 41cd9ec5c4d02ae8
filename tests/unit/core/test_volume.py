"""What a document holds is counted in its bytes before it is read; what texts hold is not counted."""

import importlib.util
import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core import volume as counted
from specledger.core.canonical import NotCanonical, canonical_bytes, check_volume, parse_canonical, parse_json
from specledger.core.volume import MAX_VOLUME, volume
from tests.toys import ROOT

scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text('\\",:[{a', max_size=6)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('\\",:[{a', max_size=4), inner, max_size=4),
)
ONE = b'{"a":[[1,2],{}]}'
"""Two objects, two lists, two commas, one colon: 8, 4, 2 and 1 units, without those of its texts."""


def plain(value):
    """The volume of a value, counted member by member."""
    if isinstance(value, dict):
        return 4 + len(value) + max(0, len(value) - 1) + sum(map(plain, value.values()))
    return 2 + max(0, len(value) - 1) + sum(map(plain, value)) if isinstance(value, list) else 0


@pytest.fixture(scope="module")
def independent():
    """The volume as `tools/verify.py` counts it."""
    specification: Any = importlib.util.spec_from_file_location("independent_volume", ROOT / "tools" / "verify.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module.volume


@pytest.mark.medium
@given(value=values)
def test_the_volume_is_that_of_the_values(independent, value):
    form = canonical_bytes(value)
    assert independent(form) == plain(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counted, "MAX_VOLUME", -1)  # look for texts
        for piece in (1 << 16, 7, 2, 1):
            patch.setattr(counted, "_PIECE", piece)
            assert volume(form) == plain(value)
    assert volume(form) >= plain(value)


def test_an_escape_ends_no_text(independent):
    form = json.dumps({'\\",[': ['"', "\\", '\\"[{,:']}).encode()
    assert independent(form) == 4 + 1 + 2 + 2


LINES = {
    "empty lists": b"[" + b",".join([b"[]"] * 400_000) + b"]",
    "records": b"[" + b",".join([b'{"a":1}'] * 200_000) + b"]",
    "numbers": b"[" + b",".join([b"1000"] * 1_100_000) + b"]",
    "keys": b"{" + b",".join(b'"%06d":0' % number for number in range(600_000)) + b"}",
    "nested objects": b"[" + b",".join([b'{"a":' * 50 + b"0" + b"}" * 50] * 5000) + b"]",
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize(
    "read", [lambda line: parse_canonical(line, limit=len(line)), parse_json], ids=["canonical", "json"]
)
def test_what_holds_too_much_is_not_read(monkeypatch, name, read):
    monkeypatch.setattr("specledger.core.canonical.orjson.loads", pytest.fail)
    monkeypatch.setattr("specledger.core.canonical._JSON", None)
    with pytest.raises(NotCanonical, match=f"a volume of [0-9]+, more than {MAX_VOLUME}") as refused:
        read(LINES[name])
    assert refused.value.code == "E_CANON_SIZE"


def test_a_text_may_hold_anything():
    line = canonical_bytes(["[{,:" * 500_000, '"\\'])
    assert parse_canonical(line, limit=len(line)) == ["[{,:" * 500_000, '"\\']


def test_what_has_no_more_bytes_than_the_bound_may_hold_anything():
    check_volume(ONE, len(ONE))
    check_volume(ONE, 15)
    with pytest.raises(NotCanonical):
        check_volume(ONE + b" ", 14)
