"""The stages: what tries cases of the groups on concurrency belongs to the stage `concurrency`."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

MEETING = ("D", "M")
"""Groups of cases where writers, readers, tasks or threads meet."""


def pytest_configure() -> None:
    """Let no test take itself for a step of the workflow that runs it, nor for a job in the background.

    What a script starts in its background ignores Ctrl-C, and so would all that tests start and end.
    """
    os.environ.pop("GITHUB_ACTIONS", None)
    _leave_shims_out()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _leave_shims_out() -> None:
    """Take pyenv's shims off PATH: each is scripts of a second, and what is behind them is found without."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(each for each in folders if Path(each).name != "shims")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what tries a case of those groups."""
    tried = [(item, _tried(item)) for item in items]
    if not any(name for _, name in tried):
        return
    from memory_matrix.suite.catalogue import cases

    groups = {case.name: case.group for case in cases()}
    for item, name in tried:
        if groups.get(name) in MEETING:
            item.add_marker("concurrency")


def _tried(item: pytest.Item) -> str:
    """Return the name of the case that a test tries; empty for tests of other things."""
    call = getattr(item, "callspec", None)
    mutant = None if call is None else call.params.get("mutant")
    return getattr(mutant, "case", "")
