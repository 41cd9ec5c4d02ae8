"""Options of every command: colour, and how much is printed.

What a command line asks for is read from its words, so that refusals of wrong command lines follow it, too.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import wraps
from itertools import pairwise
from typing import Annotated, Any, Final, TextIO, TypeVar, cast

import typer
from msgspec import Struct

_PANEL: Final = "Output"


class Color(StrEnum):
    """When output is coloured."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


_Color = Annotated[Color, typer.Option("--color", rich_help_panel=_PANEL, help="Colour; auto is for terminals only.")]
_Quiet = Annotated[
    bool,
    typer.Option("-q", "--quiet", rich_help_panel=_PANEL, help="Print only what is wrong, and what was asked for."),
]
_Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", rich_help_panel=_PANEL, help="Explain each finding, and name the files read.")
]
_SHARED: Final[Mapping[str, tuple[Any, Any]]] = {
    "color": (_Color, Color.AUTO),
    "quiet": (_Quiet, False),
    "verbose": (_Verbose, False),
}

_Command = TypeVar("_Command", bound=Callable[..., Any])


def with_output_options(command: _Command) -> _Command:
    """The command with the options of every command, which `Terminal` reads."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        return command(*arguments, **{name: value for name, value in options.items() if name not in _SHARED})

    signature = inspect.signature(command, eval_str=True)
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _SHARED.items()
    ]
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *more])  # type: ignore[attr-defined]
    run.__annotations__ = {**command.__annotations__, **{one.name: one.annotation for one in more}}
    return cast(_Command, run)


class Terminal(Struct, frozen=True):
    """How a command prints.

    Attributes:
        color: `auto`, `always` or `never`.
        quiet: Whether only what is wrong, and what was asked for, is printed.
        verbose: Whether findings are explained and read files named.
        plain: Whether the environment forbids colour where nothing was asked for; `forced` whether it demands it.
    """

    color: str
    quiet: bool
    verbose: bool
    plain: bool
    forced: bool

    @classmethod
    def of(cls, words: Sequence[str], environment: Mapping[str, str]) -> Terminal:
        """Read a command line and the environment (NO_COLOR, FORCE_COLOR, TERM)."""
        options = [word for word in words if word.startswith("-")]
        asked = [
            after if word == "--color" else word.partition("=")[2]
            for word, after in pairwise([*words, ""])
            if word.partition("=")[0] == "--color"
        ]
        return cls(
            color=asked[-1] if asked else Color.AUTO,
            quiet="-q" in options or "--quiet" in options,
            verbose="-v" in options or "--verbose" in options,
            plain=bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb",
            forced=bool(environment.get("FORCE_COLOR")),
        )

    def colors(self, stream: TextIO) -> bool:
        """Whether text on a stream is coloured."""
        if self.color in (Color.ALWAYS, Color.NEVER):
            return self.color == Color.ALWAYS
        return not self.plain and (self.forced or stream.isatty())


_STYLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "carets": {"fg": "red"},
    "note": {"fg": "cyan"},
    "good": {"fg": "green"},
    "bad": {"fg": "red", "bold": True},
    "unsure": {"fg": "yellow"},
}
_PAINTED: Final = (
    r"(?P<error>\berror\[\w+\])|(?P<warning>\bwarning\[\w+\])|(?P<carets>(?<=\| )[ ]*\^+$)"
    r"|(?P<note>^  (?:hint|expected|found):)|(?P<good>\b(?:PASS|PROVED)\b|^ok\b|^(?:\d+\. )?ok\b)"
    r"|(?P<bad>\b(?:FAIL|FAILED|REFUTED|VIOLATES|ERROR)\b)|(?P<unsure>\b(?:INCONCLUSIVE|UNKNOWN)\b)"
)


def paint(text: str) -> str:
    """Text for people with its findings and verdicts in colour."""
    return re.sub(_PAINTED, lambda match: typer.style(match[0], **_STYLES[str(match.lastgroup)]), text, flags=re.M)
