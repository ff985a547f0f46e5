"""Vectors, in every form that they are kept in, and other things of numpy."""

import array
import base64
import struct
from typing import Any, List

from memory_matrix.payloads.lacking import Lacking, needs


def payload_embedding_list() -> Any:
    """An embedding of 1,536 dimensions as a list of floats, with metadata."""
    return {"id": "doc-1", "embedding": _vector(1536), "metadata": {"page": 3}}


def payload_embedding_array_float() -> Any:
    """An embedding as an array.array of single-precision floats."""
    return array.array("f", _vector(8))


def payload_embedding_array_double() -> Any:
    """An embedding as an array.array of double-precision floats."""
    return array.array("d", _vector(8))


def payload_embedding_packed() -> Any:
    """An embedding packed into little-endian bytes, as Redis vector fields hold it."""
    return {"id": "doc-1", "embedding": struct.pack("<8f", *_vector(8))}


def payload_embedding_base64() -> Any:
    """An embedding as base64 text, as embedding services send it."""
    return base64.b64encode(struct.pack("<8f", *_vector(8))).decode("ascii")


def payload_numpy_float32() -> Any:
    """An embedding as a numpy array of float32."""
    return needs("numpy").array(_vector(8), dtype="float32")


def payload_numpy_float16() -> Any:
    """An embedding as a numpy array of float16."""
    return needs("numpy").array(_vector(8), dtype="float16")


def payload_numpy_matrix() -> Any:
    """Several embeddings as a numpy matrix in column order."""
    numpy = needs("numpy")
    return numpy.asfortranarray(numpy.array(_vector(12), dtype="float64").reshape(3, 4))


def payload_numpy_strided() -> Any:
    """Every second element of a numpy array, a view that is not contiguous."""
    return needs("numpy").array(_vector(8), dtype="float32")[::2]


def payload_numpy_structured() -> Any:
    """A structured numpy array: an id and a score in each record."""
    return needs("numpy").array([(1, 0.5), (2, 0.25)], dtype=[("id", "<i4"), ("score", "<f8")])


def payload_numpy_object() -> Any:
    """A numpy array of Python objects."""
    numpy = needs("numpy")
    value = numpy.empty(3, dtype=object)
    value[:] = [{"page": 3}, None, "text"]
    return value


def payload_numpy_datetime() -> Any:
    """A numpy array of datetime64 with a missing value."""
    return needs("numpy").array(["2026-01-01T12:00", "NaT"], dtype="datetime64[s]")


def payload_numpy_scalars() -> Any:
    """Numpy scalars as scores and counts, which must not become Python numbers."""
    numpy = needs("numpy")
    return [numpy.float32(0.1), numpy.float64(0.1), numpy.int64(7), numpy.bool_(True)]


def payload_numpy_generator() -> Any:
    """The state of a seeded numpy random generator (numpy 1.17 and later)."""
    random = needs("numpy.random", "numpy")
    if not hasattr(random, "Generator"):
        raise Lacking("Needs numpy 1.17 or later for numpy.random.Generator.")
    return random.Generator(random.PCG64(7))


def probe_numpy_generator(value: Any) -> Any:
    """Read its state, without drawing from it."""
    return value.bit_generator.state


def _vector(dimensions: int) -> List[float]:
    return [(number * 37 % 101 - 50) / 101 for number in range(dimensions)]
