"""Which stores are tested on which servers: the parameters of the `memory_store` fixture."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import pytest

from memory_matrix.errors import MemoryMatrixError
from memory_matrix.stores.loading import StoreUnderTest, load_store, unique_names
from memory_matrix.suite.options import KINDS, Kind, Options


@dataclass(frozen=True)
class StoreParameter:
    """One store on its servers, with one serializer."""

    store: StoreUnderTest
    sources: Mapping[Kind, str]
    servers: tuple[str, ...]
    """The short names of the servers."""
    serializer: str | None

    @property
    def id(self) -> str:
        """What stands in a test's name."""
        serializer = () if self.serializer is None else (self.serializer,)
        return "-".join((self.store.name, *self.servers, *serializer))


def load_stores(options: Options) -> list[StoreUnderTest]:
    """Return the stores under test.

    Raises:
        pytest.UsageError: one cannot be loaded, or is no adapter.
    """
    try:
        return unique_names([load_store(source, options.root) for source in options.stores])
    except MemoryMatrixError as error:
        raise pytest.UsageError(str(error)) from None


def parameters(options: Options) -> list[StoreParameter]:
    """Return every store on every server that it needs, with every serializer that it takes."""
    found = [each for store in load_stores(options) for each in _of(store, options)]
    if options.cells is None:
        return found
    wanted = json.loads(options.cells.read_text(encoding="utf-8"))
    return [each for each in found if [each.store.source, each.serializer] in wanted]


def _of(store: StoreUnderTest, options: Options) -> Iterator[StoreParameter]:
    kinds: list[Kind] = [kind for kind in KINDS if kind in store.needs]
    names = {kind: options.names(kind) for kind in kinds}
    serializers = _serializers(options) if store.takes_serializer else (None,)
    for sources in product(*(options.sources(kind) for kind in kinds)):
        chosen = dict(zip(kinds, sources, strict=True))
        servers = tuple(names[kind][chosen[kind]] for kind in kinds)
        for serializer in serializers:
            yield StoreParameter(store, chosen, servers, serializer)


def _serializers(options: Options) -> tuple[str | None, ...]:
    if options.cells is None:
        return options.serializers
    cells = json.loads(options.cells.read_text(encoding="utf-8"))
    return tuple(dict.fromkeys(serializer for _, serializer in cells))
