"""Events: the frozen facts that a run yields, each a type and a body."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Event(NamedTuple):
    """One fact, in the order in which it became true.

    Attributes:
        type: What happened, a lower-case noun such as `step`.
        body: What a receipt will hold: JSON values with integers only. Whoever yields an event gives the body away and
            never changes it again.
        form: The body's canonical form, if the producer of the event has it.
    """

    type: str
    body: Mapping[str, Any]
    form: bytes | None = None


def owned(body: Mapping[str, Any], name: str) -> str:
    """The name under which something in a receipt is counted: among several agents it names the one that it is of."""
    return f"{body['agent']}.{name}" if "agent" in body else name
