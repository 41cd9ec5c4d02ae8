"""The parser finds laws in whatever a model answers, mends what it says it mends, and gives a reason for all else."""

import json

import pytest

from specledger.core.canonical import MAX_DEPTH, canonical_bytes
from specledger.core.diagnostics import Rejected, codes
from specledger.evidence.layout import MAX_LINE
from specledger.kinds import load
from specledger.wings.discovery.json_recovery import DROPPED, Broken, Found, read_values
from specledger.wings.discovery.parser import MOST_CHARACTERS, MOST_OBJECTS, ResponseParser
from specledger.wings.laws.compile import compile_law
from tests.wings.discovery.shipped import templates, universe

NOW, START = {"var": "t"}, {"const": 0}
LAW = {
    "law_id": "momentum",
    "template": "invariant",
    "observables": [{"name": "P", "expr": "count('>') - count('<')"}],
    "claim_ast": {"op": "==", "lhs": {"obs": "P", "t": NOW}, "rhs": {"obs": "P", "t": START}},
    "forbidden": "a step at which P differs, say // here, /* there */, or `so`, ]",
}
ONE = json.dumps(LAW)
WORDS = json.dumps({key: value for key, value in LAW.items() if key != "claim_ast"} | {"claim": "P(t) == P(0)"})


def changed(**fields):
    return json.dumps(LAW | fields)


@pytest.fixture(scope="module")
def parse():
    kinetic = universe()[0]
    readers = {strict: ResponseParser(kinetic, templates(), strict) for strict in (False, True)}
    return lambda text, strict=False: readers[strict].parse(text)


# Extraction: how many laws are found, and nothing is rejected, in both modes

FOUND = {
    "a bare list": (f"[{ONE}, {ONE}]", 2),
    "a single object": (ONE, 1),
    "an object that wraps a list": (f'{{"laws": [{ONE}, {ONE}]}}', 2),
    "a wrapped list with a word beside it": (f'{{"note": "two", "laws": [{ONE}]}}', 1),
    "a list of lists": (f"[[{ONE}], [[{ONE}]]]", 2),
    "a fence": (f"```json\n[{ONE}]\n```", 1),
    "a fence without a language": (f"```\n[{ONE}]\n```", 1),
    "several fences": (f"first\n```json\n[{ONE}]\n```\nthen\n```json\n{ONE}\n```\nthat is all", 2),
    "a fence that is not closed": (f"```json\n[{ONE}]", 1),
    "a fence inside a fence": (f"````\n```json\n[{ONE}]\n```\n````", 1),
    "prose around": (f"Consider t in [0..T] and {{t, t+1}}, see [1]:\n[{ONE}]\nDone (really).", 1),
    "objects one after the other": (f"{ONE}\n{ONE}\n{ONE}", 3),
    "bytes with a mark at the beginning": (b"\xef\xbb\xbf[" + ONE.encode() + b"]", 1),
    "nothing proposed": ("[]", 0),
    "no answer": ("", 0),
    "only prose": ("I cannot propose laws.", 0),
}


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
@pytest.mark.parametrize(("text", "count"), FOUND.values(), ids=FOUND)
def test_laws_are_found_wherever_they_stand(parse, text, count, strict):
    result = parse(text, strict)
    assert [each.plan.law.name for each in result.laws] == ["momentum"] * count
    assert result.rejections == ()
    assert result.warnings == (() if count else ("the answer holds no object",))


# Mending: read leniently, with a warning that says what was mended; rejected strictly, with the same words

INNER = ONE[1:-1]
MENDED = {
    "a comma at the end of a list": (f"[{ONE},]", "a comma before a closing bracket"),
    "a comma at the end of an object": (f"[{{{INNER},}}]", "a comma before a closing bracket"),
    "a comma inside": ("[" + ONE.replace('"}]', '",}]') + "]", "a comma before a closing bracket"),
    "a comment to the end of the line": (f"[ // the first\n{ONE}]", "a comment"),
    "a comment inside": (f"[{{ /* what, ] */ {INNER}}}]", "a comment"),
    "a comment that is not closed": (f"[{ONE}] [{ONE} /* and", "a comment"),
    "backticks": (f"[`{ONE}`]", "a backtick"),
    "a backtick inside": (f"[{{{INNER}`}}]", "a backtick"),
    "a fence in the middle": (f"[{ONE},\n```\n```\n{ONE}]", "a backtick"),
    "two fences for one list": (f"[{ONE},\n```\n```json\n{ONE}]", "something that is no JSON, or a missing comma"),
    "a word in a list": (f"[{ONE}, and {ONE}]", "something that is no JSON, or a missing comma"),
    "no comma in a list": (f"[{ONE} {ONE}]", "something that is no JSON, or a missing comma"),
    "a list without its end": (f"[{ONE}, {ONE}", "a bracket that is not closed"),
    "a comma in a wrapper in a list": (f'[{{"laws": [{ONE}],}}]', "a comma before a closing bracket"),
    "a wrapper without its end": (f'{{"laws": [{ONE}, {ONE}', "a bracket that is not closed"),
}


@pytest.mark.parametrize(("text", "mend"), MENDED.values(), ids=MENDED)
def test_what_is_nearly_json_is_mended_leniently(parse, text, mend):
    result = parse(text)
    assert result.laws
    assert result.rejections == ()
    assert all(each.document == LAW for each in result.laws)
    assert any(mend in warning for warning in result.warnings)


@pytest.mark.parametrize(("text", "mend"), MENDED.values(), ids=MENDED)
def test_what_is_nearly_json_is_rejected_strictly(parse, text, mend):
    result = parse(text, strict=True)
    reasons = [reason for _, reason in result.rejections]
    assert any(reason.startswith("E_ANSWER_MENDED") and mend in reason for reason in reasons)
    assert len(result.laws) + len(reasons) == len(parse(text).laws)


# What may be left out: of an answer as of a file

WHOLE = {
    "a claim": LAW | {"claim": "P(t) == P(0)", "quantifiers": {"T": 9}, "preconditions": ["count('>') > 0"]},
    "a symmetry, whose fields say the claim": {
        "law_id": "mirror",
        "template": "symmetry_commutation",
        "transform": "mirror_swap",
        "claim": "the mirror image evolves alike",
        "forbidden": "a start whose image evolves otherwise",
        "quantifiers": {"T": 9},
    },
    "cells, whose fields say the claim": {
        "law_id": "leaves",
        "template": "local_transition",
        "trigger_symbol": ">",
        "result_op": "!=",
        "result_symbol": ">",
        "claim": "a mover leaves its cell",
        "forbidden": "a mover that stays",
    },
}


@pytest.mark.medium
@pytest.mark.parametrize("whole", WHOLE.values(), ids=WHOLE)
def test_an_answer_may_leave_out_what_a_file_may(parse, whole, tmp_path):
    accepted = {}
    for key in (None, *whole):
        said = {name: value for name, value in whole.items() if name != key}
        head = {"spec": "law/v1", "name": "it", "universe": "kinetic_grid_v1"}
        (tmp_path / "it.yaml").write_text(json.dumps(head | said), encoding="utf-8")
        try:
            compile_law(load(tmp_path / "it.yaml")[0])
        except Rejected:
            accepted[key] = False
        else:
            accepted[key] = True
        assert bool(parse(json.dumps(said)).laws) == accepted[key], key
    assert accepted[None]
    assert accepted["law_id"]
    assert not accepted["forbidden"]


# Rejections: the object (or its text) and the reason

CUT = ONE[: ONE.index('"forbidden"')]
REJECTED = {
    "no template": (changed(template=None), "E_ANSWER_FIELD"),
    "no forbidden": (changed(forbidden=""), "E_ANSWER_FIELD"),
    "no claim": (changed(claim_ast=None), "E_LAW_MISSING"),
    "an unknown template": (changed(template="invariants"), "E_LAW_CANDIDATE"),
    "an unknown key": (changed(because="I say so"), "E_LAW_CANDIDATE"),
    "another version": (changed(schema_version="2.0.0"), "E_LAW_CANDIDATE"),
    "a template's field missing": (changed(template="monotone"), "E_LAW_MISSING"),
    "division": (changed(observables=[{"name": "P", "expr": "count('>') / 2"}]), "E_CLAIM_DIVISION"),
    "division in the claim": (changed(claim_ast={"op": "/", "lhs": START, "rhs": START}), "E_CLAIM_DIVISION"),
    "a node that means nothing": (changed(claim_ast={"observable": "P"}), "E_CLAIM_NODE"),
    "an undefined observable": (changed(observables=[]), "E_LAW_UNDEFINED"),
    "a precondition that is none": (changed(preconditions=["count('>') + 1"]), "E_EXPR"),
    "a symbol that there is not": (changed(observables=[{"name": "P", "expr": "count('?')"}]), "E_UNIVERSE_SYMBOL"),
    "a float": (changed(quantifiers={"T": 1.5}), "E_LAW_CANDIDATE"),
    "a number in the list": ("[{}, 5]", "E_LAW_CANDIDATE"),
    "a key twice": ('{"template": "bound", "template": "invariant"}', "E_ANSWER_JSON"),
    "NaN": ('{"template": NaN}', "E_ANSWER_JSON"),
    "an infinite number": ('{"template": 1e999}', "E_ANSWER_JSON"),
    "a huge integer": (f'{{"template": {"9" * 5000}}}', "E_ANSWER_JSON"),
    "half of a character": ('{"template": "\\ud800"}', "E_ANSWER_JSON"),
    "half of a character as it is": ('{"template": "\ud800"}', "E_ANSWER_JSON"),
    "an escape that there is not": ('{"template": "\\x"}', "E_ANSWER_JSON"),
    "a text that is not closed": ('{"template": "invariant\n}', "E_ANSWER_JSON"),
    "single quotes": ("{'template': 'invariant'}", "E_ANSWER_JSON"),
    "no colon": ('{"template" "invariant"}', "E_ANSWER_JSON"),
    "no value": ('{"template": }', "E_ANSWER_JSON"),
    "deep nesting": ('{"template": ' * 5000, "E_ANSWER_JSON"),
    "cut off": (CUT, "E_ANSWER_JSON"),
    "a law that is cut in a number": (f"[{changed(quantifiers={'T': 64})[:-3]}", "E_ANSWER_JSON"),
    "a law that is cut in its last text": (f"[{ONE[:-12]}", "E_ANSWER_JSON"),
    "a law with a key twice": (f'{ONE[:-1]}, "law_id": "another"}}', "E_ANSWER_JSON"),
    "a law with a word beside its keys": (f"{ONE[:-1]}, oops}}", "E_ANSWER_JSON"),
    "a law with a key without quotes": (ONE.replace('"template"', "template"), "E_ANSWER_JSON"),
    "too much": ("x" * (MOST_CHARACTERS + 1), "E_ANSWER_SIZE"),
}


@pytest.mark.parametrize(("text", "code"), REJECTED.values(), ids=REJECTED)
def test_what_is_no_law_is_rejected_with_a_reason_of_the_engine(parse, text, code):
    result = parse(text)
    assert result.laws == ()
    shown, reason = result.rejections[-1]
    assert reason.startswith(code)
    assert reason.partition(":")[0] in codes()
    assert len(canonical_bytes(shown)) < 8_000


def test_a_rejection_carries_the_object_or_its_beginning(parse):
    (whole, _), (cut, _), (large, _) = parse(
        f"[{changed(forbidden='')}, {{'a': 1}}, {changed(claim='x' * 5000)}"
    ).rejections
    assert whole == LAW | {"forbidden": ""}
    assert cut["excerpt"].startswith("{'a': 1}")
    assert large["size"] > 5000
    assert large["excerpt"].startswith('{"claim":"xxx')


def denied(times):
    claim = LAW["claim_ast"]
    for _ in range(times):
        claim = {"op": "not", "arg": claim}
    return claim


@pytest.mark.medium
def test_whatever_a_model_answers_fits_into_a_row_and_a_receipt(parse):
    """What is kept of an answer stands inside other containers: the wrapping is that of a row, and more."""
    for times in range(MAX_DEPTH):
        result = parse(f"[{changed(claim_ast=denied(times))}]")
        held = [law.document for law in result.laws] + [shown for shown, _ in result.rejections]
        assert canonical_bytes({"body": {"proposal": {"rejections": [{"object": held}]}}})


@pytest.mark.slow
def test_an_answer_of_escapes_gives_no_receipt_that_is_too_long(parse):
    tag = "\U000e0001" * 280
    one = LAW | {tag + str(number): 1 for number in range(6)}
    result = parse(json.dumps([one] * MOST_OBJECTS, ensure_ascii=False))
    assert len(result.rejections) == MOST_OBJECTS
    assert len(canonical_bytes(list(result.rejections))) < MAX_LINE // 2


BETWEEN = {
    "a broken one": "{'template': 5}",
    "one with a word in it": '{"template": "invariant", oops}',
    "one that is cut off by the next bracket": '{"template": "invariant", "observables": [',
    "one with a bracket too many": '{"template": "invariant"]',
}


@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_laws_around_a_broken_one_are_read(parse, between):
    result = parse(f"[{ONE}, {between}, {ONE}]")
    assert len(result.laws) == 2
    assert [reason.partition(":")[0] for _, reason in result.rejections] == ["E_ANSWER_JSON"]


def test_a_cut_answer_gives_its_whole_laws_and_the_rest_as_a_rejection(parse):
    result = parse(f"[{ONE}, {ONE}, {CUT}")
    assert len(result.laws) == 2
    ((shown, reason),) = result.rejections
    assert reason.startswith("E_ANSWER_JSON")
    assert shown["excerpt"].startswith('{"law_id": "momentum"')


def test_string_claims_are_read_with_a_warning_and_refused_strictly(parse):
    result = parse(WORDS)
    assert result.laws[0].plan.law.claim == parse(ONE).laws[0].plan.law.claim
    assert "W_LAW_STRING" in result.warnings[0]
    assert parse(WORDS, strict=True).rejections[0][1].startswith("E_LAW_STRING")
    assert "W_LAW_STRING" in parse(WORDS.replace("(t)", "")).warnings[0]


def test_what_is_not_the_proposers_is_left_out_or_refused(parse):
    text = changed(mutations=100_000, cases=10_000, seed=7, expect={"status": "PROVED"}, universe="another")
    (read,) = parse(text).laws
    assert read.document == LAW
    assert read.plan.expected is None
    assert (read.plan.law.cases, read.plan.law.mutations, read.plan.law.seed) == (300, 1500, 42)
    assert "`mutations`" in parse(text).warnings[0]
    assert parse(text, strict=True).rejections[0][1].startswith("E_ANSWER_KEY")


@pytest.mark.medium
def test_of_ten_thousand_objects_the_first_are_looked_at(parse):
    result = parse("[" + ",".join(["{}"] * 10_000) + "]")
    assert len(result.rejections) == MOST_OBJECTS + 1
    assert result.rejections[-1][1].endswith(
        f"this object and {10_000 - MOST_OBJECTS - 1} more after {MOST_OBJECTS} others"
    )


HOSTILE = {
    "brackets": "[" * 300_000,
    "objects in objects": '{"a":' * 60_000,
    "lists and objects": '[{"a":' * 50_000 + "}]" * 50_000,
    "closing brackets": "[{" + "]" * 150_000 + "}" * 150_000,
    "quotes": '[{"' + '"' * 300_000,
    "quotes that are not closed": ('["' + "a" * 40 + "\n") * 7_000,
    "escapes": '[{"' + '\\"' * 150_000,
    "comments that are not closed": "[/*" * 100_000,
    "backticks": "[`" * 150_000,
    "space": "[{" + " " * 300_000,
    "wrappers": '{"laws":[' * 33_000,
    "broken laws": '[{"template":x},' * 18_000,
    "laws in broken laws": '[{"template" {"template":[' * 11_000,
    "digits": "[{" + "1" * 300_000,
}


@pytest.mark.medium
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_answer_is_read_once_and_no_law_comes_of_it(parse, text):
    result = parse(text)
    assert result.laws == ()
    assert len(result.rejections) <= MOST_OBJECTS + 1


# The reader alone

PIECES = {
    "strings hold anything": ('[{"a": "}],/*//`"}]', [Found({"a": "}],/*//`"})]),
    "escapes": (r'[{"a": "\u0041\ud83d\ude00\n\/"}]', [Found({"a": "A\U0001f600\n/"})]),
    "words and numbers": ('[{"a": [true, false, null, -0, 12, 1.5]}]', [Found({"a": [True, False, None, 0, 12, 1.5]})]),
    "a marked object in a broken one": (
        '{"x" {"m": 1}}',
        [Broken('{"x" {"m": 1}}', "no JSON: `{` where a colon is due, at character 5"), Found({"m": 1}, (DROPPED,))],
    ),
    "a comma for a colon": (
        '{"x", "m": 1}',
        [Broken('{"x", "m": 1}', "no JSON: `,` where a colon is due, at character 4")],
    ),
    "a colon for a value": ('{"m": : 1}', [Broken('{"m": : 1}', "no JSON: `:` where a value is due, at character 6")]),
    "an unmatched bracket in prose": ('in [0, T) or so: [{"m": 1}]', [Found({"m": 1})]),
    "a closing bracket too many": ('[{"m": 1}]]}', [Found({"m": 1})]),
}


@pytest.mark.parametrize(("text", "pieces"), PIECES.values(), ids=PIECES)
def test_pieces(text, pieces):
    assert read_values(text, "laws", "m") == pieces
