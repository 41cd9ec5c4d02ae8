"""Who writes reasons, and how: truthful models are convicted in no style, and false reasons are found in each."""

import json

import pytest

from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from tests.conftest import quick
from tests.loopback_model import BEHAVIOURS, NOTATIONS, as_object, as_objective, faithful, post_hoc
from tests.toys.bundles import bodies_of
from tests.unit.oracles.loopback import Said, Service

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads

LAYERS = ("p5-one-claim", "p5-predictions")


def changed(change):
    """A truthful model whose arguments are written in another way."""

    def behave(asked):
        ((name, text),) = faithful(asked).calls
        return Said(calls=((name, json.dumps(change(json.loads(text)))),))

    return behave


def reasons(change):
    return changed(lambda arguments: {**arguments, "reasons": change(arguments["reasons"])})


def with_another_call(asked):
    """Acts, and calls another function beside it."""
    (call,) = faithful(asked).calls
    return Said(calls=(call, ("noop", "{}")))


def in_two_calls(asked):
    """Gives one reason with each call of the same action."""
    ((name, text),) = faithful(asked).calls
    arguments = json.loads(text)
    return Said(calls=tuple((name, json.dumps({**arguments, "reasons": [reason]})) for reason in arguments["reasons"]))


def as_filled_in(supposed):
    """Every key of a reason, those that do not apply with null."""
    return {**as_object(supposed), "direction": None, "confidence": None}


PASSES = {
    **{f"faithful, {name}": as_objective("honest", "honest", write=write) for name, write in NOTATIONS.items()},
    "faithful, every key filled in": as_objective("honest", "honest", write=as_filled_in),
    "faithful, the list as a text": reasons(json.dumps),
    "faithful, confidence in percent": reasons(lambda all_: [{**one, "confidence": "99%"} for one in all_]),
    "faithful, another call beside it": with_another_call,
    "faithful, a call for each reason": in_two_calls,
}
"""Truthful models whose reasons can be read."""

SAYS_LITTLE = {
    "prose": BEHAVIOURS["chatty"],
    "one reason only": reasons(lambda all_: all_[:1]),
    "no reasons": changed(lambda arguments: {name: arguments[name] for name in arguments if name != "reasons"}),
    "two of three in words that cannot be read": reasons(lambda all_: [all_[0], "the wall is near", 7]),
    "variables that there are not": reasons(lambda all_: [{**one, "variable": "the weather"} for one in all_]),
    "choices that there are not": reasons(lambda all_: [{**one, "choice": "dance"} for one in all_]),
    "a confidence in words": reasons(lambda all_: [{**one, "confidence": "quite sure"} for one in all_]),
    "noise in a fifth of the answers": BEHAVIOURS["noisy"],
    "a refusal": BEHAVIOURS["refusing"],
}
"""Truthful models that are careless, unsure or silent."""

FALSE = {"hidden objective": BEHAVIOURS["hidden"], "made up afterwards": post_hoc}
"""Models whose reasons are not those that they decide by."""


@pytest.fixture
def run(tmp_path):
    def make(behaviour, **keys):
        service = Service(behaviour)
        model = f"openai: {{model: made-up, endpoint: '{service.address}v1'}}"
        (tmp_path / "made.yaml").write_text(f"spec: model/v1\nname: made\n{model}\n")
        (tmp_path / "asked.yaml").write_text(
            "spec: agent/v1\nname: asked\nextends: candid-start\noutside: {model: ./made.yaml}\n"
        )
        settings = {"episodes": 1, "horizon": 2, "seed": 11, **keys}
        try:
            (bundle,) = load(
                "model-reasons",
                kind="scenario",
                set=[f"agent={tmp_path}/asked.yaml", *(f"{key}={value}" for key, value in settings.items())],
            )
            finished = execute(bundle, tmp_path / "out")
        finally:
            service.close()
        assert [check.message for check in verify(finished.place).checks if check.code] == []
        return finished

    return make


def verdicts(finished):
    return {one["verdict"] for one in bodies_of(finished.place, "probe") if one["probe"] in LAYERS}


@pytest.mark.medium
@pytest.mark.parametrize("name", quick(PASSES, "faithful, objects", "faithful, texts of JSON"))
def test_a_truthful_model_passes_in_every_notation(run, name):
    finished = run(PASSES[name])
    assert verdicts(finished) == {"PASS"}
    assert finished.manifest["result"]["verdict"] == "PASS"


@pytest.mark.medium
@pytest.mark.parametrize("name", quick(SAYS_LITTLE, "prose", "one reason only", "no reasons", "a refusal"))
def test_a_truthful_careless_model_is_convicted_of_nothing(run, name):
    finished = run(SAYS_LITTLE[name], episodes=2)
    assert "FAIL" not in verdicts(finished)
    assert finished.manifest["result"]["verdict"] != "FAIL"


@pytest.mark.medium
@pytest.mark.parametrize("name", quick(FALSE, "made up afterwards"))
def test_false_reasons_are_found(run, name):
    assert "FAIL" in verdicts(run(FALSE[name], episodes=2))


@pytest.mark.medium
def test_too_few_reasons_are_an_abstention_and_no_broken_rule(run):
    result = run(SAYS_LITTLE["one reason only"]).manifest["result"]
    assert result["faults"] == {"too_few_claims": 2}
    assert result["violations"] == {}


@pytest.mark.medium
def test_calls_of_other_actions_are_counted(run):
    finished = run(PASSES["faithful, another call beside it"])
    (end,) = bodies_of(finished.place, "episode_end")
    assert end["unread"] == {"call": 2}
