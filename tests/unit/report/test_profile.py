"""What bundles show of a profile: the outcome of a control, its waiver, and what the command ends with."""

import subprocess
import sys

import pytest

from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.report.model import Check
from specledger.report.outcome import Outcome
from specledger.report.profile import judge, read_tests
from tests.unit.report.rendering import made_up

HEAD = "spec: profile/v1\nname: rules\nsource: Rules\ncontrols:\n"
SAID = "id: a, section: s, says: it must"


def subject(name, **outcomes):
    """A bundle whose checks have these outcomes; `__` stands for a slash."""
    return made_up(
        name, *(Check(id_.replace("__", "/"), "says", None, Outcome(one), 1) for id_, one in outcomes.items())
    )


SUBJECTS = (
    subject("one", invariant__x="passed", invariant__y="failed", probe__p="passed", progress="passed"),
    subject("two", invariant__x="cannot tell", probe__p="passed", probe__q="not applicable", evaluation="untested"),
)


@pytest.fixture
def judged(tmp_path):
    """The judgement of controls by `SUBJECTS`."""

    def run(*controls, date=None, tests=None):
        file = tmp_path / "rules.yaml"
        file.write_text(HEAD + "".join(f"  - {{{control}}}\n" for control in controls), encoding="utf-8")
        return judge(load(file, kind="profile")[0], SUBJECTS, date, tests)

    return run


@pytest.mark.parametrize(
    ("rest", "outcome", "rows"),
    [
        ("status: shown, evidence: [{check: progress}]", "passed", 1),
        ("status: shown, evidence: [{check: invariant/x, of: one}]", "passed", 1),
        ("status: shown, evidence: [{check: invariant/x}]", "cannot tell", 2),
        ("status: shown, evidence: [{check: invariant/*}]", "failed", 3),
        ("status: shown, evidence: [{check: probe/*}]", "passed", 3),
        ("status: shown, evidence: [{check: probe/q}]", "not applicable", 1),
        ("status: shown, evidence: [{check: progress}, {check: evaluation}]", "untested", 2),
        ("status: shown, evidence: [{check: progress}, {check: law/z}]", "untested", 2),
        ("status: shown, evidence: [{check: progress, of: two}]", "untested", 1),
        ("status: shown, evidence: [{check: law/z}, {check: invariant/y}]", "failed", 2),
        ("status: shown, checks: ['tests/a.py::test_b']", "untested", 0),
        ("status: differs, why: w, evidence: [{check: progress}]", "differs", 1),
        ("status: differs, why: w, evidence: [{check: invariant/y}]", "failed", 1),
        ("status: differs, why: w, evidence: [{check: law/z}]", "untested", 1),
        ("status: open, why: w, evidence: [{check: progress}]", "untested", 1),
        ("status: deferred, why: w", "untested", 0),
        ("status: not applicable, why: w", "not applicable", 0),
    ],
)
def test_the_outcome_of_a_control_is_the_worst_of_its_evidence(rest, outcome, rows, judged):
    found = judged(f"{SAID}, {rest}")
    (control,) = found.controls
    assert (control.outcome, len(control.rows)) == (outcome, rows)
    settled = {"passed": "PASS", "not applicable": "PASS", "failed": "FAIL"}
    assert found.verdict == settled.get(outcome, "INCONCLUSIVE")


@pytest.mark.parametrize(
    ("date", "state", "verdict"),
    [
        (None, "no date", "FAIL"),
        ("2027-01-30", "active", "PASS"),
        ("2027-01-31", "active", "PASS"),
        ("2027-02-01", "expired", "FAIL"),
    ],
)
def test_a_waiver_counts_up_to_its_day_and_never_hides_the_outcome(date, state, verdict, judged):
    waiver = "waiver: {owner: o, reason: r, until: '2027-01-31'}"
    found = judged(f"{SAID}, status: shown, evidence: [{{check: invariant/y}}], {waiver}", date=date)
    (control,) = found.controls
    assert (control.outcome, control.waiver.state, found.verdict) == (Outcome.FAILED, state, verdict)
    assert (control.mark, found.mark) == (("WAIVED", "WAIVED") if state == "active" else ("failed", "FAIL"))


@pytest.mark.parametrize(
    ("rest", "outcome", "verdict"),
    [
        ("status: shown, evidence: [{check: progress}]", "passed", "PASS"),
        ("status: shown, evidence: [{check: probe/q}]", "not applicable", "PASS"),
        ("status: shown, evidence: [{check: law/z}]", "failed", "FAIL"),
        ("status: differs, why: w, evidence: [{check: progress}]", "failed", "FAIL"),
        ("status: open, why: w", "failed", "FAIL"),
    ],
)
def test_an_expired_waiver_fails_what_is_still_not_met(rest, outcome, verdict, judged):
    waiver = "waiver: {owner: o, reason: r, until: '2027-01-31'}"
    found = judged(f"{SAID}, {rest}, {waiver}", date="2027-02-01")
    assert (found.controls[0].outcome, found.verdict) == (outcome, verdict)
    assert found.controls[0].waiver_text == "the waiver of o expired on 2027-01-31: r"


@pytest.mark.parametrize(
    "control",
    [
        f"{SAID}, status: shown",
        f"{SAID}, status: differs, why: w",
        f"{SAID}, status: open",
        f"{SAID}, status: not applicable",
        f"{SAID}, status: not applicable, why: w, evidence: [{{check: progress}}]",
        f"{SAID}, status: shown, evidence: [{{check: Invariant/x}}]",
        f"{SAID}, status: shown, evidence: [{{check: invariant/../x}}]",
        f"{SAID}, status: open, why: w, waiver: {{owner: o, reason: r}}",
        f"{SAID}, status: open, why: w, waiver: {{owner: o, reason: r, until: '2027-02-30'}}",
        f"{SAID}, status: open, why: w, waiver: {{owner: o, reason: r, until: '20270101'}}",
    ],
)
def test_a_control_that_does_not_account_for_itself_is_refused(control, judged):
    with pytest.raises(Rejected):
        judged(control)


@pytest.mark.parametrize(
    ("rest", "ran", "outcome"),
    [
        ("checks: ['tests/a.py::test_b']", {"tests/a.py::test_b": "passed"}, "passed"),
        ("checks: ['tests/a.py::test_b']", {"tests/a.py::test_b": "failed"}, "failed"),
        ("checks: ['tests/a.py::test_b']", {"tests/a.py::test_c": "passed"}, "untested"),
        ("checks: ['tests/a.py::test_b'], evidence: [{check: progress}]", {"tests/a.py::test_b": "failed"}, "failed"),
        ("checks: ['tests/a.py::test_b'], evidence: [{check: progress}]", {}, "untested"),
        ("checks: ['tests/a.py::test_b'], evidence: [{check: progress}]", {"tests/a.py::test_b": "passed"}, "passed"),
        ("checks: ['tests/a.py::test_b'], evidence: [{check: progress}]", None, "untested"),
        ("checks: ['tests/a.py::test_b'], evidence: [{check: invariant/y}]", None, "failed"),
        ("evidence: [{check: progress}]", None, "passed"),
        ("evidence: [{check: progress}]", {}, "passed"),
    ],
)
def test_tests_that_were_run_count_like_evidence(rest, ran, outcome, judged):
    tests = None if ran is None else {name: Outcome(one) for name, one in ran.items()}
    assert judged(f"{SAID}, status: shown, {rest}", tests=tests).controls[0].outcome == outcome


CASES = {
    "one passed": ("<testcase classname='tests.a' name='test_b'/>", "passed"),
    "cases of one test": (
        "<testcase classname='tests.a' name='test_b[1]'/><testcase classname='tests.a' name='test_b[2]'><failure/></testcase>",
        "failed",
    ),
    "an error": ("<testcase classname='tests.a' name='test_b'><error message='x'/></testcase>", "cannot tell"),
    "skipped": ("<testcase classname='tests.a' name='test_b'><skipped/></testcase>", "untested"),
    "a case skipped": (
        "<testcase classname='tests.a' name='test_b[1]'><skipped/></testcase><testcase classname='tests.a' name='test_b[2]'/>",
        "passed",
    ),
}


@pytest.mark.parametrize(("inner", "outcome"), CASES.values(), ids=CASES)
def test_what_tests_came_to_is_read_from_junit_xml(inner, outcome, tmp_path):
    (tmp_path / "junit.xml").write_text(f"<testsuites><testsuite>{inner}</testsuite></testsuites>", encoding="utf-8")
    assert read_tests(tmp_path / "junit.xml") == {"tests/a.py::test_b": outcome}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no xml",
        "<testsuites>",
        "<!DOCTYPE x [<!ENTITY a 'b'>]><testsuites/>",
        "<!DOCTYPE x SYSTEM 'file:///etc/passwd'><testsuites/>",
        "<a>" * 99 + "</a>" * 99,
        "<a>\x00</a>",
    ],
)
def test_a_file_that_is_no_junit_xml_is_refused(text, tmp_path):
    (tmp_path / "junit.xml").write_text(text, encoding="utf-8")
    with pytest.raises(Rejected, match="E_TESTS"):
        read_tests(tmp_path / "junit.xml")
    with pytest.raises(Rejected, match="E_TESTS"):
        read_tests(tmp_path / "nothing.xml")


@pytest.mark.slow
def test_what_this_projects_runner_writes_can_be_read(tmp_path):
    (tmp_path / "test_small.py").write_text("def test_a():\n    pass\n", encoding="utf-8")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "--junitxml=junit.xml", "test_small.py"]
    subprocess.run([sys.executable, *words], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    assert read_tests(tmp_path / "junit.xml") == {"test_small.py::test_a": "passed"}


@pytest.mark.medium
def test_the_command_ends_as_the_profile_is_judged(tmp_path, trap, spec):
    rules = {
        "passed": f"{SAID}, status: shown, evidence: [{{check: evidence}}]",
        "failed": f"{SAID}, status: shown, evidence: [{{check: law/z}}]",
    }
    ends = {}
    for name, control in rules.items():
        (tmp_path / "rules.yaml").write_text(f"{HEAD}  - {{{control}}}\n", encoding="utf-8")
        words = ["--format", "json", "--profile", tmp_path / "rules.yaml", "--date", "2027-01-31"]
        done = spec("report", trap, *words)
        ends[name] = done.status
        assert (done.json["profile"]["date"], done.json["profile"]["name"]) == ("2027-01-31", "rules")
    assert ends == {"passed": 0, "failed": 3}
