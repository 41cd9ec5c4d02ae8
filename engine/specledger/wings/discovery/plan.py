"""The compiled plan of a discovery: its steps, and how hard a proposed law is tried.

Source: law proposer, section 11.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostics, code
from specledger.load import Bundle
from specledger.load.bundle import gather
from specledger.wings.discovery.parser import ParsedLaw
from specledger.wings.discovery.spec.discovery import Discovery, Effort, Escalation, HeldOut
from specledger.wings.laws.candidate import bundle_of, name_of
from specledger.wings.laws.compile import Checked, compile_law
from specledger.wings.laws.law import Law, LawPlan
from specledger.wings.laws.universe import Universe, check_universe

E_DISCOVERY_LAW = code("E_DISCOVERY_LAW", "an expected law is about another universe")
E_DISCOVERY_TEMPLATE = code("E_DISCOVERY_TEMPLATE", "a discovery asks for a template that it does not list")

KIND: Final = "discovery"

PROPOSE: Final = "propose"
ESCALATE: Final = "escalate"
CLOSE: Final = "close"
"""The kinds of a step: laws are proposed and tried; accepted ones are tried harder; the same, of all that are left."""


class DiscoveryPlan(Struct, frozen=True, dict=True):
    """A compiled discovery; `others` are further universes to try laws on, `expected` the laws that must be found."""

    name: str
    bundle: Bundle
    model: Discovery
    universe: Bundle
    checked: Universe
    templates: Mapping[str, Bundle]
    others: tuple[Bundle, ...]
    expected: tuple[ParsedLaw, ...]

    @property
    def specs(self) -> str:
        """The digest of its specs."""
        return self.bundle.digest

    def key(self, field: str) -> str:
        """The key of the spec that one of its fields names."""
        return self.bundle.main.refs[field,]

    @cached_property
    def forms(self) -> Checked:
        """The universes and templates that were checked."""
        return {self.universe.root: self.checked}

    @cached_property
    def allowed(self) -> tuple[str, ...]:
        """The templates that may be proposed, in the order in which they are listed."""
        wanted, without = self.model.request.target_templates, self.model.request.exclude_templates or []
        return tuple(name for name in self.templates if (wanted is None or name in wanted) and name not in without)

    def kind_of(self, position: int) -> tuple[str, int]:
        """What a step of a discovery that has not stopped is: its kind, and how many iterations come before it."""
        every = self.model.escalation.every
        rounds, within = divmod(position, every + 1)
        return (ESCALATE if within == every else PROPOSE), rounds * every + within

    def position_of(self, iteration: int) -> int:
        """Which step an iteration is."""
        return iteration + iteration // self.model.escalation.every

    @property
    def most_steps(self) -> int:
        """How many steps there are, if it does not stop before its last iteration; the closing one is counted."""
        iterations = self.model.iterations
        return iterations + (iterations - 1) // self.model.escalation.every + 1

    def needs(self, position: int) -> int:
        """How many steps must be committed before one may begin."""
        return max(0, position - self.model.lag + 1)

    def parsed(self, document: Mapping[str, Any]) -> ParsedLaw:
        """Compile a proposed law from its document, as it was read from an answer."""
        bundle = bundle_of(document, self.universe, self.templates)
        return ParsedLaw(document, bundle, compile_law(bundle, proposed=True, checked=self.forms))

    def law(
        self, document: Mapping[str, Any], effort: Effort | Escalation | HeldOut, universe: Bundle | None = None
    ) -> LawPlan:
        """A proposed law as it is tried, about the discovery's universe or another one.

        The proposer does not decide how hard. A law keeps its name, however hard it is tried and wherever.

        Raises:
            Rejected: It is not a law there: for example, the universe lacks a symbol that it names.
        """
        tried, about = self._tried(document, effort), universe or self.universe
        bundle = bundle_of(tried, about, self.templates, name_of(document))
        return compile_law(bundle, proposed=True, checked=self.forms)

    def mutants(self, document: Mapping[str, Any]) -> list[tuple[int, Law]]:
        """A proposed law under rules that differ in one entry, spread evenly, each with the number of its mutant."""
        if not self.model.held_out.mutants:
            return []
        law = self.law(document, self.model.held_out).law
        return [(number, self.under(law, number)) for number in self.mutant_numbers()]

    def mutant_numbers(self) -> list[int]:
        """Which mutants of the rule accepted laws are tried on."""
        rule = self.checked.rule
        every = len(rule.table) * (rule.symbols - 1)
        wanted = min(self.model.held_out.mutants, every)
        return [number * every // wanted for number in range(wanted)]

    @staticmethod
    def under(law: Law, mutant: int) -> Law:
        """A law under the mutant of its universe's rule that has this number."""
        return replace(law, universe=law.universe.once(_mutant, mutant))

    @staticmethod
    def _tried(document: Mapping[str, Any], effort: Effort | Escalation | HeldOut) -> dict[str, Any]:
        given = document.get("quantifiers")
        quantifiers = dict(given) if isinstance(given, Mapping) else {}
        if isinstance(effort, Effort):
            quantifiers.setdefault("T", effort.T)
        elif isinstance(effort, Escalation) and isinstance(quantifiers.get("T", 0), int):
            quantifiers["T"] = max(quantifiers.get("T", 0), effort.T)
        hard = {"cases": effort.cases, "mutations": effort.mutations, "quantifiers": quantifiers}
        return {key: value for key, value in document.items() if key not in _OURS} | hard


def _mutant(universe: Universe, number: int) -> Universe:
    return replace(universe, rule=universe.rule.mutant(number))


MOST_KEPT: Final = 4096
"""Laws that a reader keeps."""


class LawReader:
    """Reads the documents of proposed laws, each once as long as it is kept."""

    def __init__(self, plan: DiscoveryPlan) -> None:
        self._plan = plan
        self._kept: dict[bytes, ParsedLaw] = {}

    def read(self, document: Mapping[str, Any]) -> ParsedLaw:
        """Compile a proposed law."""
        law = self._kept.get(canonical_bytes(document))
        if law is None:
            law = self._plan.parsed(document)
            self.keep(law)
        return law

    def keep(self, law: ParsedLaw) -> None:
        """Keep a law that was compiled from an answer, so that its document is not compiled again."""
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        self._kept[canonical_bytes(law.document)] = law


_OURS: Final = ("seed", "expect")
"""Fields of a law that its proposer does not decide."""

_HEAD: Final = ("spec", "name", "doc", "metadata", "universe", *_OURS)
"""What a law's file says beside what a proposer says."""


def compile_discovery(bundle: Bundle) -> DiscoveryPlan:
    """Compile a discovery, but for its model, prompt and ranking, which have compilers of their own."""
    diagnostics = Diagnostics()
    spec, model = bundle.main, bundle.main.model
    assert isinstance(model, Discovery)  # noqa: S101 - the pipeline compiles what it dispatched by kind
    universe = gather(spec.refs["universe",], bundle.specs)
    checked = check_universe(universe.main, universe, diagnostics)
    keys = [spec.refs["templates", index] for index in range(len(model.templates))]
    templates = {bundle.specs[key].name: gather(key, bundle.specs) for key in keys}
    for asked in ("target_templates", "exclude_templates"):
        for index, name in enumerate(getattr(model.request, asked) or ()):
            if name not in templates:
                message = f"`templates` leads to no {name!r}"
                diagnostics.error(E_DISCOVERY_TEMPLATE, message, spec.span("request", asked, index))
    others = []
    for index in range(len(model.held_out.universes)):
        others.append(gather(spec.refs["held_out", "universes", index], bundle.specs))
        check_universe(others[-1].main, others[-1], diagnostics)
    diagnostics.raise_if_errors()
    assert checked is not None  # noqa: S101 - it is missing only where there was a finding
    expected = []
    for index in range(len(model.expect)):
        law = gather(spec.refs["expect", index], bundle.specs)
        if law.main.refs["universe",] != universe.root or law.main.refs["template",] not in keys:
            message = f"{law.main.name} is about another universe, or has a form that `templates` does not list"
            diagnostics.error(E_DISCOVERY_LAW, message, spec.span("expect", index))
        else:
            template = law.specs[law.main.refs["template",]].name
            document = {key: value for key, value in law.main.data.items() if key not in _HEAD}
            expected.append(ParsedLaw({**document, "template": template}, law, compile_law(law)))
    plan = DiscoveryPlan(spec.name, bundle, model, universe, checked, templates, tuple(others), tuple(expected))
    if not plan.allowed:
        diagnostics.error(E_DISCOVERY_TEMPLATE, "no template is left to propose", spec.span("request"))
    diagnostics.raise_if_errors()
    return plan
