"""JUnit, SARIF, OSCAL and GitHub's commands: what they hold, and that no text of the evidence becomes anything else."""

import json
import re
import uuid
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes
from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.report.control import Control, Judgement, Match, Waiver
from specledger.report.formats import FORMATS
from specledger.report.formats.github import MOST_OF_A_TYPE
from specledger.report.formats.oscal import EPOCH, token
from specledger.report.model import Check, Observation, Report
from specledger.report.outcome import Outcome
from tests.toys import CLIMB
from tests.unit.report.rendering import made_up, read, report_of, text_of

DIGEST = "ab" * 32
HOSTILE = [
    "<script>alert(1)</script>",
    "a]]>b<![CDATA[c",
    "&amp;&#0;&evil;",
    '" onload="x',
    "one\r\n::error::two",
    "%0A::set-output name=x::y",
    "##[error]old",
    "a\x00b\x1b[31mred\x1b[0m\x0b\ufffe\uffff",
    "left\u202eright\u2066\u200b",
    "`tick` | pipe ``` \\",
    "long " * 2000,
    "-- ![x](http://x) [y](javascript:z)",
]
OUTCOMES = list(Outcome)


def check(id_="invariant/kept", outcome=Outcome.PASSED, says="it is kept", seen=(), why=""):
    failures = int(outcome is Outcome.FAILED)
    return Check(id_, says, "invariant/kept@0123456789abcdef", outcome, 9, failures, why, observations=tuple(seen))


def observation(what="broken", detail="{}", run=None, episode=0, t=3, seq=7):
    return Observation(what, detail, run, episode, t, seq, DIGEST)


def subject(*checks, name="walk", doc="A walk."):
    return made_up(name, *checks, doc=doc, verdict="FAIL")


def control(id_="c-1", outcome=Outcome.PASSED, waiver=None, rows=(), why=""):
    return Control(id_, "Section", "it must", "shown", outcome, why, tuple(rows), (), waiver, ())


def judged(*controls):
    return Judgement("profile-a", "A source", "", DIGEST, "2026-01-31", controls)


EACH = Report((subject(*(check(f"invariant/{n}", outcome) for n, outcome in enumerate(OUTCOMES))),))
WAIVER = Waiver("Owner", "because", "2026-02-01", "active")
PROFILE = Report(
    (subject(check(), check("probe/p", Outcome.FAILED, seen=[observation()])),),
    judged(
        control("one", Outcome.PASSED, rows=[Match("invariant/kept", 0, Outcome.PASSED)]),
        control("two", Outcome.FAILED, rows=[Match("probe/p", 0, Outcome.FAILED)]),
        control("three", Outcome.FAILED, waiver=WAIVER),
        control("four", Outcome.FAILED, waiver=replace(WAIVER, state="expired")),
        control("five", Outcome.UNTESTED, rows=[Match("law/x", None, Outcome.UNTESTED)]),
    ),
)


def hostile(text):
    """A report in which a text stands wherever evidence or a spec can put one."""
    seen = observation(text, text, run=text)
    checks = [check(f"invariant/{text}"[:200], outcome, text, [seen], why=text) for outcome in OUTCOMES]
    waiver = Waiver(text, text, "2026-02-01", "active")
    controls = [
        control(outcome=outcome, waiver=waiver, why=text, rows=[Match(text, 0, outcome)]) for outcome in OUTCOMES
    ]
    return Report((subject(*checks, name="walk", doc=text),), judged(*controls))


@pytest.mark.parametrize("name", FORMATS)
def test_every_row_of_the_table_writes_a_run(name, trap):
    made = FORMATS[name].write(report_of(trap))
    assert any((made.text, made.summary, made.files))
    assert bool(made.files) == FORMATS[name].folder


# JUnit


def test_junit_says_how_each_check_ended_and_what_the_root_is():
    tree = ElementTree.fromstring(text_of("junit", EACH))
    (suite,) = tree
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "7", "failures": "1", "errors": "1", "skipped": "3"
    }  # fmt: skip
    assert {each.get("name"): each.get("value") for each in suite.iter("property")}[
        "specledger.receipts.root"
    ] == "ef" * 32
    ends = {case.get("name"): [inner.tag for inner in case] for case in suite.iter("testcase")}
    assert list(ends.values()) == [[], ["skipped"], ["failure"], ["error"], ["skipped"], ["skipped"], []]
    assert list(ends)[-1] == "replay"


@pytest.mark.parametrize("text", HOSTILE)
def test_junit_is_well_formed_whatever_evidence_says(text):
    written = text_of("junit", hostile(text))
    tree = ElementTree.fromstring(written)
    assert {element.tag for element in tree.iter()} == {
        "testsuites", "testsuite", "properties", "property", "testcase", "failure", "error", "skipped"
    }  # fmt: skip
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069\ufffe\uffff]", written)


# SARIF


def objects(value, path=()):
    if isinstance(value, list):
        for each in value:
            yield from objects(each, path)
    elif isinstance(value, dict):
        yield path, value
        for key, inner in value.items():
            yield from objects(inner, (*path, key))


@pytest.mark.parametrize("report", [EACH, PROFILE, *map(hostile, HOSTILE)])
def test_a_result_of_sarif_has_a_rule_and_a_level_that_its_kind_allows(report):
    """The schema of the standard, which `tests/conformance` has, says what else it requires."""
    log = json.loads(text_of("sarif", report))
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["kind"] in ("fail", "open", "review")
            assert result["level"] == "none" if result["kind"] != "fail" else result["level"] in ("error", "warning")


def test_sarif_has_a_rule_for_every_check_and_a_result_for_what_needs_a_look():
    (run,) = json.loads(text_of("sarif", EACH))["runs"]
    assert len(run["tool"]["driver"]["rules"]) == len([*OUTCOMES, "replay"])
    assert [result["properties"]["outcome"] for result in run["results"]] == [
        "differs",
        "failed",
        "cannot tell",
        "untested",
    ]


def test_a_fingerprint_is_of_the_finding_and_not_of_the_digests():
    def prints(report):
        return [
            result["partialFingerprints"]["specledger/v1"]
            for result in json.loads(text_of("sarif", report))["runs"][0]["results"]
        ]

    one = Report((subject(check(outcome=Outcome.FAILED, seen=[observation(t=3), observation(t=4)])),))
    moved = replace(one.subjects[0], manifest={**one.subjects[0].manifest, "run": "01" * 16, "specs": "02" * 32})
    other = replace(one.subjects[0].checks[0], spec="invariant/kept@ffffffffffffffff")
    assert len(set(prints(one))) == 2
    assert prints(one) == prints(Report((moved,))) == prints(Report((replace(moved, checks=(other,)),)))


def test_sarif_points_into_a_file_only_where_the_user_said_where_specs_lie(tmp_path):
    (tmp_path / "invariant").mkdir()
    report = Report((subject(check(outcome=Outcome.FAILED)),))
    places = [json.loads(text_of("sarif", report, sources=tmp_path))["runs"][0]["results"][0]["locations"][0]]
    (tmp_path / "invariant" / "kept.yaml").write_text("")
    places.append(json.loads(text_of("sarif", report, sources=tmp_path))["runs"][0]["results"][0]["locations"][0])
    assert "physicalLocation" not in places[0]
    assert places[1]["physicalLocation"]["artifactLocation"]["uri"] == (tmp_path / "invariant" / "kept.yaml").as_posix()


def test_sarif_points_into_the_sources_of_a_bundle_that_is_a_folder(tmp_path, monkeypatch):
    (bundle,) = load(CLIMB / "climb.yaml", set=["governor.invariants.bounded.with.top=1"])
    monkeypatch.chdir(tmp_path)
    place = execute(bundle, Path("out")).place
    unpacked = replace(read(place), name="out-in-one-file")
    found = [json.loads(text_of("sarif", report_of(one)))["runs"][0]["results"][0] for one in (place, unpacked)]
    uris = [one["locations"][0].get("physicalLocation", {}).get("artifactLocation", {}).get("uri") for one in found]
    assert uris == ["out/specs/invariant/bounded.yaml", None]


def test_a_waived_control_is_no_failure_and_an_expired_waiver_waives_nothing():
    cases = ElementTree.fromstring(text_of("junit", PROFILE)).iter("testcase")
    ends = {
        case.get("name"): [inner.tag for inner in case] for case in cases if "profile" in str(case.get("classname"))
    }
    assert ends == {"one": [], "two": ["failure"], "three": ["skipped"], "four": ["failure"], "five": ["skipped"]}
    run = json.loads(text_of("sarif", PROFILE))["runs"][1]
    assert [result["ruleId"] for result in run["results"] if "suppressions" in result] == ["three"]
    types = [[line.split(" ")[0] for line in text_of("github", one).splitlines()] for one in (PROFILE, EACH)]
    assert types[0] == ["::error", "::error", "::error", "::notice", "::notice"]
    assert types[1] == ["::error", "::warning", "::notice", "::notice"]


# OSCAL

OSCAL_REQUIRED = {
    (): {"uuid", "metadata", "import-ap", "results"},
    ("metadata",): {"title", "last-modified", "version", "oscal-version"},
    ("import-ap",): {"href"},
    ("results",): {"uuid", "title", "description", "start", "reviewed-controls"},
    ("results", "reviewed-controls"): {"control-selections"},
    ("results", "reviewed-controls", "control-selections", "include-controls"): {"control-id"},
    ("results", "observations"): {"uuid", "description", "methods", "collected"},
    ("results", "observations", "relevant-evidence"): {"description"},
    ("results", "findings"): {"uuid", "title", "description", "target"},
    ("results", "findings", "target"): {"type", "target-id", "status"},
    ("results", "findings", "target", "status"): {"state"},
    ("results", "findings", "related-observations"): {"observation-uuid"},
    ("results", "props"): {"name", "value"},
}
TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


@pytest.mark.parametrize("report", [EACH, PROFILE, *map(hostile, HOSTILE)])
@pytest.mark.parametrize("date", [None, "2026-01-31"])
def test_oscal_has_what_the_schema_requires(report, date):
    held = json.loads(text_of("oscal", report, date=date))["assessment-results"]
    named = []
    for path, value in objects(held):
        assert value.keys() >= OSCAL_REQUIRED.get(path, set()), path
        named += [value["uuid"]] if "uuid" in value else []
        for key in ("last-modified", "start", "collected"):
            assert value.get(key, f"{date or EPOCH}T00:00:00Z") == f"{date or EPOCH}T00:00:00Z"
        for key in ("target-id", "control-id"):
            assert TOKEN.fullmatch(value.get(key, "a"))
        assert all(inner for inner in value.values() if isinstance(inner, list)), "a list in OSCAL is never empty"
    assert {uuid.UUID(one).version for one in named} == {5}
    observed = {one["uuid"] for result in held["results"] for one in result.get("observations", ())}
    related = [one["observation-uuid"] for _, one in objects(held) if "observation-uuid" in one]
    assert set(related) <= observed


def test_oscal_is_the_same_again_and_another_of_another_date():
    assert (
        text_of("oscal", PROFILE, date="2026-01-31")
        == text_of("oscal", PROFILE, date="2026-01-31")
        != text_of("oscal", PROFILE, date="2026-02-01")
    )
    assert "No date was given" in text_of("oscal", EACH)
    assert "No date was given" not in text_of("oscal", EACH, date="2026-01-31")


def test_only_what_passed_is_satisfied_in_oscal():
    (result,) = json.loads(text_of("oscal", EACH))["assessment-results"]["results"]
    states = [(one["target"]["status"]["state"], one["target"]["status"]["reason"]) for one in result["findings"]]
    other = ("not-satisfied", "other")
    assert states == [("satisfied", "pass"), other, ("not-satisfied", "fail"), *[other] * 3]


def test_tokens_of_different_texts_differ():
    texts = ["a/b", "a.b", "a b", "a:b", "1a", "_1a", "\u00e9", *HOSTILE]
    assert len({token(text) for text in texts}) == len(texts)


# GitHub


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_evidence_says_an_annotation_is_one_command(text):
    lines = text_of("github", hostile(text)).split("\n")
    assert lines.pop() == ""
    for line in lines:
        assert re.fullmatch(r"::(error|warning|notice) title=[^:,]*::.*", line)
        assert not re.search(r"[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]", line)
        assert not re.search(r"%(?!25|3A|2C)", line)


def test_at_most_as_many_annotations_as_are_shown_and_the_last_counts_the_others():
    many = [check(f"invariant/{n}", Outcome.FAILED) for n in range(MOST_OF_A_TYPE + 5)]
    few = text_of("github", Report((subject(*many[:MOST_OF_A_TYPE]),))).splitlines()
    lines = text_of("github", Report((subject(*many),))).splitlines()
    assert len(few) == len(lines) == MOST_OF_A_TYPE
    assert "6 more" in lines[-1]
    assert "more" not in few[-1]


WAIVED_BY = "WAIVED (failed) by Owner until 2026-02-01: because"
SAME = Match("probe/p", 0, Outcome.FAILED)
COVERED = {
    "an active waiver": ([control("c", Outcome.FAILED, WAIVER, [SAME])], True),
    "nobody": ([control("c", Outcome.FAILED, rows=[SAME])], False),
    "a waiver that has expired": ([control("c", Outcome.FAILED, replace(WAIVER, state="expired"), [SAME])], False),
    "a waiver without a date": ([control("c", Outcome.FAILED, replace(WAIVER, state="no date"), [SAME])], False),
    "a waiver of another bundle": ([control("c", Outcome.FAILED, WAIVER, [replace(SAME, subject=1)])], False),
    "a waiver of another check": ([control("c", Outcome.FAILED, WAIVER, [replace(SAME, check="probe/q")])], False),
    "a control that does not waive it": (
        [control("c", Outcome.FAILED, WAIVER, [SAME]), control("d", Outcome.FAILED, rows=[SAME])],
        False,
    ),
}


@pytest.mark.parametrize(("controls", "covered"), COVERED.values(), ids=COVERED)
@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.CANNOT_TELL])
def test_what_a_waived_control_covers_is_waived_in_the_bundle_and_told(controls, covered, outcome):
    failing = check("probe/p", outcome, seen=[observation()], why="it broke")
    report = Report((subject(failing, check("probe/q", Outcome.FAILED)),), judged(*controls))
    first, other, *_ = ElementTree.fromstring(text_of("junit", report)).iter("testcase")
    (shown,) = first
    message, text = shown.get("message", ""), shown.text or ""
    assert (shown.tag == "skipped") is covered
    assert ("it broke" in message, "receipt 7" in text) == (True, True)
    assert (WAIVED_BY in message) is covered
    results = json.loads(text_of("sarif", report))["runs"][0]["results"]
    elsewhere = controls[0].rows[0].check == "probe/q"
    assert ["suppressions" in one for one in results] == [covered, elsewhere]
    assert results[0]["kind"] == ("fail" if outcome is Outcome.FAILED else "open")
    (line,) = [line for line in text_of("github", report).splitlines() if "walk%3A probe/p" in line]
    assert (line.startswith("::notice"), "it broke" in line) == (covered, True)
    assert [inner.tag for inner in other] == ["skipped" if elsewhere else "failure"]


def waived(verdict="FAIL"):
    """A report of a bundle whose only failed check is waived, and with it the control that names it."""
    checks = (check(), check("probe/p", Outcome.FAILED, seen=[observation()], why="it broke"))
    return Report((made_up("walk", *checks, verdict=verdict),), judged(control("c", Outcome.FAILED, WAIVER, [SAME])))


@pytest.mark.parametrize("name", ["markdown", "junit", "sarif", "oscal", "github"])
def test_a_waived_failure_reads_waived_with_owner_and_day_in_every_format(name):
    assert WAIVED_BY in text_of(name, waived())


def test_a_pass_that_needs_a_waiver_is_no_bare_pass_and_counts_no_failure():
    text = text_of("markdown", waived())
    assert "`profile-a`: WAIVED" in text
    assert "`walk`: FAIL, WAIVED" in text
    assert "1 failed" not in text
    told = json.loads(text_of("json", waived()))
    assert told["profile"]["verdict"] == "WAIVED"
    stated = {"owner": "Owner", "until": "2026-02-01", "reason": "because", "state": "active"}
    waivers = [told["profile"]["controls"][0]["waiver"], told["subjects"][0]["checks"][1]["waiver"]]
    assert waivers == [{**stated, "control": "c", "waives": "failed"}] * 2
    assert (told["profile"]["outcomes"]["failed"], told["profile"]["outcomes"]["WAIVED"]) == (0, 1)
    assert [entry["outcome"] for entry in told["subjects"][0]["checks"]] == ["passed", "WAIVED"]
    assert told["subjects"][0]["outcomes"]["failed"] == 0


def test_a_bundle_is_waived_only_if_waivers_cover_all_that_it_breaks():
    other = waived()
    failing = made_up("walk", *other.subjects[0].checks, check("probe/q", Outcome.FAILED), verdict="FAIL")
    assert replace(other, subjects=(failing,)).verdict_text(0) == "FAIL"
    assert other.verdict_text(0) == "FAIL, WAIVED"
    assert waived("PASS").verdict_text(0) == "PASS"


def test_oscal_says_a_waiver_as_an_approved_deviation_up_to_its_day():
    results = json.loads(text_of("oscal", waived(), date="2026-01-31"))["assessment-results"]["results"]
    for result in results:
        (risk,) = result["risks"]
        assert (risk["status"], risk["deadline"]) == ("deviation-approved", "2026-02-01T23:59:59Z")
        assert risk["statement"] == WAIVED_BY
        related = [entry["related-risks"] for entry in result["findings"] if "related-risks" in entry]
        assert related == [[{"risk-uuid": risk["uuid"]}]]
    states = [entry["target"]["status"]["state"] for entry in results[1]["findings"]]
    assert states == ["not-satisfied"]


@pytest.mark.parametrize("text", HOSTILE)
def test_the_json_is_ascii_whatever_evidence_says(text):
    written = text_of("json", hostile(text))
    assert written.isascii()
    assert canonical_bytes(json.loads(written))
