"""From a spec of the kind `model` to a model: nothing is opened, and no key looked for, before it is to be asked."""

import pytest

from specledger.compile.model import compile_model
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Rejected
from specledger.kinds import bundle_from_document, load
from specledger.oracles.service import KEYS
from specledger.pipeline.checking import check

BODIES = {
    "gemini": ("gemini: {temperature: 0.25}", True),
    "scripted": ('scripted: {answers: [{text: "[]"}]}', False),
    "enumerate": ("enumerate: {start: law, grammar: {law: [{template: invariant}]}}", False),
}


@pytest.fixture
def planned(tmp_path):
    def make(body):
        file = tmp_path / "made.yaml"
        file.write_text(f"spec: model/v1\nname: made\n{body}\n", encoding="utf-8")
        (bundle,) = load(file)
        again = bundle_from_document(bundle.document())
        assert compile_model(again, again.root).identity == compile_model(bundle, bundle.root).identity
        return compile_model(bundle, bundle.root)

    return make


@pytest.mark.parametrize("name", BODIES)
def test_each_body_is_planned_without_a_key(name, planned, monkeypatch):
    for variable in KEYS:
        monkeypatch.delenv(variable, raising=False)
    body, outside = BODIES[name]
    model = planned(body)
    assert model.outside == outside
    canonical_bytes(dict(model.identity))


def test_no_two_bodies_are_one_model(planned):
    seen = [canonical_bytes(dict(planned(body).identity)) for body, _ in BODIES.values()]
    seen += [canonical_bytes(dict(planned(body).identity)) for body in ("gemini: {}", "gemini: {json_mode: false}")]
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "gemini: {}\nscripted: {answers: [{text: x}]}",
        "gemini: null",
        "scripted: {}",
        "enumerate: {start: a, grammar: {a: ['{{b}}']}}",
    ],
)
def test_a_model_has_exactly_one_sound_body(body, planned):
    with pytest.raises(Rejected):
        planned(body)


@pytest.mark.medium
def test_the_shipped_models_are_in_order(pytestconfig):
    files = sorted(map(str, (pytestconfig.rootpath / "specs" / "model").glob("*.yaml")))
    checked, findings = check(files)
    assert (len(checked), findings) == (len(files), ())
    for file in files:
        (bundle,) = load(file)
        compile_model(bundle, bundle.root)
