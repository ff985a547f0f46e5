"""Which settings a private server can be given, and what becomes of them."""

from __future__ import annotations

import pytest

from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import ServerKind
from memory_matrix.servers.recipes import Part, redis_config
from memory_matrix.servers.settings import check_settings, postgres_options, redis_lines
from support.tables import table


@table(
    ("kind", "name", "value"),
    [
        ("redis", "port", "1"),
        ("redis", "Port", "1"),
        ("redis", "requirepass", "mine"),
        ("redis", "save 1 1\nport", "1"),
        ("redis", "", "1"),
        ("redis", "maxmemory", "3mb\nport 1"),
        ("redis", "maxmemory", "3mb\0"),
        ("redis", "maxmemory", 3),
        ("postgres", "data_directory", "/"),
        ("postgres", "PORT", "1"),
        ("postgres", "work-mem", "1MB"),
        ("postgres", "-D", "/"),
        ("postgres", "application_name", "a\0b"),
    ],
)
def test_what_is_not_the_users_to_choose_is_a_sentence(
    kind: ServerKind, name: str, value: object
) -> None:
    with pytest.raises(UsageError) as caught:
        check_settings(kind, {name: value})
    assert "\n" not in str(caught.value)


@table(
    ("kind", "name", "value"),
    [
        ("redis", "maxmemory-policy", "noeviction"),
        ("redis", "save", ""),
        ("redis", "save", "3600 1"),
        ("postgres", "max_connections", "10"),
        ("postgres", "auto_explain.log_min_duration", "0"),
        ("postgres", "TimeZone", "Asia/Kolkata"),
    ],
)
def test_other_settings_are_passed_on(kind: ServerKind, name: str, value: str) -> None:
    check_settings(kind, {name: value})


def test_settings_become_lines_and_arguments() -> None:
    assert redis_lines({"save": "", "maxmemory": "3mb"}) == ['save ""', "maxmemory 3mb"]
    assert postgres_options({"port": "1"}) == ["-c", "port=1"]


def test_the_users_settings_win_over_our_own() -> None:
    lines = redis_config(1, Part(settings={"appendonly": "yes"}), bind="::1").splitlines()
    assert [line for line in lines if line.startswith("appendonly")] == ["appendonly yes"]


def test_a_sentinel_keeps_no_data() -> None:
    lines = redis_config(1, Part("sentinel", lines=("sentinel myid x",)), bind="::1").splitlines()
    assert not [line for line in lines if line.startswith(("save", "appendonly", "masterauth"))]
    assert lines[-1] == "sentinel myid x"
