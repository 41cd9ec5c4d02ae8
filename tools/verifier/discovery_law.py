"""Proposed laws: from a document of an answer to its law, and to the facts that rankings read and memory keeps.

Whatever this file does not read is `Open`; a document that is no law raises `NoLaw`.
"""

from tools.verifier.basis import CRASHES, Open, Refuted, write
from tools.verifier.discovery_form import LAW_ORDERS, NoLaw, law_spec, must_fit
from tools.verifier.discovery_same import measured_digest
from tools.verifier.law_claim import (
    CELLWISE,
    CLAIM_TRUE,
    claim_nodes,
    claim_reads,
    claim_sort,
    claim_to_json,
    pattern_matched,
)
from tools.verifier.law_read import LAW_FIELDS, RingLaw
from tools.verifier.syntax import inner_nodes, parse
from tools.verifier.values import Failed

MOST_QUANTITY_PARTS, MOST_QUANTITY_DEPTH = 2000, 200
WITHHELD = ("spec", "name", "doc", "metadata", "extends", "params", "matrix")
WITHHELD += ("universe", "strict", "seed", "cases", "mutations", "expect")


class LawBook:
    """Reads proposed documents about one universe."""

    def __init__(self, specs, universe, templates):
        self.specs, self.universe = specs, universe
        self.templates = {specs[key]["name"]: key for key in templates}
        self.ring, self.known = None, {}

    def elsewhere(self, universe):
        """The same about another universe."""
        return LawBook(self.specs, universe, self.templates.values())

    def law(self, document, changes=None, name=None):
        """The law of a document; `changes` say how hard it is tried."""
        spelled = write([document, changes, name])
        if spelled not in self.known:
            if len(self.known) > 4096:
                self.known.clear()
            changed = {**document, **changes} if changes else document
            self.known[spelled] = self.compiled(*law_spec(changed, self, name))
        return self.known[spelled]

    def compiled(self, key, data):
        """The law of a resolved form, if it is one."""
        try:
            law = RingLaw({**self.specs, key: data}, key, self.ring)
            examined(law, self.specs[data["template"]])
        except Refuted as refuted:
            raise NoLaw(refuted.message) from None
        except Failed as failed:
            raise NoLaw(failed.code) from None
        except (Open, *CRASHES) as error:
            for one in data.get("observables", []):
                must_fit(not divides(one["expr"], self.specs[self.universe]["observables"]))
            told = error.message if isinstance(error, Open) else "a law is of a form that is not read here"
            raise Open("E_REPLAY", told) from None
        self.ring = law.universe
        return law

    def proposed(self, document):
        """What a document proposes."""
        return Proposal(document, self.law(document))


def divides(text, measures):
    """Whether an expression about nothing but a universe's own observables divides one of them, which none may."""
    try:
        waiting = [parse(text).root]
    except Refuted:
        return True
    divided = named = False
    while waiting:
        node = waiting.pop()
        inside = inner_nodes(node)
        waiting += inside
        name = node[2] if node[0] == "name" or (node[0] == "call" and node[3] is None) else None
        if name is not None and name not in measures:
            return False
        named = named or name is not None
        divided = divided or (node[0] == "binary" and node[2] in ("/", "%") and inside[0][0] != "literal")
    return divided and named


def examined(law, template):
    """Whatever makes a law none and does not hinder reading it."""
    data, universe = law.data, law.universe
    names = [one["name"] for one in data.get("observables") or []]
    for place, one in enumerate(data.get("observables") or []):
        renamed = one["name"] in universe.observables and one["expr"].strip() != one["name"]
        must_fit(not renamed and one["name"] not in names[:place])
        well_called(one["expr"], universe)
    for one in data.get("preconditions") or []:
        for text in [one["lhs"], one["rhs"]] if isinstance(one, dict) else [one]:
            well_called(text, universe)
    marks = [data.get(name) for name in law.needs if name.endswith("_symbol")]
    marks += (data.get("starts") or {}).get("symbols") or []
    must_fit(set(marks) <= set(universe.alphabet) and len(law.starts) >= 2)
    for one in data.get("proposed_tests") or []:
        if one["family"] in universe.generators:
            must_fit(sound_test(one.get("params") or {}, law.beyond(one["family"]), universe))
    for one in law.quantities.values():
        must_fit(small_quantity(one))
    if law.unknown is None or law.claim != CLAIM_TRUE:
        fitted_claim(law, template)


def well_called(text, universe):
    """The observables of a universe are given arguments of their sorts."""
    waiting = [parse(text).root]
    while waiting:
        node = waiting.pop()
        waiting += inner_nodes(node)
        if node[0] == "call" and node[3] is None and node[2] in universe.observables:
            args = universe.observables[node[2]].get("args") or {}
            wanted = [str if args[name] == "symbol" else int for name in sorted(args)]
            must_fit(len(wanted) == len(node[4]) > 0)
            must_fit(all(type(one[2]) is sort for one, sort in zip(node[4], wanted) if one[0] == "literal"))


def fitted_claim(law, template):
    """The claim says what its form allows, at steps that there are."""
    nodes = list(claim_nodes(law.claim))
    symbols = [one[1] for one in nodes if one[0] == "const" and isinstance(one[1], str)]
    cells = [one for one in nodes if one[0] == "obs" and one[1] in CELLWISE]
    must_fit(set(symbols) <= set(law.universe.alphabet) and law.fixed <= law.T)
    must_fit(law.cells or not (cells or symbols))
    must_fit("transform" in law.needs or not [one for one in cells if one[1] != CELLWISE[0]])
    found, fields = {}, {name: law.data.get(name) for name in law.needs}
    pattern_matched(template["claim"], claim_to_json(law.claim), {**fields, "H": law.H}, found)
    for name, node in found.items():
        part = template["parts"][name]
        moments = {"fixed" if fixed else "t" if step == 0 else f"t + {step}" for _, step, fixed in claim_reads(node)}
        must_fit(moments <= set(part["reads"]) and claim_sort(node) == part.get("sort", "bool"))


def sound_test(params, beyond, universe):
    """Whether the parameters of a proposed test mean something."""
    left = dict(params)
    cases, lengths, wide = left.pop("cases", None), left.pop("lengths", []), left.pop(beyond, False)

    def counts(value):
        return type(value) is int and 1 <= value <= 10_000

    sound = not left and (cases is None or counts(cases)) and isinstance(wide, bool)
    sound = sound and isinstance(lengths, list) and len(lengths) <= 64
    return sound and all(counts(one) and universe.shortest <= one <= universe.longest for one in lengths)


def small_quantity(quantity):
    """Whether an observable, written out, is within its bounds."""
    waiting, parts = [(quantity, 0)], 0
    while waiting:
        one, depth = waiting.pop()
        parts += 1
        if parts > MOST_QUANTITY_PARTS or depth > MOST_QUANTITY_DEPTH:
            return False
        if one.op in ("+", "-", "*"):
            waiting += [(one.left, depth + 1), (one.right, depth + 1)]
    return True


class Proposal:
    """A law that was proposed: its document, its spec's key, its law, its fingerprint and its facts."""

    def __init__(self, document, law):
        self.document, self.law, self.key = document, law, law.key
        self.looks = None  # filled by `discovery_same`
        self.held = None

    @property
    def id(self):
        """What the law is called: the id that was given, else the name of its spec."""
        given = self.document.get("law_id")
        return given if isinstance(given, str) and given else self.law.name

    @property
    def facts(self):
        """What rankings read and memory keeps."""
        if self.held is None:
            self.held = self.told()
        return self.held

    def told(self):
        law, data = self.law, self.law.data
        names = [one["name"] for one in data.get("observables") or []]
        found = {node[0] for node in claim_nodes(law.claim)}
        return {
            "id": self.id,
            "template": law.form,
            "claim": law.said,
            "forbidden": law.forbidden,
            "T": law.T,
            "H": law.H or 0,
            "preconditions": [condition_text(one) for one in data.get("preconditions") or []],
            "observables": names,
            "measures": sorted({measured_digest(law, name) for name in names if name in law.quantities}),
            "operators": [op for op in LAW_ORDERS if op in found],
            "transform": data.get("transform") or "",
            "direction": data.get("direction") or "",
            "tests": [one["family"] for one in data.get("proposed_tests") or []],
            "missing": self.missing(names),
        }

    def missing(self, names):
        """What the law needs and its universe lacks."""
        law, data = self.law, self.law.data
        universe, wanted = law.universe, data.get("capability_requirements") or {}
        called = [data["transform"].strip().partition("(")[0]] if data.get("transform") is not None else []
        measured = [one for one in law.missing if one not in names] + wanted.get("primitive_observables", [])
        return {
            "observables": absent(measured, universe.observables),
            "transforms": absent(wanted.get("transforms", []) + called, universe.transforms),
            "generators": absent(wanted.get("generator_families", []), universe.generators),
            "tests": absent([one["family"] for one in data.get("proposed_tests") or []], universe.generators),
        }


def absent(labels, offered):
    """The names before any brackets that are not offered, each once, in order."""
    return sorted({one.partition("(")[0].strip() for one in labels} - set(offered))


def condition_text(said):
    """A precondition on one line."""
    return said if isinstance(said, str) else f"{said['lhs']} {said['op']} {said['rhs']}"


def stray_fields(law):
    """The fields that a law has and its template does not need, in the order in which warnings name them."""
    return sorted(name for name in LAW_FIELDS if name not in law.needs and law.data.get(name) is not None)
