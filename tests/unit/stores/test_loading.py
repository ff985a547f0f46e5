"""Adapters: found by name, checked, and refused in one clear sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memory_matrix.errors import UsageError
from memory_matrix.stores import protocol
from memory_matrix.stores.calls import CALLS
from memory_matrix.stores.loading import check, load_store, unique_names
from memory_matrix.stores.policy import Policy, as_policy
from support.tables import table


class Plain:
    policy = Policy()
    needs = ("redis",)

    def open(self, env: Any) -> None: ...
    def append(self, store: Any, scope: Any, messages: Any, *, write_id: Any = None) -> None: ...
    def read(self, store: Any, scope: Any, **options: Any) -> list[Any]:
        return []


class Async(Plain):
    async def read(self, store: Any, scope: Any) -> list[Any]:  # type: ignore[override]
        return []


def test_a_plain_adapter_and_what_it_offers() -> None:
    store = check(Plain(), "app.py:Plain")

    assert (store.name, store.source, store.needs) == ("Plain", "app.py:Plain", ("redis",))
    assert not store.is_async
    assert store.offers("append", "write_id")
    assert not store.offers("append", "ttl")
    assert store.offers("read", "limit", "anything")
    assert not store.offers("pop")
    assert store.part("conversation")
    assert not store.part("records")


def test_one_async_call_makes_an_adapter_async() -> None:
    assert check(Async(), "app.py:Async").is_async


@table(
    ("changes", "said"),
    [
        ({"policy": None}, "its policy is a NoneType"),
        ({"policy": {"null": "keep"}}, "there is no policy 'null'. Did you mean 'nul'?"),
        ({"policy": {"nul": "maybe"}}, "policy nul is 'maybe'; it should be 'keep' or 'clean'"),
        ({"policy": {"filters": ["like"]}}, "policy filters is ['like']; it should be some of eq"),
        ({"policy": {"filters": "eq"}}, "policy filters is 'eq'"),
        ({"policy": {"wait": "long"}}, "policy wait is 'long'; it should be a number"),
        ({"policy": {"wait": -1}}, "policy wait is -1"),
        ({"policy": {"value_kinds": {"uuid": "yes"}}}, "policy value_kinds is"),
        ({"policy": {"default_limit": "x"}}, "policy default_limit is 'x'"),
        (
            {"policy": {"default_limit": {"get": 2}}},
            "a mapping of read, list_sessions, list_records",
        ),
        ({"policy": {"null_exists": 1}}, "policy null_exists is 1; it should be True or False"),
        ({"needs": ()}, "needs is ()"),
        ({"needs": ("mongo",)}, "needs is ('mongo',)"),
        ({"read": None}, "has `append` but no `read`"),
        ({"read": None, "append": None}, "neither append and read, nor put and get"),
        ({"put": lambda *_: None}, "has `put` but no `get`"),
        ({"close": 5}, "the adapter's `close` is 5; it should be a function, close(store)"),
        ({"read": lambda _: []}, "`read` cannot be called as read(store, scope)"),
        ({"pop": lambda _, __, must: must}, "missing a required argument: 'must'"),
    ],
)
def test_what_is_wrong_with_an_adapter_is_one_sentence(changes: dict[str, Any], said: str) -> None:
    adapter = Plain()
    for name, value in changes.items():
        setattr(adapter, name, value)

    with pytest.raises(UsageError) as raised:
        check(adapter, "app.py:adapter")

    assert said in str(raised.value)
    assert str(raised.value).startswith("app.py:adapter")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("lacks", ["policy", "needs", "open"])
def test_an_adapter_lacks_what_every_one_has(lacks: str) -> None:
    names = {"policy": {}, "needs": ("redis",), "open": print, "append": print, "read": print}
    adapter = SimpleNamespace(**{key: value for key, value in names.items() if key != lacks})

    with pytest.raises(UsageError, match=f"no `{lacks}`"):
        check(adapter, "app.py:adapter")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of modules, forgotten afterwards."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return tmp_path


ADAPTER = """
class Adapter:
    policy = {}
    needs = "redis"
    def open(self, env): ...
    def append(self, store, scope, messages): ...
    def read(self, store, scope): ...

class Store:
    memory_adapter = Adapter

adapter = Adapter()
"""


@pytest.mark.parametrize("name", ["Adapter", "adapter", "Store", "Store.memory_adapter"])
@pytest.mark.parametrize("source", ["loaded_store.py", "loaded_store"])
def test_a_store_is_named_by_file_or_by_module(folder: Path, source: str, name: str) -> None:
    (folder / "loaded_store.py").write_text(ADAPTER)

    store = load_store(f"{source}:{name}", folder)

    assert store.needs == ("redis",)
    assert store.source == f"{source}:{name}"


UNTOLD = """
class Error(Exception):
    def __str__(self): raise SystemExit(3)
raise Error
"""


@table(
    ("source", "said"),
    [
        ("nothing", "names no store: write module:object"),
        (":x", "names no store"),
        ("x:", "names no store"),
        ("nowhere.py:x", "there is no file"),
        ("no_such_module:x", "cannot be imported: ModuleNotFoundError"),
        ("loaded_store.py:nothing", "has no 'nothing'"),
        ("broken_store.py:x", "cannot be imported: ZeroDivisionError: division by zero"),
        ("exiting_store.py:x", "cannot be imported: SystemExit"),
        ("leaving_store.py:x", "cannot be imported: GeneratorExit (line 1)."),
        (
            "undeclared_store.py:x",
            "unexpected keyword argument 'null' (line 2). Did you mean 'nul'?",
        ),
        ("untold_store.py:x", "cannot be imported: Error: (its text cannot be had: SystemExit)"),
    ],
)
def test_a_store_that_is_not_there_is_one_sentence(folder: Path, source: str, said: str) -> None:
    (folder / "loaded_store.py").write_text(ADAPTER)
    (folder / "broken_store.py").write_text("1 / 0")
    (folder / "exiting_store.py").write_text("raise SystemExit(3)")
    (folder / "leaving_store.py").write_text("raise GeneratorExit")
    (folder / "undeclared_store.py").write_text(
        "from memory_matrix.stores import Policy\nPolicy(null='keep')"
    )
    (folder / "untold_store.py").write_text(UNTOLD)

    with pytest.raises(UsageError) as raised:
        load_store(source, folder)

    assert said in str(raised.value)


def test_stores_of_one_name_go_by_their_whole_names() -> None:
    stores = unique_names([check(Plain(), source) for source in ("a.py:X", "b.py:X", "c.py:Y")])

    assert [store.name for store in stores] == ["a.py:X", "b.py:X", "Y"]


def test_a_policy_shows_every_answer_as_text() -> None:
    lines = as_policy({"nul": "keep", "filters": ["eq", "in"]}, "store").lines()

    assert lines["nul"] == "keep"
    assert lines["filters"] == "eq, in"
    assert set(lines) == set(Policy().lines())
    assert all(isinstance(text, str) and text for text in lines.values())


def test_a_call_with_a_slip_in_its_name_is_not_taken_for_one_that_is_not_offered() -> None:
    class Slipped(Plain):
        def list_session(self, store: Any, scope: Any) -> None: ...

    with pytest.raises(
        UsageError, match=r"has `list_session`, which .* Did you mean `list_sessions`"
    ):
        check(Slipped(), "app.py:Slipped")


def test_a_helper_of_the_adapters_own_is_no_slip() -> None:
    class Helped(Plain):
        def get_client(self) -> None: ...
        def reader(self) -> None: ...

    assert check(Helped(), "app.py:Helped").part("conversation")


def test_every_call_is_explained_where_adapters_are_written() -> None:
    page = Path(__file__).parents[3] / "docs" / "your-store.md"

    for text in (page.read_text(encoding="utf-8"), protocol.__doc__ or ""):
        assert [name for name in CALLS if f"{name}(" not in text] == []


LIBRARIES = ("redis", "psycopg", "psycopg_pool")
STORE = """
{top}
class Store:
    policy, needs = {{}}, {needs}
    def open(self, env): ...
    def append(self, store, scope, messages): ...
    def read(self, store, scope): return []
"""


@pytest.fixture
def beside(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Load a store with files beside it, where no library is loaded yet; all is as before then."""
    path, modules = sys.path.copy(), dict(sys.modules)
    for name in modules:
        if name.partition(".")[0] in LIBRARIES:
            del sys.modules[name]

    def load(*files: str, needs: tuple[str, ...] = ("redis",), top: str = "") -> Any:
        for file in files:
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).write_text("")
        (tmp_path / "shadowed_store.py").write_text(STORE.format(top=top, needs=needs))
        return load_store("shadowed_store.py:Store", tmp_path)

    yield load
    sys.path[:] = path
    for name in sys.modules.keys() - modules.keys():
        del sys.modules[name]
    sys.modules.update(modules)


@pytest.mark.parametrize(
    ("file", "needs", "top"),
    [
        ("redis.py", ("redis",), ""),
        ("redis/__init__.py", ("redis",), ""),
        ("psycopg.py", ("postgres",), ""),
        ("psycopg_pool.py", ("postgres", "redis"), ""),
        ("redis.py", ("redis",), "from redis import Redis"),
        ("redis.py", ("redis",), "import redis.asyncio"),
        ("redis/__init__.py", ("redis",), "import redis\nredis.Redis"),
    ],
)
def test_a_file_that_hides_a_library_is_named(
    file: str, needs: tuple[str, ...], top: str, beside: Callable[..., Any], tmp_path: Path
) -> None:
    shadow = tmp_path / file.removesuffix("/__init__.py")
    with pytest.raises(UsageError) as caught:
        beside(file, needs=needs, top=top)

    said = str(caught.value)
    assert f"{shadow} is what `import {shadow.stem}` finds here" in said
    assert said.endswith("rename it.")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("files", "needs"),
    [
        (("redis/redis.conf",), ("redis",)),
        (("redis/__init__.py", "redis/exceptions.py"), ("redis",)),
        (("psycopg.py",), ("redis",)),
        (("redis.py",), ("postgres",)),
        (("redis_keys.py",), ("redis",)),
    ],
)
def test_what_hides_no_library_that_the_store_needs_is_no_matter(
    files: tuple[str, ...], needs: tuple[str, ...], beside: Callable[..., Any]
) -> None:
    assert beside(*files, needs=needs).needs == needs


def test_what_else_a_store_cannot_import_is_not_blamed_on_it(beside: Callable[..., Any]) -> None:
    with pytest.raises(UsageError, match=r"No module named 'absent_library' \(line 2\)\.$"):
        beside("redis.py", top="import absent_library")
