"""Trajectories: what an agent did, read from its logs and judged by rules."""

from __future__ import annotations

from typing import Final

from specledger.core.wing import Wing

WING: Final = Wing("trajectories")
