"""Objects that are packed by their annotations can be unpacked, and nothing else can."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenecho.schema import NOT_STORED, pack, stands_for, unpack
from eigenecho.types import (
    AnyFloat,
    Array,
    ComplexArray,
    Count,
    GappyArray,
    Positive,
    PositiveArray,
    UnboundedArray,
)
from optional import optional

pd = optional("pandas")


class Point(NamedTuple):
    x: float
    label: Hashable = None


class Shape(ABC):
    @abstractmethod
    def area(self): ...


@dataclass(frozen=True, eq=False)
class Square(Shape):
    side: Positive

    def area(self):
        return self.side**2


@dataclass(frozen=True, eq=False)
class Polygon(Shape):
    corners: Array
    names: tuple[str, ...] | None = None

    def area(self):
        return 0.0


class Wrapped:
    def __init__(self, text):
        self.text = text


@stands_for(Wrapped)
@dataclass(frozen=True)
class StoredWrapped:
    length: Count

    @classmethod
    def of(cls, wrapped):
        return cls(len(wrapped.text))

    def restored(self):
        return Wrapped("a" * self.length)


@dataclass(frozen=True, eq=False)
class Everything:
    flag: bool
    number: int
    value: AnyFloat
    word: str | None
    plain: dict[str, Any]
    array: Array
    missing: Array | None
    odd: GappyArray
    large: UnboundedArray
    turned: ComplexArray
    positive: PositiveArray
    points: tuple[Point, ...]
    shape: Shape
    shapes: tuple[Shape | None, ...]
    ragged: tuple[tuple[Array, ...], ...]
    wrapped: tuple[Wrapped, ...]
    cache: Any = field(default=None, metadata=NOT_STORED)

    def check(self):
        if self.number == 13:
            raise ValueError("number=13 is refused")


def everything(**change):
    rng = np.random.default_rng(0)
    parts = {
        "flag": True, "number": np.int64(7), "value": np.float32(0.5), "word": None,
        "plain": {"a": [1, 2.5, None], "b": {}}, "array": rng.normal(size=(3, 2)), "missing": None,
        "odd": np.array([1.0, np.nan]), "large": np.array([np.inf]),
        "turned": np.array([1 - 2j, complex(-0.0, 1)]), "positive": np.array([[0.5]]),
        "points": (Point(1.0), Point(2.0, ("a", 1)), Point(3.0, pd.Timestamp("2024", tz="UTC"))),
        "shape": Square(2.0),
        "shapes": (
            Polygon(np.ones((3, 2)), ("a", "b")), None, Square(1.0), Polygon(np.ones((0, 2))),
        ),
        "ragged": ((np.ones((2, 1)), np.zeros((0, 1))), (), (np.full((3, 1), 2.0),)),
        "wrapped": (Wrapped("ab"), Wrapped("")), "cache": object(),
    }  # fmt: skip
    return Everything(**(parts | change))


def through_json(value):
    """Return the result of ``pack`` after a round trip through JSON."""
    kind, arrays, values = pack(value)
    assert kind == type(value).__name__
    return arrays, json.loads(json.dumps(values))


def round_trip(value):
    return unpack(type(value), *through_json(value))


def test_all_fields_are_restored():
    one, other = everything(), round_trip(everything())
    assert (other.flag, other.number, other.value, other.word) == (True, 7, 0.5, None)
    assert type(other.number) is int
    assert other.plain == one.plain
    assert other.cache is None
    for name in ("array", "odd", "large", "turned", "positive"):
        np.testing.assert_array_equal(getattr(other, name), getattr(one, name), strict=True)
    assert np.signbit(other.turned.real[1])
    assert other.missing is None
    assert other.points == one.points
    assert other.shape.side == 2.0
    assert [type(shape) for shape in other.shapes] == [Polygon, type(None), Square, Polygon]
    assert other.shapes[0].names == ("a", "b")
    assert other.shapes[3].names is None
    assert [len(some) for some in other.ragged] == [2, 0, 1]
    np.testing.assert_array_equal(other.ragged[2][0], np.full((3, 1), 2.0))
    assert [wrapped.text for wrapped in other.wrapped] == ["aa", ""]


def test_number_of_lists_in_a_header_does_not_grow_with_items():
    counts = []
    for number in (1, 1000):
        shapes = (Polygon(np.ones((1, 2)), ("a",)), None) * number
        _, values = through_json(everything(points=(Point(1.0),) * number, shapes=shapes))
        text = json.dumps(values)
        counts.append(text.count("[") + text.count("{"))
    assert counts[0] == counts[1]


LABELS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**40), 2**40), st.floats(allow_nan=False),
    st.text().filter(lambda text: not text.startswith("\0")),
)  # fmt: skip


@given(st.one_of(LABELS, st.tuples(LABELS, LABELS), st.datetimes().map(pd.Timestamp)))
def test_labels_keep_their_type(label):
    (arrays, values) = through_json(Point(0.0, label))
    result = unpack(Point, arrays, values).label
    assert result == label
    assert type(result) is type(label)


@pytest.mark.parametrize("label", ["\0t", pd.Interval(0, 1), b"bytes", object()])
def test_labels_that_cannot_be_stored(label):
    with pytest.raises(ValueError, match="that can be stored"):
        pack(Point(0.0, label))


def test_missing_and_extra_fields_are_named():
    arrays, values = through_json(everything())
    for name in arrays:
        with pytest.raises(ValueError, match=f"The array '{name}' is missing"):
            unpack(Everything, {key: arrays[key] for key in arrays if key != name}, values)
    for name in values:
        with pytest.raises(ValueError, match=f"'{name}' is missing"):
            unpack(Everything, arrays, {key: values[key] for key in values if key != name})
    with pytest.raises(ValueError, match="Unknown entries: more"):
        unpack(Everything, arrays | {"more": np.ones(1)}, values)
    values["shape"]["more"] = 1
    with pytest.raises(ValueError, match=r"Unknown entries: shape\.more"):
        unpack(Everything, arrays, values)


BAD = {
    "flag": [1, None, "True"],
    "number": [1.0, True, 2**63, None, "1", 13],
    "value": [1, "nan", None, [0.5]],
    "word": [1, False],
    "plain": [[], None],
    "array": [2, 3.0, -1, None, [3], 10**15],
    "missing": [3, 0],
    "points": [[], {}, {"count": 2, "of": {}}, {"count": -1, "of": []}],
    "shape": [None, {"kind": None}, {"kind": "Shape", "Shape": {}}, {"kind": "Circle"},
              {"kind": "Square", "Square": {"side": 0.0}}, {"kind": ["Square"]}],
    "shapes": [{"count": 10**15, "of": {"kind": []}}, {"count": 1, "of": {"kind": "Square"}}],
    "wrapped": [{"count": 2, "of": {"length": [1]}}, {"count": 1, "of": {"length": [-1]}}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, some in BAD.items() for value in some]
)
def test_values_of_another_type_or_size_are_rejected(name, value):
    arrays, values = through_json(everything())
    with pytest.raises(ValueError):
        unpack(Everything, arrays, values | {name: value})


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("array", np.full((3, 2), np.nan)),
        ("array", np.full((3, 2), np.inf)),
        ("array", np.ones((3, 2), complex)),
        ("array", np.array(3.0)),
        ("odd", np.array([np.inf, 0.0])),
        ("large", np.array([np.nan])),
        ("turned", np.ones((2, 3))),
        ("turned", np.ones((2, 2), np.float32)),
        ("turned", np.ones(2)),
        ("positive", np.zeros((1, 1))),
        ("positive", -np.ones((1, 1))),
    ],
)
def test_arrays_of_other_dtypes_are_rejected(name, array):
    arrays, values = through_json(everything())
    with pytest.raises(ValueError, match=rf"^(Invalid )?{name}\b"):
        unpack(Everything, arrays | {name: array}, values)


def test_subclass_is_stored_like_its_parent():
    class Further(Wrapped):
        pass

    kind, arrays, values = pack(Further("abc"))
    assert kind == "Wrapped"
    assert unpack(Wrapped, arrays, values).text == "aaa"


def test_user_defined_subclasses_do_not_change_the_layout():
    before = through_json(everything())[1]

    class Further(Point):
        pass

    class Larger(Square):
        pass

    one = everything(points=(Further(1.0), *everything().points[1:]))
    assert through_json(one)[1] == before
    shapes = (Larger(2.0),)  # a subclass of an abstract class is stored as its parent
    assert through_json(everything(shapes=shapes))[1]["shapes"]["of"]["kind"] == ["Square"]


def test_options_are_passed_to_the_stored_form():
    with pytest.raises(TypeError, match="more"):
        pack(Wrapped("abc"), more=1)


def test_replaced_fields_are_packed_again():
    one = everything()
    assert round_trip(replace(one, word="x")).word == "x"


def test_many_lists_in_labels_are_rejected():
    with pytest.raises(ValueError, match="more lists and objects"):
        unpack(Point, {}, {"x": 0.0, "label": "\0u[" + "[]," * 10**5 + "1]"})
