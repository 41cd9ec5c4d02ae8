"""What a suite keeps of its episodes is bounded: beyond the bounds a figure is an error, never a number of fewer values."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.canonical import plain_form
from specledger.core.weight import footprint
from specledger.pipeline.verifying import verify
from specledger.run.workers import Processes
from specledger.suites import episodes, measures, plan
from specledger.verify.checks import Status


def errors_of(receipts):
    return {body["figure"]: body["error"] for body in receipts["figure"] if body["error"] is not None}


def refuted(folder):
    verification = verify(folder, executor=Processes(1))
    return [check.name for check in verification.checks if check.status is Status.FAILED]


@pytest.mark.medium
@pytest.mark.parametrize("kept", [0, 4000])
def test_an_episode_that_tells_too_much_has_no_steps_to_read(receipts, project, monkeypatch, kept):
    """It is the same for who verifies, and what needs no step has its value."""
    monkeypatch.setattr(episodes, "MAX_FACTS", kept)
    found = errors_of(receipts())
    assert {error["code"] for error in found.values()} == {"E_EVAL_LIMIT"}
    assert found.keys() == {"high", "highest", "lead", "temptations"}
    assert found["high"]["expression"] == "steps.map(s, s.record.reached)"
    assert json.loads((project / "out/manifest.json").read_bytes())["result"]["verdict"] == "ERROR"
    assert refuted(project / "out") == []


@pytest.mark.medium
def test_figures_of_too_many_values_are_errors_and_the_others_have_theirs(receipts, project, monkeypatch):
    """In the order of their names: the first ones have room."""
    monkeypatch.setattr(plan, "LEAST_VALUES", 20)
    monkeypatch.setattr(plan, "MAX_VALUES", 0)
    found = errors_of(receipts())
    assert {error["code"] for error in found.values()} == {"E_EVAL_LIMIT"}
    assert found
    assert not found.keys() & {"arrives", "arrives_by_seed"}
    assert refuted(project / "out") == []
    monkeypatch.setattr(plan, "LEAST_VALUES", measures.LEAST_VALUES)
    assert refuted(project / "out") != []


def test_nothing_is_kept_of_an_episode_that_tells_too_much(monkeypatch):
    monkeypatch.setattr(episodes, "MAX_FACTS", 1000)
    folded = episodes.Episodes({})
    folded.add("episode", {"state": {}})
    for tick in range(100):
        folded.add("drift", {"drift": "d" * 40, "t": tick, "changed": {}})
    assert folded._drifts == []


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_an_episode_keeps_all_that_has_room_and_nothing_beyond_one_byte(monkeypatch, count):
    """Whatever the upper bounds of single facts are, it is the sum of what they take that counts."""
    facts = [{"drift": "d" * tick, "t": tick, "changed": {"x": [tick] * 9}, "rebases": []} for tick in range(count)]
    whole = sum(footprint({**fact, "end": episodes.NOT_YET}, 10**9) for fact in facts)
    for most, kept in ((whole, count), (whole - 1, 0)):
        monkeypatch.setattr(episodes, "MAX_FACTS", most)
        folded = episodes.Episodes({})
        folded.add("episode", {"state": {}})
        for fact in facts:
            folded.add("drift", fact)
        assert len(folded._drifts) == kept


members = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.sampled_from([-6, -5, 256, 257]) | st.text()


@pytest.mark.medium
@given(st.recursive(members, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=2), inner)))
def test_a_fact_takes_no_more_memory_than_its_form_allows(fact):
    form = plain_form(fact)
    assert form is not None
    assert footprint(fact, 10**9) <= episodes.MOST_OF_BYTE * len(form)


def test_room_is_shared_by_the_runs_of_a_suite(project):
    from specledger.compile.suite import compile_suite
    from specledger.kinds import load

    compiled = compile_suite(load("heights.yaml")[0])
    assert compiled.values_of_run == measures.MAX_VALUES // len(compiled.cases)
