"""What governors, agents, libraries, invariants and suites say in sentences, each part of them."""

import shutil

import pytest

from specledger.lang.statement import lines_of
from specledger.pipeline.explaining import explain
from tests.toys import CLIMB

DOCUMENTS = {
    "a governor with every part": (
        """spec: governor/v1
name: keeper
mode: first
constants: {LIMIT: 3, SHARE: 0.25, SMALL: [1, -2], NONE: [], YES: true, MANY: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]}
functions: {near: {args: [one, two], is: one - two < LIMIT}, zero: {args: [], is: "0"}}
let: {left: now.level - 1}
gates:
  - {id: high, reason: why_high, deny: next.level > LIMIT}
  - {id: low, reason: why_low, when: now.level > 0, require: next.level > 0}
  - {id: many, reason: why_many, when: now.level > 0 && now.level < 5 && left > 1, deny: next.level == 4}
choose: {maximise: proposal.score - left}
cost: {effort: "1", height: next.level}
""",
        [
            "Gate `high` rejects a proposal if the next `level` is more than `LIMIT`.",
            "Where `now.level` is more than 0, gate `low` rejects a proposal unless the next `level` is more than 0.",
            "Gate `many` rejects a proposal where what follows first holds, if what follows second does:",
            "  - all of these hold:",
            "    - `now.level` is more than 0.",
            "    - `now.level` is less than 5.",
            "    - `left` is more than 1.",
            "  - the next `level` is 4.",
            "The first gate that rejects a proposal is the only one that is told.",
            "Of what no gate rejects, the first with the greatest value is chosen; the value is `score` of the proposal minus `left`.",
            "A proposal costs the sum of these items:",
            "  - `effort`: 1.",
            "  - `height`: the next `level`.",
            "`left` is `now.level` minus 1.",
            "`near` of `one` and `two` means that `one` minus `two` is less than `LIMIT`.",
            "`zero` is 0.",
            "`LIMIT` is 3.",
            "`MANY` is the list of 13 entries.",
            "`NONE` is the list of 0 entries.",
            "`SHARE` is 0.25.",
            "`SMALL` is the list of 1 and minus 2.",
            "`YES` is true.",
        ],
    ),
    "a governor with one gate": (
        """spec: governor/v1
name: one
mode: first
gates: [{id: high, reason: why_high, deny: next.level > 3}]
choose: {maximise: proposal.score}
""",
        [
            "Gate `high` rejects a proposal if the next `level` is more than 3.",
            "Of what no gate rejects, the first with the greatest value is chosen; the value is `score` of the proposal.",
        ],
    ),
    "an agent": (
        """spec: agent/v1
name: actor
constants: {FAR: -5}
let: {room: 3 - seen.level}
candidates:
  - {op: wait}
  - {op: fill, when: room > 0, for_each: {by: "[1, 2]", at: "range(room)"}}
score: room
""",
        [
            "It proposes `wait`.",
            "It proposes `fill` with `at` from the numbers from 0 to below `room` and `by` from the list of 1 and 2 where `room` is more than 0.",
            "It scores a proposal by `room`.",
            "`room` is 3 minus `seen.level`.",
            "`FAR` is minus 5.",
        ],
    ),
    "a library": (
        """spec: library/v1
name: words
types: {pair: {type: object, properties: {x: int, y: int}}, sum: qfixed}
functions: {twice: {args: [n], is: n * 2}}
constants: {FAR: 9, NAME: "'x'"}
""",
        [
            "The type `pair` is a record of `x`, an integer; `y`, an integer.",
            "The type `sum` is a number with at most six decimals.",
            "`twice` of `n` is `n` times 2.",
            "`FAR` is 9.",
            '`NAME` is "x".',
        ],
    ),
    "a rule of a step": (
        """spec: invariant/v1
name: a
severity: fatal
require: level <= 3
""",
        [
            "After every step, it must be so that `level` is at most 3.",
            "A breach fails the run and ends the episode.",
        ],
    ),
    "a rule of an episode": (
        """spec: invariant/v1
name: b
severity: warn
scope: episode
when: level > 0
require: level <= 3
""",
        [
            "It is judged only where `level` is more than 0.",
            "At the end of every episode, it must be so that `level` is at most 3.",
            "A breach is counted and changes no verdict.",
        ],
    ),
    "a rule with a time": (
        """spec: invariant/v1
name: c
severity: warn
within: {after: level > 2, steps: 3, require: level < 2}
""",
        [
            "In a state in which `level` is more than 2, or at most 3 steps later, it must be so that `level` is less than 2.",
            "A breach is counted and changes no verdict.",
        ],
    ),
    "a rule with a time after several conditions": (
        """spec: invariant/v1
name: d
severity: warn
within: {after: level > 2 && level < 9 && level != 5, steps: 1, require: level < 2}
""",
        [
            "It begins in a state in which all of these hold:",
            "  - `level` is more than 2.",
            "  - `level` is less than 9.",
            "  - `level` is not 5.",
            "There, or at most 1 step later, it must be so that `level` is less than 2.",
            "A breach is counted and changes no verdict.",
        ],
    ),
    "a rule of so many times": (
        """spec: invariant/v1
name: e
severity: warn
at_most: {times: 2, count: level > 2}
""",
        [
            "At most 2 times in an episode it may be so that `level` is more than 2.",
            "A breach is counted and changes no verdict.",
        ],
    ),
    "a least mean": (
        """spec: invariant/v1
name: f
severity: warn
mean: {of: level, min: 1}
scope: episode
""",
        [
            "Over an episode the mean of `level` must be at least 1.",
            "A breach is counted and changes no verdict.",
        ],
    ),
    "a mean between two": (
        """spec: invariant/v1
name: g
severity: warn
mean: {of: level, min: 1, max: 2}
scope: episode
""",
        [
            "Over an episode the mean of `level` must be at least 1 and at most 2.",
            "A breach is counted and changes no verdict.",
        ],
    ),
    "a greatest mean": (
        """spec: invariant/v1
name: h
severity: warn
mean: {of: level, max: 2}
scope: episode
""",
        [
            "Over an episode the mean of `level` must be at most 2.",
            "A breach is counted and changes no verdict.",
        ],
    ),
}


@pytest.mark.parametrize(("text", "sentences"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_is_said_in_full(tmp_path, text, sentences):
    (tmp_path / "shown.yaml").write_text(text, encoding="utf-8")
    (spec,) = explain(str(tmp_path / "shown.yaml"))
    assert list(lines_of(spec.statements)) == sentences


SUITE = """spec: suite/v1
name: heights
runs: {long: {scenarios: [climb], seeds: [3]}, other: {scenarios: [climb], seeds: [4]}}
measures: {heights: "steps.map(s, s.t)"}
figures:
  arrives: {rate: success}
  mean: {mean: heights, over: long}
  total: {sum: heights, over: [long, other], by: seed}
checks:
  - {id: some, require: arrives.of > 0, opportunities: arrives.of}
  - {id: more, require: mean.value > 0, opportunities: arrives.of, least: 3}
mutants:
  - {id: gone, set: {governor.gates.high: null, horizon: 4, name: abc, drift: [], start: {a: 1}}}
  - {id: other, governor: warden, agent: climber}
  - {id: same, replay: none}
"""

SENTENCES = [
    "Check `some` demands that `arrives.of` is more than 0.",
    "It counts if it could have failed at least once; how often it could is `arrives.of`.",
    "Check `more` demands that `mean.value` is more than 0.",
    "It counts if it could have failed at least 3 times; how often it could is `arrives.of`.",
    "Over all runs, figure `arrives` is the share of those that hold, of `success`.",
    "Over the runs of `long`, figure `mean` is the mean of `heights`.",
    "Over the runs of `long` and `other`, for each seed, figure `total` is the total of `heights`.",
    'Mutant `gone` must make a check fail: in it `drift` is empty, `governor.gates.high` is taken away, `horizon` becomes `4`, `name` becomes "abc" and `start` is other than it was.',
    "Mutant `other` must make a check fail: in it the governor is `warden` and the agent is `climber`.",
    "Mutant `same` must make a check fail: in it runs are not made again.",
    "`heights` is the list of `s.t` for every `s` of `steps`.",
]


def test_every_part_of_a_suite_is_said(tmp_path):
    shutil.copytree(CLIMB, tmp_path, dirs_exist_ok=True)
    (tmp_path / "heights.yaml").write_text(SUITE, encoding="utf-8")
    (spec,) = explain(str(tmp_path / "heights.yaml"))
    assert list(lines_of(spec.statements)) == SENTENCES


@pytest.mark.medium
def test_the_cells_of_a_map_are_told_with_their_codes_and_what_they_do():
    (spec,) = explain("hazard-gridworld")
    lines = [line.strip() for line in lines_of(spec.statements)]
    first = lines.index('A cell that is drawn as "S" does this:')
    assert {lines[first + 1], lines[first + 2]} >= {"- the code of its cell is `EMPTY`."}
    walls = lines.index('A cell that is drawn as "#" does this:')
    assert lines[walls + 1] == "- the code of its cell is `WALL`."
    (toy,) = explain("toy-gridworld")
    assert 'A cell that is drawn as "." is empty.' in [*lines_of(toy.statements)]
    assert not any("the code of its cell" in line for line in lines_of(toy.statements))
