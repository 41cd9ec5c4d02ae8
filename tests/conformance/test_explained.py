"""`spec explain FILE` of every shipped rule is English: sentences made from the tree, without leftovers of notation."""

import pytest

from specledger.kinds import KINDS
from specledger.kinds.explained_checks import _STATISTICS
from specledger.lang.statement import lines_of
from specledger.pipeline.explaining import can_explain, explain
from specledger.spec.suite import STATISTICS
from tests.pins import ROOT
from tests.unit.lang.test_english import leftovers

FILES = sorted(
    str(path.relative_to(ROOT))
    for kind in KINDS
    if can_explain(kind) and kind != "scenario"
    for path in [*(ROOT / "specs" / kind).glob("*.yaml"), *(ROOT / "specs/new" / kind).glob("*.yaml")]
)


def sentences(spec):
    return list(lines_of(spec.statements))


def test_every_statistic_of_a_figure_has_words():
    assert {*STATISTICS} == {*_STATISTICS}


def test_every_kind_of_rule_is_explained():
    without = {"discovery", "format", "model", "prompt"}
    assert {kind for kind in KINDS if not can_explain(kind)} == without


@pytest.mark.parametrize("file", FILES)
def test_a_shipped_rule_reads_as_english(file):
    for spec in explain(str(ROOT / file)):
        lines = sentences(spec)
        assert lines
        for line in lines:
            assert not leftovers(line), line
            assert line.endswith((".", ":"))
            assert line.strip()[:1] in "-`" or line.strip()[0].isupper(), line


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*/*.yaml")), ids=lambda path: path.stem)
def test_a_policy_of_the_examples_reads_as_english(path):
    if "spec: policy/v1" in path.read_text(encoding="utf-8"):
        (spec,) = explain(str(path))
        assert not [line for line in sentences(spec) if leftovers(line)]


POLICY = """spec: policy/v1
name: post
tools: {readers: [read_file, view]}
rules:
  no-mail-after-a-secret:
    when: {tool: send_mail}
    not_after: {tool: readers, read: {secret: {path: args.path, matches: secret}}, if: secret}
  money-is-approved:
    when: {tool: pay}
    after: {tool: approve}
  not-much:
    severity: warn
    when: {tool: pay}
    read: {sum: {path: args.sum, as: number}}
    require: sum <= 100
"""


def test_the_sentences_of_a_policy(tmp_path):
    (tmp_path / "post.yaml").write_text(POLICY, encoding="utf-8")
    (spec,) = explain(str(tmp_path / "post.yaml"))
    assert sentences(spec) == [
        "Rule `money-is-approved` denies a call of `pay` if no call of `approve` was made before.",
        "Rule `no-mail-after-a-secret` denies a call of `send_mail` if a call of one of `readers` for which `secret` is "
        "true was made before.",
        "`secret` is whether the pattern `secret` occurs in `args.path`.",
        "Rule `not-much` warns of a call of `pay` if `sum` is more than 100.",
        "`sum` is `args.sum`, read as number.",
        "`readers` are the tools `read_file` and `view`.",
    ]


SENTENCES = {
    "specs/governor/nobody-is-eaten.yaml": "Gate `alive` rejects a proposal if the next `eaten` is true.",
    "specs/governor/lexicographic.yaml": "Where `exhausted` is true, gate `absorption` rejects a proposal unless `V` of the "
    'next `coherence` is less than `V_now` or `dir` of the action is "Stay".',
    "specs/invariant/no-bump.yaml": "After every step, it must be so that `bumps` is the previous `bumps`.",
    "specs/invariant/one-opening.yaml": "At most 1 time in an episode it may be so that `open` is true and the previous `open` "
    "is false.",
    "specs/invariant/door-is-locked-again.yaml": "In a state in which `open` is true, or at most 3 steps later, it must be so "
    "that `open` is false.",
    "specs/invariant/warm-on-average.yaml": "Over an episode the mean of `room` must be at least 195 and at most 205.",
    "specs/suite/pursuit-mutants.yaml": "Mutant `no-breath` must make a check fail: in it "
    "`agents.hunter.governor.gates.breath` is taken away.",
    "specs/probe/p4-bypass.yaml": "It passes if `taken` is false.",
    "specs/world/river.yaml": "Action `cross` does this:",
    "specs/world/thermostat.yaml": "The goal is reached where `room` is at least 195 and `room` is at most 205.",
    "specs/drift/goal-drift.yaml": "It is due at a step where `t` is more than 0 and `t` is a multiple of `EVERY`.",
    "specs/new/library/new-library.yaml": "`FAR` is 1000000.",
    "specs/universe/traffic.yaml": "The transform `mirror` of a state reflects it.",
    "specs/ranking/scientific-value.yaml": "Each weight is tried greater and smaller by 20 percent of itself.",
    "specs/vocabulary/plain-reasons.yaml": 'That a variable gets a smaller value is said by "decreases", "goes down" or "falls".',
    "specs/law/momentum.yaml": "At every step up to step 50, it must be so that `Momentum` is `Momentum` at the start.",
}


POLICY_SENTENCES = (
    "  - of every receipt of the type `step` of a scenario where `chosen` of the receipt has a value, it is so that "
    "`objections` of the receipt is an empty list.",
    "  - of all bundles together, it is so that for every `name` of `IN_SERVICE`, `released` holds of `name`.",
    '`released` of `name` means that for some `b` of `bundles`, `b.name` is `name` and `b.verdict` is "PASS".',
)


def test_a_company_reads_its_own_policy():
    (spec,) = explain(str(ROOT / "specs/profile/company-policy.yaml"))
    assert {*POLICY_SENTENCES} <= {*sentences(spec)}


@pytest.mark.parametrize(("file", "sentence"), SENTENCES.items(), ids=SENTENCES)
def test_a_sentence_of_each_kind(file, sentence):
    (spec,) = explain(str(ROOT / file))
    assert sentence in sentences(spec)


@pytest.mark.medium
def test_the_command_says_the_rules_of_a_file_of_a_name_and_of_a_scenario(spec):
    assert "Gate `alive` rejects a proposal if the next `eaten` is true." in spec("explain", "nobody-is-eaten").out
    told = spec("explain", str(ROOT / "specs/scenario/vault-run.yaml")).out
    assert told.index("governor any-action") < told.index("invariant one-opening") < told.index("agent courier")
    changed = spec("explain", "no-bump", "--set", "severity=warn").out
    assert "A breach is counted and changes no verdict." in changed
    assert "E_EXPLAIN_RULES" in spec("explain", str(ROOT / "specs/prompt/blind.yaml")).err
