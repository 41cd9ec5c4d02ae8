"""The `profile` kind: what a source document asks for, sentence by sentence, and the checks that show each."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from engine.spec.base import Model, Spec

Line = Annotated[str, StringConstraints(min_length=1, max_length=1000)]

CheckName = Annotated[str, StringConstraints(pattern=r"^tests/[A-Za-z0-9_/.-]+\.py::[A-Za-z0-9_]+$", max_length=300)]
"""A test of this project: `tests/unit/gates/test_lexicographic.py::test_each_gate_rejects_alone`."""


class Control(Model):
    """One requirement.

    `shown` names the checks that fail if it is not met; `deferred` and `open` say why there are none yet; `differs`
    says what is done instead, and names the checks that show that.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
    section: Line
    says: Line
    status: Literal["shown", "differs", "open", "deferred"]
    checks: list[CheckName] = Field(default_factory=list)
    why: Line | None = None

    @model_validator(mode="after")
    def _accounted(self) -> Control:
        if self.status in ("shown", "differs") and not self.checks:
            raise ValueError(f"a control that is {self.status!r} names the checks that show it")
        if self.status != "shown" and self.why is None:
            raise ValueError(f"a control that is {self.status!r} says why")
        return self


class Profile(Spec):
    """A profile/v1 document."""

    spec: Literal["profile/v1"]
    source: Line
    controls: Annotated[list[Control], Field(min_length=1)]
