"""Thousands of small tests in a few seconds."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking through what the collected tests are made of."""
    gc.collect()
    gc.freeze()
