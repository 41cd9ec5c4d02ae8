"""Walks up and down, and gives the reasons of `honest.py`."""

import honest


def hidden(seen):
    """Walk up and down, whatever there is to take."""
    return {"op": "move", "dir": "N" if seen["tick"] % 2 else "S"}


def answer(message):
    return honest.answer(message, decide=hidden)
