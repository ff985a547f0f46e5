"""Making tables: by many at once, on older and later data, with and without rights and extension."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from memory_matrix.isolation.postgres import Place, PostgresIsolation
from memory_matrix.stores.errors import DimensionError, RefusedError, RightsError, SchemaError
from memory_matrix.stores.postgres import PostgresAdapter, PostgresStore
from memory_matrix.stores.protocol import Message, Record, Scope, StoreEnv

pytestmark = pytest.mark.integration

SCOPE = Scope()
HELLO = [Message("user", "hello")]


@pytest.fixture
def bare_database(isolation: PostgresIsolation, server_url: str) -> str:
    """A database without the vector extension."""
    name = f"bare_{secrets.token_hex(4)}"
    isolation.execute(f"CREATE DATABASE {name}")
    return make_conninfo(server_url, dbname=name)


@pytest.fixture
def role(isolation: PostgresIsolation, place: Place) -> Iterator[str]:
    """A user who may read and write tables of the schema, once granted, and make none."""
    name = f"role_{secrets.token_hex(4)}"
    isolation.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'secret'")
    isolation.execute(f'GRANT USAGE ON SCHEMA "{place.schema}" TO {name}')
    yield name
    isolation.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


def relations(admin: psycopg.Connection[Any]) -> list[str]:
    rows = admin.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
        " ORDER BY relname"
    )
    return [row[0] for row in rows]


@pytest.mark.concurrency
def test_eight_make_the_tables_at_once(place: Place, admin: psycopg.Connection[Any]) -> None:
    stores = [PostgresStore(place.dsn, dimensions=3) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(PostgresStore.setup, stores))
    made = relations(admin)
    for store in stores:
        store.append(SCOPE, HELLO)
        store.close()
    assert relations(admin) == made


def test_a_store_without_tables_says_so(open_store: Any) -> None:
    store = open_store()
    for call in (
        lambda: store.append(SCOPE, HELLO),
        lambda: store.read(SCOPE),
        lambda: store.get(SCOPE, "a"),
    ):
        with pytest.raises(SchemaError, match=r"call `setup\(\)` once"):
            call()
    store.setup()
    store.append(SCOPE, HELLO)


def test_the_extension_is_made_where_it_is_not(open_store: Any, bare_database: str) -> None:
    store = open_store(bare_database)
    store.setup()
    store.put(SCOPE, Record("a", "text", [1, 2, 3]))
    assert store.search(SCOPE, [1, 2, 3], 1) == [("a", 0.0)]


def test_a_store_without_dimensions_needs_no_extension(open_store: Any, bare_database: str) -> None:
    store = open_store(bare_database, dimensions=None)
    store.setup()
    store.put(SCOPE, Record("a", "text", metadata={"k": 1}))
    assert store.get(SCOPE, "a").text == "text"
    with pytest.raises(DimensionError):
        store.put(SCOPE, Record("b", "text", [1, 2, 3]))
    with psycopg.connect(bare_database) as connection:
        assert not connection.execute(
            "SELECT 1 FROM pg_extension WHERE extname = 'vector'"
        ).fetchall()


def test_vectors_can_be_added_to_tables_without(open_store: Any) -> None:
    plain = open_store(dimensions=None)
    plain.setup()
    plain.put(SCOPE, Record("old", "kept"))
    store = open_store()
    with pytest.raises(SchemaError, match="no vectors"):
        store.get(SCOPE, "old")
    store.setup()
    store.put(SCOPE, Record("new", "", [1, 0, 0]))
    assert store.get(SCOPE, "old").text == "kept"
    assert store.search(SCOPE, [1, 0, 0], 5) == [("new", 0.0)]
    assert plain.get(SCOPE, "new").vector is None


def test_stores_of_two_lengths_share_the_tables(open_store: Any) -> None:
    three, four = open_store(dimensions=3), open_store(dimensions=4, metric="l2")
    three.setup()
    four.setup()
    three.put(SCOPE, Record("3", "", [1, 0, 0]))
    four.put(SCOPE, Record("4", "", [1, 0, 0, 0]))
    assert [found[0] for found in three.search(SCOPE, [1, 0, 0], 9)] == ["3"]
    assert [found[0] for found in four.search(SCOPE, [1, 0, 0, 0], 9)] == ["4"]
    assert len(four.get(SCOPE, "3").vector) == 3


def test_stores_with_other_table_names_never_meet(open_store: Any) -> None:
    one, other = open_store(tables="one"), open_store(tables="other")
    one.setup()
    other.setup()
    one.append(SCOPE, HELLO)
    assert other.read(SCOPE) == []
    with pytest.raises(RefusedError, match="tables is"):
        open_store(tables='x"; DROP TABLE one_sessions; --')


def test_a_user_who_may_not_create_works_after_anothers_setup(
    open_store: Any, store: Any, place: Place, role: str, isolation: PostgresIsolation
) -> None:
    isolation.execute(
        f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "{place.schema}" TO {role}'
    )
    limited = open_store(make_conninfo(place.dsn, user=role, password="secret"))
    limited.setup()
    limited.append(SCOPE, HELLO, write_id="w")
    limited.put(SCOPE, Record("a", "", [1, 2, 3]), write_id="w")
    limited.set_state(SCOPE, {"a": 1}, level="app")
    assert [each.text for each in store.read(SCOPE)] == ["hello"]
    limited.clear(SCOPE)
    assert limited.count(SCOPE) == 0


def test_a_user_without_rights_is_told(
    open_store: Any, store: Any, place: Place, role: str
) -> None:
    limited = open_store(make_conninfo(place.dsn, user=role, password="secret"))
    with pytest.raises(RightsError, match="permission denied"):
        limited.append(SCOPE, HELLO)


def test_a_user_who_may_not_make_tables_is_told(open_store: Any, place: Place, role: str) -> None:
    limited = open_store(make_conninfo(place.dsn, user=role, password="secret"))
    with pytest.raises((RightsError, SchemaError)):
        limited.setup()


def test_tables_of_the_release_before_are_brought_up_to_date(open_store: Any, place: Place) -> None:
    PostgresAdapter().older(StoreEnv(postgres_dsn=place.dsn, dimensions=3))
    store = open_store()
    with pytest.raises(SchemaError, match="earlier release"):
        store.append(SCOPE, HELLO)
    store.setup()
    store.append(SCOPE, HELLO, write_id="new")
    store.append(SCOPE, HELLO, write_id="new")
    assert [each.text for each in store.read(SCOPE)] == [
        "from an older release",
        "still here",
        "hello",
    ]
    assert store.get(SCOPE, "old").metadata == {"kind": "old"}


def test_tables_of_a_later_release_are_left_alone(
    open_store: Any, store: Any, admin: psycopg.Connection[Any]
) -> None:
    store.append(SCOPE, HELLO)
    admin.execute("COMMENT ON TABLE memory_sessions IS 'memory-matrix, layout 99'")
    later = open_store()
    for call in (later.setup, lambda: later.append(SCOPE, HELLO), lambda: later.clear(SCOPE)):
        with pytest.raises(SchemaError, match="later release"):
            call()
    assert store.count(SCOPE) == 1


def test_tables_of_somebody_else_are_left_alone(
    open_store: Any, admin: psycopg.Connection[Any]
) -> None:
    admin.execute("CREATE TABLE memory_sessions (mine text)")
    store = open_store()
    for call in (store.setup, lambda: store.append(SCOPE, HELLO)):
        with pytest.raises(SchemaError, match="are not the store's"):
            call()
    assert relations(admin) == ["memory_sessions"]


def test_the_ddl_makes_what_setup_makes(
    open_store: Any, isolation: PostgresIsolation, store: Any, admin: psycopg.Connection[Any]
) -> None:
    adapter = PostgresAdapter()
    other = isolation.schema(adapter.ddl(StoreEnv(dimensions=3)))
    with psycopg.connect(other.dsn) as connection:
        assert relations(connection) == relations(admin)
    ready = open_store(other.dsn)
    ready.put(SCOPE, Record("a", "", [1, 2, 3]))


def test_tables_in_a_later_schema_of_the_path_are_not_taken(
    open_store: Any, store: Any, place: Place, isolation: PostgresIsolation
) -> None:
    inner = isolation.schema()
    path = sql.SQL("{},{},public").format(
        sql.Identifier(inner.schema), sql.Identifier(place.schema)
    )
    target = make_conninfo(place.dsn, options=f"-csearch_path={path.as_string(None)}")
    nested = open_store(target)
    nested.setup()
    nested.append(SCOPE, HELLO)
    assert store.read(SCOPE) == []
