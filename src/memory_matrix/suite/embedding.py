"""A deterministic embedder for stores that search by text."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence

DIMENSIONS = 8


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Return a vector for each text: that of `v:1.0,0.0`, else eight numbers made from its digest."""
    return [_vector(text) for text in texts]


def as_text(vector: Sequence[float]) -> str:
    """Return the text whose vector is just `vector`."""
    return f"v:{','.join(repr(float(part)) for part in vector)}"


def _vector(text: str) -> list[float]:
    if text.startswith("v:"):
        return [float(part) for part in text[2:].split(",")]
    digest = hashlib.blake2b(
        text.encode("utf-8", "surrogatepass"), digest_size=DIMENSIONS * 4
    ).digest()
    return [number / 2**32 - 0.5 for number in struct.unpack(f"<{DIMENSIONS}I", digest)]
