"""What the package knows about one kind of spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specledger.spec.base import Models, Spec


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of spec.

    Attributes:
        name: The word before `/v1` after `spec:`.
        model: The model of its documents.
    """

    name: str
    model: type[Spec]


Kinds = Mapping[str, Kind]
"""A table of kinds by their names."""


def table(*kinds: Kind) -> dict[str, Kind]:
    """A table of kinds."""
    return {kind.name: kind for kind in kinds}


def models(kinds: Kinds) -> Models:
    """The models of a table of kinds, as `load` takes them."""
    return {name: kind.model for name, kind in kinds.items()}
