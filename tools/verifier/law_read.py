"""Laws: from the specs of a law, its universe and its template to what is claimed, when, and from which starts.

What a universe lacks, or what is too much, leaves a law without a claim that can be tried: then `unknown` says why.
"""

from functools import cached_property

from tools.verifier.basis import Open, demand
from tools.verifier.law_claim import (
    CELLWISE,
    CLAIM_TRUE,
    ORDERS_OF_CLAIMS,
    SUM_SIGNS,
    Ambiguous,
    ClaimText,
    claim_from_json,
    claim_nodes,
    claim_reads,
    claim_sort,
    claim_text,
    claim_to_json,
    pattern_filled,
    pattern_matched,
)
from tools.verifier.law_quantity import Quantity, range_joined, range_kept
from tools.verifier.law_ring import RingUniverse
from tools.verifier.syntax import inner_nodes, parse

MOST_T = 200
LAW_FIELDS = ("direction", "bound_op", "bound_value", "transform", "trigger_symbol", "result_op", "result_symbol")
JUNCTIONS = {"&&": "and", "||": "or"}


class RingLaw:
    """A law: everything that judging it needs."""

    def __init__(self, specs, key, universe=None):
        """A law by its key among specs by key; a universe that was read before may be given."""
        data = specs[key]
        template, named = specs[data["template"]], data["universe"]
        self.key, self.name, self.data, self.form = key, data["name"], data, template["name"]
        self.universe = RingUniverse(named, specs[named]) if universe is None else universe
        self.needs, steps = template.get("needs") or [], template["for_all"]["t"]
        self.first, self.short = steps.get("from", 0), 1 if steps.get("to", "T") == "T - 1" else 0
        self.cells, self.within = template["for_all"].get("i") is not None, template.get("within") is not None
        quantifiers = data.get("quantifiers") or {}
        self.T, self.H = quantifiers.get("T", 50), quantifiers.get("H") if "H" in self.needs else None
        self.seed, self.cases = data.get("seed", 42), data.get("cases", 300)
        self.mutations, self.forbidden = data.get("mutations", 1500), data["forbidden"]
        self.unknown, self.missing, self.warnings, self.image = None, {}, [], None
        self.quantities, self.claim, self.antecedent, self.holds = {}, CLAIM_TRUE, None, CLAIM_TRUE
        self.read(template)

    def read(self, template):
        """Read what the spec says, in the order in which reasons for saying nothing count."""
        data, fields = self.data, {name: self.data.get(name) for name in self.needs if name != "H"}
        self.warnings += ["W_LAW_FIELD" for name in LAW_FIELDS if name not in self.needs and data.get(name) is not None]
        if "H" in self.needs:
            fields["H"] = self.H
        demand(None not in fields.values(), "E_SPECS", "the law lacks a field that its template needs")
        if "transform" in self.needs:
            self.image = self.universe.image(data["transform"])
            if self.image is None:
                self.give_up("missing_transform", data["transform"])
        self.read_observables()
        wheres = [self.condition(one) for one in data.get("preconditions") or []]
        self.where = CLAIM_TRUE
        for place, one in enumerate([one for one in wheres if one is not None]):
            self.where = one if place == 0 else ("and", self.where, one)
        self.read_starts()
        self.read_tests()
        claim = self.claimed(template, fields)
        self.read_limits()
        self.read_requirements()
        if self.missing:
            self.give_up("missing_observable", ", ".join(self.missing))
        if claim is not None:
            self.claim = claim
            self.judged(template, fields)
        demand(claim is not None or self.unknown is not None, "E_SPECS", "the law has no claim")

    def give_up(self, reason, detail):
        """Nothing can be said, and this is why, unless another reason came before."""
        self.unknown = self.unknown or (reason, detail)

    # Observables and preconditions

    def read_observables(self):
        """The observables of the law, in order."""
        listed = self.data.get("observables") or []
        for place, one in enumerate(listed):
            self.later = {other["name"] for other in listed[place:]} - self.universe.observables.keys()
            root = parse(str(one["expr"])).root
            if self.offered(root):
                self.quantities[one["name"]] = self.quantity(root)
        self.later, self.conditions = set(), 0

    def offered(self, root):
        """Whether what an expression names is there; what is not is noted, the rightmost first."""
        waiting, offered = [root], True
        while waiting:
            node = waiting.pop()
            waiting += inner_nodes(node)
            named = node[2] if node[0] == "name" or (node[0] == "call" and node[3] is None) else None
            if named is not None and named not in self.quantities and named not in self.universe.observables:
                demand(named not in self.later, "E_SPECS", f"{named!r} is used before it is defined")
                self.missing[named] = None
                offered = False
        return offered

    def quantity(self, node):
        """The quantity that an expression stands for."""
        form = node[0]
        if form == "literal" and type(node[2]) is int:
            return Quantity("number", node[2])
        if form == "name":
            known = self.quantities.get(node[2])
            return known or Quantity("measure", self.universe.measure(node[2]))
        if form == "call" and node[3] is None and node[2] in self.universe.observables:
            return Quantity("measure", self.universe.measure(node[2], [self.argument(one) for one in node[4]]))
        if form == "unary" and node[2] == "-":
            return Quantity("-", Quantity("number", 0), self.quantity(node[3]))
        if form == "binary" and node[2] in SUM_SIGNS:
            return Quantity(node[2], self.quantity(node[3]), self.quantity(node[4]))
        raise Open("E_SPECS", "an observable has a form that is not read here")

    def argument(self, node):
        """A written-out argument."""
        if node[0] != "literal" or isinstance(node[2], bool) or not isinstance(node[2], (int, str)):
            raise Open("E_SPECS", "an argument of an observable is not written out")
        known = isinstance(node[2], int) or node[2] in self.universe.alphabet
        demand(known, "E_SPECS", "the alphabet lacks a symbol")
        return node[2]

    def condition(self, said):
        """A precondition as a claim about the start; None if it needs what is missing."""
        if not isinstance(said, dict):
            root = parse(str(said)).root if not isinstance(said, bool) else ("literal", 0, said)
            return self.joined(root) if self.offered(root) else None
        sides = []
        for name in ("lhs", "rhs"):
            root = parse(str(said[name])).root
            sides.append(self.named(root) if self.offered(root) else None)
        return None if None in sides else (said["op"], *sides)

    def joined(self, node):
        """A condition: comparisons, `&&`, `||` and `!`."""
        form = node[0]
        if form == "literal" and isinstance(node[2], bool):
            return ("const", node[2])
        if form == "unary" and node[2] == "!":
            return ("not", self.joined(node[3]))
        if form == "logic":
            found = self.joined(node[3][0])
            for one in node[3][1:]:
                found = (JUNCTIONS[node[2]], found, self.joined(one))
            return found
        if form == "binary" and node[2] in ORDERS_OF_CLAIMS:
            return (node[2], self.named(node[3]), self.named(node[4]))
        raise Open("E_SPECS", "a precondition has a form that is not read here")

    def named(self, node):
        """A side of a comparison, under a name of its own."""
        self.conditions += 1
        name = f"precondition {self.conditions}"
        self.quantities[name] = self.quantity(node)
        return ("obs", name, 0, True)

    # Starts, tests, limits

    def read_starts(self):
        """The symbols of initial states, as numbers."""
        marks, own = self.universe.alphabet, self.data.get("starts")
        tests = self.data.get("proposed_tests") or []
        if own is not None:
            self.starts = sorted({marks.index(one) for one in own.get("symbols") or marks})
        elif any(self.beyond(one["family"]) in (one.get("params") or {}) for one in tests):
            self.starts = list(range(len(marks)))
        else:
            self.starts = self.universe.starts

    def beyond(self, family):
        """The parameter with which a family goes beyond the usual starts."""
        return (self.universe.generators.get(family) or {}).get("beyond")

    def read_tests(self):
        """The families that the law asks for: (family, cases, lengths, beyond)."""
        self.tests = []
        for one in self.data.get("proposed_tests") or []:
            if one["family"] not in self.universe.generators:
                self.give_up("missing_generator", one["family"])
                continue
            params, beyond = one.get("params") or {}, self.beyond(one["family"])
            wide = params.get(beyond, False) if beyond is not None else False
            self.tests.append((one["family"], params.get("cases"), list(params.get("lengths") or []), wide))

    def read_limits(self):
        """Horizons that are too far."""
        for name, value in (("T", self.T), ("H", self.H or 0)):
            if value > MOST_T:
                self.give_up("resource_limit", f"{name} = {value} is above {MOST_T}")

    def read_requirements(self):
        """What its proposer believes that there is."""
        wanted, universe = self.data.get("capability_requirements") or {}, self.universe
        for label in wanted.get("primitive_observables") or []:
            if label.partition("(")[0].strip() not in universe.observables:
                self.give_up("missing_observable", label)
        for label in wanted.get("transforms") or []:
            if label.partition("(")[0].strip() not in universe.transforms:
                self.give_up("missing_transform", label)
        for label in wanted.get("generator_families") or []:
            if label not in universe.generators:
                self.give_up("missing_generator", label)

    # The claim

    def claimed(self, template, fields):
        """The claim: a tree, what the fields say, or a text; None, with a reason, if the text leaves it open."""
        if self.data.get("claim_ast") is not None:
            claim = claim_from_json(self.data["claim_ast"])
        elif not template.get("parts"):
            return claim_from_json(pattern_filled(template["claim"], {}, fields))
        else:
            try:
                claim = ClaimText(self.data.get("claim") or "").whole()
            except Ambiguous as ambiguous:
                self.give_up("ambiguous_claim", str(ambiguous))
                return None
            self.warnings.append("W_LAW_STRING")
        names = {one["name"] for one in self.data.get("observables") or []} | {*CELLWISE}
        demand(
            {one[1] for one in claim_nodes(claim) if one[0] == "obs"} <= names, "E_SPECS", "a claim reads what is not"
        )
        demand(claim_sort(claim) == "bool", "E_SPECS", "the claim is no truth value")
        return claim

    def judged(self, template, fields):
        """When a step counts, and what must hold there."""
        found = {}
        pattern_matched(template["claim"], claim_to_json(self.claim), fields, found)
        parts = {name: claim_to_json(node) for name, node in found.items()}
        if template.get("antecedent") is not None:
            self.antecedent = claim_from_json(pattern_filled(template["antecedent"], parts, fields))
        holds = template["claim"] if template.get("holds") is None else template["holds"]
        self.holds = claim_from_json(pattern_filled(holds, parts, fields))

    # What follows

    @property
    def said(self):
        """The claim for people."""
        unread = self.unknown is not None and self.claim == CLAIM_TRUE
        return self.data["claim"] if unread and self.data.get("claim") else claim_text(self.claim)

    @cached_property
    def last(self):
        """The last step that is judged."""
        return self.T - self.short

    @cached_property
    def waits(self):
        """Steps after the one that is judged at which it may still come true."""
        return (self.H or 0) if self.within else 0

    @cached_property
    def reach(self):
        """Steps after the one that is judged that are looked at."""
        nodes = [self.holds, self.antecedent or CLAIM_TRUE]
        return max([0, *(step for one in nodes for _, step, fixed in claim_reads(one) if not fixed)]) + self.waits

    @cached_property
    def fixed(self):
        """The latest step from the start that the claim names."""
        return max((step for _, step, fixed in claim_reads(self.claim) if fixed), default=0)

    @cached_property
    def steps(self):
        """Steps that are evolved."""
        return max(self.last + self.reach, self.fixed)

    @property
    def contract(self):
        """The starts and rings that a verdict is about, in words."""
        universe, every = self.universe, len(self.starts) == len(self.universe.alphabet)
        symbols = "all symbols" if every else "the symbols " + " ".join(universe.text([one]) for one in self.starts)
        met = " that meet the preconditions" if self.where != CLAIM_TRUE else ""
        return f"rings of {universe.shortest} to {universe.longest} cells of {symbols}{met}"

    def fits(self, node):
        """The range of a claim's node on every ring of the universe; None if an integer in it may leave 64 bits."""
        if node[0] == "const":
            return (node[1], node[1]) if type(node[1]) is int else (0, 1)
        if node[0] == "obs":
            return (0, 1) if node[1] in CELLWISE else self.quantities[node[1]].bounds(self.universe.longest)
        if node[0] == "not":
            return self.fits(node[1])
        left, right = self.fits(node[1]), self.fits(node[2])
        if left is None or right is None:
            return None
        return range_kept(range_joined(node[0], left, right) if node[0] in SUM_SIGNS else (0, 1))
