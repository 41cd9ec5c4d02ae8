"""Options of `spec run` that a suite refuses, for its arms have their own: a refusal names what sets them."""

from __future__ import annotations

import shlex

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, code
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.load import Bundle

E_SEED_SUITE = code("E_SEED_SUITE", "one seed for a suite")
E_EPISODES_SUITE = code("E_EPISODES_SUITE", "one number of episodes for a suite")


def refuse(bundle: Bundle, key: str, value: int) -> Diagnostic:
    """Why `--seed` or `--episodes`, by its key, cannot set this of the runs of a suite."""
    suite = bundle.main
    changes = {}
    for name, run in sorted(suite.data.get("runs", {}).items()):
        arm, is_set = name.partition(".")[0], run.get("set") or {}
        if key == "seed":
            changes[arm] = f"seeds=[{value}]"
        elif key in is_set:
            changes[arm] = f"set.{key}={value}"
        else:  # a new key of `set` is given with all others
            changes[arm] = f"set={canonical_bytes({**is_set, key: value}, FLOATS_ANYWHERE).decode()}"
    arms = " ".join(f"--set {shlex.quote(f'runs.{arm}.{change}')}" for arm, change in changes.items())
    message = f"{suite.name} is a suite, and each of its arms has its own {key.removesuffix('s')}s"
    code_ = E_SEED_SUITE if key == "seed" else E_EPISODES_SUITE
    return Diagnostic(code_, message, suite.span("spec"), f"for its runs: {arms}" if arms else None)
