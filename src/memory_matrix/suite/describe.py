"""Say of stores, inside an environment, what they need and declare.

Reads a JSON list of names from standard input, with the folder that they are looked for in as the
argument; writes one JSON object per store to standard output, as its last line.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from memory_matrix.errors import MemoryMatrixError
from memory_matrix.stores.loading import load_store


def describe(source: str, root: Path) -> dict[str, Any]:
    """Return what the store `source` needs and declares, or why it cannot be had."""
    try:
        store = load_store(source, root)
    except MemoryMatrixError as error:
        return {"source": source, "error": str(error)}
    return {
        "source": source,
        "needs": list(store.needs),
        "takes_serializer": store.takes_serializer,
        "policy": store.policy.lines(),
    }


def main() -> None:
    """Describe the stores that standard input names."""
    with redirect_stdout(sys.stderr):  # what a module prints on import must not stand in the answer
        root = Path(sys.argv[1])
        answers = [describe(source, root) for source in json.load(sys.stdin)]
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
