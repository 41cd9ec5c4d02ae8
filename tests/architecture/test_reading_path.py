"""The reading path of ARCHITECTURE.md is what `spec run hazard` calls, and is short."""

import json
import re

import pytest

MOST_LINES, MOST_LINES_OF_THE_LOOP = 26_000, 3_000

PROFILE = """
import json, sys

called, importing = set(), 0

def profile(frame, event, _):
    global importing
    code = frame.f_code
    name = frame.f_globals.get("__name__", "")
    if name.partition(".")[0] != "specledger" or event not in ("call", "return"):
        return
    if code.co_name == "<module>":  # what a module does while it is imported declares; it is no step of the run
        importing += 1 if event == "call" else -1
    elif event == "call" and not importing:
        called.add(name)

sys.setprofile(profile)
from specledger.__main__ import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
finally:
    sys.setprofile(None)
loaded = [name for name in sys.modules if name.partition(".")[0] == "specledger"]
print(json.dumps({"called": sorted(called), "loaded": loaded}), file=sys.stderr)
"""


def expanded(text):
    """The modules that a paragraph names; `a.{b, c}` is two of them."""
    for name in re.findall(r"`([a-z_.]+(?:\{[a-z_, ]+\})?)`", text):
        head, _, tail = name.partition("{")
        yield from (f"{head}{part}" for part in re.split(r",\s*", tail.rstrip("}")))


@pytest.fixture(scope="module")
def paragraphs(root):
    """The modules of each paragraph of the path."""
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Reading path")[2].partition("\n## ")[0]
    return [[*expanded(part)] for part in re.split(r"^\d+\. ", text, flags=re.MULTILINE)[1:]]


@pytest.fixture(scope="module")
def observed(root, run_python, tmp_path_factory):
    """The modules of a run: those in which a function was called, and those that were loaded."""
    out = tmp_path_factory.mktemp("run") / "out"
    done = run_python("-c", PROFILE, "run", "hazard", "--workers", "1", "--out", str(out), cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    modules = json.loads(done.stderr.splitlines()[-1])
    return {kind: {short(name) for name in names} for kind, names in modules.items()}


def short(module):
    return module.removeprefix("specledger.")


def lines_of(root, modules):
    engine = root / "engine/specledger"
    count = 0
    for module in modules:
        path = engine if module == "specledger" else engine.joinpath(*module.split("."))
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        count += len(file.read_text(encoding="utf-8").splitlines())
    return count


def test_no_module_is_called_that_the_path_lacks(observed, paragraphs):
    path = {module for paragraph in paragraphs for module in paragraph}
    assert len(observed["called"]) > 100
    assert observed["called"] - {"__main__"} - path == set()


def test_the_path_names_nothing_that_the_run_does_not_load(observed, paragraphs):
    path = [module for paragraph in paragraphs for module in paragraph]
    assert len(path) == len({*path})
    assert {*path} - observed["loaded"] - {"__main__"} == set()


def test_the_path_is_short_and_begins_with_the_loop(paragraphs, root):
    assert lines_of(root, [module for paragraph in paragraphs for module in paragraph]) <= MOST_LINES
    assert lines_of(root, paragraphs[0]) <= MOST_LINES_OF_THE_LOOP
    assert {"run.episode", "run.loop", "run.decision", "evidence.chain"} <= {*paragraphs[0]}
