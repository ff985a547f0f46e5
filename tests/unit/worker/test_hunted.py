"""Kinds of real releases that once were judged wrongly: each with its like that must be told."""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memory_matrix.worker.compare import compare
from memory_matrix.worker.describe import describe, digest
from memory_matrix.worker.errors import Scrubber
from memory_matrix.worker.modules import Payload, Serializer
from memory_matrix.worker.reading import Reader
from memory_matrix.worker.writing import Writer


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


def test_a_declared_field_that_is_not_there_is_told_even_of_a_class_that_lacked_it() -> None:
    loaded = object.__new__(note(("source", str)))
    loaded.text = "a"
    assert across(note()("a"), loaded) == ["$.source"]


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


def test_a_field_that_became_a_property_is_not_lost() -> None:
    def old(self: Any, text: str, source: str) -> None:
        self.text, self.source = text, source

    def new(self: Any, text: str, source: str) -> None:
        self._parts, self.source = [text], source

    older = later("Turn", __init__=old)
    newer = later("Turn", __init__=new, text=property(lambda self: self._parts[0]))
    assert across(older("a", "s"), newer("a", "s")) == []
    assert across(newer("a", "s"), older("a", "s")) == []
    assert across(older("a", "s"), newer("a", "t")) == ["$.source"]


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
    old = numpy.random.RandomState(7)
    drawn = pickle.loads(pickle.dumps(old))
    assert across(old, drawn) == []
    drawn.normal()
    assert across(old, drawn) != []


class Fixed(dt.tzinfo):
    """A zone of one offset, as several libraries have their own."""

    def __init__(self, hours: int, name: str | None = None) -> None:
        self._told = dt.timedelta(hours=hours), name

    def utcoffset(self, _: dt.datetime | None) -> dt.timedelta:
        return self._told[0]

    def tzname(self, _: dt.datetime | None) -> str | None:
        return self._told[1]

    def dst(self, _: dt.datetime | None) -> None:
        return None


@pytest.mark.parametrize("hours", [0, 2, -3])
def test_a_fixed_offset_without_a_name_is_that_offset_whoever_made_it(hours: int) -> None:
    there = dt.timezone(dt.timedelta(hours=hours))
    one, other = (dt.datetime(2026, 1, 1, tzinfo=zone) for zone in (there, Fixed(hours)))
    assert across(one, other) == []
    assert across(one, other.replace(tzinfo=Fixed(hours, "GMT"))) == ["$"]
    assert across(one, other.replace(tzinfo=Fixed(1))) == ["$"]


class Keeper:
    """Notes down what it was made with; `==` looks at the text only."""

    def __init__(self, text: str, **more: Any) -> None:
        self.text = text
        self._made_with = dict(more, text=text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keeper) and self.text == other.text

    __hash__ = None  # type: ignore[assignment]


class Counting(Keeper):
    """To this one, what it was made with matters."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counting) and vars(self) == vars(other)

    __hash__ = None


def read_back(folder: Path, built: object, loads: Any) -> list[str]:
    """Return the paths at which what `loads` gives differs from what is built anew."""
    job = {"blobs": str(folder), "descriptions": str(folder), "memory": 512}
    session: Any = SimpleNamespace(
        job=job,
        payloads={"one": Payload("one", lambda: built, None)},
        serializers={"codec": Serializer(SimpleNamespace(dumps=lambda _: b"", loads=loads))},
        scrubber=Scrubber({}),
    )
    expected = Writer(session).do_expect({"payload": "one"})["expected"]
    step = {"payload": "one", "serializer": "codec", "blob": digest(b""), "text": False}
    Reader(session).keep("blobs", b"")
    result = Reader(session).do_read(
        {**step, "plain": None, "probing": False, "own": True, "against": [expected]}
    )
    return [each["path"] for found in result["differences"].values() for each in found]


def test_more_in_a_private_note_is_nothing_where_the_values_are_equal(tmp_path: Path) -> None:
    assert read_back(tmp_path, [Keeper("a")], lambda _: [Keeper("a", kind="k")]) == []


def test_more_in_a_private_note_is_told_where_the_values_are_not_equal(tmp_path: Path) -> None:
    loaded = [Counting("a", kind="k")]
    assert read_back(tmp_path, [Counting("a")], lambda _: loaded) == ["$[0]._made_with.kind"]


def test_less_in_a_private_note_is_told_even_where_the_values_are_equal(tmp_path: Path) -> None:
    paths = read_back(tmp_path, Keeper("a", kind="k"), lambda _: Keeper("a"))
    assert paths == ["$._made_with.kind"]


def test_a_public_difference_is_told_even_where_the_values_are_equal(tmp_path: Path) -> None:
    def loads(_: bytes) -> Keeper:
        keeper = Keeper("a", kind="k")
        keeper.count = 3  # type: ignore[attr-defined]
        return keeper

    assert "$.count" in read_back(tmp_path, Keeper("a"), loads)
