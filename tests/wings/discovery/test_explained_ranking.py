"""Every construct of a ranking has a sentence of its own."""

from specledger.lang.statement import lines_of
from specledger.pipeline.explaining import explain

RANKING = """spec: ranking/v1
name: worth
constants: {UNIT: 3}
factors:
  risk:
    doc: How easily it falls.
    weight: 0.25
    start: -0.5
    least: -1
    most: 0.75
    rules:
      - {add: 0.2, when: size(law.preconditions) == 0, doc: it is about more starts}
      - {add: -0.1, when: law.transform != ''}
      - {add: -0.3, per: size(law.missing.tests), doc: what it lacks}
      - {add: 1, share: similarity}
  plain: {weight: 1}
  loss: {weight: 0.5, subtract: true}
sensitivity: 0.35
"""

SENTENCES = [
    "Factor `loss` starts at 0 and stays from 0 to 1; 0.5 times it is subtracted from the score.",
    "Factor `plain` starts at 0 and stays from 0 to 1; 1 times it is added to the score.",
    'Factor `risk`, "How easily it falls.", starts at minus 0.5 and stays from minus 1 to 0.75; 0.25 times it is added to the score:',
    '  - 0.2 is added as "it is about more starts" if there is no entry in `law.preconditions`.',
    "  - 0.1 is subtracted if `law.transform` is not the empty text.",
    '  - 0.3 times the number of entries of `law.missing.tests` is subtracted as "what it lacks".',
    "  - 1 times `similarity` is added.",
    "Each weight is tried greater and smaller by 35 percent of itself.",
    "`UNIT` is 3.",
]


def test_every_construct_of_a_ranking(tmp_path):
    (tmp_path / "worth.yaml").write_text(RANKING, encoding="utf-8")
    (spec,) = explain(str(tmp_path / "worth.yaml"))
    assert list(lines_of(spec.statements)) == SENTENCES
