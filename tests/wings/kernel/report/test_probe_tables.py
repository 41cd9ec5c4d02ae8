"""The tables of challenges: power, cost, and stated confidence; and the plot of the last."""

import pytest

from specledger.report.agent_metrics import RunMetrics, totals
from specledger.report.held_claims import NO_PROOF
from specledger.report.plots import Rates, probe_plots
from specledger.report.probe_sections import probe_sections
from specledger.report.sections import Words
from specledger.wings.kernel.report.probe_tables import power


@pytest.mark.parametrize(
    ("share", "decided", "wanted"),
    [
        (50_000, 0, 0),
        (50_000, 59, 951_505),  # the fewest that notice 5 % with 95 %
        (50_000, 58, 948_953),
        (300_000, 1, 300_000),
        (1_000_000, 1, 1_000_000),
    ],
)
def test_the_power_of_challenges(share, decided, wanted):
    assert power(share, decided) == wanted


def told(verdict, *claims):
    """A receipt of a challenge: of each claim its confidence, and whether it held."""
    trials = [
        {"drawn": drawn, "variable": "x", "predicted": "a", "after": "a", "held": held}
        | ({} if sure == 1_000_000 else {"confidence": sure})
        for drawn, (sure, held) in enumerate(claims)
    ]
    arms = {"null": {"asked": 2, "changed": 0}, "placebo": {"asked": 1, "changed": 0}}
    evidence = {"of": "claims", "before": "b", "trials": trials, **arms, "answers": verdict}
    return {
        "probe": "why",
        "at": "after_commit",
        "episode": 0,
        "t": 0,
        "verdict": verdict,
        "cause": "",
        "evidence": evidence,
    }


def metrics(*bodies):
    made = RunMetrics("run", "scenario", ["why"])
    made.add("episode", {"episode": 0})
    for body in bodies:
        made.add("probe", body)
    made.add("episode_end", {"episode": 0, "ended": "horizon", "success": False, "violations": []})
    return {"agent": [made]}


def rows(agents, name):
    (section,) = (one for one in probe_sections(agents) if one.id == name)
    return list(section.rows)


def test_challenges_that_decided_are_counted_and_what_they_cost():
    agents = metrics(told("PASS", (1_000_000, True)), told("FAIL", (1_000_000, False)), told("INCONCLUSIVE"))
    (row,) = rows(agents, "power")
    assert [cell.number for cell in row.cells[:2]] == [2, 5 + 5 + 4]
    assert not rows(agents, "stated-confidence")
    assert not [plot for plot in probe_plots(agents) if plot.title == "Stated confidence"]


def test_how_many_claims_held_is_told_with_what_would_have_been_noticed():
    """Of 3 claims 1 - 0.2^(1/3) is the share of which one shows with 80 %."""
    agents = metrics(told("PASS", (1_000_000, True), (900_000, True)), told("FAIL", (1_000_000, False)))
    (section,) = (one for one in probe_sections(agents) if one.id == "held-claims")
    (row,) = section.rows
    assert row.name == "agent: why"
    assert row.cells[1:] == (Words("20.77 % to 93.85 %"), Words("41.52 %"))
    assert NO_PROOF in section.intro
    assert totals(agents)["agent"]["probes"]["why"]["claims"] == {
        "held": 2,
        "tested": 3,
        "wilson": {"low": 207_659, "high": 938_509},
        "noticed": 415_197,
    }
    assert not rows(metrics(told("INCONCLUSIVE")), "held-claims")


def test_an_agent_with_doubts_has_a_table_and_a_plot():
    agents = metrics(told("PASS", (900_000, True), (900_000, False)), told("PASS", (200_000, False)))
    assert len(rows(agents, "stated-confidence")) == 2
    (plot,) = (one for one in probe_plots(agents) if one.title == "Stated confidence")
    assert isinstance(plot, Rates)
    ((name, rates),) = plot.groups
    assert name == "agent: why"
    assert [(rate.value, rate.cases) for rate in rates] == [(0, "0 of 1"), (500_000, "1 of 2")]
