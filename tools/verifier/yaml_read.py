"""Reading the YAML that spec files are written in: one document of mappings, lists and scalars, keys that are texts.

Anchors, aliases, tags, directives, further documents, complex or empty keys, missing values, and expressions that YAML
cuts into pieces are refuted, as the language refuses them; what this file is not sure of stays open.
"""

import re

from tools.verifier.yaml_scalars import (
    admitted,
    block_text,
    decoded,
    double_text,
    folded_lines,
    plain_key,
    single_text,
    typed_scalar,
    unjudged,
    unreadable,
    word,
)

MOST_DEPTH, MOST_VALUES_READ, LONGEST_KEY = 48, 100_000, 1000
MARKER = re.compile(r"^(?:---|\.\.\.)(?=[ \n])", re.MULTILINE)
GAP = re.compile(r"(?:[ \n]+|(?<![^ \n])#[^\n]*)*")
COLON = re.compile(r" *:")
BLOCK_STOP = re.compile(r":(?=[ \n])|(?<= )#|\n")
FLOW_STOP = re.compile(r":(?=[ \n,?\[\]{}])|(?<= )#|\n|[,\[\]{}]")
DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
SINGLE = re.compile(r"'((?:[^']|'')*)'")
NO_START = frozenset("&*!%@`,]}#|>")


def read_yaml(data, name):
    """The value of a file; its texts are of the file.

    Raises:
        Refuted: It is no document as the language has them.
        Open: It is written in a way that this file does not judge.
    """
    return YamlReader(decoded(data, name), name).document()


def read_setting(text):
    """The value of a change, written on one line: a scalar, or a collection in brackets."""
    if "\n" in text:
        unjudged("a change on several lines")
    return YamlReader(admitted(f" {text}", "a change"), None).document(block=False)


class YamlReader:
    """Reads one text from its start to its end; `at` is where it is."""

    def __init__(self, text, file):
        self.text, self.file, self.at, self.depth, self.count = text, file, 0, 0, 0

    def refuse(self, message):
        """The text is none that the language takes."""
        unreadable(f"{self.file or 'a change'}:{self.text.count(chr(10), 0, self.at) + 1}: {message}")

    def document(self, block=True):
        """The value of the whole text; without `block`, of a text that is no block collection and no block scalar."""
        self.gap()
        marker = self.text.startswith("---", self.at) and self.text[self.at + 3 : self.at + 4] in (" ", "\n")
        if marker and self.column() == 0:
            begin = self.at = self.at + 3
            self.gap()
            if "\n" not in self.text[begin : self.at] and self.text[self.at : self.at + 1] != "{":
                unjudged("a document that begins beside its marker")
        if MARKER.search(self.text, self.at):
            self.refuse("more than one document, or the end of one")
        if self.ended():
            self.refuse("there is no document")
        if not block and self.text[self.at] in "|>":
            self.refuse("a block")
        value = self.node(-1, not block)
        self.gap()
        if not self.ended():
            self.refuse("something stands behind the document")
        return value

    # Places

    def gap(self):
        """Go on to the next token, over blanks, breaks and comments."""
        self.at = GAP.match(self.text, self.at).end()
        if self.text[self.at : self.at + 1] == "#":
            unjudged("a comment without a blank before it")

    def ended(self):
        """Whether nothing is left."""
        return self.at >= len(self.text)

    def column(self):
        """The column of the place."""
        return self.at - self.text.rfind("\n", 0, self.at) - 1

    def begins_line(self):
        """Whether nothing stands before the place in its line."""
        return not self.text[self.text.rfind("\n", 0, self.at) + 1 : self.at].strip(" ")

    def dash(self):
        """Whether an element of a block list begins here."""
        return self.text[self.at] == "-" and self.text[self.at + 1] in " \n"

    def counted(self):
        """One value or key more."""
        self.count += 1
        if self.count > MOST_VALUES_READ:
            self.refuse("too many values")

    def deeper(self):
        """One collection more is open."""
        self.counted()
        self.depth += 1
        if self.depth > MOST_DEPTH:
            self.refuse("nested too deeply")

    # Block style

    def node(self, indent, inline):
        """The value that begins here, inside a collection at a column; `inline` ones are no block collections."""
        first = self.text[self.at]
        if self.dash():
            return self.refuse("a list where none can be") if inline else self.block_list()
        if first == "?" and self.text[self.at + 1] in " \n":
            unjudged("a key after a question mark")
        if first in "|>":
            self.counted()
            value, self.at = block_text(self.text, self.at, indent)
            return word(value, self.file)
        if first in "[{":
            value = self.flow()
            return self.refuse("a key that is no text") if COLON.match(self.text, self.at) else value
        begin = self.at
        value, end, is_key = self.quoted_here() if first in "'\"" else self.plain_here(indent)
        if is_key:
            self.at = begin
            return self.refuse("a colon inside of a value") if inline else self.block_mapping()
        self.at = end
        self.counted()
        return word(value, self.file) if isinstance(value, str) else value

    def quoted_here(self):
        """The quoted text here, where it ends, and whether it is a key."""
        value, end = self.quoted()
        colon = COLON.match(self.text, end)
        is_key = colon is not None and self.text[colon.end()] in " \n"
        if is_key and "\n" in self.text[self.at : end]:
            self.refuse("a key on several lines")
        return value, end, is_key

    def quoted(self):
        """The quoted text here, and where it ends."""
        pattern, read = (SINGLE, single_text) if self.text[self.at] == "'" else (DOUBLE, double_text)
        match = pattern.match(self.text, self.at) or self.refuse("a quote that is not closed")
        return read(match[1]), match.end()

    def plain_here(self, indent):
        """The plain scalar here, where it ends, and whether it is a key: its lines are indented more than a column."""
        text, begin = self.text, self.at
        if text[begin] in NO_START or (text[begin] in ":?" and text[begin + 1] in " \n"):
            self.refuse(f"an unquoted value cannot begin with {text[begin]!r}")
        stop = BLOCK_STOP.search(text, begin)
        if text[stop.start()] == ":":
            if stop.start() - begin > LONGEST_KEY:
                unjudged("a key of more than 1000 characters")
            return None, stop.start(), True
        lines, end = [], begin
        while True:
            lines.append(text[end : stop.start()].strip(" "))
            end = stop.start()
            if text[end] != "\n":
                break
            step = end
            while text[step : step + 1] in (" ", "\n") and text[step : step + 1]:
                step += 1
            column = step - text.rfind("\n", 0, step) - 1
            if step >= len(text) or column <= indent or text[step] == "#":
                break
            lines += [""] * (text.count("\n", end, step) - 1)
            end, stop = step, BLOCK_STOP.search(text, step)
            if text[stop.start()] == ":":
                self.refuse("a colon inside of an unquoted value")
        whole = text[begin:end].rstrip(" \n")
        if text[end] == "#":
            self.trapped(whole)
        return typed_scalar(folded_lines([(line, False) for line in lines])), begin + len(whole), False

    def trapped(self, raw):
        """See that an unquoted value is no piece of an expression."""
        if raw.count("(") != raw.count(")") or raw.count("'") % 2 or raw.count('"') % 2:
            self.refuse("an unquoted value with half a pair of brackets or quotes")

    def inner(self, column, begin, of_key):
        """The value behind a colon or a dash of a collection at a column."""
        self.at = begin
        self.gap()
        if self.ended():
            self.refuse("a value is missing")
        if "\n" not in self.text[begin : self.at]:
            return self.node(column, of_key)
        own = self.column()
        if own > column or (of_key and own == column and self.dash()):
            return self.node(column, False)
        if self.text[self.at] in "|>":
            unjudged("a block that begins left of its value")
        return self.refuse("a value is missing")

    def goes_on(self, column):
        """Whether a collection at a column may go on at the next token."""
        self.gap()
        if self.ended():
            return False
        if not self.begins_line():
            self.refuse("something stands behind a value")
        if self.column() > column:
            self.refuse("indented more than what stands before it")
        return self.column() == column

    def block_list(self):
        """The list whose first dash is here."""
        column, made = self.column(), []
        self.deeper()
        while True:
            made.append(self.inner(column, self.at + 1, False))
            if not self.goes_on(column) or not self.dash():
                break
        self.depth -= 1
        return made

    def block_mapping(self):
        """The mapping whose first key is here."""
        column, made = self.column(), {}
        self.deeper()
        while True:
            key, begin = self.block_key()
            self.enter(made, key, lambda begin=begin: self.inner(column, begin, True))
            if not self.goes_on(column):
                break
        self.depth -= 1
        return made

    def enter(self, made, key, read):
        """Give a mapping one member more."""
        self.counted()
        if key in made:
            self.refuse(f"the key {key!r} stands twice")
        made[key] = None
        made[key] = read()

    def block_key(self):
        """The key here, and where its value begins."""
        begin, first = self.at, self.text[self.at]
        if first == "?" and self.text[begin + 1] in " \n":
            unjudged("a key after a question mark")
        if self.dash() or first in "[{|>":
            self.refuse("a key that is no text")
        quoted = first in "'\""
        value, end, is_key = self.quoted_here() if quoted else self.plain_here(self.column())
        if not is_key:
            self.refuse("a key without a colon")
        if not quoted:
            value = plain_key(self.text[begin:end].rstrip(" "))
        return value, COLON.match(self.text, end).end()

    # Flow style

    def flow(self):
        """The collection in brackets here."""
        self.deeper()
        mapping = self.text[self.at] == "{"
        made, close = ({}, "}") if mapping else ([], "]")
        self.at += 1
        while True:
            self.gap()
            if self.text[self.at : self.at + 1] == close:
                break
            if self.ended():
                self.refuse("a bracket is not closed")
            if mapping:
                self.enter(made, self.flow_key(), self.flow_value)
            else:
                made.append(self.flow_value())
            self.gap()
            if self.text[self.at : self.at + 1] == ",":
                self.at += 1
            elif self.text[self.at : self.at + 1] != close:
                self.refuse("a comma is missing, or a bracket is not closed")
        self.at += 1
        self.depth -= 1
        return made

    def flow_key(self):
        """The key here; its colon is read too."""
        begin, first = self.at, self.text[self.at]
        if first == "?":
            unjudged("a question mark in brackets")
        if first in "'\"":
            value, end = self.quoted()
        else:
            value, end = self.flow_plain(plain_key)
        colon = COLON.match(self.text, end)
        if "\n" in self.text[begin:end]:
            self.refuse("a key on several lines")
        if colon is None:
            if GAP.match(self.text, end).end() != end and "\n" in GAP.match(self.text, end)[0]:
                unjudged("a colon on the line behind its key")
            self.refuse("a key without a value")
        if first not in "'\"" and self.text[colon.end()] not in " \n":
            self.refuse("a colon without a blank behind it")
        self.at = colon.end()
        return value

    def flow_value(self):
        """The value here."""
        self.gap()
        first = self.text[self.at : self.at + 1]
        if first and first in "[{":
            return self.flow()
        self.counted()
        value, self.at = self.quoted() if first and first in "'\"" else self.flow_plain(typed_scalar)
        return word(value, self.file) if isinstance(value, str) else value

    def flow_plain(self, read):
        """The plain scalar here, and where it ends."""
        text, begin = self.text, self.at
        first = text[begin : begin + 1]
        if not first or first in NO_START or first in ":?[{" or (first == "-" and text[begin + 1] in " \n"):
            self.refuse(f"no unquoted value in brackets begins with {first!r}")
        lines, end = [], begin
        while True:
            stop = FLOW_STOP.search(text, end)
            if stop is None:
                self.refuse("a bracket is not closed")
            lines.append(text[end : stop.start()].strip(" "))
            end = stop.start()
            if text[end] != "\n":
                break
            step = end
            while text[step : step + 1] in (" ", "\n") and text[step : step + 1]:
                step += 1
            if step >= len(text) or text[step] in "#,]}[{":
                break
            lines += [""] * (text.count("\n", end, step) - 1)
            end = step
        raw = text[begin:end].rstrip(" \n")
        while lines and not lines[-1]:
            lines.pop()
        if "?" in raw:
            self.refuse("a question mark in an unquoted value in brackets")
        self.trapped(raw)
        return read(folded_lines([(line, False) for line in lines])), begin + len(raw)
