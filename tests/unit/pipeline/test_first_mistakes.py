"""Mistakes of people who write their first world: each finding names the place and what to write instead."""

import re
from pathlib import Path

import pytest

from specledger.pipeline.authoring import write_new
from specledger.pipeline.checking import check
from specledger.pipeline.project import write_project

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
    "True of Python": (WHEN, "open == True", 9, "`true`"),
    "AND in capitals": (WHEN, "open AND level > 0", 9, "`&&`"),
    "a number with separators": (WHEN, "level < 1_000", 9, "`1000`"),
    "an integer division": (WHEN, "level // 2 > 1", 9, "`a / b`"),
    "a number in quotes": (WHEN, "level == '3'", 9, "write `3`"),
    "a number joined to a text": (WHEN, "\"'x' + level == 'x1'\"", 9, "for the number"),
    "no name": ("name: mine\n", "", 1, "`name: mine`"),
    "a function of a library": (WHEN, "Math.abs(level) < 3", 9, "`math.abs(level)`"),
    "a list comprehension": (WHEN, '"[i for i in items].size() > 0"', 9, "`list.filter(x, condition)`"),
    "a method that looks into a list": (WHEN, "items.contains(level)", 9, "`level in items`"),
    "a whole number as a double": (EFFECT, "[{set: level, to: level - 1.0}]", 10, "write `1`"),
    "an effect as an assignment": (EFFECT, "[level = level + by]", 10, "`{set: ..., to: ...}`"),
    "an effect as a mapping of a field": (EFFECT, "[{level: level + by}]", 10, "`{set: ..., to: ...}`"),
    "a dollar before a name": (WHEN, "$level > 1", 9, "`${name}`"),
    "a curly quote": (WHEN, "open == \u2018a\u2019", 9, "straight quote"),
    "a colon without a space": ("name: mine", "name:mine", 3, "`name: mine`"),
    "a type called dict": ("open: bool", "open: dict", 4, "type: object"),
    "a value for a type": ("level: int", "level: 0", 4, "`start`"),
    "a constant that is an expression": ("LIMIT: 5", "LIMIT: 5 + 5", 9, "`LIMIT` is the text"),
    "the next state behind a field": (WHEN, "level.next < LIMIT", 9, "`next.level`"),
    "an int for a condition": (WHEN, "level", 9, "`level != 0`"),
    "the negation of an int": (WHEN, '"!level"', 9, "`n == 0`"),
    "an expression in quotes": (WHEN, "\"'level < LIMIT'\"", 9, "without them it is the expression"),
    "a choice without an end": (WHEN, '"open ? true"', 9, "`condition ? a : b`"),
    "between": (WHEN, "level between 1 and 3", 9, "`a <= x && x <= b`"),
    "a list in round brackets": (WHEN, "level in (1, 2)", 9, "a list is `[a, b]`"),
    "a range with dots": (WHEN, "level in 1..3", 9, "`1 <= n && n <= 3`"),
    "a text of Python with values": (WHEN, "f'{level}' == 'a'", 9, "joined by `+`"),
    "a field that is random": (EFFECT, "[{set: level, to: random(3)}]", 10, "`draw`"),
    "kind for spec": ("spec: world/v1", "kind: world", 1, "`spec: world/v1`"),
    "a function that bounds": (WHEN, '"clamp(level, 0, 3) < LIMIT"', 9, "`math.greatest(low, math.least(high, n))`"),
    "a bound called min": ("level: int", "level: {type: integer, min: 0}", 4, "`minimum`"),
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


# a first spec of a kind: what it says, what a beginner writes instead, and the mend
OTHERS = {
    "an option beside `use`": ("scenario", "with: {every: 20}", "every: 20", "`with`"),
    "a misspelt parameter": ("scenario", "{every: 20}", "{evry: 20}", "`every`"),
    "proposals under another key": ("agent", "candidates:", "actions:", "`candidates`"),
    "a score under another key": ("agent", "score:", "reward:", "`score`"),
    "the least of a score": ("governor", "{maximise", "{minimise", "`maximise: -(...)`"),
    "a gate that allows": ("governor", "deny:", "allow:", "`require`"),
    "another word for require": ("invariant", "require:", "assert:", "`require`"),
    "never as a key": ("invariant", "require:", "never:", "with the opposite"),
    "eventually": ("invariant", "n >= previous.n", "eventually(n > 3)", "`within`"),
    "a value of the shell": ("scenario", "horizon: 30", "horizon: $STEPS", "`${STEPS}`"),
    "a value of a template": ("scenario", "horizon: 30", "horizon: '{{ steps }}'", "`${steps}`"),
    "a name with an ending": ("scenario", "agent: greedy", "agent: greedy.yaml", "without an ending: `greedy`"),
    "a number as text": ("scenario", "horizon: 30", 'horizon: "30"', "30 without quotes"),
    "one name for a list": ("scenario", "[no-hazard-entered, no-bump]", "no-bump", "`[a, b]`"),
    "an argument beside the operation": ("agent", 'for_each: {by: "[1, 2, 3]"}', "by: 1", "belongs in `for_each`"),
    "a list that is no expression": ("agent", '"[1, 2, 3]"', "[1, 2, 3]", "quote the expression"),
    "American spelling": ("governor", "maximise", "maximize", "`maximise`"),
    "a hyphen in the reason of a gate": ("governor", "beyond_the_limit", "beyond-the-limit", "`beyond_the_limit`"),
    "a gate without a reason": ("governor", "reason: beyond_the_limit, ", "", "`spec explain governor.gates.reason`"),
    "a reason of several words": ("governor", "beyond_the_limit", "beyond the limit", "`beyond_the_limit`"),
    "a chain of comparisons": ("invariant", "n >= previous.n", "0 <= n <= 3", "`0 <= n && n <= 3`"),
    "always before a condition": ("invariant", "n >= previous.n", "always n >= 0", "leave the word out"),
    "an implication": ("invariant", "n >= previous.n", '"n > 0 => n > 1"', "`!a || b`"),
    "a symbol that is none": ("universe", "self == 'h'", "self == 'H'", "'h'"),
    "a symbol as a number": ("universe", '"h", "t"]', "1, 2]", 'quote it: "1"'),
    "a symbol of no alphabet": ("law", "count('c')", "count('x')", "its symbols are"),
    "an observable that is none": ("law", "count('c')", "cuont('c')", "`count`"),
    "one sign of equality in a claim": ("law", 'op: "=="', 'op: "="', "`==`"),
    "a part that is none": ("template", "{part: f}", "{part: g}", "bound_value, f"),
    "a fact that is none": ("prompt", "{{symbols}}", "{{symbolz}}", "`symbols`"),
    "a brace too few": ("prompt", "{{symbols}}", "{{symbols}", "`{{fact}}`"),
    "one seed for a list": ("suite", "[11, 12]", "11", "`[a, b]`"),
    "a misspelt figure": ("suite", "require: bumps.count", "require: bump.count", "`bumps`"),
    "a gate that is none": ("suite", "r.gate == 'wall'", "r.gate == 'wal'", "`wall`"),
    "a path into a list by a wrong key": ("suite", "governor.gates.wall", "governor.gate.wall", "`gates`"),
    "a status in small letters": ("law", "PROVED} ", "proved} ", "`PROVED`"),
    "a neighbour beyond the radius": ("universe", "left == 't'", "left2 == 't'", "`radius: 2`"),
    "a size for a range": ("universe", "{min: 3, max: 60}", "60", "{min: ..., max: ...}"),
    "the plural of a weight": ("ranking", "weight: 1", "weights: 1", "`weight`"),
    "a key of the request": ("discovery", "seed: 1", "temperature: 0.7", "belongs in `request`"),
    "a type of another language": ("drift", "type: int,", "type: integer,", "`int`"),
    "a list of values to set": (
        "drift",
        '"math.greatest(0, n - by)"',
        "[0, 1, 2]",
        'quote the expression: "[0, 1, 2]"',
    ),
    "slots in braces": (
        "vocabulary",
        "cf:<counterfactual>",
        "{counterfactual}",
        "<counterfactual> THEN CHOICE <choice>",
    ),
    "null for none": ("probe", "token: none", "token: null", "`none`"),
    "a word for the negation": ("probe", '"!taken"', "not taken", "`!`"),
    "a check without its key": ("profile", "{check: invariant/no-hazard-entered}", "a-check", "{check: ...}"),
    "a bool compared with a number": ("suite", "rate: success", "rate: success == 1", "stands alone"),
    "a figure compared with a number": (
        "suite",
        "require: bumps.count == 0",
        "require: bumps == 0",
        "`.count`",
    ),
    "a step for a condition": ("drift", "at: t > 0 && t % EVERY == 0", "at: 5", "`t % 5 == 0`"),
    "steps for a condition": ("drift", "at: t > 0 && t % EVERY == 0", 'at: "[5, 10]"', "`t in [5, 10]`"),
    "another word for a status": ("profile", "status: shown", "status: passed", "`shown`"),
    "a day in another order": ("profile", '"2027-12-31"', "31.12.2027", '"2027-12-31"'),
    "the user as a source": ("policy", "- request", "- user", "`request`"),
    "a type of Python for a value": ("policy", "as: number", "as: float", "`number`"),
    "another word for the user": ("format", "speaker: user", "speaker: human", "`user`"),
    "an operator of a claim": ("template", '"<="', '"=<"', "operators: "),
}


@pytest.mark.parametrize(("kind", "right", "wrong", "hint"), OTHERS.values(), ids=OTHERS)
def test_a_first_mistake_in_another_kind_is_found_with_its_mend(tmp_path, monkeypatch, kind, right, wrong, hint):
    monkeypatch.chdir(tmp_path)
    path = write_new(kind)
    text = path.read_text(encoding="utf-8")
    assert right in text
    path.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    _, found = check([str(path)])
    line = text[: text.index(right)].count("\n") + 1
    assert [one.span.start.line for one in found if one.span and hint in (one.hint or "")][:1] == [line], found


# a first project: the file with the mistake, what it says, what a beginner writes instead, and the mend
IN_A_PROJECT = {
    "a truth value for a score": (
        "agent/filler",
        "\"action.op == 'fill' ? action.by : 0\"",
        "action.op == 'fill'",
        "`action.op == 'fill' ? 1 : 0`",
    ),
    "an action for its operation": ("agent/filler", "action.op == 'fill'", "action == 'fill'", "`.op`"),
    "a range of two ends": ("agent/filler", '"[1, 2, 4]"', '"range(1, 4)"', "`range(3).map(i, i + 1)`"),
    "a path without an ending": ("scenario/first", "world: tank", "world: world/tank", "`tank`"),
    "an action that is none": ("agent/filler", "action.op == 'fill'", "action.op == 'fil'", "'fill'"),
    "none of several actions": ("governor/careful", "next.level > LIMIT", "\"action.op in ['wait', 'fil']\"", "'fill'"),
    "an action that is none in a memory": (
        "invariant/no-overflow",
        "require: level <= LIMIT",
        "remember: [{id: a, when: action.op == 'fil', effect: {set: k, to: k + 1}}]\n"
        "memory: {fields: {k: {type: int, start: '0'}}}\nrequire: k <= LIMIT",
        "'fill'",
    ),
    "what is observed with a prefix": ("agent/filler", "action.by : 0", "observation.level : 0", "write `level`"),
    "the state after a step in an invariant": (
        "invariant/no-overflow",
        "level <= LIMIT",
        "next.level <= 9",
        "write `level`",
    ),
    "another word for next": ("governor/careful", "next.level > LIMIT", "after.level > LIMIT", "`next`"),
    "an argument without its action": ("governor/careful", "next.level > LIMIT", "level + by > LIMIT", "`action.by`"),
    "a list for an argument": ("world/tank", "{enum: [1, 2, 4]}", "[1, 2, 4]", "{enum: [1, 2, 4]}"),
    "a list of what is observed": ("world/tank", "observe: {level: level}", "observe: [level]", "{key: value}"),
    "a start value of no field": ("world/tank", "level: 2, t: 0}", "level: 2, t: 0, x: 1}", "has level, t"),
    "a misspelt start value": ("scenario/first", "seed: 1", "start: {levl: 3}", "'level'"),
    "another word for the horizon": ("scenario/first", "horizon: 12", "steps: 12", "`horizon`"),
    "probes without a kernel": (
        "scenario/first",
        "seed: 1",
        "probes: [p5-causal]\nseed: 1",
        "write in the governor `admission: {",
    ),
    "several seeds": ("scenario/first", "seed: 1", "seed: [1, 2]", "`matrix`"),
    "an axis that is no parameter": (
        "scenario/first",
        "seed: 1",
        "matrix: {seed: [1, 2]}",
        "params: {seed: {type: ...}}",
    ),
    "a range that never moves": (
        "scenario/first",
        "seed: 1",
        "params: {s: {type: int}}\nmatrix: {s: {from: 1, to: 5, step: 0}}\nseed: ${s}",
        "{from: 1, to: 5, step: 1}",
    ),
    "a path from the wrong folder": (
        "scenario/first",
        "[no-overflow]",
        "[specs/invariant/no-overflow.yaml]",
        "`no-overflow`",
    ),
    "agents by their names alone": (
        "scenario/first",
        "agent: filler",
        "agents: {a: filler}",
        "{agent: ..., governor: ...}",
    ),
    "a governor as an agent": ("scenario/first", "agent: filler", "agent: lexicographic", "of the kind governor"),
}


@pytest.mark.medium
@pytest.mark.parametrize(("file", "right", "wrong", "hint"), IN_A_PROJECT.values(), ids=IN_A_PROJECT)
def test_a_first_mistake_in_a_project_is_found_with_its_mend(tmp_path, monkeypatch, file, right, wrong, hint):
    write_project(tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    path = Path("specs", f"{file}.yaml")
    text = path.read_text(encoding="utf-8")
    assert right in text
    path.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    _, found = check(["specs/scenario/first.yaml"])
    assert any(hint in f"{one.message} {one.hint}" and path.name in str(one.span) for one in found), found


@pytest.mark.medium
@pytest.mark.wing("kernel")
def test_hints_lead_from_a_project_to_one_whose_reasons_are_tested(tmp_path, monkeypatch, spec):
    write_project(tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    world, careful, filler = (
        Path("specs", file) for file in ("world/tank.yaml", "governor/careful.yaml", "agent/filler.yaml")
    )
    scenario = Path("specs/scenario/first.yaml")
    scenario.write_text(scenario.read_text() + "probes: [p5-causal]\n")

    def hint():
        _, (found,) = check([str(scenario)])
        return re.findall("`([^`]*)`", str(found.hint))

    careful.write_text(f"{careful.read_text()}{hint()[0].replace('NAME', 'axion-claims')}\n")
    variables, alternatives, predicts, narration = hint()
    world.write_text(
        f"{world.read_text()}{variables}\n{alternatives.replace('...', '0, 5, 9')}\n".replace(
            "{level: level}", "{level: level, t: t}"
        )
    )
    filler.write_text(f"{filler.read_text()}{predicts}\n{narration}\n")
    assert check([str(scenario)])[1] == ()
    assert "p5-causal" in spec("run", "first").out


# the file with the mistake, what it says, what a beginner writes instead, where it is noticed, and the mend
NOTICED_ELSEWHERE = {
    "an input that nobody supplies": (
        "world/tank",
        "observe:",
        "inputs: {price: int}\nobserve:",
        "careful.yaml",
        "write `supply: {price: ...}`",
    ),
    "no start value": ("world/tank", "level: 2, t: 0}", "level: 2}", "first.yaml:5:", "write `start: {t: ...}`"),
}


@pytest.mark.medium
@pytest.mark.parametrize(("file", "right", "wrong", "place", "hint"), NOTICED_ELSEWHERE.values(), ids=NOTICED_ELSEWHERE)
def test_a_first_mistake_that_is_noticed_elsewhere_has_its_mend(tmp_path, monkeypatch, file, right, wrong, place, hint):
    write_project(tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    path = Path("specs", f"{file}.yaml")
    text = path.read_text(encoding="utf-8")
    assert right in text
    path.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    suite = "spec: suite/v1\nname: s\nruns: {a: {scenarios: [first], set: {episodes: 1}}}\n"
    suite += "figures: {f: {rate: success}}\nchecks: [{id: c, require: f.count > 0, opportunities: f.of}]\n"
    Path("specs/suite").mkdir()
    Path("specs/suite/s.yaml").write_text(suite, encoding="utf-8")
    _, found = check(["specs/scenario/first.yaml", "specs/suite/s.yaml"])
    assert found
    assert all(place in str(one.span) and hint in str(one.hint) for one in found), found


def test_a_law_says_what_its_form_needs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_new("law")
    text = path.read_text(encoding="utf-8").replace("template: invariant", "template: monotone")
    path.write_text(text, encoding="utf-8")
    _, found = check([str(path)])
    assert ("direction", "`spec explain law.direction` says what may stand there") in [
        (one.expected, one.hint) for one in found
    ]
