"""Properties of bundles: the digest is of what is said, not of how; and evidence gives them back or is refused."""

import copy
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.core.canonical import canonical_bytes, parse_canonical
from specledger.core.diagnostics import Rejected
from specledger.kinds import bundle_from_document, load
from specledger.load import Search
from tests.conftest import examples

NAMES = st.sampled_from(["A", "B", "limit", "x1", "y", "n", "on"])
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zl", "Zp", "Co", "Cn", "Cf"]), max_size=12
)
EXPRESSIONS = st.sampled_from(
    ["x > 1", "a ? b : c", "f(a, b)", "!p", "s == 'it''s, # \"so\"'", "NO", "010", "x\n&& y", "1e3"]
)
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.integers(-9999, 9999).map(lambda thousandths: thousandths / 1000)
SCALARS = NUMBERS | st.booleans() | TEXTS.filter(lambda text: "${" not in text)
FIXED = st.integers(-(10**9), 10**9).map(lambda number: {"qfixed": number / 1000})
CONSTANTS = SCALARS | FIXED | st.lists(SCALARS | st.lists(SCALARS, max_size=2), max_size=3)
EXTRA = {
    "constants": st.dictionaries(NAMES, CONSTANTS, max_size=4),
    "witness": st.dictionaries(NAMES, EXPRESSIONS | st.booleans() | st.integers(0, 9), max_size=3),
    "functions": st.dictionaries(
        NAMES, st.fixed_dictionaries({"args": st.lists(NAMES, max_size=2), "is": EXPRESSIONS}), max_size=2
    ),
    "scope": st.sampled_from(["step", "episode"]),
    "when": EXPRESSIONS,
    "doc": TEXTS,
    "metadata": st.fixed_dictionaries({"annotations": st.dictionaries(TEXTS, SCALARS | st.none(), max_size=2)}),
}
INVARIANTS = st.fixed_dictionaries({"require": EXPRESSIONS}, optional=EXTRA)


def write(folder, name, document):
    """A document as a file, `spec` and `name` first and the other keys in their order; values as JSON, which is YAML."""
    text = f"spec: invariant/v1\nname: {name}\n"
    text += "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in document.items())
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


def digest(folder, name):
    (bundle,) = load(folder / f"{name}.yaml", search=Search(folder, None))
    return bundle.digest


def shuffled(draw, value):
    """The same value with the keys of its mappings in another order."""
    if isinstance(value, dict):
        return {key: shuffled(draw, value[key]) for key in draw(st.permutations(list(value)))}
    return [shuffled(draw, element) for element in value] if isinstance(value, list) else value


def parted(draw, value):
    """The mapping as a base and what is laid over it; the base may have other values where they are covered."""
    base, over = {}, {}
    for key, member in value.items():
        where = draw(st.sampled_from(["base", "over", "both"]))
        if isinstance(member, dict) and where == "both":
            base[key], over[key] = parted(draw, member)
        elif where == "base":
            base[key] = member
        else:
            over[key] = member
            if where == "both":
                base[key] = draw(SCALARS)
    return base, over


PARAM = {int: "int", bool: "bool", str: "string", float: "double"}


def with_params(draw, value, params):
    """The value with some scalars taken out into params with defaults."""
    if isinstance(value, dict):
        return {key: with_params(draw, member, params) for key, member in value.items()}
    if isinstance(value, list):
        return [with_params(draw, element, params) for element in value]
    if type(value) not in PARAM or not draw(st.booleans()):
        return value
    name = f"p{len(params)}"
    params[name] = {"type": PARAM[type(value)], "default": value}
    return f"${{{name}}}"


@pytest.mark.medium
@settings(max_examples=examples(60))
@given(st.data(), INVARIANTS)
def test_how_it_is_said_is_not_in_the_digest(data, document):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, "a", document)
        (folder / "b").mkdir()
        flat = digest(folder, "a")
        write(folder / "b", "a", shuffled(data.draw, document))
        assert digest(folder / "b", "a") == flat
        base, over = parted(data.draw, document)
        write(folder / "b", "base", base)
        write(folder / "b", "a", {"extends": "base"} | over)
        assert digest(folder / "b", "a") == flat
        params: dict = {}
        free = {key: document[key] for key in ("doc", "metadata") if key in document}
        rest = with_params(data.draw, {key: document[key] for key in document if key not in free}, params)
        write(folder / "b", "a", {"params": params} | free | rest)
        assert digest(folder / "b", "a") == flat


@settings(max_examples=examples(60))
@given(INVARIANTS, INVARIANTS)
def test_documents_with_one_digest_say_the_same(one, other):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bundles = []
        for document in (one, other):
            write(folder, "a", document)
            (bundle,) = load(folder / "a.yaml", search=Search(folder, None))
            bundles.append(bundle)
        assert (bundles[0].digest == bundles[1].digest) == (repr(bundles[0].main.model) == repr(bundles[1].main.model))


def meanings(bundle):
    """What the specs of a bundle are, without where they were written."""
    return {key: (one.kind, one.name, one.model, one.data, one.refs) for key, one in bundle.specs.items()}


@pytest.mark.medium
@settings(max_examples=examples(60))
@given(INVARIANTS, INVARIANTS)
def test_evidence_gives_a_bundle_back(one, other):
    bundle = governed(one, other)
    stored = canonical_bytes(bundle.document())
    again = bundle_from_document(parse_canonical(stored))
    assert (again.root, again.digest, meanings(again)) == (bundle.root, bundle.digest, meanings(bundle))
    assert canonical_bytes(again.document()) == stored


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["nan", "0.5", "1e999999999"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["$double", "use", "with", "a", "qfixed"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.data())
def test_tampered_evidence_is_refused_or_is_another_bundle(data):
    document = copy.deepcopy(SAMPLE.document())
    for _ in range(data.draw(st.integers(1, 3))):
        place = document
        while data.draw(st.booleans()) and [
            child for child in children(place) if isinstance(place[child], dict | list)
        ]:
            place = place[data.draw(st.sampled_from([c for c in children(place) if isinstance(place[c], dict | list)]))]
        if children(place):
            key = data.draw(st.sampled_from(children(place)))
            if data.draw(st.booleans()):
                place[key] = data.draw(JSON)
            else:
                del place[key]
    codes, form = set(), b""
    try:
        form = canonical_bytes(bundle_from_document(document).document())
    except Rejected as rejected:
        codes = {found.code for found in rejected.diagnostics}
    assert codes <= {"E_SPEC_RESOLVED_FORM"}
    assert codes or form == canonical_bytes(document)


@given(JSON)
def test_anything_is_refused_as_evidence(value):
    with pytest.raises(Rejected):
        bundle_from_document(value)


def children(place):
    return list(place) if isinstance(place, dict) else list(range(len(place)))


def governed(one, other):
    """The bundle of a governor with two invariants."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, "one", one)
        write(folder, "two", other)
        text = 'spec: governor/v1\nname: g\ngates: []\nchoose: {maximise: "0"}\ninvariants: [one, {use: two}]\n'
        (folder / "g.yaml").write_text(text, encoding="utf-8")
        (bundle,) = load(folder / "g.yaml", search=Search(folder, None))
        return bundle


SAMPLE = governed(
    {"require": "x", "constants": {"A": 0.5, "B": [1, 1.5], "C": {"qfixed": 1.5}}},
    {"require": "y", "functions": {"f": {"args": ["a"], "is": "a"}}, "scope": "episode"},
)
