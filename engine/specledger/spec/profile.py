"""The `profile` kind: what a document asks for, control by control, and the checks that show each.

Decides what a control may name: tests of this project, what evidence must show, and a waiver. Refuses to know what a
check found: `spec report --profile` judges that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from specledger.spec.base import Constant, Day, Expression, Identifier, Model, Name, Spec
from specledger.spec.world import Function

Line = Annotated[str, StringConstraints(min_length=1, max_length=1000)]

CheckName = Annotated[str, StringConstraints(pattern=r"^tests/[A-Za-z0-9_/.-]+\.py::[A-Za-z0-9_]+$", max_length=300)]
"""A test of this project: `tests/unit/gates/test_lexicographic.py::test_each_gate_rejects_alone`."""

EvidenceName = Annotated[str, StringConstraints(pattern=r"^[a-z]+(/([A-Za-z0-9][A-Za-z0-9_.-]*|\*))?$", max_length=200)]
"""A check of evidence: `invariant/NAME`, `check/ID`, `evidence`; `probe/*` is every probe of a bundle."""


ReceiptType = Annotated[str, StringConstraints(pattern=r"^[a-z]+(_[a-z]+)*$", max_length=40)]
"""The type of a receipt: `step`, `episode_end`."""


class EvidenceCheck(Model):
    """What some bundle must show: a check that it has, a check of its evidence, or what holds of its receipts.

    `check` is a check of a report by its name, `verified` one of `spec verify` by its sentence; `receipts` is a type of
    receipts, of each of which `require` must hold where `when` does; without it `require` is about the whole bundle.
    `of` says of which spec the bundle must be, `kind` of what kind.

    Attributes:
        check: A check of a report, by its name: `progress`, `invariant/NAME`, `check/ID` of a suite,
            `law/NAME`; `probe/*` is every probe of a bundle, so it does not notice a missing one.
        verified: A check of `spec verify`, by its sentence: `receipts form one hash chain`.
        receipts: The type of receipts of each of which `require` must hold; the whole bundle, if left out.
        of: The name of the spec whose bundle it must be; every bundle that has such a check or receipt, if left out.
        kind: The kind of the spec whose bundle it must be.
        when: Which receipts, or bundles, are checked; all, if left out.
        require: What must hold.
        figures: Figures of a suite, or counts of a scenario's result, that `require` reads by their names.
    """

    check: EvidenceName | None = None
    verified: Line | None = None
    receipts: ReceiptType | None = None
    of: Name | None = None
    kind: Literal["scenario", "suite", "law", "discovery"] | None = None
    when: Expression | None = None
    require: Expression | None = None
    figures: Annotated[list[Identifier], Field(max_length=64)] = Field(default_factory=list)

    @model_validator(mode="after")
    def _one_way(self) -> EvidenceCheck:
        if sum(option is not None for option in (self.check, self.verified, self.require)) != 1:
            raise ValueError("expected exactly one of check, verified, require")
        if self.require is None and (self.receipts is not None or self.when is not None):
            raise ValueError("`receipts` and `when` go with `require`")
        if self.figures and (self.require is None or self.receipts is not None):
            raise ValueError("`figures` go with a `require` about the whole bundle")
        return self


class Waiver(Model):
    """Somebody's word that a control need not be met up to a day, that day included.

    Attributes:
        owner: Who answers for it.
        reason: Why the control need not be met.
        until: The last day on which it holds.
    """

    owner: Line
    reason: Line
    until: Day


class Control(Model):
    """One requirement.

    `shown` names what fails if it is not met: tests of this project (`checks`), checks of evidence (`evidence`) or
    both; `deferred` and `open` say why there are none yet; `differs` says what is done instead, and names what shows
    that; `not applicable` says why nothing could be asked.

    Attributes:
        id: Its name in the profile.
        section: The section of the document.
        says: The requirement in one sentence, in your own words.
        status: Whether it is shown, is met in another way (`differs`), is not shown yet (`open`, `deferred`) or does
            not apply.
        checks: Tests of this project that fail if it is not met: `tests/unit/test_a.py::test_b`.
        evidence: What evidence must show.
        why: Why it is not shown as the document asks; required unless it is `shown`.
        waiver: Somebody's word that it need not be met up to a day.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
    section: Line
    says: Line
    status: Literal["shown", "differs", "open", "deferred", "not applicable"]
    checks: list[CheckName] = Field(default_factory=list)
    evidence: Annotated[list[EvidenceCheck], Field(max_length=64)] = Field(default_factory=list)
    why: Line | None = None
    waiver: Waiver | None = None

    @model_validator(mode="after")
    def _accounted(self) -> Control:
        named = bool(self.checks or self.evidence)
        if self.status in ("shown", "differs") and not named:
            raise ValueError(f"a control that is {self.status!r} names the checks that show it")
        if self.status == "not applicable" and (named or self.waiver is not None):
            raise ValueError("a control that does not apply has neither checks nor a waiver")
        if self.status != "shown" and self.why is None:
            raise ValueError(f"a control that is {self.status!r} says why")
        return self


class Profile(Spec):
    """A profile/v1 document.

    Attributes:
        source: The document.
        constants: Literals.
        functions: Pure functions.
        controls: What the document asks for.
    """

    spec: Literal["profile/v1"]
    source: Line
    constants: Mapping[Identifier, Constant] = Field(default_factory=dict)
    functions: Mapping[Identifier, Function] = Field(default_factory=dict)
    controls: Annotated[list[Control], Field(min_length=1)]
