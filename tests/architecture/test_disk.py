"""What must survive a crash is written through `core.disk`, so that a simulated disk can take its place.

Nothing else opens a file for writing, moves or removes one, but the modules that write no evidence: their output is made
again by the same command, or is scratch of one process.
"""

import ast

import pytest

OWNER = "engine/specledger/core/disk.py"
NO_EVIDENCE = {
    "engine/specledger/api.py": "the folder above a place",
    "engine/specledger/cli/document_commands.py": "a folder of reports",
    "engine/specledger/cli/output.py": "reports",
    "engine/specledger/cli/repository.py": "an ignored file of a repository",
    "engine/specledger/evidence/keys.py": "a key, whole or absent",
    "engine/specledger/oracles/outside.py": "what an agent's process says at its end",
    "engine/specledger/oracles/service_client.py": "how many calls wait",
    "engine/specledger/pipeline/authoring.py": "a new spec",
    "engine/specledger/pipeline/editor_schemas.py": "schemas for editors",
    "engine/specledger/pipeline/formatting.py": "a spec in another form",
    "engine/specledger/pipeline/golden.py": "pins of receipts, compared with a run that is made again",
    "engine/specledger/pipeline/project.py": "a new project",
    "engine/specledger/pipeline/trying.py": "a spec for one try",
    "engine/specledger/verify/suite_runs.py": "a copy that is verified",
    "engine/specledger/wings/bridges/inspect/evaluation.py": "a log for one evaluation",
    "engine/specledger/wings/discovery/commands.py": "the folder above a journal, which SQLite writes",
    "engine/specledger/wings/guard/claude_code.py": "settings",
    "engine/specledger/wings/guard/server.py": "folders and the socket of a guard",
    "engine/specledger/wings/trajectories/commands.py": "an imported log",
}
_METHODS = frozenset(["write_text", "write_bytes", "rename", "unlink", "mkdir", "rmdir", "touch", "symlink_to"])
_FUNCTIONS = frozenset(
    f"{module}.{name}"
    for module, names in {
        "os": "rename replace renames remove unlink mkdir makedirs truncate ftruncate fsync fdatasync link symlink",
        "shutil": "rmtree move copytree copy copy2 copyfile",
    }.items()
    for name in names.split()
)
_WRITING_FLAGS = frozenset(["O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND", "O_TRUNC"])

OFFENDERS = {
    "open": "open('a', 'w')",
    "open by keyword": "open('a', mode='ab')",
    "a path's open": "path.open('r+b')",
    "a computed mode": "path.open(mode)",
    "text": "path.write_text('x')",
    "bytes": "folder.joinpath('a').write_bytes(b'x')",
    "a descriptor": "import os\nos.open(path, os.O_RDWR | os.O_APPEND)",
    "a move": "path.rename(to)",
    "a path's replace": "path.replace(to)",
    "the system's replace": "import os\nos.replace(a, b)",
    "a sync": "import os\nos.fsync(file)",
    "a removal": "path.unlink(missing_ok=True)",
    "a tree": "import shutil\nshutil.rmtree(folder)",
}
INNOCENT = {
    "reading": "path.open('rb')\nopen('a')\npath.open(encoding='utf-8')\npath.read_bytes()",
    "the interface": "disk.SYSTEM.rename(a, b)\ndisk.SYSTEM.open(path, os.O_RDWR)\nself.disk.SYSTEM.remove(path)",
    "a text": "text.replace('a', 'b')",
    "a struct": "replace(shard, sources={})",
    "a pool": "executor.open(worker)\nmodel.open(record)",
    "a descriptor that is read": "import os\nos.open(path, os.O_RDONLY)",
    "the null device": "import os\nos.open(os.devnull, os.O_WRONLY)",
    "a switch": "recorded.open(True)",
}


def writes(text):
    """Each (line, what) by which a module changes files in another way than through the interface."""
    found = []
    for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func)
        if "SYSTEM." in name or (call.args and ast.unparse(call.args[0]) == "os.devnull"):
            continue
        method = name.rpartition(".")[2]
        flags = {part.attr for part in ast.walk(call) if isinstance(part, ast.Attribute)} & _WRITING_FLAGS
        moved = (
            method == "replace" and isinstance(call.func, ast.Attribute) and len(call.args) == 1 and not call.keywords
        )
        if name in _FUNCTIONS or (method in _METHODS and "." in name) or flags or moved or _opens_to_write(call, name):
            found.append((call.lineno, name))
    return found


def _opens_to_write(call, name):
    """Whether it is `open` with a mode that is not one of reading."""
    if name == "open":
        modes = call.args[1:2]
    elif name.endswith(".open") and name != "os.open":
        modes = call.args[:1]
        if modes and not isinstance(modes[0], ast.Constant) and ast.unparse(modes[0]) != "mode":
            return False  # an argument of another `open`
    else:
        return False
    modes = modes + [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    texts = [mode for mode in modes if not isinstance(mode, ast.Constant) or isinstance(mode.value, str)]
    return any(not (isinstance(mode, ast.Constant) and mode.value in ("r", "rb", "rt")) for mode in texts)


def test_only_the_interface_and_what_writes_no_evidence_change_files(sources):
    found = {path: writes(text) for path, text in sources.items() if path != OWNER and path not in NO_EVIDENCE}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_each_exception_is_needed(sources):
    assert [path for path in NO_EVIDENCE if not writes(sources[path])] == []


@pytest.mark.parametrize("text", OFFENDERS.values(), ids=OFFENDERS)
def test_a_planted_offender_is_found(text):
    assert len(writes(text)) == 1


@pytest.mark.parametrize("text", INNOCENT.values(), ids=INNOCENT)
def test_an_innocent_is_left_alone(text):
    assert writes(text) == []
