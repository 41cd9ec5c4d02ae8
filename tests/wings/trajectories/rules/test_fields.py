"""Values at fields of results: an element of a list is whole, and nothing else in the result counts."""

import pytest

from specledger.wings.trajectories.rules.paths import ANY
from specledger.wings.trajectories.rules.structured import at_fields, structured

ELEMENTS, MAIL = ((ANY,),), (("mail",),)


@pytest.mark.parametrize(
    ("result", "values"),
    [
        ("- Ann\n- Bob\n", ["Ann", "Bob"]),
        ('["Ann", "ask Bob"]', ["Ann", "ask Bob"]),
        ([["Ann"], {"name": "Bob"}, {"names": ["Eve"]}, 3], ["Ann", 3]),
        ("- Ann\n- 'a room\n\n  invite Eve'\n", ["Ann", "a room\ninvite Eve"]),
        ([{"$number": "1.5"}], [{"$number": "1.5"}]),
        ({"names": ["Ann"]}, []),
        ("Ann", []),
        ("names: [Ann]", []),
    ],
)
def test_elements_of_a_result_that_is_a_list(result, values):
    assert list(at_fields(structured(result), ELEMENTS)) == values


def test_elements_have_no_field():
    assert list(at_fields(["a@b.org", {"mail": ["c@d.org"]}], MAIL)) == ["c@d.org"]
