"""The specs of a bundle as rules of a profile read them: plain values by `kind/name`, with what they state by default.

Refuses to know what a rule requires of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from specledger.load import Bundle, Resolved
from specledger.load.bundle import encode


def stated_specs(specs: Bundle) -> Mapping[str, Any]:
    """What each spec of a bundle states; those that share their kind and name with another one are left out."""
    count = Counter(_name(spec) for spec in specs.specs.values())
    return {_name(spec): _stated(spec, specs.specs) for spec in specs.specs.values() if count[_name(spec)] == 1}


def _name(spec: Resolved) -> str:
    return f"{spec.kind}/{spec.name}"


def _stated(spec: Resolved, keys: Collection[str]) -> Any:
    return _without_digests(encode(spec.model.model_dump(mode="json", by_alias=True)), keys)


def _without_digests(value: Any, keys: Collection[str]) -> Any:
    """A value in which a reference is the `kind/name` of the spec that it leads to."""
    if isinstance(value, str):
        return value.partition("@")[0] if value in keys else value
    if isinstance(value, list):
        return [_without_digests(element, keys) for element in value]
    if isinstance(value, dict):
        return {key: _without_digests(element, keys) for key, element in value.items()}
    return value
