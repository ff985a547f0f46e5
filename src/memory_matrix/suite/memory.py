"""The driver: what a case of the suite says to a store, whatever the adapter's own manner.

A case calls the driver as the store protocol reads, without the store: `memory.append(scope, messages)`.
A call that the adapter lacks ends the case as not offered. What the store raises passes through, unless a
case asks whether it was refused (`attempt`, `refused`).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, NoReturn, TypeVar, cast

from memory_matrix.stores.loading import StoreUnderTest
from memory_matrix.stores.policy import Policy, default_limit_of
from memory_matrix.stores.protocol import (
    Filter,
    Level,
    Message,
    Page,
    RawRow,
    Record,
    Scope,
    StoreEnv,
)
from memory_matrix.suite.calling import Caller, Done, together
from memory_matrix.suite.embedding import as_text
from memory_matrix.suite.faults import FaultyServer
from memory_matrix.suite.leftovers import MOMENT
from memory_matrix.suite.logs import of_this_call
from memory_matrix.suite.outcomes import CaseFailed, CaseSkipped, HarnessError, NotOffered
from memory_matrix.suite.proxies import Proxy, targets_of, through
from memory_matrix.suite.site import Site, close_own, env_changes, env_of, new_site, own_server

T = TypeVar("T")

_OF_RECORDS = (
    *("put", "put_many", "get", "update", "delete", "delete_where", "delete_all"),
    *("list_records", "search"),
)

_READING = (
    *("read", "pop", "count", "list_sessions", "get", "list_records", "list_namespaces", "search"),
    "get_state",
)
_MORE_THAN_ANY = 100_000
"""More entries than any case writes."""

DEFAULT_REFUSALS = (ValueError, TypeError, LookupError)
"""What counts as refused for an adapter that names no `refusals` of its own."""


@dataclass(frozen=True)
class Attempt(Generic[T]):
    """A call that may be refused: its value, or the refusal."""

    value: T | None
    refusal: Exception | None

    @property
    def refused(self) -> bool:
        """Whether the store refused."""
        return self.refusal is not None


class Memory:
    """One store object, opened on a place of its own, with what a case needs around it."""

    def __init__(
        self,
        store: StoreUnderTest,
        env: StoreEnv,
        site: Site,
        *,
        client: Any = None,
        caller: Caller | None = None,
    ) -> None:
        self.tested = store
        self.adapter = store.adapter
        self.judged_by: dict[str, None] = {}
        """The names of the policy's answers that the case has asked for."""
        self.env = env
        self.site = site
        self._client = client
        self._caller = caller or Caller(is_async=store.is_async)
        self._owns_caller = caller is None
        self.logged: Sequence[str] = ()
        """The errors that were written to the log since the case began."""
        self._others = ExitStack()
        self._company: list[Memory] = []
        self._opened: list[Any] = []
        self._closed = False
        self._clean_closing = True

    # ---- the store object -------------------------------------------------------------------

    @property
    def store(self) -> Any:
        """The adapter's store object; opened, with its tables made, when it is first asked for."""
        if not self._opened:
            self.open()
            self.setup()
        return self._opened[-1]

    def open(self) -> Any:
        """Open the store without making its tables."""
        if self._client is None:
            opened = self._call(self.adapter.open, self.env)
        else:
            self.require("open_with")
            opened = self._call(self.adapter.open_with, self.env, self._client)
        self._opened.append(opened)
        return opened

    def setup(self) -> None:
        """Make the store's tables and indexes, where the adapter has a call for it."""
        if self.offers("setup"):
            self._call(self.adapter.setup, self._opened[-1] if self._opened else self.open())

    def close(self) -> None:
        """Close the store object, as an application would."""
        if self._opened and self.offers("close"):
            self._call(self.adapter.close, self._opened[-1])
        self._closed = True

    def another(self, *, client: Any = None, **changes: Any) -> Memory:
        """Return a second store object, opened with the same env, as another process has it.

        `changes` replace parts of the env, such as `prefix=`, `ttl=`, `dimensions=`, `pool_size=`.
        On a `client` it runs on this object's event loop, to which an async client belongs.
        """
        env = replace(self.env, **changes)
        caller = None if client is None else self._caller
        other = Memory(self.tested, env, self.site, client=client, caller=caller)
        if not self._clean_closing:
            other.expect_broken()
        return self._accompanied_by(other)

    def next_door(self) -> Memory:
        """Return a store object in another schema, or another database, of the same Postgres."""
        self.require_kind("postgres")
        site = new_site(self.site.facilities, self.tested)
        env = env_of(site, **_kept(self.env), prefix=self.env.prefix)
        other = Memory(self.tested, env, site)
        self._others.callback(site.close)
        return self._accompanied_by(other)

    def twin(self) -> Memory:
        """Return a store object of the adapter's twin (async for plain, plain for async) on the same env."""
        if getattr(self.adapter, "twin", None) is None:
            self.not_offered("the adapter names no twin")
        from memory_matrix.stores.loading import check

        twin = self.adapter.twin
        checked = check(twin() if isinstance(twin, type) else twin, f"{self.tested.source} (twin)")
        return self._accompanied_by(Memory(checked, self.env, self.site))

    def on_own_server(
        self,
        kind: Literal["postgres", "redis"],
        *,
        topology: Literal["single", "sentinel", "cluster"] = "single",
        settings: Mapping[str, str] | None = None,
        **changes: Any,
    ) -> tuple[Memory, FaultyServer]:
        """Return a store object on a server that is this case's own, and what can be done to that server.

        What the case may break needs one: restarts, pauses, read-only modes, full memory. `settings`
        are the server's own, such as `{"appendonly": "yes"}`; `changes` replace parts of the env.
        """
        self.require_kind(kind)
        site, server = own_server(self.site, kind, topology, settings or {})
        self._others.callback(server.close)
        self._others.callback(close_own, site, kind)
        settled = env_of(site, **{**_kept(self.env), **env_changes(server, topology), **changes})
        other = Memory(self.tested, settled, site)
        other.expect_broken()
        return self._accompanied_by(other), server

    def behind_proxy(self, **changes: Any) -> tuple[Memory, Proxy]:
        """Return a second store object that reaches the servers through a proxy, and that proxy.

        What can be done to the connections themselves needs one: no reply, a lost one, no server at all.
        `changes` replace parts of the env.
        """
        urls = (self.env.postgres_dsn, self.env.redis_url)
        proxy = Proxy(targets_of(*urls))
        self._others.callback(proxy.close)
        dsn, redis_url = (through(proxy, url) for url in urls)
        other = self.another(**{"postgres_dsn": dsn, "redis_url": redis_url, **changes})
        other.expect_broken()
        return other, proxy

    @property
    def caller(self) -> Caller:
        """What the store's calls run on; its `loop` is None for a plain adapter."""
        return self._caller

    @property
    def is_async(self) -> bool:
        """Whether the adapter's calls have to be awaited."""
        return self.tested.is_async

    @property
    def policy(self) -> Policy:
        """What the store declares; which answers a case asks for is in `judged_by`."""
        return cast("Policy", _Asked(self.tested.policy, self.judged_by))

    # ---- what the adapter offers --------------------------------------------------------------

    def offers(self, call: str, *options: str) -> bool:
        """Return whether the adapter has `call`, with `options`."""
        return self.tested.offers(call, *options)

    def require(self, *calls: str) -> None:
        """End the case as not offered unless the adapter has all of `calls`."""
        for call in calls:
            if not self.offers(call):
                self.not_offered(f"the adapter has no `{call}`")

    def require_policy(self, **answers: Any) -> None:
        """End the case as not offered unless the policy is one of the given answers (a tuple: any of it)."""
        for name, wanted in answers.items():
            declared = getattr(self.policy, name)
            allowed = wanted if isinstance(wanted, tuple) else (wanted,)
            if declared not in allowed:
                self.not_offered(f"policy {name} is {declared}")

    def require_kind(self, kind: Literal["postgres", "redis"]) -> None:
        """End the case as not offered unless the store is on a server of `kind`."""
        if kind not in self.tested.needs:
            self.not_offered(f"the store does not use {kind}")

    def require_async(self) -> None:
        """End the case as not offered unless the adapter is async."""
        if not self.is_async:
            self.not_offered("the adapter is not async")

    def not_offered(self, reason: str) -> NoReturn:
        """End the case: the store does not claim to do this."""
        raise NotOffered(reason)

    # ---- conversation -------------------------------------------------------------------------

    def append(self, scope: Scope, messages: Sequence[Message], **options: Any) -> Any:
        """Append `messages` to the session; option `write_id`."""
        return self.call("append", scope, messages, **options)

    def say(self, scope: Scope, *texts: str) -> list[Message]:
        """Append one user message per text in one batch, and return them."""
        messages = [Message("user", text) for text in texts]
        self.append(scope, messages)
        return messages

    def read(self, scope: Scope, **options: Any) -> list[Message]:
        """Return the session's messages, all where no `limit` is given; option `after`."""
        asked = {"limit": self._enough("read"), **options}
        return list(map(_message, self.call("read", scope, **asked)))

    def read_by_default(self, scope: Scope) -> list[Message]:
        """Return as many of the session's messages as the store gives where nobody says how many."""
        return list(map(_message, self.call("read", scope)))

    def texts(self, scope: Scope, **options: Any) -> list[str]:
        """Return the texts of the session's messages."""
        return [message.text for message in self.read(scope, **options)]

    def replace(self, scope: Scope, messages: Sequence[Message]) -> Any:
        """Replace the whole history."""
        return self.call("replace", scope, messages)

    def pop(self, scope: Scope) -> Message | None:
        """Remove and return the newest message."""
        popped = self.call("pop", scope)
        return None if popped is None else _message(popped)

    def delete_message(self, scope: Scope, which: str | int) -> Any:
        """Delete a message, by id or by index as the policy says."""
        return self.call("delete_message", scope, which)

    def clear(self, scope: Scope) -> Any:
        """Delete the session."""
        return self.call("clear", scope)

    def count(self, scope: Scope) -> int:
        """Return how many messages the session has."""
        return int(self.call("count", scope))

    def list_sessions(self, scope: Scope, **options: Any) -> Page:
        """Return a page of the session ids of a user; options `limit` and `cursor`."""
        return _page(self.call("list_sessions", scope, **options))

    def all_sessions(self, scope: Scope, limit: int | None = None) -> list[str]:
        """Return the session ids of a user, from all pages."""
        limit = limit or self._enough("list_sessions")
        return list(self._all(self.list_sessions, scope, limit=limit))

    def load(self, scope: Scope) -> Any:
        """Return a handle that knows the state it was loaded at."""
        return self.call("load", scope)

    def append_with(self, handle: Any, messages: Sequence[Message]) -> Any:
        """Append through a handle."""
        return self.call("append_with", handle, messages)

    # ---- records ------------------------------------------------------------------------------

    def put(self, scope: Scope, record: Record, **options: Any) -> Any:
        """Store one record; options `ttl` and `write_id`."""
        return self.call("put", scope, record, **options)

    def put_many(self, scope: Scope, records: Sequence[Record], **options: Any) -> Any:
        """Store records, all or none; option `ttl`."""
        return self.call("put_many", scope, records, **options)

    def put_all(self, scope: Scope, records: Sequence[Record]) -> None:
        """Store records in one call, or one by one where the adapter has no `put_many`."""
        if self.offers("put_many"):
            self.put_many(scope, records)
        else:
            for record in records:
                self.put(scope, record)

    def get(self, scope: Scope, id: str) -> Record | None:  # noqa: A002 - the protocol's word
        """Return one record."""
        found = self.call("get", scope, id)
        return None if found is None else _record(found)

    def update(self, scope: Scope, id: str, **changes: Any) -> Any:  # noqa: A002
        """Change what is named: `text`, `vector`, `metadata`, `ttl`."""
        return self.call("update", scope, id, **changes)

    def delete(self, scope: Scope, id: str) -> Any:  # noqa: A002
        """Delete one record."""
        return self.call("delete", scope, id)

    def delete_where(self, scope: Scope, filter: Filter) -> int | None:  # noqa: A002
        """Delete what `filter` matches; returns how many, where the store says."""
        deleted: int | None = self.call("delete_where", scope, filter)
        return deleted

    def delete_all(self, scope: Scope) -> Any:
        """Delete all records of the scope."""
        return self.call("delete_all", scope)

    def list_records(self, scope: Scope, **options: Any) -> Page:
        """Return a page of records; options `filter`, `limit`, `cursor`."""
        page = _page(self.call("list_records", scope, **options))
        return replace(page, items=tuple(map(_record, page.items)))

    def all_records(self, scope: Scope, limit: int | None = None, **options: Any) -> list[Record]:
        """Return the records of the scope, from all pages."""
        limit = limit or self._enough("list_records")
        return list(self._all(self.list_records, scope, limit=limit, **options))

    def list_namespaces(self, scope: Scope, prefix: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Return the namespaces below `prefix`."""
        return [tuple(each) for each in self.call("list_namespaces", scope, prefix)]

    def search(
        self, scope: Scope, query: Sequence[float] | str, k: int, **options: Any
    ) -> list[tuple[str, float]]:
        """Return (id, score) of the k best records; options `filter` and `threshold`.

        A store that searches by text is given the text whose vector is `query`.
        """
        if self.policy.search_by == "text" and not isinstance(query, str):
            query = as_text(query)
        return [
            (id_, float(score)) for id_, score in self.call("search", scope, query, k, **options)
        ]

    def found(
        self, scope: Scope, query: Sequence[float] | str, k: int, **options: Any
    ) -> list[str]:
        """Return the ids that a search finds, best first."""
        return [id_ for id_, _ in self.search(scope, query, k, **options)]

    # ---- state --------------------------------------------------------------------------------

    def set_state(self, handle: Any, delta: Mapping[str, Any], level: Level = "session") -> Any:
        """Merge `delta` into the state of a level."""
        return self.call("set_state", handle, delta, **_level(level))

    def get_state(self, scope: Scope, level: Level = "session") -> dict[str, Any]:
        """Return the state of a level."""
        return dict(self.call("get_state", scope, **_level(level)))

    # ---- a look from outside ------------------------------------------------------------------

    def raw_keys(self, scope: Scope) -> list[str]:
        """Return the Redis keys that hold what the scope has."""
        keys = [key for place in self._places(scope) for key in self.call("raw_keys", place)]
        return [key.decode() if isinstance(key, bytes) else key for key in dict.fromkeys(keys)]

    def raw_rows(self, scope: Scope) -> list[RawRow]:
        """Return the rows that hold what the scope has."""
        rows = [row for place in self._places(scope) for row in self.call("raw_rows", place)]
        return list(dict.fromkeys(rows))

    def traces(self, scope: Scope) -> dict[str, float | None]:
        """Return the keys and rows of the scope, each with the seconds that it has left (None: for ever)."""
        if not self.offers("raw_keys") and not self.offers("raw_rows"):
            self.not_offered("the adapter has neither raw_keys nor raw_rows")
        left: dict[str, float | None] = {}
        if self.offers("raw_keys"):
            left |= self.site.redis_times(self.raw_keys(scope))
        if self.offers("raw_rows"):
            left |= self.site.row_times(self.raw_rows(scope))
        return left

    def _places(self, scope: Scope) -> list[Scope]:
        """Return where the scope's messages and its records are."""
        return list(dict.fromkeys((scope, _without_namespace(scope, self.tested.policy))))

    def expire_now(self, scope: Scope) -> None:
        """Let the time to live of all that the scope has pass at once; returns when it has."""
        self.require("expire_now")
        keys = self.raw_keys(scope) if self.offers("raw_keys") else []
        for place in self._places(scope):
            self.call("expire_now", place)
        if keys:
            self.site.wait_for_expiry(keys)

    def age(self, scope: Scope, seconds: float) -> None:
        """Let `seconds` of the time to live of all that the scope has pass, from outside the store."""
        self.traces(scope)  # ends the case where there is nothing to see
        if self.offers("raw_keys"):
            self.site.age_keys(self.raw_keys(scope), seconds)
        if self.offers("raw_rows") and not self.site.age_rows(self.raw_rows(scope), seconds):
            self.not_offered("no column of its tables holds the time that raw_rows gives")

    def corrupt(self, scope: Scope, index: int) -> Any:
        """Make the message at `index` unreadable."""
        return self.call("corrupt", scope, index)

    def kill_connections(self) -> int:
        """End the store's connections on the server's side, and return how many there were."""
        return self.site.kill_connections()

    # ---- calls that are refused, that meet, or that come back too late --------------------------

    def attempt(self, call: Callable[[], T]) -> Attempt[T]:
        """Return the value of `call`, or its refusal. Any other error passes through: no clear refusal."""
        try:
            return Attempt(call(), None)
        except (CaseFailed, NotOffered, CaseSkipped, HarnessError):
            raise  # said by the case, which may call what is itself no call of the store
        except self.refusals as error:
            return Attempt(None, error)

    def refused(self, what: str, call: Callable[[], Any]) -> Exception:
        """Return the refusal of `call`.

        Raises:
            CaseFailed: it was done.
        """
        attempt = self.attempt(call)
        if attempt.refusal is None:
            raise CaseFailed(f"{what}: expected a refusal, got {attempt.value!r} without an error")
        return attempt.refusal

    def accepted(self, what: str, call: Callable[[], T]) -> T:
        """Return the value of `call`, which must not be refused here.

        Raises:
            CaseFailed: it was.
        """
        attempt = self.attempt(call)
        if attempt.refusal is not None:
            kind = type(attempt.refusal).__name__
            raise CaseFailed(f"{what} was refused: {kind}: {attempt.refusal}")
        return cast("T", attempt.value)

    @property
    def refusals(self) -> tuple[type[Exception], ...]:
        """The errors by which the store refuses."""
        declared = getattr(self.adapter, "refusals", DEFAULT_REFUSALS)
        return declared if isinstance(declared, tuple) else tuple(declared)

    def together(
        self, calls: Sequence[Callable[[], T]], workers: int | None = None
    ) -> list[Done[T]]:
        """Run calls at one moment: in threads, which for an async store meet on one event loop."""
        _ = self.store  # opened once, before the race
        return together(calls, workers=workers)

    def rounds(self, times: int, problem: Callable[[int], str | None]) -> None:
        """Run a race `times` times; fail when any round has a problem, and say in how many.

        `problem` gets the round's number, and returns what went wrong in it or None.
        """
        problems = [found for found in map(problem, range(times)) if found is not None]
        if problems:
            raise CaseFailed(f"in {len(problems)} of {times} rounds: {problems[0]}")

    # ---- around it ----------------------------------------------------------------------------

    def call(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Call the adapter's `name` on the store; options that are None are left out."""
        self.require(name)
        given = {key: value for key, value in options.items() if value is not None}
        if name != "update" and not self.offers(name, *given):
            lacking = [key for key in given if not self.offers(name, key)]
            self.not_offered(f"the adapter's `{name}` takes no `{lacking[0]}`")
        if name == "update":
            given = options  # there, None is a value
        if name in _OF_RECORDS:
            arguments = (_without_namespace(arguments[0], self.tested.policy), *arguments[1:])
        store = self.store
        with of_this_call() as logged:
            answer = self._call(getattr(self.adapter, name), store, *arguments, **given)
        if logged and name in _READING and _is_empty(answer):
            raise CaseFailed(
                f"{name} logged an error and gave an empty answer, {answer!r}: {logged[0]}"
            )
        return answer

    def submit(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Start a call of an async store, and return a future that can be cancelled."""
        self.require_async()
        self.require(name)
        return self._caller.submit(getattr(self.adapter, name), self.store, *arguments, **options)

    def client(self, *, single: bool = False, **options: Any) -> Any:
        """Return a client as a caller of the store has one, closed after the case."""
        self.require("client", "open_with")
        named = {**options, **({"single": True} if single else {})}
        if not self.offers("client", *named):
            self.not_offered(f"the adapter's `client` takes no {', '.join(named)}")
        client = self._call(self.adapter.client, self.env, **named)
        if self.offers("close_client"):
            self._others.callback(self._closing, self.adapter.close_client, client)
        return client

    def client_works(self, client: Any) -> bool:
        """Return whether a client still answers."""
        self.require("client_works")
        return bool(self._call(self.adapter.client_works, client))

    @contextmanager
    def store_clock(self, now: Callable[[], Any]) -> Iterator[None]:
        """Let the store take the time from `now()`."""
        self.call("store_clock", now)
        yield

    def expect_broken(self) -> None:
        """Say that the store may well fail to close: the case took its server away."""
        self._clean_closing = False

    @property
    def disturbed(self) -> bool:
        """Whether the case took its server away from this store object, or from another one."""
        return not self._clean_closing or any(each.disturbed for each in self._company)

    def finish(self) -> None:
        """Close all that the case opened, and check what it leaves behind.

        Raises:
            CaseFailed: closing fails, or a task or a transaction is left open.
        """
        problems: list[str] = []
        try:
            self._others.close()
        except CaseFailed as error:
            problems.append(str(error))
        problems += self._close_all()
        if self._owns_caller:
            problems += self._tasks_left()
            self._caller.close()
        if problems and self._clean_closing:
            raise CaseFailed("; ".join(problems))

    def _close_all(self) -> list[str]:
        idle = self._idle_transactions() if self._clean_closing else 0
        problems = [f"{idle} connections were left idle in a transaction"] if idle else []
        for opened in [] if self._closed else self._opened:
            if not self.offers("close"):
                break
            try:
                self._call(self.adapter.close, opened)
            except Exception as error:  # noqa: BLE001 - whatever the store raises is the finding
                problems.append(f"closing the store raised {type(error).__name__}: {error}")
        return problems

    def _idle_transactions(self) -> int:
        """Return how many stay so: of a client that has gone, a server hears a moment later."""
        ends = time.monotonic() + MOMENT
        while (idle := self.site.idle_transactions()) and time.monotonic() < ends:
            time.sleep(0.02)
        return idle

    def _tasks_left(self) -> list[str]:
        if not self._opened or self.disturbed or not self.offers("close"):
            return []
        left = self._caller.left(MOMENT)
        return [f"{len(left)} tasks are left after the store was closed: {left[0]}"] if left else []

    def _accompanied_by(self, other: Memory) -> Memory:
        self._company.append(other)
        self._others.callback(other.finish)
        return other

    def _closing(self, close: Callable[..., Any], *arguments: Any) -> None:
        with contextlib.suppress(Exception):
            self._call(close, *arguments)

    def _enough(self, listing: str) -> int | None:
        """Return the limit under which a listing that has no pages has everything; None if it needs none."""
        most = default_limit_of(self.tested.policy, listing)
        has_pages = listing != "read" and self.offers(listing, "cursor")
        cut = most is not None and not has_pages
        return _MORE_THAN_ANY if cut and self.offers(listing, "limit") else None

    def _all(self, listing: Callable[..., Page], scope: Scope, **options: Any) -> Iterator[Any]:
        """Yield the items of all pages.

        Raises:
            CaseFailed: the pages do not end.
        """
        cursor = None
        for _ in range(10_000):
            page = listing(scope, cursor=cursor, **options)
            yield from page.items
            cursor = page.cursor
            if cursor is None:
                return
        raise CaseFailed("a listing has more than 10,000 pages: its cursor does not move on")

    def _call(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        return self._caller.call(function, *arguments, **named)


class _Asked:
    """A policy that notes which of its answers are asked for."""

    def __init__(self, policy: Policy, names: dict[str, None]) -> None:
        self._policy = policy
        self._names = names

    def __getattr__(self, name: str) -> Any:
        answer = getattr(self._policy, name)
        self._names[name] = None
        return answer


def _is_empty(answer: Any) -> bool:
    """Return whether a call that reads gave nothing, in whatever form adapters give that."""
    if isinstance(answer, tuple) and len(answer) == 2:
        answer = answer[0]
    return not (answer.items if isinstance(answer, Page) else answer)


def _kept(env: StoreEnv) -> dict[str, Any]:
    """Return what of an env does not depend on the server."""
    names = ("dimensions", "metric", "ttl", "pool_size", "wait", "serializer", "codec", "options")
    return {name: getattr(env, name) for name in names}


def _without_namespace(scope: Scope, policy: Policy) -> Scope:
    """Return where records go in a store without namespaces, by which cases keep them apart."""
    parts = [part for part in ("user", "app", "session") if part in policy.record_parts]
    if "namespace" in policy.record_parts or scope.namespace == Scope().namespace or not parts:
        return scope
    value = f"{getattr(scope, parts[0])} {' '.join(scope.namespace)}"
    changed: dict[str, Any] = {parts[0]: value}
    return replace(scope, **changed)


def _level(level: Level) -> dict[str, Any]:
    return {} if level == "session" else {"level": level}


def _message(found: Any) -> Message:
    return found if isinstance(found, Message) else Message(**found)


def _record(found: Any) -> Record:
    return found if isinstance(found, Record) else Record(**found)


def _page(found: Any) -> Page:
    if isinstance(found, Page):
        return found
    if isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], list | tuple):
        return Page(found[0], found[1])
    return Page(list(found))
