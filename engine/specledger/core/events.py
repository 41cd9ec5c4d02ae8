"""The frozen facts that a run yields; evidence, reports and tests only listen.

Decides what a fact is: a type and a body. Refuses to know which types exist, who listens, and how a fact is hashed.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Event(NamedTuple):
    """One fact, in the order in which it became true.

    Attributes:
        type: What happened, a lower-case noun such as `step`.
        body: What a receipt will hold: JSON values with integers only. Whoever yields an event gives the body away and
            never changes it again.
        form: The body's canonical form, where whoever yields the event has made it already.
    """

    type: str
    body: Mapping[str, Any]
    form: bytes | None = None
