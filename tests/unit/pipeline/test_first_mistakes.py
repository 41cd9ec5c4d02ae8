"""Mistakes of people who write their first world: each finding names the place and what to write instead."""

import pytest

from specledger.pipeline.checking import check

WORLD = """spec: world/v1
name: mine
constants: {LIMIT: 5}
state: {level: int, items: {type: array, items: int, maxItems: 8}, open: bool, at: cell}
start: {level: 0, items: "[]", open: "false", at: "{'x': 0, 'y': 0}"}
actions:
  fill:
    args: {by: int}
    when: level < LIMIT
    effects: [{set: level, to: level + by}]
"""
WHEN = "level < LIMIT"
EFFECT = "[{set: level, to: level + by}]"

MISTAKES = {
    "an effect that is no list": (EFFECT, "{set: level, to: level + by}", 10, "`[a, b]`"),
    "an increment": ("level + by", "level++", 10, "`n + 1`"),
    "an augmented assignment": ("level + by", "level += by", 10, "`n + 1`"),
    "a misspelt field to set": ("{set: level,", "{set: levl,", 10, "'level'"),
    "a misspelt key": ("effects:", "effect:", 10, "`effects`"),
    "a type called integer": ("level: int", "level: integer", 4, "'int'"),
    "a type called float": ("level: int", "level: float", 4, "'qfixed'"),
    "a type called str": ("level: int", "level: str", 4, "'string'"),
    "a type called list": ("{type: array, items: int, maxItems: 8}", "list", 4, "type: array"),
    "a state with a prefix": (WHEN, "state.level < LIMIT", 9, "write `level`"),
    "a state with self": (WHEN, "self.level < LIMIT", 9, "write `level`"),
    "an argument with a prefix": (WHEN, "args.by < LIMIT", 9, "write `by`"),
    "a text without quotes": (WHEN, "level == upwards", 9, "`'upwards'`"),
    "a comparison with a double": (WHEN, "level < 2.5", 9, "`double(level)`"),
    "an int as a condition": (WHEN, "open && level", 9, "`level != 0`"),
    "an assignment as a condition": (WHEN, "level = 3", 9, "`==`"),
    "an arrow that is a comparison": (WHEN, "level => 3", 9, "`>=`"),
    "a chain of comparisons": (WHEN, "0 < level < LIMIT", 9, "`0 < level && level < LIMIT`"),
    "a condition of Python": (WHEN, "level if open else 3", 9, "`condition ? a : b`"),
    "words for operators": (WHEN, "open and level > 0", 9, "`&&`"),
    "not in": (WHEN, "level not in items", 9, "`!(x in list)`"),
    "a length": (WHEN, "len(items) < LIMIT", 9, "`size(items)`"),
    "a size without brackets": (WHEN, "items.size < LIMIT", 9, "`size(items)`"),
    "a macro without a name": (WHEN, "items.all(level > 0)", 9, "`.all(x, ...)`"),
    "a lambda": (WHEN, '"items.all(i -> i > 0)"', 9, "`list.all(x, condition)`"),
    "a field of a cell": (WHEN, "at.z < LIMIT", 9, "`x`, `y`"),
    "a misspelt constant": (WHEN, "level < LIMT", 9, "`LIMIT`"),
    "a list that is not quoted": ('items: "[]"', "items: []", 5, "quote the expression"),
    "no for false": ('open: "false"', "open: no", 5, "write false"),
    "another version": ("world/v1", "world/v2", 1, "`world/v1`"),
    "a name in capitals": ("name: mine", "name: My World", 2, "`my-world`"),
}


@pytest.mark.parametrize(("right", "wrong", "line", "hint"), MISTAKES.values(), ids=MISTAKES)
def test_a_first_mistake_is_found_with_its_mend(tmp_path, right, wrong, line, hint):
    assert right in WORLD
    path = tmp_path / "mine.yaml"
    path.write_text(WORLD.replace(right, wrong, 1), encoding="utf-8")
    _, found = check([str(path)])
    assert hint in (found[0].hint or "")
    assert f":{line}:" in str(found[0].span)


def test_the_world_itself_has_no_mistake(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(WORLD, encoding="utf-8")
    assert check([str(path)])[1] == ()
