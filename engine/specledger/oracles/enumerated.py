"""A model that enumerates the documents of a grammar, the cheapest first.

The cost of a document is the sum of the costs of its alternatives, each at least 1. Documents of one cost are in the
order of the alternatives, and of the places in each; those of a mapping are in the order of its keys. A document is
found by its number, so that an answer is a pure function of the turn and the count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.load import Resolved
from specledger.oracles.failures import EXHAUSTED
from specledger.oracles.model import ModelAnswer, ModelRequest, answered, estimated_usage, failed
from specledger.spec.model import Grammar

E_GRAMMAR = code("E_GRAMMAR", "a grammar that makes nothing")

MOST_COST: Final = 40
"""The cost of the dearest document that is made."""

MOST_PLACES: Final = 8
MOST_LEVELS: Final = 32
MOST_DOCUMENTS: Final = 100
"""Documents of one answer."""
MOST_BYTES: Final = 8_192
"""Bytes of one alternative."""
MOST_ALTERNATIVES: Final = 2_000
"""Alternatives of all rules together."""

_PLACE: Final = re.compile(r"\{\{([A-Za-z][A-Za-z0-9_]*)\}\}")


class _Alternative(Struct, frozen=True):
    """A document with places: the rules that fill them, in order, and what it costs by itself."""

    template: Any
    places: tuple[str, ...]
    cost: int


class EnumeratedModel:
    """A checked grammar, which answers with its next documents, as a JSON array."""

    def __init__(self, start: str, rules: Mapping[str, tuple[_Alternative, ...]]) -> None:
        self._start = start
        self._rules = rules
        self._known: dict[tuple[tuple[str, ...], int], int] = {}

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """The documents from `turn * count` on; a failure where none is left."""
        count = min(max(request.known.count, 1), MOST_DOCUMENTS)
        documents = []
        for number in range(request.turn * count, (request.turn + 1) * count):
            try:
                documents.append(self.document(number))
            except IndexError:
                break
        if not documents:
            return failed(EXHAUSTED, "the grammar makes no more documents", estimated_usage(request, ""))
        text = canonical_bytes(documents).decode()
        return answered(text, estimated_usage(request, text))

    def document(self, number: int) -> Any:
        """The document with this number, from 0.

        Raises:
            IndexError: There are not so many of a cost up to `MOST_COST`.
        """
        for cost in range(1, MOST_COST + 1):
            count = self._count((self._start,), cost)
            if number < count:
                return self._made(self._start, cost, number)
            number -= count
        raise IndexError(number)

    def _count(self, places: tuple[str, ...], cost: int) -> int:
        """In how many ways places are filled at a cost of exactly so much altogether."""
        if not places:
            return int(cost == 0)
        if cost < len(places):
            return 0
        key = (places, cost)
        if key not in self._known:
            first, rest = places[:1], places[1:]
            if rest:
                costs = range(1, cost - len(rest) + 1)
                ways = sum(self._count(first, part) * self._count(rest, cost - part) for part in costs)
            else:
                ways = sum(
                    self._count(alternative.places, cost - alternative.cost) for alternative in self._rules[places[0]]
                )
            self._known[key] = ways
        return self._known[key]

    def _made(self, rule: str, cost: int, number: int) -> Any:
        for alternative in self._rules[rule]:
            count = self._count(alternative.places, cost - alternative.cost)
            if number < count:
                return _filled(
                    alternative.template, iter(self._parts(alternative.places, cost - alternative.cost, number))
                )
            number -= count
        raise AssertionError("more documents were counted than there are")

    def _parts(self, places: tuple[str, ...], cost: int, number: int) -> list[Any]:
        """What fills places, of all ways at this cost the one with this number."""
        if not places:
            return []
        rest = places[1:]
        for part in range(1, cost + 1):
            after = self._count(rest, cost - part)
            count = self._count(places[:1], part) * after
            if number < count:
                first, others = divmod(number, after)
                return [self._made(places[0], part, first), *self._parts(rest, cost - part, others)]
            number -= count
        raise AssertionError("more ways were counted than there are")


def check_grammar(grammar: Grammar, spec: Resolved, diagnostics: Diagnostics) -> EnumeratedModel | None:
    """Check the grammar under `enumerate`; None, with findings, if it makes nothing."""
    findings = Diagnostics()
    path = ("enumerate", "grammar")
    rules = {
        name: tuple(
            _read(alternative, spec, findings, (*path, name, index)) for index, alternative in enumerate(listed)
        )
        for name, listed in grammar.grammar.items()
    }
    if sum(map(len, rules.values())) > MOST_ALTERNATIVES:
        findings.error(E_GRAMMAR, f"more than {MOST_ALTERNATIVES} alternatives", spec.span(*path))
    if grammar.start not in rules:
        span = spec.span("enumerate", "start")
        findings.error(E_GRAMMAR, f"there is no rule `{grammar.start}`", span, hint=_hint(grammar.start, rules))
    for name, alternatives in rules.items():
        for index, alternative in enumerate(alternatives):
            for reference in sorted(set(alternative.places) - set(rules)):
                span = spec.span(*path, name, index)
                findings.error(E_GRAMMAR, f"there is no rule `{reference}`", span, hint=_hint(reference, rules))
    if not findings.has_errors:
        cheapest = _cheapest(rules)
        for name in sorted(set(rules) - set(cheapest)):
            message = f"whatever `{name}` makes costs more than {MOST_COST}, or never ends"
            findings.error(E_GRAMMAR, message, spec.span(*path, name))
    diagnostics.extend(findings.sorted())
    return None if findings.has_errors else EnumeratedModel(grammar.start, rules)


def _hint(word: str, rules: Mapping[str, Any]) -> str | None:
    near = suggest(word, rules)
    return None if near is None else f"did you mean `{near}`?"


def _read(value: Any, spec: Resolved, findings: Diagnostics, path: tuple[str | int, ...]) -> _Alternative:
    cost = 1
    if isinstance(value, Mapping) and "is" in value and set(value) <= {"is", "cost"}:
        value, cost = value["is"], value.get("cost", 1)
    if type(cost) is not int or not 1 <= cost <= MOST_COST:
        findings.error(E_GRAMMAR, f"a cost is an integer from 1 to {MOST_COST}", spec.span(*path))
        cost = 1
    places = tuple(_places(value))
    try:
        size = len(canonical_bytes(value))
        if size > MOST_BYTES or len(places) > MOST_PLACES or _height(value) > MOST_LEVELS:
            message = f"more than {MOST_PLACES} places, {MOST_LEVELS} levels or {MOST_BYTES} bytes"
            findings.error(E_GRAMMAR, message, spec.span(*path))
    except NotCanonical as error:
        findings.error(E_GRAMMAR, f"no document: {error}", spec.span(*path))
    return _Alternative(value, places, cost)


def _places(value: Any) -> Iterator[str]:
    """The rules that a template names, in order."""
    if isinstance(value, str):
        yield from _PLACE.findall(value)
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield from _places(value[key])
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _places(member)


def _height(value: Any) -> int:
    members = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return 1 + max(map(_height, members), default=0)


def _filled(value: Any, parts: Iterator[Any]) -> Any:
    """A template with its places filled, in the order of `_places`."""
    if isinstance(value, str):
        if _PLACE.fullmatch(value):
            return next(parts)
        return _PLACE.sub(lambda _: _written(next(parts)), value)
    if isinstance(value, Mapping):
        return {key: _filled(value[key], parts) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_filled(member, parts) for member in value]
    return value


def _written(value: Any) -> str:
    return value if isinstance(value, str) else canonical_bytes(value).decode()


def _cheapest(rules: Mapping[str, tuple[_Alternative, ...]]) -> dict[str, int]:
    """The least cost of each rule that comes to an end within `MOST_COST`; each pass settles at least one more."""
    costs: dict[str, int] = {}
    for cost in range(1, MOST_COST + 1):
        for name, alternatives in rules.items():
            if name in costs:
                continue
            sums = [
                alternative.cost + sum(costs.get(reference, MOST_COST) for reference in alternative.places)
                for alternative in alternatives
            ]
            if min(sums) <= cost:
                costs[name] = cost
    return costs
