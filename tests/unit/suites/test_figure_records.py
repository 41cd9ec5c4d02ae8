"""Figures of a suite from hand-made samples: which values count, how groups are sorted, and what a group says."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.canonical import MAX_INTEGER
from specledger.core.statistics import paired_difference
from specledger.expr import BOOL, INT, STRING, ListType
from specledger.expr.errors import E_EVAL_LIMIT
from specledger.suites.assessment import _judge_mutant
from specledger.suites.figures import FigureError, PlannedFigure, cluster_series, compute


def run(samples, arm="a", scenario="s", seed=0, **more):
    """A run whose figure `f` has these values, by episode."""
    name = f"{arm}-{scenario}-{seed}"
    return {"run": name, "arm": arm, "scenario": scenario, "seed": seed, "samples": {"f": samples, **more}}


def figure(statistic, over=("a",), by=None, at=500_000, **more):
    return PlannedFigure("f", statistic, over, by, at, **more)


def only(planned, *runs):
    (record,) = compute(planned, runs)
    return record


ONE_OF_EACH: list[Any] = [run([[1], [0], [1, 3]]), run([[9]], "b"), run([[2]], seed=1)]
SINGLE = {
    "sum": {"of": 5, "value": 7},
    "least": {"of": 5, "value": 0},
    "greatest": {"of": 5, "value": 3},
    "quantile": {"of": 5, "value": 1},
    "mean": {"of": 5, "sum": 7, "value": 1_400_000, "clusters": 1},
}


@pytest.mark.parametrize(("statistic", "record"), SINGLE.items())
def test_a_figure_is_over_the_values_of_its_arms(statistic, record):
    assert only(figure(statistic), *ONE_OF_EACH) == {"name": "", **record}
    other = only(figure(statistic, ("a", "b")), *ONE_OF_EACH)
    assert other["of"] == record["of"] + 1


NOTHING = {
    "sum": {"of": 0, "value": 0},
    "least": {"of": 0},
    "greatest": {"of": 0},
    "quantile": {"of": 0},
    "mean": {"of": 0, "sum": 0, "clusters": 0},
    "slope": {"of": 0, "clusters": 0},
    "rate": {"of": 0, "clusters": 0, "count": 0, "held": [], "failed": []},
    "effect": {"of": 0, "clusters": 0, "count": 0, "against": 0},
}


@pytest.mark.parametrize(("statistic", "record"), NOTHING.items())
def test_a_figure_of_nothing_has_no_value(statistic, record):
    assert only(figure(statistic)) == {"name": "", **record}
    assert only(figure(statistic), run([[]])) == {"name": "", **record}


def test_a_rate_names_three_episodes_of_each_outcome():
    rate = only(figure("rate"), run([[1], [0, 1], [], [1], [1], [0]]), run([[1], [0], [0]], seed=1))
    assert (rate["of"], rate["count"], rate["clusters"]) == (9, 5, 1)
    assert [place["episode"] for place in rate["held"]] == [0, 1, 3]
    assert [(place["run"], place["episode"]) for place in rate["failed"]] == [("a-s-0", 1), ("a-s-0", 5), ("a-s-1", 1)]
    assert rate["value"] == 555_556
    assert rate["wilson"]["low"] < rate["value"] < rate["wilson"]["high"] <= rate["bound"] + 200_000
    assert "cluster" not in rate


def test_an_effect_counts_pairs_of_the_other_and_the_one():
    pairs = [[(0, 1)]] * 3 + [[(1, 0)]] + [[(1, 1)]] * 2 + [[(0, 0)]] * 4
    effect = only(figure("effect"), run(pairs))
    assert (effect["of"], effect["count"], effect["against"], effect["value"]) == (10, 5, 3, 200_000)
    low, high = paired_difference(2, 3, 1, 4)
    assert effect["newcombe"] == {"low": low, "high": high}
    assert low < 200_000 < high
    assert "sum" not in effect


def test_a_slope_is_over_all_pairs():
    slope = only(figure("slope"), run([[(0, 1), (1, 3)], [(4, 9)]]), run([[]], scenario="empty"))
    assert slope == {"name": "", "of": 3, "value": 2_000_000, "clusters": 1}
    assert "value" not in only(figure("slope"), run([[(1, 1), (1, 3)]]))


def test_a_difference_is_of_the_episodes_that_both_arms_have():
    planned = figure("difference", ("a", "b"))
    first = run([[5], [7], [None], [9]])
    second = run([[1], [None], [3]], "b")
    elsewhere = run([[100]], "b", seed=1)
    assert only(planned, first, second, elsewhere) == {"name": "", "of": 1, "sum": 4, "value": 4_000_000, "clusters": 1}


@pytest.mark.parametrize(("clusters", "number"), [("scenario", 2), ("seed", 3), ("run", 4)])
def test_what_makes_episodes_alike(clusters, number):
    runs = [
        run([[1], [2]], scenario=scenario, seed=seed) for scenario, seed in [("s", 0), ("s", 1), ("z", 0), ("z", 2)]
    ]
    assert only(figure("mean", clusters=clusters), *runs)["clusters"] == number
    others = [{**run(each["samples"]["f"], "b", each["scenario"], each["seed"])} for each in runs]
    assert only(figure("difference", ("a", "b"), clusters=clusters), *runs, *others)["clusters"] == number


def test_an_expression_says_which_episodes_are_alike():
    planned = figure("mean", clusters="size")
    assert only(planned, run([[1], [2], [3]], **{cluster_series("f"): ["x", "y", "x"]}))["clusters"] == 2


def test_a_cluster_without_values_does_not_count():
    assert only(figure("mean"), run([[1]]), run([[None]], scenario="t"), run([[]], scenario="u"))["clusters"] == 1


def test_values_that_are_not_decided_are_counted_apart():
    runs = [run([[1, None], [None, None], [0]])]
    assert "undecided" not in only(figure("rate"), *runs)
    rate = only(figure("rate", decided=True), *runs)
    assert (rate["of"], rate["count"], rate["undecided"]) == (2, 1, 3)


def test_seeds_are_sorted_as_numbers_and_arms_as_texts():
    runs = [run([[1]], arm, seed=seed) for arm, seed in [("b10", 10), ("b9", 9), ("a", 100)]]
    planned = figure("sum", ("a", "b9", "b10"), "seed")
    assert [group["name"] for group in compute(planned, runs)] == ["9", "10", "100"]
    planned = figure("sum", ("a", "b9", "b10"), "arm")
    assert [group["name"] for group in compute(planned, runs)] == ["a", "b10", "b9"]


def test_cases_are_sorted_by_their_values_and_say_them():
    cases: dict[str, dict[str, Any]] = {"a.1": {"x": 10}, "a.2": {"x": 9}, "a.3": {"x": "1.5"}, "a.4": {"x": "word"}}
    runs = [run([[1]], arm) for arm in cases]
    groups = compute(figure("sum", tuple(cases), "arm", cases=cases), runs)
    assert [group["case"]["x"] for group in groups] == ["1.5", 9, 10, "word"]
    assert "case" not in compute(figure("sum", tuple(cases), "arm"), runs)[0]


def test_cases_of_one_arm_stand_together():
    cases: dict[str, dict[str, Any]] = {"b.1": {"x": 1}, "a.2": {"x": 2}, "a.3": {"x": 1}}
    groups = compute(figure("sum", tuple(cases), "arm", cases=cases), [run([[1]], arm) for arm in cases])
    assert [group["name"] for group in groups] == ["a.3", "a.2", "b.1"]


def test_what_could_not_be_computed_has_no_figure():
    wrong: Any = run([])
    wrong["samples"]["f"] = {"code": E_EVAL_LIMIT}
    with pytest.raises(FigureError) as error:
        compute(figure("sum"), [run([[1]]), wrong])
    assert error.value.cause == {"code": E_EVAL_LIMIT}
    wrong["arm"] = "b"
    assert compute(figure("sum"), [run([[1]]), wrong])[0]["value"] == 1


def test_what_checks_read_of_a_figure():
    plain: Any = figure("rate", decided=True).type
    assert plain.fields["undecided"] == INT
    usual: Any = figure("rate").type
    assert "undecided" not in usual.fields
    assert {"value", "bound", "wilson", "exact", "cluster"} == plain.optional
    cases: Any = {"a.1": {"x": 1, "y": True}, "a.2": {"x": 2}}
    grouped: Any = figure("sum", by="arm", cases=cases).type
    assert isinstance(grouped, ListType)
    item: Any = grouped.item
    assert item.fields["name"] == STRING
    assert dict(item.fields["case"].fields) == {"x": INT, "y": BOOL}
    assert item.fields["case"].optional == {"y"}
    without: Any = figure("sum", by="arm").type
    assert "case" not in without.item.fields


MUTANTS = {
    "caught": ({"a": "PASS", "b": "PASS"}, {"a": "FAIL", "b": "FAIL"}, "PASS", ["a", "b"]),
    "survived": ({"a": "PASS"}, {"a": "PASS"}, "FAIL", []),
    "it failed before": ({"a": "FAIL"}, {"a": "FAIL"}, "FAIL", []),
    "not decided": ({"a": "PASS"}, {"a": "INCONCLUSIVE"}, "FAIL", []),
    "an error with it": ({"a": "PASS"}, {"a": "ERROR"}, "ERROR", []),
    "an error without it": ({"a": "ERROR"}, {"a": "FAIL"}, "ERROR", []),
    "caught beside an error": ({"a": "PASS", "b": "PASS"}, {"a": "FAIL", "b": "ERROR"}, "PASS", ["a"]),
}


@pytest.mark.parametrize(("control", "mutated", "verdict", "caught"), MUTANTS.values(), ids=MUTANTS)
def test_a_mutant_is_caught_by_a_check_that_passes_without_it(control, mutated, verdict, caught):
    mutant: Any = SimpleNamespace(id="m", mutated=SimpleNamespace(suite="s"))
    body = _judge_mutant(mutant, control, mutated)
    assert (body["verdict"], body["caught"]) == (verdict, caught)
    assert (body["mutant"], body["suite"], body["control"], body["mutated"]) == ("m", "s", control, mutated)


def test_a_sum_may_be_greater_than_a_receipt_holds():
    assert only(figure("sum"), run([[MAX_INTEGER], [1]]))["value"] == MAX_INTEGER + 1
