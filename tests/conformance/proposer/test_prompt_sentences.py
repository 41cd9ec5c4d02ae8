"""What the document wants a model to be told stands in the informed prompt, and what it says of the grid is true."""

import re
from itertools import product

import pytest

from specledger.wings.discovery.memory import DiscoveryMemorySnapshot
from specledger.wings.discovery.prompt import ProposalRequest
from tests.conformance.proposer.made import told
from tests.wings.discovery.shipped import offered, snapshot, universe

EIGHT = [
    *("invariant", "monotone", "implication_step", "implication_state", "eventually", "symmetry_commutation"),
    *("bound", "local_transition"),
]


@pytest.fixture(scope="module")
def prompt():
    return told(snapshot(), ProposalRequest(7, ("bound",), ("monotone",)))


def squeezed(text):
    return " ".join(text.split())


def rule(prompt, number):
    """One of the six rules of the system instruction, on one line."""
    found = re.search(rf"^# Rule {number}\.[^\n]*\n(.*?)(?=^# )", prompt.system, re.M | re.S)
    assert found is not None
    return squeezed(found[1])


RULES = [
    (1, "Answer with one JSON array of law objects and nothing else: no prose before or after it"),
    (1, '"claim_ast": the claim as a tree (required'),
    (2, '"template" is one of the following words exactly. There are no others and no variations.'),
    (3, 'Every law has a "forbidden" field that describes an observation which would refute it.'),
    (3, "A law that forbids nothing is rejected."),
    (4, '"claim_ast" is a tree in JSON. String claims are deprecated.'),
    (5, "Define every observable before you use it, and use these canonical names and expressions"),
]


@pytest.mark.medium
@pytest.mark.parametrize(("number", "sentence"), RULES)
def test_the_system_instruction_says(prompt, number, sentence):
    assert sentence in rule(prompt, number)


def test_exactly_the_eight_templates_are_named(prompt):
    listed = re.findall(r"^- (\w+): .* Judged at t in ", prompt.system, re.M)
    assert sorted(listed) == sorted(EIGHT) == sorted(offered())


NODES = [
    '{"const": 5}',
    '{"var": "t"}',
    '{"t_plus_1": true}',
    '{"obs": "<name>", "t": <time node>}',
    '{"op": "<operator>", "lhs": <node>, "rhs": <node>}',
    '{"op": "not", "arg": <node>}',
    '{"op": "==", "lhs": {"obs": "TotalParticles", "t": {"var": "t"}}, "rhs": {"obs": "TotalParticles", "t": {"const": 0}}}',
]


@pytest.mark.parametrize("node", NODES)
def test_the_nodes_of_a_claim_are_told(prompt, node):
    assert node in rule(prompt, 4)


# How X behaves: the sentences of rule 6, and what they come to

PHYSICS = [
    "Cells stand on a ring and step all at once.",
    "A right-mover arrives in cell i if cell i-1 holds '>' or 'X'; a left-mover arrives there if cell i+1 holds '<' or 'X'.",
    "Where both arrive, the cell becomes 'X'. Where one arrives, it holds that mover. Otherwise it becomes '.'.",
    "An 'X' holds one right-mover and one left-mover. It resolves in one step",
    "'>' and '<' on neighbouring cells pass through each other without an 'X'; with one empty cell between them they meet.",
    "it equals count('X') one step later",
]


@pytest.mark.parametrize("sentence", PHYSICS)
def test_the_physics_of_collisions_is_told(prompt, sentence):
    assert sentence in rule(prompt, 6)


def test_what_is_told_of_the_physics_is_the_rule_of_the_universe():
    """Every ring of four cells steps as the sentences say, by a reader of the sentences and nothing else."""
    checked = universe()[1]

    def cell(left, right):
        arrives = left in ">X", right in "<X"
        return {(True, True): "X", (True, False): ">", (False, True): "<", (False, False): "."}[arrives]

    for cells in product(".><X", repeat=4):
        state = "".join(cells)
        expected = "".join(cell(state[i - 1], state[(i + 1) % 4]) for i in range(4))
        assert checked.text(checked.rule.step(checked.cells(state))) == expected


PITFALLS = [
    "1. FreeMovers is NOT conserved. Use TotalParticles, RightComponent, LeftComponent or Momentum.",
    "2. adjacent_pairs('>', '<') does NOT predict collisions. Use incoming_collisions.",
    "3. X is ephemeral: each X resolves in one step, but new X can form at the same time.",
    "4. Division is not supported. Rewrite algebraically: X <= L/2 becomes 2*X <= L.",
]


def test_the_four_pitfalls_stand_in_the_prompt_and_no_others(prompt):
    said = prompt.system.partition("# Common pitfalls")[2].strip().splitlines()
    assert [line.strip() for line in said] == PITFALLS


# The two sections


def test_the_static_section_comes_first_and_the_dynamic_one_after_it(prompt):
    assert prompt.text == prompt.static + prompt.dynamic
    assert re.findall(r"^# (.*)$", prompt.static, re.M) == ["Universe capabilities", "Expression language", "Request"]
    assert re.findall(r"^# (.*)$", prompt.dynamic, re.M) == [
        "Accepted laws (do not repeat them)",
        "Falsified laws, with their counterexamples",
        "Laws of which nothing can be said, with the reasons",
        "Counterexample gallery: states, one after the other, that refuted a law",
    ]


def test_the_static_section_tells_what_the_universe_can_do(prompt):
    capabilities = prompt.static.partition("# Expression language")[0]
    offered = universe()[1].capabilities()
    for listed in ("primitive_observables", "transforms", "generator_families"):
        assert all(f'"{name}"' in capabilities for name in offered[listed])
        assert len(offered[listed]) > 2
    for said in ("kinetic_grid_v1", '[".",">","<","X"]', "[4,200]", "periodic", "a string"):
        assert said in capabilities


def test_the_static_section_reminds_of_the_language_and_says_what_is_asked(prompt):
    language, request = prompt.static.partition("# Expression language")[2].split("# Request")
    assert "There is no division" in squeezed(language)
    assert "count('>')" in language
    assert "Propose 7 new laws." in request
    assert 'Templates that you may use now: ["bound"].' in request
    assert 'Focus on: ["bound"]. Avoid: ["monotone"].' in request


def part(prompt, number):
    return re.split(r"^# .*$", prompt.dynamic, flags=re.M)[number]


def test_the_dynamic_section_tells_of_each_law_what_came_of_it(prompt):
    known = snapshot()
    accepted, falsified, unknown, gallery = (part(prompt, number) for number in (1, 2, 3, 4))
    passed = [each for each in known.accepted_laws if each.get("power", {}).get("coverage")]
    assert passed
    assert all(f"coverage {each['power']['coverage']} millionths" in accepted for each in passed)
    assert all(f"from {each['counterexample']['start']}" in falsified for each in known.falsified_laws)
    assert all(f"{each['reason']}: " in unknown for each in known.unknown_laws)
    assert all(each["excerpt"]["states"][0] in gallery for each in known.counterexamples)
    assert min(map(len, (known.falsified_laws, known.unknown_laws, known.counterexamples))) > 0


def test_without_memory_the_dynamic_section_says_so():
    empty = told(DiscoveryMemorySnapshot())
    assert empty.dynamic.count("None yet.") == 3
    assert empty.dynamic.rstrip().endswith("Empty.")


def test_the_informed_prompt_fits_the_budget_of_the_class_and_of_the_discoveries():
    for budget in (8_000, 16_000):
        assert told(snapshot(), budget=budget).tokens <= budget
