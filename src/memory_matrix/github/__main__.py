"""`python -m memory_matrix.github`: what action.yml runs."""

from __future__ import annotations

import sys

from memory_matrix.entry import enter

if __name__ == "__main__":
    sys.exit(enter("memory_matrix.github.entry"))
