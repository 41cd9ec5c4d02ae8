"""Measures that read other measures."""

from typing import Any

import pytest

from specledger.compile.suite import compile_suite
from specledger.core.diagnostics import Rejected
from specledger.expr import EvaluationError
from specledger.kinds import load
from specledger.suites.figures import cluster_series
from specledger.suites.measures import Reading, _values

CHAIN = """
  b: "10 / (episode - 4)"
  d: "b + 1"
  a: "d * 100"
  c: "a + b"
  e: "c > 1000"
  unread: "1 / (episode - 4)"
"""


@pytest.fixture
def sampler(project, edit):
    """The sampler of a suite with a chain of measures, of which figures read only the last ones."""
    edit("measures:\n", f"measures:{CHAIN}")
    edit(
        "figures:\n",
        "figures:\n  fourth: {mean: c}\n  third: {mean: a}\n  own: {mean: episode}\n  some: {mean: episode, decided: e}\n",
    )
    return sampled()


def sampled():
    """The sampler of the suite as it is written now."""
    return compile_suite(load("heights.yaml")[0]).trial.cases[0].sampler


@pytest.mark.parametrize("wanted", [["fourth"], ["third"], ["fourth", "third", "own"]], ids="-".join)
def test_a_figure_reads_through_any_number_of_measures(sampler, wanted):
    samples: dict[str, object] = {}
    for episode in (5, 6):
        sampler.sample({"run": "r", "episode": episode}, samples, frozenset(wanted))
    expected = {"fourth": [[1110], [605]], "third": [[1100], [600]], "own": [[5], [6]]}
    assert samples == {name: expected[name] for name in wanted}


def test_what_counts_is_read_through_measures_too(sampler):
    """The figure itself reads none of them."""
    samples: dict[str, object] = {}
    for episode in (5, 6):
        sampler.sample({"run": "r", "episode": episode}, samples, frozenset({"some"}))
    assert samples == {"some": [[5], [None]]}


def test_what_the_first_of_a_chain_cannot_compute_is_what_the_figure_says(sampler):
    samples: dict[str, object] = {}
    sampler.sample({"run": "r", "episode": 4}, samples, frozenset({"fourth", "own"}))
    assert samples["own"] == [[4]]
    assert samples["fourth"] == {
        "code": "E_EVAL_DIVISION_BY_ZERO", "expression": "10 / (episode - 4)", "offset": 0, "run": "r", "episode": 4
    }  # fmt: skip


def test_a_measure_that_no_wanted_figure_reads_is_not_computed(sampler, monkeypatch):
    read = set[str]()

    def note(self, _values):
        read.add(self.checked.text.value)
        return 1

    monkeypatch.setattr(Reading, "read", note)
    sampler.sample({"run": "r", "episode": 4}, {}, frozenset({"third"}))
    assert read == {"10 / (episode - 4)", "b + 1", "d * 100", "a"}


VALUES = {
    "one": ([3], [3]),
    "a truth": ([True], [1]),
    "a list": ([[1, True]], [1, 1]),
    "no values": ([[]], []),
    "a pair, the second first": ([[1, 2], [3, 4]], [[3, 1], [4, 2]]),
    "a pair of one": ([5, 6], [[6, 5]]),
}


@pytest.mark.parametrize(("read", "expected"), VALUES.values(), ids=VALUES)
def test_the_values_of_an_episode(read, expected):
    assert _values(read) == expected


def test_lists_of_a_pair_are_equally_long():
    with pytest.raises(EvaluationError, match="2 values cannot be paired with 1: both lists need the same length"):
        _values([[1, 2], 3])


DECIDED = {
    "all": ("true", [[5], [6]]),
    "none": ("false", [[None], [None]]),
    "one of a list": ("[episode > 5]", [[None], [6]]),
}


@pytest.mark.parametrize(("decided", "expected"), DECIDED.values(), ids=DECIDED)
def test_values_that_are_not_decided_do_not_count(project, edit, decided, expected):
    edit("figures:\n", f'figures:\n  some: {{mean: "[episode]", decided: "{decided}"}}\n')
    samples: dict[str, object] = {}
    for episode in (5, 6):
        sampled().sample({"run": "r", "episode": episode}, samples, frozenset({"some"}))
    assert samples["some"] == expected


def test_as_many_values_are_decided_as_there_are(project, edit):
    edit("figures:\n", 'figures:\n  some: {mean: "[episode, 1]", decided: "[true]"}\n')
    samples: dict[str, Any] = {}
    sampled().sample({"run": "r", "episode": 5}, samples, frozenset({"some"}))
    assert samples["some"]["code"] == "E_SUITE_FIGURE"


def test_an_episode_is_of_a_cluster_where_a_value_of_it_counts(project, edit):
    edit("figures:\n", 'figures:\n  some: {mean: episode, clusters: "episode % 2", decided: "episode != 6"}\n')
    samples: dict[str, Any] = {}
    for episode in (5, 6, 8):
        sampled().sample({"run": "r", "episode": episode}, samples, frozenset({"some"}))
    assert samples["some"] == [[5], [None], [8]]
    assert samples[cluster_series("some")] == ["1", "", "0"]


@pytest.mark.parametrize(("clusters", "fits"), [("episode", True), ("'a'", True), ("true", False), ("[1]", False)])
def test_a_cluster_is_named_by_a_text_or_an_int(project, edit, clusters, fits):
    edit("figures:\n", f'figures:\n  some: {{mean: episode, clusters: "{clusters}"}}\n')
    if fits:
        sampled()
        return
    with pytest.raises(Rejected) as rejected:
        sampled()
    assert [found.code for found in rejected.value.diagnostics] == ["E_SUITE_FIGURE"]
