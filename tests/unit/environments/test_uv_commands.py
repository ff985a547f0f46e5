"""What uv says when it fails."""

from __future__ import annotations

import pytest

from memory_matrix.environments.uv_commands import UvError


@pytest.mark.parametrize(
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
