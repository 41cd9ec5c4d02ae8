"""Mistakes in suites: each finding with its place, its words and its hint."""

from pathlib import Path

import pytest

from specledger.compile.suite import compile_suite
from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from tests.toys import number_scenario, told_of

# a suite of the world of one number, and all that is said about it
MISTAKES = {
    "an arm that is not there": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "seeds": [3, 4]}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}, "f": {"mean": "m", "over": "shorrt"}, "g": {"mean": "m", "over": ["short", "x"]}}}},
        [
            "E_SUITE_ARM at `shorrt`: there is no 'shorrt'; there is short",
            "E_SUITE_ARM at `over`: there is no 'x'; there is short",
        ],
    ),
    "a mutant of an arm that is not there": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "seeds": [3, 4]}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "mutants": [{"id": "m", "arms": ["longg"], "scenarios": ["other"], "by": ["climb", "zzz"], "set": {"horizon": 1}}], "figures": {"high": {"mean": "m"}}}},
        [
            "E_SUITE_ARM at `arms`: there is no 'longg'; there is short",
            "E_SUITE_ARM at `scenarios`: there is no 'other'; there is scenario",
            "E_SUITE_BY at `climb`: mutant `m` of `suite`: suite has no check 'climb' | hint: did you mean `climbs`?",
            "E_SUITE_BY at `zzz`: mutant `m` of `suite`: suite has no check 'zzz' | hint: there is climbs",
        ],
    ),
    "two mutants of one id": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "seeds": [3, 4]}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "mutants": [{"id": "m", "set": {"horizon": 1}}, {"id": "n", "set": {"horizon": 1}}, {"id": "m", "set": {"horizon": 2}}], "figures": {"high": {"mean": "m"}}}},
        ["E_SUITE_TWICE at `m`: two mutants have the id 'm'"],
    ),
    "two runs of one name": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario", "scenario"]}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}}}},
        ["E_SUITE_TWICE at `scenario`: two runs are called 'short.scenario'"],
    ),
    "a seed that was tuned on": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "seeds": [3, 4]}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "tuned_on": [4, 5], "figures": {"high": {"mean": "m"}}}},
        ["E_SUITE_TUNED at `tuned_on`: short.scenario.4 uses the seed 4"],
    ),
    "a difference of an arm that is not there": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "seeds": [3, 4]}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}, "f": {"difference": "m", "over": ["short", "zz"]}}}},
        ["E_SUITE_ARM at `over`: there is no 'zz'; there is short"],
    ),
    "a path that is none": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "set": {"a..b": 1}}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}}}},
        ["E_SUITE_SET at `1`: 'a..b' is no path"],
    ),
    "a path that leads nowhere": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "set": {"horizn": 1}}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}}}},
        ["E_SUITE_SET at `horizn`: arm `short` of `suite`, `horizn`: there is no `horizn` here | hint: did you mean `horizon`?"],
    ),
    "a path into a list": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "set": {"governor.gates.tired": None}}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}}}},
        ["E_SUITE_SET at `tired`: arm `short` of `suite`, `governor.gates.tired`: there is no element `tired` here"],
    ),
    "a value that does not fit": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "set": {"horizon": "a"}}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}}}},
        ["E_SUITE_SET at `a`: arm `short` of `suite`, `horizon`: scenario would be invalid: horizon: Input should be a valid integer | hint: `spec explain scenario.horizon` says what may stand there"],
    ),
    "a measure that is wrong": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "seeds": [3, 4]}}, "measures": {"m": "stepps + 1"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}}}},
        ["E_EXPR_UNKNOWN_NAME at `stepps`: unknown name `stepps` | hint: did you mean `steps`?"],
    ),
    "a figure of no measure": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "seeds": [3, 4]}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}, "f": {"mean": "heights"}}}},
        ["E_EXPR_UNKNOWN_NAME at `heights`: unknown name `heights` | hint: here can be read `run`, `arm`, `scenario`, `seed`, `horizon`, `episode`, `ended`, `success`, `first_success`, `breaches`, `start`, `steps`; a text is in quotes: `'heights'`"],
    ),
    "a figure of a condition": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "seeds": [3, 4]}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}, "f": {"mean": "success"}}}},
        ["E_SUITE_FIGURE at `success`: `mean` is made of int, or a list of int, not of bool"],
    ),
    "a rate of a number": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "seeds": [3, 4]}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}, "f": {"rate": "size(steps)"}}}},
        ["E_SUITE_FIGURE at `size(steps)`: `rate` is made of bool, or a list of bool, not of int"],
    ),
    "a check of no figure": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "seeds": [3, 4]}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "c", "require": "hgh.value > 1", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}}}},
        ["E_EXPR_UNKNOWN_NAME at `hgh`: unknown name `hgh` | hint: did you mean `high`?"],
    ),
    "two checks of one id": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "seeds": [3, 4]}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "c", "require": "high.value > 1", "opportunities": "high.of"}, {"id": "c", "require": "high.value > 2", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}}}},
        ["E_DECLARATION at `c`: two checks have the id 'c'"],
    ),
    "a check that is none": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "seeds": [3, 4]}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "c", "require": "high.value", "opportunities": "high.value > 1"}], "figures": {"high": {"mean": "m"}}}},
        [
            "E_EXPR_TYPE at `high.value`: the value does not fit its place: expected bool, found int | expected: bool | found: int | hint: compare it: `high.value != 0`",
            "E_EXPR_TYPE at `high.value > 1`: the value does not fit its place: expected int, found bool | expected: int | found: bool | hint: write `high.value > 1 ? 1 : 0`",
        ],
    ),
    "a name that no run gives": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "seeds": [3, 4]}}, "measures": {"m": "size(steps.filter(s, s.rejections.exists(r, r.gate == 'zzz')))"}, "checks": [{"id": "climbs", "require": "high.value > 1", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}, "f": {"mean": "m"}}}},
        ["W_SUITE_NAME at `'zzz'`: no run of the suite has the gate 'zzz' | hint: there is schema, token"],
    ),
    "an arm that no figure has": (
        {"suite": {"runs": {"short": {"scenarios": ["scenario"], "seeds": [3, 4]}}, "measures": {"m": "size(steps)"}, "checks": [{"id": "c", "require": "runs.exists(r, r.arm == 'shrt')", "opportunities": "high.of"}], "figures": {"high": {"mean": "m"}}}},
        ["W_SUITE_NAME at `'shrt'`: no run of the suite has the arm 'shrt' | hint: did you mean `short`?"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_in_full(tmp_path, monkeypatch, changes, said):
    monkeypatch.chdir(tmp_path)
    number_scenario(Path(), **changes)

    def compiled():
        raise Rejected(compile_suite(load("suite/suite.yaml")[0]).warnings)

    assert told_of(compiled) == said
