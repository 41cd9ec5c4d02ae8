"""A second evaluator looks at every verdict; what it could not judge is told, and a disagreement refutes."""

import pytest
from msgspec.structs import replace

from specledger.compile.scenario import compile_scenario
from specledger.core.verdict import Verdict
from specledger.kinds import KINDS
from specledger.pipeline.verifying import verify
from specledger.verify.assurance_levels import Reader, headline, level_statuses
from specledger.verify.reference import Reference, Unjudged
from specledger.verify.run import RUN
from tests.toys.refusals import codes
from tests.verifying import verify_bundle

pytest.importorskip("cel_expr_python", reason="the extra `judge`")


def judged(folder):
    return verify_bundle(folder, RUN, KINDS, Reader(judge=True))


@pytest.mark.parametrize("variant", ["climb", "stuck"])
def test_every_verdict_of_an_expression_is_judged(bundles, variant):
    found = judged(bundles[variant])
    facts = found.facts["judge"]
    assert found.verdict is Verdict.PASS, found.checks[-1]
    assert (facts["judged"], facts["not_judged"]) == (facts["of"], {})
    assert facts["of"] > 20
    assert facts["no_expression"]["the schema gate"] > 0
    assert "a second evaluator agrees" in headline(found)


def test_a_disagreement_names_the_verdict_and_refutes(bundles, monkeypatch):
    """The other engine is made to say the opposite of one expression."""
    honest = Reference.value

    def opposite(self, checked, given):
        value = honest(self, checked, given)
        return not value if isinstance(value, bool) else value

    monkeypatch.setattr(Reference, "value", opposite)
    found = judged(bundles["climb"])
    assert found.checks[-1].code == "E_JUDGE"
    assert "recorded" in found.checks[-1].message
    assert "judged" in found.checks[-1].message
    assert found.verdict is Verdict.FAIL


def test_what_the_other_engine_does_not_say_is_not_claimed(bundles, monkeypatch):
    def silent(self, checked, given):
        raise Unjudged("beyond the other evaluator")

    monkeypatch.setattr(Reference, "value", silent)
    found = judged(bundles["climb"])
    facts = found.facts["judge"]
    assert (facts["judged"], facts["not_judged"]) == (0, {"beyond the other evaluator": facts["of"]})
    assert found.verdict is Verdict.INCONCLUSIVE
    (rung,) = [rung for rung in level_statuses(found) if rung.level == "L5"]
    assert rung.status == "not checked"
    assert f"judged 0 of {facts['of']}" in rung.why


def test_what_was_not_replayed_is_not_judged(bundles):
    found = verify_bundle(bundles["small"], RUN, KINDS, Reader(judge=True, replay=False))
    assert found.checks[-1].status == "not made"
    assert found.verdict is Verdict.INCONCLUSIVE


def test_another_run_than_the_recorded_one_is_not_judged(bundles, monkeypatch):
    """The judge compares what it makes again by itself."""
    monkeypatch.setattr(
        "specledger.verify.run.compile_recorded",
        lambda bundle: replace(compile_scenario(bundle), success=lambda _: True),
    )
    found = judged(bundles["stuck"])
    assert found.checks[-1].code == "E_REPLAY"


def test_without_the_package_it_says_so_before_anything_is_checked(bundles, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cel_expr_python", None)
    assert codes(verify, bundles["small"], reader=Reader(judge=True)) == ["E_JUDGE_PACKAGE"]
