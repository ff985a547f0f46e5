"""Thousands of small tests in a few seconds."""

from __future__ import annotations

import gc

gc.disable()  # until all is imported and collected: there is next to nothing to free meanwhile


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking through what the collected tests are made of."""
    gc.collect()
    gc.freeze()
    gc.enable()
