"""The engine mentions no shipped spec: what a spec says is said in the spec, and a command reads its default from data.

Documentation may give a shipped spec as an example; code and strings may not.
"""

import ast
import re

import pytest

SHORTEST = 6  # letters; shorter names are ordinary words


def shipped_names(root):
    """The names of shipped specs, by file and by `name:`, that are long enough to be no ordinary word.

    Templates are left out: their names are terms of logic, and one of them names a kind too.
    """
    names = set()
    for path in root.glob("specs/*/*.yaml"):
        if path.parent.name == "template":
            continue
        said = re.search(r"^name:\s*[\"']?([\w-]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        names |= {path.stem, said[1]} if said else {path.stem}
    assert names, "there are no shipped specs to look for"
    return {name.replace("_", "-").lower() for name in names if len(name) >= SHORTEST}


def words(text):
    """Each (line, word) of a module's code and strings; words keep their hyphens, an underscore is one."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""  # a docstring, or the documentation of an attribute
        for _, value in ast.iter_fields(node):
            for string in value if isinstance(value, list) else [value]:
                if isinstance(string, str):
                    line = getattr(node, "lineno", 0)
                    yield from ((line, word.replace("_", "-").lower()) for word in re.findall(r"[\w-]+", string))


def mentions(text, names):
    """Each (line, name) of a module that is one of the names."""
    return sorted({(line, word) for line, word in words(text) if word in names})


def test_the_engine_mentions_no_shipped_spec(root, sources):
    names = shipped_names(root)
    found = {path: mentions(text, names) for path, text in sources.items()}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_files_of_the_package_that_are_no_python_mention_none_either(root):
    names = shipped_names(root)
    others = [
        path
        for path in (root / "engine").rglob("*")
        if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
    ]
    assert {path.suffix for path in others} >= {".css", ".js"}
    found = {path.name: names & set(re.findall(r"[\w-]+", path.read_text(encoding="utf-8"))) for path in others}
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize(
    "text",
    [
        "x = 'hazard-world'",
        "x = f'a {y} hazard-world'",
        "x = 'specs/world/hazard-world.yaml'",
        "def hazard_world(): pass",
        "class Hazard_World: pass",
        "import hazard_world",
        "from m import x as hazard_world",
        "f(hazard_world=1)",
        "x.hazard_world",
        "match x:\n case {**hazard_world}: pass",
        "def f():\n global hazard_world",
    ],
)
def test_a_planted_name_is_found(text):
    assert {name for _, name in mentions(text, {"hazard-world"})} == {"hazard-world"}


@pytest.mark.parametrize(
    "text",
    [
        '"""Runs the hazard-world."""',
        "# hazard-world",
        'def f():\n """The hazard-world."""',
        'x: int\n"""hazard-world"""',
        "x = 'hazard-worlds'",
        "x = 'no-hazard-world'",
        "hazard = world",
    ],
)
def test_documentation_and_other_words_are_left_alone(text):
    assert mentions(text, {"hazard-world"}) == []
