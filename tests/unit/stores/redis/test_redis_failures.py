"""What redis-py raises comes out as a store's error, with one sentence; what can pass is tried again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from redis import exceptions as raised
from redis._parsers.base import BaseParser
from redis.sentinel import MasterNotFoundError

from memory_matrix.stores import Compare, Message, Record, Scope
from memory_matrix.stores import errors as stores
from memory_matrix.stores.redis import AsyncRedisStore, RedisStore, failures
from memory_matrix.stores.redis.failures import FAILURES, as_store_error
from support.tables import table

SCOPE = Scope()
SCRIPT = "Error running script (call to f_0a): @user_script:12: "


def said_by_server(text: str) -> Exception:
    """Return what redis-py makes of an error that a server sends."""
    error: Exception = BaseParser.parse_error(text)
    return error


@table(
    ("error", "kind", "words"),
    [
        (
            raised.ConnectionError("Error 111 connecting to h:1. refused."),
            stores.UnreachableError,
            "reached",
        ),
        (ConnectionResetError(104, "reset"), stores.UnreachableError, "reached"),
        (raised.TimeoutError("Timeout reading"), stores.WaitError, "no answer"),
        (asyncio.TimeoutError(), stores.WaitError, "no answer"),
        (raised.ConnectionError("No connection available."), stores.WaitError, "pool"),
        (raised.MaxConnectionsError("Too many connections"), stores.WaitError, "pool"),
        (
            said_by_server("LOADING Redis is loading the dataset"),
            stores.UnreachableError,
            "loading",
        ),
        (
            said_by_server("READONLY You can't write against a read only replica."),
            stores.ReadOnlyError,
            "primary",
        ),
        (said_by_server(f"ERR {SCRIPT}-READONLY You can't write"), stores.ReadOnlyError, "primary"),
        (
            said_by_server("OOM command not allowed when used memory > 'maxmemory'."),
            stores.FullError,
            "memory",
        ),
        (said_by_server(f"ERR {SCRIPT}-OOM command not allowed when"), stores.FullError, "memory"),
        (said_by_server("MISCONF Redis is configured to save RDB"), stores.ReadOnlyError, "disk"),
        (
            said_by_server("NOREPLICAS Not enough good replicas to write."),
            stores.ReadOnlyError,
            "replicas",
        ),
        (said_by_server("WRONGTYPE Operation against a key"), stores.ServerError, "something else"),
        (
            said_by_server(f"ERR {SCRIPT}-WRONGTYPE Operation against a key"),
            stores.ServerError,
            "something else",
        ),
        (said_by_server("NOPERM this user has no permissions to run"), stores.RightsError, "right"),
        (
            said_by_server("WRONGPASS invalid username-password pair"),
            stores.RightsError,
            "password",
        ),
        (said_by_server("NOAUTH Authentication required."), stores.RightsError, "password"),
        (said_by_server("MOVED 866 127.0.0.1:7002"), stores.ServerError, "cluster client"),
        (said_by_server("ASK 866 127.0.0.1:7002"), stores.ServerError, "cluster client"),
        (
            said_by_server("CROSSSLOT Keys in request don't hash to the same slot"),
            stores.ServerError,
            "different slots",
        ),
        (
            said_by_server(f"ERR {SCRIPT}-CROSSSLOT Keys in request don't hash to the same slot"),
            stores.ServerError,
            "different slots",
        ),
        (
            raised.RedisClusterException("EVALSHA - all keys must map to the same key slot"),
            stores.ServerError,
            "different slots",
        ),
        (
            raised.RedisClusterException(
                "Redis Cluster cannot be connected. Please provide at least one reachable node: "
                "Cluster mode is not enabled on this node"
            ),
            stores.ServerError,
            "no cluster",
        ),
        (
            said_by_server("ERR This instance has cluster support disabled"),
            stores.ServerError,
            "no cluster",
        ),
        (
            raised.SlotNotCoveredError('Slot "1" not covered by the cluster.'),
            stores.UnreachableError,
            "all its slots",
        ),
        (
            raised.RedisClusterException("All slots are not covered after query all nodes"),
            stores.UnreachableError,
            "all its slots",
        ),
        (
            raised.RedisClusterException("Invalid args in command: ('EVALSHA',)"),
            stores.ServerError,
            "Invalid args",
        ),
        (
            said_by_server("CLUSTERDOWN The cluster is down"),
            stores.UnreachableError,
            "all its slots",
        ),
        (
            said_by_server("TRYAGAIN Multiple keys request during rehashing"),
            stores.UnreachableError,
            "all its slots",
        ),
        (said_by_server("BUSY Redis is busy running a script."), stores.UnreachableError, "script"),
        (
            raised.RedisClusterException("Redis Cluster cannot be connected."),
            stores.UnreachableError,
            "all its slots",
        ),
        (
            MasterNotFoundError("No master found for 'mymaster'"),
            stores.UnreachableError,
            "sentinels",
        ),
        (said_by_server("ERR unknown command 'EVALSHA'"), stores.ServerError, "refused"),
        (raised.DataError("Invalid input"), stores.ServerError, "refused"),
    ],
)
def test_each_failure_has_a_sentence_of_its_own(error: Exception, kind: Any, words: str) -> None:
    assert isinstance(error, FAILURES)
    found = as_store_error(error, "append")
    assert type(found) is kind
    assert words in str(found)
    assert str(found).startswith("append: ")
    assert str(found).endswith(").")
    assert "\n" not in str(found)


class Failing:
    """A client whose first calls fail."""

    def __init__(self, client: Any, *failures: Exception) -> None:
        self.client = client
        self.failures = list(failures)
        self.calls = 0

    def execute_command(self, *arguments: Any, **options: Any) -> Any:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        return self.client.execute_command(*arguments, **options)


class AsyncFailing(Failing):
    async def execute_command(self, *arguments: Any, **options: Any) -> Any:
        return super().execute_command(*arguments, **options)


@pytest.fixture(params=["plain", "asyncio"])
def failing(request: pytest.FixtureRequest, client: Any) -> Any:
    """Append one message through a client that fails; returns the client, and what was raised."""

    def run(*failures: Exception) -> tuple[Failing, BaseException | None]:
        made = (Failing if request.param == "plain" else AsyncFailing)(client, *failures)
        try:
            if isinstance(made, AsyncFailing):
                asyncio.run(AsyncRedisStore(made).append(SCOPE, [Message("user", "x")]))
            else:
                RedisStore(made).append(SCOPE, [Message("user", "x")])
        except stores.StoreError as error:
            return made, error
        return made, None

    return run


@pytest.fixture
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "PAUSES", (0.0,) * len(failures.PAUSES))


@pytest.mark.parametrize(
    "error",
    [
        raised.ConnectionError("Connection closed by server."),
        raised.BusyLoadingError("Redis is loading"),
        raised.ClusterDownError("CLUSTERDOWN The cluster is down"),
        ConnectionResetError(),
    ],
)
@pytest.mark.usefixtures("without_pauses")
def test_what_passes_is_tried_again(failing: Any, client: Any, error: Exception) -> None:
    made, raised_error = failing(error, error)

    assert raised_error is None
    assert RedisStore(client).count(SCOPE) == 1
    assert made.failures == []


@table(
    "error",
    [
        raised.TimeoutError("Timeout reading from socket"),
        raised.AuthenticationError("invalid password"),
        raised.ConnectionError("No connection available."),
        raised.ReadOnlyError("You can't write"),
        raised.OutOfMemoryError("used memory > 'maxmemory'"),
    ],
)
def test_what_stays_is_raised_at_once(failing: Any, client: Any, error: Exception) -> None:
    made, raised_error = failing(error)

    assert isinstance(raised_error, stores.StoreError)
    assert raised_error.__cause__ is error
    assert made.calls == 1


@pytest.mark.usefixtures("without_pauses")
def test_tries_come_to_an_end(failing: Any) -> None:
    made, raised_error = failing(*[raised.ConnectionError("refused")] * 9)

    assert isinstance(raised_error, stores.UnreachableError)
    assert made.calls == 4


def test_a_deletion_whose_count_would_be_wrong_is_not_sent_again(client: Any) -> None:
    store = RedisStore(client)
    call = next(store.parts.records._delete(SCOPE, [b"a", b""], repeatable=False))
    made = Failing(client, raised.ConnectionError("Connection closed by server."))

    def plan() -> Any:
        yield call

    with pytest.raises(stores.UnreachableError):
        RedisStore(made).link.run(plan())
    assert made.calls == 1


def test_a_closed_store_says_so(open_store: Any, client: Any) -> None:
    store = open_store()
    store.close()
    store.close()

    with pytest.raises(stores.ClosedError, match="was closed"):
        store.read(SCOPE)
    assert client.ping()


def test_a_client_of_another_event_loop_is_refused_clearly(client: Any) -> None:
    store = AsyncRedisStore(AsyncFailing(client))
    loops = [asyncio.new_event_loop() for _ in range(2)]
    try:
        loops[0].run_until_complete(store.append(SCOPE, [Message("user", "x")]))
        with pytest.raises(stores.StoreError, match="another event loop"):
            loops[1].run_until_complete(store.read(SCOPE))
    finally:
        for loop in loops:
            loop.close()


WRITES: dict[str, Any] = {
    "append": lambda store: store.append(SCOPE, [Message("user", "new")], write_id="w"),
    "replace": lambda store: store.replace(SCOPE, [Message("user", "new")]),
    "pop": lambda store: store.pop(SCOPE),
    "delete_message": lambda store: store.delete_message(SCOPE, "a"),
    "clear": lambda store: store.clear(SCOPE),
    "set_state": lambda store: store.set_state(SCOPE, {"new": 1}),
    "user state": lambda store: store.set_state(SCOPE, {"new": 1}, level="user"),
    "put_many": lambda store: store.put_many(SCOPE, [Record("b"), Record("a")], ttl=9),
    "update": lambda store: store.update(SCOPE, "a", text="new", metadata={"n": 1}, ttl=9),
    "delete": lambda store: store.delete(SCOPE, "a"),
    "delete_where": lambda store: store.delete_where(SCOPE, Compare("exists", "n", False)),
    "delete_all": lambda store: store.delete_all(SCOPE),
}


@pytest.mark.parametrize(
    "open_store", ["plain", pytest.param("asyncio", marks=pytest.mark.large)], indirect=True
)
@pytest.mark.parametrize("name", WRITES)
def test_a_key_that_holds_something_else_stops_a_write_before_it_begins(
    open_store: Any, client: Any, name: str
) -> None:
    store, stopped = open_store(ttl=99), 0
    store.append(SCOPE, [Message("user", "old", "a")], write_id="v")
    store.set_state(SCOPE, {"old": 1})
    store.set_state(SCOPE, {"old": 1}, level="user")
    store.put(SCOPE, Record("a", "old"), ttl=99)
    whole = everything(client)
    for key in whole:
        client.set(key, "something else")
        error = problem(lambda: WRITES[name](store))
        if error is None:
            client.flushall()
            put_back(client, whole)
            continue
        stopped += 1
        assert "holds something else" in str(error)
        assert everything(client) == {**whole, key: (client.dump(key), -1)}
        put_back(client, {key: whole[key]})
    assert stopped > 0


def problem(call: Any) -> stores.StoreError | None:
    try:
        call()
    except stores.StoreError as error:
        return error
    return None


def everything(client: Any) -> dict[bytes, tuple[bytes, int]]:
    """Return what a server holds, and when it expires."""
    keys = list(client.scan_iter())
    pipeline = client.pipeline(transaction=False)
    for key in keys:
        pipeline.dump(key).pexpiretime(key)
    found = pipeline.execute()
    return dict(zip(keys, zip(found[::2], found[1::2], strict=True), strict=True))


def put_back(client: Any, held: dict[bytes, tuple[bytes, int]]) -> None:
    """Make a server hold that again."""
    pipeline = client.pipeline(transaction=False)
    for key, (value, expires) in held.items():
        pipeline.restore(key, 0, value, replace=True)
        if expires > 0:
            pipeline.pexpireat(key, expires)
    pipeline.execute()


def test_a_store_that_is_closed_meanwhile_tries_no_more(client: Any) -> None:
    class Closing(Failing):
        def execute_command(self, *arguments: Any, **options: Any) -> Any:
            store.close()
            return super().execute_command(*arguments, **options)

    made = Closing(client, raised.ConnectionError("Connection closed by server."))
    store = RedisStore(made)
    with pytest.raises(stores.UnreachableError):
        store.append(SCOPE, [Message("user", "x")])
    assert made.calls == 1
