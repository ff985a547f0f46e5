"""The store protocol: what an adapter offers, and the plain records that it is given and gives back.

An adapter is one small object between the memory test suite and a library. It opens stores on servers
that are given to it, maps scopes, messages and records to the library's own types, and declares a
policy. Its calls may be plain or `async`; what it leaves out is not offered, and the cases that need it
are reported so. The smallest adapter has `policy`, `needs`, `open`, `append` and `read`. In `refusals` it
names the errors that the store's callers are meant to know, where those are not ValueError, TypeError and
LookupError: an error of any other kind is a finding. `takes_serializer = True` says that it can be opened
with any serializer, `own_database = True` that it needs a Postgres database of its own for each case, or
the first database of a Redis, where search indexes are. `project` and `client_project` are the names on PyPI
of the store and of what talks to its servers, where that is not psycopg or redis; `drivers` are the names of
several that it may be on, of which `open` gets one as `env.options["driver"]`.

    open(env)                                            -> a new store object on the servers of `env`

Conversation part, for histories, sessions and checkpoints:

    append(store, scope, messages, *, write_id=None)     messages at the end, all or none
    read(store, scope, *, limit=None, after=None)        -> messages, oldest first; `limit`: the newest
    replace(store, scope, messages)                      the whole history
    pop(store, scope)                                    -> the newest message, now removed, or None
    delete_message(store, scope, which)                  by id or index, as policy.delete_by says
    clear(store, scope)                                  the session and all that belongs to it
    count(store, scope)                                  -> int
    list_sessions(store, scope, *, limit=None, cursor=None)  -> Page of session ids of scope.user
    load(store, scope)                                   -> a handle that knows the state it was loaded at
    append_with(store, handle, messages)                 append through such a handle

Record part, for stores of memories, vectors and caches:

    put(store, scope, record, *, ttl=None, write_id=None)
    put_many(store, scope, records, *, ttl=None)         all or none
    get(store, scope, id)                                -> Record or None
    update(store, scope, id, *, text=, vector=, metadata=, ttl=)   only what is named
    delete(store, scope, id)
    delete_where(store, scope, filter)                   -> how many, or None
    delete_all(store, scope)
    list_records(store, scope, *, filter=None, limit=None, cursor=None)  -> Page of records
    list_namespaces(store, scope, prefix)                -> namespaces below a tuple of parts
    search(store, scope, query, k, *, filter=None, threshold=None)       -> [(id, score)], best first;
                                                         `query` is a vector, or text for text stores

State part:

    set_state(store, handle, delta, *, level="session")  level: session, user or app
    get_state(store, scope, *, level="session")          -> dict; `handle` is what `load` gives, else a scope

For a look from outside, each of which makes more cases possible:

    setup(store)                 make tables and indexes; may be called twice and by many at once
    close(store)                 give back all that the store holds
    raw_keys(store, scope)       -> the Redis keys that hold a session or the records of a scope
    raw_rows(store, scope)       -> RawRow of every row that does
    expire_now(store, scope)     let the session's, or the scope's records', time to live pass at once
    corrupt(store, scope, index) make the message at `index` unreadable
    tables(store), indexes(store)   -> names of tables, of vector indexes (Postgres)
    store_clock(store, now)      take the time from `now()` instead of the machine, where that can be
    client(env, *, single=False, **options)  -> a client as a caller has one, with redis-py's or psycopg's
                                 options; `single`: one connection, not a pool
    open_with(env, client)       a store on that client
    client_works(client), close_client(client)
    ddl(env)                     -> SQL that makes what `setup` makes, for one round trip
    older(env)                   write data as the previous release of the store did
    twin                         the same store's adapter of the other kind (plain or async)
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from memory_matrix.stores.policy import Policy

Vector: TypeAlias = tuple[float, ...]
Level = Literal["session", "user", "app"]


class NotOffered(Exception):  # noqa: N818 - no error: the store does not claim to do this
    """The adapter's abilities or its policy rule the case out; the text says which.

    An adapter raises it from a call that this release of its library has not.
    """


@dataclass(frozen=True)
class Scope:
    """Whose memory it is. An adapter maps the parts that its library has: `policy.scope_parts`."""

    session: str = "session"
    user: str = "user"
    app: str = "app"
    namespace: tuple[str, ...] = ("memories",)


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: str
    text: str
    id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tool: Mapping[str, Any] | None = None
    """A tool call or its result, as JSON has it: `{"name": ..., "call_id": ..., "arguments": {...}}`."""
    created_at: dt.datetime | None = None
    """Set by the store; given by a caller only where the store takes it."""


@dataclass(frozen=True)
class Record:
    """One memory with its metadata, and the vector that it is found by."""

    id: str
    text: str = ""
    vector: Sequence[float] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    created_at: dt.datetime | None = None
    updated_at: dt.datetime | None = None


@dataclass(frozen=True)
class Page:
    """A part of a listing, and what to ask for the next part with; None after the last one."""

    items: Sequence[Any]
    cursor: Any = None
    total: int | None = None
    """How many the whole listing has, for stores that say so."""


@dataclass(frozen=True)
class RawRow:
    """A row of a table as it is there, seen from outside the store."""

    table: str
    key: str
    expires_at: dt.datetime | None = None


@dataclass(frozen=True)
class Compare:
    """A filter on one key of the metadata; with `own`, on the record's own field of that name.

    That is `created_at` under gte or lte, of stores whose policy `time_filter` declares it.
    """

    op: Literal[
        "eq", "ne", "lt", "lte", "gt", "gte", "in", "nin", "exists", "contains-any", "contains-all"
    ]
    field: str
    value: Any
    own: bool = False


@dataclass(frozen=True)
class Combine:
    """Filters joined by `and` or `or`, or one filter under `not`."""

    op: Literal["and", "or", "not"]
    filters: tuple[Filter, ...]


Filter: TypeAlias = Compare | Combine


class Codec(Protocol):
    """A serializer: `dumps(value)` gives bytes, and `loads` takes the same back."""

    def dumps(self, value: Any) -> bytes:
        """Return `value` as bytes."""

    def loads(self, data: bytes) -> Any:
        """Return the value that `dumps` wrote."""


@dataclass(frozen=True)
class StoreEnv:
    """Where and how to open a store. Several stores opened with one `env` stand for several processes."""

    postgres_dsn: str | None = None
    """A libpq URL, whose search_path begins with `schema` and whose application_name is the test's own."""
    redis_url: str | None = None
    """With the database's number; of a cluster or a set of sentinels, see `topology`."""
    schema: str = "public"
    """A fresh Postgres schema, already made."""
    prefix: str = "memory:"
    """A fresh prefix for Redis keys."""
    dimensions: int = 8
    """The length of vectors."""
    metric: Literal["cosine", "l2", "ip"] = "cosine"
    ttl: float | None = None
    """Seconds that a session lives, for stores that are told so when they are opened."""
    pool_size: int = 4
    """The most connections that the store may open."""
    wait: float = 5.0
    """Seconds after which a call should give up waiting for a connection or an answer."""
    serializer: str | None = None
    """The name of `codec`; None for the store's own default."""
    codec: Codec | None = None
    embed: Callable[[Sequence[str]], list[list[float]]] | None = None
    """Turns texts into vectors, for stores that search by text. `v:1.0,0.0` gives just that vector."""
    topology: Literal["single", "sentinel", "cluster"] = "single"
    nodes: tuple[str, ...] = ()
    """URLs of a cluster's nodes, or of the sentinels."""
    primary: str | None = None
    """The name by which sentinels know the primary."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Anything else that the caller of `open` wants to say, for adapters that know it."""


@runtime_checkable
class Adapter(Protocol):
    """The least that an adapter has; the module's docstring lists the rest."""

    policy: Policy | Mapping[str, Any]
    needs: Sequence[Literal["postgres", "redis"]]

    def open(self, env: StoreEnv) -> Any:
        """Return a new store on the servers of `env`."""
