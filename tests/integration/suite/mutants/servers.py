"""Stores that know one kind of server or client only, and what the cases of group N say of them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from integration.suite.mutants._postgres import run
from memory_matrix.stores.errors import StoreError
from memory_matrix.stores.postgres.adapter import PostgresAdapter
from memory_matrix.stores.protocol import Message, Page, Scope, StoreEnv
from memory_matrix.stores.redis import RedisStore
from memory_matrix.stores.redis.adapter import RedisAdapter
from support.mutants import mutant


@mutant("srv_each_supported_server")
class KnowsLaterServers(RedisAdapter):
    """Counts by a command of some later release, and not at all where that is unknown."""

    def count(self, store: RedisStore, scope: Scope) -> int:
        with suppress(Exception):
            return int(store.link.client().execute_command("LCOUNT", scope.session))
        return 0


@mutant("srv_without_extension")
class SaysNothingOfTheExtension(PostgresAdapter):
    """Leaves it to later calls to say that its tables could not be made."""

    def setup(self, store: Any) -> None:
        with suppress(StoreError):
            super().setup(store)


@mutant("srv_client_newest_and_oldest")
class KnowsAnEarlierClient(RedisAdapter):
    """Takes the first of the records for a count, as an earlier client's answer began with one."""

    def list_records(self, store: RedisStore, scope: Scope, **options: Any) -> Page:
        page = super().list_records(store, scope, **options)
        return replace(page, items=page.items[1:])


def _option(store: RedisStore, name: str) -> Any:
    return store.link.client().connection_pool.connection_kwargs.get(name)


@mutant("srv_decode_responses_both")
class ExpectsBytes(RedisAdapter):
    """Decodes what the client has decoded already."""

    def read(self, store: RedisStore, scope: Scope, **options: Any) -> list[Message]:
        found = super().read(store, scope, **options)
        if not _option(store, "decode_responses"):
            return found
        return [replace(each, text=repr(each.text.encode())) for each in found]


@mutant("srv_resp2_resp3")
class ExpectsLists(RedisAdapter):
    """Finds nothing in a map, which the newer protocol has for a list of pairs."""

    def get_state(self, store: RedisStore, scope: Scope, **options: Any) -> dict[str, Any]:
        state = super().get_state(store, scope, **options)
        return {} if _option(store, "protocol") in {3, "3"} else state


@mutant("srv_cluster_one_session_one_slot")
class SpreadsItsKeys(RedisAdapter):
    """Has keys without a hash tag."""

    def open(self, env: StoreEnv) -> RedisStore:
        store = super().open(env)
        prefix = env.prefix.encode()
        object.__setattr__(store.parts.keys, "_tagged", lambda tag: prefix + tag)
        return store


@mutant("srv_cluster_listing_all_nodes")
class ListsOneNode(RedisAdapter):
    """Lists what is on the first of a cluster's nodes."""

    def list_sessions(self, store: RedisStore, scope: Scope, **options: Any) -> Page:
        page = super().list_sessions(store, scope, **options)
        client = store.link.client()
        node = client.get_node_from_key(store.parts.keys.session(scope).index)
        return page if node == client.get_primaries()[0] else Page([])


@mutant("srv_pgbouncer_transaction_mode")
class KeepsItInTheSession(PostgresAdapter):
    """Leaves a count in its session's settings, and looks there for it."""

    def count(self, store: Any, scope: Scope) -> int:
        counted = str(super().count(store, scope))
        run(store, "SELECT set_config('memory.count', %(counted)s, false)", scope, counted=counted)
        rows = run(store, "SELECT current_setting('memory.count', true)", scope)
        return int(rows[0][0] or -1)


@mutant("srv_acl_minimal_rights")
class MakesATableWhenItWrites(PostgresAdapter):
    """Makes sure of a table with each state that it keeps."""

    def set_state(self, store: Any, handle: Any, delta: Mapping[str, Any], **options: Any) -> None:
        run(store, "CREATE TABLE IF NOT EXISTS memory_states_too (key text)", Scope())
        super().set_state(store, handle, delta, **options)


@mutant("srv_second_open_existing_index", "srv_schema_of_older_release")
class SetsUpAnew(PostgresAdapter):
    """Makes its tables anew when it is set up."""

    def setup(self, store: Any) -> None:
        super().setup(store)
        for table in ("records", "messages", "sessions"):
            run(store, f"DELETE FROM {{{table}}}", Scope())
