"""Comparing the objects of real libraries: no false alarms, and nothing missed.

The libraries that take long to import are for the stage of large tests.
"""

from __future__ import annotations

import datetime as dt
import functools
import pickle
import sys
from typing import Any, Generic, TypeVar

import pytest

from memory_matrix.worker import objects
from memory_matrix.worker.compare import compare
from memory_matrix.worker.describe import describe
from support.tables import table

UTC = dt.timezone.utc
NOON = dt.datetime.fromisoformat("2026-01-01T12:00:00")
Content = TypeVar("Content")


def differences(expected: object, got: object) -> list[dict[str, str]]:
    return compare(describe(expected), describe(got))


def paths(expected: object, got: object) -> list[str]:
    return [each["path"] for each in differences(expected, got)]


def without(value: Any, name: str) -> Any:
    object.__delattr__(value, name)
    return value


@pytest.fixture(scope="module")
def pydantic() -> Any:
    return pytest.importorskip("pydantic", minversion="2")


@pytest.fixture(scope="module")
def model(pydantic: Any) -> Any:
    class Model(pydantic.BaseModel):  # type: ignore[name-defined]
        model_config = pydantic.ConfigDict(extra="allow")
        text: str = ""
        tags: list[str] = pydantic.Field(default_factory=list)
        _seen: int = pydantic.PrivateAttr(default=0)

        @functools.cached_property
        def words(self) -> list[str]:
            return self.text.split()

    return Model


@pytest.mark.large
def test_pydantic_models_are_compared_by_fields_extra_and_private_attributes(model: Any) -> None:
    assert paths(model(text="a"), model(text="a")) == []
    assert paths(model(text="a"), model(text="b")) == ["$.text"]
    assert paths(model(more=1), model(more=2)) == ["$.more"]
    assert paths(model(more=1), model()) == ["$.more"]
    seen = model()
    seen._seen = 1
    assert paths(model(), seen) == ["$._seen"]
    assert differences(model(), {"text": "", "tags": []})[0]["got"] == "dict of 2"


@pytest.mark.large
def test_what_pydantic_keeps_for_itself_is_not_compared(model: Any) -> None:
    used = model(text="a b")
    assert used.words == ["a", "b"]
    assert paths(model(text="a b"), used) == []
    assert paths(model(), model(text="", tags=[])) == []  # only the fields that were set differ


@pytest.mark.large
def test_a_pydantic_model_in_a_broken_state_is_found(model: Any) -> None:
    lacking = model(text="a")
    del lacking.__dict__["text"]
    assert differences(model(text="a"), lacking) == [
        {"path": "$.text", "expected": "str 'a'", "got": "missing"}
    ]
    for name in ("fields_set", "extra", "private"):
        assert paths(model(), without(model(), f"__pydantic_{name}__"))
    assert paths(model(), model.__new__(model))


@pytest.mark.large
def test_pydantic_knows_generic_and_root_models_and_dataclasses(pydantic: Any) -> None:
    class Box(pydantic.BaseModel, Generic[Content]):  # type: ignore[name-defined]
        held: Content

    class Tags(pydantic.RootModel[list[str]]):  # type: ignore[name-defined]
        pass

    @pydantic.dataclasses.dataclass
    class Note:
        text: str = ""

    assert paths(Box[int](held=1), Box[int](held=1)) == []
    assert paths(Box[int](held=1), Box(held=1)) == ["$"]
    assert paths(Tags(["a"]), Tags(["b"])) == ["$.root[0]"]
    assert paths(Note("a"), Note("b")) == ["$.text"]


@pytest.mark.large
def test_times_of_pydantic_equal_those_of_the_standard_library(pydantic: Any) -> None:
    class Event(pydantic.BaseModel):  # type: ignore[name-defined]
        at: dt.datetime

    hour = dt.timezone(dt.timedelta(hours=1))
    assert paths(Event(at="2026-01-01T12:00:00Z"), Event(at=NOON.replace(tzinfo=UTC))) == []
    assert paths(Event(at="2026-01-01T12:00:00+01:00"), Event(at=NOON.replace(tzinfo=hour))) == []
    assert paths(Event(at="2026-01-01T12:00:00Z"), Event(at=NOON)) == ["$.at"]


@pytest.mark.large
def test_secrets_and_urls_are_compared_though_their_reprs_hide_them(pydantic: Any) -> None:
    assert differences(pydantic.SecretStr("a"), pydantic.SecretStr("b"))
    assert differences(pydantic.SecretStr("a"), pydantic.SecretStr("a")) == []
    assert differences(pydantic.AnyUrl("http://a/"), pydantic.AnyUrl("http://b/"))
    assert differences(pydantic.AnyUrl("http://a/"), pydantic.AnyUrl("http://a/")) == []


@pytest.mark.large
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="pydantic.v1 needs an older Python")
def test_models_of_pydantic_1_are_compared_by_fields_extra_and_private_attributes() -> None:
    v1 = pytest.importorskip("pydantic.v1")

    class Model(v1.BaseModel):  # type: ignore[name-defined, misc]
        class Config:
            extra = "allow"

        text: str = ""
        _seen: int = v1.PrivateAttr(default=0)

    seen = Model()
    seen._seen = 1
    lacking = Model(text="a")
    del lacking.__dict__["text"]
    assert paths(Model(text="a"), Model(text="a")) == []
    assert paths(Model(text="a"), Model(text="b")) == ["$.text"]
    assert paths(Model(more=1), Model(more=2)) == ["$.more"]
    assert paths(Model(), seen) == ["$._seen"]
    assert paths(Model(text="a"), lacking) == ["$.text"]
    assert "$.__fields_set__" in paths(Model(), Model.__new__(Model))


def test_attrs_classes_are_compared_by_fields_and_not_by_cached_hashes() -> None:
    attrs = pytest.importorskip("attrs")

    @attrs.define(slots=True, unsafe_hash=True, cache_hash=True)
    class Note:
        text: str
        _source: str = ""
        level: int = 0

    hashed = Note("a")
    assert hash(hashed)
    assert paths(Note("a"), hashed) == []
    assert paths(Note("a", "b"), Note("a", "c")) == ["$._source"]
    assert paths(Note("a", "b"), Note("b", "a")) == ["$.text", "$._source"]
    assert paths(Note("a"), Note.__new__(Note))[0] == "$.text"


def test_msgspec_structs_are_compared_by_fields() -> None:
    msgspec = pytest.importorskip("msgspec")
    note = msgspec.defstruct("Note", [("text", str), ("tags", list, [])])
    assert paths(note("a"), note("a")) == []
    assert paths(note("a"), note("b")) == ["$.text"]
    assert paths(note("a", ["x"]), note("a", ["y"])) == ["$.tags[0]"]


@pytest.fixture
def numpy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The library; arrays of 1500 are large ones, for it and for what describes them."""
    monkeypatch.setattr(objects, "MOST_NUMBERS", 1024)
    return pytest.importorskip("numpy")


@table(
    "make",
    [
        lambda np: np.array([1.0, float("nan")]),
        lambda np: np.arange(6).reshape(2, 3),
        lambda np: np.array(5),
        lambda np: np.zeros(10_000),
        lambda np: np.array([{"a": 1}, None], dtype=object),
        lambda np: np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
        lambda np: np.array(["2026-01-01", "NaT"], dtype="M8[ns]"),
        lambda np: np.array([1, 2], dtype=np.longdouble),
        lambda np: np.ma.array([1, 2], mask=[True, False]),
        lambda np: np.rec.array([(1, 2)]),
        lambda np: np.float32(1.5),
        lambda np: np.longdouble("1.5"),
        lambda np: np.int64(1),
        lambda np: np.datetime64("2026-01-01"),
        lambda np: np.str_("a"),
        lambda np: np.dtype([("a", "i4")]),
        lambda np: np.add,
        lambda np: np.random.default_rng(1),
        lambda np: np.random.RandomState(1),
    ],
)
def test_numpy_values_are_equal_each_time_and_after_loading(numpy: Any, make: Any) -> None:
    assert differences(make(numpy), make(numpy)) == []
    assert differences(make(numpy), pickle.loads(pickle.dumps(make(numpy)))) == []


@table(
    ("expected", "got", "path"),
    [
        (lambda np: np.array([1, 2]), lambda np: np.array([1, 3]), "$[1]"),
        (lambda np: np.array([1.0]), lambda _: [1.0], "$"),
        (lambda np: np.array([1.0]), lambda np: np.array([1.0], "f4"), "$.dtype"),
        (lambda np: np.zeros((2, 3)), lambda np: np.zeros((3, 2)), "$.shape[0]"),
        (lambda np: np.zeros((1, 2)), lambda np: np.zeros(2), "$.shape[0]"),
        (lambda np: np.zeros(1500), lambda np: np.append(np.zeros(1499), 1), "$.numbers"),
        (
            lambda np: np.array([None, {"a": 1}], dtype=object),
            lambda np: np.array([None, {"a": -1}], dtype=object),
            "$[1].a",
        ),
        (
            lambda np: np.ma.array([1, 2], mask=[True, False]),
            lambda np: np.ma.array([1, 2], mask=[False, False]),
            "$[0]",
        ),
        (lambda np: np.ma.array([1, 2]), lambda np: np.array([1, 2]), "$"),
        (lambda np: np.rec.array([(1, 2)]), lambda np: np.rec.array([(1, 3)]), "$[0][1]"),
        (lambda np: np.float64(1.5), lambda _: 1.5, "$"),
        (lambda np: np.float64(1.5), lambda np: np.float32(1.5), "$"),
        (lambda np: np.float32(1.5), lambda np: np.float32(2.5), "$.value"),
        (lambda np: np.int64(1), lambda _: 1, "$"),
        (lambda np: np.bool_(True), lambda _: True, "$"),
        (lambda np: np.longdouble(1), lambda np: np.longdouble(2), "$.value"),
        (lambda np: np.add, lambda np: np.subtract, "$."),
        (lambda np: np.dtype([("a", "i4")]), lambda np: np.dtype([("a", "i8")]), "$"),
        (lambda np: np.random.default_rng(1), lambda np: np.random.default_rng(2), "$"),
        (lambda np: np.random.RandomState(1), lambda np: np.random.RandomState(2), "$"),
    ],
)
def test_other_numpy_values_are_told_apart(numpy: Any, expected: Any, got: Any, path: str) -> None:
    assert paths(expected(numpy), got(numpy))[0].startswith(path)


@pytest.mark.large
def test_large_arrays_whose_bytes_say_nothing_are_compared_one_by_one(numpy: Any) -> None:
    def make(sign: int = 1) -> Any:
        return numpy.array([{"a": sign * number} for number in range(1500)], dtype=object)

    assert differences(make(), make()) == []
    assert differences(make(), pickle.loads(pickle.dumps(make()))) == []
    assert paths(make(), make(-1))[0] == "$[1].a"
    padded = numpy.zeros(1500, dtype=numpy.longdouble)
    assert differences(padded, pickle.loads(pickle.dumps(padded))) == []


@pytest.fixture(scope="module")
def pandas() -> Any:
    return pytest.importorskip("pandas")


@pytest.mark.large
@pytest.mark.parametrize(
    "make",
    [
        lambda pd: pd.DataFrame({"a": [1, 2], "b": ["x", None]}, index=pd.Index([3, 4], name="k")),
        lambda pd: pd.DataFrame({"a": [1]}, index=pd.MultiIndex.from_tuples([(1, "a")])),
        lambda pd: pd.Series([1.0, None], name="n"),
        lambda pd: pd.Series(["a", "b"], dtype="category"),
        lambda pd: pd.MultiIndex.from_tuples([(1, "a")], names=["x", "y"]),
        lambda pd: pd.date_range("2026-01-01", periods=2, tz="UTC"),
        lambda pd: pd.Timestamp("2026-01-01", tz="Europe/Berlin"),
        lambda pd: pd.Timedelta(1, "ns"),
        lambda pd: pd.Period("2026-01"),
        lambda pd: pd.array([1, None]),
        lambda pd: pd.NaT,
        lambda pd: pd.NA,
    ],
)
def test_pandas_values_are_equal_each_time_and_after_loading(pandas: Any, make: Any) -> None:
    assert differences(make(pandas), make(pandas)) == []
    assert differences(make(pandas), pickle.loads(pickle.dumps(make(pandas)))) == []


@pytest.mark.large
@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (lambda pd: pd.DataFrame({"a": [1]}), lambda pd: pd.DataFrame({"a": [2]})),
        (lambda pd: pd.DataFrame({"a": [1]}), lambda pd: pd.DataFrame({"b": [1]})),
        (lambda pd: pd.DataFrame({"a": [1]}), lambda pd: pd.DataFrame({"a": [1.0]})),
        (lambda pd: pd.DataFrame({"a": [1]}), lambda pd: pd.DataFrame({"a": [1]}, index=[5])),
        (
            lambda pd: pd.DataFrame({"a": [1]}).rename_axis("k"),
            lambda pd: pd.DataFrame({"a": [1]}),
        ),
        (lambda pd: pd.DataFrame({"a": [1]}), lambda _: {"a": [1]}),
        (lambda pd: pd.Series([1], name="a"), lambda pd: pd.Series([1], name="b")),
        (
            lambda pd: pd.Series(pd.Categorical(["a"])),
            lambda pd: pd.Series(pd.Categorical(["a"], categories=["a", "b"])),
        ),
        (lambda pd: pd.Timestamp(1), lambda pd: pd.Timestamp(2)),
        (lambda pd: pd.Timestamp(0), lambda _: dt.datetime.fromtimestamp(0, UTC)),
        (lambda pd: pd.Timedelta(1, "ns"), lambda pd: pd.Timedelta(2, "ns")),
        (lambda pd: pd.Period("2026-01"), lambda pd: pd.Period("2026-02")),
        (lambda pd: pd.NaT, lambda _: None),
        (lambda pd: pd.NaT, lambda pd: pd.Timestamp(0)),
        (lambda pd: pd.NA, lambda _: None),
    ],
)
def test_other_pandas_values_are_told_apart(pandas: Any, expected: Any, got: Any) -> None:
    assert differences(expected(pandas), got(pandas))


@pytest.mark.large
@pytest.mark.parametrize(
    ("module", "make"),
    [
        ("pytz", lambda pytz: pytz.utc),
        ("dateutil.tz", lambda tz: tz.tzutc()),
        ("dateutil.tz", lambda tz: tz.gettz("UTC")),
        ("pendulum", lambda pendulum: pendulum.UTC),
    ],
)
def test_utc_of_every_library_is_utc(module: str, make: Any) -> None:
    zone = make(pytest.importorskip(module))
    assert differences(NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=zone)) == []


@pytest.mark.large
@pytest.mark.parametrize(
    ("module", "make"),
    [
        ("pytz", lambda pytz: pytz.FixedOffset(60)),
        ("dateutil.tz", lambda tz: tz.tzoffset(None, 3600)),
        ("pendulum", lambda pendulum: pendulum.FixedTimezone(3600)),
    ],
)
def test_an_offset_of_every_library_is_that_offset(module: str, make: Any) -> None:
    zone = make(pytest.importorskip(module))
    hour, two = (dt.timezone(dt.timedelta(hours=hours)) for hours in (1, 2))
    assert differences(NOON.replace(tzinfo=hour), NOON.replace(tzinfo=zone)) == []
    assert differences(NOON.replace(tzinfo=two), NOON.replace(tzinfo=zone))


@pytest.mark.large
@pytest.mark.parametrize(
    ("module", "make"),
    [
        ("pytz", lambda pytz: pytz.timezone("Europe/Berlin")),
        ("dateutil.tz", lambda tz: tz.gettz("Europe/Berlin")),
        ("pendulum", lambda pendulum: pendulum.timezone("Europe/Berlin")),
    ],
)
def test_a_named_zone_that_became_its_offset_is_found(module: str, make: Any) -> None:
    zone = make(pytest.importorskip(module))
    if zone is None:
        pytest.skip("there is no database of zones here")
    hour = dt.timezone(dt.timedelta(hours=1))
    assert differences(NOON.replace(tzinfo=zone), NOON.replace(tzinfo=hour))


@pytest.mark.large
def test_pendulum_and_arrow_times_are_equal_after_loading() -> None:
    pendulum, arrow = pytest.importorskip("pendulum"), pytest.importorskip("arrow")
    for value in (
        pendulum.datetime(2026, 1, 1, tz="Europe/Berlin"),
        pendulum.duration(days=1, hours=2),
        arrow.get(2026, 1, 1, tzinfo="Europe/Berlin"),
    ):
        assert differences(value, pickle.loads(pickle.dumps(value))) == []
    assert differences(pendulum.duration(months=1), pendulum.duration(days=30))
    assert differences(pendulum.datetime(2026, 1, 1), pendulum.datetime(2026, 1, 2))
    assert differences(arrow.get(2026, 1, 1), arrow.get(2026, 1, 2))


def test_urls_of_yarl_are_compared_whatever_was_worked_out_before() -> None:
    yarl = pytest.importorskip("yarl")
    used = yarl.URL("http://a/b?c=1")
    assert (used.host, str(used)) == ("a", "http://a/b?c=1")
    assert differences(yarl.URL("http://a/b?c=1"), used) == []
    assert differences(yarl.URL("http://a/b?c=1"), yarl.URL("http://a/b?c=2"))
