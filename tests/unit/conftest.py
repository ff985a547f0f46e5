"""Thousands of small tests in a few seconds."""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest

gc.disable()  # until all is imported and collected: there is next to nothing to free meanwhile


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking through what the collected tests are made of."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Leave out of reports what nobody reads: workers send three of them for each test."""
    report = yield
    report.keywords = {}
    return report
