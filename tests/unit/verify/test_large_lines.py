"""How much memory a line of a stranger's evidence may cost in both verifiers, whatever it holds."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from specledger.core.volume import MAX_VOLUME
from specledger.kinds import load
from specledger.pipeline.executing import execute
from tests.toys import CLIMB, ROOT
from tools.tampering.forger import HELP, Forger, merkle

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")

MOST = 300_000_000
"""Bytes that a verifier may hold."""
PEAK = r"""
import re, runpy, sys
from pathlib import Path
what = sys.argv.pop(1)
try:
    if what == "spec":
        from specledger.__main__ import main
        main()
    else:
        runpy.run_path(what, run_name="__main__")
except SystemExit as done:
    print(done.code or 0, 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]))
"""
VERIFIERS = {
    "spec verify": ["spec", "verify", "{}", "--no-replay"],
    "tools/verify.py": [str(ROOT / "tools" / "verify.py"), "{}"],
}
BYTES = 8_380_000
VALUES = {  # a member, its volume, and the most of them that fit into a line
    "empty lists": ("[]", 3),
    "lists": ("[1000]", 3),
    "lists in lists": ("[" * 50 + "]" * 50, 101),
    "objects": ("{}", 5),
    "records": ('{"a":1000}', 6),
    "objects in objects": ('{"a":' * 50 + "1000" + "}" * 50, 251),
    "numbers": ("1000", 1),
    "texts": ('"ab"', 1),
    "long texts of characters beyond 65,535": ('"' + "a" * 4_000_000 + chr(0x1F600) + '"', 1),
}


def keys(count):
    """An object of many different keys."""
    return "{" + ",".join(f'"{number:06x}":1000' for number in range(count)) + "}"


def line_of(name, volume):
    """A value of about a volume, in as many bytes as a line has at most."""
    if name == "keys":
        return keys(min(volume // 2, BYTES // 14))
    text, units = VALUES[name]
    return "[" + ",".join([text] * max(1, min(volume // units, BYTES // (len(text.encode()) + 1)))) + "]"


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    folder = execute(load(CLIMB / "climb.yaml")[0], tmp_path_factory.mktemp("honest") / "run").place
    for name in HELP:
        (folder / name).unlink()
    return folder


def forge(folder, value):
    """Put a text of JSON in place of what the first step records, and seal the bundle again."""
    forger = Forger(folder)
    forger.first("step")["record"] = "@"
    forger.seal()
    lines = forger.lines
    number = next(number for number, line in enumerate(lines) if b'"record":"@"' in line)
    head, lines = b"0" * 64, list(lines)
    for at, line in enumerate(lines):
        chained = re.sub(rb',"prev":"[0-9a-f]{64}",', b',"prev":"%b",' % head, line)
        lines[at] = chained.replace(b'"@"', value.encode()) if at == number else chained
        head = hashlib.sha256(b"\0" + lines[at]).hexdigest().encode()
    forger.lines = lines
    forger.manifest["receipts"].update(head=head.decode(), root=merkle(lines))
    forger.relist()


def verify(verifier, folder):
    command = [sys.executable, "-c", PEAK, *(word.format(folder) for word in VERIFIERS[verifier])]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    told, _, end = done.stdout.rstrip().rpartition("\n")
    code, peak = map(int, end.split())
    return told, code, peak


@pytest.mark.slow
@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize("name", [*VALUES, "keys"])
def test_the_worst_lines_are_read_in_bounded_memory(tmp_path, honest, verifier, name):
    """As much as a line may hold: it is read, and nothing but the digest of the specs or a replay could refute it."""
    forger = Forger(copy(honest, tmp_path / "forged"))
    forge(forger.folder, line_of(name, MAX_VOLUME - 10_000))
    told, code, peak = verify(verifier, forger.folder)
    assert code in (0, 3)
    assert "volume" not in told
    assert peak < MOST


@pytest.mark.medium
@pytest.mark.parametrize("verifier", VERIFIERS)
def test_a_line_of_too_many_values_is_refused_unread(tmp_path, honest, verifier):
    folder = copy(honest, tmp_path / "forged")
    forge(folder, "[" + ",".join(["[]"] * 2_700_000) + "]")
    told, code, peak = verify(verifier, folder)
    assert code == 1
    assert "has a volume of" in told.replace(": a volume of", " has a volume of")
    assert peak < 150_000_000


@pytest.mark.medium
@pytest.mark.parametrize(("words", "code"), [([], 0), (["--memory", "100"], 3)])
def test_who_has_less_memory_is_told_how_much_it_takes(tmp_path, honest, words, code):
    """Nothing is refuted by that."""
    folder = copy(honest, tmp_path / "forged")
    forge(folder, line_of("lists", MAX_VOLUME - 10_000))
    command = [sys.executable, str(ROOT / "tools" / "verify.py"), str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    told = "[E_EVIDENCE_SIZE] it takes more than 100 megabytes of memory to check this; --memory allows more\n"
    assert (done.stdout == told) == (code == 3)


def copy(folder, place):
    subprocess.run(["cp", "-r", str(folder), str(place)], check=True)
    return place
