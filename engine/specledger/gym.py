"""`specledger.gym.make`: see `specledger.wings.bridges.gym`."""

from specledger.wings.bridges.gym import make

__all__ = ["make"]
