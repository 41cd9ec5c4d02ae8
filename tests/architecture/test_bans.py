"""What could make two runs differ, or execute data, is used nowhere but in the module that owns it.

Ruff refuses the interfaces of `banned-api` as one types; here the same list is read with what ruff cannot say: the
builtins that execute text, and which of the banned names each owner may use.
"""

import ast
import tomllib
from pathlib import Path

import pytest

RUFF = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "ruff"
]
BANNED = frozenset(RUFF["lint"]["flake8-tidy-imports"]["banned-api"])
EXECUTING = frozenset(
    ["builtins.__import__", "builtins.compile", "builtins.eval", "builtins.exec", "importlib.import_module"]
)

OWNERS = {
    "engine/specledger/core/canonical.py": {"json.dumps"},
    "engine/specledger/core/digest.py": {"hashlib", "hmac"},
    "engine/specledger/core/disk.py": {"os.fsync"},
    "engine/specledger/oracles/retry_clock.py": {"time"},
    "engine/specledger/run/watchdog.py": {"time"},
    "engine/specledger/expr/generate/emitter.py": {"builtins.compile", "builtins.exec"},
    "engine/specledger/__init__.py": {"importlib.import_module"},  # its public names
    "engine/specledger/oracles/outside.py": {"importlib.import_module"},
    "engine/specledger/pipeline/authoring.py": {
        "importlib.import_module"
    },  # the modules of this package, for their codes
}

OFFENDERS = {
    "import": ("import random", "random"),
    "import of a part": ("import os.path, pickle", "pickle"),
    "import under another name": ("import hashlib as h", "hashlib"),
    "import from a module": ("from random import choice", "random"),
    "import of a function": ("from json import dumps as write", "json.dumps"),
    "late import": ("def f():\n    import time", "time"),
    "attribute": ("import json\njson.dumps({})", "json.dumps"),
    "attribute of another name": ("import uuid as u\nx = u.uuid4", "uuid.uuid4"),
    "method of an imported class": ("from datetime import datetime as d\nd.now()", "datetime.datetime.now"),
    "long attribute": ("import datetime\ndatetime.date.today()", "datetime.date.today"),
    "builtin": ("eval('1')", "builtins.eval"),
    "builtin as a value": ("run = exec", "builtins.exec"),
    "builtin by its module": ("import builtins\nbuiltins.compile('', '', 'exec')", "builtins.compile"),
    "import by a function": ("from importlib import import_module", "importlib.import_module"),
}

INNOCENT = {
    "reading JSON": "import json\njson.loads('1')",
    "a regular expression": "import re\nre.compile('')",
    "a method of that name": "def f(plan):\n    return plan.exec()",
    "a date from data": "from datetime import date\ndate(2024, 1, 1)",
    "a name of ours": "from specledger.compile import compile\ncompile()",
    "a field of that name": "class Kind:\n    compile: int",
    "a word in a text": "x = 'import random'",
}


def qualified(node, imported):
    """The dotted name that an expression stands for, with imported names written out, or None."""
    if isinstance(node, ast.Attribute):
        owner = qualified(node.value, imported)
        return owner and f"{owner}.{node.attr}"
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return imported.get(node.id, f"builtins.{node.id}")
    return None


def uses(text):
    """Each (line, dotted name) that a module imports or refers to."""
    tree = ast.parse(text)
    imported, found = {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.append((node.lineno, alias.name))
                top = alias.name.split(".")[0]
                imported[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found.append((node.lineno, name))
                imported[alias.asname or alias.name] = name
    names = ((node.lineno, qualified(node, imported)) for node in ast.walk(tree) if isinstance(node, ast.expr))
    return found + [(line, name) for line, name in names if name]


def offences(text, allowed=frozenset()):
    """Each (line, banned name) of a module that is not among the allowed names."""
    found = set()
    for line, name in uses(text):
        parts = name.split(".")
        prefixes = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
        found |= {(line, ban) for ban in prefixes & (BANNED | EXECUTING) - set(allowed)}
    return sorted(found)


def test_only_owners_use_what_is_banned(sources):
    found = {path: offences(text, OWNERS.get(path, ())) for path, text in sources.items()}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_an_owner_uses_all_that_it_owns(sources):
    used = {path: {ban for _, ban in offences(text)} for path, text in sources.items() if path in OWNERS}
    assert used == {path: OWNERS[path] for path in used}


def test_ruff_exempts_the_same_owners():
    exempt = {path for path, rules in RUFF["lint"]["per-file-ignores"].items() if "TID251" in rules and "*" not in path}
    assert exempt == {path for path, names in OWNERS.items() if names & BANNED}


@pytest.mark.parametrize(("text", "ban"), OFFENDERS.values(), ids=OFFENDERS)
def test_a_planted_offender_is_found(text, ban):
    assert ban in {name for _, name in offences(text)}
    assert offences(text, {ban}) == []


@pytest.mark.parametrize("text", INNOCENT.values(), ids=INNOCENT)
def test_an_innocent_is_left_alone(text):
    assert offences(text) == []


def test_ruff_finds_every_banned_name(tmp_path, root, run_python):
    lines = [f"import {name.split('.')[0]}; print({name})" for name in sorted(BANNED)]
    lines += ["eval(input())", "exec(input())"]
    planted = tmp_path / "planted.py"
    planted.write_text("\n".join(lines), encoding="utf-8")
    done = run_python(
        *("-m", "ruff", "check", "--no-cache", "--select=TID251,S102,S307", "--output-format=concise"),
        *("--config", str(root / "pyproject.toml"), str(planted)),
        cwd=tmp_path,
    )
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if "planted.py:" in line}
    assert found == set(range(1, len(lines) + 1)), done.stdout + done.stderr
