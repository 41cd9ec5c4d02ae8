"""Keys of a kind that later versions of it have under another name: what `spec migrate` rewrites."""

from __future__ import annotations

from msgspec import Struct


class Rename(Struct, frozen=True):
    """A key of a document that stands under another name.

    A model lists its renames as `renames`, which no other part of the engine reads.

    Attributes:
        old: The key as it is written.
        new: The key that takes its place; a document that has it already keeps both.
        beside: A key that the document must have, too, for the rename to keep its meaning.
        why: What the new name says better, for people.
    """

    old: str
    new: str
    beside: str
    why: str
