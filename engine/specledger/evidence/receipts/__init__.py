"""The receipts of a bundle as types: what each type of receipt holds is declared here, and nowhere else.

A receipt is a plain JSON object. The classes are TypedDicts: they describe it and do not check it, so a reader of
evidence that somebody else wrote gets a KeyError or a TypeError where a receipt is not what its type says. The types of
expressions (`expr.typed_dicts`) and the JSON Schemas (`schemas/receipts`) are derived from them.

    body = typed(Step, event.body)
    body["chosen"]

A module for each subject: `run` with `kernel` and `recording`, `suite`; a wing has a module `receipts`. `Any` stands
for what a spec says.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

Receipt = TypeVar("Receipt", bound=Mapping[str, Any])

ReceiptTypes = Mapping[str, type[Mapping[str, Any]]]
"""By the type of a receipt the class that describes its body."""


def typed(class_: type[Receipt], body: Mapping[str, Any]) -> Receipt:
    """A body as the class of its receipt; nothing is checked.

    It is called by who looked at the type of the receipt.
    """
    return body  # type: ignore[return-value]  # a call of `cast` would cost as much as this one
