"""Text to tokens of CEL, and a cursor over them with messages for unexpected tokens.

Source: CEL language definition, "Syntax".
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from specledger.expr.errors import E_EXPR_OUTSIDE_PROFILE, E_EXPR_SYNTAX
from specledger.expr.limits import INT_MAX, INT_MIN
from specledger.expr.parse.foreign_words import AT_THE_END, UNEXPECTED, WORDS

_SKIPPED = re.compile(r"(?:[ \t\n\r\f]+|//[^\n]*)+")
_NUMBER = re.compile(
    r"(?P<double>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<int>0x[0-9a-fA-F]+|[0-9]+)(?P<unsigned>[uU])?"
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r"`([A-Za-z0-9_.\-/ ]+)`")
_OPENING = re.compile(r"([rRbB]{0,2})('''|\"\"\"|'|\")")
_OPERATOR = re.compile(r"&&|\|\||[=!<>]=|[-+*/%!<>?:.,()\[\]{}]")
# Possessive only where nothing looks ahead: early 3.11 releases lose matches of the others. Alternatives of these begin
# with different characters, so there is one way to match, and giving back costs no more than the text is long.
# Compiled when a string of that form is read.
_CONTENT = {
    ("'", False): r"((?:[^\\'\n\r]|\\[^\n\r])*+)'",
    ('"', False): r'((?:[^\\"\n\r]|\\[^\n\r])*+)"',
    ("'''", False): r"((?:[^\\']|\\.|'(?!''))*)'''",
    ('"""', False): r'((?:[^\\"]|\\.|"(?!""))*)"""',
    ("'", True): r"([^'\n\r]*+)'",
    ('"', True): r'([^"\n\r]*+)"',
    ("'''", True): r"((?:[^']|'(?!''))*)'''",
    ('"""', True): r'((?:[^"]|"(?!""))*)"""',
}
_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\\?\"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))|(\\)"
)
_CONTROLS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_FOREIGN = re.compile(r"===|!==|=>|=<|=!|<>|\*\*|\+\+|->|::|[-+*/]=(?!=)")
_MEANT = {
    "=": "compare with `==`",
    "&": "write `&&`",
    "|": "write `||`",
    ";": "one expression has no `;`",
    "^": "a power is written as a product: `n * n`",
    "=>": "write `>=`; an implication `a => b` is `!a || b`",
    "=<": "write `<=`",
    "=!": "write `!=`",
    "<>": "write `!=`",
    "===": "write `==`",
    "!==": "write `!=`",
    "**": "a power is written as a product: `n * n`",
    "++": "an expression changes nothing: write `n + 1`",
    "->": "a field is `record.field`; an item is named before a comma: `list.all(x, condition)`",
    "::": "a field is read with a dot: `record.field`",
    **dict.fromkeys(("+=", "-=", "*=", "/="), "an expression changes nothing: give the new value alone, as in `n + 1`"),
    **{"≥": "write `>=`", "≤": "write `<=`", "≠": "write `!=`"},
    **dict.fromkeys("\u2018\u2019\u201c\u201d", "write a straight quote: `'`"),
    "$": "a parameter is written `${name}`",
}
"""Operators and characters of other languages, and what CEL has instead."""


class Problem(Exception):  # noqa: N818 - becomes a diagnostic of the parser
    """The first thing in a text that is not an expression of the profile."""

    def __init__(self, code: str, message: str, start: int, end: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.start = start
        self.end = end
        self.hint = hint


class Token(Struct, frozen=True):
    """`kind` is int, double, string, name, quoted, end, or the operator itself."""

    kind: str
    value: Any
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """All tokens, the last of kind `end`; an int's value may be 2**63, which only a minus in front makes legal.

    Raises:
        Problem: At the first character that begins no token of the profile.
    """
    tokens: list[Token] = []
    at = 0
    while True:
        skipped = _SKIPPED.match(text, at)
        at = skipped.end() if skipped else at
        if at == len(text):
            tokens.append(Token("end", "", at, at))
            return tokens
        tokens.append(_token(text, at))
        at = tokens[-1].end


def _token(text: str, at: int) -> Token:
    if match := _NUMBER.match(text, at):
        return _number(match)
    if match := _OPENING.match(text, at):
        return _string(text, match)
    if match := _NAME.match(text, at):
        return Token("name", match[0], at, match.end())
    if match := _FOREIGN.match(text, at):
        raise Problem(E_EXPR_SYNTAX, f"`{match[0]}` is not an operator of CEL", at, match.end(), _MEANT[match[0]])
    if match := _OPERATOR.match(text, at):
        return Token(match[0], match[0], at, match.end())
    if match := _QUOTED.match(text, at):
        return Token("quoted", match[1], at, match.end())
    character = text[at]
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    raise Problem(E_EXPR_SYNTAX, f"`{shown}` has no meaning here", at, at + 1, _MEANT.get(character))


def _number(match: re.Match[str]) -> Token:
    if match["double"] is not None:
        if float(match[0]) == float("inf"):
            raise Problem(E_EXPR_SYNTAX, "this number does not fit a double", match.start(), match.end())
        return Token("double", float(match[0]), match.start(), match.end())
    if match["unsigned"]:
        raise Problem(
            E_EXPR_OUTSIDE_PROFILE,
            "unsigned integers are CEL, but outside the profile",
            match.start(),
            match.end(),
            f"write `{match['int'][:20]}`",
        )
    digits = match["int"]
    short = len(digits.lstrip("0x")) <= len(str(INT_MAX))
    value = int(digits, 16 if digits.startswith("0x") else 10) if short else INT_MAX + 2
    if value > -INT_MIN:
        raise Problem(E_EXPR_SYNTAX, "this integer does not fit 64 bits", match.start(), match.end())
    return Token("int", value, match.start(), match.end())


def _string(text: str, opening: re.Match[str]) -> Token:
    prefix, quote = opening[1].lower(), opening[2]
    start = opening.start()
    content = re.compile(_CONTENT[quote, "r" in prefix], re.DOTALL).match(text, opening.end())
    if content is None:
        raise Problem(E_EXPR_SYNTAX, "this string has no closing quote", start, opening.end(), _unclosed_hint(quote))
    if "b" in prefix:
        raise Problem(E_EXPR_OUTSIDE_PROFILE, "bytes are CEL, but outside the profile", start, content.end())
    if prefix == "rr":
        raise Problem(E_EXPR_SYNTAX, "duplicate prefix `r` before this string", start, opening.end())
    value = content[1] if prefix else _ESCAPE.sub(lambda escape: _unescape(escape, content.start()), content[1])
    for offset, character in enumerate(content[1]):
        if "\ud800" <= character <= "\udfff":
            at = content.start() + offset
            raise Problem(E_EXPR_SYNTAX, f"U+{ord(character):04X} is half of a character", at, at + 1)
    return Token("string", value, start, content.end())


def _unclosed_hint(quote: str) -> str:
    return "a quote inside the string is written `\\" + quote[0] + "`" + ("" if quote[1:] else ", a new line `\\n`")


def _unescape(escape: re.Match[str], base: int) -> str:
    letter, *numbers, wrong = escape.groups()
    if letter:
        return _CONTROLS.get(letter, letter)
    start = base + escape.start()
    if wrong:
        raise Problem(E_EXPR_SYNTAX, "no such escape", start, start + 1, "a backslash itself is written `\\\\`")
    point = next(
        int(digits, base_of) for digits, base_of in zip(numbers, (16, 16, 16, 8), strict=True) if digits is not None
    )
    if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
        raise Problem(E_EXPR_SYNTAX, "no such character in Unicode", start, base + escape.end())
    return chr(point)


class Cursor:
    """A place in a list of tokens that ends with `end`."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def next(self) -> Token:
        """The token at hand."""
        return self._tokens[self._at]

    @property
    def before(self) -> int:
        """The offset where the last taken token ended."""
        return self._tokens[self._at - 1].end

    def take(self) -> Token:
        """The token at hand, left behind unless it is the end."""
        token = self._tokens[self._at]
        self._at += token.kind != "end"
        return token

    def taken(self, kind: str) -> bool:
        """Whether the token at hand was of a kind, and if so left behind."""
        if self.next.kind != kind:
            return False
        self._at += 1
        return True

    def expect(self, kind: str, purpose: str) -> Token:
        """The token at hand, left behind.

        Raises:
            Problem: It is of another kind.
        """
        if self.next.kind != kind:
            raise self.unexpected(f"expected `{kind}` {purpose}")
        return self.take()

    def operator(self, operators: tuple[str, ...]) -> str | None:
        """The operator at hand when it is one of these, not left behind."""
        token = self.next
        operator = str(token.value) if token.kind in operators or (token.kind == "name" and token.value == "in") else ""
        return operator if operator in operators else None

    def unexpected(self, wanted: str) -> Problem:
        """What to say of the token at hand."""
        token = self.next
        if token.kind == "end":
            hint = AT_THE_END.get("%" if self._at and self._tokens[self._at - 1].kind == "%" else wanted)
            return Problem(E_EXPR_SYNTAX, f"the expression ends too early: {wanted}", token.start, token.end, hint)
        named = token.kind in {"name", token.value}
        kind = "name" if token.kind == "quoted" else token.kind
        shown = f"`{str(token.value)[:40]}`" if named else kind
        hint = WORDS.get(str(token.value).lower()) if token.kind == "name" else UNEXPECTED.get(token.kind)
        if token.kind == "name" and re.fullmatch(r"_[0-9_]+", str(token.value)):
            hint = "a number has no separators: `1000`"
        return Problem(E_EXPR_SYNTAX, f"unexpected {shown}: {wanted}", token.start, token.end, hint)
