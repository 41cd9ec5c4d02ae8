"""Admission: each invariant rejects alone a document that breaks it, scopes are narrowed, and nothing else gets through."""

import copy
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from specledger.compile.scenario import compile_scenario
from specledger.core.events import Severity
from specledger.core.rng import Stream
from specledger.expr import EvaluationError
from specledger.kinds import load
from specledger.wings.kernel.documents.admission import ALLOW, CONSTRAIN, DENY
from specledger.wings.kernel.documents.digests import receive, trace_commit
from specledger.wings.kernel.documents.facts import Vocabulary, leading
from specledger.wings.kernel.documents.schemas import axion, document_type
from specledger.wings.kernel.documents.snapshots import Challenges, Vault
from specledger.wings.kernel.plan import kernel_of
from specledger.wings.kernel.reasons.procedure import DecisionPoint
from specledger.wings.kernel.spec.vocabulary import Directions
from tests.toys import findings_of, shipped_plan, write_specs

WHEN = DecisionPoint(0, 0)


@cache
def kernel():
    plan = shipped_plan("axion-resource", "with.seed=1")
    state = plan.start(0)
    narration = kernel_of(plan.actors[0]).narration
    memory = plan.actors[0].begin(plan.actors[0].observe(state))
    choice = narration.choose(state, memory, WHEN)
    assert choice is not None
    document = narration.document(state, memory, choice, WHEN, Vault(Stream.named(1, "nonce"), Challenges()).snapshot)
    return kernel_of(plan.actors[0]).admission, state, document


def document():
    return copy.deepcopy(kernel()[2])


def rule(changed, *, commit=True):
    """The ruling about a document; its trace is committed to anew, so that only what a case breaks is broken."""
    if commit:
        changed["trace"]["trace_commit"] = trace_commit(changed["trace"])
    admission, state, _ = kernel()
    return admission.rule(state, receive(changed))


def rejecting(ruling):
    assert (ruling.verdict == DENY) == bool(ruling.rejected)
    return [one["gate"] for one in ruling.rejected]


def counterfactual(trace, number):
    return trace["counterfactuals"][number]


def change_idle(trace, **changes):
    """Change a counterfactual that no claim speaks of; one is added if there is none."""
    one = copy.deepcopy(trace["counterfactuals"][0])
    one |= {"cf_id": "cf-extra", "prob_mass": 0, **changes}
    trace["counterfactuals"].append(one)


def breaks(name):
    def mark(function):
        BROKEN[function.__name__] = (name, function)
        return function

    return mark


BROKEN: dict[str, tuple[str, Any]] = {}


@breaks("axion-i1")
def two_counterfactuals(d):
    trace = d["trace"]
    trace["causal_claims"], trace["counterfactuals"] = trace["causal_claims"][:1], trace["counterfactuals"][:2]
    for one in trace["counterfactuals"]:
        one["prob_mass"] = 0.5


@breaks("axion-i1")
def a_mass_of_089(d):
    for one in d["trace"]["counterfactuals"]:
        one["prob_mass"] = 0
    for one, mass in zip(d["trace"]["counterfactuals"], (0.3, 0.3, 0.29), strict=False):
        one["prob_mass"] = mass


@breaks("axion-i3")
def no_snapshots(d):
    d["trace"]["fork_snapshots"] = []


@breaks("axion-i4")
def a_scope_of_another_capability(d):
    d["requested_capabilities"][0]["scope"]["allowed_ops"].append("drop")


@breaks("axion-i4")
def a_capability_asked_for_twice(d):
    d["requested_capabilities"].append(copy.deepcopy(d["requested_capabilities"][0]))


@breaks("axion-kind")
def self_modify(d):
    d["proposal_type"] = "self_modify"


@breaks("axion-kind")
def delegate(d):
    d["proposal_type"] = "delegate"


@breaks("axion-env")
def another_world(d):
    d["env"]["self"]["energy"] += 1


@breaks("axion-env")
def a_hazard_kept_back(d):
    d["env"]["agents"] = []


@breaks("axion-plan")
def no_action_of_the_world(d):
    d["payload"]["plan"]["steps"][0]["args"] = {"dir": "N", "twice": True}


@breaks("axion-snapshots")
def a_digest_of_another_state(d):
    trace = d["trace"]
    trace["fork_snapshots"][0]["state_digest"] = "0" * 64
    for one in trace["counterfactuals"]:
        one["base_state_digest"] = "0" * 64


@breaks("axion-snapshots")
def a_focus_outside_the_namespace(d):
    d["trace"]["fork_snapshots"][0]["focus_vars"].append("self.soul")


@breaks("axion-ids")
def a_counterfactual_twice(d):
    change_idle(d["trace"], cf_id="cf-extra")
    change_idle(d["trace"], cf_id="cf-extra")


@breaks("axion-ids")
def a_fork_twice(d):
    one = copy.deepcopy(d["trace"]["fork_snapshots"][0])
    d["trace"]["fork_snapshots"].append(one | {"nonce_ref": "another"})


@breaks("axion-ids")
def a_nonce_twice(d):
    one = copy.deepcopy(d["trace"]["fork_snapshots"][0])
    d["trace"]["fork_snapshots"].append(one | {"fork_id": "another"})


@breaks("axion-nodes")
def an_edge_to_nowhere(d):
    d["trace"]["edges"].append({"from": 0, "to": 99999, "type": "supports"})


@breaks("axion-nodes")
def a_support_that_leads_nowhere(d):
    payload = {"expression": "", "inputs": {}, "output": 0}
    d["trace"]["nodes"].insert(0, {"id": 777, "kind": "inference", "summary": "beside", "payload": payload})
    d["trace"]["causal_claims"][0]["supporting_nodes"] = [777]


@breaks("axion-counterfactuals")
def a_variable_outside_the_namespace(d):
    change_idle(d["trace"], mutation={"var": "self.soul", "new_value": 1})


@breaks("axion-counterfactuals")
def a_base_that_was_never_committed_to(d):
    change_idle(d["trace"], base_state_digest="f" * 64)


@breaks("axion-claims")
def free_text(d):
    d["trace"]["causal_claims"][0]["expected_effect_on_choice"] = "I would rather go somewhere else"


@breaks("axion-claims")
def a_claim_of_no_counterfactual(d):
    d["trace"]["causal_claims"][0]["expected_effect_on_choice"] = "IF cf:cf-999 THEN CHOICE wait"


@breaks("axion-claims")
def a_claim_of_the_choice_that_was_made(d):
    said = d["trace"]["causal_claims"][0]
    label = d["payload"]["intent"]
    counterfactual(d["trace"], 0)["predicted_outcome"]["choice"] = label
    said["expected_effect_on_choice"] = f"IF cf:cf-0 THEN CHOICE {label}"


@breaks("axion-claims")
def two_claims_of_one_variable(d):
    d["trace"]["causal_claims"].append(copy.deepcopy(d["trace"]["causal_claims"][0]))


@pytest.mark.parametrize("case", sorted(BROKEN))
def test_each_invariant_rejects_alone_what_breaks_it(case):
    name, breaking = BROKEN[case]
    broken = document()
    breaking(broken)
    assert axion().check("proposal")(broken)  # or its schema would have rejected it
    ruling = rule(broken)
    assert rejecting(ruling) == [name]
    assert [one["invariant"] for one in ruling.witnesses] == [name]
    assert axion().check("audit_entry#/properties/witnesses")(list(ruling.witnesses))


def test_i0_rejects_alone_a_trace_that_was_changed_after_its_commitment():
    broken = document()
    broken["trace"]["nodes"][0]["summary"] = "something else"
    assert rejecting(rule(broken, commit=False)) == ["axion-i0"]


def test_every_invariant_of_the_kernel_has_a_case():
    admission, _, _ = kernel()
    assert {invariant.name for invariant in admission.invariants} == {name for name, _ in BROKEN.values()} | {
        "axion-i0"
    }


@pytest.mark.parametrize("severity", ["fatal", "warn"])
def test_a_warning_lets_a_broken_document_through_but_never_one_that_cannot_be_judged(severity):
    """An invariant that cannot be evaluated denies, whatever its severity."""

    def fail(*arguments):
        raise EvaluationError("E_EVAL_OVERFLOW", "too much")

    whole, state, written = kernel()
    for judge, code, denied in (
        (lambda *arguments: {"seen": 1}, "odd:broken", severity == "fatal"),
        (fail, "odd:E_EVAL_OVERFLOW", True),
    ):
        odd = replace(whole.invariants[0], name="odd", severity=Severity(severity), judge=judge)
        ruling = replace(whole, invariants=(odd, *whole.invariants)).rule(state, receive(written))
        assert (ruling.verdict == DENY, ruling.codes) == (denied, (code,))
        assert rejecting(ruling) == (["odd"] if denied else [])
        (told,) = ruling.witnesses
        assert (told["invariant"], told["severity"]) == ("odd", "fatal" if code != "odd:broken" else severity)


MALFORMED = {
    "nothing": None,
    "empty": b"",
    "no_json": b"{",
    "a_list": [],
    "a_text": "proposal",
    "not_a_number": {"trace": {"counterfactuals": [{"prob_mass": float("nan")}]}},
    "an_object": object(),
}


@pytest.mark.parametrize("case", sorted(MALFORMED))
def test_what_is_no_document_is_denied_by_its_schema(case):
    admission, state, _ = kernel()
    ruling = admission.rule(state, receive(MALFORMED[case]))
    assert rejecting(ruling) == ["schema"]
    assert [one["invariant"] for one in ruling.witnesses] == ["schema"]


@pytest.mark.parametrize("key", ["proposal_id", "env", "payload", "trace", "requested_capabilities"])
def test_a_document_that_lacks_something_reaches_no_invariant(key):
    broken = document()
    del broken[key]
    assert rejecting(rule(broken, commit=False)) == ["schema"]


def request(changed):
    return changed["requested_capabilities"][0]["scope"]


@pytest.mark.parametrize(
    ("field", "value", "kept"), [("max_calls", 7, 1), ("per_ms", 1, 100), ("expiry_ms", 5000, 100)]
)
def test_a_wider_scope_is_cut_to_what_is_granted(field, value, kept):
    wide = document()
    place = request(wide)["rate_limit"] if field != "expiry_ms" else request(wide)
    place[field] = value
    ruling = rule(wide)
    capability = wide["requested_capabilities"][0]["capability"]
    assert (ruling.verdict, ruling.codes) == (CONSTRAIN, (f"narrowed:{capability}",))
    granted = ruling.scope if field == "expiry_ms" else ruling.scope["rate_limit"]
    assert granted[field] == kept


def test_a_narrower_scope_is_left_as_it_is():
    narrow = document()
    request(narrow)["expiry_ms"] = 1
    ruling = rule(narrow)
    assert (ruling.verdict, ruling.scope["expiry_ms"]) == (ALLOW, 1)


@pytest.mark.parametrize("requests", [[], "another"])
def test_a_step_without_a_capability_is_denied(requests):
    bare = document()
    if requests == []:
        bare["requested_capabilities"] = []
    else:
        bare["requested_capabilities"][0] |= {"capability": "drop"}
        request(bare)["allowed_ops"] = ["drop"]
    assert rejecting(rule(bare)) == ["scope"]


def test_what_is_free_needs_no_request():
    idle = document()
    idle["payload"]["plan"]["steps"] = [{"op": "noop", "args": {}}]
    idle["requested_capabilities"] = []
    ruling = rule(idle)
    assert (ruling.verdict, ruling.capability, ruling.scope["allowed_ops"]) == (ALLOW, "noop", ["noop"])


def test_all_that_is_broken_is_told():
    broken = document()
    broken["proposal_type"] = "delegate"
    broken["env"]["tick"] += 1
    assert rejecting(rule(broken)) == ["axion-kind", "axion-env"]


def test_nodes_that_lead_to_the_last_one():
    nodes: list[Any] = [{"id": number} for number in (5, 1, 2, 3, 9)]
    edges: list[Any] = [
        {"from": 5, "to": 1},
        {"from": 1, "to": 9},
        {"from": 9, "to": 5},
        {"from": 7, "to": 9},
        {"from": 2, "to": 3},
    ]
    assert leading(nodes, edges) == [1, 5, 9]


def test_a_schema_is_read_as_a_type():
    type_: Any = document_type("proposal")
    trace = type_.fields["trace"]
    assert str(trace.fields["counterfactuals"].item.fields["prob_mass"]) == "dyn"
    assert trace.fields["counterfactuals"].most == 128
    assert type_.fields["payload"].optional == {"constraints"}
    assert type_.fields["env"].fields["grid"].fields["walls"].item.fields["x"].high == 255
    with pytest.raises(LookupError):
        document_type("common")
    with pytest.raises(LookupError):
        document_type("../kinds/world")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "IF cf:cf-0 THEN CHOICE",
        "if cf:cf-0 THEN CHOICE a",
        " IF cf:cf-0 THEN CHOICE a",
        "IF cf:cf-0 THEN CHOICE a\n",
        "IF cf: THEN CHOICE a",
        "IF cf:cf 0 THEN CHOICE a",
        "IF cf:cf-0 THEN CHOICE a b",
        "IF cf:cf-0 THEN CHOICE é",
    ],
)
def test_free_text_is_of_no_form(text):
    assert Vocabulary(["IF cf:<counterfactual> THEN CHOICE <choice>"]).parse(text) is None


def test_what_is_said_is_read_again():
    vocabulary = Vocabulary(["IF cf:<counterfactual> THEN CHOICE <choice>", "<choice> AFTER <counterfactual>"])
    values = {"counterfactual": "cf-1", "choice": "use_tool:douser@3,4"}
    assert vocabulary.parse(vocabulary.say(values)) == values
    assert vocabulary.parse("wait AFTER cf-1") == {"counterfactual": "cf-1", "choice": "wait"}


def test_directions_are_written_and_read_in_the_words_of_the_vocabulary():
    words = Directions(increases="INC", decreases="DEC", becomes="SET")
    factors = Vocabulary(["IF <variable> <direction> THEN CHOICE <choice>"], directions=words)
    for plain, written in (("increases", "INC"), ("is removed", "is removed"), ("becomes 250000", "SET 250000")):
        said = {"variable": "F:2", "direction": plain, "choice": "move"}
        assert factors.say(said) == f"IF F:2 {written} THEN CHOICE move"
        assert factors.parse(factors.say(said)) == said
    assert factors.parse("IF F:2 increases THEN CHOICE move") is None
    with pytest.raises(ValueError, match="begins with another"):
        Directions(increases="becomes more")


DIRECTED = Vocabulary(["IF <variable> <direction> THEN CHOICE <choice>", "IF cf:<counterfactual> THEN CHOICE <choice>"])
FOLLOWED = [
    {"cf_id": "a", "mutation": {"var": "v", "new_value": [1, "x"]}, "predicted_outcome": {"choice": "wait"}},
    {"cf_id": "b", "mutation": {"var": "v", "new_value": 2}, "predicted_outcome": {"choice": "go"}},
    {"cf_id": "c", "mutation": {"var": "w", "new_value": 2}, "predicted_outcome": {"choice": "go"}},
]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("IF v increases THEN CHOICE go", ("b", "go", "increases")),
        ("IF v is removed THEN CHOICE wait", ("a", "wait", "is removed")),
        ('IF v becomes [1,"x"] THEN CHOICE wait', ("a", "wait", 'becomes [1,"x"]')),
        ("IF v becomes 2 THEN CHOICE go", ("b", "go", "becomes 2")),
        ("IF v becomes 3 THEN CHOICE go", None),  # no counterfactual has that value
        ("IF v increases THEN CHOICE stay", None),  # nor predicts that choice
        ("IF w increases THEN CHOICE go", None),  # another variable than the claim's
        ("IF v grows THEN CHOICE go", None),
        ("IF cf:b THEN CHOICE go", ("b", "go", "")),
    ],
)
def test_a_claim_with_a_direction_speaks_of_a_counterfactual_that_fits(text, said):
    found = DIRECTED.read({"var": "v", "expected_effect_on_choice": text}, FOLLOWED)
    assert found == (said and dict(zip(("counterfactual", "choice", "direction"), said, strict=True)))


CASE = {"extends": "axion-basic"}
KERNEL = {"scenario/case": CASE | {"governor": "mine"}}


def kernel_with(**admission):
    return KERNEL | {"governor/mine": {"extends": "axion-kernel", "admission": admission}}


MISFITS: dict[str, tuple[dict[str, Any], str]] = {
    "a form without its slots": (kernel_with(vocabulary="words") | {"vocabulary/words": {"forms": ["<choice>"]}}, "E_VOCABULARY"),
    "no such schema": (kernel_with(document="nothing"), "E_ADMISSION"),
    "an environment that is no record": (kernel_with(env="tick"), "E_ADMISSION"),
    "a governor without admission": ({"scenario/case": CASE | {"governor": "free-choice"}}, "E_ADMISSION"),
    "an agent without narration": (
        {"scenario/case": CASE | {"agent": "mine"}, "agent/mine": {"extends": "honest", "narration": None}}, "E_ADMISSION"
    ),
    "an invariant of what no document has": (
        {"scenario/case": CASE | {"invariants": ["bad"]}, "invariant/bad": {"scope": "proposal", "require": "document.trace.nope == 1"}},
        "E_EXPR_UNKNOWN_FIELD",
    ),
}  # fmt: skip


@pytest.mark.medium
@pytest.mark.parametrize(("specs", "code"), MISFITS.values(), ids=MISFITS)
def test_what_does_not_fit_a_kernel_is_found(tmp_path, specs, code):
    assert code in {finding.code for finding in found_in(tmp_path, specs)}


def found_in(folder, specs):
    write_specs(folder, specs)
    return findings_of(compile_scenario, load(str(folder / "scenario" / "case.yaml"))[0])


UNFIT = {
    "an environment of other keys": ({"env": "{'tick': 1, 'x': 'a'}"}, ("`env` has `x`", "`env` lacks `grid`")),
    "a key that lacks at depth": (
        {"env": "{'tick': 1, 'grid': {'w': 2, 'walls': []}, 'self': self, 'agents': [], 'objects': [], 'hazards': [],"
                " 'tools': [], 'rng_seed': 'a'}"},
        ("`env.grid` lacks `h`",),
    ),
}  # fmt: skip


@pytest.mark.medium
@pytest.mark.parametrize(("admission", "words"), UNFIT.values(), ids=UNFIT)
def test_what_no_document_can_hold_is_found_before_a_run(tmp_path, admission, words):
    (finding,) = found_in(tmp_path, kernel_with(**admission))
    assert finding.code == "E_ADMISSION"
    assert all(one in finding.message for one in words)
    assert "`open_proposal`" in finding.hint
    assert str(finding.span.file).endswith("mine.yaml")


STOVE: dict[str, dict[str, Any]] = {
    "world/stove": {
        "state": {"heat": "int"},
        "start": {"heat": "0"},
        "actions": {"light": {"effects": [{"set": "heat", "to": "heat + 1"}]}, "rest": {}},
        "observe": {"heat": "heat"},
    },
    "agent/cook": {
        "predicts": True,
        "candidates": [{"op": "light"}],
        "score": "0",
        "narration": {"vary": ["warmth"]},
    },
    "governor/chef": {
        "admission": {
            "document": "proposal",
            "env": "now",
            "vocabulary": "axion-claims",
            "grants": {"light": {"allowed_ops": ["light"], "max_calls": 1, "per_ms": 100, "expiry_ms": 100}},
            "free": {"rest": {"allowed_ops": ["rest"], "max_calls": 1, "per_ms": 100, "expiry_ms": 100}},
        },
        "gates": [],
        "choose": {"maximise": "proposal.score"},
    },
    "scenario/case": {"world": "stove", "agent": "cook", "governor": "chef", "horizon": 2},
}


def test_what_a_world_of_another_kind_needs_under_a_kernel_is_found_before_a_run(tmp_path):
    found = found_in(tmp_path, STOVE)
    assert {one.code for one in found} == {"E_ADMISSION"}
    told = " ".join(one.message for one in found)
    assert "can hold this environment: `env` has `heat`" in told
    assert "can hold `light`" in told
    assert "can hold `rest`" in told
    assert "has no reason to state" in told
    assert any("declare `variables` and `alternatives`" in (one.hint or "") for one in found)


WARMTH = {"read": "heat", "effects": [{"set": "heat", "to": "value"}]}
VARIED = {
    "no other values": ({"variables": {"warmth": WARMTH}}, "`alternatives` of it", '`alternatives: {warmth: "[...]"}`'),
    "no edit": (
        {"variables": {"warmth": {"read": "heat"}}, "alternatives": {"warmth": "[7]"}},
        "`effects` of it",
        "in `warmth`, `effects: [{set: FIELD, to: value}]`",
    ),
}


def varying(world):
    """The stove with variables, under a governor whose documents can hold it."""
    chef = STOVE["governor/chef"]
    return STOVE | {
        "world/stove": STOVE["world/stove"] | world,
        "governor/chef": chef | {"admission": chef["admission"] | {"document": "open_proposal"}},
        "agent/cook": STOVE["agent/cook"] | {"narration": {"vary": ["chill", "warmth"]}},
    }


@pytest.mark.parametrize(("world", "lacks", "hint"), VARIED.values(), ids=VARIED)
def test_an_agent_that_varies_what_has_no_other_value_is_found_before_a_run(tmp_path, world, lacks, hint):
    (finding,) = found_in(tmp_path, varying(world))
    assert finding.code == "E_ADMISSION"
    assert lacks in finding.message
    assert hint in finding.hint
    line = (tmp_path / "agent" / "cook.yaml").read_text(encoding="utf-8").splitlines()[finding.span.start.line - 1]
    assert line[finding.span.start.column - 1 :].startswith("warmth")


def test_an_agent_that_varies_what_has_another_value_is_right(tmp_path):
    write_specs(tmp_path, varying({"variables": {"warmth": WARMTH}, "alternatives": {"warmth": "[7]"}}))
    compile_scenario(load(str(tmp_path / "scenario" / "case.yaml"))[0])


GRANTED = {
    "a misspelt action": (["governor.admission.grants.move.allowed_ops=[move, mvoe]"], "mvoe", "`move`"),
    "an action of a free token": (["governor.admission.free.wait.allowed_ops=[wiat]"], "wiat", "`wait`"),
    "nothing like any": (["governor.admission.grants.move.allowed_ops=[xyz]"], "xyz", None),
}


@pytest.mark.medium
@pytest.mark.parametrize("name", GRANTED)
def test_a_capability_allows_actions_of_the_world(name):
    changes, op, near = GRANTED[name]
    (finding,) = findings_of(compile_scenario, load("specs/scenario/axion-resource.yaml", set=changes)[0])
    assert finding.code == "E_ADMISSION"
    assert repr(op) in finding.message
    assert finding.hint == (None if near is None else f"did you mean {near}?")


@pytest.mark.medium
def test_a_capability_that_only_another_world_has_is_left_alone():
    """One governor may serve several worlds."""
    changes = ["governor.admission.grants={dig: {allowed_ops: [dig], max_calls: 1, per_ms: 1, expiry_ms: 1}}"]
    compile_scenario(load("specs/scenario/axion-resource.yaml", set=changes)[0])
