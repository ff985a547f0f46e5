"""A quick start of the suite's own processes: nothing that is loaded there is garbage before they end.

Looking for some while modules and cases are loaded, and again after each test, would be a third of the
time of a process that runs few cases.
"""

from __future__ import annotations

import gc

import pytest

gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Look for garbage from here on, in what the tests make."""
    gc.enable()
    gc.freeze()
