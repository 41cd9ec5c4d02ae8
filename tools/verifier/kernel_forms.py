"""What stands for a document: canonical JSON with fractions where a form has `number`, and the hashes over it.

The rules are those of docs/kernel.md, section Hashing. A submission is hashed before it is judged.
"""

import hashlib
import json
import math
import uuid

from tools.verifier.basis import BIG, DEPTH, ZEROS, Open, write
from tools.verifier.kernel_schema import PROPOSAL, TRACE, form_inside
from tools.verifier.sealed import Unsealable
from tools.verifier.values import BUDGET

MOST_PROPOSAL = 8 << 20
MOST_SHOWN = 1 << 18
MASS_ONE = 100_000_000
LONGEST_NUMBER = 4300  # digits of an integer that a reader of JSON takes
FREE = ("number", None, None)  # fractions are written here and in all that lies below


def canonical(value, form=None):
    """The canonical bytes of a value, with fractions where its form has numbers; everywhere, if the form is `FREE`."""
    made = _spell(value, form, []).encode()
    BUDGET.spend(len(made))
    return made


def hashed(value, form=None):
    """SHA-256 of the canonical bytes."""
    return hashlib.sha256(canonical(value, form)).hexdigest()


def _spell(value, form, path):
    kind = type(value)
    if value is None or kind is bool:
        return {None: "null", True: "true", False: "false"}[value]
    if kind is str:
        return _text(value, path)
    if kind is int:
        if not -BIG <= value <= BIG:
            raise Unsealable("E_CANON_RANGE", tuple(path))
        return str(value)
    if kind is float:
        return _fraction(value, form, path)
    if kind is not list and not isinstance(value, dict):
        raise Unsealable("E_CANON_TYPE", tuple(path))
    if len(path) >= DEPTH:
        raise Unsealable("E_CANON_DEPTH", tuple(path))
    if kind is list:
        inner = (_spell(one, _below(form, at), [*path, at]) for at, one in enumerate(value))
        return "[" + ",".join(inner) + "]"
    members = {}
    for key, one in value.items():
        if type(key) is not str:
            raise Unsealable("E_CANON_TYPE", tuple(path))
        inside = [*path, key]
        members[key] = _text(key, inside) + ":" + _spell(one, _below(form, key), inside)
    return "{" + ",".join(members[key] for key in sorted(members)) + "}"


def _below(form, key):
    return form if form is FREE else form_inside(form, key)


def _text(value, path):
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Unsealable("E_CANON_TEXT", tuple(path)) from None
    return json.dumps(value, ensure_ascii=False)


def _fraction(value, form, path):
    if not math.isfinite(value):
        raise Unsealable("E_CANON_NUMBER", tuple(path))
    if abs(value) > BIG:
        raise Unsealable("E_CANON_RANGE", tuple(path))
    if form is None or isinstance(form, set) or form[0] != "number":
        raise Unsealable("E_CANON_FLOAT", tuple(path))
    written = f"{value:.8f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def units_of(masses):
    """The sum of probability masses in 1e-8, each rounded as it is written."""
    return sum(int(f"{mass:.8f}".replace(".", "")) for mass in masses)


def uuid_named(noun, name):
    """The identifier (version 5) of a thing of some noun."""
    return str(uuid.uuid5(uuid.uuid5(uuid.NAMESPACE_URL, f"specledger:{noun}"), name))


def witness_of(name, message, data, severity="fatal"):
    """What an audit entry holds of a finding: what it is about stays outside, bound by its hash."""
    return {
        "invariant": name[:120],
        "severity": severity,
        "message": message[:2000] or name,
        "data_hash": hashed(data, FREE),
    }


def trace_digest(trace):
    """The hash of a trace without its commitment."""
    return hashed({name: one for name, one in trace.items() if name != "trace_commit"}, TRACE)


class Submission:
    """What was submitted, with what stands for it; `problem` is a code where it has no canonical form."""

    def __init__(self, document, proposal_hash=ZEROS, trace_hash=ZEROS, problem=None, form=None):
        self.document, self.proposal_hash, self.trace_hash = document, proposal_hash, trace_hash
        self.problem, self.form = problem, form
        self.actions = [] if form is None else plan_actions(document)

    def shown(self):
        """The submission as a receipt holds it."""
        return self.proposal_hash if self.form is None or len(self.form) > MOST_SHOWN else self.form.decode()

    def action(self, index=0):
        """A step of its plan as an action; one that no world has, where there is none."""
        return json.loads(self.actions[index]) if self.actions and self.actions[index] else {"op": ""}

    def proposal(self, score):
        """The one proposal that is committed to."""
        return {"action": self.action(), "score": score, "document": self.shown()}


def receive_value(document):
    """Take what an agent inside gave; None is nothing at all."""
    if document is None:
        return Submission(None, problem="E_CANON_JSON")
    try:
        form = canonical(document, PROPOSAL)
    except Unsealable as unsealable:
        raise Open("E_REPLAY", f"an agent inside gave a document without canonical form ({unsealable.code})") from None
    if len(form) > MOST_PROPOSAL:
        raise Open("E_REPLAY", "an agent inside gave a document of more than 8 MiB")
    return Submission(document, hashlib.sha256(form).hexdigest(), trace_digest(document["trace"]), form=form)


def receive_bytes(data):
    """Take what came from outside; bytes that are no document stand for themselves."""
    if not data:
        return Submission(None, problem="E_CANON_JSON")
    own = hashlib.sha256(data).hexdigest()
    if len(data) > MOST_PROPOSAL:
        return Submission(None, own, problem="E_CANON_SIZE")
    try:
        document = parse_given(data)
    except ValueError:
        return Submission(None, own, problem="E_CANON_JSON")
    try:
        form = canonical(document, PROPOSAL)
    except Unsealable as unsealable:
        return Submission(document, own, problem=unsealable.code)
    if len(form) > MOST_PROPOSAL:
        return Submission(document, hashlib.sha256(form).hexdigest(), problem="E_CANON_SIZE")
    trace = document.get("trace") if isinstance(document, dict) else None
    found = trace_digest(trace) if isinstance(trace, dict) else ZEROS
    return Submission(document, hashlib.sha256(form).hexdigest(), found, form=form)


def parse_given(data):
    """One JSON document in UTF-8 whose objects name no key twice; a ValueError where bytes are none."""
    try:
        return json.loads(data.decode(), object_pairs_hook=_members, parse_constant=_no_number, parse_int=_integer)
    except RecursionError:
        raise Open("E_REPLAY", "an answer is nested so deeply that readers differ about it") from None


def _members(pairs):
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _no_number(word):
    raise ValueError(f"{word} is no JSON number")


def _integer(digits):
    if len(digits.lstrip("-")) > LONGEST_NUMBER:
        raise ValueError("an integer of too many digits")
    return int(digits)


def plan_actions(document):
    """The steps of a plan as canonical actions of the world; one that is none is empty."""
    steps = document
    for name in ("payload", "plan", "steps"):
        steps = steps.get(name) if isinstance(steps, dict) else None
    return [_action(step) for step in steps] if isinstance(steps, list) else []


def _action(step):
    if not isinstance(step, dict) or not isinstance(step.get("args"), dict) or "op" not in step or "op" in step["args"]:
        return b""
    return write({**step["args"], "op": step["op"]})
