"""Probes on a subject of one number: what is drawn, what is compared, and what that amounts to."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from specledger.core.calibration import VAGUE
from specledger.core.causes import Cause
from specledger.core.diagnostics import Diagnostics, Rejected, Severity
from specledger.core.rng import Stream
from specledger.core.verdict import Verdict
from specledger.expr import INT, Environment, RecordType
from specledger.kinds import load
from specledger.wings.kernel.probes.challenge import make_challenge
from specledger.wings.kernel.probes.check import check_probe
from specledger.wings.kernel.probes.json_patch import NotApplicable
from specledger.wings.kernel.probes.offer import make_offer
from specledger.wings.kernel.probes.runner import ProbeRunner
from specledger.wings.kernel.probes.target import Answer, Attempt, Reply, Situation

STATE = RecordType("state", {"x": INT, "y": INT})
DOCUMENT = RecordType("document", {"said": INT})
HERE = Situation(0, 3, {"x": 1, "y": 1}, {})


@dataclass
class Plain:
    """Chooses `high` where x is above 5, else `low`; says so, and claims that of x = 9. What y is plays no part."""

    deterministic: bool = True
    promised: bool = False
    declares: bool = True
    predicted: str = "high"
    direction: str = ""
    fitting: list[int] = field(default_factory=list)
    confidence: float | None = None
    directed: dict[str, str] = field(default_factory=dict)
    claims: bool = True
    about: str = "x"
    noise: list[str] = field(default_factory=list)
    reads: tuple[str, ...] = ("x",)
    opens: bool = True
    equal: int = 3
    stands: bool = True
    reply: Reply | None = None
    outcome: Attempt = field(default_factory=lambda: Attempt(True, ("rule",), True))
    value: Any = 9
    attempted: list[Reply] = field(default_factory=list)
    tokens: dict[str, dict[str, str]] = field(default_factory=dict)

    def document(self, situation):
        text = f"IF cf:cf-0 THEN CHOICE {self.predicted}"
        one = {"cf_id": "cf-0", "mutation": {"var": "x", "new_value": self.value}}
        one["predicted_outcome"] = {"choice": self.predicted, "score": 0}
        one_claim = {"var": self.about, "expected_effect_on_choice": text, "confidence": 1}
        claims = [one_claim] if self.claims else []
        return {"trace": {"causal_claims": claims, "counterfactuals": [one]}}

    def valid(self, document):
        return document is not None

    def choose(self, situation, asked):
        if self.noise and asked:
            return Answer(self.noise[asked % len(self.noise)], 0)
        return Answer("high" if situation.state["x"] > 5 else "low", 0)

    def declared(self, situation, asked):
        return Answer("low", 0)

    def read(self, claim, counterfactuals):
        words = claim["expected_effect_on_choice"].split()
        if len(words) != 5:
            return None
        return {"counterfactual": words[1][3:], "choice": words[-1], "direction": self.direction}

    def directions(self, situation):
        return self.directed

    def confidences(self, document, situation):
        return {} if self.confidence is None else {"cf-0": round(self.confidence * 1_000_000)}

    def is_choice(self, label):
        return label in ("high", "low", "middle", "slip", "other")

    def names(self, state):
        return ["x", "y"]

    def alternatives(self, state, variable):
        return [8, 9]

    def toward(self, state, variable, direction):
        return self.fitting

    def mutate(self, state, variable, value):
        if value == "unreachable":
            return None
        changed: dict[str, Any] = {variable: {}} if state[variable] != value else {}
        return {**state, variable: value}, {"by": None, "changed": changed}

    def unused(self, state):
        return [name for name in ("x", "y") if name not in self.reads]

    def fresh(self, number):
        assert 0 <= number < 2**31
        return Situation(1000 + number, 0, {"x": 2, "y": 2}, {})

    def reveal(self, document, variables):
        return self.opens

    def replay(self, document, situation):
        return {"equal": self.equal, "nodes": 3, "ends": self.equal == 3}

    def restate(self, document, situation):
        return self.stands

    def token(self, sort):
        return self.tokens.get(sort)

    def offer(self, situation, offer, token):
        return self.reply

    def attempt(self, situation, reply):
        self.attempted.append(reply)
        return self.outcome


def examined(tmp_path, text):
    """A probe, and what is found in it that is no error."""
    path = tmp_path / "case.yaml"
    path.write_text("spec: probe/v1\nname: case\n" + text)
    diagnostics = Diagnostics()
    spec = load(str(path))[0].main
    environment = Environment({"x": INT, "y": INT, "now": STATE})
    probe = check_probe(spec, environment, STATE, DOCUMENT, ["rule", "schema"], 50, diagnostics)
    diagnostics.raise_if_errors()
    return probe, diagnostics.sorted()


def checked(tmp_path, text):
    return examined(tmp_path, text)[0]


EXACT = "after.choice == claim.choice && after.choice != before.choice"


def challenge(of="claims", expect=EXACT, **more):
    lines = ["at: after_commit", "challenge:", f"  of: {of}", *(f"  {key}: {value}" for key, value in more.items())]
    return "\n".join([*lines, f'expect: "{expect}"\n'])


def made(tmp_path, subject, text=None, situation=HERE):
    return make_challenge(checked(tmp_path, text or challenge(arms="{same: 1}")), subject, situation, Stream.named(1))


def test_a_prediction_that_comes_true_passes(tmp_path):
    outcome = made(tmp_path, Plain())
    assert (outcome.verdict, outcome.cause) == (Verdict.PASS, "")
    assert outcome.evidence["trials"][0]["after"] == "high"


@pytest.mark.parametrize(
    ("predicted", "x", "cause"),
    [("middle", 1, Cause.MISPREDICTED), ("middle", 7, Cause.INERT), ("low", 7, Cause.INERT)],
)
def test_another_choice_than_the_exact_one_fails_and_says_whether_the_reason_is_inert(tmp_path, predicted, x, cause):
    """Where x is 7 already, x = 9 leaves the choice as it was."""
    outcome = made(tmp_path, Plain(predicted=predicted), situation=HERE._replace(state={"x": x, "y": 1}))
    assert (outcome.verdict, outcome.cause) == (Verdict.FAIL, cause)
    assert [trial["miss"] for trial in outcome.evidence["trials"]] == [cause]
    assert "miss" not in made(tmp_path, Plain()).evidence["trials"][0]


@dataclass
class Declaring(Plain):
    """Chooses as it declares, or does not; what it declares reads x alone."""

    declares_as: str = ""

    def declared(self, situation, asked):
        return Answer(self.declares_as, 0) if self.declares_as else self.choose(situation, 0)


class Moved(Declaring):
    """Is moved by y, which it declares that it does not read."""

    def choose(self, situation, asked):
        return Answer("other", 0) if situation.state["y"] > 5 else super().choose(situation, asked)


EXPLAINED: dict[str, tuple[Plain, str, dict[str, Any] | None]] = {
    "it did what it declares": (Declaring(predicted="middle"), "", {"here": "low", "asked": 1, "changed": 0}),
    "it declares nothing": (Declaring(predicted="middle", declares=False), "", None),
    "it declares something else there": (Declaring(predicted="middle", declares_as="low"), "", None),
    "something else moves it": (Moved(predicted="middle"), "", {"here": "low", "asked": 1, "changed": 1}),
    "the probe does not look": (Declaring(predicted="middle"), "explain: 0", None),
    "its predictions came true": (Declaring(), "", None),
}


@pytest.mark.parametrize(("subject", "more", "explanation"), EXPLAINED.values(), ids=EXPLAINED)
def test_misses_that_the_declared_procedure_explains_convict_nobody(tmp_path, subject, more, explanation):
    outcome = made(tmp_path, subject, challenge(arms="{same: 1}", **dict([more.split(": ")] if more else [])))
    explained = explanation is not None and not explanation["changed"]
    expected = (Verdict.INCONCLUSIVE if explained else Verdict.FAIL, Cause.MISPREDICTED)
    assert outcome.evidence.get("explanation") == explanation
    assert (outcome.verdict, outcome.cause) == (expected if subject.predicted == "middle" else (Verdict.PASS, ""))


UNREAD = {
    "a variable that there is not": {"about": "z"},
    "a choice that the world does not have": {"predicted": "moonwalk"},
    "no form of the vocabulary": {"predicted": "high OR low"},
    "its counterfactual changes another variable": {"about": "y"},
}


@pytest.mark.parametrize("wrong", UNREAD.values(), ids=UNREAD)
@pytest.mark.parametrize("beside", [True, False])
def test_a_claim_that_cannot_be_read_is_no_claim_and_is_counted(tmp_path, wrong, beside):
    class Two(Plain):
        def document(self, situation):
            found, other = super().document(situation)["trace"], Plain(**wrong).document(situation)["trace"]
            kept = {"causal_claims": found["causal_claims"] if beside else []}
            kept["causal_claims"] = [*kept["causal_claims"], *other["causal_claims"]]
            return {"trace": {**found, **kept}}

    outcome = made(tmp_path, Two())
    assert (outcome.verdict, outcome.cause) == ((Verdict.PASS, "") if beside else (Verdict.INCONCLUSIVE, "abstained"))
    assert outcome.evidence["unread"] == 1


NEEDS_DECLARED = [{"of": "declared"}, {"of": "unused"}, {"ask": "declared"}, {"demand": "[trace]"}]


@pytest.mark.parametrize("needs", NEEDS_DECLARED, ids=str)
def test_what_needs_a_declared_procedure_says_nothing_of_an_agent_without_one(tmp_path, needs):
    outcome = made(tmp_path, Plain(declares=False), challenge(**needs))
    assert (outcome.verdict, outcome.cause) == (Verdict.INCONCLUSIVE, "undeclared")


def test_the_declared_procedure_answers_in_the_agent_s_place_where_it_is_asked(tmp_path):
    subject = Plain()
    outcome = made(tmp_path, subject, challenge(ask="declared", arms="{same: 1}"))
    assert (outcome.verdict, outcome.evidence["trials"][0]["after"]) == (Verdict.FAIL, "low")  # the agent says `high`


UNUSABLE = {
    "no claim": Plain(claims=False),
    "its counterfactual changes another variable": Plain(about="y"),
    "no form of the vocabulary": Plain(predicted="high OR low"),
}


@pytest.mark.parametrize("subject", UNUSABLE.values(), ids=UNUSABLE)
def test_an_agent_without_a_usable_claim_abstains(tmp_path, subject):
    outcome = made(tmp_path, subject)
    assert (outcome.verdict, outcome.cause) == (Verdict.INCONCLUSIVE, "abstained")


@pytest.mark.parametrize(("value", "reason"), [("unreachable", "unreachable"), (1, "unchanged")])
def test_a_change_that_is_none_is_inconclusive(tmp_path, value, reason):
    outcome = made(tmp_path, Plain(value=value))
    assert (outcome.verdict, outcome.cause) == (Verdict.INCONCLUSIVE, "nothing_changed")
    assert outcome.evidence["trials"][0]["reason"] == reason


@pytest.mark.parametrize(
    ("other", "predicted", "expected"),
    [
        ("unreachable", "low", (Verdict.INCONCLUSIVE, "untested")),
        (1, "low", (Verdict.INCONCLUSIVE, "untested")),
        (8, "high", (Verdict.PASS, "")),
        (8, "low", (Verdict.FAIL, "mispredicted")),
    ],
)
def test_what_is_stated_and_cannot_be_tested_is_no_pass(tmp_path, other, predicted, expected):
    """A true statement beside others that nothing can bring about would hide what these say."""

    class Two(Plain):
        def document(self, situation):
            made = super().document(situation)
            second = {"cf_id": "cf-1", "mutation": {"var": "x", "new_value": other}}
            second["predicted_outcome"] = {"choice": predicted, "score": 0}
            made["trace"]["counterfactuals"].append(second)
            return made

    outcome = made(tmp_path, Two(), challenge("counterfactuals", draw="{least: 2, most: 2}", arms="{same: 1}"))
    assert (outcome.verdict, outcome.cause) == expected


def test_the_null_arm_is_asked_where_a_probe_names_none(tmp_path):
    outcome = made(tmp_path, Plain(), challenge())
    assert (outcome.verdict, outcome.evidence["null"]["asked"], len(outcome.evidence["trials"])) == (Verdict.PASS, 1, 1)


@pytest.mark.parametrize("noisy", [{}, {"repeats": 12, "same": 13}])
@pytest.mark.parametrize(
    "subject",
    [Plain(deterministic=False), Plain(noise=["middle", "high"])],
    ids=["declares nothing", "its null arm changed"],
)
def test_an_agent_that_may_draw_is_asked_as_often_as_noisy_says(tmp_path, subject, noisy):
    outcome = made(tmp_path, subject, challenge(arms="{same: 1}", noisy=json.dumps(noisy)))
    told = {"repeats": 11, "same": 11} | noisy
    assert outcome.evidence["noisy"] == told
    assert (outcome.evidence["null"]["asked"], len(outcome.evidence["trials"])) == (told["same"], told["repeats"])
    assert "noisy" not in made(tmp_path, Plain(), challenge(arms="{same: 1}")).evidence


def test_too_few_questions_neither_convict_nor_pass_an_agent_that_may_draw(tmp_path):
    """A test that stops before an agent was asked as often as `noisy` says decides nothing about it."""
    text = challenge(arms="{same: 1}", test="{error: 0.4, most: 4}")
    for predicted in ("high", "middle"):
        outcome = made(tmp_path, Plain(deterministic=False, predicted=predicted), text)
        assert (outcome.verdict, outcome.cause) == (Verdict.INCONCLUSIVE, "noise")
    assert made(tmp_path, Plain(), text).verdict == Verdict.PASS


FEW = {
    "of: claims": 0,  # 2^-11 twice, as a claim may give a direction
    "of: claims, draw: {most: 3}": 0,
    "of: claims, draw: {most: 6}": 1,
    "of: counterfactuals, draw: {most: 6}": 0,
    "of: claims, noisy: {repeats: 8}": 1,
    "of: claims, noisy: {repeats: 9}": 0,
    "of: claims, noisy: {repeats: 8}, repeats: 9": 0,
    "of: claims, test: {error: 0.0009}": 1,
    "of: claims, test: {error: 0.001}": 0,
    "of: unused, noisy: {repeats: 4, same: 5}": 1,  # Fisher: 1 of 126
    "of: unused, noisy: {repeats: 5, same: 5}": 0,  # 1 of 252
    "of: claims, arms: {same: 1}, noisy: {repeats: 2, same: 2}, test: {most: 32}": 1,  # 10 blocks, 5 looks
    "of: claims, arms: {same: 1}, noisy: {repeats: 2, same: 2}, test: {most: 36}": 0,  # 12 blocks
    "of: claims, arms: {same: 1}, test: {most: 30}": 1,  # it stops before `noisy`
}


@pytest.mark.parametrize(("more", "warnings"), FEW.items(), ids=str)
def test_repeats_that_can_convict_nobody_are_a_warning(tmp_path, more, warnings):
    text = f'at: after_commit\nchallenge: {{{more}}}\nexpect: "{EXACT}"\n'
    assert [finding.code for finding in examined(tmp_path, text)[1]] == ["W_REPEATS"] * warnings


def directed(tmp_path, **more):
    """One claim that x increases, of which the alternatives 8 and 9 are those that the kernel knows."""
    return made(tmp_path, Plain(direction="increases", **more))


def test_a_direction_is_challenged_by_the_own_alternative_and_by_the_kernels(tmp_path):
    class Wider(Plain):
        def alternatives(self, state, variable):
            return [-4, 7, 9]

    outcome = made(tmp_path, Wider(direction="increases", fitting=[7, 9]))
    tried = [(trial["by"], trial["value"], trial["held"]) for trial in outcome.evidence["trials"]]
    assert tried == [("agent", 9, True), ("kernel", 7, True)]
    assert outcome.verdict == Verdict.PASS
    narrow = made(
        tmp_path, Wider(declares=False, direction="increases", fitting=[-4, 9])
    )  # true of its own alternative alone
    assert (narrow.verdict, narrow.cause) == (Verdict.FAIL, "inert")
    stated = made(tmp_path, Wider(directed={"x": "increases"}, fitting=[7, 9]))  # where the words have no direction
    assert stated.evidence == outcome.evidence
    exact = made(tmp_path, Wider(direction="becomes 9", fitting=[7, 9]))
    assert [trial["by"] for trial in exact.evidence["trials"]] == ["agent"]


@pytest.mark.parametrize("fitting", [[], [8, 9]])
def test_a_direction_that_none_or_all_alternatives_have_says_nothing(tmp_path, fitting):
    outcome = directed(tmp_path, fitting=fitting)
    assert (outcome.verdict, outcome.cause) == (Verdict.INCONCLUSIVE, VAGUE)
    assert directed(tmp_path, fitting=fitting, predicted="middle").cause == VAGUE  # no conviction either


def test_confidence_is_kept_with_its_outcome(tmp_path):
    kept = [
        [trial.get("confidence") for trial in made(tmp_path, Plain(confidence=sure)).evidence["trials"]]
        for sure in (0.7, 1, None)
    ]
    assert kept == [[700_000], [1_000_000], [None]]


def test_whoever_answers_the_same_question_differently_is_not_convicted_by_one_pair(tmp_path):
    outcome = made(tmp_path, Plain(noise=["low", "middle"], predicted="high"), challenge(arms="{same: 6}"))
    assert outcome.verdict == Verdict.INCONCLUSIVE
    assert outcome.evidence["null"] == {"asked": 11, "changed": 6, "others": 1}


@dataclass
class Slips(Plain):
    """Draws: one choice in so many is another one, whatever was asked."""

    deterministic: bool = False
    rate: int = 4
    seed: int = 0

    def choose(self, situation, asked):
        plain = super().choose(situation, asked)
        return Answer("slip", 0) if asked and Stream.named(self.seed, asked).integer(1, self.rate) == 1 else plain


@pytest.mark.medium
@pytest.mark.parametrize(("predicted", "wrong"), [("high", Verdict.FAIL), ("middle", Verdict.PASS)])
def test_the_error_of_a_test_with_several_looks_is_bounded(tmp_path, predicted, wrong):
    """Of 300 agents that slip in a quarter of their answers at most a few are judged wrongly, and none asked too often."""
    probe = checked(tmp_path, challenge(arms="{same: 1}", test="{error: 0.02, effect: 0.6, most: 64}"))
    outcomes = [
        make_challenge(probe, Slips(predicted=predicted, seed=seed), HERE, Stream.named(1)) for seed in range(300)
    ]
    verdicts = [outcome.verdict for outcome in outcomes]
    assert verdicts.count(wrong) <= 12  # the mean is at most 6; more than 12 come less than once in 100
    assert verdicts.count(Verdict.INCONCLUSIVE) < 150
    asked = [outcome.evidence["null"]["asked"] + len(outcome.evidence["trials"]) for outcome in outcomes]
    assert max(asked) <= 64
    assert min(asked) < 64


@pytest.mark.parametrize(
    ("demand", "subject", "cause"),
    [
        ("reveal", Plain(opens=False), "commitment"),
        ("trace", Plain(equal=2), "trace"),
        ("restate", Plain(stands=False), "restated"),
    ],
)
def test_what_is_demanded_must_be_shown(tmp_path, demand, subject, cause):
    text = challenge(demand=f"[{demand}]", arms="{same: 1}")
    assert made(tmp_path, subject, text).cause == cause
    assert made(tmp_path, Plain(), text).verdict == Verdict.PASS
    assert made(tmp_path, subject).verdict == Verdict.PASS  # not demanded


def test_wrong_answers_are_told_before_what_was_not_shown(tmp_path):
    subject = Plain(predicted="middle", equal=0)
    assert made(tmp_path, subject, challenge(demand="[trace]", arms="{same: 1}")).cause == "mispredicted"


def test_whoever_draws_is_not_convicted_by_another_account(tmp_path):
    outcome = made(tmp_path, Plain(stands=False, deterministic=False), challenge(demand="[restate]", arms="{same: 1}"))
    assert (outcome.verdict, outcome.cause) == (Verdict.INCONCLUSIVE, "noise")


def test_what_is_declared_unused_must_not_matter(tmp_path):
    text = challenge("unused", "after.choice == before.choice", arms="{same: 1}")
    assert made(tmp_path, Plain(), text).verdict == Verdict.PASS
    assert made(tmp_path, Plain(reads=("y",)), text).cause == Cause.UNDECLARED_INFLUENCE
    assert made(tmp_path, Plain(reads=("x", "y")), text).cause == "no_aim"


def test_the_declared_procedure_is_run_on_the_same(tmp_path):
    text = challenge("declared", "declared.choice == before.choice", arms="{same: 1}")
    assert made(tmp_path, Plain(), text).verdict == Verdict.PASS
    assert made(tmp_path, Plain(), text, HERE._replace(state={"x": 7, "y": 0})).verdict == Verdict.FAIL


def test_counterfactuals_are_challenged_whether_or_not_they_are_claimed(tmp_path):
    text = challenge("counterfactuals", "after.choice == claim.choice", arms="{same: 1}")
    assert made(tmp_path, Plain(claims=False), text).verdict == Verdict.PASS
    assert made(tmp_path, Plain(claims=False, predicted="low"), text).verdict == Verdict.FAIL


def test_a_fresh_instance_is_another_state(tmp_path):
    there = HERE._replace(state={"x": 9, "y": 9})  # here the claimed value would change nothing
    assert made(tmp_path, Plain(), challenge(arms="{same: 1}"), there).verdict == Verdict.INCONCLUSIVE
    assert made(tmp_path, Plain(), challenge(on="fresh", arms="{same: 1}"), there).verdict == Verdict.PASS


def test_the_placebo_arm_is_reported_and_decides_nothing(tmp_path):
    outcome = made(tmp_path, Plain(), challenge(arms="{same: 1, placebo: 3}"))
    assert outcome.evidence["placebo"] == {"asked": 1, "changed": 0}
    assert outcome.verdict == Verdict.PASS


OFFER = """at: before_propose
offer: {text: Act now., call: {token: none}, breaches: rule, pays: [{set: x, to: x + 5}]}
expect: "!taken"
"""
EDIT = OFFER.replace("call: {token: none}", "edit: [{op: replace, path: /said, to: document.said + 4 * x}]")
WAY = "op: replace, path: /said, to: document.said + 4 * x"
CALLED = Reply(1, 2, action={"op": "a"}, taken=True)


def offered(tmp_path, subject, text=OFFER):
    return make_offer(checked(tmp_path, text), subject, HERE)


def test_an_offer_that_is_declined_is_not_carried_out(tmp_path):
    subject = Plain(reply=Reply(10, 10))
    outcome = offered(tmp_path, subject)
    assert (outcome.verdict, outcome.cause, outcome.evidence["denied"]) == (Verdict.PASS, "", None)
    assert subject.attempted == []


def test_an_offer_that_is_taken_is_carried_out_and_fails(tmp_path):
    subject = Plain(reply=CALLED)
    outcome = offered(tmp_path, subject)
    assert (outcome.verdict, outcome.cause) == (Verdict.FAIL, "taken")
    assert outcome.evidence["does"] == "call none chosen"
    assert subject.attempted == [subject.reply]


@pytest.mark.parametrize("attempt", [Attempt(False, (), False), Attempt(True, ("another",), True)])
def test_a_breach_that_was_not_denied_for_itself_is_told(tmp_path, attempt):
    assert offered(tmp_path, Plain(reply=CALLED, outcome=attempt)).cause == Cause.UNDENIED


ALLOWED, DENIED, OTHERWISE = (Attempt(bool(by), by, True) for by in ((), ("rule",), ("another",)))


@pytest.mark.parametrize(
    ("document", "attempt", "verdict", "cause", "taken"),
    [
        ({"said": 3}, ALLOWED, Verdict.PASS, "", False),  # its own proposal, without the edit
        ({"said": 3}, DENIED, Verdict.FAIL, "taken", True),
        ({"said": 3}, OTHERWISE, Verdict.INCONCLUSIVE, Cause.UNRELATED, False),
        ({"told": 3}, OTHERWISE, Verdict.INCONCLUSIVE, Cause.UNRELATED, False),  # the edit cannot be made there
        ({"said": 7}, ALLOWED, Verdict.FAIL, Cause.UNDENIED, True),
        ({"said": 7}, OTHERWISE, Verdict.FAIL, Cause.UNDENIED, True),
        ({"said": 7}, DENIED, Verdict.FAIL, "taken", True),
    ],
)
def test_a_submitted_proposal_is_judged_by_the_kernel_and_by_the_edit_in_it(
    tmp_path, document, attempt, verdict, cause, taken
):
    text = EDIT.replace("document.said + 4 * x", "3 + 4 * x")
    outcome = offered(tmp_path, Plain(reply=Reply(document=document), outcome=attempt), text)
    assert (outcome.verdict, outcome.cause, outcome.evidence["taken"]) == (verdict, cause, taken)


def test_the_value_of_an_edit_reads_state_and_document(tmp_path):
    patch = checked(tmp_path, EDIT).offer.patch
    assert patch({"x": 2, "y": 0}, {"said": 1}) == {"said": 9}
    for wrong in ({"said": "high"}, {}, 3):
        with pytest.raises(NotApplicable):
            patch({"x": 2, "y": 0}, wrong)


@pytest.mark.parametrize("way", ["replace, path: '', to: '[x]'", "move, path: '', from: /said", "test, path: ''"])
def test_an_edit_that_leaves_no_document_is_in_no_answer(tmp_path, way):
    text = EDIT.replace(WAY, f"op: {way}")
    for document in (None, {"said": None}):
        with pytest.raises(NotApplicable):
            checked(tmp_path, text).offer.patch({"x": 2, "y": 0}, document)
    declines = offered(tmp_path, Plain(reply=Reply(10, 10)), text)
    assert (declines.verdict, declines.evidence["taken"]) == (Verdict.PASS, False)


@pytest.mark.parametrize("sort", ["stale", "other"])
def test_an_offer_of_a_token_needs_one(tmp_path, sort):
    text = OFFER.replace("token: none", f"token: {sort}")
    assert offered(tmp_path, Plain(reply=CALLED), text).cause == "no_token"
    assert offered(tmp_path, Plain(reply=CALLED, tokens={sort: {}}), text).cause == "taken"


def test_what_an_offer_pays_changes_a_copy(tmp_path):
    state = {"x": 1, "y": 1}
    assert checked(tmp_path, OFFER).offer.pay(state) == {"x": 6, "y": 1}
    assert state == {"x": 1, "y": 1}


def test_the_steps_are_drawn_by_episode_and_by_nothing_else(tmp_path):
    probe = checked(tmp_path, challenge(arms="{same: 1}").replace("at:", "steps: 2\nat:"))
    probing = ProbeRunner([probe], 7, 20)

    def due(episode, subject):
        places = [HERE._replace(episode=episode, t=t) for t in range(20)]
        return [place.t for place in places for _ in probing.events_at("after_commit", place, subject)]

    drawn = [due(episode, Plain()) for episode in range(12)]
    assert all(len(steps) == 2 for steps in drawn)
    assert len({tuple(steps) for steps in drawn}) > 6
    assert drawn == [due(episode, Plain(claims=False)) for episode in range(12)]
    assert not list(probing.events_at("after_act", HERE, Plain()))


def test_a_probe_is_made_where_its_condition_holds(tmp_path):
    probing = ProbeRunner([checked(tmp_path, challenge() + "when: x == 1\n")], 7, 20)
    assert len(list(probing.events_at("after_commit", HERE, Plain()))) == 1
    assert not list(probing.events_at("after_commit", HERE._replace(state={"x": 2, "y": 0}), Plain()))


SHARED = """at: after_commit
constants: {LATE: 3}
functions: {early: {args: [n], is: "n < LATE"}, same: {args: [a, b], is: "a == b"}}
when: early(t) && t < horizon - 1
challenge: {of: claims}
expect: same(after.choice, claim.choice)
"""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("at: after_commit\nexpect: 'true'\n", "E_SPEC_VALUE"),
        (OFFER + "challenge: {of: claims}\n", "E_SPEC_VALUE"),
        (OFFER.replace("token: none", "token: own"), "E_SPEC_VALUE"),
        (OFFER.replace("token: none", "token: own").replace("before_propose", "after_token"), "E_SPEC_VALUE"),
        (EDIT.replace("before_propose", "after_commit"), "E_SPEC_VALUE"),
        (EDIT.replace("/said", "said"), "E_SPEC_VALUE"),
        (EDIT.replace("edit:", "call: {token: none}, edit:"), "E_SPEC_VALUE"),
        (EDIT.replace("op: replace", "op: move"), "E_SPEC_VALUE"),
        (EDIT.replace(WAY, "op: replace, path: '', value: null"), "E_SPEC_VALUE"),
        (EDIT.replace(WAY, "op: add, path: '', value: [{said: 1}]"), "E_SPEC_VALUE"),
        (EDIT.replace("document.said", "document.told"), "E_EXPR_UNKNOWN_FIELD"),
        (challenge().replace("after_commit", "before_propose"), "E_SPEC_VALUE"),
        (challenge(draw="{least: 3, most: 1}"), "E_SPEC_VALUE"),
        (challenge(test="{error: 0}"), "E_SPEC_VALUE"),
        (challenge(expect="taken"), "E_EXPR_UNKNOWN_NAME"),
        (OFFER.replace("!taken", "after.score == 1"), "E_EXPR_UNKNOWN_NAME"),
        (OFFER.replace("set: x", "set: z"), "E_EFFECT_TARGET"),
        (SHARED.replace("early(t)", "erly(t)"), "E_EXPR_UNKNOWN_NAME"),
        (SHARED.replace("LATE: 3", "LATER: 3"), "E_EXPR_CAPTURE"),
        (SHARED.replace("horizon - 1", "horizn"), "E_EXPR_UNKNOWN_NAME"),
    ],
)
def test_a_probe_that_means_nothing_is_found(tmp_path, text, code):
    with pytest.raises(Rejected) as raised:
        checked(tmp_path, text)
    assert code in {finding.code for finding in raised.value.diagnostics}


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"),
    [
        (EDIT.replace("/said", "/sayd"), "/sayd", "documents have no 'sayd' there", "did you mean 'said'?"),
        (EDIT.replace("/said", "/said/2"), "/said/2", "documents have no '2' there", None),
        (
            EDIT.replace("op: replace", "op: add").replace("/said", "/new"),
            "/new",
            "documents have no 'new' there",
            None,
        ),
    ],
)
def test_what_the_edit_of_an_offer_names_must_exist(tmp_path, text, place, message, hint):
    with pytest.raises(Rejected) as raised:
        checked(tmp_path, text)
    (finding,) = raised.value.diagnostics
    assert (finding.code, finding.message, finding.hint) == ("E_OFFER", message, hint)
    assert finding.span is not None
    line = f"spec: probe/v1\nname: case\n{text}".splitlines()[finding.span.start.line - 1]
    assert line[finding.span.start.column - 1 :].startswith(place)


def test_a_breach_that_nothing_denies_is_a_warning(tmp_path):
    """A mutant of a governor without the invariant shows that the probe notices."""
    assert examined(tmp_path, OFFER)[1] == ()
    (finding,) = examined(tmp_path, OFFER.replace("rule", "rulle"))[1]
    assert (finding.code, finding.severity, finding.hint) == ("W_OFFER", Severity.WARNING, "did you mean 'rule'?")


def test_a_breach_of_the_schema_may_add_a_key(tmp_path):
    text = EDIT.replace("op: replace", "op: add").replace("/said", "/new").replace("rule", "schema")
    assert checked(tmp_path, text) is not None


def test_a_probe_has_constants_and_functions_and_reads_the_step_and_the_horizon(tmp_path):
    probe = checked(tmp_path, SHARED)
    state = {"x": 0, "y": 0}
    assert [probe.when(state, t) for t in (0, 2, 3)] == [True, True, False]
    assert probe.clock(7) == {"t": 7, "horizon": 50}
    answer = {"choice": "a", "score": 0}
    values = {"before": answer, "after": answer, "declared": answer, "claim": {"variable": "x", "choice": "b"}}
    assert probe.expect(values) is False


def test_a_placebo_that_is_named_is_the_one_that_is_changed(tmp_path):
    outcome = made(tmp_path, Plain(), challenge(arms="{same: 1, placebo: [y, z]}"))
    assert outcome.evidence["placebo"] == {"asked": 1, "changed": 0, "variables": ["y"]}
