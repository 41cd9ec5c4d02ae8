"""Prompts made again: the contract of a universe, the places in texts, the budget, and scrambling (docs/prompts.md)."""

import re
from functools import reduce
from string import ascii_lowercase, ascii_uppercase, digits

from tools.verifier.basis import Refuted, tagged, write
from tools.verifier.stream import Stream

PLACE = re.compile(r"\{\{([a-z][a-z0-9_]*(?:\.[A-Za-z0-9_]+)*)(?:\|([^{}]*))?\}\}")
STEERING = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
SCRAMBLED = re.compile(r"""(?P<quote>['"])(?P<symbol>\\?[!-~])(?P=quote)|(?P<word>[A-Za-z_][A-Za-z0-9_]*)""")
MEMORIES = ("accepted_laws", "falsified_laws", "unknown_laws", "counterexamples")
LAST_STEP, USUAL_STEPS = 200, 50


def shown_text(text):
    """A text on one line, with every character that could steer a terminal or hide written as an escape."""
    found = STEERING.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), text[:1000])
    return found + ("..." if len(text) > 1000 else "")


def tokens_of(text):
    """The estimate of a prompt's tokens: one for every four bytes begun."""
    return -(-len(text.encode(errors="replace")) // 4)


# Facts


def capabilities_of(universe):
    """What a universe offers, as memory holds it and prompts tell it."""
    measures = universe["observables"]
    signed = [f"{name}({', '.join(sorts)})" if sorts else name for name, sorts in measured_sorts(measures)]
    turned = [(name, sorted(one.get("args", {}))) for name, one in universe.get("transforms", {}).items()]
    return {
        "universe_id": universe["name"],
        "symbols": universe["alphabet"],
        "state_representation": "string",
        "primitive_observables": sorted(signed),
        "transforms": sorted(f"{name}({', '.join(args)})" if args else name for name, args in turned),
        "generator_families": sorted(universe["generators"]),
        "grid_length_range": [universe["ring"]["min"], universe["ring"]["max"]],
        "boundary": "periodic",
    }


def measured_sorts(observables):
    """Each observable with the sorts of its arguments, in the order of their names."""
    for name, one in observables.items():
        args = one.get("args", {})
        yield name, [args[arg] for arg in sorted(args)]


def contract_facts(universe, templates, scramble):
    """What a prompt may tell: the contract, the forms of laws, and the limits of steps."""
    offered = capabilities_of(universe)
    lists = {name: offered[name] for name in ("primitive_observables", "transforms", "generator_families")}
    symbols, name = offered["symbols"], offered["universe_id"]
    if scramble is not None:
        lists = {key: sorted(scramble.text(one) for one in listed) for key, listed in lists.items()}
        symbols, name = sorted(scramble.symbols.get(one, one) for one in symbols), scramble.text(name)
    return {
        "universe_id": name,
        "symbols": symbols,
        "state_representation": "string",
        "capabilities": lists,
        "config_knobs": {key: offered[key] for key in ("grid_length_range", "boundary")},
        "templates": [template_fact(one) for one in templates],
        "law": {"most_steps": LAST_STEP, "steps": USUAL_STEPS},
    }


def template_fact(template):
    """What a prompt may tell of a form of laws."""
    steps = template["for_all"]["t"]
    within = ", or one of the H steps after" if template.get("within") else ""
    cells = ", for every cell i" if template["for_all"].get("i") else ""
    parts = sorted(template.get("parts", {}).items())
    return {
        "name": template["name"],
        "doc": template.get("doc"),
        "needs": ["quantifiers.H" if one == "H" else one for one in template.get("needs", [])],
        "steps": f"{steps.get('from', 0)}..{steps.get('to', 'T')}{within}{cells}",
        "parts": [f"{name} ({part.get('sort', 'bool')} at {' or '.join(part['reads'])})" for name, part in parts],
        "claim": template["claim"],
    }


# Scrambling


class Scramble:
    """An exchange of symbols and of names; each is a swap, so that it is its own way back."""

    def __init__(self, universe, what, seed):
        self.symbols, self.names = {}, {}
        alphabet = universe["alphabet"]
        if "symbols" in what:
            free = [one for one in ascii_lowercase + ascii_uppercase + digits if one not in alphabet]
            self.swap(self.symbols, alphabet, Stream(seed, "scramble", "symbols").shuffle(free[: len(alphabet)]))
        if "names" in what:
            families = universe["generators"]
            groups = {"m": universe["observables"], "c": universe.get("transforms", {}), "f": families}
            groups["p"] = {one["beyond"] for one in families.values() if one.get("beyond") is not None}
            taken = {universe["name"]}.union(*groups.values())
            self.swap(self.names, [universe["name"]], [self.free("universe_u", taken)])
            for letter, group in groups.items():
                neutral = [self.free(f"{letter}{number}", taken) for number in range(1, len(group) + 1)]
                drawn = Stream(seed, "scramble", "names", letter).shuffle(neutral)
                self.swap(self.names, sorted(group), drawn)

    @staticmethod
    def swap(into, ours, theirs):
        for one, other in zip(ours, theirs):
            into[one], into[other] = other, one

    @staticmethod
    def free(name, taken):
        while name in taken:
            name += "_"
        return name

    def text(self, text):
        """Words with symbols exchanged where they stand in quotes, and names where they are whole words."""
        return SCRAMBLED.sub(self.word, text)

    def word(self, match):
        if match["word"] is not None:
            return self.names.get(match["word"], match["word"])
        other = self.symbols.get(match["symbol"][-1])
        if other is None:
            return match.group()
        return match["quote"] + ("\\" if other in "'\"\\" else "") + other + match["quote"]

    def law(self, value, key=""):
        """A law, or what is remembered of one; `key` is the key that the value stands under."""
        if isinstance(value, str):
            if key in ("const", "trigger_symbol", "result_symbol", "symbols"):
                return self.symbols.get(value, value)
            if key in ("start", "state", "states"):
                return "".join(self.symbols.get(one, one) for one in value)
            return self.text(value)
        renamed = key in ("params", "observables")
        if isinstance(value, list):
            return [self.law(one, "" if renamed else key) for one in value]
        if isinstance(value, dict) and renamed:
            return {self.names.get(name, name): self.law(one, key) for name, one in value.items()}
        return {name: self.law(one, name) for name, one in value.items()} if isinstance(value, dict) else value


# Texts


def fact_at(facts, path):
    """What a path leads to, or None."""
    return reduce(held_at, path.split("."), facts)


def held_at(holder, step):
    """What a mapping or a list holds at one step of a path, or None."""
    if isinstance(holder, list):
        place = int(step) if step.isdecimal() else len(holder)
        return holder[place] if place < len(holder) else None
    return holder.get(step) if isinstance(holder, dict) else None


def filled(text, facts):
    """A text with its places filled; what is filled in is never read for places itself."""

    def fact(match):
        value = fact_at(facts, match[1])
        if value is None or value in ("", []):
            return match[2] or ""
        return shown_text(value if isinstance(value, str) else write(value).decode())

    return PLACE.sub(fact, text)


def item_lines(section, facts, elements):
    """The line of each element of a section's list."""
    inner = [{**facts, **(one if isinstance(one, dict) else {"item": one})} for one in elements]
    return [filled(section.get("item", ""), one).rstrip("\n") for one in inner]


def section_text(section, facts, lines):
    """A section with the lines of its elements."""
    said = [filled(section["text"], facts).rstrip("\n")] if "text" in section else []
    if "each" in section and not lines:
        if "none" not in section:
            return ""
        said.append(filled(section["none"], facts).rstrip("\n"))
    return "\n".join([*said, *lines]) + "\n\n"


def sections_text(sections, facts):
    """Sections about lists that are among the facts."""
    said = ""
    for section in sections:
        listed = fact_at(facts, section["each"]) if "each" in section else None
        said += section_text(section, facts, item_lines(section, facts, listed if isinstance(listed, list) else []))
    return said


class PromptMaker:
    """Makes the prompts of one discovery."""

    def __init__(self, discovery, specs):
        self.key, proposer = discovery["prompt"], discovery.get("proposer", {})
        self.spec, universe = specs[self.key], specs[discovery["universe"]]
        self.budget = proposer.get("max_token_budget", 8000)
        self.gallery = proposer.get("include_counterexamples", True)
        what = self.spec.get("scramble", [])
        self.scramble = Scramble(universe, what, discovery.get("seed", 42)) if what else None
        forms = [specs[key] for key in discovery["templates"]]
        self.facts = contract_facts(universe, forms, self.scramble)
        self.system = sections_text(self.spec["system"], self.facts)
        asked = discovery.get("request", {})
        wanted, without = asked.get("target_templates"), asked.get("exclude_templates")
        names = [one["name"] for one in forms]
        self.allowed = [name for name in names if (wanted is None or name in wanted) and name not in (without or [])]
        request = {"count": asked.get("count", 5), "target_templates": wanted, "exclude_templates": without}
        self.told = {**self.facts, "request": {**request, "templates": self.allowed}}
        self.static = sections_text(self.spec["static"], self.told)

    def made(self, memory):
        """The text of a prompt, and what a receipt says of it, for a memory."""
        sections = self.spec.get("dynamic", [])
        lines = [item_lines(one, self.told, self.entries(memory, one["each"])) for one in sections]
        full = [len(one) for one in lines]
        while True:
            parts = [section_text(one, self.told, inner) for one, inner in zip(sections, lines)]
            text = self.static + "".join(parts)
            tokens = tokens_of(self.system) + tokens_of(text)
            if tokens <= self.budget:
                break
            if not any(lines):
                raise Refuted("E_REPLAY", f"the prompt has {tokens} tokens without any memory: no such run was made")
            longest = max((len(one), place) for place, one in enumerate(lines))[1]
            lines[longest].pop(0)
        dropped = {}
        for section, before, left in zip(sections, full, lines):
            dropped[section["each"]] = dropped.get(section["each"], 0) + before - len(left)
        digest = tagged("prompt", write({"system": self.system, "text": text}))
        return text, {"key": self.key, "digest": digest, "tokens": tokens, "dropped": dropped}

    def entries(self, memory, name):
        """A list of the memory as the model may see it."""
        if name == "counterexamples" and not self.gallery:
            return []
        return [one if self.scramble is None else self.scramble.law(one) for one in memory[name]]
