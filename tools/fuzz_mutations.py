"""Changes of inputs: of bytes, of lines, of words, and between two inputs."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

Change = Callable[[bytes, random.Random], bytes]

WORDS: Final = [
    *(b"0", b"-1", b"1", b"255", b"9007199254740993", b"-9223372036854775809", b"1e309", b"1.5", b".nan", b"0x10"),
    *(b"1_0", b"null", b"true", b"~", b"''", b'""', b"[]", b"{}", b"[[[[[[[[[[]]]]]]]]]]", b"{a: {a: {a: {a: 1}}}}"),
    *(b"- ", b": ", b"? ", b"&a ", b"*a", b"<<: *a", b"!!python/name:os.system ", b"!tag ", b"|", b">-", b"---"),
    *(b"...", b"%YAML 1.2", b"#", b"\t", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\\ud800"),
    *(b"\xe2\x80\xae", b"\xc2\x85", b"\r\n", b"\r", b"\x1b[31m", b"\n\n", b"${x}", b"$", b"1/0", b"x == y"),
    *(b"[1,2].map(x, x)", b"1 % 0", b"state.n", b"next.n", b"action.by", b"in", b"has(", b"((((((", b"'", b"9" * 400),
    *(b"a" * 5000, b"(" * 300, b"[" * 300, b"{" * 300, b"- " * 300, b"[1," * 200, b"spec: world/v1", b"params:"),
    *(b"require:", b"extends:", b"name:", b"doc:", b"for_each:", b"effects:", b"*", b"../../x", b"/dev/zero"),
]


def _flip(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def _remove(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + data[at + chance.choice([1, 2, 8, 64]) :]


def _insert(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(WORDS) + data[at:]


def _put_word(data: bytes, chance: random.Random) -> bytes:
    words = list(re.finditer(rb"[A-Za-z0-9_.${}-]+", data))
    if not words:
        return _insert(data, chance)
    word = chance.choice(words)
    other = chance.choice([chance.choice(WORDS), chance.choice(words)[0]])
    return data[: word.start()] + other + data[word.end() :]


def _lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    at, to = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(to, lines[at])
        case 2:
            lines[at], lines[to] = lines[to], lines[at]
        case 3:
            lines[at] = b"  " + lines[at]
        case _:
            lines[at] = lines[at].removeprefix(b"  ")
    return b"".join(lines)


CHANGES: Final[Sequence[Change]] = (_flip, _remove, _insert, _put_word, _put_word, _put_word, _lines, _lines)


def changed(seeds: Sequence[bytes], chance: random.Random) -> bytes:
    """One of the seeds after a few changes, sometimes with lines of another one."""
    data = chance.choice(seeds)
    if chance.random() < 0.15:
        own, other = data.splitlines(keepends=True), chance.choice(seeds).splitlines(keepends=True)
        at, start = chance.randrange(len(own) + 1), chance.randrange(len(other) + 1)
        data = b"".join([*own[:at], *other[start : start + chance.randrange(1, 9)], *own[at:]])
    for _ in range(chance.choice([1, 1, 2, 3, 8])):
        if data:
            data = chance.choice(CHANGES)(data, chance)
    return data


def smaller(data: bytes) -> Iterator[bytes]:
    """Inputs with less in them, those that lack most first."""
    lines = data.splitlines(keepends=True)
    size = len(lines) // 2
    while size:
        for start in range(0, len(lines), size):
            yield b"".join(lines[:start] + lines[start + size :])
        size //= 2
