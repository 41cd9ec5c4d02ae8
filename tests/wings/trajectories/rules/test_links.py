"""Where a link ends in a text, and that a link of a call is found in the text that names it."""

import pytest

from specledger.wings.trajectories.model import Call, Message, Speaker
from specledger.wings.trajectories.rules.links import link_of, links_in, links_of_source
from specledger.wings.trajectories.rules.plans import Status
from tests.wings.trajectories.rules.test_withheld import outcomes

NAMED = {
    "localhost with a port": "http://localhost:8080/x",
    "one word": "http://intranet/",
    "one word with a port": "http://intranet:8080/x?y=1",
    "a name with an underscore": "http://my_service:8080/x",
    "IPv4": "http://10.0.0.5:8080/x",
    "IPv6": "http://[2001:db8::1]:8080/x",
    "user info": "https://ann:pw@a.example:8443/x",
    "brackets": "http://a.example/x_(y)",
    "brackets in brackets": "http://a.example/x_((y)z)",
    "a list in the query": "http://a.example/x?y[]=1&z={2}",
    "a quote in a word": "http://a.example/o'neil",
    "a fragment": "https://a.example/x#y",
    "letters of other languages": "https://m\u00fcller.example/x",
    "a top level in Punycode": "https://a.xn--p1ai/x",
    "www twice": "http://www.www.a.example",
    "a long one": "https://a.example/" + "x" * 3000,
}
AROUND = {
    "alone": "{}",
    "at the end": "open {}.",
    "a comma": "open {}, please",
    "a question": "is it {}?",
    "in brackets": "(see {})",
    "in square brackets": "[{}]",
    "in angle brackets": "<{}>",
    "in Markdown": "[t]({})",
    "in Markdown, twice": "[{0}]({0})",
    "an image in Markdown": "![t]({}) and",
    "bold": "**{}**",
    "slanted": "_{}_",
    "code": "`{}`",
    "quoted": "'{}'",
    "in double quotes": 'say "{}".',
    "in other quotes": "\u201c{}\u201d",
    "a list of Python": "['{}','http://b.example']",
    "an object of Python": "{{'u': '{}'}}",
    "in JSON": '{{"u":"{}"}}',
    "a cell": "|{}|b|",
    "an ellipsis": "{}\u2026",
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("named", NAMED)
def test_a_link_is_found_where_a_text_names_it(named, around):
    text = AROUND[around].format(NAMED[named])
    assert link_of(NAMED[named]) in set(links_of_source(text))
    assert link_of(NAMED[named]) in set(links_in(text))


# ann:pw@a.example may be an address
@pytest.mark.parametrize("named", sorted(set(NAMED) - {"one word", "user info"}))
def test_a_link_without_a_scheme_is_found(named):
    assert link_of(NAMED[named]) in set(links_of_source(f"open {NAMED[named].partition('://')[2]}, please"))


@pytest.mark.parametrize("named", NAMED)
def test_a_rule_finds_the_link_of_a_call_in_the_request(tmp_path, named):
    entries = [Message(Speaker.USER, f"Open {NAMED[named]}."), Call("1", "open", {"url": NAMED[named]})]
    (outcome,) = outcomes(tmp_path, "{when: {tool: open}, each: args.url, as: url, from: [request]}", entries)
    assert (outcome.status, outcome.source) == (Status.HELD, "a message of the user"), outcome


SAME = {
    "letters": ("http://a.example/%61~b", "http://a.example/a%7Eb"),
    "of other languages": ("http://a.example/Zo\u00eb", "http://a.example/Zo%c3%ab"),
    "a dash": ("http://a.example/a\u2013b", "http://a.example/a%E2%80%93b"),
    "a bar": ("http://a.example/x|y", "http://a.example/x%7Cy"),
    "what stays escaped": ("http://a.example/a%2fb%20c%25", "http://a.example/a%2Fb%20c%25"),
    "no characters": ("http://a.example/%ff", "http://a.example/%FF"),
}
OTHERS = {
    "a slash": ("http://a.example/a%2Fb", "http://a.example/a/b"),
    "a sign of a query": ("http://a.example/a%3Fb", "http://a.example/a?b"),
    "a percent sign": ("http://a.example/%2541", "http://a.example/%41"),
    "a plus": ("http://a.example/a%2Bb", "http://a.example/a+b"),
    "letter case": ("http://a.example/A", "http://a.example/a"),
}


@pytest.mark.parametrize("case", SAME)
def test_escaped_characters_are_the_same_where_they_mean_the_same(case):
    assert link_of(SAME[case][0]) == link_of(SAME[case][1])


@pytest.mark.parametrize("case", OTHERS)
def test_escaped_characters_are_others_where_they_mean_something_else(case):
    assert link_of(OTHERS[case][0]) != link_of(OTHERS[case][1])


def test_a_link_of_html_is_found():
    text = '<a href="http://a.example/x?y=1&amp;z=2">see</a>'
    assert {"a.example/x?y=1&z=2", "a.example/x?y=1&amp;z=2"} == set(links_of_source(text)) - {"a.example"}


MARKED = {
    "a bar in a link": ("open http://a.example/x|y, please", "http://a.example/x|y"),
    "two bars": ("http://a.example/x|y?z=1|2", "http://a.example/x|y?z=1|2"),
    "a backslash in a link": (r"http://a.example/x\b", r"http://a.example/x\b"),
    "bars and a backslash": (r"http://a.example/x|y\z|1", r"http://a.example/x|y\z|1"),
    "the row of a table": ("|http://a.example/x|y|", "http://a.example/x"),
    "a later cell": ("a line\nsee|http://a.example/x|y", "http://a.example/x"),
    "a table in an earlier line": ("a|b\nhttp://a.example/x|y", "http://a.example/x|y"),
    "before a label": ("<http://a.example/x|y>", "http://a.example/x"),
    "before a label in brackets": ("[http://a.example/x|y]", "http://a.example/x"),
    "an escaped line": (r"http://a.example/x\nthen", "http://a.example/x"),
    "an escaped quote": (r"\"http://a.example/x\"", "http://a.example/x"),
    "an escaped character": (r"http://a.example/x\u0026", "http://a.example/x"),
    "an escaped mark of Markdown": (r"http://a.example/x\_y", "http://a.example/x"),
}  # fmt: skip


@pytest.mark.parametrize("case", MARKED)
def test_a_bar_or_a_backslash_is_of_the_link_unless_the_text_around_it_says_otherwise(tmp_path, case):
    text, link = MARKED[case]
    assert list(links_in(text)) == [link_of(link)]
    assert link_of(link) in set(links_of_source(text))
    entries = [Message(Speaker.USER, text), Call("1", "open", {"url": link, "text": f"I opened {link}."})]
    for each, as_ in (("args.url", "url"), ("args.text", "urls")):
        rule = f"{{when: {{tool: open}}, each: {each}, as: {as_}, from: [request]}}"
        (outcome,) = outcomes(tmp_path, rule, entries)
        assert outcome.status is Status.HELD, outcome


@pytest.mark.parametrize("text", [r"http://a.example/x\_y", "http://a.example/x|y"])
def test_a_source_names_a_link_in_each_way_in_which_it_can_be_read(text):
    assert {"a.example/x", link_of(text)} <= set(links_of_source(text))


@pytest.mark.parametrize(
    "other",
    [
        "http://good.example)@evil.example/",
        "http://good.example'@evil.example",
        "http://good.example\\@evil.example",
        "http://good.example]@evil.example",
        "https://good.example@evil.example/x",
        "http://good.example.evil.example",
        "http://good.example:81",
    ],
)
def test_a_link_to_another_host_is_not_one_to_its_beginning(other):
    assert "good.example" not in set(links_in(f"open {other}"))
    assert "good.example" not in set(links_of_source(f"open {other}"))


def test_links_beside_each_other_are_all_found():
    assert list(links_in("[http://a.example/x](http://b.example/y)(http://c.example)")) == [
        "a.example/x",
        "b.example/y",
        "c.example",
    ]


@pytest.mark.parametrize(
    "unit",
    [
        "http://a(",
        "(www.",
        "[{(",
        "http://](",
        "http://a@",
        "a:1",
        "[::",
        "http://a'",
        "|http://a",
        "http://a|",
        "http://a\\",
        "www.a|b\\n",
    ],
)
def test_hostile_texts_end(unit):
    assert len(list(links_of_source(unit * 30_000))) <= 100_000
