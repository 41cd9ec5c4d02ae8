"""Flip one bit of every byte of every file of a small signed bundle: `python -m tests.conformance.tampered.sweep`."""

import argparse
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from specledger.evidence.seal import UNSIGNED
from specledger.verify.checks import Level
from tests.conformance.tampered.verifiers import by_engine, by_tool
from tools.conformance import PLACE, Laid


def engine(laid):
    """The engine, asked for the evidence itself and the signatures; what is flipped never gets as far as replay."""
    return by_engine(laid, replay=False, levels=frozenset({Level.SIGNED}))


VERIFIERS = {"engine": engine, "tool": by_tool}


def bundle(work, helped):
    """A signed run of two steps, with the digests and the guide for people or without, and its reader's trust."""
    place = shutil.copytree(PLACE / "bases" / "climb-signed", Path(work, "helped" if helped else "bare"))
    if helped:
        UNSIGNED.attach(place)
    return Laid(place, {"trust": PLACE / "trust-one.json"})


def sweep(laid, stride=1, first=0, bit=1):
    """How many flips were made, and by verifier what came of them: `accepted`, `refused` or `crashed`."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in VERIFIERS}
    flips = 0
    for path in sorted(path for path in laid.bundle.rglob("*") if path.is_file()):
        data = path.read_bytes()
        for at in range(first % len(data), len(data), stride):
            path.write_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
            flips += 1
            for name, verify in VERIFIERS.items():
                if (name, path.name) != ("tool", "VERIFY.md"):  # whose words it does not check
                    counts[name][came_of(verify, laid)] += 1
        path.write_bytes(data)
    return flips, counts


def came_of(verify, laid):
    try:
        return "accepted" if verify(laid).exit == 0 else "refused"
    except Exception:
        return "crashed"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stride", type=int, default=1, help="take every so manieth byte")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        for helped in (True, False):
            laid = bundle(work, helped)
            flips, counts = sweep(laid, asked.stride)
            print(f"{'with' if helped else 'without'} sha256sums and VERIFY.md: {flips} flips")
            for name, count in counts.items():
                print(f"  {name}: {count['accepted']} accepted, {count['refused']} refused, {count['crashed']} crashed")


if __name__ == "__main__":
    main()
