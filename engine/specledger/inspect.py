"""`specledger.inspect.task`: see `specledger.wings.bridges.inspect`."""

from specledger.wings.bridges.inspect import task

__all__ = ["task"]
