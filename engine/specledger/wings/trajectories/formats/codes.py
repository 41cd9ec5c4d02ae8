"""Codes of findings in formats."""

from __future__ import annotations

from specledger.core.diagnostics import code

E_FORMAT_PATH = code("E_FORMAT_PATH", "a path of a format that leads to nothing there")
E_FORMAT_FORM = code("E_FORMAT_FORM", "keys of a format that do not go together")
