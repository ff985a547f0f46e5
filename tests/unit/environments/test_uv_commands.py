"""What uv says when it fails."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import uv

from memory_matrix.environments.processes import Runner
from memory_matrix.environments.uv_commands import UvError, open_uv
from support.tables import table


@table(
    ("said", "offline"),
    [
        ("hint: Packages were unavailable because the network was disabled.", True),
        ("hint: Packages were unavailable because the network\n      was disabled.", True),
        ("error: Request failed after 3 retries\n  cause: Failed to fetch: http://x", True),
        ("error: No solution found when resolving dependencies", False),
    ],
)
def test_a_network_that_is_not_there_is_told_wherever_lines_are_broken(said: str, offline: bool):
    assert UvError("", said).offline is offline


def test_uv_is_looked_for_by_one_thread_at_a_time(monkeypatch: pytest.MonkeyPatch):
    ask_together, inside = threading.Barrier(2), threading.Barrier(2)
    joined: list[int] = []

    def find_uv_bin() -> str:
        with suppress(threading.BrokenBarrierError):
            joined.append(inside.wait(0.1))
        return "uv"

    def ask(_: int) -> str:
        ask_together.wait()
        return open_uv(Runner()).binary

    monkeypatch.setattr(uv, "find_uv_bin", find_uv_bin)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(ask, range(2))) == ["uv", "uv"]
    assert joined == []
