"""Where documents come from, as whoever resolves them sees it: from files, or from sources that were kept.

Decides what is known of the way from one document to another. Refuses to know either place.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from specledger.core.spans import Span
from specledger.load.document import Document, Node


@dataclass(frozen=True, slots=True)
class ResolvedRef:
    """Where a reference leads.

    Attributes:
        source: The identity of the document in which the reference is written; of one in `--set`, of the first.
        kind: The kind of the spec that it means.
        target: Its text.
        path: The document that it leads to, to be read.
        real: The identity of that document.
    """

    source: Path
    kind: str
    target: str
    path: Path
    real: Path


class DocumentSource(Protocol):
    """What documents are read from."""

    def read(self, path: Path, span: Span | None = None) -> Document | None:
        """A document with a right head, or None after its findings were reported.

        Args:
            path: The document.
            span: What asks for it.
        """

    def find(self, node: Node, kind: str) -> ResolvedRef | None:
        """Where a reference leads, or None after a finding was reported.

        Args:
            node: The text of the reference: a name or a path.
            kind: The kind that is needed.
        """

    def real(self, path: Path) -> Path:
        """What two paths of the same document have in common."""
