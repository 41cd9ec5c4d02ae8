"""Checkpoints: the form of the source, its own examples, and what is refused."""

import base64
import re

import pytest

from specledger.evidence.checkpoint import (
    MAX_NOTE,
    InvalidNote,
    Note,
    NoteSignature,
    key_hash,
    note_text,
    origin_of,
    read_note,
    sign_note,
)
from specledger.evidence.envelope import MOST_SIGNATURES
from specledger.evidence.keys import verify
from tests.toys.refusals import codes

ROOT = bytes(range(32))
ROOT64 = base64.b64encode(ROOT).decode()
TEXT = f"example.org/lab\n12\n{ROOT64}\n"
SIGNED = base64.b64encode(b"hash" + b"s" * 64).decode()
LINE = f"\u2014 example.org/lab {SIGNED}\n"
EXAMPLE = (  # of tlog-checkpoint
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "\u2014 example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
)


def test_the_text_is_three_lines():
    assert note_text("example.org/lab", 12, ROOT) == TEXT.encode()


def test_the_example_of_the_source_is_read_and_written():
    note = read_note(EXAMPLE.encode())
    assert (note.origin, note.size, note.root.hex()[:8], note.signatures[0].hint.hex()) == (
        *("example.com/behind-the-sofa", 20852163, "0ac5186a", "033de0ae"),
    )
    assert sign_note(note.signed, note.signatures) == EXAMPLE.encode()


def test_the_hash_and_the_signature_of_a_known_note():
    """The note and the key of the documentation of golang.org/x/mod/sumdb/note."""
    public = base64.b64decode("ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")[1:]
    text = b"If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
    raw = base64.b64decode(
        "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
    )
    assert key_hash("PeterNeumann", public) == raw[:4] == bytes.fromhex("c74f20a3")
    assert verify(public, raw[4:], text)
    assert not verify(public, raw[4:], text + b"\n")


def test_signatures_of_other_kinds_are_kept():
    other = NoteSignature("witness.example/w", b"wxyz", b"x" * 2420)
    own = NoteSignature("example.org/lab", b"hash", b"s" * 64)
    note = read_note(sign_note(TEXT.encode(), [own, other]))
    assert note == Note("example.org/lab", 12, ROOT, (own, other))
    assert note.signed == TEXT.encode()


REFUSED = {  # what is read, and why it is refused
    "an extension line": (
        TEXT + "more\n\n" + LINE,
        "it is three lines, an empty line, and signature lines, each with a newline",
    ),
    "no signature": (TEXT + "\n", "it is three lines, an empty line, and signature lines, each with a newline"),
    "no empty line": (TEXT + LINE, "it is three lines, an empty line, and signature lines, each with a newline"),
    "two empty lines": (
        TEXT + "\n\n" + LINE,
        "a signature line is an em dash, a name without spaces and `+`, and base64",
    ),
    "no last newline": (
        (TEXT + "\n" + LINE)[:-1],
        "it is three lines, an empty line, and signature lines, each with a newline",
    ),
    "an empty line at the end": (
        TEXT + "\n" + LINE + "\n",
        "a signature line is an em dash, a name without spaces and `+`, and base64",
    ),
    "carriage returns": (
        (TEXT + "\n" + LINE).replace("\n", "\r\n"),
        "it is three lines, an empty line, and signature lines, each with a newline",
    ),
    "no origin": (f"\n12\n{ROOT64}\n\n{LINE}", "its origin is no visible ASCII without spaces and `+`"),
    "a space in the origin": (f"a b\n12\n{ROOT64}\n\n{LINE}", "its origin is no visible ASCII without spaces and `+`"),
    "a plus in the origin": (f"a+b\n12\n{ROOT64}\n\n{LINE}", "its origin is no visible ASCII without spaces and `+`"),
    "another script in the origin": (
        f"\u0430\n12\n{ROOT64}\n\n{LINE}",
        "its origin is no visible ASCII without spaces and `+`",
    ),
    "a control in the origin": (
        f"a\x1b\n12\n{ROOT64}\n\n{LINE}",
        "its origin is no visible ASCII without spaces and `+`",
    ),
    "a leading zero": (f"a\n012\n{ROOT64}\n\n{LINE}", "its size is no decimal number"),
    "a sign": (f"a\n+1\n{ROOT64}\n\n{LINE}", "its size is no decimal number"),
    "a negative size": (f"a\n-1\n{ROOT64}\n\n{LINE}", "its size is no decimal number"),
    "other digits": (f"a\n\u0661\n{ROOT64}\n\n{LINE}", "its size is no decimal number"),
    "a size beyond 2^53 - 1": (f"a\n9007199254740992\n{ROOT64}\n\n{LINE}", "its size is no decimal number"),
    "an endless size": (f"a\n{'9' * 5000}\n{ROOT64}\n\n{LINE}", "its size is no decimal number"),
    "a short root": (f"a\n12\n{base64.b64encode(ROOT[1:]).decode()}\n\n{LINE}", "its root has 31 bytes, not 32"),
    "a root in hexadecimal digits": (f"a\n12\n{ROOT.hex()}\n\n{LINE}", "its root has 48 bytes, not 32"),
    "a root without padding": (f"a\n12\n{ROOT64[:-1]}\n\n{LINE}", "its root is not standard base64 with padding"),
    "a hyphen for the dash": (
        TEXT + "\n" + LINE.replace("\u2014", "-"),
        "a signature line is an em dash, a name without spaces and `+`, and base64",
    ),
    "two spaces": (
        TEXT + "\n" + LINE.replace(" ex", "  ex"),
        "a signature line is an em dash, a name without spaces and `+`, and base64",
    ),
    "a line without a name": (
        TEXT + f"\n\u2014 {SIGNED}\n",
        "a signature line is an em dash, a name without spaces and `+`, and base64",
    ),
    "a name with a plus": (
        TEXT + f"\n\u2014 a+b {SIGNED}\n",
        "a signature line is an em dash, a name without spaces and `+`, and base64",
    ),
    "a signature without a hash": (
        TEXT + "\n\u2014 a YWJjZA==\n",
        "a signature line holds 4 bytes of a hash and a signature",
    ),
    "a signature that is no base64": (TEXT + "\n\u2014 a ####\n", "a signature is not standard base64 with padding"),
    "one signature twice": (TEXT + "\n" + LINE * 2, "a key has signed it twice"),
    "too many signatures": (
        TEXT + "\n" + "".join(f"\u2014 a{n} {SIGNED}\n" for n in range(MOST_SIGNATURES + 1)),
        "it has more than 16 signatures",
    ),
    "no UTF-8": (b"\xff" + TEXT.encode() + b"\n" + LINE.encode(), "it is not UTF-8"),
    "nothing": ("", "it is three lines, an empty line, and signature lines, each with a newline"),
    "too large": (TEXT + "\n" + LINE + "x" * MAX_NOTE, "it has more than 65536 bytes"),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_other_forms_are_refused(text, why):
    with pytest.raises(InvalidNote, match=re.escape(why)):
        read_note(text if isinstance(text, bytes) else text.encode())


def test_no_byte_of_a_checkpoint_can_be_another_unnoticed():
    data = (TEXT + "\n" + LINE).encode()
    before = read_note(data)
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1
        try:
            assert read_note(bytes(changed)) != before, place
        except InvalidNote:
            continue


def test_an_origin_names_one_run():
    assert origin_of("example.org/lab/{run}", "ab12") == "example.org/lab/ab12"
    assert origin_of("x", "ab12") == "x"


@pytest.mark.parametrize("pattern", ["", "a b", "a+b", "a\n", "\u00e9", "x" * 256, "a\x7f"])
def test_what_names_no_log_is_refused(pattern):
    assert codes(origin_of, pattern, "ab") == ["E_ORIGIN"]
