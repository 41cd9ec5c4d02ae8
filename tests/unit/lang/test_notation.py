"""What agents outside write in other notations: read where one thing alone can be meant, and nothing otherwise."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.diagnostics import Diagnostics
from specledger.expr import BOOL, INT, STRING, ListType, MapType, RecordType, one_of
from specledger.kinds import load
from specledger.lang.notation import Notation, Taken, fold, name, spellings, texts_in, value
from specledger.worlds.check import check_world
from specledger.worlds.variables import Variables

KNOWN = {"coin", "gem", "lava-3-4", "ann", "self", "douser"}


@cache
def toy():
    """The notation of the shipped gridworld."""
    (bundle,) = load("toy-gridworld", kind="world")
    world = check_world(bundle.main, bundle, Diagnostics())
    assert world is not None
    return Variables(world).notation


MOVE = {"op": "move", "dir": "E"}
COIN = {"op": "pickup", "id": "coin"}
DOUSE = {"op": "use_tool", "id": "douser", "at": {"x": 3, "y": 4}}

READ = {
    "as it is": (MOVE, MOVE),
    "its label": ("move:E", MOVE),
    "a call": ("move(dir=E)", MOVE),
    "a call with a colon": ("move(dir: E)", MOVE),
    "a call by place": ("move(E)", MOVE),
    "quoted arguments": ('move(dir="E")', MOVE),
    "quoted names": ('move("dir": "E")', MOVE),
    "capitals": ("MOVE:E", MOVE),
    "a small letter": ("move:e", MOVE),
    "a space after the colon": ("move: E", MOVE),
    "a space alone": ("move E", MOVE),
    "a full stop": ("move:E.", MOVE),
    "back-ticks": ("`move:E`", MOVE),
    "quotes": ('"move:E"', MOVE),
    "typographic quotes": ("\u201cmove:E\u201d", MOVE),
    "bold": ("**move:E**", MOVE),
    "a bullet": ("- move:E", MOVE),
    "a number": ("1. move:E", MOVE),
    "everything at once": (' * "`MOVE( dir = E )`". ', MOVE),
    "JSON": ('{"op": "move", "dir": "E"}', MOVE),
    "a call with JSON": ('move({"dir": "E"})', MOVE),
    "a label as the operation": ({"op": "move:E"}, MOVE),
    "an operation in capitals": ({"op": "Move", "dir": "E"}, MOVE),
    "an argument in capitals": ({"op": "move", "Dir": "e."}, MOVE),
    "no arguments": ("WAIT.", {"op": "wait"}),
    "an empty call": ("wait()", {"op": "wait"}),
    "a thing": ("pickup:coin", COIN),
    "a thing and a stop": ("pickup:coin.", COIN),
    "a thing in capitals": ("Pickup COIN", COIN),
    "a thing that is not there": ("pickup:ghost", {"op": "pickup", "id": "ghost"}),
    "a thing with hyphens": ("pickup: lava-3-4", {"op": "pickup", "id": "lava-3-4"}),
    "a thing in a mapping, with a stop": ({"op": "PICKUP", "id": "coin."}, COIN),
    "a label of three parts": ("use_tool:douser@3,4", DOUSE),
    "an operation of two words": ("use tool: douser, 3, 4", DOUSE),
    "named, of which one is a record": ('use_tool(id=douser, at={"x": 3, "y": 4})', DOUSE),
    "named the other way round": ("use_tool(at=(3, 4), id=douser)", DOUSE),
    "whole numbers with a point": ({"op": "use_tool", "id": "douser", "at": {"x": 3.0, "y": 4.0}}, DOUSE),
    "numbers as texts": ({"op": "use_tool", "id": "douser", "at": {"x": "3", "y": "4.0"}}, DOUSE),
}

NOT_READ = {
    "nothing": "",
    "no operation": "fly:E",
    "no argument": "move",
    "an argument too many": "move:E,N",
    "another value": "move:up",
    "prose": "I would move to the east, because it is near.",
    "two of them": "move:E or move:N",
    "an unknown thing and a stop, either of which may belong to its name": "pickup:ghost.",
    "a name that is no argument": {"op": "move", "where": "E"},
    "an argument too many in a mapping": {"op": "move", "dir": "E", "far": 1},
    "half a cell": {"op": "use_tool", "id": "douser", "at": {"x": 3.5, "y": 4}},
    "a truth value for a number": {"op": "use_tool", "id": "douser", "at": {"x": True, "y": 4}},
    "a number for an operation": {"op": 3},
    "a list": ["move", "E"],
    "a text that is too long": "move:E" + " " * 400,
}


@pytest.mark.parametrize("case", READ)
def test_what_is_certain_is_read(case):
    written, meant = READ[case]
    assert toy().action(written, KNOWN) == meant
    assert toy().choice(written, KNOWN) == toy().label(meant)


@pytest.mark.parametrize("case", NOT_READ)
def test_what_is_not_certain_is_not_read(case):
    assert toy().action(NOT_READ[case], KNOWN) is None
    assert toy().choice(NOT_READ[case], KNOWN) is None


def labelled(labels, **taken):
    """Operations whose labels are given, or the operation followed by its arguments."""

    def label(action):
        args = [str(action[key]) for key in sorted(action) if key != "op"]
        return labels.get(action["op"], ":".join([action["op"], *args]))

    return Notation({op: Taken(RecordType("", args), allowed) for op, (args, allowed) in taken.items()}, label)


def test_two_things_that_differ_in_letters_are_told_apart_or_not_read():
    pick = labelled({}, pickup=({"id": STRING}, {}))
    assert pick.action("pickup:Coin", {"coin", "Coin"}) == {"op": "pickup", "id": "Coin"}
    assert pick.action("pickup:COIN", {"coin", "Coin"}) is None


def test_two_operations_that_differ_in_letters_are_told_apart_or_not_read():
    both = labelled({}, go=({}, {}), Go=({}, {}))
    assert (both.choice("go", ()), both.choice("Go", ()), both.choice("GO", ())) == ("go", "Go", None)


def test_a_label_that_several_actions_have_is_a_choice_and_no_action():
    steps = labelled({"move": "step"}, move=({"dir": one_of(["N", "E"])}, {"dir": ("N", "E")}))
    assert steps.choice("Step.", ()) == "step"
    assert steps.action("Step.", ()) is None


def test_a_label_in_other_words_is_read():
    takes = {"take": "seize the crown"}
    assert labelled(takes, take=({}, {})).action("- Seize the crown.", ()) == {"op": "take"}


def test_arguments_by_place_are_those_whose_label_has_that_order():
    pour = labelled({}, pour=({"to": INT, "by": INT}, {}))
    assert pour.label({"op": "pour", "to": 1, "by": 2}) == "pour:2:1"
    assert pour.action("pour(2, 1)", ()) == {"op": "pour", "to": 1, "by": 2}


SPELLED = (
    "{0}", "{0}.", " {0} ", "`{0}`", '"{0}"', "'{0}'", "- {0}", "* {0};", "2) {0}", "**{0}**", "{0}!", "\u2022 `{0}`."
)  # fmt: skip


@st.composite
def actions(draw):
    op = draw(st.sampled_from(["move", "wait", "noop", "pickup", "drop", "signal", "use_tool"]))
    thing = draw(st.sampled_from(sorted(KNOWN)))
    cell = {"x": draw(st.integers(0, 255)), "y": draw(st.integers(0, 255))}
    args = {
        "move": {"dir": draw(st.sampled_from("NESW"))},
        "pickup": {"id": thing},
        "drop": {"id": thing},
        "signal": {"to": thing},
        "use_tool": {"id": thing, "at": cell},
    }
    return {"op": op, **args.get(op, {})}


@given(actions(), st.sampled_from(SPELLED), st.sampled_from([str, str.upper, str.title]))
def test_every_spelling_of_an_action_is_that_action(action, frame, letters):
    written = frame.format(letters(toy().label(action)))
    assert toy().action(written, KNOWN) == action


@given(actions(), st.sampled_from(SPELLED))
def test_every_call_of_an_action_is_that_action(action, frame):
    args = ", ".join(
        f"{key}=({one['x']}, {one['y']})" if key == "at" else f"{key}={one}"
        for key, one in action.items()
        if key != "op"
    )
    assert toy().action(frame.format(f"{action['op']}({args})"), KNOWN) == action


@given(st.text(max_size=60), st.sampled_from(SPELLED))
def test_whatever_is_read_is_an_action_of_the_world(text, frame):
    read = toy().action(frame.format(text), KNOWN)
    assert read is None or toy().action(read, KNOWN) == read


VALUES = {
    "an int": (4, INT, 4),
    "a whole float": (4.0, INT, 4),
    "digits": ("4", INT, 4),
    "digits with a point": ("4.0", INT, 4),
    "a half": (4.5, INT, 4.5),
    "a truth value is no number": (True, INT, True),
    "a word for a truth value": ("True", BOOL, True),
    "a text stays": ("coin.", STRING, "coin."),
    "a number is no text": (4, STRING, 4),
    "a list": ([1.0, "2"], ListType(INT), [1, 2]),
    "a list as a text": ("[]", ListType(INT), []),
    "a record": ({"X": 1.0}, RecordType("", {"x": INT}), {"x": 1}),
    "a record with another key": ({"y": 1}, RecordType("", {"x": INT}), {"y": 1}),
    "texts in a record stay": ({"id": "a."}, RecordType("", {"id": STRING}), {"id": "a."}),
    "a map": ({"value": 1.0}, MapType(INT), {"value": 1}),
    "back-ticks": ("`[1]`", ListType(INT), [1]),
}


@pytest.mark.parametrize("case", VALUES)
def test_values_of_a_type(case):
    written, type_, meant = VALUES[case]
    read = value(written, type_)
    assert (read, type(read)) == (meant, type(meant))


def test_names_are_read_where_one_alone_is_meant():
    known = ["objects.at", "objects:at", "self.pos"]
    assert name("objects.at", known) == "objects.at"
    assert name("`Self.Pos`", known) == "self.pos"
    assert name("Objects At", known) is None
    assert name("elsewhere", known) is None


def test_texts_of_a_value_are_all_its_texts_and_none_of_its_keys():
    assert [*texts_in({"a": ["b", {"c": "d"}], "e": 1})] == ["b", "d"]


def test_spellings_end():
    assert spellings("- `x`.") == ["- `x`.", "`x`.", "`x`", "x"]
    assert spellings("...")[-1] == "."
    assert spellings("") == [""]
    assert fold("A-b  c_d:-1") == "a b c d -1"
