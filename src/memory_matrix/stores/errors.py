"""What the reference stores raise: never a driver's own error, each with one sentence."""

from __future__ import annotations


class StoreError(Exception):
    """Base of all that a reference store raises. The store can be used afterwards."""


class RefusedError(StoreError, ValueError):
    """A value or an argument that the store does not take; nothing of the call was done."""


class DimensionError(RefusedError):
    """A vector, stored or searched with, whose length is not the store's."""


class NotFoundError(StoreError, LookupError):
    """What was to be changed, or to be read on from, is not there."""


class ConflictError(StoreError):
    """Somebody else changed or deleted it since it was loaded; nothing of the call was done."""


class CorruptError(StoreError):
    """What the server holds cannot be read as what the store writes."""


class SchemaError(StoreError):
    """The server lacks what the store needs, or holds data of a release that it does not know."""


class ClosedError(StoreError):
    """The store was closed before the call."""


class UnreachableError(StoreError, ConnectionError):
    """The server cannot be reached, is not ready yet, or ended the connection."""


class WaitError(StoreError, TimeoutError):
    """No connection was free, or no answer came, within the time that the store may wait."""


class ReadOnlyError(StoreError):
    """The server takes no writes: it is a replica, or was set to read only."""


class FullError(StoreError):
    """The server has no room for the write."""


class ServerError(StoreError):
    """The server refused the call for another reason, which the sentence gives."""


class RightsError(StoreError):
    """The user may not do this on the server."""
