"""Names that no other run, worker or test has."""

from __future__ import annotations

import os

RUN = "MEMORY_MATRIX_RUN"
"""The variable that hands a run's token on to the processes of the run."""


def new_token(size: int = 6) -> str:
    """Return `size` random bytes in hexadecimal; not from `random`, which test plugins seed."""
    return os.urandom(size).hex()


def run_token() -> str:
    """Return the token of the run that this process belongs to; makes one where there is none."""
    return os.environ.setdefault(RUN, new_token())
