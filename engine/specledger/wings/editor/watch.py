"""`spec watch`: checks specs when they are saved, and runs what a change touches, until it is interrupted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Final

from specledger.kinds import KINDS
from specledger.pipeline.changes import touched_by
from specledger.pipeline.targets import expand_targets

_PAUSE_S: Final = 0.4
"""Seconds between two looks at the files."""

State = dict[Path, tuple[int, int]]
"""When each file was changed, and its size."""


class Watch:
    """Looks at the specs of some targets again and again.

    Attributes:
        command: Runs a command of `spec` and returns its exit code.
        tell: Says something to the user.
    """

    def __init__(
        self, targets: Sequence[str], command: Callable[..., int] | None = None, tell: Callable[[str], None] = print
    ) -> None:
        """Watch some targets, as `spec check` takes them."""
        self._targets = targets
        self._state: State = {}
        self._command = command or _spec
        self._tell = tell

    def start(self) -> None:
        """Check everything once."""
        self._state = self._look()
        self._command("check", *self._targets)
        self._tell("watching; Ctrl-C ends it")

    def look(self) -> bool:
        """Check and run what changed since the last look; whether anything did."""
        state = self._look()
        changed = {path for path in {*state, *self._state} if state.get(path) != self._state.get(path)}
        self._state = state
        if not changed:
            return False
        files = {path.resolve(): path for path in state}
        touched = sorted(touched_by(state, {path.resolve() for path in changed}) & {*files})
        names = [files[path].as_posix() for path in touched]
        self._tell(f"changed: {', '.join(sorted(path.as_posix() for path in changed))}")
        if names and self._command("check", *names) == 0:
            runs = [name for name, path in zip(names, touched, strict=True) if _may_run(path)]
            if runs:
                self._command("run", *runs)
        return True

    def forever(self, stop: Event) -> None:
        """Look until `stop` is set."""
        while not stop.wait(_PAUSE_S):
            self.look()

    def _look(self) -> State:
        state: State = {}
        for file in expand_targets(self._targets).files:
            path = Path(file)
            try:
                status = path.stat()
            except OSError:  # gone meanwhile, or a name of a shipped spec
                continue
            state[path] = (status.st_mtime_ns, status.st_size)
        return state


def _may_run(path: Path) -> bool:
    """Whether the spec of a file is of a kind that can be run; its folder may have any name."""
    head = path.read_text(encoding="utf-8", errors="replace").partition("spec:")[2].strip()
    kind = head.strip("\"'").partition("/")[0]
    return kind in KINDS and KINDS[kind].runs


def _spec(*words: str) -> int:
    """Run a command in a process of its own, which reads all files anew."""
    return subprocess.run([sys.executable, "-m", "specledger", *words], check=False).returncode  # noqa: S603
