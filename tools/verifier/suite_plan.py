"""Which runs a suite leads to: arms, seeds, mutants and controls, and the specs that each run is made from.

A run's specs are those of the suite's scenario with changes laid over it. The resolved form of a change is not made
here; a run's own specs are compared with the changes instead, value by value.
"""

import re

from tools.verifier.basis import Open, demand, write
from tools.verifier.declared import from_decimals

SET_STEP = re.compile(r'\s*(?:"([^"]*)"|([^."]+))\s*(?:\.|$)')
DECIMAL = re.compile(r"-?[0-9]{1,19}(\.[0-9]{1,6}0{0,20})?")
SCENARIO_FIELD = re.compile(r"scenario/[^.]*\.[a-z]+")
SUITE_PLACES = ("world", "governor", "agent", "drift", "invariants")
SUITE_STATISTICS = ("rate", "mean", "sum", "least", "greatest", "quantile", "slope", "difference")
SPEC_DEFAULTS = {"episodes": 1, "seed": 0, "commit": "proposals"}


class SetValue:
    """A value as a suite's `set` says it: what equals a default is not in the resolved form."""

    def __init__(self, value):
        self.value = value


class SuiteCase:
    """One run: where it lies, what it is called, and its scenario with everything laid over it."""

    def __init__(self, place, names, known, root, suite):
        self.place, (self.arm, self.scenario, self.run) = place, names
        self.known, self.root, self.suite, self.seed = known, root, suite, None

    @property
    def heading(self):
        """What each of its episodes is told."""
        return {"run": self.run, "arm": self.arm, "scenario": self.scenario, "seed": self.seed}


class SuiteTrial:
    """Runs together with the suite that asks about them."""

    def __init__(self, suite, cases, compared):
        self.suite, self.cases, self.compared = suite, cases, compared


def set_path(text):
    """The keys of a dotted path."""
    steps, at = [], 0
    while at < len(text):
        match = SET_STEP.match(text, at)
        demand(match, "E_SPECS", f"{text!r} is no path")
        steps.append(match[1] if match[1] is not None else match[2].strip())
        at = match.end()
    return steps


class SuitePlan:
    """The trials of a suite: its own, and for each mutant a control and the mutated one."""

    def __init__(self, specs, root):
        self.specs, self.root, self.data = specs, root, specs[root]
        self.own = self.trial(root, "runs", None, [], {})
        self.mutants, controls = [], {}
        for mutant in self.data.get("mutants") or []:
            key = mutant.get("suite") or root
            demand(specs[key].get("runs"), "E_SPECS", "a mutant is tried on a suite without runs")
            chosen = [mutant.get(name) for name in ("arms", "scenarios", "under")]
            same = write([key, *chosen])
            if key == root and not any(chosen):
                controls.setdefault(same, self.own)
            under = list((mutant.get("under") or {}).items())
            if same not in controls:
                controls[same] = self.trial(key, f"controls/{mutant['id']}", mutant, under, {})
            places = {name: mutant[name] for name in SUITE_PLACES if mutant.get(name) is not None}
            changes = under + list((mutant.get("set") or {}).items())
            mutated = self.trial(key, f"mutants/{mutant['id']}", mutant, changes, places)
            if mutant.get("replay") is not None:
                mutated.compared = mutant["replay"] == "bytes"
            self.mutants.append((mutant["id"], controls[same], mutated))

    def trials(self):
        """Every trial once, in order."""
        found = [self.own]
        for _, control, mutated in self.mutants:
            found += [one for one in (control, mutated) if one not in found]
        return found

    def trial(self, key, folder, mutant, changes, places):
        """The runs of a suite, all or those that a mutant chooses."""
        data, cases = self.specs[key], []
        for name in sorted(data.get("runs") or {}):
            if mutant is None or mutant.get("arms") is None or name in mutant["arms"]:
                cases += self.arm(key, name, folder, mutant, (changes, places))
        called = [case.place.casefold() for case in cases]
        demand(len({*called}) == len(called), "E_SPECS", "two runs have one name")
        return SuiteTrial(key, cases, data.get("replay", "none") == "bytes")

    def arm(self, key, name, folder, mutant, laid):
        """The runs of one arm."""
        arm, cases = self.specs[key]["runs"][name], []
        changes = [*(arm.get("set") or {}).items(), *laid[0]]
        places = {one: arm[one] for one in SUITE_PLACES if arm.get(one) is not None}
        places.update(laid[1])
        for scenario in arm["scenarios"]:
            called = self.specs[scenario]["name"]
            if mutant is not None and mutant.get("scenarios") is not None and called not in mutant["scenarios"]:
                continue
            for seed in arm.get("seeds") or [None]:
                known = dict(self.specs)
                root = overlaid(known, scenario, places if seed is None else {**places, "seed": seed}, changes)
                run = f"{name}.{called}" + ("" if seed is None else f".{seed}")
                cases.append(SuiteCase(f"{folder}/{run}", (name, called, run), known, root, key))
        return cases


def overlaid(known, key, places, changes):
    """The key of a scenario with changes laid over it; what they make is added to the known specs."""
    if places:
        data = {**known[key], **{name: SetValue(value) for name, value in places.items()}}
        key = kept_spec(known, data)
    for text, value in changes:
        key = applied(known, key, set_path(text), value)
    return key


def kept_spec(known, data):
    """Keep a changed spec under a new key."""
    key = f"#{len(known)}"
    known[key] = data
    return key


def applied(known, key, steps, value):
    """The key of a spec after one change."""
    return kept_spec(known, put_value(known, known[key], steps, value))


def put_value(known, node, steps, value):
    """A value with another one at a path below it; None takes away what is there."""
    if not steps:
        return SetValue(value)
    if isinstance(node, SetValue):
        held = node.value
        node = {name: SetValue(one) for name, one in held.items()} if isinstance(held, dict) else held
        node = [SetValue(one) for one in held] if isinstance(held, list) else node
    if isinstance(node, str) and node in known:
        return applied(known, node, steps, value)
    step, rest = steps[0], steps[1:]
    if isinstance(node, list):
        place = element_place(node, step)
        inner = [] if not rest and value is None else [put_value(known, node[place], rest, value)]
        return node[:place] + inner + node[place + 1 :]
    demand(isinstance(node, dict) and (step in node or not rest), "E_SPECS", f"a change has no place: {step!r}")
    left = {name: one for name, one in node.items() if name != step}
    if rest or value is not None:
        left[step] = put_value(known, node.get(step), rest, value)
    return left


def element_place(elements, step):
    """The place of an element of a list, by index, id or name."""
    labels = [element_label(one) for one in elements]
    place = int(step) if step.isascii() and step.isdigit() and len(step) < 9 else len(elements)
    place = labels.index(step) if step in labels else place
    demand(place < len(elements), "E_SPECS", f"there is no element {step!r}")
    return place


def element_label(element):
    """What an element is called: its id or name, the name in a key, or itself."""
    element = element.value if isinstance(element, SetValue) else element
    if isinstance(element, str):
        return element.partition("/")[2].partition("@")[0] or element
    if not isinstance(element, dict):
        return None
    found = next((element[name] for name in ("id", "name") if name in element), None)
    return str(found.value if isinstance(found, SetValue) else found)


# A run's own specs, held against the changes


def check_overlay(known, key, specs):
    """See that the specs of a run are those that a suite leads to, and no others."""
    visited = set()
    same_spec(known, key, specs["specs"], specs["root"], visited)
    demand(visited == specs["specs"].keys(), "E_RUNS", "it holds specs that the suite does not lead to")


def same_spec(known, key, found, other, visited):
    """See that a spec of a run is one of the suite's, or what changes made of it."""
    demand(isinstance(other, str) and other in found, "E_RUNS", f"it lacks a spec that the suite leads to: {key}")
    demand(key.startswith("#") or key == other, "E_RUNS", f"it was made from {other}, the suite leads to {key}")
    visited.add(other)
    same_value(known, known[key], found, found[other], visited, other)


def same_value(known, mine, found, other, visited, where):
    """See that a value of a run's specs is the one that the suite leads to."""
    if isinstance(mine, SetValue):
        same_set_value(known, mine.value, found, other, visited, where)
    elif isinstance(mine, str) and mine in known:
        same_spec(known, mine, found, other, visited)
    elif isinstance(mine, dict):
        demand(isinstance(other, dict) and other.keys() <= mine.keys(), "E_RUNS", f"{where} is another one")
        for name, one in mine.items():
            inner = f"{where}.{name}"
            if name in other:
                same_value(known, one, found, other[name], visited, inner)
            else:
                left_out(one, name, inner)
    elif isinstance(mine, list):
        demand(isinstance(other, list) and len(other) == len(mine), "E_RUNS", f"{where} is another one")
        for place, one in enumerate(mine):
            same_value(known, one, found, other[place], visited, f"{where}.{place}")
    else:
        demand(type(mine) is type(other) and mine == other, "E_RUNS", f"{where} is another one")


def left_out(mine, name, where):
    """See that a value that a run's specs leave out is a default of its kind; what is not known here is left open."""
    demand(not holds_unset(mine), "E_RUNS", f"{where} is missing")
    value = plain_value(mine)
    if value in ({}, [], None, "") or value is False:
        return
    if name not in SPEC_DEFAULTS or not SCENARIO_FIELD.fullmatch(where):
        raise Open("E_SPECS", f"whether {where} equals its default is not known here")
    demand(value == SPEC_DEFAULTS[name], "E_RUNS", f"{where} is missing")


def holds_unset(mine):
    """Whether a value holds something that no `set` put there."""
    if isinstance(mine, SetValue):
        return False
    inner = mine.values() if isinstance(mine, dict) else mine if isinstance(mine, list) else None
    return inner is None or any(holds_unset(one) for one in inner)


def plain_value(mine):
    """A value without marks."""
    mine = mine.value if isinstance(mine, SetValue) else mine
    if isinstance(mine, dict):
        return {name: plain_value(one) for name, one in mine.items()}
    return [plain_value(one) for one in mine] if isinstance(mine, list) else mine


def same_set_value(known, mine, found, other, visited, where):
    """The same of what a `set` put there: scalars by their text, and what is left out is a default."""
    if isinstance(mine, dict) and "$double" not in mine:
        marked = {name: SetValue(one) for name, one in mine.items()}
        same_value(known, marked, found, other, visited, where)
    elif isinstance(mine, list):
        same_value(known, [SetValue(one) for one in mine], found, other, visited, where)
    elif isinstance(mine, str) and mine in known:
        same_spec(known, mine, found, other, visited)
    else:
        same = scalar_text(mine) == scalar_text(other) or (isinstance(other, str) and same_number(mine, other))
        demand(same, "E_RUNS", f"{where} is another one")


def same_number(mine, text):
    """Whether a number of a `set` is the fixed-point number that the resolved form has in its place."""
    given = scalar_text(mine)
    return bool(DECIMAL.fullmatch(given) and DECIMAL.fullmatch(text)) and from_decimals(given) == from_decimals(text)


def scalar_text(value):
    """A scalar as a spec writes it."""
    if isinstance(value, dict) and value.keys() == {"$double"}:
        return value["$double"]
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (int, str)) else write(value).decode()
