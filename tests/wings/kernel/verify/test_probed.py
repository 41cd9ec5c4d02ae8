"""What the receipt of a probe says of itself is recomputed from its answers, without replay, by both verifiers."""

import random
import shutil

import pytest

from specledger.kinds import KINDS, load
from specledger.pipeline.executing import execute
from specledger.verify.assurance_levels import Reader
from specledger.verify.run import RUN
from specledger.wings.kernel.probes.judgement import judge
from specledger.wings.kernel.spec.probe import Challenge
from tests.conformance.tampered.verifiers import by_tool
from tests.verifying import verify_bundle
from tools import verify as tool
from tools.conformance import Laid
from tools.tampering.forger import HELP, Forger

AGENTS = ("pseudo", "noisy-honest", "honest")


@pytest.fixture(scope="module")
def probed(tmp_path_factory):
    """A bundle of each agent: a liar that takes offers, one that draws, and an honest one; with all sorts of probes."""
    folder = tmp_path_factory.mktemp("probed")
    for agent in AGENTS:
        sets = [f"agent={agent}", "episodes=1", "horizon=6"]
        (bundle,) = load(
            "axion-panel", kind="scenario", set=[*sets, "probes=[p3-audit,p5-causal,p5-sequential,layer-c]"]
        )
        place = execute(bundle, folder / agent).place
        shutil.rmtree(place / "specs", ignore_errors=True)
        for name in HELP:
            (place / name).unlink()
        Forger(place).seal()
    return folder


@pytest.fixture
def told(probed, tmp_path):
    """What both verifiers say of a bundle after a change of a probe's receipt: codes, and the engine's message."""

    def say(agent, probe, change):
        forger = Forger(shutil.copytree(probed / agent, tmp_path / "forged"))
        change(next(body for body in forger.bodies("probe") if body["probe"] == probe))
        forger.seal()
        found = verify_bundle(forger.folder, RUN, KINDS, Reader(replay=False))
        failed = next((one for one in found.checks if one.status == "failed"), None)
        by = by_tool(Laid(forger.folder, {}))
        return (None, "", by.exit) if failed is None else (failed.code, f"{failed.number}: {failed.message}", by.exit)

    return say


def verdict(word, cause=""):
    return lambda body: body.update(verdict=word, cause=cause)


def fields(**given):
    return lambda body: body["evidence"].update(given)


def without(name):
    return lambda body: body["evidence"].pop(name)


def inside(name, **given):
    return lambda body: body["evidence"][name].update(given)


def trial(**given):
    return lambda body: body["evidence"]["trials"][0].update(given)


def both(*changes):
    return lambda body: [change(body) for change in changes]


PASSED = both(verdict("PASS"), fields(answers="PASS"))


def all_held(body):
    for one in body["evidence"]["trials"]:
        one.update(held=True)
        one.pop("miss", None)


def all_as_predicted(body):
    all_held(body)
    for one in body["evidence"]["trials"]:
        one.update(after=one["predicted"], declared=one["predicted"])
        one.pop("procedure", None)


def missed_otherwise(body):
    one = next(one for one in body["evidence"]["trials"] if one["held"] is False)
    one["miss"] = "inert" if one["miss"] == "mispredicted" else "mispredicted"


# agent, probe, the change, and words of what is said; None: every check but replay passes
FORGERIES = {
    "nothing": ("pseudo", "p5-causal", lambda body: None, None),
    "nothing, of one that draws": ("noisy-honest", "p5-sequential", lambda body: None, None),
    "the verdict": ("pseudo", "p5-causal", verdict("PASS"), "a verdict, a cause or figures"),
    "the verdict of the answers": ("pseudo", "p5-causal", PASSED, "a verdict, a cause or figures"),
    "what held": ("pseudo", "p5-causal", both(PASSED, all_held), "another outcome of answer"),
    "everything, answers too": ("pseudo", "p5-causal", both(PASSED, all_as_predicted, fields(revealed=True, trace={"ends": True, "equal": 9, "nodes": 9})), None),
    "the cause": ("pseudo", "p5-causal", verdict("FAIL", "trace"), "a verdict, a cause or figures"),
    "a conviction of an honest agent": ("honest", "p5-causal", verdict("FAIL", "inert"), "a verdict, a cause or figures"),
    "how it missed": ("pseudo", "p5-causal", missed_otherwise, "a verdict, a cause or figures"),
    "a miss of what held": ("honest", "p5-causal", trial(miss="inert"), "a verdict, a cause or figures"),
    "one answer is called two": ("honest", "p5-causal", trial(declared="wait"), "another outcome of answer"),
    "what held, as a number": ("honest", "p5-causal", trial(held=1), "another outcome of answer"),
    "an answer without an outcome": ("honest", "p5-causal", trial(held=None), "another outcome of answer"),
    "one answer less": ("pseudo", "layer-c", lambda body: body["evidence"]["trials"].clear(), "other answers than it asks for"),
    "an answer twice": ("honest", "p5-causal", lambda body: body["evidence"]["trials"].append(body["evidence"]["trials"][0]), "other answers than it asks for"),
    "the same question, more often": ("pseudo", "p5-causal", inside("null", asked=7), "other answers than it asks for"),
    "more changes than questions": ("honest", "p5-causal", inside("null", changed=2), "other answers than it asks for"),
    "changes, as a truth": ("honest", "p5-causal", inside("null", changed=False), "other answers than it asks for"),
    "more placebos": ("honest", "p5-causal", inside("placebo", asked=65), "other answers than it asks for"),
    "an explanation of more than is asked": ("pseudo", "p5-causal", fields(explanation={"here": "a", "asked": 9, "changed": 0}), "other answers than it asks for"),
    "a demand left out": ("pseudo", "p5-causal", without("revealed"), "other answers than it asks for"),
    "a commitment that does not open": ("honest", "p5-causal", fields(revealed=False), "a verdict, a cause or figures"),
    "a trace that does not come out": ("honest", "p5-causal", fields(trace={"ends": True, "equal": 0, "nodes": 1}), "a verdict, a cause or figures"),
    "what is challenged": ("honest", "p5-causal", fields(of="counterfactuals"), "other answers than it asks for"),
    "repeats that nobody asks for": ("honest", "p5-causal", fields(noisy={"repeats": 4, "same": 4}), "other answers than it asks for"),
    "repeats of one that draws": ("noisy-honest", "p5-sequential", without("noisy"), "other answers than it asks for"),
    "that it draws nothing": ("noisy-honest", "layer-c", fields(deterministic=True, null={"asked": 1, "changed": 0}), "other answers than it asks for"),
    "a p-value": ("noisy-honest", "p5-sequential", inside("test", p=1), "a verdict, a cause or figures"),
    "how often was looked": ("noisy-honest", "p5-sequential", inside("test", looks=1), "a verdict, a cause or figures"),
    "where it was decided": ("noisy-honest", "p5-sequential", inside("test", made=1), "other answers than it asks for"),
    "no test": ("noisy-honest", "p5-sequential", without("test"), ""),
    "a test that is none of it": ("honest", "p5-causal", fields(test={"looks": 1, "made": 1, "p": 1000000}), "a verdict, a cause or figures"),
    "a probe that there is not": ("pseudo", "p5-causal", lambda body: body.update(probe="p7"), "the run has no probe 'p7'"),
    "an agent that has no turn": ("pseudo", "p5-causal", lambda body: body.update(agent="other"), "a probe is of an agent out of turn"),
    "another place": ("pseudo", "p5-causal", lambda body: body.update(at="after_act"), "another `at`"),
    "an error with evidence": ("pseudo", "p5-causal", verdict("ERROR", "E_EVAL_INDEX"), "has an error and evidence"),
    "a pass of nothing": ("pseudo", "p5-causal", both(verdict("PASS"), lambda body: body.update(evidence={})), "a verdict, a cause or figures"),
    "nothing for no reason": ("pseudo", "p5-causal", both(verdict("INCONCLUSIVE", "tired"), lambda body: body.update(evidence={})), "a verdict, a cause or figures"),
    "an offer was not taken": ("pseudo", "p3-audit", verdict("PASS"), "a verdict, a cause or figures"),
    "an offer that nobody took, and reasons": ("pseudo", "p3-audit", both(verdict("PASS"), fields(taken=False, denied=None)), "a verdict, a cause or figures"),
    "an offer that was not denied": ("pseudo", "p3-audit", both(verdict("FAIL", "taken"), fields(reasons=[])), "a verdict, a cause or figures"),
    "what was offered": ("pseudo", "p3-audit", fields(does="call none chosen"), "a verdict, a cause or figures"),
    "what it breaches": ("honest", "p3-audit", fields(breaches="axion-i0"), "a verdict, a cause or figures"),
    "a denial of nothing": ("honest", "p3-audit", fields(denied=True), "a verdict, a cause or figures"),
    "an offer without an answer": ("honest", "p3-audit", lambda body: body.update(evidence={}), "a verdict, a cause or figures"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_probe_is_refused_without_replay_by_both(told, name):
    agent, probe, change, said = FORGERIES[name]
    code, message, by_the_tool = told(agent, probe, change)
    if said is None:
        assert (code, by_the_tool) == (None, 0)
    else:
        assert (code in ("E_STATE", "E_LINE"), message[:3], by_the_tool) == (True, "5: ", 1), message
        assert said in message


MALFORMED = {  # a probe, a change, and what both verifiers say of it
    "a field that is not there": ("p3-audit", without("reasons"), "the field 'reasons' is missing"),
    "a field of a part": ("p5-causal", lambda body: body["evidence"]["null"].pop("asked"), "the field 'asked' is missing"),
    "a field of another type": ("p5-causal", fields(trials=7), "a value is not of the type"),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_told_in_words_by_both(probed, tmp_path, name):
    probe, change, said = MALFORMED[name]
    forger = Forger(shutil.copytree(probed / "pseudo", tmp_path / "forged"))
    number = next(at for at, one in enumerate(forger.receipts) if one["body"].get("probe") == probe)
    change(forger.receipts[number]["body"])
    forger.seal()
    found = verify_bundle(forger.folder, RUN, KINDS, Reader(replay=False))
    by_engine = next(one for one in found.checks if one.status == "failed")
    by_the_tool = by_tool(Laid(forger.folder, {}))
    for code, message in ((by_engine.code, by_engine.message), (by_the_tool.code, by_the_tool.message)):
        assert code == "E_LINE"
        assert str(message).startswith(f"receipt {number} (")
        assert f"is malformed: {said}" in str(message)
        assert "Error(" not in str(message)


def drawn_evidence(draw, challenge):
    """Evidence of a challenge, drawn: few choices, changes and answers, so that every branch is met."""
    deterministic, before = draw.random() < 0.6, "a"
    trials = []
    for number in range(draw.randint(1, 3)):
        predicted, usual = draw.choice("abc"), draw.choice("abc")
        confidence = {"confidence": draw.choice([0, 300_000, 600_000, 1_000_000])} if draw.random() < 0.5 else {}
        by = {"direction": "up", "by": draw.choice(["agent", "kernel"])} if draw.random() < 0.3 else {}
        for _ in range(draw.choice([1, 1, 11, 12])):
            after = usual if deterministic or draw.random() < 0.8 else draw.choice("abc")
            one = {"drawn": number, "variable": "v", "value": 1, "predicted": predicted, **confidence, **by}
            if draw.random() < 0.1:
                reason = draw.choice(["unchanged", "says_nothing"])
                trials.append({**one, "edit": None, "after": None, "reason": reason, "held": None})
                continue
            one |= {"edit": {}, "after": after, "declared": after, "held": after == predicted}
            missed = {"procedure": draw.choice([after, after, after, "c"])} if not one["held"] else {}
            trials.append({**one, **missed})
    changed = 0 if draw.random() < 0.7 else draw.randint(0, 6)
    evidence = {"of": challenge["of"], "deterministic": deterministic, "before": before, "trials": trials}
    evidence["null"] = {"asked": draw.choice([0, 1, 11, 12]) or 1, "changed": min(changed, 1)}
    if draw.random() < 0.5:
        evidence["explanation"] = {"here": draw.choice("aab"), "asked": 8, "changed": draw.choice([0, 0, 3])}
    for name, values in {"revealed": [True, True, False], "restated": [True, False]}.items():
        evidence |= {name: draw.choice(values)} if draw.random() < 0.3 else {}
    if draw.random() < 0.3:
        evidence["trace"] = {"ends": True, "equal": draw.choice([3, 3, 2]), "nodes": 3}
    return evidence


def drawn_challenge(draw):
    of = draw.choice(["claims", "claims", "counterfactuals", "unused", "declared"])
    test = draw.choice([{}, {"effect": "0.5"}, {"error": "0.05"}, {"error": "0.4"}])
    return {"of": of, "on": draw.choice(["here", "here", "fresh"]), "draw": {"most": 3}, "test": test}


@pytest.mark.medium
def test_both_judge_a_challenge_alike():
    """On evidence that is drawn, whether a run could give it or not; each verdict with each of several causes comes."""
    draw, met = random.Random(5), set()
    for _ in range(4000):
        challenge = drawn_challenge(draw)
        evidence = drawn_evidence(draw, challenge)
        found = judge(evidence, Challenge.model_validate(challenge))
        told = tool.judged(evidence, tool.read_challenge(challenge))
        assert told == (str(found.verdict), str(found.cause), str(found.answers)), (challenge, evidence)
        met.add(told[:2])
    assert {verdict for verdict, _ in met} == {"PASS", "FAIL", "INCONCLUSIVE"}
    causes = {"inert", "mispredicted", "undeclared_influence", "not_followed", "commitment", "trace", "restated"}
    assert causes | {"noise", "says_nothing", "untested", "nothing_changed", ""} <= {cause for _, cause in met}
