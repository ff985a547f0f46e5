"""Comparing objects: every field is looked at, caches and how values are kept are not."""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import decimal
import enum
import functools
import io
import json
import random
import types
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from memory_matrix.worker.compare import compare
from memory_matrix.worker.describe import describe, encode
from support.tables import table


def differences(expected: object, got: object) -> list[dict[str, str]]:
    """Compare as a reader does: with a description that was stored in between."""
    return compare(json.loads(encode(describe(expected))), describe(got))


class Plain:
    """An object of a plain class, with what attributes one gives it."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Slotted:
    """An object whose attributes are in slots."""

    __slots__ = ("__secret", "_private", "left", "right")

    def __init__(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    def hide(self, secret: object) -> Slotted:
        self.__secret = secret
        return self


class AlsoSlotted(Slotted):
    """A subclass with one more slot."""

    __slots__ = ("third",)


@dataclasses.dataclass
class Message:
    """A data class with a default, a list, and a private attribute that is no field."""

    role: str
    text: str = ""
    tags: list[str] = dataclasses.field(default_factory=list)
    count: ClassVar[int] = 0

    def __post_init__(self) -> None:
        self._index = 5


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    """A data class with slots, which loads without values when its state is lost."""

    left: int
    right: int


class Annotated:
    """A plain class that declares its attributes."""

    name: str
    limit: ClassVar[int] = 3


class WithDefaults:
    """A class whose attributes answer where an instance has none."""

    limit = 5
    tags: ClassVar[list[str]] = []
    level = None


class Cached:
    """A class that keeps what it has worked out."""

    def __init__(self, text: str) -> None:
        self.text = text

    @functools.cached_property
    def words(self) -> list[str]:
        return self.text.split()


class Node:
    """A node of a graph, hashed by identity."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.near: set[Node] = set()


class Stamp(dt.datetime):
    """A datetime of the app's own class, with an attribute."""

    source: str


class Money(decimal.Decimal):
    """An amount with a currency in a slot."""

    __slots__ = ("currency",)


class Items(list[int]):
    """A list with attributes."""

    name = ""


class Error(Exception):
    """An exception with attributes of its own."""

    def __init__(self, code: int) -> None:
        super().__init__("failed")
        self.code = code


class Colour(enum.Enum):
    RED = 1


def without(value: Any, name: str) -> Any:
    """Return a copy that lacks an attribute, as one that was loaded without its state does."""
    lacking = copy.copy(value)
    object.__delattr__(lacking, name)
    return lacking


def with_attributes(value: Any, **attributes: object) -> Any:
    for name, held in attributes.items():
        object.__setattr__(value, name, held)
    return value


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    error.__cause__ = cause
    return error


def noted(error: BaseException, *notes: str) -> BaseException:
    with_attributes(error, **({"__notes__": list(notes)} if notes else {}))
    return error


def closing_over(value: object) -> Callable[[], object]:
    return lambda: value


def defaulting_to(value: object) -> Callable[..., object]:
    def function(*, argument: object = value, **_: object) -> object:
        return argument

    return function


def compiled(source: str) -> Any:
    namespace: dict[str, Any] = {"__name__": "app.tools"}
    exec(source, namespace)
    return namespace["tool"]


@functools.lru_cache
def first_cached() -> int:
    return 1


@functools.lru_cache
def second_cached() -> int:
    return 2


HERE = __name__

DIFFERENT = [
    # missing and other attributes
    (Plain(a=1), Plain(a=2), "$.a", "int 1", "int 2"),
    (Plain(a=1), Plain(), "$.a", "int 1", "missing"),
    (Plain(), Plain(a=1), "$.a", "missing", "int 1"),
    (Plain(a=None), Plain(), "$.a", "None", "missing"),
    (Plain(_a=1), Plain(_a=2), "$._a", "int 1", "int 2"),
    (Plain(a=1), {"a": 1}, "$", f"{HERE}.Plain", "dict of 1"),
    (Plain(a=1), None, "$", f"{HERE}.Plain", "None"),
    (Plain(a=Plain(b=(1,))), Plain(a=Plain(b=[1])), "$.a.b", "tuple of 1", "list of 1"),
    (Plain(a=Plain()), Plain(a={}), "$.a", f"{HERE}.Plain", "dict of 0"),
    (types.SimpleNamespace(a=1), types.SimpleNamespace(a=2), "$.a", "int 1", "int 2"),
    (Slotted(left=1), Slotted(left=2), "$.left", "int 1", "int 2"),
    (Slotted(left=1), Slotted(), "$.left", "int 1", "missing"),
    (Slotted(left=1, right=2), Slotted(left=2, right=1), "$.left", "int 1", "int 2"),
    (Slotted(_private=1), Slotted(_private=2), "$._private", "int 1", "int 2"),
    (Slotted().hide(1), Slotted().hide(2), "$._Slotted__secret", "int 1", "int 2"),
    (AlsoSlotted(left=1, third=3), AlsoSlotted(left=1), "$.third", "int 3", "missing"),
    (AlsoSlotted(left=1), AlsoSlotted(left=2), "$.left", "int 1", "int 2"),
    (Message("user"), Message("system"), "$.role", "str 'user'", "str 'system'"),
    (
        Message("user", "a"),
        without(Message("user", "a"), "role"),
        "$.role",
        "str 'user'",
        "missing",
    ),
    (Message("user"), without(Message("user"), "tags"), "$.tags", "list of 0", "missing"),
    (
        Message("user"),
        with_attributes(Message("user"), extra=1),
        "$.extra",
        "missing",
        "int 1",
    ),
    (
        Message("user"),
        with_attributes(Message("user"), _index=6),
        "$._index",
        "int 5",
        "int 6",
    ),
    (Message("user"), without(Message("user"), "_index"), "$._index", "int 5", "missing"),
    (Frozen(1, 2), Frozen(2, 1), "$.left", "int 1", "int 2"),
    (Frozen(1, 2), object.__new__(Frozen), "$.left", "int 1", "missing"),
    (
        with_attributes(Annotated(), name="a"),
        Annotated(),
        "$.name",
        "str 'a'",
        "missing",
    ),
    (
        with_attributes(WithDefaults(), limit=6),
        WithDefaults(),
        "$.limit",
        "int 6",
        "int 5",
    ),
    (Plain(_memory=[1]), Plain(_memory=[2]), "$._memory[0]", "int 1", "int 2"),
    (Plain(_hashtags=1), Plain(_hashtags=2), "$._hashtags", "int 1", "int 2"),
    (Plain(cache=1), Plain(cache=2), "$.cache", "int 1", "int 2"),
    (Cached("a b"), Cached("a c"), "$.text", "str 'a b'", "str 'a c'"),
    # what a subclass of a built-in type adds
    (
        with_attributes(Stamp(2026, 1, 1), source="a"),
        Stamp(2026, 1, 1),
        "$",
        f"{HERE}.Stamp datetime.datetime 2026-01-01T00:00:00",
        f"{HERE}.Stamp 2026-01-01T00:00:00",
    ),
    (
        with_attributes(Stamp(2026, 1, 1), source="a"),
        with_attributes(Stamp(2026, 1, 1), source="b"),
        "$.source",
        "str 'a'",
        "str 'b'",
    ),
    (
        with_attributes(Stamp(2026, 1, 1), source="a"),
        with_attributes(Stamp(2026, 1, 2), source="a"),
        "$.value",
        "datetime.datetime 2026-01-01T00:00:00",
        "datetime.datetime 2026-01-02T00:00:00",
    ),
    (
        with_attributes(Money("1.5"), currency="EUR"),
        with_attributes(Money("1.5"), currency="USD"),
        "$.currency",
        "str 'EUR'",
        "str 'USD'",
    ),
    (Money("1.5"), Money("1.50"), "$.value", "decimal.Decimal 1.5", "decimal.Decimal 1.50"),
    (
        with_attributes(Items([1]), name="a"),
        with_attributes(Items([1]), name="b"),
        "$.name",
        "str 'a'",
        "str 'b'",
    ),
    (with_attributes(Items([1]), name="a"), Items([1]), "$.name", "str 'a'", "str ''"),
    # exceptions
    (ValueError(1), ValueError(2), "$[0]", "int 1", "int 2"),
    (ValueError("a"), ValueError("a", 1), "$[1]", "missing", "int 1"),
    (ValueError("a"), TypeError("a"), "$", "ValueError of 1", "TypeError of 1"),
    (ValueError("a"), "a", "$", "ValueError of 1", "str 'a'"),
    (Error(1), Error(2), "$.code", "int 1", "int 2"),
    (Error(1), without(Error(1), "code"), "$.code", "int 1", "missing"),
    (raised(ValueError(), KeyError("a")), ValueError(), "$.cause", "KeyError of 1", "None"),
    (
        raised(ValueError(), KeyError("a")),
        raised(ValueError(), KeyError("b")),
        "$.cause[0]",
        "str 'a'",
        "str 'b'",
    ),
    (noted(ValueError(), "a"), noted(ValueError()), "$.__notes__", "list of 1", "missing"),
    (noted(ValueError(), "a"), noted(ValueError(), "b"), "$.__notes__[0]", "str 'a'", "str 'b'"),
    (OSError(2, "no", "a"), OSError(2, "no", "b"), "$.filename", "str 'a'", "str 'b'"),
    (OSError(2, "no", "a"), OSError(2, "no"), "$.filename", "str 'a'", "missing"),
    (ImportError("no", name="a"), ImportError("no", name="b"), "$.name", "str 'a'", "str 'b'"),
    # functions
    (closing_over(1), closing_over(2), "$.closure.value", "int 1", "int 2"),
    (defaulting_to(1), defaulting_to(2), "$.keywords.argument", "int 1", "int 2"),
    (
        compiled("def tool(a=1): pass"),
        compiled("def tool(a=2): pass"),
        "$[0]",
        "int 1",
        "int 2",
    ),
    (compiled("def tool(): return 1"), compiled("def tool(): return 2"), "$.code", "str", "str"),
    (
        compiled("def tool(): return lambda: 1"),
        compiled("def tool(): return lambda: 2"),
        "$.code",
        "str",
        "str",
    ),
    (
        compiled("def tool(a): return a in {1, 2}"),
        compiled("def tool(a): return a in {1, 3}"),
        "$.code",
        "str",
        "str",
    ),
    (
        with_attributes(compiled("def tool(): pass"), limit=1),
        compiled("def tool(): pass"),
        "$.limit",
        "int 1",
        "missing",
    ),
    (closing_over, defaulting_to, "$.name", f"function {HERE}.closing_over", "function "),
    (first_cached, second_cached, "$.name", f"function {HERE}.first_cached", "function "),
    (functools.partial(int, "1"), functools.partial(int, "2"), "$[0]", "str '1'", "str '2'"),
    (
        functools.partial(int, base=2),
        functools.partial(int, base=3),
        "$.keywords.base",
        "int 2",
        "int",
    ),
    (functools.partial(int), functools.partial(str), "$.func", "class int", "class str"),
    (functools.partial(int), int, "$", "functools.partial of 0", "class int"),
    (Plain(a=1).__init__, Plain(a=2).__init__, "$.self.a", "int 1", "int 2"),
    (Plain, Slotted, "$", f"class {HERE}.Plain", f"class {HERE}.Slotted"),
    # what extension types keep for themselves
    (random.Random(1), random.Random(2), "$.state[1][1]", "int", "int"),
    (io.BytesIO(b"a"), io.BytesIO(b"b"), "$[1][0]", "bytes 'a'", "bytes 'b'"),
    (io.StringIO("a"), io.StringIO("b"), "$[1][0]", "str 'a'", "str 'b'"),
]


def test_another_field_is_found_where_it_is() -> None:
    for expected, got, path, said, seen in DIFFERENT:
        first = differences(expected, got)[0]
        assert first["path"] == path, (expected, got)
        assert first["expected"].startswith(said), (expected, got)
        assert first["got"].startswith(seen), (expected, got)


def test_what_differs_one_way_differs_the_other_way_too() -> None:
    assert [row[:2] for row in DIFFERENT if not differences(row[1], row[0])] == []


def test_a_value_equals_itself() -> None:
    values = [each for row in DIFFERENT for each in row[:2]]
    assert [each for each in values if differences(each, each)] == []


def used(cached: Cached) -> Cached:
    assert cached.words
    return cached


@table(
    ("expected", "got"),
    [
        (Plain(a=1, b=2), Plain(b=2, a=1)),
        (object(), object()),
        (Plain(), Plain()),
        (Cached("a b"), used(Cached("a b"))),
        (used(Cached("a b")), Cached("a b")),
        (Plain(a=1, _hash=5), Plain(a=1)),
        (Plain(a=1, _field_cache={}), Plain(a=1, _field_cache={"a": 1})),
        (Plain(_cached_names=1), Plain(_cached_names=2)),
        (with_attributes(WithDefaults(), limit=5), WithDefaults()),
        (with_attributes(WithDefaults(), tags=[]), WithDefaults()),
        (with_attributes(WithDefaults(), level=None), WithDefaults()),
        (WithDefaults(), with_attributes(WithDefaults(), limit=5)),
        (Annotated(), Annotated()),
        (Slotted(), Slotted()),
        (ValueError("a"), ValueError("a")),
        (closing_over([1]), closing_over([1])),
        (Plain(a=iter([1])), Plain(a=iter([1]))),
        (Plain(a=Colour.RED), Plain(a=Colour(1))),
        (functools.partial(int, base=2), functools.partial(int, base=2)),
        (random.Random(1), random.Random(1)),
        (io.BytesIO(b"a"), io.BytesIO(b"a")),
    ],
)
def test_equal_objects_are_equal_whatever_was_worked_out_before(
    expected: object, got: object
) -> None:
    assert differences(expected, got) == []


def test_traceback_and_context_of_an_exception_are_not_its_value() -> None:
    with pytest.raises(ValueError, match="invalid") as caught:
        int("a")
    caught.value.__context__ = KeyError("a")
    assert differences(ValueError(*caught.value.args), caught.value) == []


def test_exception_groups_are_compared_to_their_members() -> None:
    group = pytest.importorskip("builtins").__dict__.get("ExceptionGroup")
    if group is None:
        pytest.skip("exception groups came with Python 3.11")
    expected = group("two", [ValueError(1), KeyError(2)])
    assert differences(expected, group("two", [ValueError(1), KeyError(2)])) == []
    assert differences(expected, group("two", [ValueError(1), KeyError(3)]))[0]["path"] == (
        "$.exceptions[1][0]"
    )
    assert differences(expected, group("2", [ValueError(1), KeyError(2)]))[0]["path"] == (
        "$.message"
    )


def test_members_of_a_set_are_compared_to_their_last_field() -> None:
    expected = {Plain(a=[{"b": 1}])}
    assert differences(expected, {Plain(a=[{"b": 1}])}) == []
    assert differences(expected, {Plain(a=[{"b": 2}])})


def test_objects_that_are_keys_are_compared_by_their_fields() -> None:
    assert differences({Frozen(1, 2): "a"}, {Frozen(1, 2): "a"}) == []
    assert differences({Frozen(1, 2): "a"}, {Frozen(2, 1): "a"})
    assert differences({Frozen(1, 2): "a"}, {Frozen(1, 2): "b"})


def graph(names: str, edges: list[str]) -> set[Node]:
    """Return a graph; the order in which its nodes come to be is that of `names`."""
    nodes = {name: Node(name) for name in names}
    for start, end in edges:
        nodes[start].near.add(nodes[end])
    return set(nodes.values())


def test_graphs_are_equal_whatever_order_their_nodes_were_made_in() -> None:
    edges = ["ab", "bc", "ca", "cd", "de", "ed", "ef"]
    expected = graph("abcdef", edges)
    assert differences(expected, graph("fedcba", edges[::-1])) == []
    assert differences(expected, graph("badcfe", edges)) == []
    assert differences(expected, graph("abcdef", [*edges, "fa"]))
    assert differences(expected, graph("abcdefg", edges))


def test_an_exchange_of_two_objects_is_found() -> None:
    first, second = Plain(a=1), Plain(a=2)
    found = differences([first, second, first], [first, second, second])
    assert [each["path"] for each in found] == ["$[2].a"]


class RaisingRepr(Plain):
    def __repr__(self) -> str:
        raise ValueError("no")


class RaisingProperty(Plain):
    @property
    def text(self) -> str:
        raise ValueError("no")


class RaisingGetattr(Plain):
    def __getattr__(self, name: str) -> object:
        raise KeyError(name)


class RaisingGetattribute:
    def __getattribute__(self, name: str) -> object:
        raise ValueError(name)


class RaisingClass(Plain):
    @property
    def __class__(self) -> Any:
        raise RuntimeError("working outside of context")


class LyingClass(Plain):
    __class__: Any = property(lambda _: dict)


class RaisingHash(Plain):
    def __hash__(self) -> int:
        raise TypeError("no")


class RaisingEq(Plain):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise ValueError("no")


class RaisingBool(Plain):
    def __bool__(self) -> bool:
        raise ValueError("no")


class RaisingLen(Plain):
    def __len__(self) -> int:
        raise ValueError("no")


class RaisingReduce(Plain):
    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError("no")


class RaisingIter(list[int]):
    def __iter__(self) -> Any:
        raise ValueError("no")


@table(
    "kind",
    [
        RaisingRepr,
        RaisingProperty,
        RaisingGetattr,
        RaisingClass,
        LyingClass,
        RaisingHash,
        RaisingEq,
        RaisingBool,
        RaisingLen,
        RaisingReduce,
    ],
)
def test_objects_that_raise_when_looked_at_are_compared_all_the_same(kind: Any) -> None:
    assert differences([kind(a=1)], [kind(a=1)]) == []
    assert differences([kind(a=1)], [kind(a=2)])[0]["path"] == "$[0].a"
    assert differences([kind(a=1)], [kind()])


def test_members_that_raise_when_looked_at_are_compared_all_the_same() -> None:
    assert differences({RaisingRepr(a=1)}, {RaisingRepr(a=1)}) == []
    assert differences({RaisingRepr(a=1)}, {RaisingRepr(a=2)})


def test_what_is_deprecated_is_looked_at_without_a_word() -> None:
    class Deprecated(Annotated):
        @property
        def name(self) -> str:  # type: ignore[override]
            warnings.warn("use title", DeprecationWarning, stacklevel=2)
            return "a"

    assert describe(Deprecated())["objects"][0]["fields"] == {"name": "a"}


@pytest.mark.parametrize("kind", [RaisingGetattribute, RaisingIter])
def test_what_cannot_be_looked_at_at_all_is_told_from_what_can(kind: Any) -> None:
    value = kind()
    assert differences([value], [value]) == []
    assert differences([value], [[1]])
    assert differences([value], [None])


def test_a_declared_field_that_raises_is_told_from_one_that_does_not() -> None:
    @dataclasses.dataclass
    class Lazy:
        text: str

    class LazyToo(Lazy):
        @property
        def text(self) -> str:  # type: ignore[override]
            raise RuntimeError("no session")

    LazyToo.__qualname__ = Lazy.__qualname__
    broken = object.__new__(LazyToo)
    (only,) = differences(Lazy("a"), broken)
    assert only == {"path": "$.text", "expected": "str 'a'", "got": "<raises> RuntimeError"}


def test_a_class_whose_annotations_raise_is_compared_by_what_its_instances_hold() -> None:
    class Strange(Plain):
        __annotations__ = property(lambda _: 1 / 0)  # type: ignore[assignment]

    assert differences(Strange(a=1), Strange(a=1)) == []
    assert differences(Strange(a=1), Strange(a=2))[0]["path"] == "$.a"
