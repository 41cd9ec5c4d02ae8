"""What is unknown decides nothing: a value that comes out is the one that every completion gives."""

from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from specledger.compile.actor import footing_of
from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.core.unknown import Unknown
from specledger.expr import BOOL, Environment, check, evaluate
from specledger.expr.eval.evaluator import evaluate_known, touched
from specledger.gates.governor import check_governor
from specledger.gates.invariant import check_invariant
from specledger.gates.known import known_invariant, known_judge, known_monitor_writes
from specledger.kinds import load
from specledger.run.loop import run
from specledger.worlds.check import check_world
from specledger.worlds.emit import compile_between, compile_over
from specledger.worlds.known import known_step, recorded_between, recorded_over
from tests.conftest import examples
from tests.properties.test_expr_agreement import BINDINGS, VARIABLES, checked_of, expressions, outcome, same

NAMES = sorted(VARIABLES)
MEMBERS = [("p", "x"), ("q", "y"), ("rec", "here"), ("rec", "spots")]


def left_out(values, names, members):
    """Values of which some, and some members of records, are unknown."""
    fewer: dict[str, Any] = {name: Unknown(name) if name in names else value for name, value in values.items()}
    for name, member in members:
        if type(fewer[name]) is dict:
            fewer[name] = {**fewer[name], member: Unknown(f"{name}.{member}")}
    return fewer


def holds_unknown(value):
    """Whether something in a record, a map or a list is unknown."""
    if isinstance(value, dict | list):
        return any(map(holds_unknown, value.values() if isinstance(value, dict) else value))
    return type(value) is Unknown


@pytest.mark.medium
@settings(max_examples=examples(300))
@given(expressions(), BINDINGS, st.sets(st.sampled_from(NAMES), max_size=6), st.sets(st.sampled_from(MEMBERS)))
def test_a_value_that_comes_out_is_that_of_every_completion(text, values, names, members):
    checked = checked_of(text)
    if checked is None:
        return
    fewer = left_out(values, names, members)
    whole, part = outcome(evaluate, checked, values), outcome(evaluate_known, checked, fewer)
    if type(part[1]) is Unknown:
        event("unknown")
        assert touched(checked, fewer) is not None
    elif part[0] == "value" and holds_unknown(part[1]):
        event("a value with unknown members")
    else:
        event(f"known {part[0]}")
        assert part[0] == whole[0]
        assert same(part[1], whole[1])


def test_nothing_unknown_is_the_exact_evaluation():
    text = "i > 0 && few.exists(e, e > i) ? p.x : sum(ints)"
    checked = checked_of(text)
    values = {"i": 2, "few": [1, 3], "p": {"x": 7, "y": 0}, "ints": [1]}
    assert evaluate_known(checked, values) == evaluate(checked, values) == 7
    assert touched(checked, values) is None


U, T, F = Unknown("u"), True, False


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("b && c", (U, F), F), ("b && c", (F, U), F), ("b && c", (U, T), U), ("b && c", (T, U), U),
        ("b || c", (U, T), T), ("b || c", (T, U), T), ("b || c", (U, F), U), ("b || c", (F, U), U),
        ("!b", (U, T), U), ("b == b", (U, T), U), ("b ? c : true", (U, T), U), ("b ? c : true", (F, U), T),
        ("b ? c : true", (T, U), U), ("[b, c].exists(e, e)", (U, T), U), ("[1, 2].exists(e, b || e == 2)", (U, T), T),
        ("[1, 2].all(e, b && e == 2)", (U, T), F), ("1 / 0 == 1 || b", (U, T), U), ("b || 1 / 0 == 1", (T, U), T),
    ],
)  # fmt: skip
def test_kleene_logic(text, values, expected):
    diagnostics = Diagnostics()
    checked = check(Text.inline(text), Environment({"b": BOOL, "c": BOOL}), diagnostics)
    assert checked is not None, diagnostics.sorted()
    assert evaluate_known(checked, dict(zip("bc", values, strict=True))) == expected


@pytest.mark.medium
@pytest.mark.parametrize("name", ["simple", "hazard", "two-tank", "axion-plans"])
def test_where_nothing_is_unknown_three_values_are_what_generated_code_gives(name):
    (bundle, *_) = load(name, kind="scenario", set=["episodes=1", "horizon=25"])
    plan, (world, governor, invariants) = compile_scenario(bundle), _checked(bundle)
    (actor,) = plan.actors
    like, compared = plan.start(0), []
    step, over = known_step(world), recorded_over(world, world.observe, like)
    judge = known_judge(governor, step, predicts=True)
    observe = compile_over(world, world.observe, like)
    describe = [make(world, world.record, like) for make in (compile_between, recorded_between)]

    def stepped(state, op, action, inputs):
        made = actor.step(state, op, action, inputs)
        assert step(state, op, action, inputs) == made
        assert over(made[0]) == observe(made[0])
        assert describe[0](state, *made) == describe[1](state, *made)
        compared.append(op)
        return made

    def judged(state, proposals, rejected, writes, memory):
        found = actor.judge(state, proposals, rejected, writes, memory)
        three = judge(state, proposals, len(proposals), rejected, writes, memory)
        assert [one[:4] for one in three] == [(one.rejected, one.value, one.cost, one.inputs) for one in found]
        assert not any(one[5] for one in three)
        return found

    def broken(planned):
        invariant = invariants[planned.name]

        def judge_invariant(*given):
            found = planned.judge(*given)
            assert known_invariant(invariant)(*given) == found
            return found

        monitor = planned.monitor
        if monitor is not None:
            remember = known_monitor_writes(invariant.monitor, invariant.monitor.writes)

            def remembered(*given):
                after = planned.monitor.remember(*given)
                assert remember(*given) == after
                return after

            monitor = replace(monitor, remember=remembered)
        return replace(planned, judge=judge_invariant, monitor=monitor)

    watched = replace(
        plan,
        actors=(replace(actor, step=stepped, judge=judged),),
        invariants=tuple(map(broken, plan.invariants)),
    )
    assert list(run(watched))[-1].type == "end"
    assert compared


def _checked(bundle):
    diagnostics = Diagnostics()
    world = check_world(bundle.specs[bundle.main.refs["world",]], bundle, diagnostics)
    assert world is not None
    governor_spec = bundle.specs[bundle.main.refs["governor",]]
    governor = check_governor(governor_spec, footing_of(world), diagnostics)
    specs = {key for spec in (governor_spec, bundle.main) for path, key in spec.refs.items() if path[0] == "invariants"}
    invariants = {
        bundle.specs[key].name: check_invariant(bundle.specs[key], footing_of(world), diagnostics) for key in specs
    }
    return world, governor, invariants
