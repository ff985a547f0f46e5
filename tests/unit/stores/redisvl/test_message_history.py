"""The adapter's own part: one history for each session, the library's clock, and plain roles."""

from __future__ import annotations

import datetime as dt
import enum
import sys
from types import ModuleType
from typing import Any

import pytest

from memory_matrix.stores.adapting.histories import OpenedHistories
from memory_matrix.stores.protocol import Message, NotOffered, Scope, StoreEnv
from memory_matrix.stores.redisvl import MessageHistory

NOON = dt.datetime(2030, 1, 1, 12, tzinfo=dt.timezone.utc)


class Role(str, enum.Enum):
    USER = "user"


class History:
    """Stands for the library's."""

    def __init__(self, name: str, *, session_tag: str, redis_client: Any) -> None:
        self.made_of = (name, session_tag, redis_client)
        self.messages: list[dict[str, Any]] = []

    def add_messages(self, messages: list[dict[str, Any]]) -> None:
        self.messages += [{**each, "role": Role(each["role"])} for each in messages]


class CountingHistory(History):
    def count(self) -> int:
        return len(self.messages)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The library's module; its clock is in `schema`."""
    root = "redisvl.extensions.message_history"
    modules = {name: ModuleType(name) for name in (root, f"{root}.schema", "redisvl.exceptions")}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    modules["redisvl.exceptions"].__dict__["RedisVLError"] = RuntimeError
    modules[root].__dict__["MessageHistory"] = History
    modules[root].__dict__["schema"] = modules[f"{root}.schema"]
    modules[f"{root}.schema"].__dict__["current_timestamp"] = lambda: 1.0
    return modules[root]


@pytest.fixture
def store(library: ModuleType) -> OpenedHistories:
    return MessageHistory().open_with(StoreEnv(prefix="mine:"), "a client")


def test_a_session_has_one_history_object(store: OpenedHistories) -> None:
    adapter = MessageHistory()
    for session in ("one", "other", "one"):
        adapter.append(store, Scope(session), [Message("user", "hello")])
    made = [each.made_of for each in store.histories.values()]
    assert made == [("mine:history", name, "a client") for name in ("one", "other")]
    assert len(adapter.read(store, Scope("one"))) == 2


def test_roles_come_back_as_plain_text(store: OpenedHistories) -> None:
    given = Message("user", "hello", metadata={"a": 1})
    MessageHistory().append(store, Scope(), [given])
    (message,) = MessageHistory().read(store, Scope())
    assert message == given
    assert type(message.role) is str


@pytest.mark.parametrize(("history", "counts"), [(History, False), (CountingHistory, True)])
def test_a_count_is_offered_where_the_release_has_it(
    history: type[History], counts: bool, library: ModuleType
) -> None:
    library.__dict__["MessageHistory"] = history
    assert (MessageHistory().count is not None) == counts


def test_the_library_has_its_own_clock_again_once_the_store_is_closed(
    store: OpenedHistories, library: ModuleType
) -> None:
    adapter = MessageHistory()
    for _ in range(2):
        adapter.store_clock(store, lambda: NOON)
        assert library.schema.current_timestamp() == NOON.timestamp()
    adapter.close(store)
    assert library.schema.current_timestamp() == 1.0
    with pytest.raises(NotOffered):
        adapter.close(store)
