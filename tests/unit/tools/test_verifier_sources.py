"""The second verifier's reading of sources: what the engine's loader reads and resolves, it reads and resolves alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from specledger.core.diagnostics import Diagnostics
from specledger.load import Bundle, Search, load
from specledger.load.input_filter import read_text
from specledger.load.shapes import Shape
from specledger.load.tree import parse
from specledger.spec.kinds import KINDS
from tools.verifier.basis import Open, Refuted, write
from tools.verifier.sources_form import DEFAULTS, REFERENCES, place_name
from tools.verifier.sources_made import Sources, sources_again
from tools.verifier.values import BUDGET
from tools.verifier.yaml_read import read_yaml

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = sorted((ROOT / "specs").rglob("*.yaml"))
APART = ("scenario", "suite", "law", "discovery", "profile", "new")
"""Kinds whose specs are loaded themselves; those of the others are loaded with them, unless nothing refers to them."""

READ = {
    "mapping": "a: 1\nb: two words\nc: null\nd: true\ne: -7\nf: 0.50\ng: -0.0\n",
    "comments": "# one\n\na: b # two\n# three\nc: d#e\n  # four\n",
    "crlf": "a: b\r\nc: |\r\n  d\r\n",
    "marker": "--- # one\na: b\n",
    "marker beside": "--- {a: b}\n",
    "lists": "a:\n- 1\n- - 2\n  - 3\n- b: 4\n  c: 5\nd:\n  - 6\n  -\n    7\n",
    "nested": "a:\n  b:\n    c: 1\n  d: 2\ne: 3\n",
    "flow": "a: {b: [1, two, {c: 'd'}], \"e\":5, f : g,}\nh: []\ni: {}\n",
    "flow lines": "a: {b: c d\n  e, f:\n g, # note\n h: [\n  1,\n\n  2 ]}\n",
    "plain lines": "a: b\n  c\n\n  d - e\nf:\n  g\n  - h\ni: j:k ?l\n",
    "plain marks": "a: -b\nc: ?d\ne: :f\ng: h'i\"j\nk: l[m]{n}, o\n",
    "single": "a: 'it''s'\nb: 'c\n\n  d  \n  e'\n'f g': ''\n",
    "double": 'a: "b\\n\\"\\\\\\x41\\u00e9\\U0001F600\\/"\nc: "d \\\n  \\  e\n\n  f\\ \n  g"\n"h": "i: #j"\n',
    "literal": "a: |\n  b\n   c\n\n  d\n\ne: |-\n  f\n\ng: |+\n  h\n\n\ni: | # note\n  j # k\n",
    "folded": "a: >\n  b\n  c\n\n  d\n    e\n  f\n\n\n  g\nh: >-\n  i\n\n\n  j\nk: >+\n  l\n\n",
    "block ends": "a:\n  - |\n    b\n  - >-\n\n    c\n# d\ne: |\nf: 1\n",
    "words": "a: y\nb: n\nc: E\nd: N\ne: x-1\nf: 1.2.3\ng: 1a\nh: nothing\ni: -a\nj: +\nno: 1\non: 2\n",
    "numbers": "a: 9007199254740991\nb: 0.1\nc: 123456.789\nd: 0\n",
}
REFUSED: dict[str, str | bytes] = {
    "tab": "a:\tb\n",
    "not utf-8": b"a: \xff\n",
    "mark": "\ufeffa: b\n",
    "break": "a: b\u2028c\n",
    "duplicate": "a: 1\na: 2\n",
    "duplicate in brackets": "a: {b: 1, b: 2}\n",
    "missing": "a:\nb: 1\n",
    "missing in brackets": "a: {b: }\n",
    "missing element": "a: [1,, 2]\n",
    "dash alone": "a:\n  -\n  - 1\n",
    "empty": "# nothing\n",
    "open bracket": "a: [1, 2\n",
    "open quote": "a: 'b\n",
    "two documents": "a: 1\n---\nb: 2\n",
    "ended": "a: 1\n...\n",
    "directive": "%YAML 1.1\n---\na: 1\n",
    "anchor": "a: &b c\n",
    "alias": "a: *b\n",
    "tag": "a: !b c\n",
    "colon": "a: b: c\n",
    "colon in brackets": "a: [b: c]\n",
    "colon without blank": "a: {b:1}\n",
    "question": "a: {b: c ? d : e}\n",
    "half a pair": "a: [at(x, y)]\n",
    "indented": "a: 1\n  b: 2\n",
    "dash beside": "a: - b\n",
    "dash in brackets": "a: [- b]\n",
    "indentation indicator": "a: |2\n    b\n",
    "escape": 'a: "\\q"\n',
    "escape of nothing": 'a: "\\x00"\n',
    "surrogate": 'a: "\\ud800"\n',
    "text behind": "a: 'b' c\n",
    "key of no text": "1: a\n",
    "key null": "null: a\n",
    "merge": "<<: a\n",
    "number": "a: 9007199254740992\n",
    "digits": "a: 0.1234567890123456789\n",
    **{
        word: f"a: {word}\n"
        for word in ("no", "ON", "~", "010", "0x1F", "1e3", "1_000", "12:30", ".5", "+1", "-0", "=")
    },
    "date": "a: 2024-01-01\n",
    "depth": "a: " + "[" * 48 + "]" * 48 + "\n",
}
PROJECT = {
    "world/line.yaml": """\
        spec: world/v1
        name: line
        params: {most: {type: qfixed, default: 2.50}, on: {type: double, default: 1}, at: {type: string, default: x}}
        constants: {MOST: {qfixed: "${most}"}, ON: "${on}", AT: "${at}", HALF: 0.5}
        metadata: {annotations: {text: "${free}", half: 0.50}}
        state: {x: int, y: {type: integer, minimum: 0, maximum: null, required: []}}
        start: {x: 0, y: 1}
        actions: {go: {when: true, effects: [{set: x, to: 0.5}, {each: y, as: p, where: "true", update: {z: 1}}]}}
        success: null
        """,
    "agent/walker.yml": """\
        spec: agent/v1
        name: walker
        predicts: false
        candidates: [{op: go, when: "true"}]
        score: 0
        """,
    "governor/base.yaml": """\
        spec: governor/v1
        name: base
        gates:
          - {id: floor, deny: x < 0, reason: below}
          - {id: roof, deny: x > 9, reason: above}
        choose: {maximise: 0}
        invariants: []
        """,
    "governor/keeper.yaml": """\
        spec: governor/v1
        name: keeper
        extends: base
        gates: {roof: {reason: high, when: x > 0}, floor: null, wall: {deny: false, reason: wall}, cell: {deny: 1, reason: c}}
        invariants: [safe]
        """,
    "invariant/safe.yaml": "spec: invariant/v1\nname: safe\nrequire: >-\n  x >= 0\n  && x < 5\n",
    "drift/push.yaml": """\
        spec: drift/v1
        name: push
        params: {every: {type: int, default: 5, minimum: 1}}
        constants: {EVERY: "${every}"}
        at: t % EVERY == 0
        effects: [{set: x, to: x + 1}]
        """,
    "scenario/basic.yaml": """\
        spec: scenario/v1
        name: basic
        params: {every: int, seed: {type: int, default: 3}, most: {type: qfixed, default: 9}, size: {type: int, default: 5}}
        matrix: {every: [2, 3], most: [1.0, 2.5], exclude: [{every: 2, most: 1}], include: [{every: 9, seed: 1}]}
        world: {use: line, with: {most: "${most}"}}
        governor: keeper
        agent: walker
        drift: [{use: push, with: {every: 4}}, push, {use: push, with: {every: "${every}"}}]
        map: {drawing: null, generate: [{fill: ".", width: 3, height: 3}, {maze: ".", loops: 0}], vary: run}
        seed: "${seed}"
        episodes: 1
        horizon: "${size}"
        """,
}
CHANGES = (
    (),
    ("with.size=8",),
    ("horizon=7", "horizon=9", 'map.generate.0.fill="#"'),
    ("governor.invariants=[]", "governor.gates.roof=null"),
    ("drift.push.with.every=3", "drift.1.effects.0.to=x + 2"),
    ("drift.1.when=x > 1", "drift.0=null", "drift.0.at=true"),
    ("governor.gates.wall.reason=other", "governor.invariants.safe.severity=warn", "governor=base"),
    ("governor.invariants.safe.severity=warn", "world.with.at=back", "world.start={x: 3, y: 4.5}"),
    ("until=x > 2", "agent.candidates.0.for_each={dir: '[1]'}"),
)


def engine_reads(data: bytes) -> Any:
    """What the engine's loader makes of a file, None if it refuses it."""
    found = Diagnostics()
    text = read_text(data, "f", found)
    document = None if text is None else parse(text, "f", found)
    return None if document is None or found.has_errors else document.root.plain()


def resolved(bundle: Bundle, **origin: Any) -> Any:
    """What this verifier resolves the sources of a bundle to."""
    BUDGET.begin()
    files = dict(bundle.sources)
    told = json.loads(files.pop("origin.json")) | origin
    return Sources(told, files).document()


@pytest.mark.parametrize("name", READ)
def test_what_the_engine_reads_is_read_alike(name: str) -> None:
    data = READ[name].encode()
    wanted = engine_reads(data)
    assert wanted is not None
    assert repr(read_yaml(data, "f")) == repr(wanted)


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_engine_refuses_is_refuted(name: str) -> None:
    text = REFUSED[name]
    data = text if isinstance(text, bytes) else text.encode()
    assert engine_reads(data) is None
    with pytest.raises(Refuted, match="E_SOURCES"):
        read_yaml(data, "f")


@pytest.mark.parametrize(
    "text", ["a: {? b : c}\n", "a: [b,#c\n d]\n", "? a\n: b\n", "a: |+\n\nb: 1\n", "a: |\n     \n  b\n"]
)
def test_what_is_not_judged_is_open(text: str) -> None:
    with pytest.raises(Open):
        read_yaml(text.encode(), "f")


def test_every_shipped_spec_is_resolved_alike() -> None:
    seen: set[str] = set()
    apart = [path for path in SHIPPED if path.parent.name in APART or "new" in path.parts]
    for path in [*apart, *(path for path in SHIPPED if path not in apart)]:
        if f"{path.parent.name}/{path.name}" in seen:
            continue
        for bundle in load(path, search=Search(ROOT / "specs", None)):
            seen |= set(bundle.sources)
            assert write(resolved(bundle)) == write(bundle.document()), path
    assert {f"{path.parent.name}/{path.name}" for path in SHIPPED} <= seen


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in PROJECT.items():
        path = tmp_path / "specs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return tmp_path


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_every_case_and_change_is_resolved_alike(project: Path, changes: tuple[str, ...]) -> None:
    bundles = load("basic", set=changes, search=Search(project / "specs", None))
    assert [bundle.case for bundle in bundles] == [
        "every=2,most=2.5",
        "every=3,most=1",
        "every=3,most=2.5",
        "every=9,seed=1",
    ]
    for bundle in bundles:
        assert write(resolved(bundle)) == write(bundle.document())


FAULTS: Mapping[str, tuple[str, str, str]] = {
    "an item that is not there": ("governor/keeper.yaml", "floor: null", "flor: null"),
    "a parameter that is not there": ("scenario/basic.yaml", "{most: ", "{least: "),
    "a parameter of another type": (
        "scenario/basic.yaml",
        "{use: push, with: {every: ",
        "{use: push, with: {every: x, e: ",
    ),
    "a parameter in a text": ("world/line.yaml", 'AT: "${at}"', 'AT: "a${at}"'),
    "a base that is not there": ("governor/keeper.yaml", "extends: base", "extends: bass"),
    "a circle": ("governor/base.yaml", "name: base", "name: base\nextends: keeper"),
    "another name": ("agent/walker.yml", "name: walker", "name: walk"),
    "another kind": ("agent/walker.yml", "agent/v1", "world/v1"),
    "no head": ("agent/walker.yml", "spec: agent/v1\n", ""),
    "a matrix inside": ("drift/push.yaml", "name: push", "name: push\nmatrix: {every: [1]}"),
    "the reserved key": ("world/line.yaml", "half: 0.50", '$double: "0.5"'),
}


@pytest.mark.parametrize("name", FAULTS)
def test_sources_that_do_not_resolve_are_refuted(project: Path, name: str) -> None:
    bundle = load("basic", search=Search(project / "specs", None))[0]
    path, old, new = FAULTS[name]
    text = bundle.sources[path].decode()
    assert old in text
    changed = SimpleNamespace(sources={**bundle.sources, path: text.replace(old, new).encode()})
    with pytest.raises(Refuted, match="E_SOURCES"):
        resolved(changed)  # type: ignore[arg-type]


LINK = {"from": "scenario/basic.yaml", "kind": "world", "target": "line", "to": "world/line.yaml"}


@pytest.mark.parametrize(
    "origin",
    [
        {"case": "every=2,most=1"},
        {"case": ""},
        {"links": [LINK]},
        {"links": [{**LINK, "target": "other"}]},
        {"links": [{**LINK, "to": "agent/walker.yml"}]},
        {"set": ["horizon"]},
        {"set": ["horizon="]},
        {"set": ["horizons=5"]},
        {"set": ["drift.3.at=true"]},
        {"set": ["seed.x=5"]},
        {"set": ["matrix.every=5"]},
        {"set": ["with.every=5"]},
        {"set": ['until="${every}"']},
        {"set": ["start=x: 5"]},
        {"main": "drift/push.yaml", "case": ""},
    ],
    ids=str,
)
def test_what_says_how_they_are_resolved_is_refuted(project: Path, origin: dict[str, Any]) -> None:
    bundle = load("basic", search=Search(project / "specs", None))[0]
    with pytest.raises(Refuted, match="E_SOURCES"):
        resolved(bundle, **origin)


def test_links_are_followed(project: Path) -> None:
    bundle = load("basic", search=Search(project / "specs", None))[0]
    files = {"world/kettle.yaml" if path == "world/line.yaml" else path: data for path, data in bundle.sources.items()}
    moved = SimpleNamespace(sources=files)
    links = [{**LINK, "to": "world/kettle.yaml"}]
    assert write(resolved(moved, links=links)) == write(bundle.document())  # type: ignore[arg-type]


def folder(place: Path, bundle: Bundle, document: Any, version: str = "0.1.0") -> Any:
    """What a check sees of a bundle with these sources."""
    for name, data in bundle.sources.items():
        path = place / "specs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    names = [f"specs/{name}" for name in bundle.sources]
    return SimpleNamespace(
        place=place, sources=names, specs=document, manifest={"engine": {"version": version}}, unmade=[]
    )


def test_the_check_compares_with_what_is_recorded(project: Path, tmp_path: Path) -> None:
    bundle, other = load("basic", search=Search(project / "specs", None))[:2]
    sources_again(folder(tmp_path / "own", bundle, bundle.document()))
    with pytest.raises(Refuted, match="other specs"):
        sources_again(folder(tmp_path / "other", bundle, other.document()))
    with pytest.raises(Open, match="version"):
        sources_again(folder(tmp_path / "version", bundle, other.document(), "9.9.9"))


def models(model: type[BaseModel], found: set[type[BaseModel]]) -> set[type[BaseModel]]:
    """A model and those inside of it."""
    if model in found:
        return found
    found.add(model)
    todo = list(Shape(model).fields().values())
    while todo:
        for shape in todo.pop().leaves():
            if shape.model is not None:
                models(shape.model, found)
            else:
                todo += [Shape.of(inner) for inner in get_args(shape.type) if not isinstance(inner, str)]
    return found


def references(shape: Shape) -> set[str]:
    """The kinds that a place, or the elements of a list there, refer to."""
    inner = [shape, *shape.leaves(), *(Shape.of(one) for leaf in shape.leaves() for one in get_args(leaf.type))]
    return {one.reference for one in inner if one.reference is not None}


def test_the_tables_are_those_of_the_models() -> None:
    defaults: dict[str, Any] = {}
    meant: dict[str, str] = {}
    for kind, root in KINDS.items():
        for model in models(root, set()):
            name = "Document" if model is root else model.__name__
            for field, info in model.model_fields.items():
                place = place_name(kind, name, info.alias or field)
                default = info.get_default(call_default_factory=True)
                if isinstance(default, str | int):
                    fixed = any(type(mark).__name__ == "PlainSerializer" for mark in info.metadata)
                    defaults[place] = f"{int(default) / 1_000_000:.6f}".rstrip("0").rstrip(".") if fixed else default
                for found in references(Shape(model).fields()[info.alias or field]):
                    meant[place] = found
    assert meant == REFERENCES
    assert defaults == DEFAULTS
    assert {place: type(value) for place, value in defaults.items()} == {p: type(v) for p, v in DEFAULTS.items()}
