"""The JSON Schema of the matrix file, for editors. `python -m memory_matrix.matrix.schema` writes it."""

from __future__ import annotations

import json
from pathlib import Path

from memory_matrix.matrix.declaration import FILE

PATH = Path(__file__).with_name("schema.json")
"""Where the package has it."""


def text() -> str:
    """Return the JSON Schema as the file holds it."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "memory-matrix.toml",
        **FILE.schema(),
    }
    return json.dumps(schema, indent=2, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
