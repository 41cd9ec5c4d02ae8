"""The sentences with which pages of suites, laws and discoveries begin, and what their words mean."""

from types import SimpleNamespace

import pytest

from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.report.comparison import trends
from specledger.report.run_finding import run_finding
from specledger.report.suite_finding import suite_finding
from tests.unit.report.rendering import read, report_of, subject_of, text_of


def agent(*episodes):
    """The runs of an agent, by the verdicts of its probes in each episode."""
    probed = [{"probes": {"p": [{"verdict": verdict} for verdict in verdicts]}} for verdicts in episodes]
    return [SimpleNamespace(episodes=probed)]


def check(name, verdict):
    return {"check": name, "verdict": verdict}


def rate(name, count, of, **more):
    group = {"name": "", "value": 1, "count": count, "of": of}
    return {"figure": name, "statistic": "rate", "error": None, "groups": [group], **more}


RUNS = {
    "nothing was expected or tested": ({"verdict": "PASS"}, []),
    "expected": (
        {"verdict": "PASS", "status": "FAIL", "met": True},
        ["It ended as expected: FAIL. So the verdict is PASS."],
    ),
    "not expected": (
        {"verdict": "FAIL", "status": "INCONCLUSIVE", "met": False},
        ["It did not end as expected: INCONCLUSIVE. So the verdict is FAIL."],
    ),
    "claims": (
        {"verdict": "INCONCLUSIVE", "claims": {"p": {"tested": 40, "held": 38}, "q": {"tested": 0, "held": 0}}},
        ["38 of 40 tested claims of p held; 95 % interval of the rate: 83.50 % to 98.62 %."],
    ),
    "what failed is told by the reason": ({"verdict": "FAIL", "claims": {"p": {"tested": 2, "held": 1}}}, []),
}


@pytest.mark.parametrize(("result", "sentences"), RUNS.values(), ids=RUNS)
def test_the_finding_of_a_run(result, sentences):
    assert [*run_finding(result)] == sentences


FINDINGS = {
    "agents, the most often caught first": (
        {"honest": agent(["PASS"], ["PASS"]), "pseudo": agent(["FAIL"], ["PASS", "FAIL"])},
        [],
        ["pseudo is caught by a probe in 2 of 2 episodes; honest in 0 of 2."],
    ),
    "an episode that decides nothing is not counted": (
        {"a": agent(["INCONCLUSIVE"], ["PASS"], [])},
        [],
        ["a is caught by a probe in 0 of 1 episodes."],
    ),
    "an agent without a verdict is left out": ({"a": agent([])}, [], []),
    "a check with its rate": (
        {},
        [(check("honest-passes", "PASS"), [rate("honest_passes", 198, 200)])],
        ["Holds: honest passes (198 of 200)."],
    ),
    "a rate of another name": (
        {},
        [(check("honest-gives-claims", "PASS"), [rate("honest_abstains", 2, 200)])],
        ["Holds: honest gives claims (honest abstains 2 of 200)."],
    ),
    "what does not hold comes first": (
        {},
        [
            (check("a", "PASS"), []),
            (check("b", "FAIL"), []),
            (check("c", "INCONCLUSIVE"), []),
            (check("d", "ERROR"), []),
        ],
        ["Does not hold: b.", "Cannot be evaluated: d.", "Not decided: c.", "Holds: a."],
    ),
    "a rate that could not be evaluated": (
        {},
        [(check("a", "ERROR"), [rate("r", 1, 2, error={"code": "E"})])],
        ["Cannot be evaluated: a."],
    ),
}


@pytest.mark.parametrize("case", FINDINGS)
def test_the_finding_of_a_suite(case):
    agents, checks, wanted = FINDINGS[case]
    assert suite_finding(agents, checks) == wanted


LAWS = {
    "momentum": (
        "Proved, not only tried: in rings of 4 to 200 cells",
        ["At every step up to step 50, it must be so that `Momentum` is `Momentum` at the start."],
    ),
    "collisions-apart": (
        "False, as a counterexample shows: in rings of 4 to 200 cells",
        ["At every step", "The ring `", "Its spec expects FAIL, so the verdict is PASS."],
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_page_of_a_law_says_what_is_claimed_of_what(name, tmp_path):
    made = execute(load(name, kind="law", set=["cases=30", "mutations=0"])[0], tmp_path / "law").place
    first, *others = subject_of(made).reading.finding()
    known, more = LAWS[name]
    assert first.startswith(known)
    assert [said[: len(start)] for said, start in zip(others, more, strict=True)] == more
    page = text_of("html", report_of(made))
    assert page.index(known[:30]) < page.index(f"law/{name}")


@pytest.mark.medium
def test_a_trend_is_of_comparable_runs(tmp_path):
    def run(number, *sets):
        return execute(load("simple", kind="scenario", set=list(sets))[0], tmp_path / str(number)).place

    short = [subject_of(run(seed, "horizon=3", f"seed={seed}")) for seed in (1, 2)]
    longer = subject_of(run(3, "horizon=4"))
    assert len(trends([*short, longer])) == 1
    assert trends([short[0], longer]) == []


@pytest.mark.medium
def test_links_of_an_index_differ(tmp_path):
    places = [
        execute(load("simple", kind="scenario", set=["horizon=2", f"seed={n}"])[0], tmp_path / str(n)).place
        for n in (1, 2)
    ]
    from specledger.report.formats import FORMATS

    index = FORMATS["index"].write(report_of(*places)).files["index.html"].decode()
    assert "page of simple (1)" in index
    assert "page of simple (2)" in index
    assert read(places[0]) is not None
