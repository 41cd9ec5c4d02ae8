"""What the rules of a policy deny, in sentences made from their parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from specledger.core.events import Severity
from specledger.lang.english import condition, denial, value
from specledger.lang.phrases import code, quoted
from specledger.lang.statement import Statement, in_one_line, listed
from specledger.load import Bundle, Resolved
from specledger.wings.trajectories.spec.policy import (
    Count,
    Earlier,
    FieldSource,
    Kept,
    Policy,
    Read,
    Repeats,
    Rule,
    SetSource,
    Source,
    TextSource,
    Tools,
    When,
)


def policy(bundle: Bundle) -> Iterator[Statement]:
    """A sentence for each rule, and what the names in it stand for."""
    model = bundle.main.model
    assert isinstance(model, Policy)  # noqa: S101 - it was loaded as one
    for name, rule in model.rules.items():
        yield from _rule(name, rule, model)
    for name, tools in model.tools.items():
        yield Statement(f"{code(name)} are the tools {listed(map(code, tools))}")
    for name, members in model.sets.items():
        yield Statement(f"{code(name)} is a set of {len(members)} value{'s' if len(members) != 1 else ''}")


def rule_words(policy: Resolved, name: str) -> str:
    """What one rule of a policy says, as sentences in one text."""
    model = policy.model
    assert isinstance(model, Policy)  # noqa: S101 - it was loaded as one
    return " ".join(map(in_one_line, _rule(name, model.rules[name], model)))


def _rule(name: str, rule: Rule, model: Policy) -> Iterator[Statement]:
    verb = "denies" if Severity(rule.severity).impact.denies_call else "warns of"
    head = f"Rule {code(name)} {verb} {_subject(rule.when, model)}"
    where = None if rule.when.if_ is None else condition(rule.when.if_)
    if where is not None and not where.parts:
        head = f"{head} where {where.text}"
    reasons = [*_reasons(rule, model)]
    parts = [Statement(f"it is one for which {where.text}", where.parts)] if where is not None and where.parts else []
    if len(reasons) == 1 and not parts:
        yield reasons[0].after(f"{head} if ")
    elif reasons:
        only = Statement("at least one of these holds", tuple(reasons)) if len(reasons) > 1 else reasons[0]
        yield Statement(f"{head} if all of these hold", (*parts, only)) if parts else only.after(f"{head} if ")
    else:
        yield Statement(head, tuple(parts))
    if rule.else_ is not None:
        yield Statement(f"It then says {quoted(rule.else_)}")
    yield from _names(rule, model)


def _subject(when: When, model: Policy) -> str:
    if when.message is not None:
        of = "" if when.matches is None else f" in which the pattern {code(when.matches)} occurs"
        return f"a message of the {when.message}{of}"
    return f"a call of {_tools(when.tool, model)}" if when.tool is not None else "any call"


def _tools(tools: Tools, model: Policy) -> str:
    if isinstance(tools, str):
        if tools == "any":
            return "any tool"
        return f"one of {code(tools)}" if tools in model.tools else code(tools)
    return f"one of {listed(map(code, tools))}"


def _reasons(rule: Rule, model: Policy) -> Iterator[Statement]:
    """What makes a call break the rule."""
    if rule.require is not None:
        yield denial(rule.require)
    if rule.not_after is not None:
        yield _earlier(rule.not_after, model, came=True)
    if rule.after is not None:
        yield _earlier(rule.after, model, came=False)
    if rule.each is not None:
        types = rule.as_ if isinstance(rule.as_, list) else [rule.as_]
        paths = listed(map(code, rule.judged), "or")
        value_ = f"a value at {paths}, read as {listed(types, 'or')},"
        if rule.from_ is not None:
            sources = listed((_source(source, model) for source in rule.from_), "or")
            yield Statement(f"{value_} occurs in none of {sources}")
        if rule.not_from is not None:
            sources = listed((_source(source, model) for source in rule.not_from), "or")
            yield Statement(f"{value_} occurs in {sources}")


def _earlier(earlier: Earlier, model: Policy, *, came: bool) -> Statement:
    head = f"{'a' if came else 'no'} call of {_tools(earlier.tool, model)}"
    head += f" with the same {_same(earlier.same)}" if earlier.same is not None else ""
    tail = "was made before"
    tail += f", after the last call of {_tools(earlier.since, model)}" if earlier.since is not None else ""
    if earlier.if_ is None:
        return Statement(f"{head} {tail}")
    where = condition(earlier.if_)
    if where.parts:
        return Statement(f"{head} {tail} of which {where.text}", where.parts)
    return Statement(f"{head} for which {where.text} {tail}")


def _same(same: str | Mapping[str, str]) -> str:
    if isinstance(same, str):
        return code(same)
    return listed(f"{code(here)} as its {code(there)}" for here, there in same.items())


def _source(source: Source, model: Policy) -> str:
    if isinstance(source, str):
        return {"request": "the request", "system": "the system's instructions"}[source]
    if isinstance(source, SetSource):
        return f"the set {code(source.set_)}"
    if isinstance(source, FieldSource):
        fields = source.field if isinstance(source.field, list) else [source.field]
        return f"the results of {_tools(source.result_of, model)}{_which(source)} at {listed(map(code, fields), 'or')}"
    return f"the text of the results of {_tools(source.text_of, model)}{_which(source)}"


def _which(source: FieldSource | TextSource) -> str:
    """Which results are searched."""
    same = f" with the same {_same(source.same)}" if source.same is not None else ""
    return same if source.if_ is None else f"{same} for which {code(source.if_)} holds"


def _names(rule: Rule, model: Policy) -> Iterator[Statement]:
    reads = dict(rule.read)
    for earlier in (rule.after, rule.not_after):
        reads |= {} if earlier is None else dict(earlier.read)
    for source in (*(rule.from_ or ()), *(rule.not_from or ())):
        reads |= dict(source.read) if isinstance(source, FieldSource | TextSource) else {}
    for name, read in reads.items():
        yield Statement(_read(name, read, model))
    for name, kept in rule.memory.items():
        yield Statement(f"{code(name)} is {_kept(kept)}")


def _read(name: str, read: Read, model: Policy) -> str:
    of = f" of the last result of {_tools(read.of, model)}" if read.of is not None else ""
    of += f" with the same {_same(read.same)}" if read.same is not None else ""
    if read.matches is not None:
        return f"{code(name)} is whether the pattern {code(read.matches)} occurs in {code(read.path)}{of}"
    return f"{code(name)} is {code(read.path)}{of}, read as {read.as_}"


def _kept(kept: Kept) -> str:
    if isinstance(kept, Count):
        return "how many such calls there were, this one included"
    if isinstance(kept, Repeats):
        return "how many calls in a row, up to this one, are the same"
    return f"the total of {value(kept.sum)} over such calls, this one included"
