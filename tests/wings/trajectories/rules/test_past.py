"""Words in a row are looked for in few texts as they are, and in many by an index: with the same result."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.wings.trajectories.rules import phrases
from specledger.wings.trajectories.rules.compile import compile_policy

WORDS = st.lists(st.sampled_from(["pay", "ann", "an", "n", "é"]), max_size=5).map(" ".join)


@pytest.mark.medium
@pytest.mark.parametrize("searched", [0, 12, phrases.SEARCHED])
@given(texts=st.lists(WORDS, max_size=12), asked=WORDS)
@settings(max_examples=60)
def test_the_first_text_with_words_in_a_row(searched, texts, asked):
    origins = [f"text {number}" for number in range(len(texts))]
    index = phrases.Phrases[str](lambda one, two: False, searched)
    for text, origin in zip(texts, origins, strict=True):
        index.add(phrases.HeardText(text), origin)
    expected = next((o for text, o in zip(texts, origins, strict=True) if asked and f" {asked} " in f" {text} "), None)
    assert index.first(asked, "now") is expected


def test_rules_that_name_the_same_source_share_it(tmp_path):
    rule = "{when: {tool: pay}, each: args.to, from: [request, {result_of: look, field: name}, {result_of: look, field: mail}]}"
    (tmp_path / "p.yaml").write_text(f"spec: policy/v1\nname: p\nrules: {{a: {rule}, b: {rule}}}\n")
    policy = compile_policy(load(str(tmp_path / "p.yaml"))[0].main, Diagnostics())
    assert [source.fields for source in policy.sources] == [(), (("name",),), (("mail",),)]
    assert [rule.sources for rule in policy.rules] == [(0, 1, 2), (0, 1, 2)]
