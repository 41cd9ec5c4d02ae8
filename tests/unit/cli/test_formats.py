"""Results and verifications for other programs; a look into a run; what is pinned."""

import json
import re
import shutil
from xml.etree import ElementTree

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.verdict import Exit
from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from tests.toys import CLIMB

COMMANDS = re.compile(r"::(error|warning|notice) title=[^:,]*::[^\x00-\x1f\u202e]*")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The evidence of a run."""
    place = tmp_path_factory.mktemp("told") / "out"
    execute(load_runs([str(CLIMB / "climb.yaml")])[0], place)
    return place


@pytest.fixture
def ran(made, tmp_path, monkeypatch):
    """A working folder with evidence."""
    shutil.copytree(made, tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cases(text):
    """Of each suite of JUnit XML its cases by name: how each ended, and the level that it has."""
    found: dict[str | None, dict[str | None, tuple[str, str | None]]] = {}
    for suite in ElementTree.fromstring(text):
        own = found[suite.get("name")] = {}
        for case in suite.iter("testcase"):
            ended = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
            level = case.find("properties/property[@name='level']")
            own[case.get("name")] = (ended or ["passed"])[0], None if level is None else level.get("value")
    return found


# Runs


def test_the_checks_of_a_run_as_junit_are_those_of_its_report(spec, project):
    done = spec("run", "climb.yaml", "--out", "again", "--format", "junit")
    assert (done.status, done.err) == (Exit.CONFORMS, "")
    own, told = (cases(text)["scenario.climb"] for text in (done.out, spec("report", "again", "--format", "junit").out))
    assert own["progress"] == ("passed", None)
    assert (own.pop("replay"), told.pop("replay")) == (("skipped", None), ("error", None))
    assert own == told


@pytest.mark.parametrize("format_", ["junit", "sarif", "github"])
def test_a_failing_run_is_told_and_ends_as_it_does_for_people(spec, project, format_):
    told = spec("run", "climb.yaml", "--set", "governor.with.stamina=2", "--out", "out", "--format", format_)
    assert told.status == Exit.FINDINGS
    if format_ == "junit":
        assert cases(told.out)["scenario.climb"]["progress"][0] == "failure"
    elif format_ == "sarif":
        (run,) = json.loads(told.out)["runs"]
        assert {result["kind"] for result in run["results"]} == {"fail"}
    else:
        assert all(COMMANDS.fullmatch(line) for line in told.out.splitlines())
        assert told.out.startswith("::error ")


# Verifications


def test_every_check_is_a_case_and_what_was_not_made_is_skipped(spec, ran):
    told = spec("verify", "out", "--no-replay", "--format", "junit")
    assert told.status == Exit.INCONCLUSIVE
    found = cases(told.out)
    listed = spec("verify", "out", "--no-replay", "--format", "json").json
    ends = {"passed": "passed", "failed": "failure", "not made": "skipped"}
    made = {
        f"{check['number']}. {check['name']}": (ends[check["status"]], check["level"]) for check in listed["checks"]
    }
    (suite,) = found.values()
    assert made.items() <= suite.items()
    levels = {name[:2]: end for name, (end, _) in suite.items() if name not in made}
    assert levels == {"L0": "passed", "L1": "skipped", "L2": "skipped", "L3": "skipped", "L4": "error", "L5": "skipped"}


def test_a_level_that_was_asked_for_and_has_no_check_is_no_silence(spec, ran):
    told = spec("verify", "out", "--level", "L1", "--format", "junit")
    assert told.status == Exit.INCONCLUSIVE
    levels = cases(told.out)["spec verify out"]
    assert next(end for name, end in levels.items() if name.startswith("L1")) == ("error", "L1")
    assert "::warning title=L1 not checked::" in spec("verify", "out", "--level", "L1", "--format", "github").out


def test_a_refuted_bundle_is_a_failure_with_its_code_everywhere(spec, ran):
    receipts = ran / "out" / "receipts.jsonl"
    receipts.write_bytes(receipts.read_bytes().replace(b"true", b"null", 1))
    junit = spec("verify", "out", "--format", "junit")
    assert junit.status == Exit.FINDINGS
    told = {name: end for name, (end, _) in cases(junit.out)["spec verify out"].items()}
    assert [name[:2] for name, end in told.items() if end == "failure"] == ["2.", "L0"]
    assert [name[:2] for name, end in told.items() if end == "passed"] == ["1."]
    assert 'type="E_FILES"' in junit.out
    (run,) = json.loads(spec("verify", "out", "--format", "sarif").out)["runs"]
    (failed,) = [result for result in run["results"] if result["kind"] == "fail"]
    assert (failed["ruleId"], failed["level"]) == ("E_FILES", "error")
    assert run["tool"]["driver"]["rules"][failed["ruleIndex"]]["id"] == "E_FILES"
    assert {one["status"] for one in run["properties"]["checks"]} == {"passed", "failed", "not made"}
    assert all(result["level"] == "none" for result in run["results"] if result is not failed)
    lines = spec("verify", "out", "--format", "github").out.splitlines()
    assert all(COMMANDS.fullmatch(line) for line in lines)
    assert next(line for line in lines if line.startswith("::error")).startswith("::error title=E_FILES::")


@pytest.mark.parametrize("kept", [True, False], ids=["with sources", "without sources"])
def test_a_bundle_without_sources_says_so(spec, ran, kept):
    """It changes no verdict: nobody need keep them."""
    out = ran / "out"
    (out / "sha256sums").unlink()
    (out / "VERIFY.md").unlink()
    if not kept:
        shutil.rmtree(out / "specs")
        manifest = json.loads((out / "manifest.json").read_bytes())
        manifest["files"] = [one for one in manifest["files"] if not one["path"].startswith("specs/")]
        (out / "manifest.json").write_bytes(canonical_bytes(manifest) + b"\n")
    told = spec("verify", "out", "--format", "json")
    assert (told.status, told.json["verdict"]) == (Exit.CONFORMS, "PASS")
    said = "which files the specs were resolved from: the bundle has no specs/"
    absent = [f"{name}: every bundle is written with it, and it is not there" for name in ("sha256sums", "VERIFY.md")]
    assert told.json["unchecked"] == [*([] if kept else [said]), *absent]
    formats = [spec("verify", "out", "--format", one).out for one in ("human", "junit", "sarif", "github")]
    assert [said in text for text in formats] == [not kept] * 4


SEVERAL = {
    "all hold": (("out", "same"), Exit.CONFORMS, []),
    "one is refuted": (("out", "broken", "same"), Exit.FINDINGS, ["::error title=E_FILES::broken: "]),
    "one is no evidence": (("nowhere", "out"), Exit.INVALID, ["::error title=E_NO_EVIDENCE::"]),
    "both": (
        ("broken", "nowhere"),
        Exit.FINDINGS,
        ["::error title=E_FILES::broken: ", "::error title=E_NO_EVIDENCE::"],
    ),
}


@pytest.mark.parametrize("format_", ["junit", "sarif", "github"])
@pytest.mark.parametrize(("places", "status", "errors"), SEVERAL.values(), ids=SEVERAL)
def test_several_verifications_are_one_document(spec, ran, places, status, errors, format_):
    for place in ("same", "broken"):
        shutil.copytree(ran / "out", ran / place)
    (ran / "broken" / "specs.json").unlink()
    done = spec("verify", *places, "--format", format_)
    assert (done.status, "E_NO_EVIDENCE" in done.err) == (status, "nowhere" in places)
    there = [place for place in places if place != "nowhere"]
    if format_ == "junit":
        suites = cases(done.out)
        assert list(suites) == [f"spec verify {place}" for place in there] + ["spec verify"] * ("nowhere" in places)
        assert ["failure" in dict(suites[f"spec verify {place}"].values()) for place in there] == [
            place == "broken" for place in there
        ]
    elif format_ == "sarif":
        (run,) = json.loads(done.out)["runs"]
        known = run["properties"]
        assert [one["evidence"] for one in known.get("bundles", [known])] == there
        failed = [result for result in run["results"] if result["kind"] == "fail"]
        codes = {rule for rule in ("E_FILES", "E_NO_EVIDENCE") if any(rule in error for error in errors)}
        assert {result["ruleId"] for result in failed} == codes
        assert {located_file(result) for result in failed} <= {"broken", None}
    else:
        lines = done.out.splitlines()
        assert all(COMMANDS.fullmatch(line) for line in lines)
        told = [line for line in lines if line.startswith("::error")]
        assert len(told) == len(errors)
        assert all(line.startswith(error) for line, error in zip(told, errors, strict=True))


def located_file(result):
    """The file or the folder that a result of SARIF is in."""
    places = [one["physicalLocation"]["artifactLocation"]["uri"] for one in result.get("locations", ())]
    return places[0] if places else None


def test_a_step_has_a_summary_where_github_says(spec, ran, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(ran / "summary.md"))
    spec("verify", "out", "--format", "github")
    text = (ran / "summary.md").read_text(encoding="utf-8")
    assert text.startswith("# `out`: PASS")
    assert "**not checked**" in text


def test_an_inclusion_proof_is_for_people_and_json(spec, ran):
    done = spec("verify", "out", "--proof", "0", "--format", "junit")
    assert (done.status, list(cases(done.out))) == (Exit.INVALID, ["spec"])
    assert spec("verify", "out", "--proof", "0", "--format", "json").json["facts"]["proof"]["index"] == 0


# Goldens


@pytest.mark.parametrize("format_", ["junit", "sarif", "github"])
def test_a_golden_that_differs_is_a_finding_at_its_spec(spec, project, edit, format_):
    assert spec("golden", "--update", "climb.yaml", "--dir", "pins", "--format", format_).status == 0
    same = spec("golden", "climb.yaml", "--dir", "pins", "--format", format_)
    assert (same.status, same.err) == (0, "")
    if format_ == "junit":
        assert cases(same.out) == {"spec golden": {"climb: same": ("passed", None)}}
    edit("climb.yaml", "horizon: 3", "horizon: 2")
    differs = spec("golden", "climb.yaml", "--dir", "pins", "--format", format_)
    assert differs.status == 1
    if format_ == "junit":
        assert cases(differs.out) == {"spec golden": {"climb.yaml:1:7": ("failure", None)}}
    else:
        assert refusals(differs.out, format_) == [("E_GOLDEN_DIFFERS", ("climb.yaml", 1, 7))]


# Refusals


def refusals(text, format_):
    """Of a document about what could not be done the code of each finding, and its file, line and column if known."""
    if format_ == "junit":
        found = list(ElementTree.fromstring(text).iter("testcase"))
        errors = [error for case in found for error in case.findall("error")]
        places = [placed(*str(case.get("name")).split(":")) for case in found]
        return list(zip([error.get("type") for error in errors], places, strict=True))
    if format_ == "github":
        form = re.compile(r"^::error (?:file=([^,:]*),line=([0-9]+),col=([0-9]+),)?title=([^:,]*)::.+$", re.MULTILINE)
        parts = form.findall(text)
        assert len(parts) == len(text.splitlines())
        return [(code, placed(*place)) for *place, code in parts]
    (run,) = json.loads(text)["runs"]
    assert {result["level"] for result in run["results"]} == {"error"}
    return [(result["ruleId"], placed(*located(result))) for result in run["results"]]


def placed(*words):
    return (words[0], *map(int, words[1:])) if len(words) == 3 and words[0] else None


def located(result):
    for one in result.get("locations", ()):
        place = one["physicalLocation"]
        return place["artifactLocation"]["uri"], place["region"]["startLine"], place["region"]["startColumn"]
    return ()


@pytest.mark.parametrize("format_", ["junit", "sarif", "github"])
@pytest.mark.parametrize(
    ("words", "refused"),
    [
        (
            ("run", "bad.yaml"),
            [("E_SPEC_UNKNOWN_KEY", ("bad.yaml", 11, 1)), ("E_SPEC_UNKNOWN_KEY", ("bad.yaml", 12, 1))],
        ),
        (("run", "bad.yaml", "--no-such-option"), [("E_USAGE", None)]),
        (("verify", "nowhere"), [("E_NO_EVIDENCE", None)]),
        (("verify", "."), [("E_NO_EVIDENCE", None)]),
        (("report", "nowhere"), [("E_NO_EVIDENCE", None)]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value[0], str) else "",
)
def test_where_nothing_could_be_read_there_is_a_document_that_says_so(spec, project, words, refused, format_):
    text = (project / "climb.yaml").read_text(encoding="utf-8")
    (project / "bad.yaml").write_text(f"{text}wrong: 1\nwronger: 2\n", encoding="utf-8")
    told, for_people = spec(*words, "--format", format_), spec(*words)
    assert (told.status, for_people.status) == (Exit.INVALID, Exit.INVALID)
    assert refusals(told.out, format_) == refused
    assert all(code in told.err for code, _ in refused)
    assert spec(*words, f"--format={format_}").out == told.out


# Pins


# Traces


def test_lines_are_bounded_and_the_others_counted(spec, ran):
    every = spec("trace", "out", "--format", "json").json["lines"]
    told = spec("trace", "out", "--most", "2", "--format", "json").json
    assert (told["lines"], told["more"]) == (every[:2], len(every) - 2)
    assert f"and {len(every) - 2} more lines" in spec("trace", "out", "--most", "2").out
    one = spec("trace", "out", "--episode", "1", "--format", "json").json["lines"]
    assert one == [line for line in every if line["episode"] == 1] != []


def test_one_step_is_shown_whole(spec, ran):
    told = spec("trace", "out", "--step", "0", "--format", "json").json["step"]
    lines = [json.loads(line) for line in (ran / "out" / "receipts.jsonl").read_bytes().splitlines()]
    wanted = [one for one in lines if (one["body"].get("episode"), one["body"].get("t")) == (0, 0)]
    assert (told[-1]["type"], told[-1]["seq"]) == ("state", wanted[-1]["seq"])
    assert [(one["type"], one["seq"], one["body"]) for one in told[:-1]] == [
        (one["type"], one["seq"], one["body"]) for one in wanted
    ]
    assert spec("trace", "out", "--step", "0").out.startswith(f"commit  receipt {wanted[0]['seq']}, ")
    chosen = spec("trace", "out", "--step", "0", "--field", "step.chosen", "--format", "json").json["value"]
    assert chosen == wanted[1]["body"]["chosen"]
    every = spec("trace", "out", "--field", "step.chosen", "--format", "json").json["lines"]
    assert [line["value"] for line in every] == [one["body"]["chosen"] for one in lines if one["type"] == "step"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--step", "999"), "E_TRACE_STEP"),
        (("--episode", "999"), "E_TRACE_STEP"),
        (("--field", "step.nothing"), "E_TRACE_FIELD"),
        (("--field", "."), "E_TRACE_FIELD"),
        (("--step", "0", "--field", "commit.proposals.99999999999999999999"), "E_TRACE_FIELD"),
    ],
)
def test_what_is_not_there_is_said(spec, ran, words, code):
    done = spec("trace", "out", *words, "--format", "json")
    assert (done.status, done.codes) == (Exit.INVALID, [code])


def test_nothing_in_a_trace_can_hide(spec, ran, monkeypatch):
    hostile = "a\x1b[31m\u202e\nb"
    shown = {"type": "step", "seq": 1, "digest": "0", "body": {hostile: hostile}}
    monkeypatch.setattr("specledger.report.trace.trace_step", lambda *given: [shown])
    text = spec("trace", "out", "--step", "0").out
    assert not re.search("[\x1b\u202e]", text)
