"""The commands of the core, by the tasks under which `--help` lists them.

A module is imported when one of its commands is named, or when all are listed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import typer

from specledger.cli.output import with_output_options

Commands = Mapping[str, Any]
"""By name: functions with typer's annotations, or groups of them."""


def _agent() -> Commands:
    from specledger.cli.agent import agent

    return {"agent": agent}


def _authoring() -> Commands:
    from specledger.cli.authoring import explain, init, ls, new, schema

    return {"init": init, "new": new, "ls": ls, "explain": explain, "schema": schema}


def _demo() -> Commands:
    from specledger.cli.demo import demo

    return {"demo": demo}


def _golden() -> Commands:
    from specledger.cli.golden import golden

    return {"golden": golden}


def _inspection() -> Commands:
    from specledger.cli.inspection import diff, trace

    return {"trace": trace, "diff": diff}


def _keys() -> Commands:
    from specledger.cli.keys import keys

    return {"keys": keys}


def _layout() -> Commands:
    from specledger.cli.layout import fmt, migrate

    return {"fmt": fmt, "migrate": migrate}


def _report() -> Commands:
    from specledger.cli.report import report

    return {"report": report}


def _run() -> Commands:
    from specledger.cli.run import run

    return {"run": run}


def _shards() -> Commands:
    from specledger.cli.shards import merge

    return {"merge": merge}


def _specs() -> Commands:
    from specledger.cli.specs import check, plan, show_spec

    return {"check": check, "plan": plan, "show": show_spec}


def _verify() -> Commands:
    from specledger.cli.verify import seal, verify

    return {"verify": verify, "seal": seal}


COMMANDS: Final[Mapping[str, Mapping[str, Callable[[], Commands]]]] = {
    "Write specs": {
        "init": _authoring,
        "new": _authoring,
        "check": _specs,
        "fmt": _layout,
        "migrate": _layout,
        "show": _specs,
        "plan": _specs,
        "ls": _authoring,
        "explain": _authoring,
        "schema": _authoring,
    },
    "Run them": {"run": _run, "merge": _shards, "golden": _golden, "demo": _demo, "agent": _agent},
    "Verify and read evidence": {
        "verify": _verify,
        "report": _report,
        "trace": _inspection,
        "diff": _inspection,
        "seal": _verify,
        "keys": _keys,
    },
}


def names() -> frozenset[str]:
    """The names of all commands of the core."""
    return frozenset(name for commands in COMMANDS.values() for name in commands)


def add_commands(app: typer.Typer, name: str | None = None) -> None:
    """Add one command of the core to a command line, or all of them."""
    for panel, commands in COMMANDS.items():
        for known, module in commands.items():
            if name in (None, known):
                add_command(app, panel, known, module()[known])


def add_command(app: typer.Typer, panel: str, name: str, command: Any) -> None:
    """Add a command, or a group of them, under a heading of `--help`."""
    if isinstance(command, typer.Typer):
        app.add_typer(command, rich_help_panel=panel)
    else:
        app.command(name=name, rich_help_panel=panel)(with_output_options(command))
