"""What a bundle was resolved from: the same wherever its files lie, and enough, with nothing else, to resolve it again."""

import builtins
import io
import os
import shutil

import pytest

from specledger.core.canonical import canonical_bytes, parse_canonical
from specledger.core.diagnostics import Rejected
from specledger.kinds import KINDS, load
from specledger.load import Search
from specledger.load.sources import ORIGIN, InvalidSources, load_sources
from tests.toys import CLIMB

INVARIANT = "spec: invariant/v1\nname: {name}\nscope: step\nrequire: {require}\n"
BASE = "spec: scenario/v1\nname: climb\nextends: {base}\n"


@pytest.fixture
def project(tmp_path):
    """A folder with the files of a small scenario, and whatever else is written there."""

    def make(files=None, flat=True):
        place = tmp_path / f"project{len(list(tmp_path.iterdir()))}"
        for path in CLIMB.iterdir():
            kind = path.read_text().partition(" ")[2].partition("/")[0]
            target = place / path.name if flat else place / "specs" / kind / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        for name, text in (files or {}).items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        return place

    return make


def loaded(path, settings=(), **search):
    return load(path, set=list(settings), search=Search(**search))


def taken(bundle):
    """How a bundle's documents are resolved, and their bytes."""
    documents = dict(bundle.sources)
    return parse_canonical(documents.pop(ORIGIN)[:-1]), documents


def whole(bundle):
    return (
        bundle.root,
        bundle.case,
        bundle.document(),
        {key: (one.model, one.refs) for key, one in bundle.specs.items()},
    )


def again(bundle):
    """What the sources of a bundle resolve to."""
    origin, documents = taken(bundle)
    return whole(load_sources(origin, documents, KINDS))


KEPT = ["agent/climber.yaml", "drift/shift.yaml", "governor/warden.yaml", "invariant/bounded.yaml", "scenario/climb.yaml", "world/pot.yaml", "world/stairs.yaml"]  # fmt: skip


def test_documents_are_called_by_kind_and_file(project):
    (bundle,) = loaded(project() / "climb.yaml", ["seed=5"])
    origin, documents = taken(bundle)
    assert sorted(documents) == KEPT
    assert documents["world/pot.yaml"] == (CLIMB / "pot.yaml").read_bytes()
    wanted = {"format": "specledger/sources/v1", "main": "scenario/climb.yaml", "case": "", "set": ["seed=5"]}
    assert origin == {**wanted, "links": []}
    assert again(bundle) == whole(bundle)


def test_they_are_the_same_wherever_the_files_lie(project, monkeypatch):
    flat, tree = project(), project(flat=False)
    monkeypatch.chdir(tree)
    found = [
        loaded(flat / "climb.yaml"),
        loaded(tree / "specs/scenario/climb.yaml"),
        loaded("climb", project=tree / "specs"),
        loaded("scenario/climb", shipped=tree / "specs"),
    ]
    assert len({tuple(sorted(bundle.sources.items())) for (bundle,) in found}) == 1


def linked(files, main="main.yaml", settings=(), links=()):
    return files, main, settings, set(links)


WAYS = {
    "what a document extends": linked({"main.yaml": BASE.format(base="climb") + "seed: 4\n"}),
    "a chain of these": linked(
        {"mid.yaml": BASE.format(base="climb").replace("climb\ne", "mid\ne"), "main.yaml": BASE.format(base="mid")}
    ),
    "a path": linked(
        {"main.yaml": BASE.format(base="parts/base.yaml"), "parts/base.yaml": (CLIMB / "climb.yaml").read_text()}
        | {f"parts/{path.name}": path.read_text() for path in CLIMB.iterdir() if path.name != "climb.yaml"},
        links={("scenario/main.yaml", "parts/base.yaml", "scenario/base.yaml")},
    ),
    "two files of one name": linked(
        {
            "main.yaml": BASE.format(base="climb") + "invariants: [bounded, more/bounded.yaml]\n",
            "more/bounded.yaml": INVARIANT.format(name="other", require="true"),
        },
        links={("scenario/main.yaml", "more/bounded.yaml", "invariant/bounded-2.yaml")},
    ),
    "names that differ in case": linked(
        {
            "main.yaml": BASE.format(base="climb") + "invariants: [bounded, more/BOUNDED.yaml]\n",
            "more/BOUNDED.yaml": INVARIANT.format(name="other", require="true"),
        },
        links={("scenario/main.yaml", "more/BOUNDED.yaml", "invariant/BOUNDED-2.yaml")},
    ),
    "a file whose name is no plain one": linked({"ein Bergsteig\u00e9.yaml": BASE.format(base="climb")}, "ein Bergsteig\u00e9.yaml"),
    "another ending": linked({"main.yml": BASE.format(base="climb")}, "main.yml"),
    "a reference that is set": linked(
        {"calm.yaml": (CLIMB / "climber.yaml").read_text().replace("name: climber", "name: calm")}, "climb.yaml", ["agent=calm"]
    ),
    "a path that is set": linked(
        {"x/calm.yaml": (CLIMB / "climber.yaml").read_text().replace("name: climber", "name: calm")},
        "climb.yaml",
        ["agent=x/calm.yaml"],
        {("scenario/climb.yaml", "x/calm.yaml", "agent/calm.yaml")},
    ),
    "a link of the file system": linked({"main.yaml": BASE.format(base="climb")}),
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_every_way_to_a_document_is_found_again(project, name, monkeypatch):
    files, main, settings, links = WAYS[name]
    place = project(files)
    monkeypatch.chdir(place)
    if "link" in name:
        (place / "stairs.yaml").rename(place / "real.yaml")
        (place / "stairs.yaml").symlink_to("real.yaml")
        links = {("scenario/climb.yaml", "stairs", "world/real.yaml")}
    (bundle,) = loaded(place / main, settings)
    origin, documents = taken(bundle)
    assert {(one["from"], one["target"], one["to"]) for one in origin["links"]} == links
    assert len({path.casefold() for path in documents}) == len(documents)
    assert again(bundle) == whole(bundle)


def test_each_case_of_a_matrix_has_its_own(project):
    text = """\
spec: scenario/v1
name: climb
extends: climb
params: {who: {type: string}}
matrix: {who: [climber, calm]}
agent: "${who}"
"""
    calm = (CLIMB / "climber.yaml").read_text().replace("name: climber", "name: calm")
    bundles = loaded(project({"main.yaml": text, "calm.yaml": calm}) / "main.yaml")
    assert [bundle.case for bundle in bundles] == ["who=climber", "who=calm"]
    assert [[path for path in bundle.sources if path.startswith("agent")] for bundle in bundles] == [
        ["agent/climber.yaml"],
        ["agent/calm.yaml"],
    ]
    assert [again(bundle) for bundle in bundles] == list(map(whole, bundles))


def test_nothing_else_is_read(project, monkeypatch):
    (bundle,) = loaded(project() / "climb.yaml")
    origin, documents = taken(bundle)

    def refuse(*arguments, **named):
        raise AssertionError("something was opened")

    for module, name in ((builtins, "open"), (io, "open"), (os, "open"), (os, "stat"), (os, "scandir")):
        monkeypatch.setattr(module, name, refuse)
    found = load_sources(origin, documents, KINDS).digest
    monkeypatch.undo()
    assert found == bundle.digest


def changed(**fields):
    return lambda origin, documents: origin.update(fields)


def text_of(path, old, new):
    return lambda origin, documents: documents.update({path: documents[path].replace(old, new)})


LINK = {"from": "scenario/climb.yaml", "kind": "world", "target": "stairs", "to": "world/pot.yaml"}
REFUSED = {
    "another format": changed(format="specledger/sources/v2"),
    "a further key": changed(more=1),
    "a missing key": lambda origin, documents: origin.pop("case"),
    "a main document that is none of them": changed(main="scenario/other.yaml"),
    "a main document outside": changed(main="../climb.yaml"),
    "a main document that is a number": changed(main=1),
    "a case that there is not": changed(case="seed=1"),
    "a case that is null": changed(case=None),
    "settings that are text": changed(set="seed=5"),
    "a setting that is a number": changed(set=[5]),
    "a setting that is none": changed(set=["seed"]),
    "links that are an object": changed(links={}),
    "a link of another form": changed(links=[LINK | {"more": 1}]),
    "a link that is a text": changed(links=["scenario/climb.yaml"]),
    "a link to a number": changed(links=[LINK | {"to": 1}]),
    "a link out of the folder": changed(links=[LINK | {"to": "../world/stairs.yaml"}]),
    "a link that says nothing": changed(links=[LINK | {"to": "world/stairs.yaml"}]),
    "a link that nobody follows": changed(links=[LINK | {"target": "ladder"}]),
    "links without an order": changed(links=[LINK | {"target": "z"}, LINK | {"target": "y"}]),
    "two links of a reference": changed(links=[LINK, LINK | {"to": "world/stairs.yaml"}]),
    "a link to what has another name": changed(links=[LINK]),
    "a document that is missing": lambda origin, documents: documents.pop("world/pot.yaml"),
    "a document that nobody needs": lambda origin, documents: documents.update({"world/x.yaml": documents["world/pot.yaml"]}),
    "a document in the folder of another kind": lambda origin, documents: documents.update({"world/bounded.yaml": documents.pop("invariant/bounded.yaml")}),
    "a document that is no YAML": text_of("world/pot.yaml", b"spec:", b"{spec:"),
    "a document of another kind": text_of("world/pot.yaml", b"spec: world", b"spec: agent"),
    "a document of another name": text_of("world/pot.yaml", b"name: pot", b"name: pan"),
    "a document that is too long": lambda origin, documents: documents.update({"world/pot.yaml": documents["world/pot.yaml"] + b"#" * (1 << 20)}),
    "a document that refers to a file": text_of("scenario/climb.yaml", b"world: stairs", b"world: ../../../stairs.yaml"),
    "a document that extends itself": text_of("scenario/climb.yaml", b"seed:", b"extends: climb\nseed:"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_source_of_a_bundle_is_refused(project, name):
    (bundle,) = loaded(project() / "climb.yaml")
    origin, documents = taken(bundle)
    before = canonical_bytes(origin), dict(documents)
    REFUSED[name](origin, documents)
    assert (canonical_bytes(origin), documents) != before
    with pytest.raises((InvalidSources, Rejected)):
        load_sources(origin, documents, KINDS)


def test_what_is_no_object_is_refused():
    with pytest.raises(InvalidSources):
        load_sources([], {}, KINDS)


def test_what_was_recorded_resolves_as_it_did_though_it_would_be_refused_if_it_were_typed(project):
    axis = "params: {s: int}\nmatrix: {s: [5]}\nseed: ${s}\n"
    place = project({"seeds.yaml": f"spec: scenario/v1\nname: seeds\nextends: climb.yaml\n{axis}"})
    (bundle,) = loaded(place / "seeds.yaml")
    origin, documents = taken(bundle)
    for settings, seed in ((["seed=7"], 7), (["seed=7", "seed=8"], 8)):
        recorded = load_sources({**origin, "set": settings}, documents, KINDS)
        assert recorded.main.data["seed"] == seed
        with pytest.raises(Rejected):
            loaded(place / "seeds.yaml", settings)
