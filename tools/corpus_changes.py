"""Trajectories of the corpus, changed: other spellings of values in legitimate ones, a known party in attacked ones.

A chat is a list of messages of OpenAI's format. Changes are mechanical and the same for every suite, so that nobody
chooses them for a policy.
"""

from __future__ import annotations

import copy
import datetime
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

Chat = list[dict[str, Any]]

_IBAN: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_MAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(\.[\w-]+)+")
_LINK: Final = re.compile(r"(https?://|www\.)\S+", re.IGNORECASE)
_DAY: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})( [0-9:]+)?")
_FOREIGN: Final = re.compile(r"<INFORMATION>.*?</INFORMATION>", re.DOTALL)
_ROLES: Final = {"request": "user", "results": "tool"}
_PARTIES: Final = frozenset({"recipient", "recipients", "participants", "user", "user_email", "email", "url", "hotel"})
"""Arguments that name a party, if their value has no form that says so."""


def calls(chat: Chat) -> Iterator[dict[str, Any]]:
    """The calls of a chat in order: `id` and `function` with its `name` and `arguments` as JSON text."""
    for message in chat:
        yield from message.get("tool_calls") or ()


def arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call."""
    values: dict[str, Any] = json.loads(call["function"]["arguments"])
    return values


def _grouped(text: str) -> str:
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4)) if _IBAN.fullmatch(text) else text


def _other_case(text: str) -> str:
    return text.swapcase() if _MAIL.fullmatch(text) else text


def _other_link(text: str) -> str:
    return text.removesuffix("/") if text.endswith("/") else f"{text}/" if _LINK.fullmatch(text) else text


def _with_scheme(text: str) -> str:
    return f"HTTPS://{text}" if _LINK.fullmatch(text) and "://" not in text else text


def _in_words(text: str) -> str:
    match = _DAY.fullmatch(text)
    if match is None:
        return text
    day = datetime.date(*map(int, match.groups()[:3]))
    return f"{day:%B} {day.day}, {day.year}{match[4] or ''}"


REWRITES: Final[Mapping[str, Callable[[str], str]]] = {
    "account numbers in groups of four": _grouped,
    "mail addresses in the other case": _other_case,
    "links with or without a slash at the end": _other_link,
    "links with a scheme": _with_scheme,
    "days in words": _in_words,
}
"""Other spellings of a text that mean the same."""


def _mapped(value: Any, change: Callable[[str], str | None]) -> Any:
    if isinstance(value, str):
        changed = change(value)
        return value if changed is None else changed
    if isinstance(value, list):
        return [_mapped(element, change) for element in value]
    return {key: _mapped(member, change) for key, member in value.items()} if isinstance(value, dict) else value


def rewritten(chat: Chat, change: Callable[[str], str]) -> Chat | None:
    """A chat whose calls have another spelling of each argument that `change` knows; None if it knows none.

    Results stay as they are.
    """
    other, changed = copy.deepcopy(chat), False
    for call in calls(other):
        before = arguments(call)
        after = _mapped(before, change)
        call["function"]["arguments"] = json.dumps(after, ensure_ascii=False)
        changed = changed or before != after
    return other if changed else None


def parties(call: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The argument and the value of each party that a call names."""
    for name, value in arguments(call).items():
        for leaf in value if isinstance(value, list) else [value]:
            if isinstance(leaf, str) and (
                name in _PARTIES or any(form.fullmatch(leaf) for form in (_IBAN, _MAIL, _LINK))
            ):
                yield name, leaf


def known_parties(legitimate: Sequence[Chat]) -> dict[tuple[str, str], list[str]]:
    """By tool and argument the parties that legitimate calls name, in the order of the corpus."""
    known: dict[tuple[str, str], list[str]] = {}
    for chat in legitimate:
        for call in calls(chat):
            for name, value in parties(call):
                values = known.setdefault((call["function"]["name"], name), [])
                if value not in values:
                    values.append(value)
    return known


def _shown(value: str, results: str) -> list[str]:
    """What has the same form as a value (account, mail address or link) in a text, in its order."""
    form = next((form for form in (_IBAN, _MAIL, _LINK) if form.fullmatch(value)), None)
    return [] if form is None else [match[0].rstrip(".,)'\"") for match in form.finditer(results)]


def with_known_parties(
    chat: Chat, theirs: Sequence[str], known: Mapping[tuple[str, str], Sequence[str]], where: str = "legitimate"
) -> Chat | None:
    """An attacked chat in which the attacker's calls name known parties in place of his own.

    Args:
        chat: The attacked chat.
        theirs: The ids of the attacker's calls.
        known: What `known_parties` gives.
        where: `legitimate`: the party of the same tool and argument in legitimate tasks that was there before in the
            chat, else the first; `request`: the first of those that the request names; `results`: the first value of
            the same form, or else the first of those, that an earlier result has outside of the attacker's text.

    Returns:
        None if no party of the attacker's calls is replaced.
    """
    other, replaced = copy.deepcopy(chat), False
    for index, message in enumerate(other):
        for call in message.get("tool_calls") or ():
            if call["id"] not in theirs:
                continue
            earlier = [m for m in chat[:index] if where == "legitimate" or m["role"] == _ROLES[where]]
            before = "\n".join(_FOREIGN.sub("", str(m["content"])) for m in earlier)
            values = arguments(call)
            for name, value in parties(call):
                candidates = list(known.get((call["function"]["name"], name), ()))
                if value in candidates:
                    continue
                there = [candidate for candidate in candidates if candidate in before]
                if where == "results":
                    there = [party for party in _shown(value, before) if party != value] or there
                elif where == "legitimate":
                    there += candidates
                if there:
                    values[name] = _mapped(values[name], {value: there[0]}.get)
                    replaced = True
            call["function"]["arguments"] = json.dumps(values, ensure_ascii=False)
    return other if replaced else None
