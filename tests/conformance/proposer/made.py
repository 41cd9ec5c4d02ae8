"""What tests of the seed's sentences share: laws as proposals, the shipped ranking, and tools for a proposer."""

from functools import cache
from pathlib import Path

from specledger.kinds import load
from specledger.oracles.scripted import ScriptedModel
from specledger.spec.model import Script
from specledger.wings.discovery.parser import ParsedLaw
from specledger.wings.discovery.prompt import PromptBuilder, ProposalRequest, compile_prompt
from specledger.wings.discovery.proposer import LawProposer, ProposerConfig, make_tools
from specledger.wings.discovery.ranking import compile_ranking
from specledger.wings.laws.candidate import bundle_of
from specledger.wings.laws.compile import compile_law
from tests.toys.claims import measured, named
from tests.wings.discovery.shipped import offered, templates, universe

SMALL = Path("tests/toys/small/small.yaml")
"""A discovery of four iterations."""

RIGHT, LEFT = "count('>') + count('X')", "count('<') + count('X')"
MIRROR = {
    "law_id": "mirror",
    "template": "symmetry_commutation",
    "transform": "mirror_swap",
    "claim": "c",
    "forbidden": "f",
}

VERDICT = {
    "status": "PASS",
    **dict.fromkeys(("method", "claim", "counterexample", "content", "certificate", "power", "reason", "detail")),
}
"""What is said of a law that passed, as far as a discovery looks at it."""


def conserved(expr=RIGHT, **fields):
    """A candidate: an expression never changes."""
    return measured(expr, **{"law_id": "law", "forbidden": "a change", **fields})


def candidate(template, claim=None, *, exprs=("count('X')",), **more):
    """A candidate of any form, whose observables are A, B, ..."""
    observables = named(**dict(zip("ABCD", exprs, strict=False)))
    head = {"law_id": template, "template": template, "forbidden": "what the claim denies", "observables": observables}
    return {**head, "claim": "in words", **({} if claim is None else {"claim_ast": claim}), **more}


def parsed(document):
    """A candidate as the parser gives it."""
    bundle = bundle_of(document, universe()[0], templates())
    return ParsedLaw(document, bundle, compile_law(bundle))


@cache
def ranking():
    bundle = load("specs/ranking/scientific-value.yaml")[0]
    return compile_ranking(bundle, bundle.root)


@cache
def prompt_plan(name="informed", budget=16_000):
    return compile_prompt(load(f"specs/prompt/{name}.yaml")[0].main, universe()[1], offered(), 42, budget)


def told(snapshot, request=None, name="informed", budget=1_000_000):
    """The prompt for what is remembered."""
    return PromptBuilder(prompt_plan(name, budget)).build(snapshot, request or ProposalRequest())


def tools_for(config, name="informed"):
    return make_tools(config, prompt_plan(name), ranking(), universe()[0], offered())


def scripted(*answers, then="exhausted"):
    return ScriptedModel(Script.model_validate({"answers": list(answers), "then": then}))


def proposer(*answers, then="exhausted", **config):
    """A proposer whose model gives these answers."""
    made = ProposerConfig(**config)
    return LawProposer(scripted(*answers, then=then), tools_for(made), made)
