"""`memory-matrix` and `python -m memory_matrix`."""

from __future__ import annotations

import sys

from memory_matrix.entry import enter


def main() -> int:
    """Run the command line and return its exit code."""
    return enter("memory_matrix.cli")


if __name__ == "__main__":
    sys.exit(main())
