"""The engine as two machines, or two runs, compare it: by the digest of the package's source files."""

from functools import cache
from pathlib import Path
from typing import Final

import specledger
from specledger.core.digest import tagged

ENGINE_TAG: Final = "specledger/engine/v1"


@cache
def engine_digest() -> str:
    """The digest of the package's source files."""
    root = Path(specledger.__file__).parent
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*.py")}
    parts = [b"%s %d\n%s" % (name.encode(), len(data), data) for name, data in sorted(files.items())]
    return tagged(ENGINE_TAG, b"".join(parts))


def identity_of(specs: str) -> str:
    """What an unfinished run must have in common with the one that continues it: specs and engine."""
    return f"{specs} {engine_digest()}"
