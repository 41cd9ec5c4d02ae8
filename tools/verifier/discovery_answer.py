"""From an answer to proposed laws, rejections and warnings (docs/prompts.md, Answers).

Whether an object is a law is read here again. In whose words the engine rejects it is not: of a rejection by the law
compiler the receipt's own words are taken, if the object is rejected here too; where this file cannot tell, the receipt
decides, and that is noted.
"""

import re

from tools.verifier.basis import DEPTH, Open, demand, write
from tools.verifier.discovery_form import NoLaw, has_float
from tools.verifier.discovery_json import AnswerReader
from tools.verifier.discovery_law import WITHHELD, LawBook, stray_fields
from tools.verifier.discovery_prompt import shown_text
from tools.verifier.law_claim import claim_text

MOST_READ, MOST_PIECES, MOST_WHOLE, MOST_NESTED, EXCERPT, PRINTED = 1_048_576, 500, 4000, DEPTH - 8, 1000, 2000
COMPILER = re.compile(r"(?!E_ANSWER_|E_PROPOSAL_)[EW]_[A-Z_]+: ")
NOTE_WORDS = "the words in which the law compiler rejects an object"
NOTE_LAW = "that an object is, or is no law, where its expressions have forms that are not read here"


def excerpt(text, size=None):
    """The beginning of a piece that is not kept whole."""
    return {"excerpt": shown_text(text[:EXCERPT])[:PRINTED], "size": len(text) if size is None else size}


def nested(value, most):
    """Whether there are at most so many containers inside one another."""
    level, depth = [value], 0
    while level:
        level = [one for one in level if isinstance(one, (dict, list))]
        depth += bool(level)
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return depth <= most


def kept_object(value):
    """A rejected value as a receipt holds it: itself, or its beginning and its size."""
    if has_float(value):
        return excerpt(repr(value))
    form = write(value)
    if isinstance(value, dict) and len(form) <= MOST_WHOLE and nested(value, MOST_NESTED):
        return value
    return excerpt(form.decode(), len(form))


def is_blank(value):
    return not (value.strip() if isinstance(value, str) else value)


class Receipted:
    """The rejections that a receipt holds, taken one after the other."""

    def __init__(self, rejections):
        self.left = list(rejections)

    def next_is(self, value):
        """Whether the next one is about this object, and comes from the law compiler."""
        if not self.left or self.left[0]["object"] != value:
            return False
        reason = self.left[0]["reason"]
        return isinstance(reason, str) and COMPILER.match(reason) is not None

    def take(self):
        """The next one, if there is one."""
        return self.left.pop(0) if self.left else None


class AnswerParser:
    """Reads the answers of one discovery."""

    def __init__(self, book: LawBook, strict, scramble, notes):
        self.book, self.strict, self.scramble, self.notes = book, strict, scramble, notes

    def parsed(self, text, recorded):
        """(laws, rejections, warnings) of a text; `recorded` are the rejections that the receipt holds."""
        if len(text) > MOST_READ:
            reason = f"E_ANSWER_SIZE: {len(text)} characters, more than {MOST_READ}; none of them is read"
            return [], [{"object": excerpt(text, len(text)), "reason": reason}], []
        pieces, told = AnswerReader(text).pieces(), Receipted(recorded)
        laws, rejections, warnings = [], [], [] if pieces else ["the answer holds no object"]
        for place, piece in enumerate(pieces[:MOST_PIECES]):
            shown = excerpt(piece[1]) if piece[0] == "broken" else kept_object(piece[1])
            try:
                laws.append(self.law(piece, place, shown, told, warnings))
            except NoLaw as no:
                reason = no.reason
                if not no.exact:
                    demand(told.next_is(shown), "E_REPLAY", f"object {place} is no law, and is not rejected as one")
                    reason = told.left[0]["reason"]
                    self.notes.add(NOTE_WORDS)
                rejections.append({"object": shown, "reason": reason[:PRINTED]})
                told.take()
        if len(pieces) > MOST_PIECES:
            left, more = pieces[MOST_PIECES], len(pieces) - MOST_PIECES
            shown = excerpt(left[1]) if left[0] == "broken" else kept_object(left[1])
            reason = f"E_ANSWER_SIZE: this object and {more - 1} more after {MOST_PIECES} others"
            rejections.append({"object": shown, "reason": reason})
        return laws, rejections, warnings

    def law(self, piece, place, shown, told, warnings):
        """The law that a piece is."""
        if piece[0] == "broken":
            raise NoLaw(f"E_ANSWER_JSON: {shown_text(piece[2])}", True)
        _, value, mends = piece
        if mends and self.strict:
            raise NoLaw(f"E_ANSWER_MENDED: {', '.join(mends)}", True)
        withheld = []
        if isinstance(value, dict):
            withheld = self.own_fields(value)
            value = {key: one for key, one in value.items() if key not in WITHHELD and one is not None}
            value = value if self.scramble is None else self.scramble.law(value)
        law, said = self.read(value, shown, told)
        name = law.law.name
        if mends:
            warnings.append(f"object {place} ({name}) was mended: {', '.join(mends)}")
        if withheld:
            warnings.append(f"object {place} ({name}): left out {', '.join(f'`{key}`' for key in withheld)}")
        warnings += [f"object {place} ({name}): {one}" for one in said]
        return law

    def own_fields(self, value):
        """The keys of an object that are no proposer's to give; the object has what a law must have."""
        missing = [f"`{key}`" for key in ("template", "forbidden") if is_blank(value.get(key))]
        if is_blank(value.get("claim_ast")) and is_blank(value.get("claim")):
            missing.append("`claim_ast` or `claim`")
        if missing:
            raise NoLaw(f"E_ANSWER_FIELD: the object lacks {', '.join(missing)}", True)
        withheld = [key for key in WITHHELD if key in value]
        if withheld and self.strict:
            raise NoLaw(f"E_ANSWER_KEY: {', '.join(f'`{key}`' for key in withheld)}", True)
        return withheld

    def read(self, value, shown, told):
        """The proposal that an object makes, and the warnings of the law compiler."""
        try:
            return self.compiled(value)
        except Open as lacking:
            self.notes.add(NOTE_LAW)
            if told.next_is(shown):
                raise NoLaw("not read here") from None
            raise lacking

    def compiled(self, value):
        """The proposal that an object makes, without the fields that its template does not need."""
        proposal = self.book.proposed(value)
        law = proposal.law
        strays, from_text = stray_fields(law), "W_LAW_STRING" in law.warnings
        worded = law.data.get("claim_ast") is None and self.book.specs[law.data["template"]].get("parts")
        if self.strict and (strays or worded):
            raise NoLaw("E_LAW")
        said = {}
        for name in strays:
            said[name] = f"W_LAW_FIELD: a law of the form {law.form} does not need `{name}`: it is not read"
        if from_text:
            shown = claim_text(law.claim)
            said["claim"] = f"W_LAW_STRING: {shown_text(f'the claim was read from its string, as {shown}')}"
        if strays:
            proposal = self.book.proposed({key: one for key, one in value.items() if key not in strays})
        if not nested(proposal.document, MOST_NESTED):
            reason = f"E_ANSWER_SIZE: more than {MOST_NESTED} brackets inside one another"
            raise NoLaw(reason, True)
        return proposal, [said[name] for name in sorted(said)]


def asked_for(laws, rejections, wanted, without):
    """The laws whose templates were asked for; the others are rejected."""
    kept = []
    for law in laws:
        form, reason = law.law.form, None
        if without is not None and form in without:
            reason = f"E_PROPOSAL_TEMPLATE: {form} is excluded"
        elif wanted is not None and form not in wanted:
            reason = f"E_PROPOSAL_TEMPLATE: {form} is none of {', '.join(wanted) or 'no templates'}"
        if reason is None:
            kept.append(law)
        else:
            rejections.append({"object": kept_object(law.document), "reason": reason})
    return kept


def failed_answer(answer):
    """The warning of an answer that is none."""
    if answer["failure"] is None:
        return []
    detail = f": {shown_text(answer['detail'])}" if answer["detail"] else ""
    said = f"the model gave no whole answer ({answer['failure']}){detail}"
    return [f"E_MODEL_{answer['failure'].upper()}: {said}"]


def readable(answer, strict):
    """The text of an answer that is read; of one that was cut off the whole laws are, unless reading is strict."""
    cut = answer["failure"] == "truncated" and not strict
    return answer["text"] if answer["failure"] is None or cut else None
