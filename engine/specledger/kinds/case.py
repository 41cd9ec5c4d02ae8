"""The name of a case."""

from __future__ import annotations

from specledger.load import Bundle


def case_name(bundle: Bundle) -> str:
    """The name of a case and of its files: the name of the spec, with the id of the matrix case if there is one."""
    return f"{bundle.main.name}.{bundle.case}" if bundle.case else bundle.main.name
