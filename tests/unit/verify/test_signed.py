"""Signatures, what the reader trusts and expects, heads that were seen, and what is said of all that."""

import json
import shutil

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.merkle import root, verify_consistency
from specledger.core.verdict import Verdict
from specledger.evidence.checkpoint import NoteSignature, note_text, read_note, sign_note
