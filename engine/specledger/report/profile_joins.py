"""Rules of a profile over several bundles: asked when all are read, of what each shows as a whole.

A rule that reads `bundle` is asked for each bundle that it is about, so that it can join others to it by name; one that
reads `bundles` alone is asked once, and its answer stands with the first bundle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from specledger.expr import EvaluationError
from specledger.report.markup import shorten
from specledger.report.model import LONGEST, Check, Subject
from specledger.report.outcome import Outcome
from specledger.report.profile_rules import Question, is_of


def with_joins(subjects: Sequence[Subject], questions: Sequence[Question]) -> tuple[Subject, ...]:
    """The subjects, with the answers to the rules that are about several of them."""
    joining = [question for question in questions if question.joins]
    if not joining:
        return tuple(subjects)
    known = [subject.shows for subject in subjects]
    return tuple(
        replace(subject, checks=(*subject.checks, *_answers(index, subject, joining, known)))
        for index, subject in enumerate(subjects)
    )


def _answers(
    index: int, subject: Subject, joining: Sequence[Question], known: Sequence[Mapping[str, Any]]
) -> Iterator[Check]:
    for question in joining:
        if is_of(question.named, subject.name, subject.kind) and ("bundle" in question.reads or index == 0):
            yield _answer(question, subject.root, known[index], known)


def _answer(question: Question, key: str, own: Mapping[str, Any], known: Sequence[Mapping[str, Any]]) -> Check:
    """Whether a rule holds; what cannot be evaluated cannot be told."""
    assert question.require is not None  # noqa: S101 - a rule over bundles requires something
    named = question.named
    condition = "" if named.when is None else f" if {named.when}"
    joint = "bundle" not in question.reads
    what = "all bundles" if joint else "the bundle, beside the others,"
    says = shorten(f"of {what}{condition}: {named.require}", LONGEST)
    values: tuple[Any, ...] = (None, {}, (), own, {}, {}, list(known))
    try:
        if question.when is not None and not question.when(*values):
            return Check(question.id, says, key, Outcome.NOT_APPLICABLE, 0, why="its condition never held", joint=joint)
        holds = question.require(*values)
    except EvaluationError as error:
        why = f"it could not be evaluated: {error.code}"
        return Check(question.id, says, key, Outcome.CANNOT_TELL, 1, why=why, error=True, joint=joint)
    if holds:
        return Check(question.id, says, key, Outcome.PASSED, 1, joint=joint)
    why = f"it does not hold of the {len(known)} bundles"
    return Check(question.id, says, key, Outcome.FAILED, 1, 1, why, joint=joint)
