"""Names that no other run, worker or test has."""

from __future__ import annotations

import os


def new_token(size: int = 6) -> str:
    """Return `size` random bytes in hexadecimal; not from `random`, which test plugins seed."""
    return os.urandom(size).hex()
