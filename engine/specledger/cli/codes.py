"""The codes of findings that only the door can have: about its arguments, and about the work as a whole."""

from typing import Final

from specledger.core.diagnostics import code

E_GOLDEN_DIFFERS = code(
    "E_GOLDEN_DIFFERS",
    "a golden differs",
    "A scenario gives other receipts than the pinned ones. If the change is meant, accept it with the command that the "
    "message names, and commit the files.",
)
E_GOLDEN_NONE = code(
    "E_GOLDEN_NONE",
    "there is no scenario to compare",
    "`spec golden` compares the scenarios that are named, or all of specs/scenario/ in the working folder. Comparing "
    "nothing is no pass.",
)
E_USAGE = code(
    "E_USAGE",
    "the command line is wrong",
    "`spec --help` lists the commands, and `spec COMMAND --help` shows the arguments and options of one.",
)
E_SYSTEM = code(
    "E_SYSTEM",
    "the system refuses something",
    "A file could not be read or written: no room, no permission, or too many open files. Nothing was shown or refuted "
    "by it.",
)
E_INTERRUPTED = code(
    "E_INTERRUPTED",
    "the work was interrupted",
    "Nothing of the run that was under way is kept; what was finished before it stays. A discovery keeps its answers "
    "and results in its store: the same command goes on from there.",
)
E_INTERNAL = code(
    "E_INTERNAL",
    "a defect of specledger",
    "Something went wrong that no spec and no evidence should be able to bring about. Nothing was shown or refuted by "
    "it. With SPECLEDGER_TRACEBACK=1 in the environment the same command shows where it happened.",
)

DEFECT: Final = "this is a defect of specledger; with SPECLEDGER_TRACEBACK=1 in the environment it shows where"
"""The hint that goes with a defect."""
