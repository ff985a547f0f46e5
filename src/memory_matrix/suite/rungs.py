"""How a test asks to be kept apart from the others: the marker `postgres`."""

from __future__ import annotations

import pytest

RUNGS = ("schema", "database", "rollback")
_NEEDS_COMMITS = ("postgres_dsn",)


def rung_of(request: pytest.FixtureRequest) -> str:
    """Return `schema`, `database` or `rollback`, as the test's marker says."""
    marker = request.node.get_closest_marker("postgres")
    named = {"isolation": "schema"} if marker is None else {"isolation": "schema", **marker.kwargs}
    if marker is not None and (marker.args or len(named) > 1 or named["isolation"] not in RUNGS):
        words = [*map(repr, marker.args), *(f"{key}={value!r}" for key, value in named.items())]
        pytest.fail(
            f"@pytest.mark.postgres({', '.join(words)}): it takes isolation=, one of "
            f"{', '.join(map(repr, RUNGS))}.",
            pytrace=False,
        )
    return str(named["isolation"])


def check_rollback(request: pytest.FixtureRequest) -> None:
    """Fail a test that asks for `rollback` and for what would commit on other connections."""
    for fixture in _NEEDS_COMMITS:
        if fixture in request.fixturenames:
            pytest.fail(
                f"isolation='rollback' is for tests that use postgres_connection alone: what goes "
                f"through {fixture} would not be rolled back.",
                pytrace=False,
            )
