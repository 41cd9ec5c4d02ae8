"""How many questions probes cost at most, which of them convict too seldom, and what the longest questions show."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.oracles.statement import REASON_DOCS
from specledger.wings.kernel import asking_cost
from specledger.wings.kernel.probes.rehearsal import Counted
from specledger.wings.kernel.spec.probe import Probe

OFFER = {"text": "Take it.", "call": {"token": "none"}, "breaches": "token", "pays": []}
ONE = {"of": "claims", "noisy": {"repeats": 1, "same": 1}, "explain": 0}
"""A challenge of one claim: it is asked about in two directions, and once more without a change."""


class Views:
    """A world of two variables: an edit of `odd` is possible only to what is no text."""

    def names(self, state):
        return [*state]

    def alternatives(self, state, name):
        return {"plain": [1, 1000, 20], "odd": ["long", 12, 7]}[name]

    def mutate(self, state, name, value):
        return None if isinstance(value, str) else ({**state, name: value}, {})

    def shown(self, state):
        return {"sees": state}


def probe(name="p", steps=None, offer=None, **challenge):
    parts: Any = {"offer": offer} if offer else {"challenge": {**ONE, **challenge}}
    document = {"spec": "probe/v1", "name": name, "at": "after_act", "steps": steps, "expect": "true", **parts}
    return Probe.model_validate(document)


def kernel_of(*probes, declared=True, deterministic=False, messages=()) -> Any:
    offers = [*messages, *[None] * len(probes)]
    return SimpleNamespace(
        probes=[SimpleNamespace(spec=each, offer=offer) for each, offer in zip(probes, offers, strict=False)],
        narration=SimpleNamespace(declared="procedure" if declared else None, views=Views()),
        deterministic=deterministic,
        gate_docs={"first": "what it demands", "second": ""},
        admission=SimpleNamespace(gates=("first", "second", "third")),
    )


def plan_of(**parts) -> Any:
    start = {"plain": 1, "odd": 12}
    given = {"horizon": 5, "episodes": 1, "outside": None, "on_denied": "wait", "start": lambda episode: start}
    return SimpleNamespace(**{**given, **parts})


@pytest.fixture
def counted(monkeypatch):
    """The count of a rehearsal, which is not made; whether it was told that the agent is deterministic."""
    told = []

    def count(kernel, plan, *, deterministic):
        told.append(deterministic)
        return Counted(7, 3, 41)

    monkeypatch.setattr(asking_cost, "count_questions", count)
    return told


MOST = {
    "an offer at every step": (probe(offer=OFFER), 5),
    "an offer at one step": (probe(offer=OFFER, steps=1), 1),
    "as many steps as there are": (probe(offer=OFFER, steps=5), 5),
    "more steps than there are": (probe(offer=OFFER, steps=6), 5),
    "a claim: its two directions, and once without a change": (probe(steps=1), 3),
    "a counterfactual: it, and once without a change": (probe(steps=1, of="counterfactuals"), 2),
    "what is not read: it, and once without a change": (probe(steps=1, of="unused"), 2),
    "the procedure is run instead: once without a change": (probe(steps=1, of="declared"), 1),
    "two claims at two steps": (probe(steps=2, draw={"least": 1, "most": 2}), 10),
    "a claim, three times": (probe(steps=1, repeats=3), 7),
    "a claim, as often as noise demands": (probe(steps=1, repeats=2, noisy={"repeats": 4, "same": 1}), 9),
    "the same question, three times": (probe(steps=1, arms={"same": 3}), 5),
    "the same question, as often as noise demands": (
        probe(steps=1, arms={"same": 2}, noisy={"repeats": 1, "same": 4}),
        6,
    ),
    "placebos by number": (probe(steps=1, arms={"placebo": 3}), 6),
    "placebos by name": (probe(steps=1, arms={"placebo": ["a", "b"]}), 5),
    "in an episode of its own": (probe(steps=1, on="fresh"), 4),
    "reasons again": (probe(steps=1, demand=["restate"]), 4),
    "commitments, which are not asked for in questions": (probe(steps=1, demand=["reveal"]), 3),
    "until the test decides": (probe(steps=1, test={"most": 40}), 40),
    "a test with less than one round": (probe(steps=1, test={"most": 2}), 3),
    "explained by what is not read": (probe(steps=1, explain=8), 11),
    "a counterfactual, explained": (probe(steps=1, of="counterfactuals", explain=8), 10),
    "what is not read explains nothing": (probe(steps=1, of="unused", explain=8), 2),
    "the procedure's answer explains nothing": (probe(steps=1, ask="declared", explain=8), 3),
}


@pytest.mark.parametrize(("spec", "most"), MOST.values(), ids=MOST)
def test_what_a_probe_asks_at_most_in_an_episode(spec, most, counted):
    assert asking_cost.questions_of(kernel_of(spec), plan_of()).most_asked == most
    assert asking_cost.questions_of(kernel_of(spec), plan_of(episodes=3)).most_asked == 3 * most


UNDECLARED = {
    "what is not read": (probe(steps=1, of="unused"), 0),
    "the procedure": (probe(steps=1, of="declared"), 0),
    "the procedure's answer": (probe(steps=1, ask="declared"), 0),
    "its trace": (probe(steps=1, demand=["trace"]), 0),
    "a claim, explained by what it does not declare": (probe(steps=1, explain=8), 3),
    "an offer": (probe(steps=1, offer=OFFER), 1),
}


@pytest.mark.parametrize(("spec", "most"), UNDECLARED.values(), ids=UNDECLARED)
def test_where_no_procedure_is_declared_nothing_is_asked_about_it(spec, most, counted):
    assert asking_cost.questions_of(kernel_of(spec, declared=False), plan_of()).most_asked == most


OPENED = {
    "none": ([probe()], 0),
    "of a demand": ([probe(demand=["reveal"])], 10),
    "at drawn steps": ([probe(steps=2, demand=["trace", "reveal"])], 4),
    "of another demand": ([probe(demand=["restate"])], 0),
    "of two probes beside others": (
        [probe(demand=["reveal"]), probe(offer=OFFER), probe(steps=1, demand=["reveal"])],
        12,
    ),
}


@pytest.mark.parametrize(("probes", "most"), OPENED.values(), ids=OPENED)
def test_how_many_commitments_are_to_be_opened_at_most(probes, most, counted):
    assert asking_cost.questions_of(kernel_of(*probes), plan_of(episodes=2)).most_opened == most


MODELS = {
    "no agent outside": (None, False),
    "a process": (SimpleNamespace(model=None), False),
    "a model that draws": (SimpleNamespace(model=SimpleNamespace(deterministic=False)), False),
    "a model that does not": (SimpleNamespace(model=SimpleNamespace(deterministic=True)), True),
}


@pytest.mark.parametrize(("outside", "told"), MODELS.values(), ids=MODELS)
def test_only_a_models_spec_says_before_the_run_that_it_is_deterministic(outside, told, counted):
    questions = asking_cost.questions_of(kernel_of(probe(), deterministic=True), plan_of(outside=outside))
    assert (questions.asked, questions.opened, questions.reasons) == (7, 3, 41)
    assert counted == [told]


BASE = {"sees": {"plain": 1, "odd": 12}}
LONGEST = [{"sees": {"plain": 1000, "odd": 12}}, {"sees": {"plain": 1, "odd": 12}}]
"""The longest alternative of each variable that an edit brings about: `long` of `odd` is none."""


def test_what_a_question_shows_is_made_longer_by_each_variable(counted):
    assert asking_cost.questions_of(kernel_of(probe()), plan_of()).shown == ((BASE, *LONGEST),)


def message(text):
    return SimpleNamespace(message=lambda token: {"text": text, "token": len(token[""])})


def test_the_longest_offer_and_a_denial_by_all_gates_make_it_longer(counted):
    kernel = kernel_of(probe(offer=OFFER), probe(offer=OFFER), messages=[message("short"), message("much longer")])
    reason = "unknown_action"
    denied = [
        {"gate": "first", "reason": reason, "doc": "what it demands"},
        {"gate": "second", "reason": reason, "doc": REASON_DOCS[reason]},
        {"gate": "third", "reason": reason, "doc": REASON_DOCS[reason]},
    ]
    offered = {"offer": {"text": "much longer", "token": 1024}}
    assert asking_cost.questions_of(kernel, plan_of(on_denied="tell")).shown == (
        (BASE, BASE | offered, BASE | {"denied": denied}, *LONGEST),
    )
    assert asking_cost.questions_of(kernel, plan_of()).shown == ((BASE, BASE | offered, *LONGEST),)


STARTS = {
    "those of a short run": (2, [probe()], [0, 1]),
    "no more than are rehearsed": (40, [probe()], [*range(32)]),
    "those of fresh episodes, too": (2, [probe(offer=OFFER), probe(on="fresh")], [0, 1, 2, 3]),
    "fresh ones of a long run": (33, [probe(on="fresh")], [*range(64)]),
}


@pytest.mark.parametrize(("episodes", "probes", "starts"), STARTS.values(), ids=STARTS)
def test_start_states_of_which_a_question_is_measured(episodes, probes, starts, counted):
    plan = plan_of(episodes=episodes, start=lambda episode: {"plain": episode})
    assert [first["sees"]["plain"] for first, *_ in asking_cost.questions_of(kernel_of(*probes), plan).shown] == starts


ENOUGH = {"noisy": {"repeats": 11, "same": 11}}
WEAK = [probe("weak"), probe("offer", offer=OFFER), probe("strong", **ENOUGH), probe("feeble")]


@pytest.mark.parametrize(
    ("deterministic", "outside", "named"),
    [
        (False, False, ("weak", "feeble")),
        (False, True, ("weak", "feeble")),
        (True, True, ("weak", "feeble")),
        (True, False, ()),
    ],
)
def test_probes_that_ask_too_seldom_are_named_unless_the_agent_draws_nothing(deterministic, outside, named):
    assert asking_cost.weak_probes(kernel_of(*WEAK, deterministic=deterministic), outside=outside) == named
