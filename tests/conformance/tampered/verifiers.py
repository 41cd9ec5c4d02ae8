"""Both verifiers of evidence, called in this process."""

import contextlib
import io
import json
from typing import NamedTuple

from specledger.core.diagnostics import Rejected
from specledger.pipeline.verifying import verify
from specledger.verify.assurance_levels import Reader
from specledger.verify.fork import read_against
from specledger.verify.trust import read_trust
from tools import verify as tool

EXITS = {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 3}


class Said(NamedTuple):
    """An exit code, the reason code and its level, the message, and the name of the check."""

    exit: int
    code: str | None
    level: str | None = None
    message: str = ""
    check: str = ""


def by_engine(laid, **more):
    """What `spec verify` says, replay included."""
    try:
        options = laid.options
        reader = Reader(
            trust=read_trust(options["trust"]) if "trust" in options else None,
            against=(read_against(options["against"]),) if "against" in options else (),
            **more,
        )
        found = verify(laid.bundle, reader=reader)
    except Rejected as rejected:
        return Said(2, rejected.diagnostics[0].code, None, rejected.diagnostics[0].message)
    telling = next((check for check in found.checks if check.code is not None), None)
    if telling is None:
        return Said(EXITS[found.verdict], None)
    return Said(EXITS[found.verdict], telling.code, telling.level.value, telling.message or "", telling.name)


def by_tool(laid, *more):
    """What `tools/verify.py --json` says."""
    options = [word for name, path in laid.options.items() for word in (f"--{name}", str(path))]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exit_code = tool.main([str(laid.bundle), *options, *more, "--json"])
    document = json.loads(printed.getvalue())
    if document["verdict"] is None:
        return Said(exit_code, document["code"], None, document["message"])
    assert document["not_checked"], "it lists what it did not check"
    telling = [check for check in document["checks"] if check["status"] not in ("passed", "nothing to check")]
    if not telling:
        return Said(exit_code, None)
    return Said(exit_code, telling[0]["code"], None, telling[0]["message"] or "", telling[0]["name"])
