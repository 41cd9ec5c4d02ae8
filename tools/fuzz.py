"""Gives changed specs, bundles, logs and messages to what reads them, and sees that it holds what it promises.

    python -m tools.fuzz [--seconds 60 | --inputs 1000] [--seed 0] [--target NAME] [--out fuzz-failures]
    python -m tools.fuzz --again FILE      # one failing input, by the folder that it lies in

No input may give a traceback, status 70 or another status than those of the page of commands, a finding without a code
and a message, more than 1.5 GB of memory, or more than 20 seconds of processor time; see `tools.fuzz_targets` for what
holds of each target beside that. A failing input is minimised, and written to a folder named after its target.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tools.fuzz_mutations import changed, smaller
from tools.fuzz_target import Target
from tools.fuzz_targets import TARGETS

ROOT: Final = Path(__file__).parents[1]
CORPUS: Final = ROOT / "fixtures/fuzz"
MOST_MEMORY: Final = 1_500_000_000
MOST_SECONDS: Final = 20
_MOST_FAILURES: Final = 20
_MOST_TRIES: Final = 150


class TooLongError(Exception):
    """An input took more processor time than it may."""


def failure(target: Target, data: bytes) -> str | None:
    """Why an input fails; None if all holds."""

    def stop(*_: Any) -> None:
        raise TooLongError(f"more than {MOST_SECONDS} seconds of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        target.run(data)
    except BaseException:
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return None


def kind_of(why: str) -> str:
    """What failures of one cause have in common: where it was raised, and what."""
    _, _, last = why.rpartition("\n  File ")
    where, *rest = last.splitlines()
    raised = next((line for line in rest if line[:1].strip()), "")
    return f"{where.split(', in ')[0]} {raised.split(':')[0]}"


def minimised(target: Target, data: bytes, kind: str) -> bytes:
    """A smaller input that fails for the same cause."""
    tries = 0
    progress = True
    while progress and tries < _MOST_TRIES:
        progress = False
        for candidate in smaller(data):
            tries += 1
            why = failure(target, candidate)
            if why is not None and kind_of(why) == kind:
                data, progress = candidate, True
                break
            if tries >= _MOST_TRIES:
                break
    return data


def fuzz(
    wanted: list[str], seed: int, more: Callable[[int], bool], out: Path, say: Callable[[str], object] = print
) -> list[Path]:
    """Try inputs as long as `more` of their number says so; the files of those that fail."""
    failing: dict[str, Path] = {}
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        targets = [TARGETS[name](Path(folder) / name) for name in wanted]
        seeds = {target.name: [*target.seeds(), *corpus(target.name)] for target in targets}
        for number in itertools.count():
            if not more(number) or len(failing) >= _MOST_FAILURES:
                break
            chance = random.Random(f"{seed} {number}")  # noqa: S311 - no secret
            target = targets[number % len(targets)]
            data = changed(seeds[target.name], chance)
            counts[target.name] += 1
            why = failure(target, data)
            if why is None or (kind := kind_of(why)) in failing:
                continue
            data = minimised(target, data, kind)
            path = out / target.name / hashlib.sha256(data).hexdigest()[:16]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.with_suffix(".txt").write_text(why, encoding="utf-8")
            failing[kind] = path
            say(f"input {number} of seed {seed} fails: {path}\n{why}")
    say(", ".join(f"{name}: {count} inputs" for name, count in counts.items()) + f"; {len(failing)} failures")
    return list(failing.values())


def corpus(name: str) -> list[bytes]:
    """The inputs of a target that are kept."""
    return [path.read_bytes() for path in sorted((CORPUS / name).glob("*")) if path.is_file()]


def run_again(path: Path) -> int:
    """Give one input to the target that its folder is named after."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        why = failure(TARGETS[path.parent.name](Path(folder) / "target"), path.read_bytes())
    print(why or "it does not fail")
    return 0 if why is None else 1


def main() -> int:
    """Read the command line; 1 if an input fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--inputs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", action="append", choices=sorted(TARGETS))
    parser.add_argument("--out", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--again", type=Path)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    if given.again is not None:
        return run_again(given.again)
    end = time.monotonic() + given.seconds

    def more(number: int) -> bool:
        return bool(number < given.inputs if given.inputs is not None else time.monotonic() < end)

    return 1 if fuzz(given.target or list(TARGETS), given.seed, more, given.out) else 0


if __name__ == "__main__":
    sys.exit(main())
