"""Forged claims in bundles that were sealed again: `spec verify` refuses all, `tools/verify.py` all that files can show."""

import json
import shutil

import pytest

from tests.conformance.tampered.verifiers import by_engine, by_tool
from tools.conformance import PLACE, Laid
from tools.tampering.forger import Forger, canonical, tagged
from tools.verify import canonical as spelled

REFUTED, NOT_DECIDED = 1, 0


def verdict_of(f, number=0):
    """The body that holds a verdict: of the law, or of a law of a discovery."""
    bodies = f.bodies("verdict") or f.bodies("law")
    return bodies[number]


def digest(body):
    body["digest"] = tagged("law-verdict", canonical(body["verdict"]))


def acquit(status, **more):
    """A refuted law is recorded with another status, without a counterexample; the expectation is met."""

    def change(f):
        body = verdict_of(f)
        power = {"hits": 300, "usable": 300}
        body["verdict"].update({"status": status, "counterexample": None, "power": power, **more})
        digest(body)
        (end,) = f.bodies("end")
        if "status" in end:
            body["expected"] = {"status": status}
            end.update(status=status, met=True)

    return change


def acquit_with_specs(f):
    """The recorded law expects PASS, and its verdict is one by samples."""
    f.respec(lambda document: document["specs"][document["root"]].update(expect={"status": "PASS"}))
    (key,) = (key for key in json.loads(f.read("specs.json"))["specs"] if key.startswith("law/"))
    f.first("start")["digest"] = key.rpartition("@")[2]
    acquit("PASS", method="sample", key=key)(f)


def acquit_in_discovery(f):
    """A refuted law passes by samples; ledger, counts and what was found fit."""
    body = next(one for one in f.bodies("law") if one["verdict"]["counterexample"] is not None)
    body["verdict"].update(status="PASS", method="sample", counterexample=None, power={"hits": 300, "usable": 300})
    digest(body)
    for ledger in f.bodies("ledger"):
        ledger["refuted"] = [one for one in ledger["refuted"] if one["law"] != body["law"]]
    (end,) = f.bodies("end")
    end["laws"]["FAIL"] -= 1
    end["laws"]["PASS"] += 1


def first(type_, **fields):
    return lambda f: f.first(type_).update(fields)


def loosen(f):
    """A fatal invariant is called a warning, wherever receipts name it."""
    for one in f.first("start")["invariants"]:
        one["severity"] = "warn"
    for body in f.bodies("step") + f.bodies("episode_end"):
        for violation in body["violations"]:
            violation["severity"] = "warn"


def drop_gate(f):
    gate = f.first("start")["gates"].pop()
    for body in f.bodies("episode_end") + f.bodies("end"):
        body["gates"].pop(gate)
    for step in f.bodies("step"):
        for decision in step["decisions"]:
            decision["rejected"] = [one for one in decision["rejected"] if one["gate"] != gate]


def shorten(f):
    """The run promises one episode less, and its last one is gone."""
    at = max(n for n, one in enumerate(f.receipts) if one["type"] == "episode")
    del f.receipts[at:-1]
    (end,) = f.bodies("end")
    f.first("start")["episodes"] -= 1
    end["episodes"] -= 1
    end["steps"] = len(f.bodies("step"))
    for gate in end["gates"]:
        end["gates"][gate] = sum(one["gates"][gate] for one in f.bodies("episode_end"))


def retoken(**fields):
    def change(f):
        token = f.first("step")["token"]
        token.update(fields)
        token["id"] = tagged("token", canonical({key: value for key, value in token.items() if key != "id"}))

    return change


def figure(name, **fields):
    return lambda f: next(one for one in f.bodies("figure") if one["figure"] == name)["groups"][0].update(fields)


def uncaught(f):
    (mutant,) = f.bodies("mutant")
    mutant["mutated"]["climbs"] = "PASS"


def failed_control(f):
    (mutant,) = f.bodies("mutant")
    mutant["control"]["climbs"], mutant["caught"], mutant["verdict"] = "FAIL", [], "FAIL"


def inner_result(f):
    """The suite's receipt of a run records a success less."""
    f.bodies("run")[0]["result"]["successes"] = 0


def other_run(f):
    """A run is replaced by the control's, and its receipt by that of the control."""
    runs = {one["place"]: one for one in f.bodies("run")}
    mine, other = runs["runs/short.climb.3"], runs["runs/long.climb.3"]
    shutil.rmtree(f.folder / mine["place"])
    shutil.copytree(f.folder / other["place"], f.folder / mine["place"])
    mine.update({name: other[name] for name in ("specs", "receipts", "result")})


FORGERIES = {
    "a refuted law passes by samples": ("refuted", acquit("PASS", method="sample"), REFUTED),
    "a refuted law passes by samples, as its specs expect": ("refuted", acquit_with_specs, NOT_DECIDED),
    "a refuted law is unknown": ("refuted", acquit("UNKNOWN", reason="resource_limit", method="none"), REFUTED),
    "a refuted law is proved without a certificate": ("refuted", acquit("PROVED", method="proof"), REFUTED),
    "a refuted law passes and keeps its counterexample": ("refuted", lambda f: (verdict_of(f)["verdict"].update(status="PASS"), digest(verdict_of(f))), REFUTED),
    "a verdict is about another law": ("refuted", lambda f: (verdict_of(f)["verdict"].update(forbidden="x"), digest(verdict_of(f))), REFUTED),
    "a counterexample shows another ring": ("refuted", lambda f: (verdict_of(f)["verdict"]["counterexample"].update(start=".<.."), digest(verdict_of(f))), REFUTED),
    "a counterexample does not follow one rule": ("refuted", lambda f: (verdict_of(f)["verdict"]["counterexample"]["excerpt"].update(states=["...>", ">...", "...<"]), digest(verdict_of(f))), REFUTED),
    "a certificate proves something else": ("proved", lambda f: (verdict_of(f)["verdict"]["certificate"].update(proof={}), digest(verdict_of(f))), NOT_DECIDED),
    "a proved law of fewer cases": ("proved", lambda f: f.first("cases").update(count=1), NOT_DECIDED),
    "a discovery acquits a refuted law": ("discovery", acquit_in_discovery, NOT_DECIDED),
    "a discovery finds what it did not find": ("taped", lambda f: f.first("expected").update(found=None), NOT_DECIDED),
    "an answer of a model has another digest": ("taped", lambda f: f.first("iteration")["answer"].update(digest="ab" * 32), REFUTED),
    "a fatal invariant becomes a warning": ("climb", loosen, REFUTED),
    "a gate is gone": ("climb", drop_gate, REFUTED),
    "an episode is gone": ("climb", shorten, REFUTED),
    "an expectation of another form": ("climb", first("start", expect=True), REFUTED),
    "another seed": ("climb", first("start", seed=4), REFUTED),
    "a token for another proposal": ("climb", retoken(proposal="ab" * 32), REFUTED),
    "a token for another scope": ("climb", retoken(scope="ab" * 32), REFUTED),
    "a commitment to other proposals": ("climb", lambda f: f.first("commit")["proposals"].reverse(), REFUTED),
    "a step that reached the goal": ("climb", first("step", success=True), REFUTED),
    "another cost": ("climb", first("step", cost={"total": 0}), NOT_DECIDED),
    "another observation": ("climb", first("commit", observation="ab" * 32), NOT_DECIDED),
    "a probe decides nothing": ("kernel", first("probe", verdict="INCONCLUSIVE"), REFUTED),
    "an audit entry in the receipts alone": ("kernel", first("audit", timestamp_ms=7), REFUTED),
    "a check of a suite fails": ("suite", first("check", verdict="FAIL"), NOT_DECIDED),
    "a check of a suite passes without opportunity": ("suite", first("check", opportunities=0), REFUTED),
    "a figure of a suite is larger": ("suite", figure("highest", value=9), NOT_DECIDED),
    "a difference of a suite is larger": ("suite", figure("lead", value=9), REFUTED),
    "a mutant is caught by nothing": ("suite", uncaught, REFUTED),
    "a control fails": ("suite", failed_control, NOT_DECIDED),
    "a run of a suite has another result": ("suite", inner_result, REFUTED),
    "a run of a suite is another one": ("suite", other_run, NOT_DECIDED),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_claim_is_refused_or_not_decided(tmp_path, name):
    base, change, wanted = FORGERIES[name]
    place = shutil.copytree(PLACE / "bases" / base, tmp_path / "bundle")
    forger = Forger(place)
    change(forger)
    forger.seal()
    laid = Laid(place, {})
    assert by_engine(laid).exit == 1
    assert by_tool(laid).exit == wanted
    assert by_tool(laid, "--level", "L4").exit == (1 if wanted == REFUTED else 3)


def copied(number, at):
    """A receipt stands at another place, too."""
    return lambda f: f.receipts.insert(at, json.loads(json.dumps(f.receipts[number])))


def taken(type_, number=-1):
    """One of the receipts of a type is taken out."""
    return lambda f: f.receipts.remove([one for one in f.receipts if one["type"] == type_][number])


def between_turns(f):
    """A drift that the first receipt announces stands between the turns of two agents."""
    state = f.first("step")["after"]
    f.first("start")["drifts"] = [{"drift": "d", "schedule": [0]}]
    drift = {"drift": "d", "episode": 0, "t": 0, "before": state, "after": state, "changed": {}}
    f.receipts.insert(4, {"type": "drift", "body": drift})


def after_its_episode(f):
    """A commitment to the next step stands after the end of its episode."""
    copied(7, 10)(f)
    f.receipts[10]["body"].update(t=3)


def one_end(f):
    """Two episodes have one end, which counts for both."""
    ended, second = f.bodies("episode_end")
    second["gates"] = {gate: count + ended["gates"][gate] for gate, count in second["gates"].items()}
    del f.receipts[9]


def one_more_end(f):
    """The run counts an episode that only ended."""
    copied(18, 19)(f)
    body = f.receipts[19]["body"]
    body.update(
        episode=2, ended="until", steps=0, gates=dict.fromkeys(body["gates"], 0), success=False, first_success=None
    )
    first("start", episodes=3)(f)
    first("end", episodes=3)(f)


def decided_out_of_turn(f):
    """Two agents who decide together decide in the other order."""
    at = next(at for at, one in enumerate(f.receipts) if one["type"] == "step")
    f.receipts[at : at + 2] = reversed(f.receipts[at : at + 2])


def breach_by_name(f):
    f.bodies("step")[2]["violations"].append({"invariant": "bounded", "severity": "warn", "witness": {}})
    first("episode_end", ended="fatal")(f)


def without_choice(**fields):
    return lambda f: next(one for one in f.bodies("step") if one["chosen"] is None).update(fields)


def faults(*reasons):
    told = [{"t": 0, "message": "decide", "reason": reason} for reason in reasons]
    return first("episode_end", faults=told)


def rate(of_what, **fields):
    """A figure of a suite is a rate and says this."""

    def change(f):
        f.respec(lambda document: document["specs"][document["root"]]["figures"].update(lead={"rate": of_what}))
        group = {"name": "", "count": 1, "of": 2, "value": 500_000} | fields
        f.bodies("figure")[1].update(statistic="rate", groups=[group])

    return change


def effect(**fields):
    """A figure of a suite is an effect and says this."""

    def change(f):
        document = {"effect": "true", "against": "success"}
        f.respec(lambda specs: specs["specs"][specs["root"]]["figures"].update(lead=document))
        group = {"name": "", "count": 2, "against": 1, "of": 2, "value": 500_000} | fields
        f.bodies("figure")[1].update(statistic="effect", groups=[group])

    return change


def unknown_status(f):
    verdict(status="MAYBE")(f)
    first("end", status="MAYBE", met=False)(f)


def verdict(**fields):
    return lambda f: (verdict_of(f)["verdict"].update(fields), digest(verdict_of(f)))


def counterexample(**fields):
    return lambda f: (verdict_of(f)["verdict"]["counterexample"].update(fields), digest(verdict_of(f)))


def specs_with_more(f):
    f.respec(lambda document: document.update(more=1))


def forged_inside(f):
    """In a run of a suite a fatal invariant is called a warning; it is sealed again, as is all that repeats its figures."""
    body = f.first("run")
    inner = Forger(f.folder / body["place"])
    loosen(inner)
    inner.seal()
    body.update({name: inner.manifest[name] for name in ("specs", "receipts", "result")})


REFUSALS = {
    "is outside of an episode": ("climb", after_its_episode),
    "an episode begins in another": ("climb", one_end),
    "what a start drew has another form": ("climb", first("episode", drawn=[])),
    "a drift comes after an agent acted": ("in-turn", between_turns),
    "a decision is out of turn": ("together", decided_out_of_turn),
    "what chance did": ("climb", first("step", chance={})),
    "what chance did has another form": ("climb", first("step", chance={"drawn": [], "changed": {}})),
    "a violation records another `severity`": ("climb", breach_by_name),
    "an episode ends that did not begin": ("climb", one_more_end),
    "an episode ends before every agent acted": ("in-turn", lambda f: (taken("step")(f), taken("commit")(f))),
    "an episode ended for another reason": ("climb", first("episode_end", ended="fatal")),
    "an episode that was broken off has other violations": ("kernel", first("episode_end", ended="died")),
    "the run ends within an episode": ("climb", taken("episode_end")),
    "specs.json has other fields": ("climb", specs_with_more),
    "the manifest has other fields": ("climb", lambda f: f.manifest.update(more=1)),
    "[E_REPLAY]": ("suite", forged_inside),
    "the status 'MAYBE' is unknown": ("proved", unknown_status),
    "a status does not go with its counterexample": ("refuted", verdict(counterexample=None)),
    "its excerpt does not show the step": ("refuted", counterexample(t=99)),
    "its rings are not those of the universe": ("refuted", counterexample(start="")),
    "the end counts other runs, checks or mutants": ("suite", first("end", runs=99)),
    "the suite counts other runs as its own": ("suite", first("start", runs=1)),
    "does not go with its error": ("suite", first("check", error="x")),
    "is not the statistic of its spec": ("suite", first("figure", statistic="rate")),
    "has an error and values": ("suite", first("figure", error="x")),
    "the control of a mutant": ("suite", lambda f: f.first("mutant")["control"].update(more="PASS")),
    "the stop records another": ("discovery", first("stop", iterations=99)),
    "the escalation of": ("discovery", first("escalation", before="x")),
    "the expected law": ("discovery", first("expected", status="x")),
    "has a digest and no verdict": ("discovery", lambda f: f.bodies("law")[1].update(verdict=None, error={"code": "E_X"})),
    "a scenario has no file": ("climb", lambda f: f.write("notes.txt", b"x")),
    "empty/ is empty": ("climb", lambda f: (f.folder / "empty").mkdir()),
    "a step without choice": ("stuck", without_choice(token="x")),
    "not the last decision of a turn is judged": ("together", first("step", success=False)),
    "no exchange on the tape is the agent fault": ("outside", faults("unheard_of")),
    "more agent faults than the tape has answers": ("outside", faults(*["wrong_form"] * 3)),
    "counts other messages than the tape": ("outside", lambda f: f.first("episode_end")["spent"].update(messages=1)),
    "counts more than there is": ("suite", rate("true", count=3, value=1_500_000)),
    "the other rate of lead counts more than there is": ("suite", effect(against=3, value=-500_000)),
    "the value of lead does not follow": ("suite", effect(value=600_000)),
    "counts other successes than the runs have": ("suite", rate("success", of=3, value=333_333)),
}  # fmt: skip
"""By what `tools/verify.py` says: refusals that no case of the conformance suite comes to."""


@pytest.mark.parametrize("words", REFUSALS)
def test_the_verifier_of_files_says_what_is_wrong(tmp_path, words):
    base, change = REFUSALS[words]
    forger = Forger(shutil.copytree(PLACE / "bases" / base, tmp_path / "bundle"))
    change(forger)
    forger.seal()
    laid = Laid(tmp_path / "bundle", {})
    said = by_tool(laid)
    assert (said.exit, words in said.message) == (1, True), said
    assert by_engine(laid).exit == 1


def test_a_result_that_is_not_that_of_the_receipts(tmp_path):
    place = shutil.copytree(PLACE / "bases" / "failing", tmp_path / "bundle")
    manifest = json.loads((place / "manifest.json").read_bytes())
    manifest["result"]["verdict"] = "PASS"
    (place / "manifest.json").write_bytes(spelled(manifest) + b"\n")
    laid = Laid(place, {})
    assert (by_engine(laid).code, by_tool(laid).code) == ("E_RESULT", "E_RESULT")
