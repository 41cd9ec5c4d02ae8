"""The one-file verifier is what its modules come to, and is joined only where nothing changes its meaning."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specledger import __version__
from tools import shapes
from tools.verifier import build
from tools.verifier.basis import KNOWN_VERSION
from tools.verifier.shape_check import check_shapes

ROOT = Path(__file__).resolve().parents[3]


def test_the_one_file_is_what_its_modules_come_to():
    stale = "python -m tools.verifier.build"
    assert (ROOT / "tools" / "verify.py").read_text(encoding="utf-8") == build.joined(), stale


def test_the_shapes_are_those_of_the_schemas():
    stale = "python -m tools.shapes"
    assert (ROOT / "tools" / "verifier" / "shapes.py").read_text(encoding="utf-8") == shapes.text(), stale


def test_it_knows_this_version():
    assert __version__ == KNOWN_VERSION


def test_it_imports_nothing_but_the_standard_library():
    tree = ast.parse((ROOT / "tools" / "verify.py").read_text(encoding="utf-8"), feature_version=(3, 9))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    assert found <= sys.stdlib_module_names


def test_it_runs_alone(tmp_path):
    alone = tmp_path / "verify.py"
    alone.write_bytes((ROOT / "tools" / "verify.py").read_bytes())
    done = subprocess.run(
        [sys.executable, "-I", str(alone), str(tmp_path)], capture_output=True, cwd=tmp_path, check=False
    )
    assert (done.returncode, done.stderr) == (2, b"")


MODULES = {
    "main": '"""The whole."""\n\nimport sys\n\nfrom tools.verifier.one import first\n\n\ndef main():\n    return first()\n',
    "one": '"""A part."""\n\n\ndef first():\n    return 1\n',
}


def written(folder, **changes):
    for name, text in (MODULES | changes).items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def test_parts_come_before_what_needs_them(tmp_path):
    text = build.joined(written(tmp_path))
    names: dict[str, Any] = {}
    exec(compile(text, "joined", "exec"), names)
    assert names["main"]() == 1
    assert "tools.verifier.one" not in text
    assert text.index("# A part.") < text.index("def first") < text.index("def main")


REFUSED = {
    "a name twice": ({"one": MODULES["one"] + "\n\nmain = 1\n"}, "main is taken by one"),
    "a built-in": ({"one": MODULES["one"] + "\n\nsum = 1\n"}, "sum is taken by Python"),
    "an imported module": ({"one": MODULES["one"] + "\n\nsys = 1\n"}, "sys is taken by the standard library"),
    "another package": ({"one": '"""A part."""\n\nimport yaml\n'}, "only the standard library"),
    "the engine": ({"one": '"""A part."""\n\nfrom specledger.core import canonical\n'}, "only the standard library"),
    "another name for a name": ({"main": MODULES["main"].replace("import first", "import first as f")}, "keep their names"),
    "an import inside": ({"one": '"""A part."""\n\n\ndef first():\n    import os\n'}, "at the top"),
    "new syntax": ({"one": '"""A part."""\n\nmatch 1:\n    case 1:\n        pass\n'}, "one.py"),
    "no such module": ({"main": MODULES["main"].replace("verifier.one", "verifier.two")}, "no module two"),
    "a circle": ({"one": '"""A part."""\n\nfrom tools.verifier.main import main\n'}, "cycle"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_change_its_meaning_is_refused(tmp_path, name):
    changes, message = REFUSED[name]
    with pytest.raises((build.Unjoinable, ValueError), match=message):
        build.joined(written(tmp_path, **changes))


DRIFT: dict[str, Any] = {"spec": "drift/v1", "name": "a", "at": "true", "effects": [{"set": "x", "to": "1"}]}
SHAPES: dict[str, tuple[dict[str, Any], str | None]] = {
    "as it is": ({}, None),
    "another key": ({"more": 1}, "drift/a.more"),
    "a key of an effect": ({"effects": [{"set": "x", "to": "1", "too": "2"}]}, "drift/a.effects.0.too"),
    "no such effect": ({"effects": [{"move": "x"}]}, "drift/a.effects.0"),
    "a number for a text": ({"doc": 5}, "drift/a.doc"),
    "a list for a mapping": ({"draw": []}, "drift/a.draw"),
    "another kind": ({"spec": "drift/v2"}, "drift/a.spec"),
    "a key is missing": ({"at": None}, "drift/a.at"),
    "null where it may stand": ({"doc": None}, None),
    "a fixed point": ({"constants": {"A": {"qfixed": "1.5"}, "B": {"$double": "0.5"}, "C": [1, "a"]}}, None),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_shapes_of_specs(name):
    change, message = SHAPES[name]
    data = {key: one for key, one in (DRIFT | change).items() if one is not None or key == "doc"}
    if message is None:
        check_shapes({"drift/a": data})
    else:
        with pytest.raises(Exception, match=message):
            check_shapes({"drift/a": data})


def test_a_kind_that_there_is_not():
    with pytest.raises(Exception, match="no kind 'plan'"):
        check_shapes({"plan/a": DRIFT})
