"""What is read from the declaration of a TypedDict."""

from enum import StrEnum
from typing import Annotated, Any, NotRequired, Required, TypedDict

import pytest

from specledger.core.typed_dicts import Field, fields_of, without_none, words_of


class Word(StrEnum):
    B = "b"
    A = "a"


class Whole(TypedDict):
    a: int
    b: NotRequired[str]


class Part(TypedDict, total=False):
    a: Required[int]
    b: str


@pytest.mark.parametrize("class_", [Whole, Part])
def test_the_keys_and_which_may_be_absent(class_):
    assert fields_of(class_) == {"a": Field(int, optional=False), "b": Field(str, optional=True)}


def test_a_plain_class_has_no_keys():
    with pytest.raises(TypeError, match=r"^Word is no TypedDict$"):
        fields_of(Word)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("type_", "words"),
    [
        (Annotated[str, Word], ("b", "a")),
        (Annotated[str, "assumed present", Word], ("b", "a")),
        (Annotated[str, "assumed present"], None),
        (Annotated[str, int], None),
        (str, None),
        (Word, None),
    ],
)
def test_the_words_of_a_field(type_, words):
    assert words_of(type_) == words


@pytest.mark.parametrize(
    ("type_", "expected"),
    [(int, (int, False)), (int | None, (int, True)), (None | str, (str, True)), (Any, (Any, False))],
)
def test_a_type_without_none(type_, expected):
    assert without_none(type_) == expected


@pytest.mark.parametrize("type_", [int | str, int | str | None])
def test_several_alternatives_are_refused(type_):
    with pytest.raises(TypeError, match=r"has several alternatives$"):
        without_none(type_)
