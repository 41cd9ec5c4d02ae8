"""Forged bundles: receipts or specs are changed, and all digests are computed anew; replay alone refutes them."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tools import verify as second
from tools.fuzz_target import TOY, Target, command
from tools.tampering.forger import HELP, Forger, canonical, tagged

_SPECS: Final = "specs.json"
_MOST_KEYS: Final = 64


class Forged(Target):
    """A bundle that fits in itself: none is verified whose receipts are others than those of its specs.

    The first line of an input says what the rest replaces: `receipts` (one of JSON in each line, without its place in
    the chain) or `specs`. The second verifier must refute nothing that the first accepts.
    """

    name = "forged"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.whole, self.given = folder / "whole", folder / "given"
        status, _, messages = command("run", TOY / "climb.yaml", "--episodes=1", "--out", self.whole)
        assert self.whole.exists(), (status, messages)
        for name in HELP:
            (self.whole / name).unlink()

    def seeds(self) -> list[bytes]:
        """As in `Target`."""
        forger = Forger(self.whole)
        lines = [canonical({"body": receipt["body"], "type": receipt["type"]}) for receipt in forger.receipts]
        return [b"receipts\n" + b"\n".join(lines), b"specs\n" + _in_lines(json.loads(forger.read(_SPECS)))]

    def run(self, data: bytes) -> None:
        """As in `Target`."""
        shutil.rmtree(self.given, ignore_errors=True)
        shutil.copytree(self.whole, self.given)
        what, _, content = data.partition(b"\n")
        forger = Forger(self.given)
        before = forger.lines
        try:
            if what == b"specs":
                _put_specs(forger, json.loads(content))
            else:
                forger.receipts = [dict(json.loads(line)) for line in content.splitlines() if line.strip()]
                _bind(forger)
            forger.seal()
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError, AttributeError):
            return  # nothing that can be sealed
        status, output, _ = command("verify", self.given, "--format", "json")
        if output:
            json.loads(output)
        if status == 0 and what != b"specs":
            assert forger.lines == before, "forged receipts are verified"
        if status == 0:
            checks, ended = second.run(second.parse_arguments([str(self.given), "--json"]))
            assert ended in (0, 3), f"the second verifier refutes what the first accepts: {checks}"


def _bind(forger: Forger) -> None:
    """Bind decisions to their sets of proposals, and let parts and sums follow, as far as the receipts have them."""
    with suppress(AttributeError, LookupError, TypeError, ValueError):
        for commit, step in zip(forger.bodies("commit"), forger.bodies("step"), strict=True):
            forger.bind(commit, step)
    for remake in (forger.chain_parts, forger.recount):
        with suppress(AttributeError, LookupError, TypeError, ValueError):
            remake()


def _in_lines(document: Any) -> bytes:
    """A document with a value in each line, so that changes of lines have something to change."""
    return json.dumps(document, indent=1, sort_keys=True).encode()


def _put_specs(forger: Forger, document: Any) -> None:
    """Let a bundle be of other specs, whose keys are made to fit where they can be."""
    forger.leave_out("specs")
    with suppress(AttributeError, KeyError, TypeError):
        document = _fitting(document)
    forger.write(_SPECS, canonical(document) + b"\n")
    forger.manifest["specs"] = tagged("specs", canonical(document))
    forger.manifest["run"] = tagged("run", forger.manifest["specs"].encode())[:32]
    with suppress(LookupError, TypeError):
        forger.first("start")["specs"] = forger.manifest["specs"]


def _fitting(document: Any) -> Any:
    """A document in which the key of each spec holds its digest, unless specs refer to one another in a circle."""
    for _ in range(_MOST_KEYS):
        for key, data in document["specs"].items():
            right = f"{key.partition('@')[0]}@{tagged('spec', canonical(data))[:16]}"
            if right != key:
                break
        else:
            break
        document = json.loads(canonical(document).replace(json.dumps(key).encode(), json.dumps(right).encode()))
    return document
