"""The placebo arm changes what nothing was said about: neither what a claim cites, nor what is challenged."""

import pytest

from tests.unit.probes.test_probes import Plain, challenge, made

CITED = {
    "the claim is about what is changed": ("x", ["y"]),
    "the claim is about another variable": ("y", []),
}


@pytest.mark.parametrize(("about", "changed"), CITED.values(), ids=CITED)
def test_a_placebo_is_neither_cited_nor_challenged(tmp_path, about, changed):
    """The counterfactual that is tried changes x, whatever the claim cites."""
    for arms in ("{same: 1, placebo: 3}", "{same: 1, placebo: [x, y]}"):
        outcome = made(tmp_path, Plain(about=about), challenge(of="counterfactuals", arms=arms))
        placebo = outcome.evidence["placebo"]
        assert [trial["variable"] for trial in outcome.evidence["trials"]] == ["x"]
        assert placebo["asked"] == len(changed)
        assert placebo.get("variables", changed) == changed
