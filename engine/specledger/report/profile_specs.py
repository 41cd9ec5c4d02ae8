"""The specs of a bundle as rules of a profile read them: plain values by their names, with what they state by default.

A name is `kind/name`, or the key of the spec, with its digest, where two specs of the bundle share their kind and name.
Refuses to know what a rule requires of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from specledger.load import Bundle
from specledger.load.bundle import encode


def stated_specs(specs: Bundle) -> Mapping[str, Any]:
    """What each spec of a bundle states, by its name; a reference is the name of the spec that it leads to."""
    shared = Counter(f"{spec.kind}/{spec.name}" for spec in specs.specs.values())
    names = {
        key: key if shared[f"{spec.kind}/{spec.name}"] > 1 else f"{spec.kind}/{spec.name}"
        for key, spec in specs.specs.items()
    }
    return {
        names[key]: _named(encode(spec.model.model_dump(mode="json", by_alias=True)), names)
        for key, spec in specs.specs.items()
    }


def _named(value: Any, names: Mapping[str, str]) -> Any:
    """A value in which the keys of specs are their names."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [_named(element, names) for element in value]
    if isinstance(value, dict):
        return {key: _named(element, names) for key, element in value.items()}
    return value
