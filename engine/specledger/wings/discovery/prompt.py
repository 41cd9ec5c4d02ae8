"""The prompt builder: fills a prompt's spec with a universe's contract and the memory.

All words are the spec's. Where the prompt is over its budget, the oldest memory goes first: the list with the most
entries left loses its oldest one; of equally long lists, the one that is shown last. Tokens are estimated from lengths,
so that replay builds the same prompt without a model. Source: law proposer, section 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

from msgspec import Struct

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, Diagnostics, Rejected, code, coded
from specledger.core.digest import tagged
from specledger.lang.prompt_template import check_about, check_sections, fill_items, fill_section, fill_sections
from specledger.load import Bundle, Resolved
from specledger.oracles.model import estimate_tokens
from specledger.spec.prompt import Prompt as PromptSpec
from specledger.spec.prompt import Remembered
from specledger.wings.discovery.contract import Scramble, facts_of, facts_of_any, make_scramble
from specledger.wings.discovery.memory import DiscoveryMemorySnapshot, thawed
from specledger.wings.discovery.spec.discovery import Proposer, Request
from specledger.wings.laws.universe import Universe

E_PROMPT_UNIVERSE = code("E_PROMPT_UNIVERSE", "a prompt about another universe")
E_PROMPT_SCRAMBLE = code("E_PROMPT_SCRAMBLE", "a prompt about one universe is scrambled")
W_DISCOVERY_SCRAMBLED = code("W_DISCOVERY_SCRAMBLED", "a prompt is scrambled for a model that does not read it")
E_PROMPT_BUDGET = code("E_PROMPT_BUDGET", "a prompt is over its budget without any memory")
E_PROPOSAL_TEMPLATE = code("E_PROPOSAL_TEMPLATE", "a proposed law has a template that was not asked for")

PROMPT_TAG: Final = "specledger/prompt/v1"

BUDGET: Final = Proposer().max_token_budget
"""Tokens of a prompt at most, unless a configuration says otherwise (law proposer, section 3)."""
_REQUEST: Final = Request()


class ProposalRequest(Struct, frozen=True):
    """What is asked for (law proposer, section 3); a temperature, in millionths, goes before the model's own."""

    count: int = _REQUEST.count
    target_templates: tuple[str, ...] | None = None
    exclude_templates: tuple[str, ...] | None = None
    temperature: int | None = None

    def refuses(self, template: str) -> str | None:
        """Why a law of a template is not what was asked for, or None."""
        if self.exclude_templates is not None and template in self.exclude_templates:
            return coded(E_PROPOSAL_TEMPLATE, f"{template} is excluded")
        if self.target_templates is not None and template not in self.target_templates:
            return coded(
                E_PROPOSAL_TEMPLATE, f"{template} is none of {', '.join(self.target_templates) or 'no templates'}"
            )
        return None


class PromptPlan(Struct, frozen=True):
    """A compiled prompt.

    Attributes:
        key: Of its spec, with name and digest: which prompt was used.
        facts: What its places may stand for, but for the request and memory.
        scramble: How symbols and names are exchanged, if they are.
        budget: Tokens of system instruction and prompt, at most.
        counterexamples: Whether the gallery is shown.
    """

    key: str
    model: PromptSpec
    facts: Mapping[str, Any]
    scramble: Scramble | None
    budget: int
    counterexamples: bool


class Prompt(Struct, frozen=True):
    """The text that a model is sent.

    Attributes:
        prompt: The key of the prompt's spec.
        static: The part that is the same for the same request.
        text: Both, one after the other.
        digest: Of system instruction and text.
        tokens: How many tokens both have, estimated.
        dropped: How many entries of each list were left out.
    """

    prompt: str
    system: str
    static: str
    dynamic: str
    text: str
    digest: str
    tokens: int
    dropped: Mapping[str, int]


def compile_prompt(
    spec: Resolved,
    universe: Universe,
    templates: Mapping[str, Bundle],
    seed: int,
    budget: int = BUDGET,
    counterexamples: bool = True,
) -> PromptPlan:
    """Compile a prompt for a universe; the seed is that of the scrambling, the budget in tokens."""
    model = spec.model
    assert isinstance(model, PromptSpec)  # noqa: S101 - a reference of kind prompt holds nothing else
    diagnostics = Diagnostics()
    check_about(spec, "laws", diagnostics)
    if model.universe is not None and model.universe != universe.name:
        message = f"the prompt is about {model.universe}, not about {universe.name}"
        diagnostics.error(E_PROMPT_UNIVERSE, message, spec.span("universe"))
    if model.universe is not None and model.scramble:
        diagnostics.error(E_PROMPT_SCRAMBLE, f"the prompt is about {model.universe}", spec.span("scramble"))
    scramble = make_scramble(universe, model.scramble, seed)
    facts = facts_of(universe, templates, scramble)
    _check_places(model, facts, spec, diagnostics)
    diagnostics.raise_if_errors()
    return PromptPlan(spec.key, model, facts, scramble, budget, counterexamples)


def check_prompt(spec: Resolved, diagnostics: Diagnostics) -> None:
    """Check a prompt for no universe in particular: whether there are the facts that its places name."""
    model = spec.model
    assert isinstance(model, PromptSpec)  # noqa: S101 - the caller knows the kind
    if model.universe is not None and model.scramble:
        diagnostics.error(E_PROMPT_SCRAMBLE, f"the prompt is about {model.universe}", spec.span("scramble"))
    _check_places(model, facts_of_any(), spec, diagnostics)


def _check_places(model: PromptSpec, facts: Mapping[str, Any], spec: Resolved, diagnostics: Diagnostics) -> None:
    asked = {**facts, "request": _request_facts(facts, ProposalRequest())}
    remembered = {**asked, **dict.fromkeys(get_args(Remembered))}
    check_sections(model.system, facts, spec, "system", diagnostics)
    check_sections(model.static, asked, spec, "static", diagnostics)
    check_sections(model.dynamic, remembered, spec, "dynamic", diagnostics)


class PromptBuilder:
    """Builds the prompts of one discovery."""

    def __init__(self, plan: PromptPlan) -> None:
        self._plan = plan
        self._system = fill_sections(plan.model.system, plan.facts)

    def build(self, snapshot: DiscoveryMemorySnapshot, request: ProposalRequest) -> Prompt:
        """The prompt for what is remembered and asked."""
        plan = self._plan
        facts = {**plan.facts, "request": _request_facts(plan.facts, request)}
        static = fill_sections(plan.model.static, facts)
        sections = plan.model.dynamic
        listed = [fill_items(section, facts, self._entries(snapshot, section.each)) for section in sections]
        full = [len(lines) for lines in listed]
        while True:
            filled = (fill_section(template, facts, lines) for template, lines in zip(sections, listed, strict=True))
            dynamic = "".join(filled)
            tokens = estimate_tokens(self._system) + estimate_tokens(static + dynamic)
            if tokens <= plan.budget:
                break
            if not any(listed):
                message = f"without any memory it has {tokens} tokens, {tokens - plan.budget} more than {plan.budget}"
                raise Rejected([Diagnostic(E_PROMPT_BUDGET, f"{plan.key.partition('@')[0]}: {message}")])
            listed[_longest(listed)].pop(0)
        dropped: dict[str, int] = {}
        for section, before, lines in zip(sections, full, listed, strict=True):
            dropped[section.each] = dropped.get(section.each, 0) + before - len(lines)
        digest = tagged(PROMPT_TAG, canonical_bytes({"system": self._system, "text": static + dynamic}))
        return Prompt(plan.key, self._system, static, dynamic, static + dynamic, digest, tokens, dropped)

    def _entries(self, snapshot: DiscoveryMemorySnapshot, name: Remembered) -> list[Any]:
        """What is remembered in a list, as the model may see it."""
        if name == "counterexamples" and not self._plan.counterexamples:
            return []
        scramble, entries = self._plan.scramble, getattr(snapshot, name)
        return [thawed(entry if scramble is None else scramble.law(entry)) for entry in entries]


def _request_facts(facts: Mapping[str, Any], request: ProposalRequest) -> dict[str, Any]:
    wanted, without = request.target_templates, request.exclude_templates
    names = [template["name"] for template in facts["templates"]]
    return {
        "count": request.count,
        "target_templates": None if wanted is None else list(wanted),
        "exclude_templates": None if without is None else list(without),
        "templates": [name for name in names if (wanted is None or name in wanted) and name not in (without or ())],
    }


def _longest(listed: Sequence[Sequence[str]]) -> int:
    """The list with the most entries, the last of equals."""
    return max((len(lines), index) for index, lines in enumerate(listed))[1]
