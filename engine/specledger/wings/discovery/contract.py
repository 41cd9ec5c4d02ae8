"""What a proposer may know of a universe and of the forms of laws, derived from their specs.

The contract holds symbols, capabilities and ranges. It never holds the rule, conserved quantities or which transform is
a symmetry. Source: law proposer, section 5, UniverseContract.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics
from specledger.core.rng import Stream
from specledger.load import Bundle
from specledger.wings.laws.spec.law import Quantifiers, Trial
from specledger.wings.laws.template import Template, check_template
from specledger.wings.laws.universe import Universe

SYMBOLS: Final = "symbols"
NAMES: Final = "names"

_NEUTRAL: Final = ascii_lowercase + ascii_uppercase + digits
_NEUTRAL_UNIVERSE: Final = "universe_u"
_WORD: Final = re.compile(r"""(?P<quote>['"])(?P<symbol>\\?[!-~])(?P=quote)|(?P<word>[A-Za-z_][A-Za-z0-9_]*)""")

_SYMBOL_KEYS: Final = frozenset({"const", "trigger_symbol", "result_symbol", "symbols"})
_STATE_KEYS: Final = frozenset({"start", "state", "states"})
_NAMED_KEYS: Final = frozenset({"params", "observables"})


class Scramble(Struct, frozen=True):
    """An exchange of symbols and names: of each the other one, in both directions."""

    symbols: Mapping[str, str]
    names: Mapping[str, str]

    def symbol(self, symbol: str) -> str:
        """The other one of a symbol; itself, if it is not exchanged."""
        return self.symbols.get(symbol, symbol)

    def state(self, state: str) -> str:
        """A state, symbol by symbol."""
        return "".join(map(self.symbol, state))

    def text(self, text: str) -> str:
        """An expression, a call, or words about them."""
        return _WORD.sub(self._word, text)

    def law(self, value: Any, key: str = "") -> Any:
        """A law as JSON, a piece of it, or what is remembered of it."""
        if isinstance(value, str):
            if key in _SYMBOL_KEYS:
                return self.symbol(value)
            return self.state(value) if key in _STATE_KEYS else self.text(value)
        if isinstance(value, list | tuple):
            return [self.law(member, "" if key in _NAMED_KEYS else key) for member in value]
        if isinstance(value, Mapping):
            if key in _NAMED_KEYS:
                return {self.names.get(name, name): self.law(member, key) for name, member in value.items()}
            return {name: self.law(member, name) for name, member in value.items()}
        return value

    def _word(self, match: re.Match[str]) -> str:
        if match["word"] is not None:
            return self.names.get(match["word"], match["word"])
        other = self.symbols.get(match["symbol"][-1])
        if other is None:
            return match[0]
        escape = "\\" if other in ("'", '"', "\\") else ""
        return f"{match['quote']}{escape}{other}{match['quote']}"


def make_scramble(universe: Universe, what: Iterable[str], seed: int) -> Scramble | None:
    """The exchange of `symbols`, `names` or both for a universe, by a seed; None if nothing is to be exchanged."""
    wanted = frozenset(what)
    if not wanted:
        return None
    symbols: dict[str, str] = {}
    names: dict[str, str] = {}
    if SYMBOLS in wanted:
        free = [entry for entry in _NEUTRAL if entry not in universe.alphabet][: len(universe.alphabet)]
        symbols = _swapped(universe.alphabet, Stream.named(seed, "scramble", SYMBOLS).shuffle(free))
    if NAMES in wanted:
        beyond = sorted({entry.beyond for entry in universe.generators.values() if entry.beyond is not None})
        taken = {universe.name, *universe.primitives, *universe.transforms, *universe.generators, *beyond}
        names = _swapped([universe.name], [_free(_NEUTRAL_UNIVERSE, taken)])
        groups = {"m": universe.primitives, "c": universe.transforms, "f": universe.generators, "p": beyond}
        for letter, group in groups.items():
            neutral = [_free(f"{letter}{number}", taken) for number in range(1, len(group) + 1)]
            names |= _swapped(sorted(group), Stream.named(seed, "scramble", NAMES, letter).shuffle(neutral))
    return Scramble(symbols, names)


def _swapped(ours: Iterable[str], neutral: Iterable[str]) -> dict[str, str]:
    pairs = dict(zip(ours, neutral, strict=True))
    return pairs | {other: first for first, other in pairs.items()}


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


_CAPABILITIES: Final = ("primitive_observables", "transforms", "generator_families")
_KNOBS: Final = ("grid_length_range", "boundary")


class UniverseContract(Struct, frozen=True):
    """What a proposer may know of a universe.

    Attributes:
        capabilities: `primitive_observables`, `transforms` and `generator_families`, each a list.
        config_knobs: `grid_length_range`, the least and the greatest number of cells, and `boundary`.
    """

    universe_id: str
    symbols: tuple[str, ...]
    state_representation: str
    capabilities: Mapping[str, Sequence[str]]
    config_knobs: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """The contract as JSON values."""
        return {
            "universe_id": self.universe_id,
            "symbols": list(self.symbols),
            "state_representation": self.state_representation,
            "capabilities": {name: list(listed) for name, listed in self.capabilities.items()},
            "config_knobs": dict(self.config_knobs),
        }


def contract_of(universe: Universe, scramble: Scramble | None = None) -> UniverseContract:
    """The contract of a universe, in other symbols and names if it is scrambled; lists are then in a neutral order."""
    offered = universe.capabilities()
    contract = UniverseContract(
        universe_id=offered["universe_id"],
        symbols=tuple(offered["symbols"]),
        state_representation=offered["state_representation"],
        capabilities={name: tuple(offered[name]) for name in _CAPABILITIES},
        config_knobs={name: offered[name] for name in _KNOBS},
    )
    if scramble is None:
        return contract
    return replace(
        contract,
        universe_id=scramble.text(contract.universe_id),
        symbols=tuple(sorted(map(scramble.symbol, contract.symbols))),
        capabilities={name: tuple(sorted(map(scramble.text, names))) for name, names in contract.capabilities.items()},
    )


def facts_of(universe: Universe, templates: Mapping[str, Bundle], scramble: Scramble | None) -> dict[str, Any]:
    """The facts that a prompt may state about a universe and the forms of laws."""
    return {**contract_of(universe, scramble).document(), "templates": template_facts(templates), "law": limit_facts()}


def facts_of_any() -> dict[str, Any]:
    """The same of no universe in particular: which facts there are, without what they are."""
    nothing = UniverseContract("", (), "", dict.fromkeys(_CAPABILITIES, ()), dict.fromkeys(_KNOBS))
    form: dict[str, Any] = {"name": "", "doc": "", "needs": [], "steps": "", "parts": [], "claim": {}}
    return {**nothing.document(), "templates": [form], "law": limit_facts()}


def template_facts(templates: Mapping[str, Bundle]) -> list[dict[str, Any]]:
    """The forms of laws as JSON values, in the given order: `name`, `doc`, `needs`, `steps`, `parts`, `claim`."""
    diagnostics = Diagnostics()
    facts = []
    for name, bundle in templates.items():
        template = check_template(bundle.main, diagnostics)
        diagnostics.raise_if_errors()
        assert template is not None  # noqa: S101 - it is missing only where there was a finding
        facts.append(
            {
                "name": name,
                "doc": bundle.main.model.doc,
                "needs": ["quantifiers.H" if field == "H" else field for field in template.needs],
                "steps": _steps(template),
                "parts": [
                    f"{part} ({slot.sort} at {' or '.join(slot.reads)})" for part, slot in template.parts.items()
                ],
                "claim": template.claim,
            }
        )
    return facts


def limit_facts() -> dict[str, Any]:
    """The limits that a proposer must keep: `most_steps`, and `steps` where a law says none."""
    return {"most_steps": Trial().steps, "steps": Quantifiers().T}


def _steps(template: Template) -> str:
    last = "T" if template.short == 0 else f"T - {template.short}"
    cells = ", for every cell i" if template.cells else ""
    within = ", or one of the H steps after" if template.within else ""
    return f"{template.first}..{last}{within}{cells}"
