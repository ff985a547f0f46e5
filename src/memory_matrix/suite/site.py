"""Where a case runs: its servers, its place on them, and what can be done to them from outside."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from memory_matrix.isolation.redis import Place as RedisPlace
from memory_matrix.isolation.redis import RedisIsolation
from memory_matrix.servers.client import SERVICE_NAME, ServerError, Servers
from memory_matrix.stores.loading import StoreUnderTest
from memory_matrix.stores.protocol import RawRow, StoreEnv
from memory_matrix.suite.embedding import embed
from memory_matrix.suite.faults import FaultyPostgres, FaultyRedis, FaultyServer
from memory_matrix.suite.outcomes import CaseSkipped, HarnessError

if TYPE_CHECKING:  # it loads psycopg, which stores on Redis alone can do without
    from memory_matrix.isolation.postgres import Place as PostgresPlace
    from memory_matrix.isolation.postgres import PostgresIsolation

Kind = Literal["postgres", "redis"]
Topology = Literal["single", "sentinel", "cluster"]

_LONGEST_EXPIRY = 10.0
"""Seconds within which a server has dropped what expires within a millisecond."""
_STRAYS = """
SELECT 'public.' || relname FROM pg_class AS found
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = found.oid AND deptype = 'e')
AND NOT EXISTS (
    SELECT FROM pg_class AS own JOIN pg_namespace AS space ON space.oid = own.relnamespace
    WHERE nspname = %s AND own.relkind IN ('r', 'p')
)
ORDER BY relname LIMIT 3
"""
_SIZES = {b"hash": "HLEN", b"list": "LLEN", b"set": "SCARD", b"zset": "ZCARD", b"stream": "XLEN"}
"""The command that tells how many elements a key of a kind has; others are one."""


@dataclass(frozen=True)
class Facilities:
    """What a worker has for all its cases: the servers' sources and its own ways into them."""

    servers: Servers
    sources: Mapping[Kind, str]
    """The source of the server of each kind that the store runs on."""
    postgres: PostgresIsolation | None = None
    redis: RedisIsolation | None = None


@dataclass(frozen=True)
class Site:
    """The places of one case on the servers."""

    facilities: Facilities
    postgres: PostgresPlace | None = None
    redis: RedisPlace | None = None
    own: PostgresIsolation | None = None
    """The way into a database that is the case's own; closed with the site."""

    def close(self) -> None:
        """Close the site's own ways into the servers."""
        if self.own is not None:
            self.own.close()

    def sql(self, statement: str, *parameters: Any) -> list[Any]:
        """Run SQL as the server's owner, outside the store; names are looked for in the case's schema."""
        postgres, place = self._postgres()
        if not parameters:
            return postgres.execute(f'SET search_path TO "{place.schema}", public; {statement}')
        postgres.execute(f'SET search_path TO "{place.schema}", public')
        return postgres.execute(statement, parameters)

    @property
    def redis_client(self) -> Any:
        """A client of the case's Redis database, outside the store; gives bytes."""
        assert self.facilities.redis is not None
        return self.facilities.redis.client

    def kill_connections(self) -> int:
        """End the store's connections on the server's side, and return how many there were."""
        killed = 0
        if self.postgres is not None:
            postgres, place = self._postgres()
            killed += len(
                postgres.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s",
                    (place.application,),
                )
            )
        if self.redis is not None:
            killed += _kill_clients(self.redis_client)
        return killed

    def connections(self) -> set[str]:
        """Return what names the store's connections on the servers, and all others to its Redis database."""
        found: set[str] = set()
        if self.postgres is not None:
            postgres, place = self._postgres()
            rows = postgres.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = %s", (place.application,)
            )
            found |= {f"backend {pid}" for (pid,) in rows}
        if self.redis is not None:
            found |= {f"client {each['id']}" for each in _other_clients(self.redis_client)}
        return found

    def idle_transactions(self) -> int:
        """Return how many of the store's connections are idle in a transaction."""
        if self.postgres is None:
            return 0
        postgres, place = self._postgres()
        rows = postgres.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE application_name = %s AND state LIKE 'idle in transaction%%'",
            (place.application,),
        )
        return int(rows[0][0])

    def stray_tables(self) -> list[str]:
        """Return tables in the server's common schema, at most three, where the case's own one has none.

        On a server given by URL they may be anybody's: there are none to tell of.
        """
        if self.postgres is None or self.own is not None:
            return []
        postgres, place = self._postgres()
        if not postgres.owned:
            return []
        return [name for (name,) in postgres.execute(_STRAYS, (place.schema,))]

    def redis_keys(self) -> list[str]:
        """Return all Redis keys under the case's prefix, whatever the adapter says of them."""
        if self.redis is None:
            return []
        found = self.redis_client.scan_iter(match=f"{self.redis.prefix}*", count=1000)
        return sorted(key.decode(errors="surrogateescape") for key in found)

    def redis_sizes(self) -> dict[str, int]:
        """Return all Redis keys under the case's prefix, each with how many elements it has."""
        names = self.redis_keys()
        if not names:
            return {}
        keys = [name.encode(errors="surrogateescape") for name in names]
        kinds, sizes = (self.redis_client.pipeline(transaction=False) for _ in range(2))
        for key in keys:
            kinds.type(key)
        for key, kind in zip(keys, kinds.execute(), strict=True):
            sizes.execute_command(_SIZES.get(kind, "EXISTS"), key)
        return dict(zip(names, sizes.execute(), strict=True))

    def redis_times(self, keys: Iterable[str]) -> dict[str, float | None]:
        """Return the seconds that each key has left; None for those without an end."""
        names = list(keys)
        if not names:
            return {}
        pipeline = self.redis_client.pipeline(transaction=False)
        for name in names:
            pipeline.pttl(name)
        return {
            name: None if left == -1 else left / 1000
            for name, left in zip(names, pipeline.execute(), strict=True)
            if left != -2
        }

    def wait_for_expiry(self, keys: Iterable[str]) -> None:
        """Return when the server no longer has those keys that were about to expire."""
        ends = time.monotonic() + _LONGEST_EXPIRY
        while any(left is not None and left < 1 for left in self.redis_times(keys).values()):
            if time.monotonic() > ends:
                raise HarnessError("the server keeps keys whose time to live has passed")

    def age_keys(self, keys: Iterable[str], seconds: float) -> None:
        """Let `seconds` of the keys' time to live pass."""
        for name, left in self.redis_times(keys).items():
            if left is not None:
                self.redis_client.pexpire(name, round((left - seconds) * 1000))

    def age_rows(self, rows: Iterable[RawRow], seconds: float) -> bool:
        """Let `seconds` of the rows' time to live pass, by the columns that hold it.

        Returns whether rows that have one have such a column.
        """
        ends: dict[str, set[dt.datetime]] = {}
        for row in rows:
            if row.expires_at is not None:
                ends.setdefault(row.table, set()).add(row.expires_at)
        aged = [
            self.sql(
                f'UPDATE "{table}" SET "{column}" = "{column}" - make_interval(secs => %s)'  # noqa: S608 - names from the catalogue
                f' WHERE "{column}" = ANY(%s) RETURNING 1',
                seconds,
                list(times),
            )
            for table, times in ends.items()
            for column in self._time_columns(table)
        ]
        return not ends or any(aged)

    def _time_columns(self, table: str) -> list[str]:
        _, place = self._postgres()
        found = self.sql(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = %s"
            " AND table_name = %s AND data_type LIKE 'timestamp%%'",
            place.schema,
            table,
        )
        return [name for (name,) in found]

    def row_times(self, rows: Iterable[RawRow]) -> dict[str, float | None]:
        """Return the seconds that each row has left; None for those without an end."""
        now = dt.datetime.now(dt.timezone.utc)
        return {
            f"{row.table}: {row.key}": None
            if row.expires_at is None
            else (row.expires_at - now).total_seconds()
            for row in rows
        }

    def _postgres(self) -> tuple[PostgresIsolation, PostgresPlace]:
        assert self.facilities.postgres is not None
        assert self.postgres is not None
        return self.facilities.postgres, self.postgres


def new_site(facilities: Facilities, store: StoreUnderTest) -> Site:
    """Return fresh places for one case on the servers that `store` needs."""
    postgres = facilities.postgres if "postgres" in store.needs else None
    redis = facilities.redis if "redis" in store.needs else None
    place = None if redis is None else redis.place()
    if postgres is None:
        return Site(facilities, redis=place)
    if not store.own_database:
        return Site(facilities, postgres.schema(), place)
    database = postgres.database()
    own = postgres.inside(database)
    return Site(replace(facilities, postgres=own), database, place, own)


def own_server(
    site: Site, kind: Kind, topology: Topology, settings: Mapping[str, str]
) -> tuple[Site, FaultyServer]:
    """Return the places of a case on a server of its own of `kind`, and that server.

    Raises:
        CaseSkipped: the source is a URL: such a server is never restarted or broken.
        HarnessError: it cannot be had.
    """
    facilities = site.facilities
    try:
        private = facilities.servers.private(
            kind, facilities.sources[kind], topology=topology, settings=settings
        )
    except ServerError as error:
        if error.refused:
            raise CaseSkipped(str(error)) from None
        raise HarnessError(str(error)) from error
    if kind == "postgres":
        from memory_matrix.isolation.postgres import PostgresIsolation

        postgres = PostgresIsolation(private.url, owned=True)
        postgres.prepare()
        new = replace(facilities, postgres=postgres)
        return replace(site, facilities=new, postgres=postgres.schema()), FaultyPostgres(private)
    redis = RedisIsolation(private.url, owned=True)
    new = replace(facilities, redis=redis)
    return replace(site, facilities=new, redis=redis.place()), FaultyRedis(private)


def close_own(site: Site, kind: Kind) -> None:
    """Close the site's own ways into a server of the case's own."""
    isolation = getattr(site.facilities, kind)
    isolation.close()


def env_changes(server: FaultyServer, topology: Topology) -> dict[str, Any]:
    """Return what an env says of a server that is more than one process."""
    if topology == "single":
        return {}
    wanted = "sentinel" if topology == "sentinel" else "primary"
    nodes = tuple(node.url for node in server.private.nodes if node.role == wanted)
    return {"topology": topology, "nodes": nodes, "primary": SERVICE_NAME}


def env_of(site: Site, **settings: Any) -> StoreEnv:
    """Return the env to open a store with at `site`."""
    env = StoreEnv(
        postgres_dsn=None if site.postgres is None else site.postgres.dsn,
        schema="public" if site.postgres is None else site.postgres.schema,
        redis_url=None if site.redis is None else site.redis.url,
        embed=embed,
    )
    if site.redis is not None:
        env = replace(env, prefix=site.redis.prefix)
    return replace(env, **settings)


def _kill_clients(client: Any) -> int:
    """End all connections to the client's database but its own."""
    others = _other_clients(client)
    for each in others:
        client.client_kill_filter(_id=each["id"])
    return len(others)


def _other_clients(client: Any) -> list[Any]:
    own, database = client.client_id(), str(client.connection_pool.connection_kwargs.get("db", 0))
    return [
        each for each in client.client_list() if each["id"] != str(own) and each["db"] == database
    ]
