"""When two proposed laws are the same, or alike: fingerprints, and the index of known laws (docs/ranking.md).

A law's meaning is a tree of digests in which every integer is a polynomial over what the universe measures. Whether two
laws follow from each other is for a prover to say: a match of that kind is taken from the receipts, never found here.
"""

import re
from collections import Counter

from tools.verifier.basis import tagged, write
from tools.verifier.law_claim import CELLWISE, CLAIM_TRUE, SUM_SIGNS, claim_from_json
from tools.verifier.law_ring import CellScan

ONE_WHOLE = 1_000_000
TURNED = {">": "<", ">=": "<="}
COMMUTE, CHAINED = {"+", "*", "and", "or", "==", "!="}, {"+", "*", "and", "or"}
QUOTED_PART = re.compile(r"('[^']*'|\"[^\"]*\")")
SPOKEN = ("template", "quantifiers", "starts", "transform", "direction", "bound_op", "bound_value", "result_op")
MOST_MONOMIALS, MOST_PRODUCTS, MOST_DEGREE = 256, 4096, 16
SAYS = {
    "exact": "the same candidate",
    "fingerprint": "the same meaning, in other words",
    "normalized": "the same text, apart from order, case and white space",
}


def part_digest(parts):
    """The digest of a part of a law."""
    return tagged("law-part", write(parts))[:16]


# Polynomials: {sorted tuple of things that are multiplied: factor}


def joined_sums(op, left, right):
    """+, - or * of two polynomials; None if it becomes too large."""
    if left is None or right is None:
        return None
    found = Counter()
    if op == "*":
        degree = max(map(len, left), default=0) + max(map(len, right), default=0)
        if len(left) * len(right) > MOST_PRODUCTS or degree > MOST_DEGREE:
            return None
        for one, factor in left.items():
            for other, times in right.items():
                found[tuple(sorted(one + other))] += factor * times
    else:
        for things, factor in left.items():
            found[things] += factor
        for things, factor in right.items():
            found[things] += factor if op == "+" else -factor
    kept = {things: factor for things, factor in found.items() if factor}
    return kept if len(kept) <= MOST_MONOMIALS else None


def measure_digest(measure):
    """The digest of a measure of the universe."""
    if isinstance(measure, CellScan):
        return part_digest(["scan", measure.form, *measure.wanted])
    weights = ",".join(f"{one:x}" for one in measure.weights())
    return part_digest(["sum", measure.width, "0", weights])


def expanded(quantity):
    """An observable as a polynomial over measures; None if it becomes too large."""
    if quantity.op == "number":
        return {(): quantity.left} if quantity.left else {}
    if quantity.op == "measure":
        return {(measure_digest(quantity.left),): 1}
    return joined_sums(quantity.op, expanded(quantity.left), expanded(quantity.right))


def structure(quantity):
    """The digest of an observable as it was written."""
    if quantity.op == "number":
        return part_digest(["number", f"{quantity.left:x}"])
    if quantity.op == "measure":
        return measure_digest(quantity.left)
    parts = [structure(quantity.left), structure(quantity.right)]
    return part_digest([quantity.op, *(sorted(parts) if quantity.op in COMMUTE else parts)])


def polynomial(quantity):
    """An observable as a polynomial; one that is too large is one thing of its own."""
    found = expanded(quantity)
    return {(structure(quantity),): 1} if found is None else found


def moment_text(step, fixed):
    """A step as digests spell it."""
    return str(step) if fixed else "t" if step == 0 else f"t+{step}"


class PartTree:
    """Digests of trees, each made of those of its parts, which are counted; `read` gives an observable's polynomial."""

    def __init__(self, read):
        self.read, self.pieces = read, Counter()

    def piece(self, *parts):
        """The digest of a part."""
        made = part_digest(list(parts))
        self.pieces[made] += 1
        return made

    def node(self, node):
        """The digest of a node of a claim."""
        if is_integer(node):
            total = self.total(node)
            if total is not None:
                terms = [self.piece("term", f"{factor:x}", *things) for things, factor in total.items() if factor]
                return self.piece("sum", *sorted(terms))
        if node[0] == "const":
            return self.piece("const", node[1])
        if node[0] == "obs":
            return self.piece("cell", node[1], moment_text(*node[2:]))
        if node[0] == "not":
            return self.piece("not", self.node(node[1]))
        op, left, right = node
        if op in TURNED:
            op, left, right = TURNED[op], right, left
        parts = [self.node(one) for one in (chain(op, node) if op in CHAINED else (left, right))]
        return self.piece(op, *(sorted(parts) if op in COMMUTE else parts))

    def total(self, node):
        """An integer node as a polynomial over what is measured at a step."""
        if node[0] == "const":
            return {(): node[1]}
        if node[0] == "obs":
            at = moment_text(*node[2:])
            return {tuple(sorted(f"{one}@{at}" for one in things)): n for things, n in self.read(node[1]).items()}
        return joined_sums(node[0], self.total(node[1]), self.total(node[2]))


def is_integer(node):
    if node[0] == "const":
        return type(node[1]) is int
    return node[1] not in CELLWISE if node[0] == "obs" else node[0] in SUM_SIGNS


def chain(op, node):
    """The operands of `a op b op c`, however it is bracketed."""
    return chain(op, node[1]) + chain(op, node[2]) if node[0] == op else [node]


def measured_tree(law):
    """A tree in which observables of a law are written out."""
    known = {}

    def read(name):
        if name not in known:
            known[name] = polynomial(law.quantities[name])
        return known[name]

    return PartTree(read)


def measured_digest(law, name):
    """The digest of what an observable of a law measures."""
    return measured_tree(law).node(("obs", name, 0, False))


# Fingerprints


class Looks:
    """What is compared of a law: digests of content, meaning (or normal form), and how often each part occurs."""

    def __init__(self, proposal):
        law = proposal.law
        said = {key: value for key, value in proposal.document.items() if key != "law_id" and value is not None}
        self.id, self.law = proposal.id, law
        self.tiers = [("exact", tagged("law-content", write(said)))]
        if law.unknown is None:
            meaning, self.pieces = meaning_of(law)
            self.tiers.append(("fingerprint", meaning))
        else:
            normal, self.pieces = normal_of(said)
            self.tiers.append(("normalized", normal))
        self.size = sum(self.pieces.values())


def meaning_of(law):
    """The digest of what is judged, and its parts."""
    tree = measured_tree(law)
    antecedent = None if law.antecedent in (None, CLAIM_TRUE) else tree.node(law.antecedent)
    holds = tree.node(law.holds)
    where = None if law.where == CLAIM_TRUE else tree.node(law.where)
    starts = tree.piece("starts", law.universe.key, *law.starts)
    steps = tree.piece("steps", law.first, law.last, law.waits, law.cells)
    image, turned = law.image, None
    if image is not None:
        turned = tree.piece("image", image.reflect, image.shift, *image.symbols)
    meaning = tree.piece("law", starts, steps, where, turned, antecedent, holds)
    tree.piece("template", law.form)
    return meaning, tree.pieces


def plain_text(value):
    """A value with every text in lower case and without white space, except inside quotation marks."""
    if isinstance(value, str):
        halves = QUOTED_PART.split(value)
        return "".join(part if place % 2 else "".join(part.split()).lower() for place, part in enumerate(halves))
    if isinstance(value, dict):
        return {key: plain_text(one) for key, one in value.items()}
    return [plain_text(one) for one in value] if isinstance(value, list) else value


def normal_of(said):
    """The digest of the normal form, and its parts."""
    listed = said.get("observables", [])
    names = [one["name"] for one in listed]
    lowered = {name: name.lower() for name in names}
    if len(set(lowered.values())) < len(names):
        lowered = {name: name for name in names}
    tree = PartTree(lambda name: {(lowered.get(name, name),): 1})
    parts = [tree.piece(key, plain_text(said.get(key))) for key in SPOKEN]
    parts += [said.get("trigger_symbol"), said.get("result_symbol")]
    observed = sorted([lowered[one["name"]], plain_text(one["expr"])] for one in listed)
    parts += [tree.piece("observable", *one) for one in observed]
    parts += sorted(tree.piece("precondition", plain_text(one)) for one in said.get("preconditions", []))
    claim = said.get("claim_ast")
    told = tree.piece("claim", plain_text(said.get("claim"))) if claim is None else tree.node(claim_from_json(claim))
    return tree.piece("law", *parts, told), tree.pieces


def looks_of(proposal):
    """What is compared of a proposal, looked at once."""
    if proposal.looks is None:
        proposal.looks = Looks(proposal)
    return proposal.looks


# Known laws


def match_of(law_id, similarity, form, details):
    return {"matched_law_id": law_id, "similarity": similarity, "match_type": form, "details": details}


class KnownLaws:
    """Laws by what may make another one the same or alike, in the order in which they came."""

    def __init__(self, proposals=()):
        self.looks, self.equal, self.having = [], {}, {}
        for one in proposals:
            self.add(one)

    def add(self, proposal):
        """Learn a law."""
        looks, place = looks_of(proposal), len(self.looks)
        self.looks.append(looks)
        for tier in looks.tiers:
            self.equal.setdefault(tier, place)
        for piece, count in looks.pieces.items():
            self.having.setdefault(piece, []).append((place, count))

    def alike(self, looks, most):
        """Of the first laws, so many: that with most parts in common, as (parts of both, of either, its id)."""
        common, best = Counter(), None
        for piece, count in looks.pieces.items():
            for place, other in self.having.get(piece, ()):
                if place < most:
                    common[place] += min(count, other)
        for place, both in sorted(common.items()):
            either = looks.size + self.looks[place].size - both
            if best is None or both * best[1] > best[0] * either:
                best = both, either, self.looks[place].id
        return best


def same_match(proposal, indexes):
    """The known law that is the same, by its digests; `indexes` are pairs of known laws and how many of them count."""
    for tier in looks_of(proposal).tiers:
        for known, most in indexes:
            place = known.equal.get(tier, most)
            if place < most:
                return match_of(known.looks[place].id, ONE_WHOLE, tier[0], SAYS[tier[0]])
    return None


def near_match(proposal, indexes):
    """The known law that has most in common."""
    found = [known.alike(looks_of(proposal), most) for known, most in indexes]
    best = None
    for one in found:
        if one is not None and (best is None or one[0] * best[1] > best[0] * one[1]):
            best = one
    if best is None:
        return None
    both, either, law_id = best
    return match_of(law_id, ONE_WHOLE * both // either, "near", f"{both} of {either} parts in common")
