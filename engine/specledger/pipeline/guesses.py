"""Guesses about a spec that was looked at alone: specs that use it know better."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from specledger.core.diagnostics import Diagnostic, Rejected, Severity
from specledger.expr.errors import E_EXPR_SYNTAX
from specledger.kinds import KINDS
from specledger.lang.scope import E_NAME_TAKEN
from specledger.load import Search
from specledger.load.params import E_PARAM_MISSING
from specledger.pipeline.references import References
from specledger.pipeline.targets import expand_targets
from specledger.pipeline.whole import UsedSpec, Whole, among_specs

_RESERVED: Final = re.compile(r"['`](\w+)['`] is a reserved word of CEL")
MISSPELT: Final = "W_EXPR_MISSPELT"
"""The code of a guess, by its name: `compile.standalone`, which declares it, would load what compiles scenarios."""


def settle(
    findings: Sequence[Diagnostic],
    targets: Sequence[str],
    whole: Whole,
    check: Callable[[list[str]], Sequence[Diagnostic]],
) -> tuple[tuple[Diagnostic, ...], set[str]]:
    """The findings, of which none guesses that a name is misspelt in a spec that another one types.

    A file that nothing in `targets` uses is checked once more with the specs of its folder that use it: where these
    type it, what they find in it takes the place of the guesses.

    Returns:
        The findings, and the files in which there are errors that were not among those given.
    """
    guessed = {finding.span.file for finding in findings if finding.code == MISSPELT and finding.span}
    kept, wrong = list(findings), set[str]()
    for file in sorted(guessed):
        others = _without_guesses(kept, file)
        if whole.with_arguments(file) is not None:
            kept = others
        elif users := sorted(set(_users(file)) - set(targets)):
            judged = [finding for finding in check([*users, file]) if finding.span and finding.span.file == file]
            wrong |= {file for finding in judged if finding.severity is Severity.ERROR}
            kept = [*others, *(finding for finding in judged if finding not in others)]
    sure = {finding.span for finding in kept if finding.code != MISSPELT}
    return tuple(at for at in kept if at.code != MISSPELT or at.span not in sure), wrong


def without_missing(rejected: Rejected) -> list[Diagnostic]:
    """What is wrong in a spec that was looked at alone, beside that its own parameters have no values."""
    return [
        finding
        for finding in rejected.diagnostics
        if finding.code != E_PARAM_MISSING or finding.span not in [span for _, span in finding.related]
    ]


def without_repeated(findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings without those of expressions that use a name which is refused where it is declared."""
    refused = {_reserved(finding) for finding in findings if finding.code == E_NAME_TAKEN} - {None}
    return tuple(at for at in findings if at.code != E_EXPR_SYNTAX or _reserved(at) not in refused)


def _reserved(finding: Diagnostic) -> tuple[str, str] | None:
    """The file and the reserved word that a finding is about, if it is about one."""
    match = _RESERVED.fullmatch(finding.message)
    return (finding.span.file, match[1]) if match and finding.span else None


def used_in(
    file: str,
    targets: Sequence[str],
    wrong: set[str],
    alone: Rejected,
    whole: Whole,
    check: Callable[..., tuple[object, Sequence[Diagnostic]]],
) -> tuple[UsedSpec | None, Sequence[Diagnostic]]:
    """The spec of a file with the parameters that another one gives it, or what is wrong with it.

    Where no other of the targets refers to it, the specs of its folder that do are looked at.

    Args:
        file: Its file.
        targets: All files of the check.
        wrong: Those in which there are errors.
        alone: What is missing where it is looked at alone.
        whole: The specs of all targets.
        check: Checks other files in the same way, given a `whole` of their own.
    """
    used = whole.with_arguments(file)
    if used is not None or wrong.intersection(_users(file)):
        return used, ()
    users, around = sorted(set(_users(file)) - set(targets)), Whole()
    if not users:
        return None, alone.diagnostics
    found = [at for at in check([*users, file], whole=around)[1] if at.span and at.span.file == file]
    used = around.with_arguments(file)
    if any(finding.severity is Severity.ERROR for finding in found):
        return None, found
    return used, found if used is not None else alone.diagnostics


def _without_guesses(findings: Sequence[Diagnostic], file: str) -> list[Diagnostic]:
    return [
        finding for finding in findings if finding.code != MISSPELT or finding.span is None or finding.span.file != file
    ]


def _users(file: str) -> Iterator[str]:
    """The files in the folder of a spec that refer to it, directly or through others, and whose kinds type it."""
    folder = Path(file).parent.parent if among_specs(file) else Path(file).parent
    files = [name for name in expand_targets([str(folder)]).files if not _same(name, file)]
    references = References([*map(Path, files), Path(file)], Search.at(folder))
    dependents = references.dependents([Path(file)])
    for name in files:
        kind = references.kind(Path(name)) if Path(name).resolve() in dependents else None
        if kind is not None and KINDS[kind].compiles_alone:
            yield name


def _same(name: str, file: str) -> bool:
    return Path(name).resolve() == Path(file).resolve()
