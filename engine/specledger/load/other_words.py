"""What people write who know other tools, and what is meant here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

OTHER_KEYS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("allow", "assert", "must", "permit", "condition", "check", "predicate"), "require"),
    **dict.fromkeys(("forbid", "reject", "block", "never", "disallow"), "deny"),
    **dict.fromkeys(("actions", "proposals", "moves", "options"), "candidates"),
    **dict.fromkeys(("reward", "value", "utility", "policy", "preference"), "score"),
    **dict.fromkeys(("max_steps", "steps", "length", "timesteps", "max_turns"), "horizon"),
    **dict.fromkeys(("runs", "repeat", "repetitions", "trials", "n_episodes"), "episodes"),
    **dict.fromkeys(("description", "comment", "about", "title"), "doc"),
    **dict.fromkeys(("parameters", "variables", "arguments"), "params"),
    **dict.fromkeys(("goal", "done", "terminal"), "success"),
    **dict.fromkeys(("initial", "init", "initial_state"), "start"),
    **dict.fromkeys(("assertions", "properties"), "invariants"),
    **dict.fromkeys(("environment", "env"), "world"),
    **dict.fromkeys(("inherits", "base", "parent", "import", "include"), "extends"),
    **dict.fromkeys(("minimise", "minimize", "min"), "maximise"),
    **dict.fromkeys(("level", "priority"), "severity"),
}
"""A key of other tools, and the key of a spec that it may be: it counts where that key is known."""

_OTHER_VALUES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("passed", "pass", "done", "met", "satisfied", "implemented", "compliant"), "shown"),
    **dict.fromkeys(("todo", "pending", "planned"), "open"),
    **dict.fromkeys(("float", "double", "decimal", "amount"), "number"),
    **dict.fromkeys(("integer", "long"), "int"),
    **dict.fromkeys(("string", "str"), "text"),
    **dict.fromkeys(("boolean", "flag"), "bool"),
    **dict.fromkeys(("human", "person", "customer"), "user"),
    **dict.fromkeys(("agent", "bot", "model", "ai"), "assistant"),
    **dict.fromkeys(("user", "prompt", "message", "task"), "request"),
    **dict.fromkeys(("error", "critical", "high", "block"), "fatal"),
    **dict.fromkeys(("warn", "low", "minor"), "warning"),
}
"""A word of other tools, and the word of a spec that it may be: it counts where that word is allowed."""

_ONE_OF_SEVERAL: Final = (
    "`agent: NAME` is one agent, and an arm of its own compares another; "
    "where agents act together, `set: {agents.NAME.agent: ...}` exchanges one of them"
)
_IN_AN_ARM: Final = "an arm says it: `runs: {NAME: {scenarios: [...], agent: ...}}`, one for each agent compared"
_LEAST: Final = "write `maximise: -(...)`: the least is the greatest of the negatives"
_NEVER: Final = 'write `require` with the opposite, such as `require: "!(...)"`'
_SUBSTITUTED: Final = re.compile(r"\$\{?(\w+)\}?|\{\{ *(\w+) *\}\}")


def meant_key(key: str, known: Iterable[str]) -> str | None:
    """What to write for an unknown key that other tools have."""
    keys, meant = {*known}, OTHER_KEYS.get(key.lower())
    if key in ("agents", "agent") and "mutants" in keys:
        return _IN_AN_ARM
    if key == "agents" and {"agent", "set"} <= keys:
        return _ONE_OF_SEVERAL
    if meant == "deny" and "deny" not in keys and "require" in keys:
        return _NEVER
    if meant not in keys:
        return None
    return _LEAST if meant == "maximise" else f"did you mean `{meant}`?"


def meant_value(word: str, limit: str) -> str | None:
    """What to write for a word that other tools have, in place of the words that are allowed."""
    meant = _OTHER_VALUES.get(word.lower())
    return f"did you mean `{meant}`?" if meant in re.findall(r"[\w-]+", limit) else None


def hint_of_substitution(text: str) -> str | None:
    """What to write for a text in which the shell or a template would put a value."""
    match = _SUBSTITUTED.fullmatch(text.strip())
    name = match and (match[1] or match[2])
    return f"declare `params: {{{name}: ...}}` and write `${{{name}}}`; `--set` gives another value" if name else None


def hint_of_path(target: str) -> str:
    """What to write for a reference that is neither a name nor the path of a file."""
    name = target.replace("\\", "/").rsplit("/", 1)[-1]
    usable = re.fullmatch(r"[a-z][a-z0-9_-]*", name)
    return (
        f"{f'write the name alone, `{name}`; ' if usable else ''}in a path use / between folders, and .yaml at the end"
    )
