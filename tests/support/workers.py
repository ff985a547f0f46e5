"""A process's way to the servers that a test names."""

from __future__ import annotations

from pathlib import Path

from memory_matrix.suite.options import EMBEDDED, Options
from memory_matrix.suite.worker import Worker


def worker_on(*, postgres: str = EMBEDDED, redis: str = EMBEDDED) -> Worker:
    """Return it, to be closed."""
    return Worker(
        Options(
            postgres=(postgres,),
            redis=(redis,),
            stores=(),
            serializers=(None,),
            root=Path.cwd(),
            may_hold_data=False,
            waivers=None,
            results=None,
        )
    )
