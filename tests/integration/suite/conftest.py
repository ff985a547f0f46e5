"""Servers for tests of the suite itself: the embedded ones, shared as the plugin shares them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_matrix.suite.options import EMBEDDED, Options
from memory_matrix.suite.worker import Worker


@pytest.fixture(scope="session")
def suite_worker() -> Iterator[Worker]:
    """Yield this process's way to the embedded servers."""
    options = Options(
        postgres=(EMBEDDED,),
        redis=(EMBEDDED,),
        stores=(),
        serializers=(None,),
        root=Path.cwd(),
        may_hold_data=False,
        waivers=None,
        results=None,
    )
    worker = Worker(options)
    yield worker
    worker.close()
