"""Bundles from evidence: the same as from files, and nothing else."""

import copy

import pytest

from specledger.core.canonical import canonical_bytes, parse_canonical
from specledger.core.diagnostics import Rejected
from specledger.kinds import bundle_from_document
from tests.toys import findings_of


@pytest.fixture
def document(project):
    project.write_all()
    constants = "constants: {A: 0.5, B: [1, {C: -0.25}], D: {qfixed: 1.5}}\nrequire"
    project.edit("specs/invariant/safe.yaml", ("require", constants))
    return project.one("basic").document()


def test_the_way_through_json_and_back(project, document, monkeypatch, tmp_path_factory):
    bundle = project.one("basic")
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
    again = bundle_from_document(parse_canonical(canonical_bytes(document)))
    assert (again.digest, again.root, again.document()) == (bundle.digest, bundle.root, bundle.document())
    assert [one.model for one in again.specs.values()] == [one.model for one in bundle.specs.values()]
    assert again.main.refs == bundle.main.refs
    text = again.main.text("horizon")
    assert (text.value, text.file) == ("10", f"<{again.root} horizon>")
    assert again.main.span("horizon").file == f"<{again.root} horizon>"


def key(document, kind):
    return next(key for key in document["specs"] if key.startswith(f"{kind}/"))


def rename(document, old, new):
    document["specs"][new] = document["specs"].pop(old)


TAMPERED = {
    "no mapping": lambda d: [],
    "no canonical JSON": lambda d: d | {"specs": d["specs"] | {"x": 0.5}},
    "another member": lambda d: d | {"x": 1},
    "no root": lambda d: {"specs": d["specs"]},
    "a root that is not there": lambda d: d | {"root": "scenario/basic@0000000000000000"},
    "a root that is no text": lambda d: d | {"root": ["x"]},
    "specs that are no mapping": lambda d: d | {"specs": []},
    "a spec that is no mapping": lambda d: d["specs"].update({key(d, "world"): []}),
    "a spec of no kind": lambda d: d["specs"][key(d, "world")].pop("spec"),
    "a spec of an unknown kind": lambda d: d["specs"][key(d, "world")].update(spec="wurld/v1"),
    "a kind that is a list": lambda d: d["specs"][key(d, "world")].update(spec=["world/v1"]),
    "a missing spec": lambda d: d["specs"].pop(key(d, "world")),
    "an empty spec": lambda d: d["specs"].update({key(d, "scenario") + "x": {}}),
    "a root that does not need the others": lambda d: d.update(root=key(d, "governor")),
    "a changed value": lambda d: d["specs"][key(d, "scenario")].update(horizon=11),
    "an unknown key": lambda d: d["specs"][key(d, "scenario")].update(horizn=11),
    "extends": lambda d: d["specs"][key(d, "scenario")].update(extends="other"),
    "a default that is written": lambda d: d["specs"][key(d, "scenario")].update(seed=0),
    "a value in another spelling": lambda d: d["specs"][key(d, "scenario")].update(horizon="10"),
    "an expression as a number": lambda d: d["specs"][key(d, "governor")]["choose"].update(maximise=0),
    "a fixed point in another spelling": lambda d: d["specs"][key(d, "invariant")]["constants"]["D"].update(
        qfixed="1.50"
    ),
    "a double in another spelling": lambda d: d["specs"][key(d, "invariant")]["constants"].update(
        A={"$double": "0.50"}
    ),
    "a double that is none": lambda d: d["specs"][key(d, "invariant")]["constants"].update(A={"$double": "nan"}),
    "a double that is infinite": lambda d: d["specs"][key(d, "invariant")]["constants"].update(B=[{"$double": "inf"}]),
    "a double with company": lambda d: d["specs"][key(d, "invariant")]["constants"].update(
        B=[{"$double": "0.5", "a": 1}]
    ),
    "a double as a word": lambda d: d["specs"][key(d, "invariant")]["constants"].update(B=[{"$double": "half"}]),
    "a reference with arguments": lambda d: d["specs"][key(d, "scenario")].update(world={"use": key(d, "world")}),
    "a reference to another kind": lambda d: d["specs"][key(d, "scenario")].update(world=key(d, "agent")),
    "a reference by name": lambda d: d["specs"][key(d, "scenario")].update(world="line"),
    "a reference to itself": lambda d: d["specs"][key(d, "scenario")].update(world=d["root"]),
    "a key of another name": lambda d: rename(d, key(d, "world"), key(d, "world").replace("line", "lane")),
    "a key that is no key": lambda d: rename(d, key(d, "world"), "world"),
    "a deep value": lambda d: d["specs"][key(d, "scenario")].update(metadata={"annotations": nested(80)}),
    "a surrogate": lambda d: d["specs"][key(d, "scenario")].update(doc="\ud800"),
    "a huge number": lambda d: d["specs"][key(d, "scenario")].update(seed=2**60),
}


def nested(depth):
    value: dict = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
def test_anything_else_is_refused(document, tamper):
    changed = copy.deepcopy(document)
    result = tamper(changed)
    replaced = isinstance(result, list) or (isinstance(result, dict) and "specs" in result)
    assert {found.code for found in findings_of(bundle_from_document, result if replaced else changed)} == {
        "E_SPEC_RESOLVED_FORM"
    }


def test_a_bundle_has_a_bounded_number_of_specs(document, monkeypatch):
    monkeypatch.setattr("specledger.load.from_document.MAX_SPECS", 5)
    with pytest.raises(Rejected, match="more than 5 specs"):
        bundle_from_document(document)
