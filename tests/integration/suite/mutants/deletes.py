"""Stores that delete too much or too little, or do twice what is asked once: for the cases of group G."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from memory_matrix.stores.errors import NotFoundError
from memory_matrix.stores.postgres import PostgresAdapter
from memory_matrix.stores.postgres.plans import Plan, Query, Steps
from memory_matrix.stores.protocol import Compare, Filter, Message, Page, Record, Scope, StoreEnv
from memory_matrix.stores.redis import RedisAdapter
from support.mutants import mutant


@mutant("del_then_get_list_search_count")
class DeletesFromGetOnly(RedisAdapter):
    """Marks a record as deleted, which listings and searches do not ask."""

    def __init__(self) -> None:
        self.deleted: set[tuple[Scope, str]] = set()

    def delete(self, store: Any, scope: Scope, id: str) -> None:
        self.deleted.add((scope, id))

    def get(self, store: Any, scope: Scope, id: str) -> Record | None:
        return None if (scope, id) in self.deleted else super().get(store, scope, id)


@mutant("del_then_get_list_search_count", "del_by_filter_exact", "iso_clear_scope")
class FindsWhatAFilterDeleted(RedisAdapter):
    """Leaves in the index for searches what a filter deletes."""

    def __init__(self) -> None:
        self.deleted: set[tuple[Scope, str]] = set()

    def delete_where(self, store: Any, scope: Scope, filter: Filter) -> int:
        matching = super().list_records(store, scope, filter=filter).items
        self.deleted |= {(scope, record.id) for record in matching}
        return super().delete_where(store, scope, filter)

    def search(
        self, store: Any, scope: Scope, query: Any, k: int, **options: Any
    ) -> list[tuple[str, float]]:
        ghosts = [(id_, 1.0) for place, id_ in sorted(self.deleted, key=str) if place == scope]
        return [*ghosts, *super().search(store, scope, query, k, **options)][:k]


@mutant("del_then_get_list_search_count", "del_leaves_no_keys", "del_then_readd_same_id")
class ClearsMessagesOnly(PostgresAdapter):
    """Leaves the session itself, and its state, when it is cleared."""

    def clear(self, store: Any, scope: Scope) -> None:
        super().replace(store, scope, [])


@mutant("del_then_get_list_search_count")
class ClearsNothingAndKeepsNoIds(RedisAdapter):
    """Has no messages that can be deleted one by one; that sessions cannot be cleared is to be seen."""

    policy = replace(RedisAdapter.policy, message_fields=("role", "text", "metadata"))

    def clear(self, store: Any, scope: Scope) -> None:
        pass


@mutant("del_leaves_no_keys")
class KeepsTombstones(RedisAdapter):
    """Remembers in a key of its own what was deleted."""

    def open(self, env: StoreEnv) -> Any:
        store = super().open(env)
        store.env = env
        return store

    def delete(self, store: Any, scope: Scope, id: str) -> None:
        super().delete(store, scope, id)
        store.link.client().hset(f"{store.env.prefix}deleted", id, "1")


@mutant("del_missing_is_quiet")
class MissesWhatIsGone(RedisAdapter):
    """Says what is not there to delete, and does not declare it."""

    def delete(self, store: Any, scope: Scope, id: str) -> None:
        if super().get(store, scope, id) is None:
            raise NotFoundError(f"There is no record {id!r}.")
        super().delete(store, scope, id)


@mutant("del_more_than_one_page")
class DeletesOnePage(RedisAdapter):
    """Lists what is to be deleted, and gets the first hundred."""

    def delete_all(self, store: Any, scope: Scope) -> None:
        for record in super().list_records(store, scope, limit=100).items:
            super().delete(store, scope, record.id)


@mutant("del_more_than_one_page")
class ClearsAThousand(RedisAdapter):
    """Takes a thousand messages away."""

    def clear(self, store: Any, scope: Scope) -> None:
        rest = super().read(store, scope)[1000:]
        super().clear(store, scope)
        super().append(store, scope, rest)


@mutant("del_by_filter_exact")
class DeletesByPrefix(RedisAdapter):
    """Compares texts as far as the wanted one goes."""

    def delete_where(self, store: Any, scope: Scope, filter: Filter) -> int:
        if not isinstance(filter, Compare) or filter.op != "eq":
            return super().delete_where(store, scope, filter)
        found = [
            record.id
            for record in super().list_records(store, scope).items
            if str(record.metadata.get(filter.field)).startswith(str(filter.value))
        ]
        for id_ in found:
            super().delete(store, scope, id_)
        return len(found)


@mutant("del_by_filter_exact")
class CountsWhatIsThere(PostgresAdapter):
    """Says how many records there were, not how many are gone."""

    def delete_where(self, store: Any, scope: Scope, filter: Filter) -> int:
        before = len(super().list_records(store, scope).items)
        super().delete_where(store, scope, filter)
        return before


@mutant("del_in_other_schema_and_prefix")
class DeletesInTheFirstPlace(RedisAdapter):
    """Makes the statement that deletes once, for the place that was opened first."""

    def __init__(self) -> None:
        self.first: Any = None

    def open(self, env: StoreEnv) -> Any:
        store = super().open(env)
        self.first = self.first or store
        return store

    def delete(self, store: Any, scope: Scope, id: str) -> None:
        super().delete(self.first, scope, id)


@mutant("del_in_other_schema_and_prefix")
class DeletesMessagesInTheFirstPlace(PostgresAdapter):
    """The same for single messages."""

    def __init__(self) -> None:
        self.first: Any = None

    def open(self, env: StoreEnv) -> Any:
        store = super().open(env)
        self.first = self.first or store
        return store

    def delete_message(self, store: Any, scope: Scope, which: str) -> Any:
        return super().delete_message(self.first, scope, which)


@mutant("del_then_readd_same_id", "idem_same_id_twice")
class KeepsOldMetadata(RedisAdapter):
    """Merges the metadata of a record with what its id had before."""

    def __init__(self) -> None:
        self.metadata: dict[tuple[Scope, str], dict[str, Any]] = {}

    def put(self, store: Any, scope: Scope, record: Record, **options: Any) -> None:
        merged = self.metadata.setdefault((scope, record.id), {})
        merged.update(record.metadata)
        super().put(store, scope, replace(record, metadata=dict(merged)), **options)


@mutant("idem_same_id_twice")
class FirstPutWins(PostgresAdapter):
    """Does nothing where the id is there."""

    def put(self, store: Any, scope: Scope, record: Record, **options: Any) -> None:
        if super().get(store, scope, record.id) is None:
            super().put(store, scope, record, **options)


@mutant("idem_retry_after_lost_reply", "idem_writes_same_task")
class ForgetsWriteIds(RedisAdapter):
    """Takes write ids and does not look at them."""

    def append(
        self, store: Any, scope: Scope, messages: Sequence[Message], *, write_id: str | None = None
    ) -> None:
        super().append(store, scope, messages)


@mutant("idem_retry_after_lost_reply")
class RepeatsOldPuts(RedisAdapter):
    """Writes a record again, whatever was written since."""

    def put(
        self,
        store: Any,
        scope: Scope,
        record: Record,
        *,
        ttl: float | None = None,
        write_id: str | None = None,
    ) -> None:
        super().put(store, scope, record, ttl=ttl)


@mutant("idem_setup_twice")
class MakesOneMoreIndex(PostgresAdapter):
    """Makes an index without a name of its own."""

    def setup(self, store: Any) -> None:
        super().setup(store)
        statement = store.plans.statements.custom(
            "CREATE INDEX ON {records} USING hnsw ((embedding::vector(8)) vector_cosine_ops)"
        )

        def steps() -> Steps[None]:
            yield Query(statement)

        store.run(Plan(steps))


@mutant("idem_setup_twice")
class BeginsAnew(PostgresAdapter):
    """Empties the tables that it makes."""

    def setup(self, store: Any) -> None:
        super().setup(store)

        def steps() -> Steps[None]:
            yield Query(store.plans.statements.custom("TRUNCATE {records} CASCADE"))

        store.run(Plan(steps))


@mutant("idem_writes_same_task")
class DoublesReplays(RedisAdapter):
    """Gives what is there already an id of its own."""

    def put_many(self, store: Any, scope: Scope, records: Sequence[Record], **options: Any) -> None:
        there = {record.id for record in super().list_records(store, scope).items}
        fresh = [
            replace(record, id=f"{record.id} (2)") if record.id in there else record
            for record in records
        ]
        super().put_many(store, scope, fresh, **options)


@mutant("update_keeps_created_changes_updated")
class UpdatesByPuttingAnew(RedisAdapter):
    """Deletes the record and puts a new one."""

    def update(self, store: Any, scope: Scope, id: str, **changes: Any) -> None:
        found = super().get(store, scope, id)
        assert found is not None
        super().delete(store, scope, id)
        super().put(store, scope, replace(found, **changes, created_at=None, updated_at=None))


@mutant("update_keeps_created_changes_updated")
class ListsTheOldTime(PostgresAdapter):
    """Shows in listings when a record was made, for when it was changed."""

    def list_records(self, store: Any, scope: Scope, **options: Any) -> Page:
        page: Page = super().list_records(store, scope, **options)
        return replace(page, items=[replace(one, updated_at=one.created_at) for one in page.items])


@mutant("update_keeps_created_changes_updated")
class NeverTouches(PostgresAdapter):
    """Leaves updated_at as it was made."""

    def get(self, store: Any, scope: Scope, id: str) -> Record | None:
        found: Record | None = super().get(store, scope, id)
        return None if found is None else replace(found, updated_at=found.created_at)

    def list_records(self, store: Any, scope: Scope, **options: Any) -> Page:
        page: Page = super().list_records(store, scope, **options)
        return replace(page, items=[replace(one, updated_at=one.created_at) for one in page.items])
