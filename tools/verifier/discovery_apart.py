"""Whether two laws cannot follow from each other, whatever the rule: samples tell laws apart, and prove nothing.

The states that a claim reads are taken as any rings of one length (docs/ranking.md, Redundancy). A law that is false of
some of them where another one is true does not say the same.
"""

from tools.verifier.discovery_same import measured_tree
from tools.verifier.law_claim import APPLIED, CELLWISE, CLAIM_TRUE, claim_moved, claim_reads
from tools.verifier.law_quantity import IntegerLost
from tools.verifier.stream import Stream
from tools.verifier.values import BUDGET

APART_SAMPLES = 240


def told_apart(one, other):
    """Whether two laws do certainly not follow from each other."""
    if one.unknown is not None or other.unknown is not None or one.universe.key != other.universe.key:
        return True
    if frame_of(one) != frame_of(other):
        return True
    if one.cells or other.cells:
        return one.cells != other.cells or cell_rule(one) != cell_rule(other)
    if not (all_additive(one) and all_additive(other)):
        return True
    if max(one.waits, other.waits) > 1:
        if one.waits != other.waits or None in (one.antecedent, other.antecedent):
            return one.waits != other.waits
        pairs = [(one.antecedent, other.antecedent), (one.holds, other.holds)]
    else:
        pairs = [(whole_condition(one), whole_condition(other))]
    return any(differ(one, first, other, second) for first, second in pairs)


def frame_of(law):
    """What must be equal: starts and preconditions, and where they are restricted, the steps."""
    every = len(law.starts) == len(law.universe.alphabet) and law.where == CLAIM_TRUE
    where = None if law.where == CLAIM_TRUE else measured_tree(law).node(law.where)
    return law.starts, where, None if every else (law.first, law.steps)


def cell_rule(law):
    """What a law about single cells says: of a transform all but its rotation, of a symbol what it becomes."""
    if law.image is not None:
        return law.image.reflect, list(law.image.symbols)
    op, _, result = law.holds
    symbols = set(law.universe.alphabet)
    return law.antecedent[2], {result[1]} if op == "==" else symbols - {result[1]}


def all_additive(law):
    """Whether everything that a claim reads is a sum over windows: of nothing else two laws are proved equal."""
    names = {name for name, _, _ in claim_reads(law.claim)}
    return not names & {*CELLWISE} and all(law.quantities[name].terms() is not None for name in names)


def whole_condition(law):
    """What a law says of every step, as one node."""
    holds = law.holds
    for later in range(1, law.waits + 1):
        holds = ("or", holds, claim_moved(law.holds, later))
    return holds if law.antecedent is None else ("=>", law.antecedent, holds)


def differ(one, first, other, second):
    """Whether two conditions differ on a sample; an equality may be asked of other steps than those that it reads."""
    reads = [{(step, fixed) for _, step, fixed in claim_reads(node)} for node in (first, second)]
    if reads[0] != reads[1] and "==" in (first[0], second[0]):
        return False
    moments = sorted(reads[0] | reads[1])
    symbols, shortest = len(one.universe.alphabet), one.universe.shortest
    stream = Stream(0, "apart", symbols, shortest, len(moments))
    for number in range(APART_SAMPLES):
        size, rings = shortest + number % 4, {}
        for moment in moments:
            alike = rings and stream.integer(0, 1)
            ring = next(iter(rings.values())) if alike else [stream.integer(0, symbols - 1) for _ in range(size)]
            rings[moment] = bytes(stream.shuffle(ring))
        BUDGET.spend(size * 16)
        try:
            if bool(sampled(one, first, rings)) != bool(sampled(other, second, rings)):
                return True
        except IntegerLost:
            continue
    return False


def sampled(law, node, rings):
    """The value of a node where the states at its steps are these rings."""
    if node[0] == "const":
        return node[1]
    if node[0] == "obs":
        return law.quantities[node[1]].of(rings[node[2:]])
    if node[0] == "not":
        return not sampled(law, node[1], rings)
    return APPLIED[node[0]](sampled(law, node[1], rings), sampled(law, node[2], rings))
