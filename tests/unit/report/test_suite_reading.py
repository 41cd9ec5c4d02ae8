"""What the receipts of a suite become in its report: checks, mutants, runs that end otherwise, and what is embedded."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.kinds import load
from specledger.report.model import Receipt
from specledger.report.outcome import Outcome
from specledger.report.sections import (
    Block,
    Code,
    Count,
    EpisodeLink,
    Grid,
    Joined,
    Quoted,
    ReceiptLink,
    RowLink,
    Words,
)
from specledger.report.suite import SuiteReading, _figure_grid, _values
from tests.unit.suites.conftest import write_project

RESULT: Any = {
    "verdict": "PASS",
    "episodes": 1,
    "successes": 0,
    "steps": 4,
    "drifts": 0,
    "errors": 0,
    "proposals": 9,
    "rejections": {},
    "violations": {},
    "warnings": {},
}


@pytest.fixture(scope="module")
def specs(tmp_path_factory):
    return load(str(write_project(tmp_path_factory.mktemp("suite")) / "heights.yaml"))[0]


@pytest.fixture
def reading(specs, tmp_path):
    """A reading of a suite of so many own runs, after these receipts."""

    def read(*receipts, runs=0, allowed: Any = None):
        evidence: Any = SimpleNamespace(specs=specs, manifest={"result": RESULT}, place=tmp_path)
        made = SuiteReading(evidence)
        start = {"runs": runs, "allowed": {"FAIL": {"": 0}, "INCONCLUSIVE": {"": 0}} if allowed is None else allowed}
        for seq, (type_, body) in enumerate([("start", start), *receipts]):
            made.add(Receipt(seq, b"{}", type_, body))
        return made

    return read


def run(name="a", arm="long", verdict="PASS", **result):
    chain = {"count": 1, "head": "h", "root": "r"}
    body = {"place": f"runs/{name}", "run": name, "arm": arm, "scenario": "climb", "seed": 1, "specs": "s"}
    return "run", {**body, "receipts": chain, "replay": {}, "result": {**RESULT, "verdict": verdict, **result}}


def figure(name="highest", groups: Any = (), error: Any = None):
    return "figure", {"figure": name, "statistic": "greatest", "clusters": "run", "groups": [*groups], "error": error}


def check(name="climbs", verdict="PASS", opportunities=5, **more):
    body = {"check": name, "verdict": verdict, "opportunities": opportunities, "least": 2, "witness": {}}
    return "check", {**body, "error": None, **more}


def mutant(verdict="PASS", caught=("climbs",), **more):
    body = {"mutant": "no-bound", "suite": "heights", "caught": [*caught], "verdict": verdict}
    return "mutant", {**body, "control": {"climbs": "PASS"}, "mutated": {"climbs": "FAIL"}, **more}


def found(made, id_):
    (one,) = [each for each in made.checks() if each.id == id_]
    return one


FAILURE = {"code": "E_EVAL_DIV", "expression": "1 / 0", "offset": 0}
# The receipt of a check: outcome, opportunities, failures, whether it is an error, and why.
CHECKS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "it passed": (check(), (Outcome.PASSED, 5, 0, False, "")),
    "it failed": (check(verdict="FAIL"), (Outcome.FAILED, 5, 1, False, "")),
    "it had too few opportunities": (
        check(verdict="INCONCLUSIVE", opportunities=1),
        (Outcome.CANNOT_TELL, 1, 0, False, "it had 1 of at least 2 opportunities to fail"),
    ),
    "it had none": (
        check(verdict="INCONCLUSIVE", opportunities=0),
        (Outcome.CANNOT_TELL, 0, 0, False, "it had no opportunity to fail"),
    ),
    "it could not be evaluated": (
        check(verdict="ERROR", error=FAILURE),
        (Outcome.CANNOT_TELL, 5, 0, True, "E_EVAL_DIV: 1 / 0"),
    ),
}


@pytest.mark.parametrize(("receipt", "expected"), CHECKS.values(), ids=CHECKS)
def test_what_became_of_a_check(reading, specs, receipt, expected):
    one = found(reading(receipt), "check/climbs")
    assert (one.outcome, one.opportunities, one.failures, one.error, one.why) == expected
    assert (one.says, one.spec, one.once) == ("highest.value > ENOUGH", specs.main.key, True)
    assert [(seen.what, seen.run, seen.episode) for seen in one.observations] == [(receipt[1]["verdict"], None, None)]


def test_a_check_shows_its_witness_or_its_error(reading):
    one = found(reading(check(witness={"height": 3})), "check/climbs")
    assert [seen.detail for seen in one.observations] == ['{"height":3}']
    one = found(reading(check(verdict="ERROR", witness={"height": 3}, error={"code": "E"} | FAILURE)), "check/climbs")
    assert [seen.detail for seen in one.observations] == ['{"code":"E_EVAL_DIV","expression":"1 / 0","offset":0}']


def test_a_check_that_no_suite_states_is_called_by_its_id(reading):
    assert found(reading(check("other")), "check/other").says == "check/other"


SHORTER = "its episodes are shorter (2 steps, without the mutant 4), which may be all that is noticed"
# A mutant, and the steps of its runs: outcome, failures, whether it is an error, why, what is observed.
MUTANTS: dict[str, tuple[Any, int, tuple[Any, ...]]] = {
    "caught": (mutant(), 4, (Outcome.PASSED, 0, False, "", "caught by climbs")),
    "caught by two": (
        mutant(caught=("climbs", "further")),
        4,
        (Outcome.PASSED, 0, False, "", "caught by climbs, further"),
    ),
    "caught, but its runs are shorter": (mutant(), 2, (Outcome.PASSED, 0, False, SHORTER, "caught by climbs")),
    "survived": (mutant("FAIL", ()), 2, (Outcome.FAILED, 1, False, "", "not caught")),
    "an error": (mutant("ERROR", ()), 4, (Outcome.CANNOT_TELL, 0, True, "", "not caught")),
}


@pytest.mark.parametrize(("receipt", "steps", "expected"), MUTANTS.values(), ids=MUTANTS)
def test_what_became_of_a_mutant(reading, receipt, steps, expected):
    control, mutated = run(), run(steps=steps)
    control[1]["place"], mutated[1]["place"] = "controls/no-bound/long", "mutants/no-bound/long"
    one = found(reading(run(), control, mutated, receipt, runs=1), "mutant/no-bound")
    assert (one.outcome, one.failures, one.error, one.why, one.observations[0].what) == expected
    assert one.says == "a check of heights notices that this is switched off or changed"
    assert (one.opportunities, one.observations[0].detail) == (1, '{"climbs":"PASS"}')


def test_checks_and_mutants_stand_in_the_order_of_their_receipts(reading):
    made = reading(check("b"), mutant(), check("a"))
    assert [each.id for each in made.checks()] == [
        "check/b",
        "mutant/no-bound",
        "check/a",
        "evaluation",
        "runs-end-as-expected",
        "runs-are-decided",
    ]


# Runs with errors, figures with errors: the outcome, opportunities and why everything could not be evaluated.
EVALUATED: dict[str, tuple[list[Any], int, tuple[Any, ...]]] = {
    "no runs": ([], 0, (Outcome.NOT_APPLICABLE, 0, "it has no runs of its own", False)),
    "no errors": ([run(), run("b")], 2, (Outcome.PASSED, 2, "", False)),
    "a run with errors": (
        [run(errors=3), run("b")],
        2,
        (Outcome.CANNOT_TELL, 2, "1 of 2 runs have errors", True),
    ),
    "a run of a mutant with errors": ([run(), run("b", errors=1)], 1, (Outcome.PASSED, 1, "", False)),
    "a figure with an error": (
        [run(), figure(error=FAILURE), figure()],
        1,
        (Outcome.CANNOT_TELL, 1, "1 of 2 figures have errors", True),
    ),
    "both": (
        [run(errors=1), figure(error=FAILURE)],
        1,
        (Outcome.CANNOT_TELL, 1, "1 of 1 runs have errors, 1 of 1 figures have errors", True),
    ),
    "a figure without runs": (
        [figure(error=FAILURE)],
        0,
        (Outcome.CANNOT_TELL, 0, "1 of 1 figures have errors", True),
    ),
}


@pytest.mark.parametrize(("receipts", "runs", "expected"), EVALUATED.values(), ids=EVALUATED)
def test_whether_everything_of_a_suite_could_be_evaluated(reading, receipts, runs, expected):
    one = found(reading(*receipts, runs=runs), "evaluation")
    assert (one.outcome, one.opportunities, one.why, one.error) == expected
    assert (one.failures, one.spec, one.says) == (0, None, "everything in the suite's own runs can be evaluated")


FAIL, OPEN = "FAIL", "INCONCLUSIVE"
ONE_OPEN: Any = {FAIL: {"": 0}, OPEN: {"": 1}}
OF_LONG: Any = {FAIL: {"": 0, "long": 1}, OPEN: {"": 0}}
# Verdicts of runs by arm, what is allowed, and of each of the two checks the outcome, failures and why.
NO_RUNS = (Outcome.NOT_APPLICABLE, 0, "it has no runs of its own")
HELD = (Outcome.PASSED, 0, "")
ENDED: dict[str, tuple[list[tuple[str, str]], Any, tuple[Any, ...], tuple[Any, ...]]] = {
    "no runs": ([], None, NO_RUNS, NO_RUNS),
    "all pass": ([("long", "PASS")], None, HELD, HELD),
    "one fails": ([("long", "PASS"), ("long", FAIL)], None, (Outcome.FAILED, 1, "1 of 2 runs fail"), HELD),
    "one fails, which is allowed": (
        [("long", "PASS"), ("long", FAIL)],
        OF_LONG,
        (Outcome.PASSED, 0, "1 of 2 runs fail"),
        HELD,
    ),
    "one more fails than is allowed": (
        [("long", FAIL), ("long", FAIL)],
        OF_LONG,
        (Outcome.FAILED, 2, "2 of 2 runs fail"),
        HELD,
    ),
    "one of another arm fails": (
        [("long", "PASS"), ("short", FAIL)],
        OF_LONG,
        (Outcome.FAILED, 1, "1 of 2 runs fail"),
        HELD,
    ),
    "one is open": (
        [("long", "PASS"), ("long", OPEN)],
        None,
        HELD,
        (Outcome.CANNOT_TELL, 0, "1 of 2 runs are inconclusive"),
    ),
    "one is open, which is allowed": (
        [("long", "PASS"), ("long", OPEN)],
        ONE_OPEN,
        HELD,
        (Outcome.PASSED, 0, "1 of 2 runs are inconclusive"),
    ),
    "the only one is open, although one may": (
        [("long", OPEN)],
        ONE_OPEN,
        HELD,
        (Outcome.CANNOT_TELL, 0, "1 of 1 runs are inconclusive"),
    ),
}


@pytest.mark.parametrize(("verdicts", "allowed", "expected", "decided"), ENDED.values(), ids=ENDED)
def test_how_the_runs_of_a_suite_end(reading, verdicts, allowed, expected, decided):
    runs = [run(f"r{number}", arm, verdict) for number, (arm, verdict) in enumerate(verdicts)]
    made = reading(*runs, runs=len(runs), allowed=allowed)
    for id_, says, wanted in (
        ("runs-end-as-expected", "no more runs of the suite fail than it expects or allows", expected),
        ("runs-are-decided", "no more runs of the suite are inconclusive than it expects or allows", decided),
    ):
        one = found(made, id_)
        assert (one.outcome, one.failures, one.why) == wanted
        assert (one.says, one.opportunities, one.spec) == (says, len(runs), None)


def group(value=3, **more):
    return {"name": "", "of": 4, "value": value, **more}


def at(name, episode=0):
    return {"run": name, "episode": episode}


RUNS = [run(name) for name in "abcde"]
# What a page embeds: runs that figures of failing checks name, then the first ones, three in all.
EMBEDDED: dict[str, tuple[list[Any], list[str]]] = {
    "the first ones": ([figure(groups=[group()]), check()], ["a", "b", "c"]),
    "one that failed": ([figure(groups=[group(failed=[at("d")])]), check(verdict="FAIL")], ["d", "a", "b"]),
    "none of a check that passed": ([figure(groups=[group(failed=[at("d")])]), check()], ["a", "b", "c"]),
    "each once": (
        [figure(groups=[group(failed=[at("e"), at("e", 1), at("b")])]), check(verdict="FAIL")],
        ["e", "b", "a"],
    ),
    "none that held": ([figure(groups=[group(held=[at("d")])]), check(verdict="FAIL")], ["a", "b", "c"]),
    "none that is no run of the suite": (
        [figure(groups=[group(failed=[at("z"), at("c")])]), check(verdict="FAIL")],
        ["c", "a", "b"],
    ),
    "none of a figure that the check does not read": (
        [figure("high", groups=[group(failed=[at("d")])]), check(verdict="FAIL")],
        ["a", "b", "c"],
    ),
}


@pytest.mark.parametrize(("receipts", "embedded"), EMBEDDED.values(), ids=EMBEDDED)
def test_which_runs_a_page_embeds(reading, receipts, embedded):
    made = reading(*RUNS, *receipts, runs=5)
    assert made.runs == []
    made.add(Receipt(20, b"{}", "end", {}))
    assert made.runs == [f"runs/{name}" for name in embedded]


# The episode to which the row of a check leads: the first embedded one that failed, else one that held.
LED_TO: dict[str, tuple[list[Any], list[Any]]] = {
    "none is named": ([group()], []),
    "one failed": ([group(failed=[at("b", 2)])], [EpisodeLink(2, 2)]),
    "one held": ([group(held=[at("c", 1)])], [EpisodeLink(3, 1)]),
    "one held, a later group failed": ([group(held=[at("a")]), group(failed=[at("b")])], [EpisodeLink(2, 0)]),
    "one failed that is not embedded": ([group(failed=[at("e"), at("a", 5)])], [EpisodeLink(1, 5)]),
    "none is embedded": ([group(failed=[at("e")])], []),
}


@pytest.mark.parametrize(("groups", "links"), LED_TO.values(), ids=LED_TO)
def test_the_row_of_a_check_leads_to_an_embedded_episode(reading, groups, links):
    made = reading(*RUNS, figure(groups=groups), check(), ("end", {}), runs=5)
    row = made._check_section().rows[0]
    assert row.places == [ReceiptLink(7), *links]


def test_the_row_of_a_check_tells_what_it_reads_and_which_mutants_it_notices(reading):
    made = reading(
        figure(groups=[group()]),
        check(witness={"height": 3}),
        check("further", verdict="ERROR", error=FAILURE),
        mutant(caught=("climbs",)),
    )
    section = made._check_section()
    assert section.heads == ("check", "requirement", "found", "opportunities", "mutants noticed")
    first, second = sorted(section.rows, key=lambda row: row.name)
    assert (first.name, first.mark, first.cells) == (
        "climbs",
        "PASS",
        (Code("highest.value > ENOUGH"), Quoted("height 3"), Count(5), Count(1)),
    )
    details = dict(first.details)
    assert list(details) == ["require", "opportunities", "found", "figures", "mutants noticed"]
    assert details["mutants noticed"] == Joined([RowLink("mutants.no-bound", "no-bound")], listed=True)
    assert (second.mark, second.cells[1:]) == ("ERROR", (Quoted(""), Count(5), Count(0)))
    details = dict(second.details)
    assert list(details) == ["require", "opportunities", "found", "error", "mutants noticed"]
    assert details["error"] == Block(FAILURE)
    assert details["mutants noticed"] == Words("no mutant shows that this check can fail")


def test_without_a_witness_the_first_two_values_are_shown():
    figures: Any = [
        figure("so_high", groups=[group(3)])[1],
        figure("low", groups=[group(4)])[1],
        figure("x", groups=[group(5)])[1],
    ]
    assert list(_values(figures)) == ["so high 3", "low 4"]
    assert list(_values([])) == []


@pytest.mark.parametrize(("number", "more"), [(1, 0), (24, 0), (25, 1), (30, 6)])
def test_of_many_figures_a_check_shows_the_first(number, more):
    figures: Any = [figure(f"f{index}", groups=[group(index)])[1] for index in range(number)]
    grid = _figure_grid(figures)
    assert isinstance(grid, Grid)
    assert (len(grid.rows), grid.more) == (min(number, 24), more)


def test_rejections_are_summed_over_the_suites_own_runs(reading):
    made = reading(
        run(rejections={"tired": 2, "leap": 1, "air": 2}),
        run("b", rejections={"leap": 3}),
        run("c", rejections={"leap": 9}),
        runs=2,
    )
    assert made._rejections() == {"tired": 2, "leap": 4, "air": 2}
    vars(made)["_by_agent"] = {}  # nothing is read of the folders of runs
    (gates,) = [section for section in made.sections() if section.id == "gates"]
    assert [row.name for row in gates.rows] == ["leap", "air", "tired"]
    assert [row.name for row in made._run_section().rows] == ["a", "b"]


@pytest.mark.parametrize(
    ("recorded", "rejections", "shown"),
    [
        (False, {"leap": 1}, True),
        (False, {}, True),
        (False, {"leap": 0}, True),
        (True, {"leap": 0, "air": 1}, True),
        (True, {"leap": 0}, False),
        (True, {}, False),
    ],
)
def test_gates_of_recordings_are_shown_where_one_rejected(reading, recorded, rejections, shown):
    made = reading(run(rejections=rejections), runs=1)
    vars(made)["_by_agent"] = {}  # nothing is read of the folders of runs
    made._recorded = recorded
    assert ("gates" in [section.id for section in made.sections()]) is shown


def test_the_receipts_of_a_suite_tell_what_replay_gave_and_its_results_are_those_of_its_own_runs(reading):
    made = reading(run(steps=1), run("b", steps=2), run("c", steps=3), runs=2)
    assert made.tells_replay
    assert [result["steps"] for result in made.results()] == [1, 2]


@pytest.mark.parametrize(("claims", "challenged"), [([{}], False), ([{}, {"p": {}}], True), ([], False)])
def test_a_suite_was_challenged_if_one_of_its_runs_was(reading, claims, challenged):
    runs = [run(f"r{number}", claims=each) for number, each in enumerate(claims)]
    assert reading(*runs, runs=len(runs)).challenged is challenged


def test_facts_of_a_suite(reading, specs):
    made = reading()
    made._result = {"runs": 1, "trials": 2, "episodes": 3, "steps": 4, "drifts": 5, "errors": 6}
    numbers = {"runs": 1, "trials": 2, "episodes": 3, "steps": 4, "drifts": 5, "errors": 6}
    assert [*made.facts()] == [(name, Count(number)) for name, number in numbers.items()]
    made._recorded = True
    names = ["runs", "trials", "trajectories", "calls", "errors"]
    assert [name for name, _ in made.facts()] == names


def test_a_run_leads_to_its_receipt_and_to_its_first_episode_where_it_is_embedded(reading):
    made = reading(*RUNS, ("end", {}), runs=5)
    places = [row.places for row in made._run_section().rows]
    assert places[:3] == [[ReceiptLink(number), EpisodeLink(number, 0)] for number in (1, 2, 3)]
    assert places[3:] == [[ReceiptLink(4)], [ReceiptLink(5)]]
