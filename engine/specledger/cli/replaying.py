"""What commands print of a replay that was asked for with a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specledger.cli.output import print_error
from specledger.core.diagnostics import printable
from specledger.core.verdict import Verdict

if TYPE_CHECKING:
    from specledger.kinds.running import Finished


def print_replay(finished: Finished) -> None:
    """Print the result of replay, if it was requested."""
    if finished.replayed is None:
        return
    if finished.replayed.verdict is not Verdict.PASS:
        from specledger.cli.verification_text import verification_text

        print_error(verification_text(finished.place, finished.replayed))
    else:
        from specledger.verify.checks import Level

        replayed = next(check for check in finished.replayed.checks if check.level is Level.REPLAYED)
        print_error(f"{printable(str(finished.place))}: {replayed.name}: {replayed.message}")
