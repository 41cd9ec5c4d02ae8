"""The shipped laws: each meets its expectation, and no verdict, proof or counterexample contradicts brute force.

The verdicts are the pinned ones, which `tests/golden/test_law_pins.py` compares with those that are reached anew.
"""

import dataclasses
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from specledger.kinds import load
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.law_question import question_of, within_range
from specledger.wings.laws.proofs.question import facts
from specledger.wings.laws.trial import meets
from specledger.wings.laws.verify.certificates import InvalidCertificate, check_certificate
from tests.conformance.laws.oracle import Judge, read_laws, step_by
from tools.docs_reference import PAGE_OF_LAWS, reference_pages

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = read_laws()
TEMPLATES = {path.stem for path in (ROOT / "specs" / "template").glob("*.yaml")}
OWN = {"implication_later"}  # what is no template of the seed
REASONS = {
    "missing_observable",
    "missing_transform",
    "missing_generator",
    "ambiguous_claim",
    "unmet_preconditions",
    "vacuous_pass",
    "inconclusive_low_power",
    "resource_limit",
}
NOTHING_TO_TRY = {
    "missing_observable",
    "missing_transform",
    "missing_generator",
    "ambiguous_claim",
    "resource_limit",
    "evaluation_error",
}
MOST_CELLS = {2: 9, 3: 6, 4: 5}  # by the number of symbols: rings up to these were all followed
MOMENTUM = {"obs": "Momentum", "t": {"var": "t"}}
AS_A_TREE = {"momentum-in-words": {"op": "==", "lhs": MOMENTUM, "rhs": {**MOMENTUM, "t": {"const": 0}}}}

with_status = {
    status: sorted(name for name, law in SHIPPED.items() if law["expect"]["status"] == status)
    for status in ("PROVED", "PASS", "FAIL", "UNKNOWN")
}
tried = sorted(name for name, law in SHIPPED.items() if law["expect"].get("reason") not in NOTHING_TO_TRY)


PINS = (line for path in (ROOT / "fixtures" / "laws").glob("*.jsonl") for line in path.read_bytes().splitlines())
VERDICTS = {
    receipt["body"]["verdict"]["law"]: receipt["body"]["verdict"]
    for receipt in map(json.loads, PINS)
    if receipt["type"] == "verdict"
}


@cache
def compiled(name):
    return compile_law(load(ROOT / "specs" / "law" / f"{name}.yaml")[0])


@cache
def judge(name):
    document = SHIPPED[name]
    return Judge(document | {"claim_ast": AS_A_TREE[name]} if name in AS_A_TREE else document)


def most_cells(name):
    return MOST_CELLS[len(judge(name).symbols)]


@cache
def smallest_failing(name):
    return judge(name).smallest_failing(most_cells(name))


# Expectations


def test_a_law_meets_its_expectation():
    assert VERDICTS.keys() == SHIPPED.keys()
    assert {name: law["expect"] for name, law in SHIPPED.items() if not meets(VERDICTS[name], law["expect"])} == {}


def test_there_are_laws_of_every_form_status_and_reason():
    per_template = Counter(law["template"] for law in SHIPPED.values())
    assert len(SHIPPED) >= 60
    assert len(TEMPLATES - OWN) == 8
    assert set(per_template) == TEMPLATES
    assert min(per_template[template] for template in TEMPLATES - OWN) >= 7
    assert {law["expect"].get("reason") for law in SHIPPED.values()} >= REASONS
    assert all(with_status.values())
    assert all(("reason" in law["expect"]) == (law["expect"]["status"] == "UNKNOWN") for law in SHIPPED.values())


@pytest.mark.parametrize("template", sorted(TEMPLATES))
def test_laws_of_each_form_are_proved_and_refuted(template):
    found = {law["expect"]["status"] for law in SHIPPED.values() if law["template"] == template}
    assert {"PROVED", "FAIL"} <= found


# Truth, by brute force


@pytest.mark.parametrize("name", tried)
def test_brute_force_finds_what_is_expected(name):
    """A law that is to fail fails on a small ring, and no other does."""
    assert (smallest_failing(name) is not None) == (name in with_status["FAIL"])


@pytest.mark.parametrize("name", with_status["FAIL"])
def test_a_counterexample_violates_its_law(name):
    verdict = VERDICTS[name]
    law, found = judge(name), verdict["counterexample"]
    start, t = found["start"], found["t"]
    assert law.usable(start)
    assert law.world.shortest <= len(start) <= law.world.longest
    assert law.first_violation(start) == t
    assert len(start) == len(smallest_failing(name))
    states = [start]
    for _ in range(t + 1):
        states.append(law.world.step(states[-1]))
    excerpt = found["excerpt"]
    first, shown = excerpt["from"], excerpt["states"]
    known = states[first:]
    assert shown[: len(known)] == known[: len(shown)]
    assert first <= t < first + len(shown)
    for at, key in ((t, "t"), (t + 1, "t_plus_1")):
        values = law.values(states[at])
        assert found["observables"][key] == {each: values[each] for each in found["observables"][key]}


# Proofs


def question_about(law, certificate):
    """The law as the question that its certificate must be about."""
    question = question_of(law)
    assert question is not None
    return within_range(question, law) if certificate["question"]["rings"][1] is not None else question


def holds_by_hand(name):
    """The judge of one instance, for claims that only a function can judge."""
    law, template = judge(name), SHIPPED[name]["template"]
    alphabet = law.world.alphabet

    def text(state):
        return "".join(alphabet[cell] for cell in state)

    def holds(initial, states):
        # Nothing but step 0 and the states from t on is read, so that t may be counted as 0 after the first state.
        steps = [text(initial), *map(text, states)]
        return not law.usable(steps[0]) or law.holds_at(template, steps, 1)

    return holds


@pytest.mark.parametrize("name", [*with_status["PROVED"], *with_status["PASS"]])
def test_a_certificate_is_checked_without_the_prover(name):
    plan, verdict = compiled(name), VERDICTS[name]
    certificate = verdict["certificate"]
    if certificate is None:
        assert verdict["status"] == "PASS"
        assert verdict["proved_for"] is None
        return
    question = facts(question_about(plan.law, certificate))
    reached = check_certificate(certificate, question, holds_by_hand(name))
    assert verdict["proved_for"] is not None
    assert reached == verdict["up_to"] or (verdict["status"] == "PROVED" and reached == judge(name).world.longest)


@pytest.mark.parametrize("name", with_status["PROVED"])
def test_a_certificate_is_about_the_rule_as_it_is_described(name):
    """The table that a proof rests on is the universe in words."""
    law, question = judge(name), VERDICTS[name]["certificate"]["question"]
    symbols, table = question["rule"]["symbols"], question["rule"]["table"]
    assert symbols == len(law.world.alphabet)
    width = next(width for width in (3, 5, 7) if symbols**width == len(table))
    for code, after in enumerate(table):
        window = "".join(law.world.alphabet[code // symbols**place % symbols] for place in reversed(range(width)))
        assert law.world.step(window)[width // 2] == law.world.alphabet[after]  # of a ring of so many cells
    starts = question["start"]["symbols"]
    assert law.symbols == "".join(law.world.alphabet[each] for each in (range(symbols) if starts is None else starts))
    bounds = [each for each in law.law.get("preconditions", []) if re.fullmatch(r"grid_length <= \d+", str(each))]
    longest = min([law.world.longest, *(int(each.rpartition(" ")[2]) for each in bounds)])
    assert question["rings"] == [law.world.shortest, longest if question["rings"][1] else None]


@pytest.mark.parametrize(
    "other", ["free-movers-conserved", "mirror-only", "collisions-resolve", "rule-30-ones", "tide-charge"]
)
def test_a_certificate_proves_no_law_that_fails(other):
    """The proof of one law is no proof of its opposite, and of no law that brute force refutes."""
    asked = question_of(compiled(other).law)
    assert asked is not None
    question = facts(asked)
    for name in with_status["PROVED"]:
        certificate = VERDICTS[name]["certificate"]
        for forged in (certificate, {**certificate, "question": question}):
            with pytest.raises(InvalidCertificate):
                check_certificate(forged, question)


# Samples


def test_a_pass_says_how_rare_violations_must_be():
    """Three in as many as independent cases that the antecedent held in, at 95 %; steps of a case are not independent."""
    for name in with_status["PASS"]:
        power, bound = VERDICTS[name]["power"], VERDICTS[name]["violation_bound"]
        assert 20 <= bound["drawn"] <= power["hit_cases"]
        assert bound["share"] == -(-3_000_000 // bound["drawn"])
        assert bound["families"]


def test_only_a_law_of_its_own_rule_has_content():
    for name in ("grid-length-conserved", "particles-are-movers", "shift-by-one", "last-place"):
        assert VERDICTS[name]["content"]["broken"] == 0
    for name in ("total-particles", "mirror-swap", "collision-bridge", "jams-never-grow"):
        assert VERDICTS[name]["content"]["broken"] > 0


@pytest.mark.medium
@pytest.mark.parametrize("name", ["rule-204-one", "rule-184-ones", "rule-232-walls", "rule-150-complement"])
def test_what_a_law_says_of_mutants_is_no_more_than_the_truth(name):
    """No more mutants are said to break the law than break it on rings of up to ten cells, which are tried."""
    plan, verdict = compiled(name), VERDICTS[name]
    world, table = judge(name).world, plan.law.universe.rule.table
    breaking = 0
    for place, after in enumerate(table):
        mutated = step_by([*table[:place], 1 - after, *table[place + 1 :]], world.alphabet)
        breaking += Judge(SHIPPED[name], dataclasses.replace(world, step=mutated)).smallest_failing(10) is not None
    assert verdict["content"]["mutants"] == len(table) == 8
    assert 0 < verdict["content"]["broken"] <= breaking


# Documentation


def rows_of(text):
    """The cells of each row of a page that begins with a name in code."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:3] == "| `"]


@pytest.mark.medium
def test_the_page_lists_exactly_the_shipped_laws():
    rows = rows_of(reference_pages()[PAGE_OF_LAWS])
    listed = {name.strip("`"): tuple(cells) for name, *cells in rows}
    assert len(listed) == len(rows)
    assert listed == {name: row_of(law) for name, law in SHIPPED.items()}


def test_the_written_page_counts_the_laws_and_names_some_of_each_verdict():
    text = (ROOT / "docs" / "shipped-laws.md").read_text(encoding="utf-8")
    counted = re.findall(r"^\| (\w+) \| (\d[\d |]*) \|$", text, re.MULTILINE)
    laws = Counter((row_of(law)[1].split()[0], law["expect"]["status"]) for law in SHIPPED.values())
    statuses = with_status.keys()
    assert {name: [int(cell) for cell in cells.split(" | ")] for name, cells in counted} == {
        name: [laws[name, status] for status in statuses] for name, _ in laws
    }
    named = [(name.strip("`"), verdict) for name, verdict, _ in rows_of(text)]
    assert named == [(name, row_of(SHIPPED[name])[2]) for name, _ in named]
    assert {verdict.split()[0] for _, verdict in named} == set(statuses)
    reasons = {law["expect"]["reason"] for law in SHIPPED.values() if "reason" in law["expect"]}
    assert reasons <= {verdict.split()[-1] for _, verdict in named}


def row_of(law):
    """Form, universe, verdict and words of a law."""
    universe, expect = law["universe"], law["expect"]
    named = universe if isinstance(universe, str) else f"{universe['use']} {universe['with']['rule']}"
    verdict = " ".join(filter(None, (expect["status"], expect.get("reason"))))
    return law["template"], named, verdict, law["claim"]
