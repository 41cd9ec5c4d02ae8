"""Who is asked for laws, what exactly, and what was answered: identities, questions, the tape, scripts and grammars
(docs/models.md, docs/prompts.md, docs/discovery.md)."""

import hashlib
import re

from tools.verifier.basis import BIG, Open, Refuted, demand, tagged, write
from tools.verifier.cel import evaluate
from tools.verifier.discovery_form import LAW_ORDERS
from tools.verifier.discovery_prompt import tokens_of
from tools.verifier.discovery_rank import millionths
from tools.verifier.syntax import parse
from tools.verifier.values import Failed

LASTING_FAILURES = ("unauthorised", "invalid", "redirected")
MODEL_FAILURES = {"blocked", "empty", "withheld", "truncated", "malformed", "timed_out", "refused", "cut_off"}
MODEL_FAILURES |= {"rate_limited", "unavailable", "too_large", "exhausted", *LASTING_FAILURES}
MOST_ANSWER, MOST_COST, MOST_DOCUMENTS = 524_288, 40, 100
USAGE_FIGURES = ("prompt_tokens", "output_tokens", "thinking_tokens")
GRAMMAR_PLACE = re.compile(r"\{\{([A-Za-z][A-Za-z0-9_]*)\}\}")


def plain_digest(value):
    """Plain SHA-256 of the canonical form."""
    return hashlib.sha256(write(value)).hexdigest()


# The form of an answer


def answer_form(templates):
    """The JSON Schema that an answer shall conform to, as questions hold its digest."""
    text, number, listed = {"type": "string"}, {"type": "integer"}, lambda one: {"type": "array", "items": one}
    said, orders = {"type": ["string", "number", "boolean"]}, {"type": "string", "enum": list(LAW_ORDERS)}
    equal, node = {"type": "string", "enum": ["==", "!="]}, {"$ref": "#/$defs/node"}

    def shape(required=(), **properties):
        return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}

    def free(one):
        return {"anyOf": [one, {"type": "null"}]}

    law = shape(
        ("template", "forbidden"),
        schema_version={"type": "string", "enum": ["1.0.0"]},
        law_id=free(text),
        template={"type": "string", "enum": list(templates)},
        quantifiers=shape(T={**number, "minimum": 1, "maximum": BIG}, H=free({**number, "minimum": 0, "maximum": BIG})),
        preconditions=listed({"anyOf": [shape(("lhs", "op", "rhs"), lhs=said, op=orders, rhs=said), said]}),
        observables=listed(shape(("name", "expr"), name=text, expr=said)),
        claim=free(text),
        forbidden=text,
        claim_ast=node,
        transform=free(text),
        direction=free({"type": "string", "enum": ["<=", ">="]}),
        bound_value=free({**number, "minimum": -BIG, "maximum": BIG}),
        bound_op=free(orders),
        trigger_symbol=free(text),
        result_op=free(equal),
        result_symbol=free(text),
        proposed_tests=listed(shape(("family",), family=text, params={"type": "object"})),
        capability_requirements=shape(
            primitive_observables=listed(text), transforms=listed(text), generator_families=listed(text)
        ),
        starts=free(shape(symbols=free(listed(text)))),
    )
    operators = ["+", "-", "*", *LAW_ORDERS, "=>", "and", "or", "not"]
    constant = {"anyOf": [number, {"type": "boolean"}, text]}
    tree = shape(const=constant, obs=text, t={"$ref": "#/$defs/time"}, op={"type": "string", "enum": operators})
    tree["properties"].update(dict.fromkeys(("lhs", "rhs", "arg"), node))
    time = shape(var={"type": "string", "enum": ["t"]}, t_plus_1={"type": "boolean"}, const=number)
    return {**listed(law), "$defs": {"node": tree, "time": time}}


# Questions


class Question:
    """What a model is asked in one iteration."""

    def __init__(self, turn, system, prompt, form, temperature, known):
        self.turn, self.system, self.prompt, self.known = turn, system, prompt, known
        texts = [tagged("text", one.encode(errors="surrogatepass")) for one in (system, prompt)]
        digests = {"system": texts[0], "prompt": texts[1], "schema": form, "known": plain_digest(known)}
        self.document = {"turn": turn, "temperature": temperature, **digests}

    def usage(self, text):
        """The estimate of what a call costs."""
        asked = tokens_of(self.system) + tokens_of(self.prompt)
        figures = {"prompt_tokens": asked, "output_tokens": tokens_of(text), "thinking_tokens": 0}
        return {**figures, "estimated": True}


def answer_of(text, usage, failure=None, detail=""):
    """An answer as a document; one that is too large is a failure."""
    if text is not None and len(write(text)) > MOST_ANSWER:
        text, failure, detail = None, failure or "too_large", detail if failure else ""
    return {"text": text, "failure": failure, "detail": detail[:500], "usage": usage, "finish": None}


def check_answer(answer):
    """An answer on a tape has the form that answers have."""
    code, words = "E_TAPE_FORM", (str, type(None))
    keys = {"text", "failure", "detail", "usage", "finish"}
    demand(isinstance(answer, dict) and answer.keys() == keys, code, "an answer has other fields")
    usage = answer["usage"]
    shaped = isinstance(usage, dict) and usage.keys() == {*USAGE_FIGURES, "estimated"}
    shaped = shaped and all(type(usage[name]) is int and usage[name] >= 0 for name in USAGE_FIGURES)
    demand(shaped and type(usage["estimated"]) is bool, code, "an answer has no usage of tokens")
    shaped = all(isinstance(answer[name], words) for name in ("text", "failure", "finish"))
    demand(shaped and isinstance(answer["detail"], str), code, "an answer is no text")
    text, failure = answer["text"], answer["failure"]
    known = failure in MODEL_FAILURES or (failure is None and text is not None and answer["detail"] == "")
    demand(known and len(answer["detail"]) <= 500, code, "an answer has no such failure")
    small = (text is None or len(write(text)) <= MOST_ANSWER) and len(answer["finish"] or "") <= 64
    demand(small, code, "an answer is too large")


# Models


class Script:
    """A model that follows a script."""

    outside = False

    def __init__(self, spec):
        self.script = spec
        self.identity = {"oracle": "scripted", "script": plain_digest(spec)}

    def ask(self, question):
        """The answer of the first rule that holds, else the turn's own."""
        answers, turn, known = self.script.get("answers", []), question.turn, question.known
        names = {"turn": turn, "prompt": question.prompt, **known}
        for rule in self.script.get("rules", []):
            try:
                holds = evaluate(parse(rule["when"]), names)
            except Failed as failed:
                raise Refuted("E_REPLAY", f"a rule of the script has no value ({failed.code})") from None
            if holds is True:
                return self.rendered(rule["answer"], question)
        if turn >= len(answers):
            then = self.script.get("then", "exhausted")
            if then == "exhausted":
                usage = {**dict.fromkeys(USAGE_FIGURES, 0), "estimated": False}
                return answer_of(None, usage, "exhausted", f"the script has {len(answers)} answers")
            turn = -1 if then == "repeat" else turn % len(answers)
        return self.rendered(answers[turn], question)

    @staticmethod
    def rendered(said, question):
        """What an entry of a script answers."""
        if "failure" in said:
            text = said.get("text")
            return answer_of(text, question.usage(text or ""), said["failure"], said.get("detail", ""))
        times = said.get("times", 1)
        if "text" in said:
            once = said["text"]
        else:
            if b'{"$double":' in write(said["laws"]):
                raise Open("E_REPLAY", "a law of a script holds a number with a point")
            once = write(said["laws"]).decode()[1:-1]
        if len(once) * times > MOST_ANSWER:
            return answer_of(None, question.usage(""), "too_large", f"about {len(once) * times} bytes")
        text = once * times
        if "laws" in said:
            text = f"[{','.join([once] * times)}]" if once else "[]"
        return answer_of(text, question.usage(text))


class Grammar:
    """A model that walks a grammar, the cheap documents first."""

    outside = False

    def __init__(self, spec):
        self.identity = {"oracle": "enumerated", "grammar": plain_digest(spec)}
        self.start, self.known = spec.get("start", "start"), {}
        self.rules = {name: [self.alternative(one) for one in listed] for name, listed in spec["grammar"].items()}

    @staticmethod
    def alternative(said):
        """(document, places, cost) of an alternative."""
        cost = 1
        if isinstance(said, dict) and "is" in said and said.keys() <= {"is", "cost"}:
            said, cost = said["is"], said.get("cost", 1)
        return said, places_in(said), cost

    def count(self, places, cost):
        """In how many ways places are filled at exactly this cost."""
        if not places:
            return int(cost == 0)
        if cost < len(places):
            return 0
        key = places, cost
        if key not in self.known:
            first, rest = places[:1], places[1:]
            if rest:
                ways = sum(self.count(first, c) * self.count(rest, cost - c) for c in range(1, cost - len(rest) + 1))
            else:
                ways = sum(self.count(inner, cost - own) for _, inner, own in self.rules[places[0]])
            self.known[key] = ways
        return self.known[key]

    def document(self, number):
        """The document with a number, or nothing (as an empty list) where there are not so many."""
        for cost in range(1, MOST_COST + 1):
            count = self.count((self.start,), cost)
            if number < count:
                return [self.made(self.start, cost, number)]
            number -= count
        return []

    def made(self, rule, cost, number):
        """Of the documents of a rule at a cost the one with a number."""
        for said, places, own in self.rules[rule]:
            count = self.count(places, cost - own)
            if number < count:
                return refilled(said, iter(self.parts(places, cost - own, number)))
            number -= count
        raise Open("E_REPLAY", "a grammar is counted wrongly here")

    def parts(self, places, cost, number):
        """Of the ways to fill places at a cost the one with a number."""
        found = []
        while places:
            first, places = places[:1], places[1:]
            for part in range(1, cost + 1):
                after = self.count(places, cost - part)
                count = self.count(first, part) * after
                if number < count:
                    break
                number -= count
            which, number = divmod(number, after)
            found.append(self.made(first[0], part, which))
            cost -= part
        return found

    def ask(self, question):
        """The documents from turn * count on."""
        count = min(max(question.known["count"], 1), MOST_DOCUMENTS)
        numbers = range(question.turn * count, (question.turn + 1) * count)
        documents = [one for number in numbers for one in self.document(number)]
        if not documents:
            return answer_of(None, question.usage(""), "exhausted", "the grammar makes no more documents")
        text = write(documents).decode()
        return answer_of(text, question.usage(text))


def places_in(value):
    """The rules that a document names, in order."""
    if isinstance(value, str):
        return tuple(GRAMMAR_PLACE.findall(value))
    inner = [value[key] for key in sorted(value)] if isinstance(value, dict) else value
    return tuple(name for one in inner for name in places_in(one)) if isinstance(inner, list) else ()


def refilled(value, parts):
    """A document with its places filled, in that order."""
    if isinstance(value, str):
        if GRAMMAR_PLACE.fullmatch(value):
            return next(parts)
        return GRAMMAR_PLACE.sub(lambda _: spelled(next(parts)), value)
    if isinstance(value, dict):
        return {key: refilled(value[key], parts) for key in sorted(value)}
    return [refilled(one, parts) for one in value] if isinstance(value, list) else value


def spelled(value):
    return value if isinstance(value, str) else write(value).decode()


class AnswerTape:
    """The answers of a model from outside, as they were recorded."""

    outside = True

    def __init__(self, identity, tape):
        demand(tape is not None, "E_TAPE_MISSING", "the model is outside, and there is no tape of its answers")
        self.identity, self.asked, self.answers = identity, 0, tape[1:]

    def ask(self, question):
        """The answer that was given then, if it was to this very question."""
        turn = question.turn
        key = tagged("request", write({"model": self.identity, "request": question.document}))
        held = turn < len(self.answers) and self.answers[turn]["request"] == key
        demand(held, "E_TAPE_MISSING", f"iteration {turn} asks for something that the tape has no answer to")
        self.asked += 1
        check_answer(self.answers[turn]["answer"])
        return self.answers[turn]["answer"]

    def finish(self):
        """Every answer was asked for."""
        demand(self.asked == len(self.answers), "E_TAPE_EXTRA", f"nobody asks for the answer of iteration {self.asked}")


def model_identity(specs, key):
    """Who answers: what an answer depends on beside the question."""
    spec = specs[key]
    if "cassette" in spec:
        return model_identity(specs, spec["cassette"]["records"])
    if "scripted" in spec:
        return Script(spec["scripted"]).identity
    if "enumerate" in spec:
        return {"oracle": "enumerated", "grammar": plain_digest(spec["enumerate"])}
    usual = {"model": "gemini-2.5-flash", "temperature": "0.7", "top_p": "0.95", "top_k": 40}
    usual.update(max_output_tokens=8192, json_mode=True, thinking_budget=None)
    given = {**usual, **{name: one for name, one in spec["gemini"].items() if name in usual}}
    given.update({name: millionths(given[name]) for name in ("temperature", "top_p")})
    return {"oracle": "gemini", **given}


def open_model(specs, key, tape):
    """Whoever answers in a replay: the tape, given as its documents, or what follows from the specs."""
    spec = specs[key]
    if "scripted" not in spec and "enumerate" not in spec:
        return AnswerTape(model_identity(specs, key), tape)
    demand(tape is None, "E_TAPE_EXTRA", "the answers follow from the specs, and there is a tape of others")
    return Script(spec["scripted"]) if "scripted" in spec else Grammar(spec["enumerate"])
