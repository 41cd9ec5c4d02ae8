"""Every character of a scalar, in each of the five styles, leads to the place where it was written."""

import pytest

# style: (document, value, places of some characters as {offset: (line, column)})
STYLES = {
    "plain": ("a: x + yy", "x + yy", {0: (1, 4), 4: (1, 8), 5: (1, 9)}),
    "plain after wide characters": ("é😀: x😀y", "x😀y", {0: (1, 5), 1: (1, 6), 2: (1, 7)}),
    "plain on three lines": ("a: x +\n   y *\n  z\nb: c", "x + y * z", {2: (1, 6), 3: (1, 7), 4: (2, 4), 8: (3, 3)}),
    "plain over empty lines": ("a: x\n\n\n  y", "x\n\ny", {0: (1, 4), 1: (2, 1), 2: (3, 1), 3: (4, 3)}),
    "plain with blanks at line ends": ("a: x  \n  y  # c", "x y", {1: (1, 5), 2: (2, 3)}),
    "plain in brackets": ("a: [x\n  y, z]", ("x y", "z"), {}),
    "single": ("a: 'x == \"y\"'", 'x == "y"', {0: (1, 5), 5: (1, 10)}),
    "single with a quote": ("a: 'x == ''y'' z'", "x == 'y' z", {5: (1, 10), 6: (1, 12), 7: (1, 13), 9: (1, 16)}),
    "single ending in a quote": ("a: 'x'''", "x'", {1: (1, 6)}),
    "single on lines": ("a: 'x \n   y\n\n  ''z'", "x y\n'z", {1: (1, 6), 2: (2, 4), 3: (3, 1), 4: (4, 3), 5: (4, 5)}),
    "double": ("a: \"x == 'y'\"", "x == 'y'", {0: (1, 5), 5: (1, 10)}),
    "double with escapes": (
        r'a: "x\ty\u00e9z\\"',
        "x\tyéz\\",
        {1: (1, 6), 2: (1, 8), 3: (1, 9), 4: (1, 15), 5: (1, 16)},
    ),
    "double with long escapes": (r'a: "\x41\U0001F600B"', "A\U0001f600B", {0: (1, 5), 1: (1, 9), 2: (1, 19)}),
    "double on lines": ('a: "x\n\n   y\n  z"', "x\ny z", {0: (1, 5), 1: (2, 1), 2: (3, 4), 4: (4, 3)}),
    "double with escaped breaks": (
        'a: "x \\\n   y\\\n  \\  z"',
        "x y  z",
        {1: (1, 6), 2: (2, 4), 3: (3, 3), 5: (3, 6)},
    ),
    "literal": ("a: |\n  x\n   y\n\n  z\n", "x\n y\n\nz\n", {0: (2, 3), 1: (2, 4), 2: (3, 3), 3: (3, 4), 6: (5, 3)}),
    "literal without the last break": ("a: |-\n  xy\n\n", "xy", {0: (2, 3), 1: (2, 4)}),
    "literal with all breaks": ("a: |+ # c\n  x\n\n\nb: c", "x\n\n\n", {0: (2, 3), 1: (2, 4), 2: (3, 1), 3: (4, 1)}),
    "literal after empty lines": ("a: |\n\n  x\n", "\nx\n", {0: (2, 1), 1: (3, 3)}),
    "literal at the end of the file": ("a: |\n  x", "x\n", {0: (2, 3)}),
    "literal in a list": ("- |\n x\n y\n- b", ("x\ny\n", "b"), {}),
    "empty literal": ("a: |\nb: c", "", {}),
    "folded": ("a: >\n  x +\n  y\n\n  z\n", "x + y\nz\n", {2: (2, 5), 3: (2, 6), 4: (3, 3), 5: (4, 1), 6: (5, 3)}),
    "folded without the last break": ("a: >-\n  x &&\n  y", "x && y", {3: (2, 6), 4: (2, 7), 5: (3, 3)}),
    "folded with more indented lines": ("a: >\n  x\n   y\n  z\n", "x\n y\nz\n", {0: (2, 3), 3: (3, 4), 5: (4, 3)}),
    "folded with all breaks": ("a: >+\n  x\n\n", "x\n\n", {0: (2, 3), 2: (3, 1)}),
}


@pytest.mark.parametrize(("document", "value", "places"), STYLES.values(), ids=STYLES)
def test_characters_lead_to_their_places(read, document, value, places):
    parsed, found = read(document)
    assert found == ()
    scalars = [node for _, node in parsed.root.walk() if isinstance(node.value, str)]
    values = value if isinstance(value, tuple) else (value,)
    assert tuple(node.value for node in scalars)[: len(values)] == values
    assert tuple(node.text.value for node in scalars)[: len(values)] == values
    text = scalars[0].text
    for offset, place in places.items():
        start = text.span(offset, offset + 1).start
        assert (offset, start.line, start.column) == (offset, *place)


def test_the_width_of_a_last_escape_is_known(read):
    parsed, _ = read(r'a: "x\u00e9"')
    span = parsed.root.at(("a",)).text.span(1, 2)
    assert (span.start.column, span.end.column) == (6, 12)
