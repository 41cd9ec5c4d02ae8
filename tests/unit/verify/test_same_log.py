"""What shows that a head that was seen before is one of this log."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.verify.checks import Lacking
from specledger.verify.fork import Against, same_log

UNSHOWN = "; that it is of this log, only you can know"
SEEN: Any = SimpleNamespace(size=1, root=b"")


def before(origin: str | None = None, run: str | None = None) -> Against:
    note: Any = None if origin is None else SimpleNamespace(origin=origin)
    return Against(SEEN, "head.txt", note, run)


@pytest.mark.parametrize(
    ("seen", "origin", "words"),
    [
        (before(), None, UNSHOWN),
        (before(), "lab/a", ""),
        (before(run="r"), None, ""),
        (before(run="r"), "lab/a", ""),
        (before("lab/a"), "lab/a", ""),
        (before("lab/a"), None, UNSHOWN),
    ],
)
def test_what_shows_it(seen, origin, words):
    assert same_log(seen, "r", origin) == words


@pytest.mark.parametrize(
    ("seen", "origin", "why"),
    [
        (before(run="other"), None, "head.txt is evidence of the run other, this of r"),
        (before("lab/b"), "lab/a", "head.txt is of the log 'lab/b', this of 'lab/a'"),
    ],
)
def test_what_shows_that_it_is_another(seen, origin, why):
    with pytest.raises(Lacking) as refused:
        same_log(seen, "r", origin)
    assert (refused.value.code, str(refused.value)) == ("E_OTHER_LOG", why)
