"""`python -m memory_matrix.github`: what action.yml runs."""

from __future__ import annotations

import sys

from memory_matrix.github.entry import main

if __name__ == "__main__":
    sys.exit(main())
