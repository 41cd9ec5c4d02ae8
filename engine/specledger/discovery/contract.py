"""What a proposer may know of a universe and of the forms of laws, derived from their specs.

The contract holds symbols, capabilities and ranges. It never holds the rule, conserved quantities or which transform is
a symmetry. Source: law proposer, section 5, UniverseContract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics
from specledger.discovery.scramble import Scramble
from specledger.laws.template import Template, check_template
from specledger.laws.universe import Universe
from specledger.load import Bundle
from specledger.spec.law import Quantifiers, Trial

_CAPABILITIES: Final = ("primitive_observables", "transforms", "generator_families")
_KNOBS: Final = ("grid_length_range", "boundary")


class UniverseContract(Struct, frozen=True):
    """What a proposer may know of a universe.

    Attributes:
        universe_id: Its name.
        symbols: Its alphabet.
        state_representation: What a state is written as.
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
    return UniverseContract(
        universe_id=scramble.text(contract.universe_id),
        symbols=tuple(sorted(map(scramble.symbol, contract.symbols))),
        state_representation=contract.state_representation,
        capabilities={name: tuple(sorted(map(scramble.text, names))) for name, names in contract.capabilities.items()},
        config_knobs=contract.config_knobs,
    )


def facts_of(universe: Universe, templates: Mapping[str, Bundle], scramble: Scramble | None) -> dict[str, Any]:
    """The facts that a prompt may state about a universe and the forms of laws.

    Raises:
        Rejected: A template is invalid.
    """
    return {**contract_of(universe, scramble).document(), "templates": template_facts(templates), "law": limit_facts()}


def facts_of_any() -> dict[str, Any]:
    """The same of no universe in particular: which facts there are, without what they are."""
    nothing = UniverseContract("", (), "", dict.fromkeys(_CAPABILITIES, ()), dict.fromkeys(_KNOBS))
    form: dict[str, Any] = {"name": "", "doc": "", "needs": [], "steps": "", "parts": [], "claim": {}}
    return {**nothing.document(), "templates": [form], "law": limit_facts()}


def template_facts(templates: Mapping[str, Bundle]) -> list[dict[str, Any]]:
    """The forms of laws as JSON values, in the given order: `name`, `doc`, `needs`, `steps`, `parts`, `claim`.

    Raises:
        Rejected: A template is invalid.
    """
    found = Diagnostics()
    facts = []
    for name, bundle in templates.items():
        template = check_template(bundle.main, found)
        found.raise_if_errors()
        assert template is not None  # noqa: S101 - it is missing only where there was a finding
        facts.append(
            {
                "name": name,
                "doc": bundle.main.model.doc,
                "needs": ["quantifiers.H" if field == "H" else field for field in template.needs],
                "steps": _steps(template),
                "parts": [
                    f"{part} ({each.sort} at {' or '.join(each.reads)})" for part, each in template.parts.items()
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
