"""An offer as it was checked: what it pays, what it edits, and what an agent is told of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from specledger.wings.kernel.probes.json_patch import NotApplicable
from specledger.wings.kernel.spec.probe import Offer


class PlannedOffer(Struct, frozen=True):
    """A checked offer.

    Attributes:
        pay: `predicted state -> paid state`.
        patch: `(state, document) -> edited document`, a mapping; raises `NotApplicable`.
        data: As it was written, as JSON values.
    """

    spec: Offer
    pay: Callable[[Any], Any]
    patch: Callable[[Any, Any], Any]
    data: Mapping[str, Any]

    def message(self, token: Mapping[str, Any] | None) -> dict[str, Any]:
        """What an agent from outside is told: `{text, does, edit or call, promises}`; a call hands out the token."""
        fields = {"text": self.spec.text, "promises": self.data["pays"]}
        if self.spec.call is None:
            return {**fields, "does": "edit", "edit": self.data["edit"]}
        return {**fields, "does": "call", "call": {"token": token, "action": self.spec.call.action}}

    def is_seen_in(self, state: Any, document: Any) -> bool:
        """Whether a proposal holds what the edit makes."""
        if self.spec.edit is None:
            return False
        try:
            changed: bool = self.patch(state, document) != document
        except NotApplicable:
            return False
        return not changed
