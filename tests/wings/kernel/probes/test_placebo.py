"""The placebo arm changes what nothing was said about: neither what a claim cites, nor what is challenged."""

import pytest

from tests.wings.kernel.probes.test_probes import HERE, Plain, challenge, made

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


class Wide(Plain):
    """The same in a world of more variables."""

    def names(self, state):
        return [*state]


ARMS = {
    "as many as are asked for": ("2", 2, None),
    "no more than there are": ("9", 3, None),
    "those that are named": ("[u, w, x]", 2, {"u", "w"}),
    "none": ("0", 0, None),
}


@pytest.mark.parametrize(("placebo", "asked", "named"), ARMS.values(), ids=ARMS)
def test_as_many_placebos_are_changed_as_the_probe_says(tmp_path, placebo, asked, named):
    here = HERE._replace(state={"x": 1, "u": 1, "v": 1, "w": 1})
    outcome = made(tmp_path, Wide(), challenge(arms=f"{{same: 1, placebo: {placebo}}}"), here)
    given = outcome.evidence["placebo"]
    assert (given["asked"], given["changed"]) == (asked, 0)
    assert ({*given["variables"]} if "variables" in given else None) == named
