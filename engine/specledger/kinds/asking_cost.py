"""What asking agents from outside would cost in runs: messages, bytes; of models calls, tokens, money."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final, NamedTuple

from specledger.compile.plan import Plan, PlannedOutside, Questions
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import counted
from specledger.oracles.model import BYTES_A_TOKEN
from specledger.oracles.model_agent import Asking, ModelPlan
from specledger.oracles.service_client import pricing
from specledger.oracles.spending import AskedCalls
from specledger.run.session import greeting
from specledger.spec.base import format_qfixed
from specledger.spec.model import NO_DATE, Limits, Service

_CALL: Final = 40  # bytes of a call beside its reasons
_HEAD: Final = 100  # bytes of a message beside what it shows: type, number, episode, step
_DENSE: Final = 3  # bytes that a token has at least on average, for what is asked at most
_MOST_STARTS: Final = 32  # episodes whose first question is measured
_SHOWN_TWICE: Final = 2  # a changed value is in the list of variables and in the observation


class _Cost(NamedTuple):
    """What one run of a model costs: expected figures, and at most; money in millionths, 0 without a price."""

    calls: int
    most_calls: int
    prompt: int
    output: int
    most_output: int
    cost: int
    most_cost: int


def asking_cost(plans: Iterable[Plan]) -> dict[str, Any]:
    """What the runs whose agents are outside cost together, and those that ask about recorded calls, as JSON values.

    Returns:
        Nothing if nobody is asked. Else `asked`: `messages` at most, of an agent that keeps no state or starts anew,
        and the bytes `sent`, as if each were the longest; `decisions`, of recordings. Of models also `model`:
        `calls`, as of a model whose reasons hold, and `calls_at_most`; `prompt_tokens` and `output_tokens`, estimated
        from the questions and from the reasons that they demand; `output_tokens_at_most`; where every model has a price
        `cost` and `cost_at_most`, of the longest questions, and the dates of the prices (`prices_as_of`). Where
        runs are expected to use more than their models may, `limits` says so.
    """
    rows = [row for plan in plans for row in _rows(plan)]
    if not rows:
        return {}
    totals: dict[str, Any] = {"asked": {name: sum(row.asked[name] for row in rows) for name in ("messages", "sent")}}
    decisions = sum(row.asked.get("decisions", 0) for row in rows)
    totals["asked"] |= {"decisions": decisions} if decisions else {}
    models = [(row.cost, row.service) for row in rows if row.cost is not None]
    if models:
        cost = _Cost(*map(sum, zip(*(own for own, _ in models), strict=True)))
        totals["model"] = {
            "calls": cost.calls,
            "calls_at_most": cost.most_calls,
            "prompt_tokens": cost.prompt,
            "output_tokens": cost.output,
            "output_tokens_at_most": cost.most_output,
        }
        totals["model"] |= _money(cost, [service for _, service in models])
        totals |= _beyond_limits(models)
    return totals


def _beyond_limits(models: Sequence[tuple[_Cost, Service | None]]) -> dict[str, list[str]]:
    """As `limits`, what runs are expected to use beyond the limits of their models; calls after that fail."""
    counts = Counter[str]()
    for cost, service in models:
        limits = Limits() if service is None else service.limits
        tokens = cost.prompt + cost.output
        if limits.tokens is not None and tokens > limits.tokens:
            counts[f"{tokens} tokens are expected of a run, and its model may use {limits.tokens}"] += 1
        if limits.money is not None and cost.cost > limits.money:
            spent, most = format_qfixed(cost.cost), format_qfixed(limits.money)
            counts[f"a run is expected to cost {spent}, and its model may cost {most}"] += 1
    said = [
        f"{text} (in {counted(runs, 'run')}): calls beyond that fail as `over_limit`" for text, runs in counts.items()
    ]
    return {"limits": said} if said else {}


class _Row(NamedTuple):
    """What one run asks, and what that costs if a model is asked."""

    asked: dict[str, int]
    cost: _Cost | None
    service: Service | None


def _rows(plan: Plan) -> Iterator[_Row]:
    outside, rehearse = plan.outside, plan.rehearse
    if outside is not None:
        questions, model = outside.questions(plan), outside.model
        messages = _messages(plan, questions)
        asked = {"messages": messages, "sent": _sent(plan, outside, questions, messages)}
        cost = None if model is None else _cost(plan, outside, questions, model)
        yield _Row(asked, cost, None if model is None else model.service)
    if rehearse is not None:
        calls = rehearse(plan)
        sent = calls.prompt * BYTES_A_TOKEN * calls.most_calls // calls.calls if calls.calls else 0
        asked = {"messages": calls.most_calls, "sent": sent, "decisions": calls.decisions}
        yield _Row(asked, _cost_of_calls(calls), calls.service)


def _cost_of_calls(asked: AskedCalls) -> _Cost:
    """What asking about recorded calls costs; the most that is asked has denser text than what is expected."""
    prompt = asked.prompt * asked.most_calls * BYTES_A_TOKEN // (asked.calls * _DENSE) if asked.calls else 0
    return _priced(asked.calls, asked.most_calls, asked.prompt, prompt, asked.output, asked.service)


def _priced(calls: int, most_calls: int, prompt: int, most_prompt: int, output: int, service: Service | None) -> _Cost:
    longest = 0 if service is None else service.max_output_tokens
    price = pricing(service) or (lambda _prompt, _output: 0)
    most_output = most_calls * longest
    return _Cost(calls, most_calls, prompt, output, most_output, price(prompt, output), price(most_prompt, most_output))


def _money(cost: _Cost, services: Sequence[Service | None]) -> dict[str, Any]:
    prices = [None if service is None else service.price for service in services]
    if None in prices:
        return {}
    dates = sorted({price.as_of or NO_DATE for price in prices if price is not None})
    money = {"cost": format_qfixed(cost.cost), "cost_at_most": format_qfixed(cost.most_cost)}
    return {**money, "prices_as_of": ", ".join(dates)}


MOST_DAYS: Final = 90
"""A price that is older is to be looked up again."""


def doubtful_prices(planned: Mapping[str, Any], today: date) -> list[str]:
    """What is to be said of the dates of prices by which the cost of a plan was computed."""
    model = planned.get("model")
    dates = model.get("prices_as_of", "") if isinstance(model, dict) else ""
    return [doubt for day in dates.split(", ") if day and (doubt := _doubt(day, today))]


def _doubt(day: str, today: date) -> str:
    if day == NO_DATE:
        return "a price has no date (`as_of`): nobody can tell whether it still holds"
    age = (today - date.fromisoformat(day)).days
    return f"a price of {day} is more than {MOST_DAYS} days old: look it up again" if age > MOST_DAYS else ""


def weak_probes(plan: Plan) -> list[str]:
    """Probes that ask an agent which may draw too seldom to convict it."""
    return [name for actor in plan.actors for name in actor.too_few_repeats]


def _cost(plan: Plan, outside: PlannedOutside, questions: Questions, asked: ModelPlan) -> _Cost:
    decisions = plan.episodes * plan.horizon
    calls, most_calls = decisions + questions.asked, decisions + questions.most_asked
    asking = Asking(asked, greeting(plan))
    usual, longest = _lengths(questions, plan, outside, lambda shown: asking.request_bytes(asking.question(shown)))
    prompt, most_prompt = -(-calls * usual // BYTES_A_TOKEN), -(-most_calls * longest // _DENSE)
    if asked.service is not None:  # a value that it states may be as long as an answer
        most_prompt += questions.most_asked * _SHOWN_TWICE * asked.service.max_output_tokens
    answer = -(-(questions.reasons + _CALL) // BYTES_A_TOKEN)
    return _priced(calls, most_calls, prompt, most_prompt, calls * answer, asked.service)


def _lengths(
    questions: Questions, plan: Plan, outside: PlannedOutside, size: Callable[[dict[str, Any]], int]
) -> tuple[int, int]:
    """How long a question is on average, and at most: of the longest start state, with all that makes it longer."""
    starts = () if questions.shown else map(plan.start, range(min(plan.episodes, _MOST_STARTS)))
    bare = [({"observation": plan.actors[0].observe(start), **outside.shown(start)},) for start in starts]
    sizes = [[size(shown) for shown in states] for states in questions.shown or bare]
    usual = -(-sum(base for base, *_ in sizes) // len(sizes))
    return usual, max(base + sum(max(0, other - base) for other in others) for base, *others in sizes)


def _messages(plan: Plan, questions: Questions) -> int:
    """`hello`; for each episode `reset`, the decisions, the questions of probes, the commitments to be opened."""
    return 1 + plan.episodes * (1 + plan.horizon) + questions.most_asked + questions.most_opened


def _sent(plan: Plan, outside: PlannedOutside, questions: Questions, messages: int) -> int:
    """The bytes of all messages, each as long as the longest, and of the first one, which tells the world."""
    _, longest = _lengths(questions, plan, outside, lambda shown: len(canonical_bytes(shown)))
    return messages * (longest + _HEAD) + len(canonical_bytes(greeting(plan)))
