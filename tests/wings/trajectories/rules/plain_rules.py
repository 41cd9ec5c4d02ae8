"""Rules judged in the plainest way, from what `docs/policies.md` says: for each call all that was before it is looked at.

It shares nothing with the engine but the entries of a trajectory. Values are names of one word and small numbers, so
that how values are compared is no part of it. `None` is what nobody knows.
"""

from typing import Any

from msgspec import UNSET

from specledger.wings.trajectories.model import Call, Message, Result, Speaker, Withheld

HELD, BROKEN, UNJUDGED = "held", "broken", "unjudged"


def is_digest(value):
    return isinstance(value, Withheld) or (isinstance(value, dict) and set(value) == {"$withheld"})


def any_digest(value):
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return is_digest(value) or any(map(any_digest, members))


def both(truths):
    return False if False in truths else None if None in truths else True


def either(truths):
    return True if True in truths else None if None in truths else False


def argument(call, name):
    """The values of an argument that are there; None among them for one that nobody knows."""
    if isinstance(call.arguments, Withheld) or call.arguments is UNSET:
        return [None]
    value = call.arguments.get(name)
    values = value if isinstance(value, list) else [value]
    return [None if is_digest(each) else each for each in values if each is not None]


def parallel(one, two):
    return one.batch != 0 and (one.batch, one.actor) == (two.batch, two.actor)


class Plain:
    """What some rules make of a trajectory, whose calls all have the arguments `to`, `cc`, `amount` and `id`, or lack them."""

    def __init__(self, sets, rules, entries):
        self.sets, self.rules, self.entries = sets, rules, entries
        self.results = {}

    def outcomes(self):
        """By call and rule what became of it, in order."""
        said = {}
        for at, entry in enumerate(self.entries):
            if isinstance(entry, Call):
                self.at, self.now = at, entry
                for name, rule in self.rules.items():
                    status = self.judged(rule)
                    if status is not None:
                        said[entry.id, name] = status
        return said

    def calls(self, tool, until=None):
        """The calls of a tool before the call now, each with its place."""
        stop = self.at if until is None else until
        return [
            (at, entry)
            for at, entry in enumerate(self.entries[:stop])
            if isinstance(entry, Call) and tool in ("any", entry.tool)
        ]

    def content(self, call):
        """What came back from a call until now; None if nobody knows, or nothing came."""
        for entry in self.entries[: self.at]:
            if isinstance(entry, Result) and entry.call == call.id:
                return None if entry.content is UNSET or any_digest(entry.content) else entry.content
        return None

    def field(self, call, name):
        for entry in self.entries[: self.at]:
            if isinstance(entry, Result) and entry.call == call.id:
                content = entry.content
                if isinstance(content, Withheld) or content is UNSET:
                    return None
                value = content.get(name)
                return None if is_digest(value) else value
        return None

    def concerned(self, rule, call):
        """Whether a rule is about a call."""
        when = rule.get("when", {})
        if when.get("tool", "any") not in ("any", call.tool):
            return False
        if "if" not in when:
            return True
        amounts = argument(call, "amount")
        return amounts[0] > 2 if len(amounts) == 1 and amounts[0] is not None else None

    def judged(self, rule):
        about = self.concerned(rule, self.now)
        if about is not True:
            return None if about is False else UNJUDGED
        checks = []
        if "each" in rule:
            values = [value for path in rule["each"] for value in argument(self.now, path.removeprefix("args."))]
            known = [value for value in values if value is not None]
            if not known:
                return UNJUDGED if values else None
            checks += [self.value(rule, value) for value in known] + [None] * (len(known) < len(values))
        if "memory" in rule:
            checks.append(self.remembered(rule))
        for key in ("after", "not_after"):
            if key in rule:
                there = self.earlier(rule[key])
                checks.append(there if key == "after" or there is None else not there)
        holds = both(checks)
        return UNJUDGED if holds is None else HELD if holds else BROKEN

    def value(self, rule, value):
        demands = []
        for source in rule.get("not_from", ()):
            there = self.source(source, value)
            demands.append(None if there is None else not there)
        if "from" in rule:
            demands.append(either([self.source(source, value) for source in rule["from"]]))
        return both(demands)

    def source(self, source, value):
        """Whether a value is in a source, of which None says that nobody knows."""
        if isinstance(source, str):
            wanted = Speaker.USER if source == "request" else Speaker.SYSTEM
            texts = [
                e.text
                for e in self.entries[: self.at]
                if isinstance(e, Message) and e.speaker is wanted and (not e.actor or wanted is Speaker.SYSTEM)
            ]
            return either([None if isinstance(text, Withheld) else value in text.split() for text in texts])
        if "set" in source:
            return value in self.sets[source["set"]]
        found: list[bool | None] = []
        for _, call in self.calls(source.get("result_of") or source.get("text_of")):
            if parallel(call, self.now):
                continue
            counts = (
                both([self.same(source, call), self.fulfils(source, call)])
                if self.answered(call)
                else self.same(source, call)
            )
            content = self.content(call)
            if counts is False:
                continue
            if content is None or counts is None:
                found.append(None)
            elif "field" in source:
                found.append(content.get(source["field"]) == value)
            else:
                found.append(value in [word for each in content.values() for word in str(each).split()])
        if "same" in source and None in argument(self.now, source["same"].removeprefix("args.")) + [None] * (
            not argument(self.now, source["same"].removeprefix("args."))
        ):
            found = [None]
        return either(found)

    def answered(self, call):
        return any(isinstance(entry, Result) and entry.call == call.id for entry in self.entries[: self.at])

    def same(self, part, call):
        if "same" not in part:
            return True
        name = part["same"].removeprefix("args.")
        ours, theirs = argument(self.now, name), argument(call, name)
        if not ours or None in ours or None in theirs:
            return None
        return ours == theirs

    def fulfils(self, part, call):
        return self.field(call, "ok") if "if" in part else True

    def earlier(self, part):
        """Whether there is an earlier call."""
        found = []
        for at, call in self.calls(part["tool"]):
            later = [since for place, since in self.calls(part["since"]) if place > at] if "since" in part else []
            if parallel(call, self.now) or later or ("since" in part and part["since"] in ("any", call.tool)):
                continue
            found.append(both([self.same(part, call), self.fulfils(part, call)]))
        return either(found)

    def remembered(self, rule):
        """Whether the count, the sum or the number of equal calls in a row is within the bound."""
        (sort,), most = rule["memory"]["n"], int(float(rule["require"].split()[-1]))
        counted = [call for _, call in self.calls("any", self.at + 1)]
        about = [(call, self.concerned(rule, call)) for call in counted]
        about = [(call, sure) for call, sure in about if sure is not False]
        if sort == "repeats":
            return self.in_a_row(about, most)
        if any(sure is None for _, sure in about):
            return None
        amounts = [1 if sort == "count" else next(iter(argument(call, "amount")), None) for call, _ in about]
        known = [amount for amount in amounts if amount is not None]
        return None if len(known) < len(amounts) else sum(known) <= most

    def in_a_row(self, about, most):
        number: int | None = 0
        last: Any = None
        for call, sure in about:
            if sure is None or call.arguments is UNSET:
                number, last = None, None
            elif last is None or last == (call.tool, call.arguments):
                number, last = None if number is None else number + 1, (call.tool, call.arguments)
            else:
                number, last = 1, (call.tool, call.arguments)
        return None if number is None else number <= most
