"""Measures that read other measures."""

import pytest

from specledger.compile.suite import compile_suite
from specledger.kinds import load
from specledger.suites.measures import Reading

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
