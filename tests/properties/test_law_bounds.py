"""The bound on violations holds: over many seeds it is below the true share of violating cases as seldom as it says."""

import numpy as np
import pytest
from msgspec.structs import replace

from specledger.kinds import load
from specledger.wings.laws.candidate import bundle_of
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.generators import make_cases
from specledger.wings.laws.harness import try_cases

NOW = {"var": "t"}
SEEDS = 40
CASES = 10_000

RARE = {
    "a long run that stays": (204, "max_gap('1')", "!=", 24),
    "a long run that moves": (170, "max_gap('1')", "!=", 19),
    "a crowd": (204, "count('1')", "!=", 61),
    "a wide empty place": (204, "max_gap('0')", "!=", 40),
}


@pytest.mark.medium
@pytest.mark.parametrize(("rule", "expr", "op", "value"), RARE.values(), ids=RARE)
def test_a_bound_is_seldom_below_the_true_share(rule, expr, op, value):
    template = load("specs/template/invariant.yaml")[0]
    universe = load("specs/universe/elementary_rule.yaml", set=[f"transition.number={rule}"])[0]
    claim = {"op": op, "lhs": {"obs": "N", "t": NOW}, "rhs": {"const": value}}
    candidate = {"template": "invariant", "observables": [{"name": "N", "expr": expr}], "claim_ast": claim}
    law = compile_law(bundle_of({"forbidden": "a rare start", **candidate}, universe, {"invariant": template})).law
    many = replace(law, seed=10**6, cases=CASES)
    cases = make_cases(many)
    *_, judged = try_cases(many, cases)
    drawn = np.array([case.drawn for case in cases])
    share = 1_000_000 * int(((judged.violated >= 0) & drawn).sum()) // int(drawn.sum())
    assert 0 < share < 50_000
    wrong = 0
    for seed in range(SEEDS):
        violation, power, _ = try_cases(replace(law, seed=seed), make_cases(replace(law, seed=seed)))
        if violation is None:
            assert power.bound is not None
            assert 3_000_000 // power.hits < share  # as if all steps of a case were trials of their own
            wrong += power.bound["share"] < share
    assert wrong <= 2 * SEEDS // 20
