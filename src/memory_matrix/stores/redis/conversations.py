"""What is done with sessions, as calls and what their answers mean; nothing here speaks to a server."""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_matrix.stores.errors import NotFoundError, RefusedError
from memory_matrix.stores.protocol import Level, Message, Page, Scope
from memory_matrix.stores.redis.calls import Argument, Call, Plan, answer, script
from memory_matrix.stores.redis.keys import Keys, SessionKeys, decoded, encoded
from memory_matrix.stores.redis.values import (
    Shapes,
    digits,
    how_many,
    instances,
    message_id_bytes,
    text_bytes,
    ttl_bytes,
    utc,
    write_id_bytes,
)

_MOST = 1_000_000
"""How many messages one call can write: what the server's protocol bears."""
_PAGE = 500
"""How many sessions a listing asks for at once, so that the server is free in between."""


@dataclass
class Handle:
    """A session as it was when it was loaded. A write through it moves it on."""

    scope: Scope
    generation: bytes
    version: bytes


@dataclass(frozen=True)
class Conversations:
    """The conversation and state part of one store."""

    keys: Keys
    shapes: Shapes
    ttl: float | None

    def append(
        self, scope: Scope, messages: Sequence[Message], write_id: str | None = None
    ) -> Plan[None]:
        """Append messages, all or none, once for each write id."""
        call = self._write(scope, messages, b"append", _Known(write_id=write_id))
        if call.arguments[8:]:
            answer((yield call), _name(scope))

    def replace(self, scope: Scope, messages: Sequence[Message]) -> Plan[None]:
        """Put messages in the place of the whole history."""
        answer((yield self._write(scope, messages, b"replace", _Known())), _name(scope))

    def append_with(self, handle: Handle, messages: Sequence[Message]) -> Plan[None]:
        """Append messages, unless the session was changed since the handle was loaded."""
        known = _Known(handle.generation, handle.version)
        call = self._write(handle.scope, messages, b"append", known)
        if call.arguments[8:]:
            handle.generation, handle.version = answer((yield call), _name(handle.scope))

    def load(self, scope: Scope) -> Plan[Handle]:
        """Return a handle on the session, which need not be there yet."""
        generation, version, _, _ = yield from self._read(scope, 0)
        return Handle(scope, generation, version)

    def read(
        self,
        scope: Scope,
        limit: int | None = None,
        after: str | dt.datetime | None = None,
    ) -> Plan[list[Message]]:
        """Return the newest messages, oldest first: after the one of an id, or after a time."""
        most = how_many(limit)
        if isinstance(after, dt.datetime):
            after = utc(after, "after")
        _, _, count, found = yield from self._read(scope, -1 if after is not None else most)
        first = count - len(found)
        messages = [
            self.shapes.message(data, f"Message {first + at} of {_name(scope)}")
            for at, data in enumerate(found)
        ]
        if after is not None:
            messages = _after(messages, after, scope)
        return messages if most < 0 else messages[len(messages) - min(most, len(messages)) :]

    def count(self, scope: Scope) -> Plan[int]:
        """Return how many messages the session has."""
        _, _, count, _ = yield from self._read(scope, 0)
        return int(count)

    def pop(self, scope: Scope) -> Plan[Message | None]:
        """Remove and return the newest message."""
        name = _name(scope)
        found = answer((yield self._change("pop", scope, _Known())), name)
        return self.shapes.message(found[0], f"The popped message of {name}") if found else None

    def delete_message(self, scope: Scope, message_id: str) -> Plan[None]:
        """Delete the messages of an id; none need be there."""
        names = (message_id_bytes(message_id), message_id.encode())
        call = self._change("delete_message", scope, _Known(), *names, once=False)
        answer((yield call), _name(scope))

    def clear(self, scope: Scope) -> Plan[None]:
        """Delete the session and all that belongs to it."""
        answer((yield Call(script("clear"), self.keys.session(scope).all)), _name(scope))

    def list_sessions(
        self, scope: Scope, limit: int | None = None, cursor: str | None = None
    ) -> Plan[Page]:
        """Return a page of the ids of the user's sessions, in the order of their creation."""
        most, from_ = how_many(limit), begin(cursor)
        size = _PAGE if most < 0 else min(most + 1, _PAGE)
        indexes = self.keys.session(scope).shared
        bases = [self.keys.base(scope, kind) for kind in ("session", "messages", "state", "writes")]
        members: list[bytes] = []
        while most != 0:
            call = Call(script("list_sessions"), indexes, [from_, size, *bases])
            (found,) = answer((yield call), "The index of sessions")
            members += found
            if len(found) < size or 0 <= most < len(members):
                break
            from_ = b"(" + found[-1]
        shown = members if most < 0 else members[:most]
        more = shown[-1].decode() if shown and len(shown) < len(members) else None
        return Page(tuple(decoded(member[16:]) for member in shown), more)

    def set_state(
        self, target: Scope | Handle, delta: Mapping[str, Any], level: Level = "session"
    ) -> Plan[None]:
        """Merge `delta` into the state of a level, key by key."""
        scope = target.scope if isinstance(target, Handle) else target
        pairs = self._pairs(delta)
        shared = self._shared(scope, level)
        if not pairs:
            return
        if shared:
            call = Call(script("set_shared"), [shared], pairs)
        else:
            known = _Known(target.generation) if isinstance(target, Handle) else _Known()
            call = self._change("set_state", scope, known, *pairs, once=False)
        answer((yield call), _name(scope))

    def get_state(self, scope: Scope, level: Level = "session") -> Plan[dict[str, Any]]:
        """Return the state of a level."""
        shared = self._shared(scope, level)
        if shared:
            call = Call(script("get_shared"), [shared])
        else:
            call = Call(script("get_state"), self.keys.session(scope).own)
        (flat,) = answer((yield call), _name(scope))
        return {
            key.decode(): self.shapes.payloads.loads(value, f"State {key!r}")["value"]
            for key, value in zip(flat[::2], flat[1::2], strict=True)
        }

    def _pairs(self, delta: Mapping[str, Any]) -> list[bytes]:
        if not isinstance(delta, Mapping):
            raise RefusedError(f"A change of state is a mapping, not a {type(delta).__name__}.")
        pairs = []
        for key, value in delta.items():
            pairs.append(text_bytes(key, "A key of a state"))
            pairs.append(self.shapes.payloads.dumps({"value": value}, f"State {key!r}"))
        return pairs

    def _shared(self, scope: Scope, level: Level) -> bytes | None:
        if level == "session":
            return None
        if level == "user":
            return self.keys.user_state(scope)
        if level == "app":
            return self.keys.app_state(scope)
        raise RefusedError(f"There is no state level {level!r}; there are session, user and app.")

    def _read(self, scope: Scope, limit: int) -> Plan[Sequence[Any]]:
        call = Call(script("read"), self.keys.session(scope).own, [limit])
        return answer((yield call), _name(scope))

    def _write(self, scope: Scope, messages: Sequence[Message], mode: bytes, known: _Known) -> Call:
        now = self.shapes.now()
        each_of = instances(messages, Message, _MOST)
        encoded_messages = [self.shapes.message_bytes(each, now) for each in each_of]
        return self._change("append", scope, known, mode, known.version, *encoded_messages)

    def _change(
        self, name: str, scope: Scope, known: _Known, *more: Argument, once: bool = True
    ) -> Call:
        keys: SessionKeys = self.keys.session(scope)
        shared = [
            ttl_bytes(self.ttl),
            encoded(scope.session, "A session id"),
            digits(self.shapes.now()),
            secrets.token_hex(8).encode(),
            known.write() if once else b"",
            known.generation,
        ]
        return Call(script(name), keys.all, [*shared, *more])


@dataclass(frozen=True)
class _Known:
    """What the caller of a write knows: how the session was, and the write's own id."""

    generation: bytes = b""
    version: bytes = b""
    write_id: str | None = None

    def write(self) -> bytes:
        """Return the caller's write id, or one made up: then it is safe to send the write again."""
        if self.write_id is None:
            return b"a" + secrets.token_hex(8).encode()
        return b"c" + write_id_bytes(self.write_id)


def begin(cursor: object) -> bytes:
    """Return where a page begins.

    Raises:
        RefusedError: no page gave this cursor.
    """
    if cursor is None:
        return b"-"
    if not isinstance(cursor, str) or not cursor.isascii():
        raise RefusedError(f"{cursor!r} is no cursor that a page gave.")
    return b"(" + cursor.encode()


def _after(messages: list[Message], after: str | dt.datetime, scope: Scope) -> list[Message]:
    if isinstance(after, dt.datetime):
        return [each for each in messages if each.created_at and each.created_at > after]
    for at, message in enumerate(messages):
        if message.id == after:
            return messages[at + 1 :]
    raise NotFoundError(f"{_name(scope)} has no message {after!r} to read on from.")


def _name(scope: Scope) -> str:
    return f"Session {scope.session!r}"
