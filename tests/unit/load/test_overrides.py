"""`--set path=value`: what a path leads to, and what is said when it leads nowhere."""

import pytest

from specledger.load.overrides import see_none_lost
from tests.toys import findings_of


def constants(bundle):
    return bundle.specs[bundle.main.refs["drift", 0]].model.constants


def governor(bundle):
    return bundle.specs[bundle.main.refs["governor",]].model


SET = {
    "a number": ("horizon=5", lambda b: b.main.model.horizon == 5),
    "a key that was not written": ("episodes=3", lambda b: b.main.model.episodes == 3),
    "an expression": ('until="x > 3 ? true : false"', lambda b: b.main.model.until == "x > 3 ? true : false"),
    "a plain expression": ("until=x == 3", lambda b: b.main.model.until == "x == 3"),
    "an empty list": ("drift=[]", lambda b: b.main.model.drift == []),
    "a mapping": ("map={drawing: ab}", lambda b: b.main.model.map.drawing == "ab"),
    "null": ("map=null", lambda b: b.main.model.map is None),
    "a reference": ("world=track", lambda b: b.specs[b.main.model.world].name == "track"),
    "a reference in a mapping": ("world={use: track}", lambda b: b.specs[b.main.model.world].name == "track"),
    "the name in a reference": ("drift.0.use=pull", lambda b: b.specs[b.main.model.drift[0]].name == "pull"),
    "an argument": ("drift.0.with.every=9", lambda b: constants(b) == {"EVERY": 9}),
    "an element by what it uses": ("drift.push.with.every=9", lambda b: constants(b) == {"EVERY": 9}),
    "inside a reference": ("governor.choose.maximise=x", lambda b: governor(b).choose.maximise == "x"),
    "inside a reference in a list": ("drift.push.at=t == 2", lambda b: b.specs[b.main.model.drift[0]].model.at == "t == 2"),
    "an element by its id": ("governor.gates.roof.deny=false", lambda b: [g.deny for g in governor(b).gates] == ["next.x < 0", "false"]),
    "an element by its index": ("governor.gates.0.deny=false", lambda b: governor(b).gates[0].deny == "false"),
    "null for an element": ("governor.gates.roof=null", lambda b: len(governor(b).gates) == 1),
    "null for an element by its index": ("governor.gates.0=null", lambda b: [g.id for g in governor(b).gates] == ["roof"]),
    "null for a reference in a list": ("drift.push=null", lambda b: b.main.model.drift == []),
    "through two references": (
        "governor.invariants.safe.require=x > 1",
        lambda b: b.specs[b.specs[b.main.model.governor].model.invariants[0]].model.require == "x > 1",
    ),
    "a new key of an element": ("governor.gates.roof.when=x > 1", lambda b: governor(b).gates[1].when == "x > 1"),
    "a quoted key": ('"horizon"=5', lambda b: b.main.model.horizon == 5),
    "a number in a member of a mapping": ("world.actions.go.effects.0.to=x - by", lambda b: "x - by" in str(b.document())),
}  # fmt: skip


@pytest.fixture
def basic(project):
    project.write_all()
    text = (project.folder / "specs/world/line.yaml").read_text()
    project.write("specs/world/track.yaml", text.replace("name: line", "name: track"))
    text = (project.folder / "specs/drift/push.yaml").read_text()
    project.write("specs/drift/pull.yaml", text.replace("name: push", "name: pull"))
    return project


@pytest.mark.parametrize(("setting", "holds"), SET.values(), ids=SET)
def test_a_change_takes_effect_and_shows_in_the_digest(basic, setting, holds):
    before = basic.one("basic")
    after = basic.one("basic", set=[setting])
    assert holds(after)
    assert (after.digest == before.digest) == (setting == "map=null")
    assert basic.one("basic").digest == before.digest


def test_changes_are_applied_in_order(basic):
    bundle = basic.one("basic", set=["horizon=5", "horizon=6", "world=track", "world.actions.go.when=x > 1"])
    world = bundle.specs[bundle.main.model.world]
    assert (bundle.main.model.horizon, world.name, world.model.actions["go"].when) == (6, "track", "x > 1")


def test_a_change_of_what_is_replaced_later_is_gone(basic):
    bundle = basic.one("basic", set=["drift.push.at=t == 2", "drift=[{use: push, with: {every: 3}}]"])
    assert bundle.digest == basic.one("basic").digest


@pytest.mark.parametrize("order", [["push", "pull"], ["pull", "push"]])
def test_a_change_stays_with_its_element_when_another_is_taken_away(basic, order):
    changes = [f"drift=[{', '.join(order)}]", "drift.pull.at=t == 2", "drift.push.at=t == 3", "drift.push=null"]
    bundle = basic.one("basic", set=changes)
    assert [bundle.specs[key].model.at for key in bundle.main.model.drift] == ["t == 2"]


def test_a_change_is_of_this_reference_only(basic):
    basic.edit("specs/scenario/basic.yaml", ("horizon", "invariants: [safe]\nhorizon"))
    bundle = basic.one("basic", set=["invariants.safe.severity=warn"])
    names = [(spec.name, spec.model.severity) for spec in bundle.specs.values() if spec.kind == "invariant"]
    assert sorted(names) == [("safe", "fatal"), ("safe", "warn")]


def test_keys_with_dots_are_quoted(basic):
    basic.write(
        "specs/world/track.yaml",
        """\
        spec: world/v1
        name: track
        state: {x: int, cells: field}
        actions: {go: {}}
        drawing: {cells: cells, legend: {".": {cell: 0}, "=": {cell: 1}}}
        """,
    )
    bundle = basic.one("world/track", set=['drawing.legend.".".cell=7', 'drawing.legend."=".cell=8'])
    legend = bundle.main.model.drawing.legend
    assert {glyph: legend[glyph].cell for glyph in legend} == {".": "7", "=": "8"}


# setting: (code, column), and words of the finding
WRONG = {
    "no value": ("horizon", "E_SET_SYNTAX", 1, "path=value"),
    "nothing": ("", "E_SET_SYNTAX", 1, "path=value"),
    "no path": ("=5", "E_SET_SYNTAX", 1, "path=value"),
    "an open path": ("a.=5", "E_SET_SYNTAX", 1, "path=value"),
    "an empty value": ("horizon= ", "E_SET_SYNTAX", 9, 'write ""'),
    "an unknown key": ("horizn=5", "E_SET_PATH", 1, "did you mean `horizon`?"),
    "an unknown key in a mapping": ("world.state.z=int", "E_SET_PATH", 13, "there is x"),
    "an unknown key on the way": ("governr.gates.roof.deny=false", "E_SET_PATH", 1, "did you mean `governor`?"),
    "an unknown key in a reference": ("governor.gatez=[]", "E_SET_PATH", 10, "did you mean `gates`?"),
    "an unknown element": ("governor.gates.rof.deny=false", "E_SET_PATH", 16, "did you mean `roof`?"),
    "an index beyond": ("governor.gates.2.deny=false", "E_SET_PATH", 16, "2 elements: floor, roof"),
    "inside a number": ("horizon.x=1", "E_SET_PATH", 9, "the number 10 None None set it as a whole: `horizon=...`"),
    "an element below one that was not written": ("start.x.0=1", "E_SET_PATH", 1, "as a whole: `start={x: [1]}`"),
    "a list for an expression": (
        "governor.gates.roof.deny=[1, 2]",
        "E_SPEC_TYPE",
        21,
        'quote the expression: "[1, 2]"',
    ),
    "a key below one that was not written": (
        "map.drawing=ab",
        "E_SET_PATH",
        1,
        "`map` is not set None None set it as a whole: `map={drawing: ab}`",
    ),
    "an unknown argument": ("drift.0.with.evry=1", "E_PARAM_UNKNOWN", 14, "did you mean `every`?"),
    "an argument of the wrong type": ("drift.0.with.every=x", "E_PARAM_TYPE", 20, "int"),
    "an unknown argument of the root": ("with.a=1", "E_PARAM_UNKNOWN", 6, "no parameter `a`"),
    "the matrix": ("matrix={a: [1]}", "E_SET_PATH", 1, "not part of the resolved spec"),
    "a block": ("map=drawing: a", "E_SET_VALUE", 5, "[...] or {...}"),
    "a parameter": ("until=${x}", "E_SET_VALUE", 7, "without"),
    "an ambiguous value": ("until=NO", "E_YAML_AMBIGUOUS", 7, "quote it"),
    "an unquoted choice": ("until=a ? b : c", "E_SET_VALUE", 7, "quote the text"),
    "an unquoted call in braces": ("start={x: f(a, b)}", "E_YAML_EXPRESSION", 11, "quote the expression"),
    "a duplicate key": ("map={drawing: a, drawing: b}", "E_YAML_DUPLICATE_KEY", 18, "line 1"),
    "null for a list": ("drift=null", "E_SPEC_TYPE", 7, "`--set path.ELEMENT=null` takes one element away"),
    "a value of the wrong type": ("horizon=x", "E_SPEC_TYPE", 9, "an integer"),
    "a value that is too small": ("horizon=0", "E_SPEC_VALUE", 9, "at least 1"),
    "a wrong key in a value": ("map={drawin: a}", "E_SPEC_UNKNOWN_KEY", 6, "did you mean `drawing`?"),
    "a missing reference": ("world=lime", "E_REF_MISSING", 7, "did you mean `line`?"),
    "control characters": ("until=\x1b[2J", "E_YAML_CONTROL", 7, "U+001B"),
}


@pytest.mark.parametrize(("setting", "code", "column", "words"), WRONG.values(), ids=WRONG)
def test_wrong_changes(basic, setting, code, column, words):
    found = basic.rejected("basic", set=[setting])[0]
    file = f"--set {setting.partition('=')[0].strip() or setting}"
    assert (found.code, str(found.span)) == (code, f"{file}:1:{column}")
    assert words in f"{found.message} {found.expected} {found.found} {found.hint}"


def test_all_wrong_changes_are_reported_with_the_mistakes_of_files(basic):
    basic.edit("specs/scenario/basic.yaml", ("horizon: 10", "horizon: 0"))
    found = basic.found("basic", set=["horizn=5", "world", "governor.gatez=[]"])
    assert [code for code, _ in found] == ["E_SET_PATH", "E_SET_PATH", "E_SET_SYNTAX", "E_SPEC_VALUE"]


# the settings that somebody typed, and what is said of the one that makes another come to nothing
TYPED = {
    "one field twice": (["horizon=5", "seed=1", "horizon=5"], "`horizon` is set twice"),
    "in another spelling": (["a . b=1", '"a".b=2'], '`"a".b` is set twice'),
    "what holds it afterwards": (
        ["drift.push.at=3", "drift=[]"],
        "`drift` replaces what `drift.push.at` sets before it",
    ),
    "an element that is taken away": (["drift.push.at=3", "drift.push=null"], "replaces what `drift.push.at` sets"),
    "what holds it before": (["drift=[push]", "drift.push.at=3"], None),
    "another field of the same": (["drift.push.at=3", "drift.push.when=x > 1"], None),
    "two elements, each the first in its turn": (["drift.0=null", "drift.0=null", "drift.0.at=3"], None),
    "a wrong one": (["horizon", "horizon"], None),
}


@pytest.mark.parametrize(("settings", "said"), TYPED.values(), ids=TYPED)
def test_a_change_that_comes_to_nothing_is_refused_where_it_is_typed(settings, said):
    if said is None:
        see_none_lost(settings)
        return
    (found,) = findings_of(see_none_lost, settings)
    assert found.code == "E_SET_TWICE"
    assert said in found.message


def test_changes_cannot_nest_without_end(basic):
    start = "metadata={annotations: {a: 1}}"
    allowed, refused = (f"metadata.annotations.a={'[' * depth}{']' * depth}" for depth in (46, 47))
    assert basic.one("world/line", set=[start, allowed]).main.name == "line"
    assert [code for code, _ in basic.found("world/line", set=[start, refused])] == ["E_YAML_DEPTH"]
