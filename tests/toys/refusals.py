"""What a call is refused with."""

import pytest

from specledger.core.diagnostics import Rejected


def codes(call, *arguments, **named):
    """The codes of the findings that a call is rejected with."""
    with pytest.raises(Rejected) as caught:
        call(*arguments, **named)
    return [found.code for found in caught.value.diagnostics]
