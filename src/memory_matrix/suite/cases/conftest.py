"""What every case is given."""

from __future__ import annotations

import pytest

from memory_matrix.suite.memory import Memory


@pytest.fixture
def memory(memory_store: Memory) -> Memory:
    """Return the store under test on a place of its own."""
    return memory_store
