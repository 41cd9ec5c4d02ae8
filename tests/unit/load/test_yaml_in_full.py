"""What is said of YAML that is refused: the place from where to where, the words, the hint, and what is related."""

import pytest

from tests.unit.load.test_yaml import REFUSED

SAID = {
    'an empty file': 'E_YAML_DOCUMENTS 1:1-1:1 the file holds no document | expected: spec: <kind>/v1',
    'a file of comments': 'E_YAML_DOCUMENTS 1:1-1:1 the file holds no document | expected: spec: <kind>/v1',
    'a second document': 'E_YAML_DOCUMENTS 2:1-2:2 a second document | hint: put it in a file of its own',
    'an end marker': 'E_YAML_DOCUMENTS 2:1-2:2 the end marker `...` | hint: delete it',
    'a directive': 'E_YAML_DIRECTIVE 1:1-1:2 a directive (`%...`) | hint: delete the line',
    'a tag directive': 'E_YAML_DIRECTIVE 2:1-2:2 a directive (`%...`) | hint: delete the line',
    'an unknown directive': 'E_YAML_DIRECTIVE 1:1-2:1 a directive (`%...`) | hint: delete the line',
    'an anchor': 'E_YAML_ANCHOR 1:4-1:8 an anchor (`&name`) | hint: delete the anchor, or quote the expression if it is one',
    'an anchor on a key': 'E_YAML_ANCHOR 1:1-1:5 an anchor (`&name`) | hint: delete the anchor, or quote the expression if it is one',
    'an anchor on a list': 'E_YAML_ANCHOR 1:4-1:8 an anchor (`&name`) | hint: delete the anchor, or quote the expression if it is one',
    'an alias': 'E_YAML_ALIAS 1:4-1:6 an alias (`*name`) | hint: write the value itself, or quote the expression if it is one',
    'an alias in a list': 'E_YAML_ALIAS 1:8-1:10 an alias (`*name`) | hint: write the value itself, or quote the expression if it is one',
    'an alias as a key': 'E_YAML_ALIAS 1:2-1:4 an alias (`*name`) | hint: write the value itself, or quote the expression if it is one',
    'a tag': 'E_YAML_TAG 1:4-1:31 a tag (`!name`) | hint: delete the tag, or quote the expression if it is one',
    'a tag on a key': 'E_YAML_TAG 1:1-1:8 a tag (`!name`) | hint: delete the tag, or quote the expression if it is one',
    'a merge key': 'E_YAML_KEY 2:1-2:3 the merge key `<<` is not used | hint: use `extends` to build on another document',
    'a number as a key': 'E_YAML_KEY 1:1-1:2 the key `1` is not text | hint: quote it: "1"',
    'null as a key': 'E_YAML_KEY 1:5-1:9 the key `null` is not text | hint: quote it: "null"',
    'a date as a key': 'E_YAML_KEY 1:1-1:11 the key `2024-01-01` is not text | hint: quote it: "2024-01-01"',
    'a list as a key': 'E_YAML_KEY 1:1-1:7 a key that is no text | hint: quote the expression',
    'a mapping as a key': 'E_YAML_KEY 1:2-1:12 a key that is no text | hint: quote the expression',
    'a complex key': 'E_YAML_KEY 1:3-1:4 a key that is not on one line with its colon | hint: write `key: value`',
    'an empty key': 'E_YAML_KEY 1:2-2:1 a key is missing before the colon | hint: write `key: value`, or quote the expression',
    'a key on two lines': 'E_YAML_KEY 1:2-2:4 a key that is not on one line with its colon | hint: write `key: value`',
    'a quoted key on two lines': 'E_YAML_KEY 1:2-2:5 a key that is not on one line with its colon | hint: write `key: value`',
    'a duplicate key': 'E_YAML_DUPLICATE_KEY 3:1-3:2 the key `a` was given in line 1 already | hint: delete one of them | first given here: 1:1-1:2',
    'a duplicate key in braces': 'E_YAML_DUPLICATE_KEY 1:8-1:11 the key `a` was given in line 1 already | hint: delete one of them | first given here: 1:2-1:3',
    'no value': 'E_YAML_EMPTY 1:1-1:2 the key `a` has no value | hint: write a value; null, {} and [] are values',
    'no value before a comment': 'E_YAML_EMPTY 1:1-1:2 the key `a` has no value | hint: write a value; null, {} and [] are values',
    'nothing after a dash': 'E_YAML_EMPTY 2:3-2:4 a value is missing | hint: write a value; null, {} and [] are values',
    'a document marker alone': 'E_YAML_EMPTY 1:4-2:1 a value is missing | hint: write a value; null, {} and [] are values',
    'an unknown escape': 'E_YAML_ESCAPE 1:5-1:6 an escape that names no character | hint: double the backslash, or use single quotes',
    'a short escape': 'E_YAML_ESCAPE 1:6-1:9 an escape that names no character | hint: double the backslash, or use single quotes',
    'a long escape beyond Unicode': 'E_YAML_ESCAPE 1:6-1:9 an escape that names no character | hint: double the backslash, or use single quotes',
    'half a surrogate pair': 'E_YAML_ESCAPE 1:5-1:8 an escape that names no character | hint: double the backslash, or use single quotes',
    'a surrogate pair': 'E_YAML_ESCAPE 1:5-1:8 an escape that names no character | hint: double the backslash, or use single quotes',
    'an escaped control': 'E_YAML_ESCAPE 1:6-1:8 an escape for U+001B, which no value may hold | hint: delete it',
    'an escaped NUL in a key': 'E_YAML_ESCAPE 1:3-1:5 an escape for U+0000, which no value may hold | hint: delete it',
    'an escaped bidi override': 'E_YAML_ESCAPE 1:5-1:7 an escape for U+202E, which no value may hold | hint: delete it',
    'an escaped line separator': 'E_YAML_ESCAPE 1:5-1:7 an escape for U+2028, which no value may hold | hint: delete it',
    'an indentation indicator': 'E_YAML_BLOCK 1:4-1:6 a text that YAML readers read differently | hint: quote it',
    'an indentation indicator and chomping': 'E_YAML_BLOCK 1:4-1:7 a text that YAML readers read differently | hint: quote it',
    'a colon without a key': 'E_YAML_SYNTAX 1:2-1:3 this is not YAML | hint: check brackets, quotes, commas and indentation up to this place',
    'an open bracket': 'E_YAML_SYNTAX 2:1-2:2 the file ends in the middle of a value | hint: close the bracket or quote that is open | it was opened here: 1:4-1:5',
    'an open quote': 'E_YAML_SYNTAX 2:1-2:2 the file ends in the middle of a value | hint: close the bracket or quote that is open | it was opened here: 1:4-1:5',
    'a closing bracket too many': 'E_YAML_SYNTAX 2:4-2:5 this is not YAML | hint: check brackets, quotes, commas and indentation up to this place',
    'wrong indentation': 'E_YAML_SYNTAX 3:2-3:3 this is not YAML | hint: check brackets, quotes, commas and indentation up to this place',
    'a key inside a text': 'E_YAML_SYNTAX 2:4-2:5 a key where none can be | hint: check the indentation of this line and of those before it',
    'text after a comment': 'E_YAML_SYNTAX 3:4-3:5 this is not YAML | hint: check brackets, quotes, commas and indentation up to this place',
    'a call in braces': 'E_YAML_EXPRESSION 1:8-1:17 an unquoted value with half a pair of parentheses | hint: quote the expression',
    'a call in brackets': 'E_YAML_EXPRESSION 1:5-1:8 an unquoted value with half a pair of parentheses | hint: quote the expression',
    'a call as a key': 'E_YAML_EXPRESSION 1:5-1:8 a piece of an expression, which YAML takes for a key | hint: quote the expression',
    'a text with a comma in braces': 'E_YAML_EXPRESSION 1:5-1:12 an unquoted value with half a pair of quotes | hint: quote the expression',
    'no space after the colon in braces': 'E_YAML_EXPRESSION 1:2-1:5 `a:b` has no value; is it a piece of an expression? | hint: quote the expression',
    'a choice': 'E_YAML_EXPRESSION 1:4-1:11 `: ` inside an unquoted value | hint: quote the expression',
    'a choice in braces': 'E_YAML_EXPRESSION 1:8-1:13 `?` in an unquoted value inside brackets | hint: quote the expression',
    'a choice in brackets': 'E_YAML_EXPRESSION 1:2-1:12 a `key: value` pair without braces inside `[...]` | hint: quote the expression',
    'a tight choice in braces': 'E_YAML_EXPRESSION 1:5-1:8 `?` in an unquoted value inside brackets | hint: quote the expression',
    'a pair in brackets': 'E_YAML_EXPRESSION 1:2-1:7 a `key: value` pair without braces inside `[...]` | hint: quote the expression',
    'no space before a mapping in braces': 'E_YAML_EXPRESSION 1:2-1:3 a colon without a space after it | hint: quote the expression',
    'an index in braces': 'E_YAML_EXPRESSION 1:8-1:10 `[` inside an unquoted value, or a comma is missing before it | hint: quote the expression',
    'a map in braces': 'E_YAML_EXPRESSION 1:5-1:7 `{` inside an unquoted value, or a comma is missing before it | hint: quote the expression',
    'a parameter in braces': 'E_YAML_EXPRESSION 1:5-1:7 `{` inside an unquoted value, or a comma is missing before it | hint: quote the expression',
    'a parameter in brackets': 'E_YAML_EXPRESSION 1:5-1:7 `{` inside an unquoted value, or a comma is missing before it | hint: quote the expression',
    'a parameter as a key': 'E_YAML_EXPRESSION 1:2-1:3 a piece of an expression, which YAML takes for a key | hint: quote the expression',
    'a leading not': 'E_YAML_TAG 1:4-1:6 a tag (`!name`) | hint: delete the tag, or quote the expression if it is one',
    'a leading not with more': 'E_YAML_TAG 1:4-1:9 a tag (`!name`) | hint: quote the expression',
    'a leading star': 'E_YAML_ALIAS 1:4-1:6 an alias (`*name`) | hint: write the value itself, or quote the expression if it is one',
    'a leading and': 'E_YAML_ANCHOR 1:4-1:6 an anchor (`&name`) | hint: quote the expression',
    'a leading at': 'E_YAML_EXPRESSION 1:4-1:5 an unquoted value cannot begin with `@` | hint: quote the expression',
    'a leading percent': 'E_YAML_EXPRESSION 1:4-1:5 an unquoted value cannot begin with `%` | hint: quote the expression',
    'a leading backquote': 'E_YAML_EXPRESSION 1:4-1:5 an unquoted value cannot begin with ``` | hint: quote the expression',
    'a leading dash with a space': 'E_YAML_EXPRESSION 1:4-1:5 an unquoted value cannot begin with `- ` | hint: quote the expression',
    'a leading question mark': 'E_YAML_EXPRESSION 1:4-1:5 an unquoted value cannot begin with `? ` | hint: quote the expression',
    'text after a quote': 'E_YAML_EXPRESSION 1:4-1:9 text after the closing quote | hint: quote the expression as a whole, with the other kind of quotes',
    'a colon and a space': 'E_YAML_EXPRESSION 1:4-1:6 `: ` inside an unquoted value | hint: quote the expression',
    'a comment inside a text': 'E_YAML_EXPRESSION 1:4-1:11 an unquoted value with half a pair of quotes | hint: quote the expression',
    'a comment inside a call': 'E_YAML_EXPRESSION 1:4-1:8 an unquoted value with half a pair of parentheses | hint: quote the expression',
}  # fmt: skip

MORE = {
    'a tight colon before': ('a:b\nc: d', ['E_YAML_SYNTAX 2:2-2:3 a key where none can be | hint: check the indentation of this line and of those before it']),
    'a tight colon on the line before': ('x: 1\na:b c\n', ['E_YAML_SYNTAX 3:1-3:2 this is not YAML | hint: a space belongs after the colon before it: `a: b c`']),
    'a brace in an open list': ('a: [b}', ['E_YAML_SYNTAX 1:6-1:7 `}` where a list is open | hint: close the list first, by `]` | it was opened here: 1:4-1:5']),
    'a brace in a list in braces': ('a: {b: [c}', ['E_YAML_SYNTAX 1:10-1:11 `}` where a list is open | hint: close the list first, by `]` | it was opened here: 1:8-1:9']),
    'a bracket in open braces': ('a: {b: c]', ['E_YAML_EXPRESSION 1:8-1:10 `]` inside an unquoted value, or a comma is missing before it | hint: quote the expression']),
    'a closing brace in a list after a closed one': ('a: [[b], c}', ['E_YAML_SYNTAX 1:11-1:12 `}` where a list is open | hint: close the list first, by `]` | it was opened here: 1:4-1:5']),
    'brackets in quotes': ('a: [\'[\', "{" }', ['E_YAML_SYNTAX 1:14-1:15 `}` where a list is open | hint: close the list first, by `]` | it was opened here: 1:4-1:5']),
    'no comma between elements': ("a: [b 'c']", []),
    'no comma between quoted elements': ("a: ['b' 'c']", ["E_YAML_EXPRESSION 1:5-1:10 `'` inside an unquoted value, or a comma is missing before it | hint: quote the expression"]),
    'a quote that is left open': ("a: [b, 'c\nd: e", ['E_YAML_SYNTAX 3:1-3:2 the file ends in the middle of a value | hint: close the bracket or quote that is open | it was opened here: 1:8-1:9']),
    'text after a double quote': ('a: "b" + c', ['E_YAML_EXPRESSION 1:4-1:9 text after the closing quote | hint: quote the expression as a whole, with the other kind of quotes']),
    'text after a quote in braces': ("{a: 'b' + c}", ['E_YAML_EXPRESSION 1:5-1:10 text after the closing quote | hint: quote the expression as a whole, with the other kind of quotes']),
    'a quote inside': ("a: 'it's'", ['E_YAML_EXPRESSION 1:4-1:9 text after the closing quote | hint: quote the expression as a whole, with the other kind of quotes']),
    'a dash in a list': ('[a, - b]', ['E_YAML_SYNTAX 1:5-1:6 this is not YAML | hint: check brackets, quotes, commas and indentation up to this place']),
    'a tab': ('a:\n\tb: c', ['E_YAML_TAB 2:1-2:2 a tab character; use spaces']),
    'two on one line': ('a: b\n c: d: e\n', ['E_YAML_SYNTAX 2:3-2:4 a key where none can be | hint: check the indentation of this line and of those before it']),
    'an anchor after a comma': ('[a, &b c]', ['E_YAML_ANCHOR 1:5-1:9 an anchor (`&name`) | hint: delete the anchor, or quote the expression if it is one']),
    'an alias after a colon': ('{a: b, c: *d}', ['E_YAML_ALIAS 1:11-1:13 an alias (`*name`) | hint: write the value itself, or quote the expression if it is one']),
    'a tag after a dash': ('- a\n- !b c\n', ['E_YAML_TAG 2:3-2:7 a tag (`!name`) | hint: delete the tag, or quote the expression if it is one']),
    'half a pair of parentheses in brackets': ('[f(a, b]', ['E_YAML_EXPRESSION 1:2-1:5 an unquoted value with half a pair of parentheses | hint: quote the expression']),
    'half a pair of quotes in brackets': ("[a == 'b, c]", ['E_YAML_EXPRESSION 1:2-1:9 an unquoted value with half a pair of quotes | hint: quote the expression']),
    'half a pair of double quotes in brackets': ('[a == "b, c]', ['E_YAML_EXPRESSION 1:2-1:9 an unquoted value with half a pair of quotes | hint: quote the expression']),
    'a comment after a whole text': ('a: b # c', []),
    'a comment after a call': ('a: f(b) # c', []),
    'a comment in parentheses': ('a: f(b # c', ['E_YAML_EXPRESSION 1:4-1:7 an unquoted value with half a pair of parentheses | hint: quote the expression']),
    'a comment right behind': ('a: f(b# c', []),
    'a double quote cut by a comment': ('a: x == "b # c"', ['E_YAML_EXPRESSION 1:4-1:11 an unquoted value with half a pair of quotes | hint: quote the expression']),
    'a question mark before a comment': ('a: b ?c # d', []),
    'a tight colon at the end': ('x: 1\na:b', ['E_YAML_SYNTAX 3:1-3:2 this is not YAML | hint: a space belongs after the colon before it: `a: b`']),
    'a tight colon and a list': ('a:[b\nc: d', ['E_YAML_SYNTAX 2:2-2:3 a key where none can be | hint: check the indentation of this line and of those before it']),
    'a tight colon before a key': ('  my-key:b c\n  d: e\n', ['E_YAML_SYNTAX 2:4-2:5 a key where none can be | hint: check the indentation of this line and of those before it']),
    'a tight colon with a number': ('a:1\nb: 2', ['E_YAML_SYNTAX 2:2-2:3 a key where none can be | hint: check the indentation of this line and of those before it']),
    'an empty line after a tight colon': ('a:b\n\nc: d\n', ['E_YAML_SYNTAX 3:2-3:3 a key where none can be | hint: check the indentation of this line and of those before it']),
    'a percent at the beginning of a line': ('a: b\n%c', ['E_YAML_DIRECTIVE 2:1-3:1 a directive (`%...`) | hint: delete the line']),
    'a double quoted key on two lines': ('{"a\n  b": c}', ['E_YAML_KEY 1:2-2:5 a key that is not on one line with its colon | hint: write `key: value`']),
    'an escape in the middle': ('a: "b c\\qd"', ['E_YAML_ESCAPE 1:8-1:9 an escape that names no character | hint: double the backslash, or use single quotes']),
    'an escape on the second line': ('a: b\nc: "d\\q"', ['E_YAML_ESCAPE 2:6-2:7 an escape that names no character | hint: double the backslash, or use single quotes']),
}  # fmt: skip

PURE = {
    'an unknown directive': ['E_YAML_DIRECTIVE 1:1-1:2 a directive (`%...`) | hint: delete the line'],
    'an unknown escape': ['E_YAML_ESCAPE 1:5-1:7 an escape that names no character | hint: double the backslash, or use single quotes'],
    'a long escape beyond Unicode': ['E_YAML_ESCAPE 1:6-1:7 an escape that names no character | hint: double the backslash'],
    'half a surrogate pair': ['E_YAML_ESCAPE 1:5-1:7 an escape for U+D800, which no value may hold | hint: delete it'],
    'a surrogate pair': ['E_YAML_ESCAPE 1:5-1:7 an escape for U+D83D, which no value may hold | hint: delete it'],
    'a choice in braces': ['E_YAML_EXPRESSION 1:8-1:11 `?` inside an unquoted value, or a comma is missing before it | hint: quote the expression'],
    'a choice in brackets': ['E_YAML_EXPRESSION 1:2-1:5 `?` inside an unquoted value, or a comma is missing before it | hint: quote the expression'],
    'a tight choice in braces': ['E_YAML_EXPRESSION 1:5-1:7 `?` inside an unquoted value, or a comma is missing before it | hint: quote the expression'],
    'a percent at the beginning of a line': ['E_YAML_DIRECTIVE 3:1-3:2 a directive (`%...`) | hint: delete the line'],
    'an escape in the middle': ['E_YAML_ESCAPE 1:8-1:10 an escape that names no character | hint: double the backslash, or use single quotes'],
    'an escape on the second line': ['E_YAML_ESCAPE 2:6-2:8 an escape that names no character | hint: double the backslash, or use single quotes'],
}  # fmt: skip
"""Where the parser in Python sees another part of the text, or the mistake at another place."""


def said(findings):
    return [in_full(finding) for finding in findings]


def in_full(finding):
    words = f"{finding.code} {ends(finding.span)} {finding.message}"
    for label in ("expected", "found", "hint"):
        if (text := getattr(finding, label)) is not None:
            words += f" | {label}: {text}"
    return words + "".join(f" | {text}: {ends(span)}" for text, span in finding.related)


def ends(span):
    return f"{span.start.line}:{span.start.column}-{span.end.line}:{span.end.column}"


@pytest.mark.parametrize("name", SAID)
def test_what_is_refused_is_said_in_full(read, name):
    text = REFUSED[name][0]
    assert said(read(text)[1]) == [SAID[name]]
    assert said(read(text, True)[1]) == PURE.get(name, [SAID[name]])


@pytest.mark.parametrize("name", MORE)
def test_what_is_near_to_it_is_said_in_full(read, name):
    text, findings = MORE[name]
    assert said(read(text)[1]) == findings
    assert said(read(text, True)[1]) == PURE.get(name, findings)
