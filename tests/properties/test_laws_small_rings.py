"""Laws about rings of one to three cells: each verdict is that of brute force, and none is left open.

Brute force calls no engine: rings are texts, a law is judged by the words of its template, on every start and step.
"""

from functools import cache
from itertools import product

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from specledger.evidence.receipts import typed
from specledger.kinds import bundle_from_document, load
from specledger.load.bundle import dump, key_of, restore
from specledger.wings.laws.candidate import bundle_of
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.receipts import Verdict
from specledger.wings.laws.spec.universe import Universe
from specledger.wings.laws.trial import verdict_document
from specledger.wings.laws.verify.verdicts import check_about, check_proof, check_refutation

LIMIT = 2**63
COUNT = {"args": {"s": "symbol"}, "window": ["self"], "count": "self == s"}
SIDES = {"window": ["left", "right"], "count": "left == 'a' && right == 'b'"}
FIRST = {"args": {"s": "symbol"}, "scan": "first", "where": "self == s"}
LENGTH = {"window": ["self"], "count": "true"}
OWN = {
    # steps from 1; a cell that comes back within H steps; a transformed state that the rule does not commute with
    "later": "for_all: {t: {from: 1, to: T}}\nparts: {C: {reads: [t, fixed]}}\nclaim: {part: C}\n",
    "returns": "for_all: {t: {to: T}, i: cells}\nwithin: H\nneeds: [H, trigger_symbol]\nclaim: "
    "{op: '=>', lhs: {op: '!=', lhs: {obs: 'state[i]', t: {var: t}}, rhs: {const: {field: trigger_symbol}}},"
    " rhs: {op: '==', lhs: {obs: 'state[i]', t: {var: t}}, rhs: {const: {field: trigger_symbol}}}}\n"
    "antecedent: {op: '!=', lhs: {obs: 'state[i]', t: {var: t}}, rhs: {const: {field: trigger_symbol}}}\n"
    "holds: {op: '==', lhs: {obs: 'state[i]', t: {var: t}}, rhs: {const: {field: trigger_symbol}}}\n",
    "meets": "for_all: {t: {to: T}, i: cells}\nneeds: [transform, trigger_symbol]\nclaim: "
    "{op: or, lhs: {op: '==', lhs: {obs: 'state[i]', t: {var: t}}, rhs: {obs: 'evolve(transform(S))[i]', t: {var: t}}},"
    " rhs: {op: '==', lhs: {obs: 'state[i]', t: {var: t}}, rhs: {const: {field: trigger_symbol}}}}\n",
}


@pytest.fixture(scope="module")
def templates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("templates")
    found = {}
    for name, text in OWN.items():
        path = folder / f"{name}.yaml"
        path.write_text(f"spec: template/v1\nname: {name}\n{text}", encoding="utf-8")
        found[name] = load(path)[0]
    return found | {name: load(f"specs/template/{name}.yaml")[0] for name in ("implication_state", "eventually")}


# What brute force knows


class OverflowFound(Exception):  # noqa: N818 - says what was found
    """An integer is beyond 64 bits."""


def fits(value):
    if isinstance(value, int) and not -LIMIT <= value < LIMIT:
        raise OverflowFound
    return value


def measures(ring):
    n = len(ring)
    return {
        "A": ring.count("a"),
        "S": sum(ring[i - 1] == "a" and ring[(i + 1) % n] == "b" for i in range(n)),
        "F": ring.find("b"),
        "L": n,
    }


ARITHMETIC = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}
COMPARED = {"==": int.__eq__, "!=": int.__ne__, "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__}


def value(node, states, t):
    if "const" in node:
        return node["const"]
    if "obs" in node:
        return measures(states[node["t"].get("const", t)])[node["obs"]]
    left, right = value(node["lhs"], states, t), value(node["rhs"], states, t)
    if node["op"] in ARITHMETIC:
        return fits(ARITHMETIC[node["op"]](left, right))
    return {"and": left and right, "or": left or right, "=>": not left or right}.get(
        node["op"], node["op"] in COMPARED and COMPARED[node["op"]](left, right)
    )


class Brute:
    """A law about a world, on every start."""

    def __init__(self, law, table, alphabet, longest):
        self.law, self.table, self.alphabet, self.longest = law, table, alphabet, longest

    def step(self, ring):
        n = len(ring)
        return "".join(self.table[ring[i - 1] + ring[i] + ring[(i + 1) % n]] for i in range(n))

    def run(self, ring, steps):
        states = [ring]
        for _ in range(steps):
            states.append(self.step(states[-1]))
        return states

    def instances(self, ring):
        """Whether each step counts, and whether the law holds there."""
        law, cells = self.law, range(len(ring))
        last, waits = (law["quantifiers"].get(name, 0) for name in ("T", "H"))
        waits = len(ring) if waits == "grid_length" else waits
        states = self.run(ring, last + waits)
        images = self.run(ring[::-1], last)
        symbol, claim = law.get("trigger_symbol"), law.get("claim_ast")
        for t in range(law["template"] == "later", last + 1):
            ahead = range(t, t + waits + 1)
            if law["template"] == "returns":
                counting = [i for i in cells if states[t][i] != symbol]
                found = [any(states[u][i] == symbol for u in ahead) for i in counting]
                yield bool(counting), all(found)
            elif law["template"] == "meets":
                yield True, all(states[t][i] in (images[t][i], symbol) for i in cells)
            elif law["template"] == "later":
                yield True, value(claim, states, t)
            else:
                yield value(claim["lhs"], states, t), max([value(claim["rhs"], states, u) for u in ahead])

    def usable(self, ring):
        return all(value(each, [ring], 0) for each in self.law.get("where", []))

    def truth(self):
        """FAIL, VACUOUS, UNMET, PROVED; or OVERFLOW, in which no other is wrong that was found before."""
        met = counted = failed = False
        for length in range(1, self.longest + 1):
            for ring in map("".join, product(self.alphabet, repeat=length)):
                if self.usable(ring):
                    found = [*self.instances(ring)]
                    met, counted = True, counted or any(counts for counts, _ in found)
                    failed = failed or any(counts and not holds for counts, holds in found)
        return "FAIL" if failed else "PROVED" if counted else "vacuous_pass" if met else "unmet_preconditions"


# What is made up


@st.composite
def integers(draw, times, large=True):
    read = st.builds(lambda name, t: {"obs": name, "t": t}, st.sampled_from("AASFL"), st.sampled_from(times))
    one = draw(read)
    if draw(st.integers(0, 2)):
        return one
    if large and draw(st.integers(0, 4)) == 0:  # beyond 64 bits, unless the observable is 0
        return {"op": "*", "lhs": {"op": "*", "lhs": one, "rhs": {"const": 2**40}}, "rhs": {"const": 2**40}}
    other = draw(read | st.integers(-2, 3).map(lambda n: {"const": n}))
    return {"op": draw(st.sampled_from("+-**")), "lhs": one, "rhs": other}


@st.composite
def conditions(draw, times, large=True):
    op, constant = draw(st.sampled_from([*COMPARED])), st.integers(-1, 4).map(lambda n: {"const": n})
    one = {"op": op, "lhs": draw(integers(times, large)), "rhs": draw(constant | integers(times, large))}
    if draw(st.integers(0, 2)):
        return one
    return {"op": draw(st.sampled_from(["and", "or"])), "lhs": one, "rhs": draw(conditions(times, large))}


@st.composite
def laws(draw, template):
    alphabet = draw(st.sampled_from(["ab", "abc"]))
    windows = list(map("".join, product(alphabet, repeat=3)))
    table = {window: draw(st.sampled_from(alphabet)) for window in windows}
    if draw(st.booleans()):
        table = {window: window[draw(st.just(0) | st.just(1))] for window in windows}
    last, longest = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    law = {"template": template, "quantifiers": {"T": last}, "forbidden": "what brute force finds", "cases": 40}
    times = [{"var": "t"}, {"var": "t"}, {"const": 0}, {"const": draw(st.integers(0, last))}]
    if template in ("eventually", "returns"):
        law["quantifiers"]["H"] = draw(st.integers(0, 2)) if draw(st.booleans()) else "grid_length"
    if template in ("returns", "meets"):
        law["trigger_symbol"] = draw(st.sampled_from(alphabet))
    if template == "meets":
        law["transform"] = "mirror"
    large = draw(st.integers(0, 3)) > 0  # an integer may leave 64 bits, but not from starts that are not admitted
    if template in ("implication_state", "eventually"):
        law["claim_ast"] = {"op": "=>", "lhs": draw(conditions(times, large)), "rhs": draw(conditions(times, large))}
    if template == "later":
        law["claim_ast"] = draw(conditions(times, large))
    if not large:
        law["where"] = [draw(conditions([{"const": 0}], large=False))]
    return law, table, alphabet, longest


NAMES = {"A": "count('a')", "S": "sides", "F": "first('b')", "L": "grid_length"}


def text_of(node):
    """A condition as a precondition has it."""
    if "const" in node:
        return str(node["const"])
    if "obs" in node:
        return NAMES[node["obs"]]
    spelled = {"and": "&&", "or": "||"}.get(node["op"], node["op"])
    return f"({text_of(node['lhs'])}) {spelled} ({text_of(node['rhs'])})"


@cache
def universe_of(table, alphabet, longest):
    spec = {
        "spec": "universe/v1",
        "name": "made_up",
        "alphabet": list(alphabet),
        "ring": {"min": 1, "max": longest},
        "transition": {"table": dict(table)},
        "observables": {"count": COUNT, "sides": SIDES, "first": FIRST, "grid_length": LENGTH},
        "transforms": {"mirror": {"reflect": True}},
        "generators": {"sweep": {"make": "sweep", "weight": 1}, "extremes": {"make": "extremes", "weight": 1}},
    }
    form = dump(restore(Universe, spec))
    key = key_of("universe", "made_up", form)
    return bundle_from_document({"root": key, "specs": {key: form}})


@pytest.mark.medium
@pytest.mark.parametrize("template", ["later", "returns", "meets", "implication_state", "eventually"])
@settings(max_examples=25)
@given(data=st.data())
def test_brute_force_and_the_verdict_agree(templates, template, data):
    law, table, alphabet, longest = data.draw(laws(template))
    observables = [{"name": name, "expr": expr} for name, expr in NAMES.items()]
    document = {key: each for key, each in law.items() if key != "where"}
    document["observables"] = observables if "claim_ast" in law else []
    document["preconditions"] = list(map(text_of, law.get("where", [])))
    universe = universe_of(tuple(table.items()), alphabet, longest)
    plan = compile_law(bundle_of(document, universe, templates))
    verdict = verdict_document(plan, content=False)
    found = verdict["reason"] or verdict["status"]
    try:
        expected = Brute(law, table, alphabet, longest).truth()
    except OverflowFound:
        expected = "evaluation_error"
    event(expected)
    if expected == "evaluation_error":
        assert found in ("evaluation_error", "FAIL")
    else:
        assert found == expected, verdict["detail"]
    check_about(plan.law, typed(Verdict, verdict))
    if verdict["certificate"] is not None:
        check_proof(plan.law, typed(Verdict, verdict))
    if verdict["counterexample"] is not None:
        check_refutation(plan.law, verdict["counterexample"])
