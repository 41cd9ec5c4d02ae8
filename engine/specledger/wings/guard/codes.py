"""Codes of findings about a guard's scenario."""

from __future__ import annotations

from specledger.core.diagnostics import code

E_GUARD_SCENARIO = code("E_GUARD_SCENARIO", "a scenario by which no guard can decide")
E_GUARD_MCP = code("E_GUARD_MCP", "a server of tools that cannot be guarded")
E_GUARD_INSTALL = code("E_GUARD_INSTALL", "the settings of a client cannot be changed")
