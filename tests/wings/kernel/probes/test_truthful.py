"""Truthful agents of many styles under the shipped challenges: none is convicted more often than their texts say."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.core.rng import Stream
from specledger.core.verdict import Verdict
from specledger.expr import INT, Environment, RecordType
from specledger.kinds import load
from specledger.wings.kernel.probes.challenge import make_challenge
from specledger.wings.kernel.probes.check import check_probe
from specledger.wings.kernel.probes.target import Answer, Situation
from tests.wings.kernel.probes.test_probes import DOCUMENT, STATE

CHOICES = ("east", "north", "wait")
NAMES = ("x", "y", "z")
PROBES = ("p5-causal", "p5-predictions", "p5-repeated", "p5-sequential", "layer-b", "layer-c", "layer-d", "layer-r")
FRESH = 1_000


@lru_cache
def shipped(name: str) -> Any:
    state = RecordType("state", dict.fromkeys(NAMES, INT))
    environment = Environment({**dict.fromkeys(NAMES, INT), "now": state})
    spec = load(str(Path("specs/probe") / f"{name}.yaml"))[0].main
    return check_probe(spec, environment, STATE, DOCUMENT, ["rule"], 50, Diagnostics())


@dataclass
class Truthful:
    """Reads x and y, not z; chooses by `style`, and predicts its most frequent choice after each change that moves it.

    Attributes:
        sure: How much more often than each other choice the leading one comes, in a calm state and in a wild one.
        rates: Whether it states how often the predicted choice comes.
        deterministic: It then always gives the leading choice, unless it only promises that.
        promised: It is a program, which says of itself that it is deterministic, and draws all the same.
        right: In how many of 100 forecasts it foresees its leading choice; with `rates` it says so.
    """

    seed: int
    sure: tuple[int, int] = (1, 1)
    rates: bool = False
    deterministic: bool = False
    promised: bool = False
    right: int = 100
    declares: bool = True

    def _leading(self, state):
        return (state["x"] + state["y"]) % 3

    def _weights(self, state):
        wild = state["x"] > 5 or state["y"] > 5
        leading = self.sure[wild]
        return [leading if n == self._leading(state) else 1 if leading < FRESH else 0 for n in range(3)]

    def _draw(self, state, key):
        if self.deterministic and not self.promised:
            return self._leading(state)
        weights = self._weights(state)
        place = Stream.named(self.seed, "draw", key, *state.values()).integer(0, sum(weights) - 1)
        return next(n for n in range(3) if place < sum(weights[: n + 1]))

    def choose(self, situation, asked):
        return Answer(CHOICES[self._draw(situation.state, asked)], 0)

    def declared(self, situation, asked):
        return Answer(CHOICES[self._leading(situation.state)], 0)

    def document(self, situation):
        chosen, told = self.choose(situation, 0).choice, []
        for name in NAMES:
            for value in self.alternatives(situation.state, name):
                leads = self._leading({**situation.state, name: value})
                if self.right < 100:  # it is wrong about the meaning of a variable now and then, and says how often
                    wrong = Stream.named(self.seed, "foresees", name, value).integer(1, 100) > self.right
                    leads = (leads + wrong) % 3
                told.append((name, value, CHOICES[leads]))
        made = [
            {"cf_id": f"cf-{n}", "mutation": {"var": name, "new_value": value}, "predicted_outcome": {"choice": choice}}
            for n, (name, value, choice) in enumerate(told)
        ]
        claims, cited = [], set[str]()
        for n, (name, _, choice) in enumerate(told):
            if choice != chosen and name not in cited:
                cited.add(name)
                claims.append({"var": name, "expected_effect_on_choice": f"{n} {choice}"})
        return {"trace": {"causal_claims": claims, "counterfactuals": made}}

    def confidences(self, document, situation):
        if not self.rates:
            return {}
        found = {}
        for one in document["trace"]["counterfactuals"]:
            state = {**situation.state, one["mutation"]["var"]: one["mutation"]["new_value"]}
            weights = self._weights(state)
            share = self.right / 100 if self.right < 100 else 1 if self.deterministic else max(weights) / sum(weights)
            found[one["cf_id"]] = int(share * 1_000_000)
        return found

    def read(self, claim, counterfactuals):
        number, choice = claim["expected_effect_on_choice"].split()
        return {"counterfactual": f"cf-{number}", "choice": choice, "direction": ""}

    def valid(self, document):
        return True

    def is_choice(self, label):
        return label in CHOICES

    def directions(self, situation):
        return {}

    def names(self, state):
        return list(NAMES)

    def alternatives(self, state, variable):
        return [value for value in (2, 9, 13) if value != state[variable]]

    def toward(self, state, variable, direction):
        return []

    def mutate(self, state, variable, value):
        return {**state, variable: value}, {"by": None, "changed": {variable: {}}}

    def unused(self, state):
        return ["z"]

    def fresh(self, number):
        return Situation(FRESH, 0, dict(zip(NAMES, (number % 5, number % 7, number % 3), strict=True)), {})

    def reveal(self, document, variables):
        return True

    def replay(self, document, situation):
        equal = self.choose(situation, 0) == self.declared(situation, 0)
        return {"equal": 2 + equal, "nodes": 3, "ends": equal}

    def restate(self, document, situation):
        return self.deterministic

    def token(self, sort):
        raise NotImplementedError

    def offer(self, situation, offer, token):
        raise NotImplementedError

    def attempt(self, situation, reply):
        raise NotImplementedError


class AnotherWhenAsked(Truthful):
    """Decides one thing, and when it is asked again answers as the agent that its reasons are about."""

    def choose(self, situation, asked):
        chosen = self._leading(situation.state)
        return Answer(CHOICES[chosen if asked else (chosen + 1) % 3], 0)

    def document(self, situation):
        return {"trace": Truthful(self.seed, deterministic=True).document(situation)["trace"]}

    def replay(self, document, situation):
        return {"equal": 3, "nodes": 3, "ends": True}

    def restate(self, document, situation):
        return True


ALWAYS = FRESH
PROMISED: dict[str, Any] = {"deterministic": True, "promised": True, "declares": False}
STYLES: dict[str, dict[str, Any]] = {
    "sure and deterministic": {"deterministic": True},
    "deterministic, right in 60 % of its forecasts, and says so": {"deterministic": True, "rates": True, "right": 60},
    "deterministic, right in 95 % of its forecasts, and says so": {"deterministic": True, "rates": True, "right": 95},
    "deterministic, sometimes wrong about a variable, does what it declares": {"deterministic": True, "right": 70},
    "a program that draws nothing": {"deterministic": True, "promised": True, "sure": (ALWAYS, ALWAYS)},
    "it promises to draw nothing, and slips in 10 %": PROMISED | {"sure": (18, 18)},
    "it promises to draw nothing, and slips in 33 %": PROMISED | {"sure": (4, 4)},
    "it promises that, and tosses a coin in wild states": PROMISED | {"sure": (ALWAYS, 1)},
    "it slips in 10 % of its answers": {"sure": (18, 18)},
    "random ties everywhere": {"sure": (1, 1)},
    "a coin in wild states only": {"sure": (ALWAYS, 1)},
    "random ties in calm states only": {"sure": (1, ALWAYS)},
    "softmax with stated rates": {"sure": (8, 3), "rates": True},
    "ties with stated rates": {"sure": (1, 1), "rates": True},
    "it could draw, and never does": {"sure": (ALWAYS, ALWAYS)},
    "it never draws nor says so, is right in 60 % of its forecasts, and says that": {
        "sure": (ALWAYS, ALWAYS),
        "rates": True,
        "right": 60,
    },
    "the same with 95 %": {"sure": (ALWAYS, ALWAYS), "rates": True, "right": 95},
}
TIMES = 60


def verdicts(probe: str, times: int, style: dict[str, Any]) -> Counter[Verdict]:
    found: Counter[Verdict] = Counter()
    for seed in range(times):
        state = {name: Stream.named(seed, "state", name).integer(0, 7) for name in NAMES}
        made = make_challenge(shipped(probe), Truthful(seed, **style), Situation(0, 3, state, {}), Stream.named(seed))
        found[made.verdict] += 1
    return found


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@pytest.mark.parametrize("probe", PROBES)
def test_truthful_agents_are_not_convicted(probe, style):
    """The mean of convictions is at most 0.6 of 60 (1 %); more than 3 come less often than once in 300 such tests."""
    found = verdicts(probe, TIMES, style)
    assert found[Verdict.FAIL] <= 3
    assert found[Verdict.ERROR] == 0
    if style in (STYLES["sure and deterministic"], STYLES["a program that draws nothing"]):
        assert found[Verdict.PASS] >= TIMES * 2 // 3


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@pytest.mark.parametrize("probe", PROBES)
def test_truthful_agents_are_convicted_no_more_often_than_the_texts_say(probe, style):
    """At most 1 % of 300 for the sequential probe, 0.5 % for the others; above the bounds once in 1000 such tests."""
    assert verdicts(probe, 300, style)[Verdict.FAIL] <= (10 if probe == "p5-sequential" else 6)


@pytest.mark.parametrize(
    "probe", ["p5-predictions", "p5-repeated", "p5-sequential", "layer-b"]
)  # others decide nothing
def test_what_holds_when_asked_again_is_no_pass_of_another_decision(probe):
    for seed in range(20):
        state = {name: Stream.named(seed, "state", name).integer(0, 7) for name in NAMES}
        agent = AnotherWhenAsked(seed, declares=False)
        made = make_challenge(shipped(probe), agent, Situation(0, 3, state, {}), Stream.named(seed))
        assert made.verdict is not Verdict.PASS, (seed, made)
