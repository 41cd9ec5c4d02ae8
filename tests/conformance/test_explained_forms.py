"""Every construct of a world and a drift has a sentence of its own."""

from specledger.lang.statement import lines_of
from specledger.pipeline.explaining import explain
from tests.unit.lang.test_english import leftovers

WORLD = """spec: world/v1
name: shop
types: {sum: qfixed}
state:
  stock: {type: array, items: {type: object, properties: {n: int, sold: bool}}, maxItems: 9}
  bought: {type: object, additionalProperties: int}
  names: {type: array, items: string, maxItems: 9}
  paid: sum
  low: {type: integer, minimum: -3}
draw:
  mood: {from: [calm, cross], weights: [3, 1], once: episode}
start: {stock: "[]", bought: "{}", names: "[]", paid: 0.0, low: 0}
well_formed:
  - {id: solvent, require: low >= 0, message: the till is empty}
actions:
  buy:
    doc: Buys something.
    args: {n: int, by: string}
    when: n > 0
    effects:
      - {append: names, value: by}
      - {put: bought, key: by, value: n}
      - {remove: names, as: other, where: "other == ''"}
      - {each: stock, as: s, where: s.n == n, update: {sold: "true"}}
      - {set: low, to: low - 1, when: n > 5}
    otherwise:
      - {set: low, to: low + 1}
    draw:
      luck: {from: "range(n)", weights: "range(n).map(i, i + 1)"}
    chance:
      - {set: low, to: luck}
    outcome: {done: n > 0}
  idle: {}
every_step:
  - {each: stock, as: s, update: {n: s.n + 1}}
chance:
  draw: {rain: {from: [0.0, 0.25]}}
  effects: [{set: paid, to: paid + rain}]
observe: {low: low, mine: bought}
success: low == 3
"""

SENTENCES = [
    "Its state has these fields:",
    "  - `bought` is a map from texts to values, each an integer.",
    "  - `low` is an integer, at least minus 3.",
    "  - `names` is a list of at most 9 entries, each a text.",
    "  - `paid` is a value of the type `sum`.",
    "  - `stock` is a list of at most 9 entries, each a record of `n`, an integer; `sold`, true or false.",
    "For each episode:",
    '  - `mood` is drawn from the list of "calm" and "cross", weighted by the list of 3 and 1.',
    "At the start of an episode:",
    "  - `bought` is an empty record.",
    "  - `low` is 0.",
    "  - `names` is an empty list.",
    "  - `paid` is 0.0.",
    "  - `stock` is an empty list.",
    'By `solvent`, a start is refused, and the finding says "the till is empty", unless `low` is at least 0.',
    'Action `buy`, "Buys something.", does this:',
    "  - it takes `by`: a text.",
    "  - it takes `n`: an integer.",
    "  - it works only where `n` is more than 0.",
    "  - `by` is added to `names`.",
    "  - in `bought`, the entry of `by` becomes `n`.",
    "  - every `other` for which `other` is the empty text is removed from `names`.",
    "  - for each `s` of `stock` for which `s.n` is `n`, `sold` becomes true.",
    "  - where `n` is more than 5, `low` becomes `low` minus 1.",
    "  - where it does not work, `low` becomes `low` plus 1.",
    "  - then, by chance:",
    "    - `luck` is drawn from the numbers from 0 to below `n`, weighted by the list of `i` plus 1 for every `i` of the "
    "numbers from 0 to below `n`.",
    "    - `low` becomes `luck`.",
    "  - it reports `done`: whether `n` is more than 0.",
    "Action `idle` changes nothing.",
    "After every action, for each `s` of `stock`, `n` becomes `s.n` plus 1.",
    "By chance, after that:",
    "  - `rain` is drawn from the list of 0.0 and 0.25.",
    "  - `paid` becomes `paid` plus `rain`.",
    "An agent sees these:",
    "  - `low`.",
    "  - `mine` is `bought`.",
    "The goal is reached where `low` is 3.",
    "The type `sum` is a number with at most six decimals.",
]


def test_every_construct_of_a_world(tmp_path):
    (tmp_path / "shop.yaml").write_text(WORLD, encoding="utf-8")
    (spec,) = explain(str(tmp_path / "shop.yaml"))
    said = list(lines_of(spec.statements))
    assert said == SENTENCES
    assert not [line for line in said if leftovers(line)]


DRIFT = """spec: drift/v1
name: night
constants: {N: 4}
at: t % N == 0
when: low > 0
draw: {by: {from: [1, 2]}}
effects: [{set: low, to: low - by}, {set: dark, to: "!dark"}]
"""


def test_every_construct_of_a_drift(tmp_path):
    (tmp_path / "night.yaml").write_text(DRIFT, encoding="utf-8")
    (spec,) = explain(str(tmp_path / "night.yaml"))
    assert list(lines_of(spec.statements)) == [
        "It is due at a step where `t` is a multiple of `N`.",
        "Then it happens only where `low` is more than 0.",
        "`by` is drawn from the list of 1 and 2.",
        "When it happens:",
        "  - `low` becomes `low` minus `by`.",
        "  - `dark` becomes whether `dark` is false.",
        "`N` is 4.",
    ]
