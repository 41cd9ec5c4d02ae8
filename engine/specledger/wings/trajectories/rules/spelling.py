"""Words of rules that are misspelt: nothing that logs or lists of tools hold has such a name, but something nearly so.

A word is nearly another one if one character more, less, exchanged with its neighbour or other than the first makes it
that, or if they differ in `_`, `-`, `.` and letter case alone. So `get` and `set`, or `cc` and `bcc`, are two names.
Two letters are nearly three if the first one is the same: `to` and `too`. A tool is meant by its name without that
of its server, too: `mcp__bank__pay` by `pay`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from specledger.wings.trajectories.rules.accesses import Access, accesses, reaches, shown_steps
from specledger.wings.trajectories.rules.called import Called
from specledger.wings.trajectories.rules.reach import Obstacle, Tools, arguments_of
from specledger.wings.trajectories.spec.policy import Policy

MISSPELT: Final = "misspelt"
"""What a rule lacks by a word that is misspelt."""

_SHORTEST: Final = 3
_JOINS: Final = ("__", ".", "/", ":")
"""What joins the name of a server and that of a tool."""
_SIGNS: Final = str.maketrans("", "", "_-.")


def misspelling(policy: Policy, name: str, called: Called, listed: Tools | None) -> Obstacle | None:
    """The first word of a rule that is misspelt: a tool, or an argument; None if none is.

    `listed` are all tools that there are, None if nobody knows.
    """
    reads = accesses(policy, name)
    tools = {*called.calls, *(listed or {})}
    for access in reads if called.knows_tools else ():
        if access.every_tool or access.alternatives or any(map(access.matches, tools)):
            continue
        for tool, steps in access.origins.items():
            meant = nearly(tool, tools) or _behind_a_prefix(tool, tools)
            if meant:
                reason = f"no tool is {tool}, which `{access.key}` names"
                return Obstacle(MISSPELT, reason, steps, f"did you mean {meant}?")
    return next(_arguments(reads, called, listed or {}), None)


def _arguments(reads: Sequence[Access], called: Called, listed: Tools) -> Iterator[Obstacle]:
    for access in reads:
        there = called.arguments_of(access)
        names = arguments_of(access, listed)
        for path, origin in access.arguments.items() if there else ():
            if any(reaches(path, steps) for steps in there or ()) or (
                names is not None and path[:1] and path[0] in names
            ):
                continue
            if names is None and any(map(access.matches, listed)):
                continue  # a listed tool may have any argument
            meant = nearly(shown_steps(path), {shown_steps(steps) for steps in there or ()})
            if meant:
                reason = f"no call has `args.{shown_steps(path)}`"
                yield Obstacle(MISSPELT, reason, origin, f"did you mean `args.{meant}`?")


def nearly(word: str, others: Collection[str]) -> str:
    """The other word that was meant by a misspelt one; empty if none is written nearly so."""
    return next((other for other in sorted(others) if other != word and _is_near(word, other)), "")


def _behind_a_prefix(tool: str, tools: Collection[str]) -> str:
    """The tool whose name a server, or a set of tools, stands before: `mcp__bank__pay` for `pay`; empty if none is."""
    return next((other for other in sorted(tools) if other.endswith(tuple(f"{sign}{tool}" for sign in _JOINS))), "")


def _is_near(word: str, other: str) -> bool:
    least, difference = min(len(word), len(other)), abs(len(word) - len(other))
    if difference > _SHORTEST or least + difference < _SHORTEST:
        return False
    one, two = (text.translate(_SIGNS).casefold() for text in (word, other))
    if one == two:
        return True
    short, long_ = sorted((one, two), key=len)
    at = next((i for i, (a, b) in enumerate(zip(short, long_, strict=False)) if a != b), len(short))
    if len(short) != len(long_):
        return short[at:] == long_[at + 1 :] and (at > 0 or least >= _SHORTEST)
    exchanged = short[at : at + 2] == long_[at : at + 2][::-1] and short[at + 2 :] == long_[at + 2 :]
    return exchanged or (at > 0 and short[at + 1 :] == long_[at + 1 :])
