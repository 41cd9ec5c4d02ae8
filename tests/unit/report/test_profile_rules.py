"""What a profile asks of receipts and of their verification: each way to ask, each answer, and what is refused."""

import json
from xml.etree import ElementTree

import pytest

from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.kinds import KINDS, load
from specledger.report.model import Receipt, Report
from specledger.report.outcome import Outcome
from specledger.report.profile import judge
from specledger.report.profile_answers import Answers
from specledger.report.profile_joins import with_joins
from specledger.report.profile_rules import check_profile, questions_of
from specledger.verify.checks import Verification
from tests.unit.report.rendering import subject_of, summary_of, text_of

HEAD = "spec: profile/v1\nname: rules\nsource: Rules\ncontrols:\n"
CHAIN = "receipts form one hash chain"
ALL = KINDS


@pytest.fixture
def asked(tmp_path):
    """A profile of which each control has one piece of evidence."""

    def make(*evidence):
        rows = [
            f"  - {{id: c{n}, section: s, says: it must, status: shown, evidence: [{{{one}}}]}}\n"
            for n, one in enumerate(evidence)
        ]
        (tmp_path / "rules.yaml").write_text(HEAD + "".join(rows), encoding="utf-8")
        return load(tmp_path / "rules.yaml", kind="profile")[0]

    return make


STATED = """spec: profile/v1
name: rules
source: Rules
params: {few: {type: int, default: 3}}
use: [./shared.yaml]
constants: {FEW: "${few}", MANY: 1000}
functions: {between: {args: [n, low, high], is: n >= low && n <= high}}
controls:
  - {id: c, section: s, says: it must, status: shown, evidence: [{EVIDENCE}]}
"""
SHARED = "spec: library/v1\nname: shared\nconstants: {LIMIT: 500}\nfunctions: {small: {args: [n], is: n < LIMIT}}\n"

NAMED = {
    "counts of a scenario": ("kind: scenario, figures: [steps, episodes], require: steps >= episodes", "passed", ""),
    "a constant, a parameter and a function": (
        "kind: scenario, figures: [steps], require: 'between(steps, FEW, MANY) && small(FEW)'",
        "passed",
        "",
    ),
    "one that is broken": ("kind: scenario, figures: [steps], require: steps < FEW - 3", "failed", ""),
    "where it is asked": (
        "kind: scenario, figures: [steps], when: steps < 0, require: steps < 0",
        "not applicable",
        "",
    ),
    "one that is not there": (
        "kind: scenario, figures: [stps], require: stps > 0",
        "cannot tell",
        "the bundle has no figure `stps`; did you mean `steps`?",
    ),
}


@pytest.mark.medium
@pytest.mark.parametrize(("evidence", "outcome", "why"), NAMED.values(), ids=NAMED)
def test_named_figures_constants_functions_and_libraries_are_read(evidence, outcome, why, tmp_path, trap, heights):
    (tmp_path / "shared.yaml").write_text(SHARED, encoding="utf-8")
    (tmp_path / "rules.yaml").write_text(STATED.replace("EVIDENCE", evidence), encoding="utf-8")
    profile = load(tmp_path / "rules.yaml", kind="profile")[0]
    found = [subject_of(place, questions_of(profile, ALL)) for place in (trap, heights)]
    (control,) = judge(profile, found, None).controls
    assert control.outcome == outcome
    (check,) = [check for check in found[0].checks if check.id == "bundle/c.1"]
    assert why in check.why


def test_a_figure_of_a_suite_is_read_by_its_name(asked, heights):
    subject = subject_of(heights, ())
    named = {figure["figure"]: figure["groups"][0] for figure in subject.reading.figures if len(figure["groups"]) == 1}
    name = next(name for name, group in named.items() if not group["name"] and "value" in group)
    profile = asked(f"kind: suite, figures: [{name}], require: {name} == {named[name]['value']}")
    found = [subject_of(heights, questions_of(profile, ALL))]
    assert judge(profile, found, None).controls[0].outcome == "passed"


GROUPS = {
    "each group of two arms": (
        "figures: [hits_a_high, hits_low], require: hits_a_high == 4 && hits_low == 5",
        "passed",
        "",
    ),
    "a rule that is broken": ("figures: [hits_low], require: hits_low < 5", "failed", ""),
    "one without groups": ("figures: [total], require: total == 9", "passed", ""),
    "a figure of groups by its name alone": ("figures: [hits], require: hits > 0", "cannot tell", "no figure `hits`"),
    "two groups that read alike": (
        "figures: [twins_a_b], require: twins_a_b > 0",
        "cannot tell",
        "no figure `twins_a_b`",
    ),
    "a group without a value": ("figures: [hits_none], require: hits_none == 0", "cannot tell", "did you mean"),
    "of the bundle": ("require: bundle.figures.hits_low == 5 && bundle.figures.total == 9", "passed", ""),
}


@pytest.mark.parametrize(("evidence", "outcome", "why"), GROUPS.values(), ids=GROUPS)
def test_a_figure_of_groups_is_read_by_the_name_of_each(evidence, outcome, why, asked):
    answers = Answers(questions_of(asked(evidence), ALL), "heights", "suite")
    groups: dict[str, list[tuple[str, int | None]]] = {
        "hits": [("a-high", 4), ("low", 5), ("none", None)],
        "twins": [("a-b", 1), ("a_b", 2)],
        "total": [("", 9)],
    }
    for seq, (figure, values) in enumerate(groups.items()):
        rows = [{"name": name, "value": value} for name, value in values]
        answers.add(Receipt(seq, b"", "figure", {"figure": figure, "groups": rows, "error": None}))
    (check,) = answers.checks("key", Verification(), {"figures": answers.figures_of({}), "result": {}})
    assert check.outcome == outcome
    assert why in check.why


@pytest.mark.parametrize(
    ("evidence", "code"),
    [
        ("receipts: step, figures: [steps], require: steps > 0", "E_SPEC_VALUE"),
        ("check: progress, figures: [steps]", "E_SPEC_VALUE"),
        ("figures: [steps], require: stps > 0", "E_EXPR_UNKNOWN_NAME"),
        ("figures: [steps], require: steps", "E_EXPR_TYPE"),
    ],
)
def test_figures_in_a_wrong_form_are_refused(evidence, code, asked):
    with pytest.raises(Rejected) as rejected:
        questions_of(asked(evidence), ALL)
    assert {finding.code for finding in rejected.value.diagnostics} == {code}


JOINS = {
    "all of them": ("require: \"bundles.all(b, b.figures.episodes >= 0 || b.kind == 'suite')\"", "passed", [0]),
    "one that is missing": ("require: \"bundles.exists(b, b.name == 'nowhere')\"", "failed", [0]),
    "a count of them": ("require: \"size(bundles.filter(b, b.kind == 'scenario')) == 1\"", "passed", [0]),
    "each beside the others": ('require: "bundles.exists(b, b.name != bundle.name)"', "passed", [0, 1]),
    "one beside another by name": (
        "of: heights, require: \"bundles.exists(b, b.name == 'concave' && b.figures.steps > 0 && bundle.figures.high >= 0)\"",
        "passed",
        [1],
    ),
    "where it is asked": (
        "when: bundle.kind == 'law', require: \"bundles.exists(b, b.name == bundle.name)\"",
        "not applicable",
        [0, 1],
    ),
    "a figure that one lacks": ('require: "bundles.all(b, b.figures.high >= 0)"', "cannot tell", [0]),
}


@pytest.mark.parametrize(("evidence", "outcome", "where"), JOINS.values(), ids=JOINS)
def test_a_rule_over_several_bundles(evidence, outcome, where, asked, trap, heights):
    profile = asked(evidence)
    questions = questions_of(profile, ALL)
    found = with_joins([subject_of(place, questions) for place in (trap, heights)], questions)
    (control,) = judge(profile, found, None).controls
    assert (control.outcome, [row.subject for row in control.rows]) == (outcome, where)
    once = "bundle." not in evidence
    assert [row.joint for row in control.rows] == [once] * len(where)
    assert ("of all bundles: " in control.evidence_text(["trap", "heights"])) == once
    assert (" in trap: " in control.evidence_text(["trap", "heights"])) == (not once and 0 in where)


WRONG_JOINS = {
    "a rule of receipts": (
        "receipts: step, require: \"bundles.all(b, b.verdict == 'PASS')\"",
        "asked of no receipt",
        "receipts",
    ),
    "what only one has": (
        "require: \"bundles.all(b, b.verdict == 'PASS') && run.replayed\"",
        "reads `run`, too",
        "require",
    ),
    "figures by their names": ("figures: [steps], require: 'bundles.all(b, steps > 0)'", "figure", "figures"),
    "a kind of all": (
        "kind: scenario, require: \"bundles.all(b, b.verdict == 'PASS')\"",
        "asked once of all",
        "kind",
    ),
    "a spec of all": ("of: trap, require: 'size(bundles) > 0'", "asked once of all", "of"),
}


@pytest.mark.parametrize(("evidence", "message", "key"), WRONG_JOINS.values(), ids=WRONG_JOINS)
def test_a_rule_over_several_bundles_in_a_wrong_form(evidence, message, key, asked, tmp_path):
    with pytest.raises(Rejected) as rejected:
        questions_of(asked(evidence), ALL)
    (finding,) = rejected.value.diagnostics
    assert finding.code == "E_PROFILE_BUNDLES"
    assert message in finding.message
    assert finding.hint
    assert finding.span is not None
    line = (tmp_path / "rules.yaml").read_text(encoding="utf-8").splitlines()[finding.span.start.line - 1]
    written = line[finding.span.start.column - 1 :]
    assert key in line[: finding.span.start.column + len(key)], written


def test_a_misspelt_field_of_a_bundle_is_found(asked):
    with pytest.raises(Rejected) as rejected:
        questions_of(asked("require: \"bundles.all(b, b.verdct == 'PASS')\""), ALL)
    (finding,) = rejected.value.diagnostics
    assert (finding.code, "verdict" in (finding.hint or "")) == ("E_EXPR_UNKNOWN_FIELD", True)


@pytest.fixture
def judged(asked, trap, heights):
    """The report of a run and a suite, and of a profile of these pieces of evidence."""

    def make(*evidence):
        profile = asked(*evidence)
        found = [subject_of(place, questions_of(profile, ALL)) for place in (trap, heights)]
        return Report(tuple(found), judge(profile, found, None))

    return make


TABLE = {
    "it holds": ("receipts: step, require: 'body.t >= 0'", "passed", [0]),
    "it does not": ("receipts: step, require: 'body.t < 3'", "failed", [0]),
    "where it is asked": ("receipts: step, when: 'body.t < 3', require: 'body.t < 3'", "passed", [0]),
    "where it is never asked": ("receipts: step, when: 'body.t < 0', require: 'body.t < 0'", "not applicable", [0]),
    "compared with the start": ("receipts: drift, require: 'body.t in start.drifts[0].schedule'", "passed", [0]),
    "a figure that is not there": ("receipts: step, require: 'body.record.nothing > 0'", "cannot tell", [0]),
    "a condition without value": ("receipts: step, when: 'body.record', require: 'body.t > 0'", None, []),
    "one that can be told to fail": (
        "receipts: step, require: 'body.t < 3 || body.record.nothing > 0'",
        "cannot tell",
        [0],
    ),
    "of both bundles": ("receipts: start, require: 'size(body.specs) == 64'", "passed", [0, 1]),
    "of one kind": ("receipts: start, kind: suite, require: 'body.runs == 2'", "passed", [1]),
    "of one name": ("receipts: start, of: concave, require: 'body.horizon == 100'", "passed", [0]),
    "of another kind": ("receipts: start, kind: law, require: 'true || body.law == start.law'", "untested", [None]),
    "of another name": ("receipts: step, of: hazard, require: 'body.t >= 0'", "untested", [None]),
    "of a type of another kind": ("receipts: verdict, require: 'size(body.digest) > 0'", "untested", [None]),
    "an aggregate": (
        "require: \"size(receipts.filter(r, r.type == 'step' && r.body.violations == [])) == bundle.result.steps\", kind: scenario",
        "passed",
        [0],
    ),
    "of the whole bundle": (
        "require: \"bundle.verdict == 'PASS' && bundle.name == 'concave'\", of: concave",
        "passed",
        [0],
    ),
    "a whole bundle where it is asked": (
        "when: \"bundle.kind == 'suite'\", require: bundle.result.runs == 2, kind: scenario",
        "not applicable",
        [0],
    ),
    "a condition of a declared type": ("receipts: step, when: body.success, require: 'body.t > 0'", "passed", [0]),
    "of the whole bundle, and not": ("require: size(receipts) < 10, of: concave", "failed", [0]),
    "of every bundle": ("require: 'size(receipts) > 0 && receipts[0].seq == 0'", "passed", [0, 1]),
    "receipts of one run joined": (
        "receipts: step, require: \"receipts.exists(r, r.type == 'commit' && r.body.episode == body.episode && r.body.t == body.t)\"",
        "passed",
        [0],
    ),
    "a join that fails": (
        "receipts: step, require: \"receipts.exists(r, r.type == 'drift' && r.body.t == body.t)\"",
        "failed",
        [0],
    ),
    "replay that was not made": ("require: run.replayed, kind: scenario", "cannot tell", [0]),
    "a result that has no such figure": ("require: bundle.result.nothing == 1, kind: scenario", "cannot tell", [0]),
    "what a spec states": ("require: \"specs['scenario/concave'].horizon == 100\", of: concave", "passed", [0]),
    "what it states by default": (
        "require: \"specs['scenario/concave'].turns == 'order'\", of: concave",
        "passed",
        [0],
    ),
    "what it refers to": (
        "require: \"specs['scenario/concave'].world == 'world/governed-gridworld'\", of: concave",
        "passed",
        [0],
    ),
    "a spec that states something else": (
        "require: \"specs['scenario/concave'].horizon == 101\", of: concave",
        "failed",
        [0],
    ),
    "a spec that a bundle does not have": (
        "require: \"specs['scenario/maze'].horizon == 100\", of: concave",
        "cannot tell",
        [0],
    ),
    "a receipt compared with a spec": (
        "receipts: start, require: \"body.horizon == specs['scenario/concave'].horizon\", of: concave",
        "passed",
        [0],
    ),
    "verified": (f"verified: {CHAIN}", "passed", [0, 1]),
    "not made": ("verified: replay gives the same bytes, kind: scenario", "untested", [0]),
    "verified of one kind": (f"verified: {CHAIN}, kind: suite", "passed", [1]),
    "a check of one kind": ("check: evaluation, kind: suite", "passed", [1]),
}


@pytest.mark.parametrize(("evidence", "outcome", "subjects"), TABLE.values(), ids=TABLE)
def test_what_bundles_answer(evidence, outcome, subjects, judged):
    if outcome is None:
        with pytest.raises(Rejected, match="E_EXPR_TYPE"):
            judged(evidence)
        return
    (control,) = judged(evidence).judgement.controls
    assert (control.outcome, [row.subject for row in control.rows]) == (outcome, subjects)


def test_an_answer_names_the_receipts_that_it_rests_on(judged):
    report = judged("receipts: step, require: 'body.t != 7'", "receipts: step, require: 'body.t >= 0'")
    failed, held = (check for check in report.subjects[0].checks if check.id.startswith("receipts/"))
    assert (failed.opportunities, failed.failures, [seen.t for seen in failed.observations]) == (100, 1, [7])
    assert (held.failures, [seen.what for seen in held.observations]) == (0, ["holds"] * 3)
    assert [seen.t for seen in held.observations] == [0, 1, 2]


@pytest.mark.parametrize(
    "evidence",
    [
        "of: concave",
        "check: progress, verified: all is well",
        "check: progress, receipts: step, require: 'body.t > 0'",
        "receipts: step",
        "when: 'run.replayed'",
        "verified: receipts form one hash chain, require: 'run.replayed'",
        "check: progress, when: 'body.t > 0'",
        "receipts: Step, require: 'body.t > 0'",
        "check: progress, kind: world",
    ],
)
def test_evidence_that_says_too_little_or_too_much_is_refused(evidence, asked):
    with pytest.raises(Rejected):
        asked(evidence)


@pytest.mark.parametrize(
    ("evidence", "code", "hint"),
    [
        ("receipts: step, require: 'body.t +'", "E_EXPR_SYNTAX", ""),
        ("receipts: step, require: 'state.t > 0'", "E_EXPR_UNKNOWN_NAME", ""),
        ("receipts: step, require: 'body.t'", "E_EXPR_TYPE", ""),
        ("receipts: step, when: 'size(body)', require: 'body.t > 0'", "E_EXPR_TYPE", ""),
        ("receipts: step, require: 'body.choosen != null'", "E_EXPR_UNKNOWN_FIELD", "did you mean `chosen`?"),
        ("receipts: step, require: 'body.decisions.all(d, d.reject == [])'", "E_EXPR_UNKNOWN_FIELD", ""),
        ("receipts: drift, require: 'body.t in start.drifts[0].scedule'", "E_EXPR_UNKNOWN_FIELD", ""),
        ("receipts: start, kind: suite, require: 'body.horizon > 0'", "E_EXPR_UNKNOWN_FIELD", ""),
        ("receipts: stepp, require: 'body.t > 0'", "E_PROFILE_UNKNOWN", "did you mean `step`?"),
        ("receipts: step, kind: law, require: 'body.t > 0'", "E_PROFILE_UNKNOWN", ""),
        ("verified: receipts form a hash chain", "E_PROFILE_UNKNOWN", f"did you mean `{CHAIN}`?"),
    ],
)
def test_an_expression_that_is_wrong_is_found_at_its_place(evidence, code, hint, asked):
    with pytest.raises(Rejected) as rejected:
        questions_of(asked(evidence), ALL)
    (found,) = rejected.value.diagnostics
    assert found.span is not None
    assert (found.code, found.span.start.line) == (code, 5)
    assert hint in (found.hint or "")


def test_what_always_comes_out_the_same_is_warned_of(asked):
    found = Diagnostics()
    assert len(check_profile(asked("receipts: step, require: '1 > 0'").main, ALL, found)) == 1
    assert [one.code for one in found.sorted()] == ["W_PROFILE_CONSTANT"]


@pytest.mark.medium
def test_every_format_tells_which_bundle_showed_it(judged, trap):
    report = judged("receipts: start, require: 'has(body.suite)'", "receipts: step, require: 'body.t >= 0'")
    words = "receipts/c0.1 in concave: failed; receipts/c0.1 in heights: passed"
    assert words in summary_of(report)
    assert words in text_of("github", report)
    (failure,) = ElementTree.fromstring(text_of("junit", report)).findall(".//testcase[@name='c0']/failure")
    assert words in failure.attrib["message"]
    assert words in text_of("sarif", report)
    assert [row["subject"] for row in json.loads(text_of("json", report))["profile"]["controls"][0]["evidence"]] == [
        0,
        1,
    ]
    *bundles, profile = json.loads(text_of("oscal", report))["assessment-results"]["results"]
    observed = [one["uuid"] for result in bundles for one in result["observations"] if one["title"] == "receipts/c0.1"]
    assert len(set(observed)) == 2
    assert [one["observation-uuid"] for one in profile["findings"][0]["related-observations"]] == observed
    page = text_of("html", report)
    assert 'href="#bundles.heights">receipts/c0.1 in heights: passed</a>' in page.replace("<bdi>", "").replace(
        "</bdi>", ""
    )
    for row in ("asked.c0.1", "asked.c1.1"):
        assert f'id="{row}"' in page
        assert f'href="#{row}"' in page
    assert report.judgement.controls[0].outcome is Outcome.FAILED
