"""Servers for tests of the suite itself: the embedded ones, shared as the plugin shares them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memory_matrix.suite.worker import Worker
from support.workers import worker_on


@pytest.fixture(scope="session")
def suite_worker() -> Iterator[Worker]:
    """Yield this process's way to the embedded servers."""
    worker = worker_on()
    yield worker
    worker.close()
