"""What any governor means, on a world of one number: judging, prices, supplies, the choice, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.run.loop import run
from tests.toys import findings_of, number_scenario, plan_of


@pytest.fixture
def make(tmp_path):
    return lambda **changes: plan_of(number_scenario(tmp_path, **changes))


def adds(*numbers, **claims):
    return [{"action": {"op": "add", "n": n}, "score": n, **claims} for n in numbers]


def judge(made, proposals, state=None, rejected=0, writes=None):
    return made.actors[0].judge(state or {"x": 0, "purse": 100}, proposals, rejected, writes or [0] * len(proposals))


def steps(made):
    return [event.body for event in run(made) if event.type == "step"]


def test_gates_see_the_recomputed_next_state_the_outcome_and_the_state_before(make):
    gates = [
        {"id": "after", "deny": "next.x > 5", "reason": "too_far", "witness": {"at": "next.x"}},
        {"id": "outcome", "require": "outcome.was == x", "reason": "odd"},
        {"id": "before", "require": "now.x < 4", "reason": "late"},
    ]
    made = make(governor={"gates": gates})
    found = judge(made, adds(1, 3, 9), state={"x": 4, "purse": 0})
    late = {"gate": "before", "reason": "late", "witness": {}}
    far = [{"gate": "after", "reason": "too_far", "witness": {"at": at}} for at in (7, 13)]
    assert [judgement.rejected for judgement in found] == [[late], [far[0], late], [far[1], late]]


def test_with_mode_first_the_first_gate_that_rejects_decides(make):
    gates = [
        {"id": "even", "deny": "action.n % 2 == 0", "reason": "r"},
        {"id": "high", "deny": "action.n > 2", "reason": "r"},
        {"id": "inverse", "when": "action.n != 2", "deny": "6 / (action.n - 2) > 100", "reason": "r"},
        {"id": "unguarded", "deny": "6 / (action.n - 2) == 6", "reason": "r"},
    ]
    proposals = adds(*range(-3, 6))
    everything = judge(make(governor={"gates": gates[:3]}), proposals)
    found = judge(make(governor={"gates": gates, "mode": "first"}), proposals)
    assert [one.error for one in found] == [None] * 9  # `unguarded` never judges the 2, which is even
    assert [one.rejected for one in found] == [one.rejected[:1] for one in everything]


def test_a_gate_that_requires_and_one_that_denies_are_opposites(make):
    """Also with `||`, whose parts must not be torn apart by the negation or by `when`."""
    gates = [
        {"id": "yes", "require": "action.n == 1 || action.n == 3", "reason": "r"},
        {"id": "no", "deny": "action.n == 1 || action.n == 3", "reason": "r"},
        {"id": "maybe", "when": "action.n == 2 || x > 0", "require": "action.n == 1 || action.n == 3", "reason": "r"},
    ]
    found = judge(make(governor={"gates": gates}), adds(1, 2, 3))
    assert [[failing["gate"] for failing in judgement.rejected] for judgement in found] == [
        ["no"],
        ["yes", "maybe"],
        ["no"],
    ]


@pytest.mark.parametrize(
    ("gate", "rejects", "witness"),
    [
        ({"when": "outcome.was == 2", "deny": "true"}, [2], {}),
        ({"deny": "outcome.was == 2"}, [2], {}),
        ({"require": "outcome.was == 2"}, [1], {}),
        ({"deny": "x == 2", "witness": {"was": "outcome.was"}}, [2], {"was": 2}),
    ],
)
def test_an_outcome_that_one_part_of_a_gate_reads_alone_is_computed(make, gate, rejects, witness):
    made = make(governor={"gates": [{"id": "was", "reason": "r", **gate}]})
    found = {x: judge(made, adds(1), state={"x": x, "purse": 0})[0].rejected for x in (1, 2)}
    held = [{"gate": "was", "reason": "r", "witness": witness}]
    assert found == {x: held if x in rejects else [] for x in (1, 2)}


def test_the_first_of_the_greatest_admitted_is_chosen(make):
    made = make(governor={"choose": {"maximise": "-(proposal.score - 2) * (proposal.score - 2) / 2"}})
    assert [judgement.value for judgement in judge(made, adds(1, 2, 3))] == [0, 0, 0]
    assert [step["chosen"] for step in steps(made)] == [0] * 4
    made = make(governor={"gates": [{"id": "first", "deny": "action.n == 3", "reason": "r"}]})
    assert [step["chosen"] for step in steps(made)] == [1] * 4


def test_a_memory_starts_from_constants_and_the_observation_though_nothing_is_remembered(make):
    fields = {"first": {"type": "int", "start": "FIRST + x"}}
    made = make(
        governor={"constants": {"FIRST": 5}, "memory": {"fields": fields}, "potentials": {"first": {"is": "first"}}}
    )
    assert [step["potentials"]["first"]["from"] for step in steps(made)] == [5] * 4


PRICES = {
    "let": {"base": "10 * proposals", "twice": "2 * base"},
    "cost": {"thinking": "twice", "acting": "action.n", "memory": "100 * writes", "waste": "1000 * rejected"},
    "each": {"half": "cost / 2"},
    "supply": {"price": "half"},
}


@pytest.fixture(scope="module")
def priced(tmp_path_factory):
    return plan_of(number_scenario(tmp_path_factory.mktemp("priced"), governor=PRICES))


@given(numbers=st.lists(st.integers(-9, 9), min_size=1, max_size=6), rejected=st.integers(0, 9), data=st.data())
def test_a_price_has_items_that_add_up_and_a_supply_reads_it(priced, numbers, rejected, data):
    writes = data.draw(st.lists(st.integers(0, 5), min_size=len(numbers), max_size=len(numbers)))
    found = judge(priced, adds(*numbers), rejected=rejected, writes=writes)
    for judgement, n, count in zip(found, numbers, writes, strict=True):
        items = {"thinking": 20 * len(numbers), "acting": n, "memory": 100 * count, "waste": 1000 * rejected}
        assert judgement.cost == {**items, "total": sum(items.values())}
        assert judgement.inputs == {"price": int(sum(items.values()) / 2)}  # truncated toward zero


def test_what_is_supplied_reaches_the_step_and_the_receipt(make):
    spend = [{"set": "x", "to": "x + n"}, {"set": "purse", "to": "purse - price"}]
    actions = {"add": {"args": {"n": "int"}, "effects": spend}}
    made = make(world={"actions": actions}, governor={"cost": {"acting": "7"}, "supply": {"price": "cost"}})
    assert [step["inputs"] for step in steps(made)] == [{"price": 7}] * 4
    assert judge(made, adds(1))[0].inputs == {"price": 7}
    assert made.actors[0].step({"x": 0, "purse": 100}, "add", {"n": 1}, {"price": 7})[0] == {"x": 1, "purse": 93}


@pytest.mark.parametrize(
    ("price", "counted"), [("1", [0, 1, 1, 1]), ("0", [0, 1, 2, 3]), ("x > 1 ? 1 : 0", [0, 1, 2, 1])]
)
def test_rejected_counts_the_attempts_since_the_last_step_with_a_cost(make, price, counted):
    """`waste` only tells what was counted; it costs nothing itself."""
    made = make(
        governor={
            "cost": {"acting": price},
            "supply": {"price": "rejected"},
            "gates": [{"id": "three", "deny": "action.n == 3", "reason": "r"}],
            "choose": {"maximise": "-action.n"},
        }
    )
    assert [step["inputs"]["price"] for step in steps(made)] == counted


def test_rejected_counts_on_where_nothing_was_admitted(make):
    made = make(
        governor={
            "cost": {"acting": "1"},
            "supply": {"price": "rejected"},
            "gates": [
                {"id": "wait", "require": "rejected > 5", "reason": "too_soon", "witness": {"rejected": "rejected"}}
            ],
        }
    )
    seen = [
        [d["rejected"][0]["witness"]["rejected"] for d in step["decisions"] if d["rejected"]] for step in steps(made)
    ]
    assert seen == [[0, 0, 0], [3, 3, 3], [], [0, 0, 0]]


# --- evaluation errors


def test_an_error_in_one_judgement_leaves_the_others_judged_and_denies_that_one(make):
    gates = [{"id": "quotient", "deny": "6 / (action.n - 3) < -5", "reason": "r"}]
    made = make(governor={"gates": gates})
    found = judge(made, adds(1, 2, 3))
    assert [judgement.error is None for judgement in found] == [True, True, False]
    assert [len(judgement.rejected) for judgement in found] == [0, 1, 0]
    assert found[2].error.code == "E_EVAL_DIVISION_BY_ZERO"
    assert found[2].cost == {}
    for step in steps(made):
        assert step["chosen"] == 0
        assert step["decisions"][2]["error"] == {
            "code": "E_EVAL_DIVISION_BY_ZERO",
            "expression": "6 / (action.n - 3) < -5",
            "offset": step["decisions"][2]["error"]["offset"],
        }


def test_judging_the_rest_again_sees_the_whole_set(make):
    """The number of proposals, and the writes of each, are those of the set, not of what is left of it."""
    made = make(
        governor={
            "cost": {"thinking": "proposals", "memory": "10 * writes"},
            "gates": [{"id": "quotient", "deny": "1 / (action.n - 3) > 5", "reason": "r"}],
        }
    )
    found = judge(made, adds(1, 3, 2), writes=[4, 5, 6])
    assert [judgement.cost for judgement in found] == [
        {"thinking": 3, "memory": 40, "total": 43},
        {},
        {"thinking": 3, "memory": 60, "total": 63},
    ]


@pytest.mark.parametrize(
    "governor",
    [
        {"let": {"bad": "1 / x"}, "gates": [{"id": "g", "deny": "bad > 0", "reason": "r"}]},
        {"cost": {"bad": "1 / x"}},
        {"supply": {"price": "1 / x"}},
        {"gates": [{"id": "g", "deny": "true", "reason": "r", "witness": {"bad": "1 / x"}}]},
        {"choose": {"maximise": "1 / x"}},
        {"cost": {"a": "9223372036854775807", "b": "action.n"}},
    ],
    ids=["let", "cost", "supply", "witness", "choose", "sum of the cost"],
)
def test_an_error_anywhere_in_the_judgement_admits_nothing(make, governor):
    made = make(governor=governor, scenario={"horizon": 1})
    (step,) = steps(made)
    assert step["chosen"] is None
    assert all(decision["error"] and not decision["rejected"] for decision in step["decisions"])
    assert step["before"] == step["after"]


def test_a_condition_guards_its_gate_and_a_rejection_its_witness_from_errors(make):
    """What is not asked is not computed, however often the same thing is computed elsewhere."""
    quotient = "6 / (action.n - 2)"
    gates = [
        {
            "id": "guarded",
            "when": "action.n != 2",
            "deny": f"{quotient} > 5",
            "reason": "r",
            "witness": {"q": quotient},
        },
        {"id": "told", "deny": "action.n == 3", "reason": "r", "witness": {"q": quotient}},
        {"id": "lazy", "deny": f"action.n != 2 && {quotient} < -5", "reason": "r"},
    ]
    found = judge(make(governor={"gates": gates}), adds(1, 2, 3))
    assert [judgement.error for judgement in found] == [None] * 3
    assert [[failing["gate"] for failing in judgement.rejected] for judgement in found] == [
        ["lazy"],
        [],
        ["guarded", "told"],
    ]
    assert [failing["witness"] for failing in found[2].rejected] == [{"q": 6}, {"q": 6}]


# --- what is refused, with its place


def gate(identifier, **more):
    return {"id": identifier, "deny": "false", "reason": "r", **more}


REFUSED = {
    "an input that is not supplied": ({"supply": {}}, "E_DECLARATION", "'price'"),
    "a supply that is no input": ({"supply": {"price": "0", "prise": "0"}}, "E_DECLARATION", "'prise'"),
    "a supply of another type": ({"supply": {"price": "'free'"}}, "E_EXPR_TYPE", "string"),
    "two gates of one name": ({"gates": [gate("a"), gate("b"), gate("a")]}, "E_DECLARATION", "'a'"),
    "a gate with the name of the first one": ({"gates": [gate("schema")]}, "E_DECLARATION", "'schema'"),
    "an item with the name of the sum": ({"cost": {"total": "1"}}, "E_DECLARATION", "'total'"),
    "an item that is no number": ({"cost": {"move": "true"}}, "E_EXPR_TYPE", "bool"),
    "a claim named as the action": ({"claims": {"action": "int"}}, "E_DECLARATION", "'action'"),
    "a claim of an unknown type": ({"claims": {"end": "place"}}, "E_DECLARATION", "'place'"),
    "a claim that is a double": ({"claims": {"odds": "double"}}, "E_NOT_SEALABLE", "'odds'"),
    "a witness that is a double": ({"gates": [gate("a", witness={"w": "0.5"})]}, "E_NOT_SEALABLE", "'w'"),
    "a gate that is no condition": ({"gates": [gate("a", deny="x")]}, "E_EXPR_TYPE", "int"),
    "a condition that is none": ({"gates": [gate("a", when="x")]}, "E_EXPR_TYPE", "int"),
    "a gate about nothing": ({"gates": [gate("a", deny="y > 0")]}, "E_EXPR_UNKNOWN_NAME", "y"),
    "a let with the name of the state": ({"let": {"x": "1"}}, "E_NAME_TAKEN", "'x'"),
    "a let with a name of the engine": ({"let": {"cost": "1"}}, "E_NAME_TAKEN", "'cost'"),
    "a constant with the name of the state": ({"constants": {"x": 1}}, "E_NAME_TAKEN", "'x'"),
    "a function with the name of a standard one": (
        {"functions": {"size": {"args": ["a"], "is": "a"}}}, "E_NAME_TAKEN", "'size'",
    ),
    "the next state in a price": ({"cost": {"move": "next.x"}}, "E_EXPR_UNKNOWN_NAME", "next"),
    "a choice that is no number": ({"choose": {"maximise": "true"}}, "E_EXPR_TYPE", "bool"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(make, name):
    governor, code, words = REFUSED[name]
    findings_of(make, governor=governor, code=code, words=words, file="governor.yaml")


def test_all_findings_come_at_once(make):
    governor = {"supply": {}, "gates": [gate("a", deny="y"), gate("b", when="z")], "choose": {"maximise": "true"}}
    assert len(findings_of(make, governor=governor)) == 4
