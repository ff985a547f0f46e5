"""Group N: the servers, their topologies and rights, and the clients that a store may be given."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from memory_matrix.isolation.names import new_token
from memory_matrix.isolation.postgres import with_database
from memory_matrix.stores.protocol import Scope
from memory_matrix.suite import expect
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.offered import expect_seen, fill, reads, seen, works
from memory_matrix.suite.outcomes import CaseFailed, CaseSkipped
from memory_matrix.suite.pooling import transaction_pool
from memory_matrix.suite.samples import record

if TYPE_CHECKING:
    from packaging.requirements import Requirement

GROUP = "N"

SCOPE = Scope(session="kept", namespace=("kept",))
CLIENTS = {"postgres": "psycopg", "redis": "redis"}
"""The distribution of the client that stores on a kind of server use."""
READING_AND_WRITING = (
    *("+@read", "+@write", "+@connection", "+@transaction", "+@scripting", "+select", "+time"),
    "-@dangerous",
)
READING_AND_WRITING_BY_MODULES = (
    *("ft.search", "ft.aggregate", "ft.cursor", "ft.info", "ft._list"),
    *("json.get", "json.mget", "json.type", "json.set", "json.mset", "json.merge", "json.del"),
)
"""The same of Redis' search and JSON, which before Redis 8 are in no category; not every server has them."""
CREATING = ("ft.create", "ft.alter", "ft.dropindex")
"""Commands of Redis' search by which indexes are made; not every server has them."""


def test_srv_each_supported_server(memory: Memory) -> None:
    """On this server, of this version, every call of the store works."""
    works(memory)
    if memory.tested.part("state"):
        fill(memory, SCOPE)
        expect.equal("the state of a session", memory.get_state(SCOPE), {"one": 1, "two": "two"})
    if memory.offers("put", "ttl"):
        memory.put(SCOPE, record(memory, "for a while"), ttl=600)
        found = memory.get(SCOPE, "for a while")
        expect.true(found is not None, "a record with 600 s to live is not there")


def test_srv_without_extension(memory: Memory) -> None:
    """Without the vector extension, or the search module, a store works, or says what is missing."""
    memory.require("put", "search")
    if "postgres" in memory.tested.needs:
        with _database_without_extension(memory) as dsn:
            bare = memory.another(postgres_dsn=dsn)
            bare.expect_broken()
            _works_or_names_what_is_missing(bare, "vector")
    else:
        _refuse_search_module(memory)
        _works_or_names_what_is_missing(memory, "search", "module", "ft.")


def test_srv_client_newest_and_oldest(memory: Memory) -> None:
    """With the client that is installed here, which the store's own requirement admits, all works."""
    client = _client(memory)
    try:
        fill(memory, SCOPE)
        before = seen(memory, SCOPE)
        again = memory.another()
        expect_seen(again, "in a second store", SCOPE, before)
        works(again)
        if memory.offers("client") and memory.offers("open_with"):
            works(memory.another(client=memory.client()), "on a given client")
    except CaseFailed as error:
        raise CaseFailed(f"with {client}: {error}") from None


def test_srv_decode_responses_both(memory: Memory) -> None:
    """On clients with decode_responses on and off a store works, and reads the same."""
    _same_on_clients(memory, "decode_responses", (True, False))


def test_srv_resp2_resp3(memory: Memory) -> None:
    """By both protocols of Redis, 2 and 3, a store works, and reads the same."""
    _same_on_clients(memory, "protocol", (2, 3))


def test_srv_cluster_one_session_one_slot(memory: Memory) -> None:
    """On a cluster every call works, for sessions on every node, or the store says that it needs one server."""
    own = _on_cluster(memory)
    for number in range(8):
        check = partial(works, own, f"session {number}", f"user {number}")
        attempt = own.attempt(check)
        if memory.policy.cluster == "yes" and attempt.refused:
            raise CaseFailed(
                f"on a cluster: expected every call to work, got {expect.shown(attempt.refusal)}"
            )


def test_srv_cluster_listing_all_nodes(memory: Memory) -> None:
    """On a cluster listings hold what is on any of the nodes."""
    memory.require_kind("redis")
    memory.require_policy(cluster="yes")
    if not memory.offers("list_sessions") and not memory.offers("list_records"):
        memory.not_offered("the adapter has neither list_sessions nor list_records")
    own = _on_cluster(memory)
    names = [f"name {n}" for n in range(4)]
    users = [f"user {n}" for n in range(8)] if "user" in memory.policy.scope_parts else ["user"]
    for user in users:
        for name in names:
            fill(own, Scope(session=name, user=user, namespace=(name,)))
    for user in users:
        _are_all_listed(own, user, names)


def test_srv_pgbouncer_transaction_mode(memory: Memory) -> None:
    """Behind a pool that gives each transaction another session everything works, or as declared."""
    memory.require_kind("postgres")
    memory.require_policy(pgbouncer="yes")
    _ = memory.store  # tables are made without the pool
    with transaction_pool(str(memory.env.postgres_dsn)) as dsn:
        for number in range(2):
            pooled = memory.another(postgres_dsn=dsn)
            pooled.expect_broken()
            for turn in range(3):  # a statement is prepared once it was used some times
                works(pooled, f"store {number}, turn {turn}")
            pooled.close()


def test_srv_acl_minimal_rights(memory: Memory) -> None:
    """A user who may read and write, and create nothing, can use what another has set up."""
    fill(memory, SCOPE)
    before = seen(memory, SCOPE)
    with _user(memory) as urls:
        other = memory.another(**urls)
        other.open()  # without setting up, which is what this user may not do
        expect_seen(other, "a user without rights to create", SCOPE, before)
        refusal = other.attempt(partial(works, other)).refusal
        expect.true(
            refusal is None,
            f"for a user without rights to create: expected all to work, got {expect.shown(refusal)}",
        )
        other.close()


def test_srv_second_open_existing_index(memory: Memory) -> None:
    """Opening and setting up on tables and indexes that are there works, and changes nothing."""
    fill(memory, SCOPE)
    before = seen(memory, SCOPE)
    for number in range(2, 4):
        other = memory.another()
        expect_seen(other, f"in store {number}", SCOPE, before)
        works(other, f"store {number}")
    expect_seen(memory, "in the first store, after others were opened", SCOPE, before)
    works(memory, "store 1")


def test_srv_schema_of_older_release(memory: Memory) -> None:
    """A store opened on the data of the release before migrates it, or refuses before any write."""
    memory.require("older")
    memory.caller.call(memory.adapter.older, memory.env)
    before = _image(memory)
    expect.true(before, "`older` wrote nothing")
    opened = memory.attempt(lambda: _old(memory))
    if memory.policy.old_schema == "refuse":
        expect.true(opened.refused, "the data of an older release was opened, not refused")
        expect.true(_image(memory) == before, "what an older release wrote was changed")
        return
    if opened.value is None:
        raise CaseFailed(
            f"the data of an older release: expected it migrated, got {expect.shown(opened.refusal)}"
        )
    expect.true(any(opened.value), "of the data of an older release nothing is read")
    works(memory)
    expect.equal("what an older release wrote, after new writes", _old(memory), opened.value)
    expect.equal("the same, read by a store opened later", _old(memory.another()), opened.value)


# ---- extensions -------------------------------------------------------------------------------


def _works_or_names_what_is_missing(memory: Memory, *words: str) -> None:
    attempt = memory.attempt(partial(_search, memory))
    if attempt.refusal is not None:
        said = str(attempt.refusal).lower()
        expect.true(
            any(word in said for word in words),
            f"the refusal does not name what is missing: {expect.shown(str(attempt.refusal))}",
        )
    else:
        expect.equal("what a search finds without it", attempt.value, ["one"])


def _search(memory: Memory) -> list[str]:
    memory.put(SCOPE, record(memory, "one"))
    return memory.found(SCOPE, record(memory, "one").vector or (), 1)


@contextmanager
def _database_without_extension(memory: Memory) -> Iterator[str]:
    """Yield the URL of a database without extensions, for a user who may not make any."""
    import psycopg

    postgres, place = memory.site.facilities.postgres, memory.site.postgres
    assert postgres is not None
    assert place is not None
    name = f"{place.application}_bare"
    with _postgres_user(memory) as (user, dsn):
        postgres.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
        try:
            with psycopg.connect(with_database(postgres.url, name), autocommit=True) as admin:
                schema = f'CREATE SCHEMA IF NOT EXISTS "{place.schema}" AUTHORIZATION "{user}"'
                admin.execute(schema.encode())
            yield with_database(dsn, name)
        finally:
            postgres.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def _refuse_search_module(memory: Memory) -> None:
    modules = memory.site.redis_client.execute_command("MODULE", "LIST")
    if b"search" in repr(modules).encode():
        raise CaseSkipped("the server has its search module")


# ---- users ------------------------------------------------------------------------------------


@contextmanager
def _user(memory: Memory) -> Iterator[dict[str, str]]:
    """Yield the URLs of the store's servers for a user who may only read and write what is there."""
    if memory.tested.needs == ("postgres",):
        with _postgres_user(memory) as (user, dsn):
            _grant(memory, user)
            yield {"postgres_dsn": dsn}
    elif memory.tested.needs == ("redis",):
        with _redis_user(memory) as url:
            yield {"redis_url": url}
    else:
        memory.not_offered("the store is on servers of two kinds")


@contextmanager
def _postgres_user(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield a user without rights, and the URL of the case's schema for that user."""
    postgres = memory.site.facilities.postgres
    assert postgres is not None
    if not postgres.owned:
        raise CaseSkipped("no users are made on a server that is given by URL")
    user, password = f"mm_{new_token(8)}", secrets.token_hex(16)
    postgres.execute(f"CREATE ROLE \"{user}\" LOGIN PASSWORD '{password}'")
    try:
        yield user, _as_user(str(memory.env.postgres_dsn), user, password)
    finally:
        postgres.execute(f'DROP OWNED BY "{user}"; DROP ROLE "{user}"')


def _grant(memory: Memory, user: str) -> None:
    place = memory.site.postgres
    assert place is not None
    memory.site.sql(
        f'GRANT USAGE ON SCHEMA "{place.schema}" TO "{user}";'
        f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "{place.schema}" TO "{user}";'
        f'GRANT USAGE ON ALL SEQUENCES IN SCHEMA "{place.schema}" TO "{user}"'
    )


@contextmanager
def _redis_user(memory: Memory) -> Iterator[str]:
    """Yield the URL for a user who may read and write keys of the store's, and make no index."""
    from redis.exceptions import ResponseError

    redis = memory.site.facilities.redis
    assert redis is not None
    if not redis.owned:
        raise CaseSkipped("no users are made on a server that is given by URL")
    client = redis.client
    user, password = f"mm-{new_token(8)}", secrets.token_hex(16)
    keys = f"~{memory.env.prefix}*" if memory.policy.key_prefix == "yes" else "~*"
    rules = ("on", f">{password}", keys, *READING_AND_WRITING)
    client.execute_command("ACL", "SETUSER", user, *rules)
    more = [f"+{command}" for command in READING_AND_WRITING_BY_MODULES]
    less = [f"-{command}" for command in CREATING]
    for rule in ("&*", *more, *less):
        with suppress(ResponseError):  # where the server has no channels, or no such command
            client.execute_command("ACL", "SETUSER", user, rule)
    try:
        yield _as_user(str(memory.env.redis_url), user, password)
    finally:
        client.execute_command("ACL", "DELUSER", user)


def _as_user(url: str, user: str, password: str) -> str:
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{user}:{password}@{place}"))


# ---- clients ----------------------------------------------------------------------------------


def _client(memory: Memory) -> str:
    """Return the name and version of the client; the case ends if the store does not admit it."""
    name = _named(memory, "client_project") or CLIENTS[memory.tested.needs[0]]
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        memory.not_offered(f"{name}, its client, is not installed here")
    for project in _projects(memory):
        for each in _requirements(project):
            same = each.name.replace("_", "-").lower() == name.replace("_", "-").lower()
            if same and not each.specifier.contains(version, prereleases=True):
                memory.not_offered(f"{project} requires {each}, and {version} is installed")
    return f"{name} {version}"


def _named(memory: Memory, attribute: str) -> str | None:
    """Return a project that the adapter names, without extras."""
    named = getattr(memory.adapter, attribute, None)
    return _parsed(named).name if isinstance(named, str) else None


def _projects(memory: Memory) -> list[str]:
    """Return the projects that the store comes with: the adapter's word, or else by its object."""
    if project := _named(memory, "project"):
        return [project]
    package = type(memory.store).__module__.partition(".")[0]
    return [*metadata.packages_distributions().get(package, ())]


def _requirements(project: str) -> Iterator[Requirement]:
    """Yield what a project requires here, with any of its extras."""
    try:
        distribution = metadata.distribution(project)
    except metadata.PackageNotFoundError:  # a name of the user's own
        return
    extras = ["", *(distribution.metadata.get_all("Provides-Extra") or ())]
    for each in map(_parsed, distribution.requires or ()):
        marker = each.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
            yield each


def _parsed(requirement: str) -> Requirement:
    from packaging import requirements

    return requirements.Requirement(requirement)


def _same_on_clients(memory: Memory, option: str, values: tuple[Any, ...]) -> None:
    memory.require_kind("redis")
    fill(memory, SCOPE)
    before = seen(memory, SCOPE)
    for value in values:
        other = memory.another(client=memory.client(**{option: value}))
        what = f"with {option}={value}"
        expect_seen(other, what, SCOPE, before)
        scope = replace(SCOPE, session=what, namespace=(what,))
        fill(other, scope)
        expect_seen(other, f"of what was written {what}", scope, seen(memory, scope))
        works(other, f"work {what}")


# ---- clusters ---------------------------------------------------------------------------------


def _on_cluster(memory: Memory) -> Memory:
    memory.require_kind("redis")
    own, _ = memory.on_own_server("redis", topology="cluster")
    return own


def _are_all_listed(memory: Memory, user: str, names: list[str]) -> None:
    scope = Scope(user=user)
    if memory.offers("append") and memory.offers("list_sessions"):
        listed = memory.all_sessions(scope)
        expect.contents(f"the sessions of {user!r} listed on a cluster", listed, names)
    if memory.tested.part("records") and memory.offers("list_records"):
        for name in names:
            found = memory.all_records(replace(scope, namespace=(name,)))
            ids = [each.id for each in found]
            expect.contents(f"the records of {user!r} listed on a cluster", ids, ["one", "two"])


# ---- older releases ---------------------------------------------------------------------------


def _old(memory: Memory) -> list[Any]:
    """Return what is read of the data of an older release."""
    return [
        call()
        for name, call in reads(memory, Scope()).items()
        if name in {"read", "list_records", "get_state"}
    ]


def _image(memory: Memory) -> list[Any]:
    """Return all that is in the case's places, as it is stored."""
    found: list[Any] = []
    if memory.site.postgres is not None:
        tables = memory.site.sql(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = %s"
            " ORDER BY table_name",
            memory.site.postgres.schema,
        )
        for (table,) in tables:
            found += [(table, *row) for row in memory.site.sql(f'TABLE "{table}"')]
    if memory.site.redis is not None:
        client, prefix = memory.site.redis_client, memory.site.redis.prefix
        found += [(key, client.dump(key)) for key in sorted(client.scan_iter(match=f"{prefix}*"))]
    return found
