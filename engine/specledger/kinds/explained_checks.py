"""What suites and profiles demand, in sentences made from their expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from specledger.kinds.explained_effects import ALWAYS
from specledger.kinds.explained_rules import names
from specledger.lang.english import amount, condition, names_in, says_condition, value
from specledger.lang.phrases import code, quoted
from specledger.lang.statement import Statement, listed
from specledger.load import Bundle
from specledger.spec.profile import Control, EvidenceCheck, Profile
from specledger.spec.suite import Check, Figure, Mutant, Suite
from specledger.spec.world import Function

_STATISTICS: Final = {
    "rate": "the share of those that hold, of",
    "mean": "the mean of",
    "sum": "the total of",
    "least": "the least of",
    "greatest": "the greatest of",
    "quantile": "the quantile of",
    "slope": "how fast this grows from episode to episode:",
    "effect": "how much more often than what stands against it this holds:",
    "difference": "by how much this is greater in the first arm than in the second:",
}
"""How a statistic of a figure is said."""


def suite(bundle: Bundle) -> Iterator[Statement]:
    """The checks, the figures that they read, and the mutants that they must notice."""
    model = bundle.main.model
    assert isinstance(model, Suite)  # noqa: S101 - it was loaded as one
    for check in model.checks:
        yield from _check(check)
    for name, figure in model.figures.items():
        yield _figure(name, figure)
    for mutant in model.mutants:
        yield _mutant(mutant)
    yield from names(model.measures, model.functions, model.constants)


def _check(check: Check) -> Iterator[Statement]:
    yield condition(check.require).after(f"Check {code(check.id)} demands that ")
    times = "once" if check.least == 1 else f"{check.least} times"
    yield Statement(
        f"It counts if it could have failed at least {times}; how often it could is {value(check.opportunities)}"
    )


def _figure(name: str, figure: Figure) -> Statement:
    text = str(getattr(figure, figure.statistic))
    over = figure.over if isinstance(figure.over, list) else [figure.over] if figure.over else []
    where = f"Over the runs of {listed(map(code, over))}" if over else "Over all runs"
    each = f", for each {figure.by}" if figure.by else ""
    head = f"{where}{each}, figure {code(name)} is"
    if figure.statistic == "rate" and says_condition(text):
        return condition(text).after(f"{head} how often it holds that ")
    said = amount(text)
    return said.after(f"{head} {_STATISTICS[figure.statistic]} ")


def _mutant(mutant: Mutant) -> Statement:
    done = [_change(path, given) for path, given in {**mutant.changes, **mutant.under}.items()]
    done += [
        f"the {role} is {code(_named(given))}"
        for role in ("world", "governor", "agent")
        if (given := getattr(mutant, role)) is not None
    ]
    done += ["runs are not made again"] if mutant.replay == "none" else []
    done += [f"the suite is {code(_named(mutant.suite))}"] if mutant.suite is not None else []
    what = listed(done) if done else "nothing is changed"
    return Statement(f"Mutant {code(mutant.id)} must make a check fail: in it {what}")


def _change(path: str, given: Any) -> str:
    if given is None:
        return f"{code(path)} is taken away"
    if isinstance(given, Mapping | list):
        return f"{code(path)} is other than it was" if given else f"{code(path)} is empty"
    return f"{code(path)} becomes {quoted(given) if isinstance(given, str) else code(str(given).lower())}"


def _named(key: object) -> str:
    return str(key).partition("/")[2].partition("@")[0] or str(key)


def profile(bundle: Bundle) -> Iterator[Statement]:
    """Each control with what shows it."""
    model = bundle.main.model
    assert isinstance(model, Profile)  # noqa: S101 - it was loaded as one
    for control in model.controls:
        yield from _control(control, model.functions)
    yield from names(model.functions, model.constants)


def _control(control: Control, functions: Mapping[str, Function]) -> Iterator[Statement]:
    about = f"Control {code(control.id)} asks: {quoted(control.says)}"
    parts = [_evidence(entry, functions) for entry in control.evidence]
    if control.checks:
        number = len(control.checks)
        parts.append(Statement(f"{number} test{'s' if number > 1 else ''} of the project must pass"))
    if not parts:
        yield Statement(f"{about}. Nothing shows it; its status is {quoted(control.status)}")
    else:
        yield Statement(f"{about}. It is shown if all of these hold", tuple(parts))
    if control.waiver is not None:
        waiver = control.waiver
        reason = quoted(waiver.reason)
        yield Statement(f"Up to {waiver.until} it is waived by {quoted(waiver.owner)}, who says {reason}")


def _evidence(entry: EvidenceCheck, functions: Mapping[str, Function]) -> Statement:
    spec = f"the {entry.kind or 'spec'} {code(entry.of)}" if entry.of else f"a {entry.kind}" if entry.kind else ""
    whose = f" of {spec}" if spec else ""
    if entry.check is not None:
        many = entry.check.endswith("/*")
        return Statement(f"{'every check' if many else 'the check'} {code(entry.check)}{whose} has passed")
    if entry.verified is not None:
        return Statement(f"verification{whose} shows that {quoted(entry.verified)}")
    several, every = _subjects(entry, whose, _reads(str(entry.require), functions))
    where = ""
    if entry.when is not None and entry.when != ALWAYS:
        about = condition(entry.when)
        if about.parts:
            demand = condition(str(entry.require))
            return Statement(f"for {several} where the first of these holds, the second does", (about, demand))
        where = f" where {about.text}"
    return condition(str(entry.require)).after(f"of {every}{where}, it is so that ")


def _reads(text: str, functions: Mapping[str, Function]) -> frozenset[str]:
    """The names that an expression reads, also in functions that it calls."""
    read = [*names_in(text)]
    for name in read:
        if name in functions:
            read += [inner for inner in names_in(functions[name].body) if inner not in read]
    return frozenset(read)


def _subjects(entry: EvidenceCheck, whose: str, reads: frozenset[str]) -> tuple[str, str]:
    """What a rule of a profile is asked of: beside a condition, and by itself."""
    if entry.receipts:
        both = f"every receipt of the type {code(entry.receipts)}{whose}"
        return both, both
    if "bundles" in reads and "bundle" not in reads:
        return "all bundles together", "all bundles together"
    beside = ", beside the others," if "bundles" in reads else ""
    return f"every bundle{whose}{beside}", f"the bundle{whose}{beside}"
