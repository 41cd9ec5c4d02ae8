"""Questions as JSON: the statement that a certificate is about, and that its checker is told independently.

Decides the form of a question in a document. Refuses to know proofs.
"""

from __future__ import annotations

from typing import Any

from specledger.laws.automaton import Additive
from specledger.laws.proofs.question import (
    Always,
    And,
    Claim,
    Commutes,
    Condition,
    Conserved,
    Eventually,
    Linear,
    Local,
    Monotone,
    Not,
    Opaque,
    Question,
)


def facts(question: Question) -> dict[str, Any]:
    """The question as a JSON value with integers only; docs/proofs.md lists its fields."""
    return {
        "rule": {"symbols": question.rule.symbols, "table": list(question.rule.table)},
        "rings": [question.shortest, question.longest],
        "start": {
            "symbols": None if question.start is None else sorted(question.start),
            "where": condition_facts(question.where),
        },
        "horizon": question.horizon,
        "claim": claim_facts(question.claim),
    }


def claim_facts(claim: Claim) -> dict[str, Any]:
    """The claim as JSON."""
    match claim:
        case Conserved(observable):
            return {"kind": "conserved", "observable": additive_facts(observable)}
        case Monotone(observable, direction):
            return {"kind": "monotone", "observable": additive_facts(observable), "direction": direction}
        case Always(condition):
            return {"kind": "always", "condition": condition_facts(condition)}
        case Eventually(antecedent, consequent, within):
            parts = {"antecedent": condition_facts(antecedent), "consequent": condition_facts(consequent)}
            return {"kind": "eventually", **parts, "within": within}
        case Commutes(reflect, shift, symbol_map):
            return {"kind": "commutes", "reflect": reflect, "shift": shift, "map": list(symbol_map)}
        case Local(trigger, results):
            return {"kind": "local", "trigger": trigger, "results": sorted(results)}
        case Opaque(name, span, _, from_start):
            return {"kind": "opaque", "name": name, "span": span, "from_start": from_start}


def condition_facts(condition: Condition) -> dict[str, Any]:
    """The condition as JSON."""
    match condition:
        case Linear(terms, op, bound):
            read = [
                {"times": term.coefficient, "observable": additive_facts(term.observable), "at": term.at}
                for term in terms
            ]
            return {"sum": read, "op": op, "bound": bound}
        case Not(part):
            return {"not": condition_facts(part)}
        case And(parts):
            return {"and": [condition_facts(part) for part in parts]}
        case _:
            return {"or": [condition_facts(part) for part in condition.parts]}


def additive_facts(observable: Additive) -> dict[str, Any]:
    """The observable as JSON."""
    return {"width": observable.width, "weights": list(observable.weights), "constant": observable.constant}
