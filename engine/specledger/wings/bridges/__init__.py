"""Bridges to other programs: Gymnasium environments, Inspect AI tasks, a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from specledger.core.wing import Wing


def _cluster() -> Callable[[str], Any]:
    from specledger.wings.bridges.cluster.connection import connect

    return connect


WING: Final = Wing("bridges", cluster=_cluster)
