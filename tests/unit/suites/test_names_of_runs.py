"""Names that no run of a suite can have, changes that a finding is about, and verdicts of checks by hand."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.diagnostics import Diagnostic, Diagnostics
from specledger.core.spans import Position, Span, Text
from specledger.expr import INT, STRING, Environment, RecordType
from specledger.expr.check.checker import check
from specledger.expr.errors import E_EXPR_NO_PROMOTION
from specledger.spec.suite import Suite
from specledger.suites.checks import _in_millionths
from specledger.suites.literals import Compared, find_compared, report_unknown
from specledger.suites.overlay import E_SUITE_SET
from specledger.suites.stated import with_change

PLACE = Span("s.yaml", Position(2, 5), Position(2, 9))
NAMES: Any = {"gate": {"tired", "leap", ""}, "reason": {"weary"}, "arm": None, "label": set()}
HINTS = {
    "a name that there is": ("gate", "leap", None),
    "the empty name": ("gate", "", None),
    "names that are not known": ("arm", "leep", None),
    "nearly a name": ("gate", "leep", "did you mean `leap`?"),
    "near none": ("gate", "xyz", "there is leap, tired"),
    "none at all": ("label", "xyz", "there is none"),
    "nearly a reason": ("reason", "wearyy", "did you mean `weary`?"),
    "a reason of the engine, perhaps": ("reason", "xyz", None),
}


@pytest.mark.parametrize(("what", "text", "hint"), HINTS.values(), ids=HINTS)
def test_a_text_that_is_no_name_of_a_run_is_a_warning(what, text, hint):
    found = Diagnostics()
    report_unknown([Compared(what, text, PLACE)], NAMES, found)
    said = [(one.code, one.severity.value, one.message, one.span, one.hint) for one in found.sorted()]
    warning = ("W_SUITE_NAME", "warning", f"no run of the suite has the {what} {text!r}", PLACE, hint)
    assert said == ([] if hint is None else [warning])


def test_every_text_is_looked_at():
    found = Diagnostics()
    report_unknown([Compared("gate", text, PLACE) for text in ("leap", "leep", "xyz")], NAMES, found)
    assert len(found.sorted()) == 2


REJECTION = RecordType("rejection", {"gate": STRING, "reason": STRING, "proposal": INT})
ANOTHER = RecordType("rejection", {"gate": STRING})
VARIABLES = {"r": REJECTION, "o": ANOTHER, "arm": STRING, "scenario": STRING, "gate": STRING}
TEXTS = {
    "r.gate == 'leap'": [("gate", "leap")],
    "'leap' != r.gate": [("gate", "leap")],
    "r.reason in ['a', 'b'] && r.gate == 'c'": [("reason", "a"), ("reason", "b"), ("gate", "c")],
    "arm == 'fast' || scenario == 'slow'": [("arm", "fast"), ("scenario", "slow")],
    "r.gate == r.reason": [],
    "r.proposal == 1": [],
    "o.gate == 'leap'": [],
    "gate == 'leap'": [],
    "r.gate + 'x' == 'leap'": [],
    "r.gate < 'leap'": [],
}


@pytest.mark.parametrize(("text", "compared"), TEXTS.items())
def test_the_texts_that_an_expression_compares_with_names(text, compared):
    checked = check(Text.inline(text), Environment(VARIABLES), Diagnostics())
    assert checked is not None
    found = find_compared(checked)
    assert sorted((one.what, one.text) for one in found) == sorted(compared)
    for one in found:
        assert text[one.span.start.column - 1 : one.span.end.column - 1] == repr(one.text)


def span(start, end, file="s.yaml"):
    return Span(file, Position(*start), Position(*end))


def node(start, end, file="s.yaml"):
    return SimpleNamespace(span=span(start, end, file), key_span=("key", start))


def suite(**origins):
    mutants: Any = [SimpleNamespace(id="first"), SimpleNamespace(id="second")]
    construct: Any = Suite.model_construct
    return SimpleNamespace(name="all", model=construct(mutants=mutants), origins=origins["origins"])


ORIGINS = {
    ("runs", "fast", "set", "horizon"): node((3, 5), (3, 9)),
    ("runs", "fast", "seeds", "x"): node((4, 5), (4, 9)),
    ("mutants", 1, "set", "seed"): node((5, 5), (5, 9)),
    ("mutants", 1, "under", "agent"): node((6, 5), (6, 9)),
    ("mutants", 1, "set"): node((5, 1), (6, 9)),
    ("mutants", 0, "set", "seed"): node((7, 5), (7, 9)),
}
FIRST, SECOND = "set by arm `fast` of `all`: `horizon`", "set by mutant `second` of `all`: "
STATED = {
    "the value of an arm": (span((3, 5), (3, 9)), None, [(FIRST, ("key", (3, 5)))]),
    "a part of it": (span((3, 6), (3, 8)), None, [(FIRST, ("key", (3, 5)))]),
    "it begins before": (span((3, 4), (3, 9)), None, []),
    "it ends after": (span((3, 5), (3, 10)), None, []),
    "in another file": (span((3, 5), (3, 9), "other.yaml"), None, []),
    "no change": (span((4, 5), (4, 9)), None, []),
    "no place": (None, None, []),
    "the value of a mutant": (span((6, 5), (6, 9)), None, [(f"{SECOND}`agent`", ("key", (6, 5)))]),
    "another file in the run of a mutant": (
        span((1, 1), (1, 2), "w.yaml"),
        1,
        [(f"{SECOND}`seed`", ("key", (5, 5))), (f"{SECOND}`agent`", ("key", (6, 5)))],
    ),
    "a mutant without changes": (span((1, 1), (1, 2), "w.yaml"), 2, []),
}


@pytest.mark.parametrize(("place", "mutant", "related"), STATED.values(), ids=STATED)
def test_a_finding_names_the_change_that_it_comes_of(place, mutant, related):
    stated: Any = suite(origins=ORIGINS)
    before: Any = Diagnostic(E_SUITE_SET, "wrong", place, related=(("before", PLACE),))
    after = with_change(stated, before, mutant)
    whole = [("before", PLACE), *related] if mutant is None else [*related, ("before", PLACE)]
    assert list(after.related) == whole
    assert after.message == "wrong"


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("often.value > 0.25", "write 250000 for 0.25"),
        ("often.value > .5", "write 500000 for .5"),
        ("often.value > 0.0000001", "write 900000 for 0.9"),
        ("often.value > x", "write 900000 for 0.9"),
        ("v1.5 > 10.25", "write 900000 for 0.9"),
    ],
)
def test_a_rate_beside_a_decimal_is_written_in_millionths(written, hint):
    finding = Diagnostic(E_EXPR_NO_PROMOTION, "an int beside a decimal", PLACE)
    said = _in_millionths(finding, {str(PLACE): written}).hint
    assert said is not None
    assert hint in said
    other = Diagnostic(E_SUITE_SET, "something else", PLACE, "as it was")
    assert _in_millionths(other, {str(PLACE): written}) is other
