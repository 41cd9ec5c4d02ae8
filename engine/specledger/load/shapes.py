"""Pydantic models by the keys of documents: which fields, references and unions are at a path."""

from collections.abc import Mapping
from functools import cache, cached_property
from inspect import isclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from msgspec import Struct
from pydantic import BaseModel, Tag

from specledger.load.document import Path
from specledger.spec.base import ExpressionMark, RefTo

ModelType = type[BaseModel]


class Shape(Struct, frozen=True, dict=True):
    """What may stand at a place.

    Attributes:
        type: A type without `Annotated` around it.
        marks: The metadata of the `Annotated` that were around it.
    """

    type: Any
    marks: tuple[Any, ...] = ()

    @classmethod
    def of(cls, annotation: Any, marks: tuple[Any, ...] = ()) -> "Shape":
        """The shape of an annotation."""
        while get_origin(annotation) is Annotated:
            annotation, *outer = get_args(annotation)
            marks = (*outer, *marks)
        return cls(annotation, marks)

    @cached_property
    def reference(self) -> str | None:
        """The kind of spec that is referred to, if it is a reference."""
        return next((mark.kind for mark in self.marks if isinstance(mark, RefTo)), None)

    @cached_property
    def expression(self) -> bool:
        """Whether it may be an expression."""
        return any(isinstance(mark, ExpressionMark) for leaf in (self, *self.leaves) for mark in leaf.marks)

    @property
    def model(self) -> "ModelType | None":
        """The model, if it is one."""
        known = self.type
        return known if isclass(known) and issubclass(known, BaseModel) else None

    @property
    def is_mapping(self) -> bool:
        """Whether it is a mapping with free keys."""
        return get_origin(self.type) in (Mapping, dict)

    def branches(self) -> tuple["Shape", ...]:
        """The members of a union without null, one level deep; the shape itself if there is nothing to choose."""
        if get_origin(self.type) not in (Union, UnionType):
            return (self,)
        members = tuple(Shape.of(member) for member in get_args(self.type) if member is not NoneType)
        return members[0].branches() if len(members) == 1 else members

    @cached_property
    def leaves(self) -> tuple["Shape", ...]:
        """The members of a union and of the unions inside it."""
        branches = self.branches()
        return branches if branches == (self,) else tuple(leaf for branch in branches for leaf in branch.leaves)

    @cached_property
    def elements(self) -> tuple["Shape", ...]:
        """What the elements of a list may be."""
        return tuple(map(Shape.of, get_args(self.type))) if get_origin(self.type) is list else ()

    @cached_property
    def values(self) -> tuple["Shape", ...]:
        """What the values of a mapping with free keys may be."""
        return (Shape.of(get_args(self.type)[1]),) if self.is_mapping else ()

    @cached_property
    def fields(self) -> Mapping[str, "Shape"]:
        """The keys that a model knows, as documents spell them; empty for other shapes."""
        return {} if self.model is None else _fields(self.model)

    def inside(self, step: str | int) -> tuple["Shape", ...]:
        """What may stand below this place under a key or an index."""
        shapes: list[Shape] = []
        for leaf in self.leaves:
            if isinstance(step, int):
                shapes += leaf.elements
            else:
                shapes += leaf.values
                field = leaf.fields.get(step)
                if field is not None:
                    shapes.append(field)
        return tuple(shapes)

    def branch(self, label: str) -> "Shape | None":
        """The member of a union that pydantic's error paths call by this label."""
        branches = self.branches()
        for branch in branches:
            name = branch.model.__name__ if branch.model is not None else None
            if label == name or any(isinstance(mark, Tag) and mark.tag == label for mark in branch.marks):
                return branch
        sort: type = list if label.startswith("list[") else Mapping if label.startswith("dict[") else NoneType
        known = (list, Mapping, dict)
        alike = [b for b in branches if b.model is None and (get_origin(b.type) in known) == (sort in known)]
        return next((b for b in alike if sort is NoneType or get_origin(b.type) is sort), None)


def shapes_at(root: ModelType, path: Path) -> tuple[Shape, ...]:
    """What may stand at a path below a model."""
    shapes: tuple[Shape, ...] = (Shape(root),)
    for step in path:
        shapes = tuple(inner for shape in shapes for inner in shape.inside(step))
    return shapes


def known_keys(shapes: tuple[Shape, ...]) -> tuple[str, ...]:
    """The keys that the models among some shapes know."""
    return tuple({key: None for shape in shapes for leaf in shape.leaves for key in leaf.fields})


def find_key(root: Shape, key: str) -> tuple[str, ...] | None:
    """The shortest way to a key of some model below a shape, with `ELEMENT` and `NAME` for steps that are not fixed."""
    todo: list[tuple[tuple[str, ...], Shape]] = [((), root)]
    seen = set()
    for path, shape in todo:
        for leaf in shape.leaves:
            if key in leaf.fields:
                return (*path, key)
            if leaf.model is None:
                free = {"NAME": leaf.inside("NAME"), "ELEMENT": leaf.inside(0)}
                todo += [((*path, step), inner) for step, shapes in free.items() for inner in shapes]
            elif leaf.model not in seen:
                seen.add(leaf.model)
                todo += [((*path, step), inner) for step, inner in leaf.fields.items()]
    return None


@cache
def _fields(model: ModelType) -> Mapping[str, Shape]:
    return {
        field.alias or name: Shape.of(field.annotation, tuple(field.metadata))
        for name, field in model.model_fields.items()
    }
