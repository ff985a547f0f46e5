"""The names of the keys: no id, whatever is in it, can meet another's keys.

All that belongs to one user of one app has one hash tag, so that it lives on one node of a cluster: a
session's keys can be changed by one script, and so can the indexes that list sessions and records.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote_from_bytes, unquote

from memory_matrix.stores.errors import RefusedError
from memory_matrix.stores.protocol import Scope
from memory_matrix.stores.redis.values import text_bytes


@dataclass(frozen=True)
class SessionKeys:
    """The keys of one session, and the indexes of its user's sessions."""

    meta: bytes
    messages: bytes
    state: bytes
    writes: bytes
    index: bytes
    expiries: bytes

    @property
    def own(self) -> tuple[bytes, ...]:
        """Those that hold nothing but this session."""
        return (self.meta, self.messages, self.state, self.writes)

    @property
    def shared(self) -> tuple[bytes, bytes]:
        """Those of all sessions of the user."""
        return (self.index, self.expiries)

    @property
    def all(self) -> tuple[bytes, ...]:
        """In the order that the scripts take them."""
        return (*self.own, *self.shared)


@dataclass(frozen=True)
class RecordKeys:
    """The keys of one namespace, and the index of its user's namespaces."""

    index: bytes
    expiries: bytes
    namespaces: bytes
    base: bytes
    """What the key of each record begins with; the encoded id follows."""

    @property
    def all(self) -> tuple[bytes, ...]:
        """In the order that the scripts take them."""
        return (self.index, self.expiries, self.namespaces)

    def record(self, record_id: str) -> bytes:
        """Return the key of one record."""
        return self.base + encoded(record_id, "a record id")


@dataclass(frozen=True)
class Keys:
    """The keys of a store; all of them begin with `prefix`."""

    prefix: str

    def __post_init__(self) -> None:
        """Refuse a prefix that would spread the keys of one user over a cluster."""
        if "{}" in self.prefix:
            raise RefusedError(
                f"The prefix {self.prefix!r} holds {{}}, which takes all keys' hash tags away."
            )

    def session(self, scope: Scope) -> SessionKeys:
        """Return the keys of the scope's session."""
        base, name = self._user(scope), encoded(scope.session, "a session id")
        return SessionKeys(
            base + b":session:" + name,
            base + b":messages:" + name,
            base + b":state:" + name,
            base + b":writes:" + name,
            base + b":sessions",
            base + b":session-expiries",
        )

    def records(self, scope: Scope) -> RecordKeys:
        """Return the keys of the scope's namespace."""
        base, name = self._user(scope), namespace_name(scope.namespace)
        return RecordKeys(
            base + b":records:" + name,
            base + b":expiries:" + name,
            base + b":namespaces",
            base + b":record:" + name + b":",
        )

    def user_state(self, scope: Scope) -> bytes:
        """Return the key of the state that all sessions of a user share."""
        return self._user(scope) + b":user-state"

    def app_state(self, scope: Scope) -> bytes:
        """Return the key of the state that all users of an app share."""
        return self._tagged(encoded(scope.app, "an app id") + b":") + b":app-state"

    def base(self, scope: Scope, kind: str) -> bytes:
        """Return what all keys of one kind begin with that belong to the scope's user."""
        return self._user(scope) + f":{kind}:".encode()

    def _user(self, scope: Scope) -> bytes:
        app, user = encoded(scope.app, "an app id"), encoded(scope.user, "a user id")
        return self._tagged(app + b":" + user)

    def _tagged(self, tag: bytes) -> bytes:
        return text_bytes(self.prefix, "the prefix") + b"{" + tag + b"}"


def encoded(name: str, what: str) -> bytes:
    """Return an id in letters, digits and `-._~%`, so that nothing in it can mean anything.

    Raises:
        RefusedError: it is no text, or holds a lone surrogate.
    """
    return quote_from_bytes(text_bytes(name, what), safe="").encode()


def decoded(name: bytes) -> str:
    """Return the id that `encoded` wrote."""
    return unquote(name.decode())


def namespace_name(namespace: tuple[str, ...]) -> bytes:
    """Return a namespace's parts, each ended by a slash: a prefix of parts is a prefix of the name.

    Raises:
        RefusedError: it is not a tuple of texts.
    """
    if not isinstance(namespace, tuple | list):
        raise RefusedError(f"A namespace is a tuple of texts, not {namespace!r}.")
    return b"".join(encoded(part, "a part of a namespace") + b"/" for part in namespace)


def namespace_parts(name: bytes) -> tuple[str, ...]:
    """Return the parts that `namespace_name` wrote."""
    return tuple(decoded(part) for part in name.split(b"/")[:-1])
