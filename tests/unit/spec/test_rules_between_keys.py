"""Rules between the keys of a mapping: each with what keeps it, what breaks it, and what is said then."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from specledger.spec import agent, governor, invariant, model, profile, prompt, scenario, suite, world

ADMISSION = {"document": "d", "env": "now", "vocabulary": "v"}
PUBLIC = "0" * 64
AGENT = {"spec": "agent/v1", "name": "a"}
BODY = {"candidates": [{"op": "go"}], "score": "0"}
ASKED = {"command": ["a"]}
INVARIANT = {"spec": "invariant/v1", "name": "a"}
REMEMBERS = {"memory": {"fields": {"n": {"type": "int", "start": "0"}}}}
WITHIN = {"within": {"after": "x", "steps": 1, "require": "y"}}
AT_MOST = {"at_most": {"count": "x", "times": 1}}
MEAN = {"mean": {"of": "x", "min": "0"}}
EPISODE = {"scope": "episode"}
MODEL = {"spec": "model/v1", "name": "m"}
SCRIPT = {"scripted": {"answers": [{"text": "a"}]}}
CASSETTE = {"cassette": {"records": "m", "file": "m.jsonl"}}
GRAMMAR = {"enumerate": {"start": "a", "grammar": {"a": ["b"]}}}
GEMINI: dict[str, Any] = {"gemini": {}}
CONTROL = {"id": "a", "section": "1", "says": "so"}
EVIDENCE = {"evidence": [{"check": "a"}]}
WAIVER = {"waiver": {"owner": "o", "reason": "r", "until": "2027-01-31"}}
PROMPT = {"spec": "prompt/v1", "name": "p", "system": [{"text": "a"}], "static": [{"text": "a"}]}
MORE = [{"text": "a"}]
SCENARIO = {"spec": "scenario/v1", "name": "a", "world": "w"}
ONE = {"agent": "a", "governor": "g"}
TWO = {"agents": {"a": {"agent": "a", "governor": "g"}, "b": {"agent": "a", "governor": "g"}}}

ONE_WAY = "a value is taken by a `stream` or in an `order`"
ONE_OF_THREE = "an agent from outside has exactly one of `python`, `command` and `model`"
HAS_WORDS = "an agent that is a model has a `prompt` and `reasons`"
NO_WORDS = "`prompt`, `reasons` and `deterministic` are keys of an agent that is a model"
BODIES = "an agent has `candidates` and a `score`, or it is asked `outside`, or recorded as `trajectories`"
FORMS = "an invariant has exactly one of `require`, `within`, `at_most`, `mean`"
OWN_MEMORY = "`{}` keeps a memory of its own: leave out `memory` and `remember`"
SINGLE = "an invariant of scope `proposal` is judged at single decisions: it remembers nothing"
ONE_MODEL = "a model has exactly one of `gemini`, `openai`, `scripted`, `enumerate` and `cassette`"
ANSWERS = "`answers` is of a service or a script: a cassette answers as the model that it records"
WITH_REQUIRE = "`receipts` and `when` go with `require`"
WHOLE = "`figures` go with a `require` about the whole bundle"
SIGNED = "`signature: ed25519` has `public` and `key`, any other has neither"
DISTANCE = "`of` goes with `within` or `beyond`, which are distances to it"
LAWS_ALONE = "a prompt about decisions has no `universe`, `scramble` and `dynamic`"
CALLS = "a prompt about calls has `reasons`, and no other one has"
ALONE = "each of the `agents` has its own agent and governor; leave this key out beside them"
SEVERAL = "`order` and `turns` are for several `agents`; this scenario has one `agent`"
STATISTICS = "exactly one of rate, effect, mean, sum, least, greatest, quantile, slope, difference"
ARMS = "`over: [arm, other arm]`, whose difference it is, and no `by`"

# model: (document, what is said of it; None: nothing)
RULES: dict[Any, list[tuple[dict[str, Any], str | None]]] = {
    agent.AgentDraw: [
        ({"from": "x", "stream": "s"}, None),
        ({"from": "x", "order": "asked"}, None),
        ({"from": "x"}, ONE_WAY),
        ({"from": "x", "stream": "s", "order": "asked"}, ONE_WAY),
    ],
    agent.Outside: [
        ({"command": ["a"]}, None),
        ({"python": "a:b"}, None),
        ({"model": "m", "prompt": "p", "reasons": "r"}, None),
        ({"model": "m", "prompt": "p", "reasons": "r", "deterministic": True}, None),
        ({}, ONE_OF_THREE),
        ({"command": ["a"], "python": "a:b"}, ONE_OF_THREE),
        ({"command": ["a"], "model": "m", "prompt": "p", "reasons": "r"}, ONE_OF_THREE),
        ({"model": "m", "prompt": "p"}, HAS_WORDS),
        ({"model": "m", "reasons": "r"}, HAS_WORDS),
        ({"model": "m"}, HAS_WORDS),
        ({"command": ["a"], "prompt": "p"}, NO_WORDS),
        ({"command": ["a"], "reasons": "r"}, NO_WORDS),
        ({"command": ["a"], "deterministic": True}, NO_WORDS),
    ],
    agent.Agent: [
        ({**AGENT, **BODY}, None),
        ({**AGENT, "outside": ASKED}, None),
        ({**AGENT, "outside": ASKED, "doc": "d"}, None),
        (AGENT, BODIES),
        ({**AGENT, "candidates": [{"op": "go"}]}, BODIES),
        ({**AGENT, "score": "0"}, BODIES),
        ({**AGENT, "candidates": [], "score": "0"}, BODIES),
        ({**AGENT, "outside": ASKED, "score": "0"}, "an agent that is asked `outside` has no other body"),
    ],
    governor.Gate: [
        ({"id": "a", "reason": "r", "deny": "x"}, None),
        ({"id": "a", "reason": "r", "require": "x"}, None),
        ({"id": "a", "reason": "r"}, "a gate has exactly one of `deny` and `require`"),
        ({"id": "a", "reason": "r", "deny": "x", "require": "x"}, "a gate has exactly one of `deny` and `require`"),
    ],
    governor.Key: [
        ({"file": "k"}, None),
        ({"variable": "K"}, None),
        ({}, "a key has exactly one of `file` and `variable`"),
        ({"file": "k", "variable": "K"}, "a key has exactly one of `file` and `variable`"),
    ],
    governor.Admission: [
        (ADMISSION, None),
        ({**ADMISSION, "signature": "ed25519", "public": PUBLIC, "key": {"file": "k"}}, None),
        ({**ADMISSION, "signature": "ed25519"}, SIGNED),
        ({**ADMISSION, "signature": "ed25519", "public": PUBLIC}, SIGNED),
        ({**ADMISSION, "signature": "ed25519", "key": {"file": "k"}}, SIGNED),
        ({**ADMISSION, "public": PUBLIC, "key": {"file": "k"}}, SIGNED),
        ({**ADMISSION, "public": PUBLIC}, SIGNED),
        ({**ADMISSION, "key": {"file": "k"}}, SIGNED),
    ],
    invariant.Mean: [
        ({"of": "x", "min": "0"}, None),
        ({"of": "x", "max": "0"}, None),
        ({"of": "x", "min": "0", "max": "1"}, None),
        ({"of": "x"}, "`mean` has a `min`, a `max` or both"),
    ],
    invariant.Invariant: [
        ({**INVARIANT, "require": "x"}, None),
        ({**INVARIANT, "require": "x", **REMEMBERS}, None),
        ({**INVARIANT, "require": "x", **EPISODE, **REMEMBERS}, None),
        ({**INVARIANT, **WITHIN}, None),
        ({**INVARIANT, **AT_MOST}, None),
        ({**INVARIANT, **AT_MOST, **EPISODE}, None),
        ({**INVARIANT, **MEAN, **EPISODE}, None),
        ({**INVARIANT, **MEAN, **EPISODE, "after_fatal": "skipped"}, None),
        ({**INVARIANT, "require": "x", "scope": "proposal"}, None),
        (INVARIANT, FORMS),
        ({**INVARIANT, "require": "x", **AT_MOST}, FORMS),
        ({**INVARIANT, **WITHIN, **EPISODE}, "`within` is judged after every step: leave out `scope`"),
        ({**INVARIANT, **MEAN}, "`mean` is judged at the end of an episode: it needs `scope: episode`"),
        ({**INVARIANT, **WITHIN, **REMEMBERS}, OWN_MEMORY.format("within")),
        ({**INVARIANT, **AT_MOST, **REMEMBERS}, OWN_MEMORY.format("at_most")),
        ({**INVARIANT, "require": "x", "scope": "proposal", **REMEMBERS}, SINGLE),
        ({**INVARIANT, **AT_MOST, "scope": "proposal"}, SINGLE),
        (
            {**INVARIANT, "require": "x", "after_fatal": "skipped"},
            "`after_fatal` says what becomes of an episode: it needs `scope: episode`",
        ),
    ],
    model.Service: [
        ({"limits": {"money": "1"}, "price": {"input": "1", "output": "1"}}, None),
        ({"price": {"input": "1", "output": "1"}}, None),
        ({"limits": {"tokens": 1}}, None),
        ({"limits": {"money": "1"}}, "a limit of `money` needs a `price`"),
        ({"limits": {"money": "0"}}, "a limit of `money` needs a `price`"),
    ],
    model.Script: [
        ({"answers": [{"text": "a"}], "then": "repeat"}, None),
        ({"rules": [{"when": "true", "answer": {"text": "a"}}]}, None),
        ({}, "a script has `answers` or `rules`"),
        (
            {"rules": [{"when": "true", "answer": {"text": "a"}}], "then": "cycle"},
            "without `answers` there is nothing to repeat",
        ),
    ],
    model.LanguageModel: [
        ({**MODEL, **SCRIPT}, None),
        ({**MODEL, **SCRIPT, "answers": "label"}, None),
        ({**MODEL, **CASSETTE}, None),
        ({**MODEL, **GRAMMAR}, None),
        ({**MODEL, **GEMINI, "answers": "json"}, None),
        (MODEL, ONE_MODEL),
        ({**MODEL, **SCRIPT, **CASSETTE}, ONE_MODEL),
        ({**MODEL, **GEMINI, **GRAMMAR}, ONE_MODEL),
        ({**MODEL, **CASSETTE, "answers": "json"}, ANSWERS),
        ({**MODEL, **GRAMMAR, "answers": "label"}, ANSWERS),
    ],
    profile.EvidenceCheck: [
        ({"check": "a"}, None),
        ({"verified": "a"}, None),
        ({"require": "x"}, None),
        ({"require": "x", "receipts": "step", "when": "y"}, None),
        ({"require": "x", "figures": ["f"]}, None),
        ({}, "exactly one of check, verified, require"),
        ({"check": "a", "verified": "a"}, "exactly one of check, verified, require"),
        ({"check": "a", "receipts": "step"}, WITH_REQUIRE),
        ({"verified": "a", "when": "x"}, WITH_REQUIRE),
        ({"check": "a", "figures": ["f"]}, WHOLE),
        ({"require": "x", "receipts": "step", "figures": ["f"]}, WHOLE),
    ],
    profile.Control: [
        ({**CONTROL, "status": "shown", **EVIDENCE}, None),
        ({**CONTROL, "status": "shown", "checks": ["tests/a.py::a"]}, None),
        ({**CONTROL, "status": "differs", **EVIDENCE, "why": "w"}, None),
        ({**CONTROL, "status": "open", "why": "w"}, None),
        ({**CONTROL, "status": "open", "why": "w", **WAIVER}, None),
        ({**CONTROL, "status": "not applicable", "why": "w"}, None),
        ({**CONTROL, "status": "shown"}, "a control that is 'shown' names the checks that show it"),
        ({**CONTROL, "status": "differs", "why": "w"}, "a control that is 'differs' names the checks that show it"),
        (
            {**CONTROL, "status": "not applicable", "why": "w", **EVIDENCE},
            "a control that does not apply has neither checks nor a waiver",
        ),
        (
            {**CONTROL, "status": "not applicable", "why": "w", **WAIVER},
            "a control that does not apply has neither checks nor a waiver",
        ),
        ({**CONTROL, "status": "open"}, "a control that is 'open' says why"),
        ({**CONTROL, "status": "differs", **EVIDENCE}, "a control that is 'differs' says why"),
    ],
    prompt.Section: [
        ({"text": "a"}, None),
        ({"each": "a", "item": "b"}, None),
        ({"each": "a", "item": "b", "none": "c"}, None),
        ({}, "a section has `text`, `each`, or both"),
        ({"item": "b"}, "a section has `text`, `each`, or both"),
        ({"text": "a", "item": "b"}, "`each` and `item` go together"),
        ({"text": "a", "each": "b"}, "`each` and `item` go together"),
        ({"text": "a", "none": "b"}, "`none` goes with `each`"),
    ],
    prompt.Prompt: [
        (PROMPT, None),
        ({**PROMPT, "universe": "u", "scramble": ["names"]}, None),
        ({**PROMPT, "about": "decisions", "offer": MORE}, None),
        ({**PROMPT, "about": "calls", "reasons": MORE}, None),
        ({**PROMPT, "about": "decisions", "universe": "u"}, LAWS_ALONE),
        ({**PROMPT, "about": "decisions", "scramble": ["names"]}, LAWS_ALONE),
        ({**PROMPT, "about": "decisions", "dynamic": [{"each": "accepted_laws", "item": "a"}]}, LAWS_ALONE),
        ({**PROMPT, "offer": MORE}, "a prompt about laws has no `offer`"),
        ({**PROMPT, "about": "calls", "reasons": MORE, "offer": MORE}, "a prompt about calls has no `offer`"),
        ({**PROMPT, "about": "calls"}, CALLS),
        ({**PROMPT, "reasons": MORE}, CALLS),
        ({**PROMPT, "about": "decisions", "reasons": MORE}, CALLS),
    ],
    scenario.Place: [
        ({"place": "a", "over": "b"}, None),
        ({"place": "a", "over": "b", "of": "c", "within": 1}, None),
        ({"place": "a", "over": "b", "of": "c", "beyond": 1}, None),
        ({"place": "a", "over": "b", "of": "c"}, DISTANCE),
        ({"place": "a", "over": "b", "within": 1}, DISTANCE),
        ({"place": "a", "over": "b", "beyond": 0}, DISTANCE),
    ],
    scenario.Stamp: [
        ({"stamp": ["ab", "cd"], "over": "b"}, None),
        ({"stamp": ["ab"], "over": "b"}, None),
        ({"stamp": ["ab", "c"], "over": "b"}, "the rows of a stamp have one length"),
    ],
    scenario.Map: [
        ({"drawing": "."}, None),
        ({"generate": [{"fill": ".", "width": 3, "height": 3}]}, None),
        ({}, "a map has exactly one of `drawing` and `generate`"),
        (
            {"drawing": ".", "generate": [{"fill": ".", "width": 3, "height": 3}]},
            "a map has exactly one of `drawing` and `generate`",
        ),
    ],
    scenario.Expectation: [
        ({"verdict": "FAIL"}, None),
        ({"ended": "until"}, None),
        ({}, "`verdict`, `ended` or both"),
    ],
    scenario.Scenario: [
        ({**SCENARIO, **ONE}, None),
        ({**SCENARIO, **TWO}, None),
        ({**SCENARIO, **TWO, "order": ["a", "b"], "turns": "order"}, None),
        ({**SCENARIO, **TWO, "agent": "a"}, ALONE),
        ({**SCENARIO, **TWO, "governor": "g"}, ALONE),
        ({**SCENARIO, **ONE, "order": ["a"]}, SEVERAL),
        ({**SCENARIO, **ONE, "turns": "order"}, SEVERAL),
    ],
    suite.Arm: [
        ({"scenarios": ["a"]}, None),
        ({"cases": "a"}, None),
        ({}, "either `scenarios`, at least one, or `cases`"),
        ({"scenarios": []}, "either `scenarios`, at least one, or `cases`"),
        ({"scenarios": ["a"], "cases": "a"}, "either `scenarios`, at least one, or `cases`"),
    ],
    suite.Figure: [
        ({"rate": "x"}, None),
        ({"effect": "x", "against": "y"}, None),
        ({"difference": "x", "over": ["a", "b"]}, None),
        ({"quantile": "x", "at": "0"}, None),
        ({"quantile": "x", "at": "1"}, None),
        ({}, STATISTICS),
        ({"rate": "x", "mean": "y"}, STATISTICS),
        ({"quantile": "x", "at": "1.000001"}, "`at` between 0 and 1"),
        ({"quantile": "x", "at": "-0.000001"}, "`at` between 0 and 1"),
        ({"difference": "x"}, ARMS),
        ({"difference": "x", "over": "a"}, ARMS),
        ({"difference": "x", "over": ["a"]}, ARMS),
        ({"difference": "x", "over": ["a", "b", "c"]}, ARMS),
        ({"difference": "x", "over": ["a", "b"], "by": "seed"}, ARMS),
        ({"effect": "x"}, "`effect` and `against` together"),
        ({"rate": "x", "against": "y"}, "`effect` and `against` together"),
    ],
    world.Variable: [
        ({"read": "x"}, None),
        ({"read": "x", "effects": [{"set": "x", "to": "1"}]}, None),
        (
            {
                "read": "x",
                "effects": [{"set": "x", "to": "1"}],
                "try": {"for": "[1]", "as": "e", "effects": [{"set": "x", "to": "1"}]},
            },
            "a variable has `effects` or `try`, not both",
        ),
    ],
}
CASES = [
    pytest.param(kind, document, said, id=f"{kind.__name__}-{number}")
    for kind, cases in RULES.items()
    for number, (document, said) in enumerate(cases)
]


@pytest.mark.parametrize(("kind", "document", "said"), CASES)
def test_a_rule_between_keys(kind, document, said):
    if said is None:
        kind.model_validate(document)
        return
    with pytest.raises(ValidationError) as error:
        kind.model_validate(document)
    messages = [one["msg"].removeprefix("Value error, ").removeprefix("expected ") for one in error.value.errors()]
    assert set(messages) == {said}


@pytest.mark.parametrize(
    ("pattern", "inside"),
    [
        ("logs/*.jsonl", True),
        ("a..b/c", True),
        ("...", True),
        ("/logs", False),
        ("..", False),
        ("a/../b", False),
        ("../a", False),
        ("a\\b", False),
    ],
)
def test_logs_lie_inside_the_project(pattern, inside):
    reader = TypeAdapter(agent.LogPattern)
    if inside:
        assert reader.validate_python(pattern) == pattern
    else:
        with pytest.raises(ValidationError, match="this may lead outside the project"):
            reader.validate_python(pattern)


@pytest.mark.parametrize(("day", "right"), [("2027-01-31", True), ("2027-02-29", False), ("2028-02-29", True)])
def test_a_day_is_one_of_the_calendar(day, right):
    waiver = {"owner": "o", "reason": "r", "until": day}
    if right:
        assert profile.Waiver.model_validate(waiver).until == day
    else:
        with pytest.raises(ValidationError):
            profile.Waiver.model_validate(waiver)
