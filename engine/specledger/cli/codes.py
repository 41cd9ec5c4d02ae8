"""The codes of findings of the command line itself."""

from typing import Final

from specledger.core.diagnostics import Diagnostic, code

E_GOLDEN_NONE = code(
    "E_GOLDEN_NONE",
    "there is no scenario to compare, or nothing to compare it with",
    "`spec golden` compares the scenarios that are named, or all of specs/scenario/ in the project of the working "
    "folder and all that is pinned, with the goldens in --dir. Comparing nothing is not a pass. `spec pin` makes "
    "goldens.",
)
E_USAGE = code(
    "E_USAGE",
    "the command line is wrong",
    "`spec --help` lists the commands, and `spec COMMAND --help` shows the arguments and options of one.",
)
E_SYSTEM = code(
    "E_SYSTEM",
    "operating system error",
    "A file could not be read or written: no space, no permission, or too many open files. It shows and refutes "
    "nothing.",
)
E_INTERRUPTED = code(
    "E_INTERRUPTED",
    "the work was interrupted",
    "The unfinished run was discarded, unless `--resume` asked to keep it; finished runs are kept. A discovery keeps "
    "its answers and results in its journal: the same command resumes.",
)
E_INTERNAL = code(
    "E_INTERNAL",
    "a defect of specledger",
    "No spec and no evidence should be able to cause this. It shows and refutes nothing. With "
    "SPECLEDGER_TRACEBACK=1 in the environment the same command prints a traceback.",
)


class Interrupted(Exception):  # noqa: N818 - nothing went wrong
    """The work was interrupted, and what was finished is kept."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(E_INTERRUPTED, message, hint="the same command resumes")


DEFECT: Final = "this is a defect of specledger; SPECLEDGER_TRACEBACK=1 in the environment prints a traceback"
"""The hint of an internal error."""
