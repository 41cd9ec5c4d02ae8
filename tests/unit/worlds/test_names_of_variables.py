"""Names of focus variables: their parameter, and which two could name the same variable."""

import pytest

from specledger.worlds.namespace import _overlap, split_name


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("x", ("x", "", "")),
        ("distance:<id>", ("distance:", "id", "")),
        ("<id>", ("", "id", "")),
        ("of:<id>:end", ("of:", "id", ":end")),
        ("a<b>c<d>", ("a", "b", "c<d>")),
    ],
)
def test_the_parameter_of_a_name(name, parts):
    assert split_name(name) == parts


PAIRS = [
    ("x", "x", True),
    ("x", "y", False),
    ("x", "xy", False),
    ("d:<id>", "d:a", True),
    ("d:<id>", "d:", False),
    ("d:<id>", "e:a", False),
    ("<id>", "d", True),
    ("d:<id>:e", "d:a:e", True),
    ("d:<id>:e", "d:a:f", False),
    ("d:<id>:e", "d::e", False),
    ("da<id>ad", "dad", False),
    ("d:<id>", "e:<id>", False),
    ("d:<id>", "d:<other>", True),
    ("d:<id>", "d:a:<id>", True),
    ("d<id>e", "d<id>f", False),
    ("d<id>e", "d<id>fe", True),
    ("d<id>e", "c<id>e", False),
]


@pytest.mark.parametrize(("name", "other", "same"), PAIRS)
def test_which_names_could_be_of_one_variable(name, other, same):
    assert _overlap(split_name(name), split_name(other)) is same
    assert _overlap(split_name(other), split_name(name)) is same
