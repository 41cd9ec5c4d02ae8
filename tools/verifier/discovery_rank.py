"""Rankings made again: scores in millionths, the order of laws, what another weight would do (docs/ranking.md)."""

import re
from fractions import Fraction

from tools.verifier.basis import Open
from tools.verifier.cel import Failed, evaluate, parse

MILLION = 1_000_000
RANKED_WORD = re.compile(r"(?<![\w.'\"])[A-Za-z_]\w*", re.ASCII)


def millionths(text):
    """A decimal number of a spec, as a whole number of millionths."""
    return int(Fraction(text) * MILLION)


class Ranking:
    """One ranking, ready to score laws."""

    def __init__(self, spec):
        self.functions = {
            name: (tuple(one["args"]), parse(one["is"])) for name, one in spec.get("functions", {}).items()
        }
        self.constants = {name: constant_of(value) for name, value in spec.get("constants", {}).items()}
        self.lets = in_order(spec.get("let", {}))
        self.factors = {}
        for name, one in sorted(spec["factors"].items()):
            weight = millionths(one["weight"]) * (-1 if one.get("subtract") else 1)
            bounds = millionths(one.get("least", "0")), millionths(one.get("most", "1"))
            self.factors[name] = weight, millionths(one.get("start", "0")), bounds, one.get("rules", [])
        self.within = millionths(spec.get("sensitivity", "0.2"))

    def value(self, text, names):
        """The value of an expression; it has none if a name that it reads has none."""
        for word in RANKED_WORD.findall(text):
            if isinstance(names.get(word), Failed):
                raise names[word]
        return evaluate(parse(text), names, self.functions)

    def score(self, facts, warnings):
        """`{scores, overall}` of a law, and the exact sum that decides the order."""
        names = {**self.constants, **facts}
        for name, text in self.lets:
            try:
                names[name] = self.value(text, names)
            except Failed as failed:
                names[name] = failed
        scores, exact = {}, 0
        for factor, (weight, score, (least, most), rules) in self.factors.items():
            for index, rule in enumerate(rules):
                form = next(one for one in ("when", "per", "share") if one in rule)
                try:
                    found = int(self.value(rule[form], names))
                except Failed as failed:
                    said = f"rule {index} of {factor} adds nothing to {facts['law']['id']}: {failed.code}"
                    warnings.append(f"E_RANKING_RULE: {said}")
                    continue
                score += millionths(rule["add"]) * found // (MILLION if form == "share" else 1)
            scores[factor] = min(max(score, least), most)
            exact += weight * scores[factor]
        return {"scores": scores, "overall": exact // MILLION}, exact

    def ranked(self, laws, nearest, memory):
        """The laws in order, each with its scores and the exact sum; and what could not be evaluated."""
        told = {"accepted": "accepted_laws", "falsified": "falsified_laws", "unknown": "unknown_laws"}
        lists = {name: [one["facts"] for one in memory[key]] for name, key in told.items()}
        warnings, scored = [], []
        for law, match in zip(laws, nearest):
            like = {"similarity": match["similarity"], "match_type": match["match_type"]} if match else {}
            facts = {"law": law.facts, **lists, "similarity": 0, "match_type": "", **like}
            scored.append((law, *self.score(facts, warnings)))
        return sorted(scored, key=lambda one: -one[2]), warnings

    def sensitivity(self, scored):
        """For each factor, whether another weight of it would put another law first, and from which change on."""
        told = []
        for factor, (weight, _, _, _) in self.factors.items():
            best = None
            for place, (_, features, exact) in enumerate(scored[1:], 1):
                gain = weight * (scored[0][1]["scores"][factor] - features["scores"][factor])
                root = Fraction(exact - scored[0][2], gain) if gain else None
                if root is not None and root > -1 and (best is None or abs(root) < best[0]):
                    best = abs(root), int(root * MILLION), place
            changes = best is not None and best[0] < Fraction(self.within, MILLION)
            at, law = best[1:] if best else (None, None)
            told.append({"factor": factor, "changes": changes, "at": at, "law": law})
        return told


def constant_of(value):
    """A constant as expressions read it."""
    if isinstance(value, dict):
        if value.keys() == {"qfixed"}:
            return millionths(value["qfixed"])
        if value.keys() == {"$double"}:
            return float(value["$double"])
        raise Open("E_REPLAY", "a constant of a ranking is of a form that is not known here")
    return [constant_of(one) for one in value] if isinstance(value, list) else value


def in_order(lets):
    """Named expressions in an order in which each reads only those before it; of free ones the first by name."""
    left, done = dict(sorted(lets.items())), []
    while left:
        ready = [name for name, text in left.items() if not set(RANKED_WORD.findall(text)) & (left.keys() - {name})]
        if not ready:
            raise Open("E_REPLAY", "the named expressions of a ranking have no order that is seen here")
        done.append((ready[0], left.pop(ready[0])))
    return done
