"""The ring that is drawn of a law: which start it has, that it can be used, and what is drawn where there is none."""

import pytest
from msgspec.structs import replace

from specledger.kinds import load
from specledger.wings.laws import report as law_report
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.verify.conditions import InvalidCertificate
from specledger.wings.laws.verify.violation import Trajectory

FOUND = {"start": ".>.<", "t": 1, "excerpt": {"from": 0, "states": [".>.<", "..X.", ".<.>"]}}
VERDICT = {"law": "one", "claim": "a claim", "status": "PASS", "counterexample": None}


def law_of(name):
    return compile_law(load(name, kind="law")[0]).law


def drawn_of(law, verdict=VERDICT):
    return law_report.spacetime(law, verdict, "laws.one")


# a law, and the start of its example: tested as often as it can be, then with all symbols, then with many states
STARTS = {
    "momentum": ".>.<",
    "no-collision-one-way": "...>",
    "one-way-is-calm": ">>>>",
    "total-particles-from-anywhere": "...X",
    "rule-204-one": "001",
    "places-of-nine-movers": None,
}


@pytest.mark.parametrize(("name", "start"), STARTS.items(), ids=STARTS)
def test_the_example_begins_with_the_first_start_that_shows_most(name, start):
    law = law_of(name)
    found = law_report.example_start(law)
    assert (None if found is None else "".join(law.universe.alphabet[cell] for cell in found)) == start
    if found is not None:
        assert len(found) == law.universe.shortest
        assert Trajectory(law, found).usable()
        assert {*found} <= {*law.starts}


@pytest.mark.parametrize("name", ["places-of-nine-movers", "particles-have-entropy", "square-of-squares"])
def test_nothing_is_drawn_of_a_law_without_a_start_or_of_which_nothing_can_be_said(name):
    assert drawn_of(law_of(name)) is None


def test_a_figure_beyond_64_bits_leaves_the_law_without_a_picture(monkeypatch):
    def raises(*_):
        raise InvalidCertificate("an integer leaves 64 bits")

    law = law_of("momentum")
    assert drawn_of(law) is not None
    monkeypatch.setattr(law_report, "measured", raises)
    assert drawn_of(law) is None


def test_what_is_drawn_is_bounded():
    drawn = drawn_of(replace(law_of("momentum"), T=200))
    assert (len(drawn["rows"]), drawn["states"]) == (law_report.EXAMPLE_STATES, 201)
    assert len(drawn["observables"]) == law_report.EXAMPLE_STATES


def test_a_counterexample_is_drawn_to_just_after_the_violation():
    observables = {"t": {"X": 1}, "t_plus_1": {"X": 0}}
    verdict = VERDICT | {"status": "FAIL", "counterexample": FOUND | {"observables": observables}}
    drawn = drawn_of(law_of("collisions-apart"), verdict)
    assert (drawn["rows"], drawn["states"], drawn["t"]) == ([".>.<", "..X.", ".<.>"], 3, 1)
    assert (drawn["excerpt"], drawn["observables"]) == ([0, 3], {"1": {"X": 1}, "2": {"X": 0}})
    assert "example, and no evidence" not in drawn["said"]
