"""`memory-matrix` and `python -m memory_matrix`."""

from __future__ import annotations

import sys

from memory_matrix.cli import main

if __name__ == "__main__":
    sys.exit(main())
