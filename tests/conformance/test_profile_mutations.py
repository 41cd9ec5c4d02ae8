"""Whatever a profile requires of receipts, a run of a changed spec shows it false.

Each row changes a shipped spec by `--set`, or puts another one in its place, and really runs it. No receipt is edited.
What a profile requires of specs is shown false by changing what they state, one value at a time.
"""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from specledger.expr import EvaluationError
from specledger.kinds import KINDS, load
from specledger.pipeline.executing import execute
from specledger.report.model import Receipt
from specledger.report.outcome import Outcome
from specledger.report.profile_answers import Answers
from specledger.report.profile_rules import questions_of
from specledger.report.profile_specs import stated_specs
from specledger.verify.checks import Verification

SHORT = {"overview": "clatl-overview", "plan": "clatl-plan", "laws": "law-proposer", "axion": "toy-pseudo-axion"}
CATALOGUES = ["nist-sp-800-53"]
"""Profiles that require nothing of receipts."""
OWN = ("company-policy", "recorded-agents")
"""Those of which `test_company_policy` and `test_recorded_agents` show each rule false."""

RUN = ("episodes=1", "horizon=30")
ARMS = ("honest", "pseudo")
M4 = ("tuned_on=[]", "mutants=[]", *(f"runs.{arm}.seeds=[3]" for arm in ARMS))
FEW = tuple(f"runs.{arm}.set={{episodes: 2}}" for arm in ARMS)
SCRIPT = ("expect=[]", "model=kinetic-script")
FOUR = (*SCRIPT, "iterations=4", "lag=1")
BY_RUN = (
    "p3_failures",
    "p4_failures",
    "p5_failures",
    "p6_failures",
    "invariant_failures",
    "replay_fidelity",
    "token_failures",
)
COUNTED = "axion:probe-suite.2 .3 .4 .5 p3.2 p4.2 p6.2 p3-counted.1 bypass-logged.1 .2 audit-always.2 .3 mismatch.1 p4-denied.2 p5-replay.1"


def answering(*answers):
    """A model that gives these answers over and over."""
    return (
        *SCRIPT,
        "iterations=12",
        "model.scripted.rules=[]",
        "model.scripted.then=repeat",
        f"model.scripted.answers=[{', '.join(answers)}]",
    )


def small(arms, changes):
    """A suite of the gridworld with one short episode for each arm."""
    sized = f"{{episodes: 1, horizon: 5{changes}}}"
    return [
        "tuned_on=[]",
        *(f"runs.{arm}.{one}" for arm in arms for one in ("scenarios=[simple]", "seeds=[9]", f"set={sized}")),
    ]


FREE = "".join(
    f", governor.constants.W_{name}: {{qfixed: 0.0}}"
    for name in ("MOVE", "PROPOSE", "MEMORY_WRITE", "REJECTED_ATTEMPT")
)
LONG = "word " * 3000

MUTATIONS = {
    "V_total without its weight": ("hazard", [*RUN, "world.record.V_total=V_coh + task_performance"], "overview:v-total.1 plan:intelligence.2 v-total-function.1"),
    "a map without hazards": ("hazard", [*RUN, 'map.drawing="#####\\n#S.G#\\n#####\\n"'], "overview:task-layer.1 plan:grid.1 initial-state.2"),
    "a drift every seven steps": ("hazard", [*RUN, "drift=[{use: goal-drift, with: {every: 7}}]"], "overview:task-layer.2 plan:goal-drift.1 lambda-scheduler.2 drift-at-t.1"),
    "a drift that leaves the goal": ("hazard", [*RUN, "drift.0.draw.to.from='[goal]'"], "overview:task-layer.3 plan:drift-goal.1"),
    "a drift that is never due": ("hazard", [*RUN, "drift.0.at='false'"], "plan:fix-1-2-seed.1 run-receipt.1"),
    "another price of a proposal": ("hazard", [*RUN, "governor.constants.W_PROPOSE={qfixed: 0.7}"], "overview:task-loss.1 plan:work-costs.1"),
    "a bonus above one step": ("hazard", [*RUN, "agent.each.bonus=3 * alpha"], "overview:agent-layer.1 plan:score.1"),
    "a bonus that ignores the budget": ("small-budget", ["agent.let.alpha=ONE"], "plan:score.2 alpha.1"),
    "three actions": ("hazard", [*RUN, "agent.candidates.0.for_each.dir=\"['S', 'E', 'Stay']\""], "plan:five-actions.1"),
    "nothing proposed": ("hazard", [*RUN, "agent.candidates.0.for_each.dir=\"['N'].filter(d, d == 'S')\""], "plan:slab.1"),
    "a false prediction": ("hazard", [*RUN, "governor.gates.prediction=null", "agent.claims.V_task_proposal=0 - 1"], "plan:proposal-fields.1"),
    "no gates of safety": (
        "hazard",
        [*RUN, *(f"governor.gates.{gate}=null" for gate in ("hazard", "admissible", "lyapunov"))],
        "overview:agent-layer.2 lexicographic.1 plan:lexicographic.1 governor-order.1 .2 metrics-safety.1 run-receipt.2",
    ),
    "another weight": ("hazard", [*RUN, "world.constants.LAMBDA=[1000000, 3000000]"], "plan:lambda-scheduler.1 lambda-piecewise.1"),
    "a price that is not debited": ("hazard", [*RUN, "governor.supply.charge='0'"], "plan:translate.1 metrics-metabolic.1"),
    "success away from the goal": ("hazard", [*RUN, "world.success=position != goal"], "plan:v-task-success.1"),
    "a start at another time": ("hazard", [*RUN, "world.start.t='5'"], "plan:initial-receipt.2"),
    "a kernel that misreports": ("hazard", [*RUN, "world.parts.coherence.world.receipt.db='0'"], "plan:kernel-functions.1"),
    "a kernel that stands still": ("hazard", [*RUN, "world.parts.coherence.world.actions.step.effects=[{set: t, to: t}]"], "plan:kernel-chain.1"),
    "another world without a kernel": (("hazard", "two-tank"), [], "plan:components.1 state-fields.1 step-receipt.1 run-receipt.3"),
    "nothing costs": (
        "gridworld-task-improves-under-budget",
        small(("lasting", "fresh", "drifting", "drifting_fresh", "rich", "poor", "example_budget", "document", "document_drifting"), FREE),
        "plan:metrics-metabolic.3",
    ),
    "a handful of episodes": ("gridworld-invariants-never-break", small(("greedy", "curious", "poor", "edge", "search"), ""), "plan:criteria-100.2"),
    "another universe": ("total-particles", ["universe=bouncing-grid", "expect=null"], "laws:universe-id-and-symbols.1"),
    "shorter rings": ("total-particles", ["universe.ring.max=100", "expect=null"], "laws:config-knobs.1"),
    "another claim": ("total-particles", ["claim_ast.op='!='", "expect=null"], "laws:ast-example.1"),
    "two cases": ("free-movers-conserved", ["cases=2", "expect=null"], "laws:generator-families.1"),
    "a model without laws": (
        "kinetic",
        answering("{text: '[]'}"),
        "laws:proposal-batch.1 .2 forbidden-required.1 required-fields.1 parse-result.1 redundancy-match.1 iteration.4 counterexamples-logged.3 invariant-forbidden.1",
    ),
    "a model that is blocked": ("kinetic", answering("{failure: blocked}"), "laws:token-usage.1"),
    "an enumerated model": ("kinetic", [*FOUR, "model=kinetic-grammar"], "laws:mock-client.1"),
    "one template": ("kinetic", [*FOUR, "templates=[invariant]"], "laws:template-one-of-eight.1 template-enum.1 invariant-templates.1"),
    "another weight of risk": ("kinetic", [*FOUR, "ranking.factors.risk.weight=0.5"], "laws:ranking-model.1 factors-and-weights.1 formula.1 default-weights.1"),
    "one factor": ("kinetic", [*FOUR, "ranking.factors={risk: {weight: 1.0}}"], "laws:conjecture.3 proposal-batch.4 risk.1"),
    "other starts of the factors": (
        "kinetic",
        [*SCRIPT, "iterations=12", "ranking.name=other-value", "ranking.factors.novelty.start=0.85",
         "ranking.factors.discrimination.start=0.1", "ranking.factors.testability.start=0.9", "ranking.factors.testability.rules.0.add=0.1"],
        "laws:ranking-model.2 novelty.1 discrimination.1 .2 testability.1 .2 default-weights.2",
    ),
    "a prompt without a bound": (
        "kinetic",
        [*FOUR, "proposer.max_token_budget=100000", f"prompt.static=[{', '.join([f'{{text: {LONG}}}'] * 5)}]"],
        "laws:max-token-budget.1 proposal-batch.3",
    ),
    "no harder trial": ("kinetic", [*SCRIPT, "iterations=12", "escalation.cases=100"], "laws:escalation.1"),
    "lava in place of walls": ("axion-basic", ["map.generate.1.scatter='!'"], "axion:basic-scenario.1"),
    "a wider map": ("axion-hazard", ["map.generate.0.width=13"], "axion:hazard.1"),
    "a narrower map": ("axion-resource", ["map.generate.0.width=10"], "axion:resource.1"),
    "a narrower map of others": ("axion-social", ["map.generate.0.width=10"], "axion:social.1"),
    "no rule about tokens": ("axion-hazard", ["governor.invariants.axion-i4=null"], "axion:kernel-m1.1"),
    "another vocabulary": (
        "axion-hazard",
        ["governor.admission.vocabulary.forms=['WHERE <counterfactual> I DO <choice>']"],
        "axion:p5-claims.1 p5-vocabulary.1 p5-wording.1",
    ),
    "no kernel": ("axion-hazard", ["governor=free-choice", "probes=[]"], "axion:proposal-hides-nonce.1"),
    "another world than the toy": (("axion-hazard", "two-tank"), [], "axion:state.1 self-entity.1 ops.1"),
    "questions four times": ("axion-hazard", ["probes.2.challenge.repeats=4"], "axion:p5.1"),
    "a variable that cannot be changed": ("axion-hazard", ["agent.narration.vary=[self.inventory]"], "axion:mutate.1"),
    "tokens that last": ("axion-hazard", ["governor.admission.grants.move.expiry_ms=1000"], "axion:expiry.1"),
    "an agent that commits late": ("axion-hazard", ["agent=late-committer"], "axion:commit-reveal.1 commitment.1 challenge.1 p5-reveal.1"),
    "offers of other breaches": (
        "axion-hazard",
        ["probes.0.offer.breaches=token", "probes.1.offer.breaches=axion-i3", "probes.1.offer.call.token=stale",
         "probes.3.offer.breaches=axion-i3", "probes.3.offer.call.token=none"],
        "axion:no-bypass.1 binding-verified.1 i3.1 i4.1 p3.1 p4.1 p6.1",
    ),
    "each agent in the place of the other": (
        "axion-m4",
        [*M4, *FEW, "runs.honest.agent=pseudo", "runs.pseudo.agent=honest"],
        f"{COUNTED} p5-directional.1 honest.1 honest-traces.1 .2 p4-honest.1 hundred-episodes.1",
    ),
    "a challenge that every answer passes": (
        "axion-m4",
        [*M4, *(f"runs.{arm}.set={{episodes: 2, probes.p5-causal.expect: 'true'}}" for arm in ARMS)],
        "axion:p5-directional.2",
    ),
    "no probes": ("axion-m4", [*M4, *(f"runs.{arm}.set={{episodes: 2, probes: []}}" for arm in ARMS)], "axion:probe-suite.1"),
    "moves without a grant, figures by run": (
        "axion-m4",
        [*M4, "runs.honest.set={episodes: 2, governor.admission.grants.move.allowed_ops: [wait]}", "runs.pseudo.set={episodes: 2}"]
        + [f"figures.{figure}.by=run" for figure in BY_RUN],
        "axion:honest.2 report-probes.1 .2 .3 .4 report-invariants.1 report-replay.1 report-tokens.1 report-causal.1",
    ),
}  # fmt: skip
"""A change: the spec (or the spec and the one in its place), what is set, and the requirements that it makes false."""


@cache
def required():
    """What the profiles require, by `<profile>:<control>.<place>`."""
    return {
        f"{short}:{question.id.partition('/')[2]}": question
        for short, profile in SHORT.items()
        for question in questions_of(load(profile, kind="profile")[0], KINDS)
        if question.require is not None
    }


def asked():
    """What they require of receipts."""
    return {id_: question for id_, question in required().items() if question.reads != {"specs"}}


STATED = [id_ for id_, question in required().items() if question.reads == {"specs"}]


def named(text):
    """The names of a row, in which a profile stands before its first control, and `.2` is another place of the last."""
    profile = control = ""
    for word in text.split():
        before, found, rest = word.rpartition(":")
        profile = before if found else profile
        control = rest.rpartition(".")[0] or control
        yield f"{profile}:{control}.{rest.rpartition('.')[2]}"


def kind_of(name):
    return next(
        kind for kind in ("scenario", "suite", "law", "discovery") if Path(f"specs/{kind}/{name}.yaml").is_file()
    )


def receipts(name, sets, place):
    """The receipts of a run of a changed spec, under the name of the shipped one."""
    name, other = name if isinstance(name, tuple) else (name, None)
    kind = kind_of(name)
    spec = name
    if other is not None:
        spec = place / "other.yaml"
        spec.write_text(f"spec: {kind}/v1\nname: {name}\nextends: {other}\n", encoding="utf-8")
    bundle = load(spec, kind=kind, set=[*sets])[0]
    events = KINDS[kind].run.events
    if events is not None:
        return name, kind, [(event.type, dict(event.body)) for event in events(bundle)]
    lines = (execute(bundle, place / "bundle").place / "receipts.jsonl").read_bytes().splitlines()
    return name, kind, [(one["type"], one["body"]) for one in map(json.loads, lines)]


def refuted(name, sets, place):
    """The requirements that receipts of a changed spec do not meet."""
    name, kind, made = receipts(name, sets, place)
    for id_, question in asked().items():
        if question.named.of == name:
            answers = Answers([question], name, kind)
            for seq, (type_, body) in enumerate(made):
                answers.add(Receipt(seq, b"", type_, body))
            if [check.outcome for check in answers.checks("key", Verification())] == [Outcome.FAILED]:
                yield id_


@pytest.mark.medium
@pytest.mark.parametrize("row", MUTATIONS)
def test_a_run_of_a_changed_spec_is_refuted(row, tmp_path):
    name, sets, ids = MUTATIONS[row]
    assert {*named(ids)} - {*refuted(name, sets, tmp_path)} == set()


def test_every_requirement_of_a_profile_is_refuted_by_some_change():
    assert {id_ for _, _, ids in MUTATIONS.values() for id_ in named(ids)} == asked().keys()


@cache
def stated(name):
    return stated_specs(load(name, kind=kind_of(name))[0])


def changes(value):
    """Make each value below another one, one at a time."""
    for key, below in [*(value.items() if isinstance(value, dict) else enumerate(value))]:
        if isinstance(below, dict | list):
            yield from changes(below)
        else:
            value[key] = "something else"
            yield
            value[key] = below


@pytest.mark.parametrize("id_", STATED)
def test_what_is_required_of_specs_is_refuted_by_a_change_of_each_part(id_):
    """A rule joins what several values are to be, and each of them alone makes it false."""
    question = required()[id_]
    specs = stated(question.named.of)
    parts = {
        re.split(r" == |\.contains|\.exists", part)[0]
        for part in question.named.require.removeprefix("specs[").split("&& specs[")
    }
    assert question.require(None, {}, (), {}, {}, specs, ())
    read = {key: specs[key] for key in specs if f"'{key.partition('@')[0]}'" in question.named.require}
    refuting = sum(not holds(question, specs) for _ in changes(read or specs))
    assert refuting >= len(parts)


def holds(question, specs):
    try:
        return question.require(None, {}, (), {}, {}, specs, ())
    except EvaluationError:
        return False


def test_every_profile_is_looked_at():
    assert {path.stem for path in Path("specs/profile").glob("*.yaml")} == {*SHORT.values(), *CATALOGUES, *OWN}
    for profile in CATALOGUES:
        assert [
            question for question in questions_of(load(profile, kind="profile")[0], KINDS) if question.require
        ] == []
