"""What of YAML is refused, at which place, by both parsers of PyYAML; and what is read as what."""

import pytest
import yaml

assert yaml.__with_libyaml__, "both parsers are compared"

REFUSED = {
    # structure
    "an empty file": ("", "E_YAML_DOCUMENTS", 1, 1),
    "a file of comments": ("# nothing\n", "E_YAML_DOCUMENTS", 1, 1),
    "a second document": ("a: b\n---\nc: d", "E_YAML_DOCUMENTS", 2, 1),
    "an end marker": ("a: b\n...\n", "E_YAML_DOCUMENTS", 2, 1),
    "a directive": ("%YAML 1.1\n---\na: b", "E_YAML_DIRECTIVE", 1, 1),
    "a tag directive": ("# c\n%TAG ! tag:x,2000:\n---\na: b", "E_YAML_DIRECTIVE", 2, 1),
    "an unknown directive": ("%FOO\n---\na: b", "E_YAML_DIRECTIVE", 1, 1),
    "an anchor": ("a: &x b", "E_YAML_ANCHOR", 1, 4),
    "an anchor on a key": ("&x a: b", "E_YAML_ANCHOR", 1, 1),
    "an anchor on a list": ("a: &x [b]", "E_YAML_ANCHOR", 1, 4),
    "an alias": ("a: *x", "E_YAML_ALIAS", 1, 4),
    "an alias in a list": ("a: [b, *x]", "E_YAML_ALIAS", 1, 8),
    "an alias as a key": ("{*a : b}", "E_YAML_ALIAS", 1, 2),
    "a tag": ("a: !!python/object:os.system x", "E_YAML_TAG", 1, 4),
    "a tag on a key": ("!!str a: b", "E_YAML_TAG", 1, 1),
    "a merge key": ("a: {b: c}\n<<: {d: e}", "E_YAML_KEY", 2, 1),
    "200,000 nested lists": ("[" * 200_000, "E_YAML_DEPTH", 1, 49),
    "200,000 nested mappings": ("{a: " * 200_000, "E_YAML_DEPTH", 1, 193),
    "100,000 nested dashes": ("- " * 100_000, "E_YAML_DEPTH", 1, 97),
    # keys
    "a number as a key": ("1: a", "E_YAML_KEY", 1, 1),
    "null as a key": ("a: {null: b}", "E_YAML_KEY", 1, 5),
    "a date as a key": ("2024-01-01: a", "E_YAML_KEY", 1, 1),
    "a list as a key": ("[a]: b", "E_YAML_KEY", 1, 1),
    "a mapping as a key": ("{{a: b}: c}", "E_YAML_KEY", 1, 2),
    "a complex key": ("? a\n: b", "E_YAML_KEY", 1, 3),
    "an empty key": ("?\n: b", "E_YAML_KEY", 1, 2),
    "a key on two lines": ("{a\n  b: c}", "E_YAML_KEY", 1, 2),
    "a quoted key on two lines": ("{'a\n  b': c}", "E_YAML_KEY", 1, 2),
    "a duplicate key": ("a: 1\nb: 2\na: 3", "E_YAML_DUPLICATE_KEY", 3, 1),
    "a duplicate key in braces": ('{a: 1, "a": 2}', "E_YAML_DUPLICATE_KEY", 1, 8),
    # values
    "no value": ("a:\nb: c", "E_YAML_EMPTY", 1, 1),
    "no value before a comment": ("a: # c\n", "E_YAML_EMPTY", 1, 1),
    "nothing after a dash": ("a:\n  -\n  - b", "E_YAML_EMPTY", 2, 3),
    "a document marker alone": ("---\n", "E_YAML_EMPTY", 1, 4),
    "an unknown escape": (r'a: "\q"', "E_YAML_ESCAPE", 1, 5),
    "a short escape": (r'a: "b\x4"', "E_YAML_ESCAPE", 1, 6),
    "a long escape beyond Unicode": (r'a: "b\U00110000"', "E_YAML_ESCAPE", 1, 6),
    "half a surrogate pair": (r'a: "\ud800"', "E_YAML_ESCAPE", 1, 5),
    "a surrogate pair": (r'a: "\ud83d\ude00"', "E_YAML_ESCAPE", 1, 5),
    "an escaped control": (r'a: "b\e[2J"', "E_YAML_ESCAPE", 1, 6),
    "an escaped NUL in a key": (r'{"\0": b}', "E_YAML_ESCAPE", 1, 3),
    "an escaped bidi override": (r'a: "\u202e"', "E_YAML_ESCAPE", 1, 5),
    "an escaped line separator": (r'a: "\L"', "E_YAML_ESCAPE", 1, 5),
    "an indentation indicator": ("a: |2\n    x\n", "E_YAML_BLOCK", 1, 4),
    "an indentation indicator and chomping": ("a: >-1\n  x\n", "E_YAML_BLOCK", 1, 4),
    # syntax
    "a colon without a key": ("{: b}", "E_YAML_SYNTAX", 1, 2),
    "an open bracket": ("a: [b", "E_YAML_SYNTAX", 2, 1),
    "an open quote": ("a: 'b", "E_YAML_SYNTAX", 2, 1),
    "a closing bracket too many": ("a: b\nc: ]", "E_YAML_SYNTAX", 2, 4),
    "wrong indentation": ("a:\n  b: c\n d: e", "E_YAML_SYNTAX", 3, 2),
    "a key inside a text": ("a: b\n  c: d", "E_YAML_SYNTAX", 2, 4),
    "text after a comment": ("a: x\n   y # c\n   z", "E_YAML_SYNTAX", 3, 4),
    # traps of unquoted expressions
    "a call in braces": ("{read: at(self.x, self.y)}", "E_YAML_EXPRESSION", 1, 8),
    "a call in brackets": ("a: [f(x, y)]", "E_YAML_EXPRESSION", 1, 5),
    "a call as a key": ("a: {f(x, y): z}", "E_YAML_EXPRESSION", 1, 5),
    "a text with a comma in braces": ("{a: x == 'b, c'}", "E_YAML_EXPRESSION", 1, 5),
    "no space after the colon in braces": ("{a:b}", "E_YAML_EXPRESSION", 1, 2),
    "a choice": ("a: b ? c : d", "E_YAML_EXPRESSION", 1, 4),
    "a choice in braces": ("{when: b ? c : d}", "E_YAML_EXPRESSION", 1, 8),
    "a choice in brackets": ("[b ? c : d]", "E_YAML_EXPRESSION", 1, 2),
    "a tight choice in braces": ("{a: b?c}", "E_YAML_EXPRESSION", 1, 5),
    "a pair in brackets": ("[a: b]", "E_YAML_EXPRESSION", 1, 2),
    "no space before a mapping in braces": ("{a:{b: c}}", "E_YAML_EXPRESSION", 1, 2),
    "an index in braces": ("x: {a: b[0]}", "E_YAML_EXPRESSION", 1, 8),
    "a map in braces": ("{a: x{b: 1}}", "E_YAML_EXPRESSION", 1, 5),
    "a parameter in braces": ("{a: ${p}}", "E_YAML_EXPRESSION", 1, 5),
    "a parameter in brackets": ("a: [${p}]", "E_YAML_EXPRESSION", 1, 5),
    "a parameter as a key": ("{${p}: a}", "E_YAML_EXPRESSION", 1, 2),
    "a leading not": ("a: !b", "E_YAML_TAG", 1, 4),
    "a leading not with more": ("a: !b || c", "E_YAML_TAG", 1, 4),
    "a leading star": ("a: *b + c", "E_YAML_ALIAS", 1, 4),
    "a leading and": ("a: && b", "E_YAML_ANCHOR", 1, 4),
    "a leading at": ("a: @b", "E_YAML_EXPRESSION", 1, 4),
    "a leading percent": ("a: %b", "E_YAML_EXPRESSION", 1, 4),
    "a leading backquote": ("a: `b`", "E_YAML_EXPRESSION", 1, 4),
    "a leading dash with a space": ("a: - b", "E_YAML_EXPRESSION", 1, 4),
    "a leading question mark": ("a: ? b", "E_YAML_EXPRESSION", 1, 4),
    "text after a quote": ("a: 'b' + c", "E_YAML_EXPRESSION", 1, 4),
    "a colon and a space": ("a: b: c", "E_YAML_EXPRESSION", 1, 4),
    "a comment inside a text": ("a: x == 'b # c'", "E_YAML_EXPRESSION", 1, 4),
    "a comment inside a call": ("a: f(b, # c\n", "E_YAML_EXPRESSION", 1, 4),
}


@pytest.mark.parametrize("pure", [False, True], ids=["C", "pure"])
@pytest.mark.parametrize(("text", "code", "line", "column"), REFUSED.values(), ids=REFUSED)
def test_refused_yaml(read, text, code, line, column, pure):
    _, found = read(text, pure)
    assert [(d.code, d.span.start.line, d.span.start.column) for d in found] == [(code, line, column)]
    assert found[0].span.start <= found[0].span.end
    if code in ("E_YAML_EXPRESSION", "E_YAML_ALIAS", "E_YAML_ANCHOR", "E_YAML_TAG"):
        assert "quote the expression" in found[0].hint


def test_a_document_has_a_bounded_number_of_values(read, monkeypatch):
    monkeypatch.setattr("specledger.load.yaml_reader.MAX_NODES", 5)
    assert read("a: [b, c]")[1] == ()
    _, (found,) = read("a: [b, c, d]")
    assert (found.code, str(found.span)) == ("E_YAML_NODES", "f.yaml:1:11")


AMBIGUOUS = [
    *["NO", "No", "no", "off", "On", "Yes", "YES", "True", "FALSE", "Null", "~"],
    *["010", "0o14", "0b101", "0x1F", "1_000", "+5", "-0", "00", "1:30", "12:30:45", "-1:2.5"],
    *["1e3", "1.5e3", "1E-3", ".5", "1.", "-.5", "1_0.5", ".nan", ".NaN", ".inf", "-.inf", "+.Inf"],
    *["2024-01-01", "2024-1-1", "2024-01-01T10:00:00Z", "2024-01-01 10:00:00.5 +2", "=", "<<"],
]


@pytest.mark.parametrize("pure", [False, True], ids=["C", "pure"])
@pytest.mark.parametrize("text", AMBIGUOUS)
def test_ambiguous_values_are_to_be_quoted(read, text, pure):
    for document, column in ((f"a: {text}", 4), (f"[{text}]", 2), (f"- {text}", 3)):
        _, (found,) = read(document, pure)
        assert (found.code, found.span.start.column) == ("E_YAML_AMBIGUOUS", column)
        assert found.hint.startswith(f'quote it: "{text}"')
    document, found = read(f'a: "{text}"', pure)
    assert (document.root.plain(), found) == ({"a": text}, ())


@pytest.mark.parametrize(
    "text", ["9007199254740992", "-9007199254740992", "1" * 50, "0.1234567890123456789", "1.0" + "0" * 50]
)
def test_numbers_that_cannot_be_held_exactly_are_refused(read, text):
    _, (found,) = read(f"a: {text}")
    assert (found.code, found.span.start.column) == ("E_YAML_NUMBER", 4)


@pytest.mark.parametrize("pure", [False, True], ids=["C", "pure"])
def test_what_is_read_as_what(read, pure):
    text = """
    nothing: null
    yes: true
    off: false
    on: 0
    y: -7
    n: 9007199254740991
    d: 0.1
    e: 3.60
    f: -0.25
    s: x > 0 && !(y < 2) || f(a, b)[0].c == 'd'
    N: [N, S, y, n, "NO", 1.2.3, 10s, 3d-maze, nan, a-b, -x, x*y, a:b, "", ''] # a comment
    "1": {}
    'quoted "key"': []
    """
    document, found = read(text, pure)
    assert found == ()
    value = document.root.plain()
    assert value == {
        "nothing": None,
        "yes": True,
        "off": False,
        "on": 0,
        "y": -7,
        "n": 2**53 - 1,
        "d": 0.1,
        "e": 3.6,
        "f": -0.25,
        "s": "x > 0 && !(y < 2) || f(a, b)[0].c == 'd'",
        "N": ["N", "S", "y", "n", "NO", "1.2.3", "10s", "3d-maze", "nan", "a-b", "-x", "x*y", "a:b", "", ""],
        "1": {},
        'quoted "key"': [],
    }
    assert [type(item) for item in value.values()][:9] == [type(None), bool, bool, int, int, int, float, float, float]
    assert document.root.at(("e",)).text.value == "3.60"


def test_all_mistakes_of_a_file_are_reported_at_once(read):
    document, found = read("a: NO\nb: &x 1\na: 2\nc: [010, !t x, *y]\nd:\n")
    codes = [
        "E_YAML_AMBIGUOUS",
        "E_YAML_ANCHOR",
        "E_YAML_DUPLICATE_KEY",
        "E_YAML_AMBIGUOUS",
        "E_YAML_TAG",
        "E_YAML_ALIAS",
    ]
    assert [d.code for d in found] == [*codes, "E_YAML_EMPTY"]
    assert document is not None


def test_an_alias_of_itself_builds_nothing(read):
    document, found = read("&x [*x]")
    assert [d.code for d in found] == ["E_YAML_ANCHOR", "E_YAML_ALIAS"]
    assert document.root.plain() == [None]


def test_mistakes_before_a_syntax_error_are_reported_with_it(read):
    document, found = read("a: NO\nb: [c\n")
    assert [d.code for d in found] == ["E_YAML_AMBIGUOUS", "E_YAML_SYNTAX"]
    assert document is None
    (label, span) = found[1].related[0]
    assert (label, span.start.line, span.start.column) == ("it was opened here", 2, 4)


def test_a_duplicate_key_names_the_first_line(read):
    _, (found,) = read("a: 1\nb: {c: 2,\n    c: 3}\n")
    assert "line 2" in found.message
    assert [(str(span)) for _, span in found.related] == ["f.yaml:2:5"]


def test_paths_lead_to_the_places_of_keys_and_values(read):
    document, _ = read("a:\n  b: [c, {d: e}]\n  'f': >\n    g\n")
    places = {path: (str(node.key_span), str(node.span)) for path, node in document.root.walk()}
    assert places == {
        (): ("f.yaml:1:1", "f.yaml:1:1"),
        ("a",): ("f.yaml:1:1", "f.yaml:2:3"),
        ("a", "b"): ("f.yaml:2:3", "f.yaml:2:6"),
        ("a", "b", 0): ("f.yaml:2:7", "f.yaml:2:7"),
        ("a", "b", 1): ("f.yaml:2:10", "f.yaml:2:10"),
        ("a", "b", 1, "d"): ("f.yaml:2:11", "f.yaml:2:14"),
        ("a", "f"): ("f.yaml:3:3", "f.yaml:3:8"),
    }
    assert document.root.at(("a", "b")).span.end.column == 17
    assert document.root.at(("a", "b", 1)).style == "flow"
    with pytest.raises(KeyError):
        document.root.at(("a", "x"))
    with pytest.raises(TypeError):
        _ = document.root.text
