"""Coverage and mutants as lines for people, and as JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from specledger.core.diagnostics import counted, printable
from specledger.core.spans import Span
from specledger.wings.trajectories.coverage import Coverage, RuleCoverage
from specledger.wings.trajectories.findings import located
from specledger.wings.trajectories.mutants.logs import OPERATORS
from specledger.wings.trajectories.mutants.mutation import Mutants, RuleMutation
from specledger.wings.trajectories.tools.fit import Misfit

_SHOWN: Final = 20
_NEVER: Final = "have an opportunity"
_UNNOTICED: Final = 5
"""Mutants of one rule that nothing noticed, in text."""


def coverage_text(coverage: Coverage) -> Iterator[str]:
    """Rules that could notice nothing, with reasons, then tools and arguments that no rule reads."""
    for rule in coverage.rules:
        yield from _rule_text(rule)
    if coverage.unnamed:
        tools = ", ".join(f"{printable(tool)} {number}" for tool, number in [*coverage.unnamed.items()][:_SHOWN])
        yield f"tools that no rule names: {tools}{_more(len(coverage.unnamed))}"
    unread = [f"{tool}.{argument}" for tool, arguments in coverage.unread.items() for argument in arguments]
    if unread:
        yield f"arguments that no rule reads: {', '.join(map(printable, unread[:_SHOWN]))}{_more(len(unread))}"


def _more(number: int) -> str:
    return f" and {number - _SHOWN} more" if number > _SHOWN else ""


def _rule_text(rule: RuleCoverage) -> Iterator[str]:
    name = printable(rule.rule)
    for key, span, times in rule.broken:
        yield printable(f"{span}: {name} is broken {counted(times, 'time')} by its `{key}`")
    if rule.reason:
        word = "has no opportunity yet" if rule.able else f"can never {'be broken' if rule.reachable else _NEVER}"
        hint = f"; {printable(rule.hint)}" if rule.hint else ""
        yield f"{printable(str(rule.place))}: {name} {word}: {printable(rule.reason)}{hint}"
    missing = [tool for tool in rule.missing if tool.span != rule.place and (tool.key != "when" or not rule.reason)]
    for tool in [tool for tool in missing if tool.meant][:_SHOWN]:
        words = f"{name} names {tool.tool} ({tool.key}), which was never called; did you mean {tool.meant}?"
        yield printable(f"{tool.span}: {words}")
    others = [tool for tool in missing if not tool.meant]
    if others:
        tools = ", ".join(f"{tool.tool} ({tool.key})" for tool in others[:_SHOWN])
        yield printable(f"{others[0].span}: {name} names tools that were never called: {tools}{_more(len(others))}")
    for read in rule.misspelt[:_SHOWN]:
        yield printable(f"{read.span}: {name} reads {read.word}, which no call has; did you mean {read.meant}?")
    for absent in rule.fields[:_SHOWN]:
        none = f"none of {counted(absent.results, 'result')} of {' or '.join(absent.tools[:5])}"
        hint = f"; did you mean {absent.meant}?" if absent.meant else ""
        looks = "reads" if absent.read else "looks for the field"
        yield printable(f"{absent.span}: {name} {looks} {absent.word}, which {none} has{hint}")


def coverage_document(coverage: Coverage) -> dict[str, Any]:
    """Coverage as JSON values."""
    return {
        "rules": {
            rule.rule: {
                **_at(rule.place),
                "calls": rule.calls,
                "opportunities": rule.opportunities,
                "reachable": rule.reachable,
                "breakable": rule.breakable,
                "missing": [
                    {"key": tool.key, "tool": tool.tool, "meant": tool.meant, **_at(tool.span)} for tool in rule.missing
                ],
                "reason": rule.reason,
                "hint": rule.hint,
                "meant": list(dict.fromkeys(tool.meant for tool in rule.missing if tool.meant)),
                "broken": [{"key": key, "times": times, **_at(span)} for key, span, times in rule.broken],
                "fields": [
                    {"field": f.word, "meant": f.meant, "tools": list(f.tools), "results": f.results, **_at(f.span)}
                    for f in rule.fields
                ],
                "misspelt": [{"argument": r.word, "meant": r.meant, **_at(r.span)} for r in rule.misspelt],
            }
            for rule in coverage.rules
        },
        "unnamed": coverage.unnamed,
        "unread": {tool: list(arguments) for tool, arguments in coverage.unread.items()},
    }


def _at(span: Span) -> dict[str, Any]:
    return {"file": span.file, "line": span.start.line, "column": span.start.column}


def mutants_text(mutants: Mutants) -> Iterator[str]:
    """A table of the mutants of each rule, then the rules that none reached and the parts that nothing noticed."""
    yield f"mutants, at most {mutants.number} of each sort for each rule, by the seed {mutants.seed}: noticed of tried"
    rows = [("rule", "of the rule", *OPERATORS)]
    for name, rule in mutants.rules.items():
        both = len(rule.noticed), len(rule.noticed) + len(rule.unnoticed)
        tried = [f"{rule.changed[word]}/{rule.tried[word]}" if rule.tried[word] else "-" for word in OPERATORS]
        rows.append((printable(name), f"{both[0]}/{both[1]}", *tried))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        first, *others = zip(row, widths, strict=True)
        yield "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)])
    idle = [printable(name) for name, rule in mutants.rules.items() if not rule.reached]
    if idle:
        yield f"no mutant of a trajectory changed a verdict of: {', '.join(idle)}"
    indifferent = [printable(name) for name, rule in mutants.rules.items() if rule.indifferent]
    if indifferent:
        yield f"no mutant of the rule itself changed a verdict of: {', '.join(indifferent)}"
    for name, rule in mutants.rules.items():
        yield from _unnoticed(name, rule)
    if mutants.stopped:
        yield "the mutants ended at their bound of work: fewer logs, or fewer mutants, are judged to the end"


def _unnoticed(name: str, rule: RuleMutation) -> Iterator[str]:
    for text in rule.unnoticed[:_UNNOTICED]:
        yield f"{printable(name)}: no verdict differs with {printable(text)}"
    if len(rule.unnoticed) > _UNNOTICED:
        yield f"{printable(name)}: and {counted(len(rule.unnoticed) - _UNNOTICED, 'mutant')} more"


def mutants_document(mutants: Mutants) -> dict[str, Any]:
    """Mutants as JSON values."""
    return {
        "seed": mutants.seed,
        "most": mutants.number,
        "stopped": mutants.stopped,
        "rules": {
            name: {
                "noticed": [{"change": text, "trajectory": where} for text, where in rule.noticed.items()],
                "unnoticed": rule.unnoticed,
                "reached": rule.reached,
                "trajectories": {
                    word: {"tried": rule.tried[word], "noticed": rule.changed[word]}
                    for word in OPERATORS
                    if rule.tried[word]
                },
            }
            for name, rule in mutants.rules.items()
        },
    }


def misfits_text(misfits: Sequence[Misfit]) -> Iterator[str]:
    """Calls that do not fit their tool, each sort once with its first call."""
    for misfit in misfits[:_SHOWN]:
        first = printable(located(misfit.file, misfit.line, "", misfit.call))
        yield f"{first}: {counted(misfit.count, 'call')} of {printable(misfit.tool)} that {_fit(misfit.count)}: " + (
            printable(misfit.problem)
        )
    if len(misfits) > _SHOWN:
        yield f"and {len(misfits) - _SHOWN} more that do not fit"


def _fit(number: int) -> str:
    return "does not fit" if number == 1 else "do not fit"


def misfits_document(misfits: Sequence[Misfit]) -> list[dict[str, Any]]:
    """Calls that do not fit their tool as JSON values."""
    return [{name: getattr(misfit, name) for name in Misfit.__struct_fields__} for misfit in misfits]
