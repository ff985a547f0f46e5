"""What a store is opened with, and the parts that speak to no server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_matrix.stores.errors import RefusedError
from memory_matrix.stores.protocol import Codec
from memory_matrix.stores.redis.conversations import Conversations
from memory_matrix.stores.redis.keys import Keys
from memory_matrix.stores.redis.records import UNSET, Records
from memory_matrix.stores.redis.scoring import METRICS, Metric
from memory_matrix.stores.redis.values import Clock, Payloads, Shapes, ttl_bytes, utc_now


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a store keeps things."""

    prefix: str = "memory:"
    """What all its keys begin with."""
    dimensions: int | None = None
    """The length of its vectors; None takes any, as long as a namespace's are alike."""
    metric: Metric = "cosine"
    ttl: float | None = None
    """Seconds that a session lives after the last write to it; None for ever."""
    codec: Codec | None = None
    """Serializes metadata, tools and states; None for JSON."""
    clock: Clock = field(default=utc_now)
    """What gives the time that is written, with a zone."""

    def __post_init__(self) -> None:
        """Refuse what means nothing."""
        if self.metric not in METRICS:
            raise RefusedError(
                f"There is no metric {self.metric!r}; there are {', '.join(METRICS)}."
            )
        if self.dimensions is not None and self.dimensions < 1:
            raise RefusedError(f"Vectors have at least 1 dimension, not {self.dimensions}.")
        ttl_bytes(self.ttl)


@dataclass(frozen=True)
class Parts:
    """The parts of a store that speak to no server."""

    keys: Keys
    conversations: Conversations
    records: Records


def parts(settings: Settings) -> Parts:
    """Return the parts of a store with these settings."""
    keys = Keys(settings.prefix)
    shapes = Shapes(Payloads(settings.codec), settings.clock, settings.dimensions)
    return Parts(
        keys, Conversations(keys, shapes, settings.ttl), Records(keys, shapes, settings.metric)
    )


def named(**changes: Any) -> Mapping[str, Any]:
    """Return the changes of an update that its caller names."""
    return {name: value for name, value in changes.items() if value is not UNSET}
