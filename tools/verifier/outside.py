"""Agents from outside in a replay: what is read off the tape, and what becomes of a bad answer (docs/outside.md)."""

import base64
import json

from tools.verifier.basis import BIG, DEPTH, Refuted, demand
from tools.verifier.declared import INT_TYPE, fits

MOST_ANSWERED = 256


class Ended(Exception):
    """The process that waited for an answer is no more; the tape says how it ended."""

    def __init__(self, answer):
        self.kind = "hang" if answer["failure"] == "timed_out" else "died"
        self.reason = answer["reason"]
        super().__init__(self.kind)


class Tape:
    """The answers of a run, each read once, in their order.

    Attributes:
        mode, head: Of the audit log.
    """

    def __init__(self, lines):
        self.mode, self.head, self.answers, self.next = lines[0]["mode"], lines[0]["head"], lines[1:], 0

    def recorded(self, episode, t):
        """The answer for a decision, None if the next one is for another."""
        if self.next == len(self.answers):
            return None
        answer = self.answers[self.next]
        if (answer["episode"], answer["t"]) != (episode, t):
            return None
        self.next += 1
        return answer

    def asked(self, episode, t):
        """The answer for a decision of an agent from outside."""
        answer = self.recorded(episode, t)
        if answer is None:
            raise Refuted("E_TAPE_MISSING", f"the tape has no answer for episode {episode}, t = {t}")
        return answer

    def finish(self):
        """See that every answer was asked for."""
        left = len(self.answers) - self.next
        demand(not left, "E_TAPE_EXTRA", f"nobody asked for {left} answers on the tape")


def received_bytes(answer):
    """The bytes of an answer, None if none came or too many."""
    held = answer["received"]
    if held is None:
        return None
    return held["text"].encode() if "text" in held else base64.b64decode(held["base64"])


def proposals_answered(answer, claims):
    """The proposals of an answer; whatever is none stands as one that the gate `schema` rejects."""
    data = received_bytes(answer)
    if data is None or answer["failure"]:
        return [no_proposal(answer["failure"] or "no_answer")]
    try:
        given = json.loads(data.decode(), object_pairs_hook=once, parse_constant=refuse_word)
    except (ValueError, RecursionError):
        return [no_proposal("not_json")]
    if not isinstance(given, list):
        return [no_proposal("not_a_list")]
    if len(given) > MOST_ANSWERED:
        return [no_proposal("too_many_proposals")]
    return [one if is_proposal(one, claims) else no_proposal("malformed_proposal") for one in given]


def no_proposal(reason):
    """What stands for something that is no proposal."""
    return {"action": {"op": ""}, "score": 0, "answer": reason}


def once(pairs):
    """An object in which no key stands twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def refuse_word(word):
    """NaN and its kin are no JSON."""
    raise ValueError(f"{word} is no number")


def is_proposal(given, claims):
    """Whether something has the form of a proposal."""
    if not isinstance(given, dict) or given.keys() != {"action", "score", *claims}:
        return False
    action = given["action"]
    if not isinstance(action, dict) or not isinstance(action.get("op"), str) or not action["op"]:
        return False
    sound = receiptable([given]) and fits(given["score"], INT_TYPE)
    return sound and all(fits(given[name], type_) for name, type_ in claims.items())


def receiptable(value):
    """Whether a value has a canonical form."""
    todo = [(value, 0)]
    while todo:
        one, depth = todo.pop()
        if isinstance(one, dict):
            if depth >= DEPTH or not all(map(sound_text, one)):
                return False
            todo += [(inner, depth + 1) for inner in one.values()]
        elif isinstance(one, list):
            if depth >= DEPTH:
                return False
            todo += [(inner, depth + 1) for inner in one]
        elif isinstance(one, float) or (type(one) is int and not -BIG <= one <= BIG):
            return False
        elif isinstance(one, str) and not sound_text(one):
            return False
    return True


def sound_text(text):
    """Whether a text has no half of a character."""
    return not any("\ud800" <= one <= "\udfff" for one in text)
