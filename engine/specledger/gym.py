"""`specledger.gym`: environments and explained policies, see `specledger.wings.bridges.gym`."""

from specledger.wings.bridges.gym import make
from specledger.wings.bridges.gym.explaining import Explained, by_asking

__all__ = ["Explained", "by_asking", "make"]
