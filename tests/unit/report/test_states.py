"""Maps that a world computes of its states: what a page holds leads back to the map of every state, and is bounded."""

import json
import re

import pytest

from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.report import states
from specledger.report.states import episode_maps
from tests.unit.report.rendering import read as read_bundle
from tests.unit.report.rendering import report_of, text_of

FILES = {
    "world/corridor.yaml": """
spec: world/v1
name: corridor
constants: {FREE: 0, WALKER: 7}
state: {at: {type: integer, minimum: 0, maximum: 9}, long: {type: integer, minimum: 1, maximum: 10}}
start: {at: 0, long: 4}
actions:
  walk: {effects: [{set: at, to: "math.least(at + 1, long - 1)"}]}
  dig: {effects: [{set: long, to: long + 1}]}
observe: {at: at, long: long}
picture:
  cells: "[range(long).map(x, x == at ? WALKER : FREE)]"
  colours: {FREE: "#ffffff", WALKER: "#000000"}
""",
    "agent/walker.yaml": """
spec: agent/v1
name: walker
candidates: [{op: walk, when: at < long - 1}, {op: dig, when: at == long - 1}]
score: "1"
""",
    "governor/free.yaml": """
spec: governor/v1
name: free
gates: []
choose: {maximise: proposal.score}
""",
    "scenario/walk.yaml": """
spec: scenario/v1
name: walk
world: corridor
agent: walker
governor: free
episodes: 2
horizon: 6
""",
}


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walk")
    for name, text in FILES.items():
        file = folder / "specs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.lstrip(), encoding="utf-8")
    return execute(load(folder / "specs" / "scenario" / "walk.yaml")[0], folder / "out").place


def rows_of(maps):
    """The whole map of each frame, as the page's script makes it."""
    rows = []
    for map_ in maps:
        if map_ and isinstance(map_[0], list):
            rows = map_
        else:
            rows = [list(row) for row in rows]
            for place, code in zip(map_[::2], map_[1::2], strict=True):
                y, x = divmod(place, len(rows[0]))
                rows[y][x] = code
        yield rows


def held(place):
    """The maps in the data of a page."""
    (text,) = re.findall(r'<script id="data"[^>]*>(.*?)</script>', text_of("html", report_of(place)), re.DOTALL)
    data = json.loads(text)
    return data["chains"][0]["maps"]


def test_a_page_holds_the_map_of_every_state(walked):
    maps = held(walked)
    assert list(maps) == ["0", "1"]
    walk = [
        [7, 0, 0, 0],
        [0, 7, 0, 0],
        [0, 0, 7, 0],
        [0, 0, 0, 7],
        [0, 0, 0, 7, 0],
        [0, 0, 0, 0, 7],
        [0, 0, 0, 0, 7, 0],
    ]
    assert [list(rows_of(maps[episode])) for episode in maps] == [[[row] for row in walk]] * 2
    assert maps["0"][1] == [0, 0, 1, 7]  # two cells differ from the start


@pytest.mark.parametrize(("most", "episodes"), [(1_000, 2), (50, 1), (20, 0)])
def test_an_episode_with_too_many_cells_has_no_maps(walked, most, episodes, monkeypatch):
    monkeypatch.setattr(states, "MOST_CELLS", most)
    evidence = read_bundle(walked)
    assert len(episode_maps(evidence.specs, evidence.bodies())) == episodes


def test_maps_end_before_a_state_that_cannot_be_recomputed(walked):
    evidence = read_bundle(walked)
    forged = []
    for type_, body in evidence.bodies():
        wrong = type_ == "step" and (body["episode"], body["t"]) == (1, 2)
        forged.append((type_, {**body, "after": "0" * 64} if wrong else body))
    assert [len(maps) for maps in episode_maps(evidence.specs, forged).values()] == [7, 3]


def test_a_picture_that_moves_tokens_refuses_a_map_of_each_state(walked):
    with pytest.raises(Rejected) as refused:
        text_of("svg", report_of(walked))
    (finding,) = refused.value.diagnostics
    assert (finding.code, "--format html" in str(finding.hint)) == ("E_PICTURE_NONE", True)


@pytest.mark.medium
def test_a_world_whose_map_is_a_field_holds_none(trap):
    assert held(trap) == {}
