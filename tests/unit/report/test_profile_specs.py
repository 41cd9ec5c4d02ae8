"""What specs of a bundle state, as rules of a profile read it."""

from specledger.kinds import load
from specledger.report.profile_specs import stated_specs

SUITE = """
spec: suite/v1
name: two-drifts
runs:
  often: {scenarios: [simple], seeds: [1], drift: [{use: goal-drift, with: {every: 3}}]}
  seldom: {scenarios: [simple], seeds: [1], drift: [{use: goal-drift, with: {every: 30}}]}
figures: {reached: {rate: success}}
checks: [{id: some, require: reached.value >= 0, opportunities: reached.of}]
"""


def test_a_spec_states_what_is_written_and_what_is_so_by_default():
    stated = stated_specs(load("axion-hazard", kind="scenario")[0])
    admission = stated["governor/axion-kernel"]["admission"]
    assert (admission["watchdog_ms"], admission["counterfactuals"], admission["free"]["wait"]["per_ms"]) == (
        200,
        3,
        100,
    )


def test_a_reference_is_the_name_of_a_spec():
    stated = stated_specs(load("axion-hazard", kind="scenario")[0])
    assert stated["scenario/axion-hazard"]["governor"] == "governor/axion-kernel"
    assert stated["scenario/axion-hazard"]["probes"][0] == "probe/p3-audit"
    assert stated["governor/axion-kernel"]["admission"]["vocabulary"] == "vocabulary/axion-claims"


def test_specs_that_share_a_name_are_told_apart_where_they_are_referred_to(tmp_path):
    (tmp_path / "two-drifts.yaml").write_text(SUITE, encoding="utf-8")
    stated = stated_specs(load(tmp_path / "two-drifts.yaml")[0])
    runs = stated["suite/two-drifts"]["runs"]
    drifts = [stated[runs[arm]["drift"][0]] for arm in ("often", "seldom")]
    assert [drift["constants"]["EVERY"] for drift in drifts] == [3, 30]
    assert "drift/goal-drift" not in stated
