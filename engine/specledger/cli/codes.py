"""The codes of findings of the command line itself."""

from typing import Final

from specledger.core.diagnostics import Diagnostic, code

E_CHANGED = code("E_CHANGED", "what changed is not known")
E_GOLDEN_NONE = code("E_GOLDEN_NONE", "there is no scenario to compare, or nothing to compare it with")
E_KEY_TRACKED = code("E_KEY_TRACKED", "a private key would soon be committed")
E_REPORT_PLACE = code("E_REPORT_PLACE", "a report cannot be written there")
E_USAGE = code("E_USAGE", "the command line is wrong")
E_SYSTEM = code("E_SYSTEM", "operating system error")
E_INTERRUPTED = code("E_INTERRUPTED", "the work was interrupted")
E_INTERNAL = code("E_INTERNAL", "a defect of specledger")


class Interrupted(Exception):  # noqa: N818 - nothing went wrong
    """The work was interrupted; finished parts are kept, or would be with `--resume`."""

    def __init__(self, message: str, hint: str = "the same command resumes") -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(E_INTERRUPTED, message, hint=hint)


DEFECT: Final = "this is a defect of specledger; SPECLEDGER_TRACEBACK=1 in the environment prints a traceback"
"""The hint of an internal error."""

PAGE = "`spec report BUNDLE --format html` writes the page of a run"
"""What to do where a format of reports was asked of another command."""
COMPARED = "`spec report FIRST SECOND --format html` writes a page that says what changed between two runs"
"""What to do where it was asked of a comparison."""
