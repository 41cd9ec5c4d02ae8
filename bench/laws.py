"""`python -m bench.laws`: trying a law on 300 cases against a straightforward harness in plain Python; proofs.

The baseline takes any claim, as ours does: it evolves strings cell by cell and walks the trees of claim and observables
for every step. Both judge the same law on the same cases and must agree on every case. Figures are of processor time; nothing is asserted about them.
"""

from __future__ import annotations

import ast
import operator
import os
import platform
import sys
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.table import titled
from specledger.kinds import load
from specledger.load import Bundle
from specledger.wings.laws.candidate import bundle_of
from specledger.wings.laws.compile import Checked, compile_law
from specledger.wings.laws.generators import make_cases
from specledger.wings.laws.harness import try_cases
from specledger.wings.laws.law_question import question_of
from specledger.wings.laws.proofs.prove import prove
from specledger.wings.laws.proofs.question import Proved
from specledger.wings.laws.trial import verdict_document

if TYPE_CHECKING:
    from collections.abc import Callable

    from specledger.wings.laws.law import LawPlan

SPECS = Path(__file__).resolve().parent.parent / "specs"
UNIVERSE = "kinetic_grid_v1"
ROUNDS = 7
AIM_PROOF = 0.005
AIM_SHIPPED = 3.0
AIM_ELEMENTARY = 3.0

BRIDGE = {
    "law_id": "bench-bridge",
    "template": "implication_step",
    "forbidden": "a collision that comes and is not there one step later",
    "observables": [{"name": "In", "expr": "incoming_collisions"}, {"name": "X", "expr": "count('X')"}],
    "claim_ast": {
        "op": "=>",
        "lhs": {"op": ">", "lhs": {"obs": "In", "t": {"var": "t"}}, "rhs": {"const": 0}},
        "rhs": {"op": "==", "lhs": {"obs": "X", "t": {"t_plus_1": True}}, "rhs": {"obs": "In", "t": {"var": "t"}}},
    },
}
TOTAL = {
    "law_id": "bench-total",
    "template": "invariant",
    "forbidden": "another number of particles",
    "observables": [{"name": "N", "expr": "count('>') + count('<') + 2 * count('X')"}],
    "claim_ast": {"op": "==", "lhs": {"obs": "N", "t": {"var": "t"}}, "rhs": {"obs": "N", "t": {"const": 0}}},
}
WIDE = [{"family": "random_density_sweep", "params": {"lengths": [64]}}]


class Harness:
    """A straightforward harness: the rule as a function of three cells, expressions and claims as trees, one state at a
    time. Like ours it takes any law: nothing in it knows the two above."""

    def __init__(self, candidate: dict[str, Any]) -> None:
        self.observables = {
            each["name"]: ast.parse(each["expr"], mode="eval").body for each in candidate["observables"]
        }
        self.claim = candidate["claim_ast"]
        self.steps_ahead = 1 if candidate["template"] == "implication_step" else 0

    def next_cell(self, left: str, right: str) -> str:
        """One cell after one step."""
        from_left, from_right = left in (">", "X"), right in ("<", "X")
        if from_left and from_right:
            return "X"
        return ">" if from_left else "<" if from_right else "."

    def evolve(self, start: str, steps: int) -> list[str]:
        """The states of one ring."""
        states = [start]
        for _ in range(steps):
            state, size = states[-1], len(start)
            cells = [self.next_cell(state[(i - 1) % size], state[(i + 1) % size]) for i in range(size)]
            states.append("".join(cells))
        return states

    def measure(self, node: ast.expr, state: str) -> int:
        """An observable of one state."""
        size = len(state)
        match node:
            case ast.Constant(value=int(value)):
                return value
            case ast.Name(id="incoming_collisions"):
                hits = 0
                for i in range(size):
                    if state[(i - 1) % size] in (">", "X") and state[(i + 1) % size] in ("<", "X"):
                        hits += 1
                return hits
            case ast.Call(func=ast.Name(id="count"), args=[ast.Constant(value=str(symbol))]):
                return sum(1 for cell in state if cell == symbol)
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self.measure(left, state), self.measure(right, state)
                return a + b if isinstance(op, ast.Add) else a - b if isinstance(op, ast.Sub) else a * b
        raise ValueError(ast.dump(node))

    def value(self, node: dict[str, Any], states: list[str], t: int) -> Any:
        """A node of the claim at one step."""
        if "const" in node:
            return node["const"]
        if "obs" in node:
            time = node["t"]
            at = t + 1 if "t_plus_1" in time else t if "var" in time else time["const"]
            return self.measure(self.observables[node["obs"]], states[at])
        left = self.value(node["lhs"], states, t)
        if node["op"] == "=>":
            return not left or self.value(node["rhs"], states, t)
        return OPERATORS[node["op"]](left, self.value(node["rhs"], states, t))

    def first_violation(self, start: str, steps: int) -> int:
        """The first step at which the claim does not hold, or -1."""
        states = self.evolve(start, steps)
        for t in range(steps + 1 - self.steps_ahead):
            if not self.value(self.claim, states, t):
                return t
        return -1


OPERATORS = {"==": operator.eq, ">": operator.gt, "+": operator.add, "*": operator.mul}


def timed(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Seconds of processor time, the median of some rounds after one that is not counted."""
    times = []
    for _ in range(rounds + 1):
        began = process_time()
        work()
        times.append(process_time() - began)
    return median(times[1:])


def compiled(candidate: dict[str, Any], universe: Bundle, templates: dict[str, Bundle]) -> LawPlan:
    """A law of this module."""
    return compile_law(bundle_of(candidate, universe, templates))


def compare(name: str, plan: LawPlan, candidate: dict[str, Any]) -> list[str]:
    """One law, both ways."""
    law = plan.law
    cases = make_cases(law)
    starts = [law.universe.text(case.start) for case in cases]
    cells = sum(map(len, starts)) * law.steps
    harness = Harness(candidate)

    def by_hand() -> list[int]:
        return [harness.first_violation(start, law.steps) for start in starts]

    *_, judged = try_cases(law, cases)
    if judged.violated.tolist() != by_hand():
        return [f"{name}: the two harnesses disagree, so nothing is measured"]
    ours = timed(lambda: try_cases(law, cases))
    theirs = timed(by_hand, 1)
    ratio = theirs / ours
    return [
        f"{name}: {len(cases)} cases, T = {law.T}, {cells:,} cell updates",
        f"  plain Python {theirs * 1000:,.0f} ms ({cells / theirs / 1e6:.2f} M updates/s), ours {ours * 1000:.2f} ms"
        f" ({cells / ours / 1e6:,.0f} M updates/s): {ratio:,.0f} times faster",
    ]


def proofs(plan: LawPlan) -> list[str]:
    """A proof of a conservation law."""
    question = question_of(plan.law)
    if question is None or not isinstance(prove(question), Proved):
        return ["not proved"]
    spent = timed(lambda: prove(question))
    return [
        f"{spent * 1000:.1f} ms, aim of {AIM_PROOF * 1000:.0f} ms {'reached' if spent <= AIM_PROOF else 'not reached'}"
    ]


def shipped() -> list[str]:
    """All shipped laws, from files to verdicts."""
    files = sorted((SPECS / "law").glob("*.yaml"))
    began = process_time()
    checked: Checked = {}
    plans = [compile_law(bundle, checked) for file in files for bundle in load(str(file))]
    loaded = process_time() - began
    statuses: dict[str, int] = {}
    began = process_time()
    for plan in plans:
        status = verdict_document(plan)["status"]
        statuses[status] = statuses.get(status, 0) + 1
    spent = process_time() - began
    counts = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    reached = "reached" if spent <= AIM_SHIPPED else "not reached"
    return [
        f"{len(plans)} laws: {counts}",
        f"loaded in {loaded:.2f} s, decided in {spent:.2f} s, aim of {AIM_SHIPPED:.0f} s {reached}",
    ]


def elementary(templates: dict[str, Bundle]) -> list[str]:
    """One law, that the number of ones never changes, under each of the 256 elementary rules."""
    began = process_time()
    statuses: dict[str, int] = {}
    law = {**TOTAL, "observables": [{"name": "N", "expr": "count('1')"}]}
    for rule in range(256):
        universe = load(str(SPECS / "universe" / "elementary_rule.yaml"), set=[f"transition.number={rule}"])[0]
        status = verdict_document(compiled(law, universe, templates))["status"]
        statuses[status] = statuses.get(status, 0) + 1
    spent = process_time() - began
    counts = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    reached = "reached" if spent <= AIM_ELEMENTARY else "not reached"
    return [f"{counts}; {spent:.2f} s with their universes, aim of {AIM_ELEMENTARY:.0f} s {reached}"]


def main() -> int:
    """Measure and print."""
    universe = load(str(SPECS / "universe" / f"{UNIVERSE}.yaml"))[0]
    templates = {file.stem: load(str(file))[0] for file in sorted((SPECS / "template").glob("*.yaml"))}
    bridge, conserved = compiled(BRIDGE, universe, templates), compiled(TOTAL, universe, templates)
    wide = compiled({**BRIDGE, "proposed_tests": WIDE}, universe, templates)
    wide_conserved = compiled({**TOTAL, "proposed_tests": WIDE}, universe, templates)
    load_ = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(
        titled(
            {
                "A law over the universe's own mix of cases": [
                    *compare("collision bridge", bridge, BRIDGE),
                    *compare("particles conserved", conserved, TOTAL),
                ],
                "A law over cases of one length": [
                    *compare("collision bridge, 64 cells", wide, BRIDGE),
                    *compare("particles conserved, 64 cells", wide_conserved, TOTAL),
                ],
                "Proof of a conservation law": proofs(conserved),
                "Shipped laws": shipped(),
                "All elementary rules": elementary(templates),
                "Machine": [
                    f"{platform.python_implementation()} {platform.python_version()}, numpy {np.__version__},"
                    f" {platform.machine()}, {os.cpu_count()} cores{load_}; the median of {ROUNDS} rounds"
                ],
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
