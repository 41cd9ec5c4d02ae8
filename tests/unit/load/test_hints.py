"""Mistakes that are easily made, each found at its place with what to write."""

import pytest

from specledger.pipeline.checking import check

WORLD = "spec: world/v1\nname: w\nstate: {n: int}\nstart: {n: 0}\nactions: {go: {}}\nobserve: {n: n}\n"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (
            'spec: agent/v1\nname: made\ncandidates: [{op: go}]\nscore:"n > 1 ? 1 : 2"\n',
            (4, 1),
            "a space belongs after the colon: `score: …`",
        ),
        ("spec: invariant/v1\nname: made\nmean: {of: n, min: 1}\n", (3, 1), "needs `scope: episode`"),
        (
            "spec: scenario/v1\nname: made\nparams: {seed: int}\nmatrix: {seed: {from: 0, to: 8, stepp: 2}}\n"
            "world: w\ngovernor: any-action\nagent: greedy\nhorizon: 4\n",
            (4, 10),
            "`stepp`: did you mean `step`?",
        ),
        (WORLD.replace("name: w", "name: made\nuse: [lib]"), (4, 12), "the constant 'n' is defined here"),
    ],
)  # fmt: skip
def test_a_hint_says_what_to_write(tmp_path, text, place, words):
    (tmp_path / "w.yaml").write_text(WORLD)
    (tmp_path / "lib.yaml").write_text("spec: library/v1\nname: lib\nconstants: {n: 3}\n")
    (tmp_path / "made.yaml").write_text(text)
    _, findings = check([str(tmp_path / "made.yaml")])
    found = findings[0]
    assert found.span is not None
    assert (found.span.start.line, found.span.start.column) == place
    assert words in " ".join([found.message, found.hint or "", *(note for note, _ in found.related)])
    for _, span in found.related:
        assert str(span.file).endswith("lib.yaml")
