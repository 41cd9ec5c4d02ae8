"""The timing of an animation: equally long frames, a rest at the end, then again from the start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from specledger.report.formats.html.elements import NOTHING, Markup, element

_LONGEST: Final = 250  # milliseconds of a frame
_SHORTEST: Final = 40
_ALL: Final = 30_000  # milliseconds that all frames should take
_REST: Final = 1500


class Clock(Struct, frozen=True):
    """The time of an animation with frames 0 to `last`."""

    last: int

    @property
    def pace(self) -> int:
        """Milliseconds from one frame to the next."""
        return max(_SHORTEST, min(_LONGEST, _ALL // max(self.last, 1)))

    @property
    def rest(self) -> int:
        """Frames for which the last one stays."""
        return -(-_REST // self.pace)

    def smoothly(self, attribute: str, values: Sequence[str], **more: str) -> Markup:
        """An animation through one value for each frame; nothing for a single frame."""
        if not self.last:
            return NOTHING
        return self._animation(attribute, [*values, *[values[-1]] * self.rest], more)

    def at_once(self, attribute: str, values: Sequence[tuple[int, str]], **more: str) -> Markup:
        """An animation that jumps to each value at its frame; the first one is of frame 0."""
        if not self.last or len(values) < 2:
            return NOTHING
        times = [self._share(frame) for frame, _ in values]
        more = {**more, "calcMode": "discrete", "keyTimes": ";".join(times)}
        return self._animation(attribute, [value for _, value in values], more)

    def _share(self, frame: int) -> str:
        """A frame's part of the whole time, with five decimals."""
        share = frame * 100_000 // (self.last + self.rest)
        return f"0.{share:05d}" if share else "0"

    def _animation(self, attribute: str, values: Sequence[str], more: dict[str, str]) -> Markup:
        return element(
            "animateTransform" if attribute == "transform" else "animate",
            attributeName=attribute,
            dur=f"{(self.last + self.rest) * self.pace}ms",
            repeatCount="indefinite",
            values=";".join(values),
            **({"type": "translate"} if attribute == "transform" else {}),
            **more,
        )
