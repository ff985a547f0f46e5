"""Thousands of small tests in a few seconds."""

from __future__ import annotations

import gc
import os
import stat
from collections.abc import Generator, Iterator

import pytest

gc.disable()  # until all is imported and collected: there is next to nothing to free meanwhile


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking through what the collected tests are made of."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Leave out of reports what nobody reads: workers send three of them for each test."""
    report = yield
    report.keywords = {}
    return report


@pytest.fixture(autouse=True, scope="module")
def no_waiting_for_the_disk() -> Iterator[None]:
    """Let what is written be on the disk whenever that comes to it: no test outlives the machine."""
    fsync = os.fsync

    def sync_what_is_no_file(descriptor: int) -> None:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            fsync(descriptor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", sync_what_is_no_file)
        yield
