"""Differences from a pin in full, pins of evidence, the spec of a pin, and the first question to a model."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.canonical import canonical_bytes, pretty
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.kinds import KINDS
from specledger.kinds.running import Finished
from specledger.pipeline import asked_model, checking, golden
from specledger.pipeline.golden import Pin, difference, pin_evidence, pin_matches, pinned_spec
from tests.unit.pipeline.test_pins import LINES, PIN, TREE, receipt

SAME, OTHER = pretty(TREE).encode(), pretty({"documents": {"world/w": "z", "agent/a": "b", "law/l": "c"}}).encode()
DIGESTS = "only digests differ: the specs say something else, but the run does the same"
# The accepted tree and receipts, and what is said.
DIFFERENCES: dict[str, tuple[bytes, tuple[bytes, ...], str]] = {
    "the tree alone": (SAME, LINES, "the receipts are the same, the tree of digests is not"),
    "two specs": (
        OTHER,
        LINES,
        "changed specs: law/l, world/w; the receipts are the same, the tree of digests is not",
    ),
    "a field": (
        SAME,
        (LINES[0], receipt(1, x=3)),
        "episode 2, step 1: receipt 1 differs at body.x: recorded 3, replayed 2",
    ),
    "a field of the first that differs": (
        SAME,
        (receipt(0, x=7), receipt(1, x=3)),
        "episode 2, step 0: receipt 0 differs at body.x: recorded 7, replayed 1",
    ),
    "digests alone": (
        OTHER,
        (LINES[0], receipt(1, x=2).replace(b'"previous":"0', b'"previous":"f')),
        f"changed specs: law/l, world/w; {DIGESTS}",
    ),
}


@pytest.mark.parametrize(("tree", "accepted", "said"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_a_difference_from_a_pin_in_full(tree, accepted, said):
    assert difference(PIN, tree, accepted) == said


def test_a_pin_is_another_one_where_its_tree_or_its_receipts_are(tmp_path):
    PIN.write(tmp_path)
    for changed in (Pin("n", {**TREE, "x": 1}, LINES), Pin("n", TREE, LINES[:1])):
        assert pin_matches(changed, tmp_path) is not None
    assert pin_matches(Pin("m", TREE, LINES), tmp_path) == golden.NOT_PINNED


def test_the_pin_of_written_evidence(tmp_path):
    specs = {"root": "law/a@0123456789abcdef", "specs": {"law/a@0123456789abcdef": {"x": 1}}}
    (tmp_path / "specs.json").write_bytes(canonical_bytes(specs) + b"\n")
    (tmp_path / "receipts.jsonl").write_bytes(b"".join(line + b"\n" for line in LINES))
    manifest = {"specs": "s", "receipts": {"count": 2}, "result": {"verdict": "PASS"}, "run": "r"}
    made = pin_evidence(Finished("a", "law", tmp_path, manifest))
    assert (made.name, made.receipts) == ("a", LINES)
    documents = made.tree.pop("documents")
    assert list(documents) == ["law/a"]
    assert made.tree == {"law": "a", "specs": "s", "receipts": {"count": 2}, "result": {"verdict": "PASS"}}


# What a pin records, and the kinds in which its spec is looked for.
RECORDED: dict[str, tuple[bytes | None, list[str]]] = {
    "its kind": (b'{"suite": "a"}', ["suite"]),
    "no kind": (b"{}", ["scenario", "suite", "law"]),
    "no mapping": (b"[]", ["scenario", "suite", "law"]),
    "no JSON": (b"{", ["scenario", "suite", "law"]),
    "no file": (None, ["scenario", "suite", "law"]),
}


@pytest.mark.parametrize(("data", "kinds"), RECORDED.values(), ids=RECORDED)
def test_the_spec_of_a_pin_is_looked_for_in_its_kind(tmp_path, monkeypatch, data, kinds):
    asked = []

    class Library:
        """Finds a law alone."""

        def __init__(self, *given):
            pass

        def find_target(self, name, kind):
            asked.append((name, kind))
            return [Path("a.yaml"), Path("b.yaml")] if kind == "law" else []

    monkeypatch.setattr(golden, "Library", Library)
    monkeypatch.setattr(golden, "KINDS", SimpleNamespace(runnable=lambda: ["scenario", "suite", "law"]))
    if data is not None:
        (tmp_path / "a.n=1.json").write_bytes(data)
    assert pinned_spec("a.n=1", tmp_path) == (Path("a.yaml") if "law" in kinds else None)
    assert asked == [("a", kind) for kind in kinds]


def refusal(code):
    return Rejected([Diagnostic(code, "no such thing")])


def refused(call, *args):
    with pytest.raises(Rejected) as caught:
        call(*args)
    return [(f.code, f.message, f.expected) for f in caught.value.diagnostics]


def test_a_spec_of_a_kind_that_cannot_be_run_is_refused_with_those_that_can():
    main = SimpleNamespace(kind="world", span=lambda *_: None)
    expected = " or ".join(f"{kind}/v1" for kind in KINDS.runnable())
    told = [("E_SPEC_WRONG_KIND", "specs of the kind world cannot be run", expected)]

    def read(target) -> Any:
        return (SimpleNamespace(main=main),)

    for target in ("a.yaml", "world/a"):
        assert refused(checking._load_run, target, read) == told


@pytest.mark.parametrize(("found_in", "kinds"), [("scenario", 1), ("suite", 2), (None, None)])
def test_a_name_is_that_of_the_first_runnable_kind_that_has_it(found_in, kinds):
    asked = []
    missing = refusal("E_REF_MISSING")

    def read(target, kind):
        asked.append(kind)
        if kind == found_in:
            return (kind,)
        raise missing

    if found_in is not None:
        assert checking._load_run("a", read) == (found_in,)
        assert asked == [kind for kind, row in KINDS.items() if row.runs][:kinds]
    else:
        assert [code for code, *_ in refused(checking._load_run, "a", read)] == ["E_REF_MISSING"]
        assert asked == [kind for kind, row in KINDS.items() if row.runs]


def test_another_mistake_of_a_name_ends_the_search():
    asked = []

    def read(target, kind):
        asked.append(kind)
        raise refusal("E_AGENT_CHECK")

    assert [code for code, *_ in refused(checking._load_run, "a", read)] == ["E_AGENT_CHECK"]
    assert len(asked) == 1


def plan_of(outside):
    start = {"x": 3}
    actor = SimpleNamespace(observe=lambda state: {"sees": state})
    made: Any = SimpleNamespace(name="s", outside=outside, start=lambda episode: start, actors=[actor])
    return made


class Asking:
    """Asks in words of known length."""

    def __init__(self, model, greeting):
        self.system = "system"

    def question(self, shown):
        return SimpleNamespace(text=f"{shown}", tools=[])

    def tokens(self, question):
        return 100


def test_the_first_question_to_a_model_and_its_size(monkeypatch):
    monkeypatch.setattr(asked_model, "compile_scenario", lambda bundle: bundle)
    monkeypatch.setattr(asked_model, "greeting", lambda plan: {})
    monkeypatch.setattr(asked_model, "Asking", Asking)
    monkeypatch.setattr(asked_model, "estimate_tokens", len)
    asks: Any = asked_model._asked
    assert asks(plan_of(None)) is None
    assert asks(plan_of(SimpleNamespace(model=None))) is None
    outside = SimpleNamespace(model=SimpleNamespace(name="m"), shown=lambda state: {"more": state["x"]})
    found = asks(plan_of(outside))
    question = "{'observation': {'sees': {'x': 3}}, 'more': 3}"
    assert found.document() == {
        "agent": "m",
        "scenario": "s",
        "system": "system",
        "question": question,
        "tools": "",
        "tokens": {"system": 6, "question": len(question), "all": 100, "functions": 94 - len(question)},
    }
