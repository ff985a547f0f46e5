"""Kinds of real releases that once were judged wrongly: each with its like that must be told."""

from __future__ import annotations

import dataclasses
import itertools
import pickle
from typing import Any

import pytest

from memory_matrix.worker.compare import compare
from memory_matrix.worker.describe import describe


def across(writers: object, readers: object) -> list[str]:
    return [each["path"] for each in compare(describe(writers), describe(readers), across=True)]


def later(name: str, *bases: type, **attributes: Any) -> Any:
    """Return a class as another release of the same app defines it."""
    return type(name, bases, {"__module__": "app", "__qualname__": name, **attributes})


@dataclasses.dataclass
class Usage:
    tokens: int = 0


def note(*more: Any) -> Any:
    made = dataclasses.make_dataclass("Note", [("text", str), *more])
    made.__module__ = "app"
    made.__qualname__ = "Note"
    return made


@pytest.mark.parametrize(
    ("kind", "factory"),
    [(Usage, Usage), (list, lambda: ["a"]), (dict, lambda: {"a": {1}})],
)
def test_a_new_field_may_hold_what_its_factory_makes(kind: type, factory: Any) -> None:
    newer = note(("more", kind, dataclasses.field(default_factory=factory)))
    assert across(note()("a"), newer("a")) == []
    assert across(newer("a"), note()("a")) == []


def test_a_new_field_that_differs_from_what_its_factory_makes_is_told() -> None:
    newer = note(("usage", Usage, dataclasses.field(default_factory=Usage)))
    assert across(newer("a", Usage(3)), note()("a")) == ["$.usage"]


def test_what_a_factory_makes_anew_each_time_is_no_default() -> None:
    count = itertools.count()
    newer = note(("id", str, dataclasses.field(default_factory=lambda: f"id-{next(count)}")))
    assert across(note()("a"), newer("a")) == ["$.id"]


def test_a_factory_that_raises_is_no_default() -> None:
    newer = note(("id", int, dataclasses.field(default_factory=lambda: 1 // 0)))
    assert across(note()("a"), newer("a", 3)) == ["$.id"]


def test_a_default_may_be_any_object_of_attrs_or_pydantic() -> None:
    attr = pytest.importorskip("attr")
    fields = {"text": attr.ib(), "usage": attr.ib(default=attr.Factory(Usage))}
    old, new = (
        attr.make_class("Note", dict(itertools.islice(fields.items(), size))) for size in (1, 2)
    )
    assert across(old("a"), new("a")) == []
    assert across(old("a"), new("a", Usage(1))) == ["$.usage"]


def test_attributes_of_a_plain_class_may_hold_the_defaults_of_its_arguments() -> None:
    def old(self: Any, text: str) -> None:
        self.text = text

    def new(self: Any, text: str, retries: int = 3, *, mode: str = "fast") -> None:
        self.text, self.retries, self.mode = text, retries, mode

    older, newer = later("Tool", __init__=old), later("Tool", __init__=new)
    assert across(older("a"), newer("a")) == []
    assert across(older("a"), newer("a", 4)) == ["$.retries"]
    assert across(newer("a", mode="slow"), older("a")) == ["$.mode"]


def test_what_the_class_itself_answers_is_no_news() -> None:
    older = later("Secret")
    newer = later("Secret", __annotations__={"longest": int}, longest=20)
    assert across(older(), newer()) == []
    assert across(newer(), older()) == []
    one = newer()
    one.longest = 30
    assert across(one, older()) == ["$.longest"]


def test_another_class_is_one_difference_however_it_is_described() -> None:
    class Reduced:
        __slots__ = ()

        def __reduce_ex__(self, _: Any) -> Any:
            return str, ("a",)

    class Plain:
        def __init__(self) -> None:
            self._text = "a"

    assert across(Reduced(), Plain()).count("$") >= 1
    assert "$.made by" not in across(Reduced(), Plain())
    assert across(Reduced(), Reduced()) == []


def test_types_of_numpy_are_known_by_their_text() -> None:
    numpy = pytest.importorskip("numpy")
    dtype = numpy.dtype("f4")
    table = describe(dtype)
    assert table["objects"][0]["t"] == "numpy.dtype"
    assert across(dtype, numpy.dtype("f4")) == []
    assert across(dtype, numpy.dtype("f8")) == ["$.text"]
    assert across(numpy.dtype([("a", "i4")]), numpy.dtype([("b", "i4")])) == ["$.text"]


def test_generators_of_numpy_are_known_by_what_they_draw_next() -> None:
    numpy = pytest.importorskip("numpy")
    one, other = numpy.random.default_rng(7), numpy.random.default_rng(8)
    assert across(one, pickle.loads(pickle.dumps(one))) == []
    other.bit_generator.state = one.bit_generator.state
    assert across(one, other) == []
    other.random()
    assert across(one, other) != []
