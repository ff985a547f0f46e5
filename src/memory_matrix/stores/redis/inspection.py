"""A look at a store from outside, for tests: its keys, expiry at once, a message that is damaged."""

from __future__ import annotations

import json

from memory_matrix.stores.protocol import Scope
from memory_matrix.stores.redis.calls import Call, Plan, answer, script
from memory_matrix.stores.redis.keys import Keys, encoded, namespace_name
from memory_matrix.stores.redis.values import digits, microseconds, utc_now, vector_bytes


def raw_keys(keys: Keys, scope: Scope) -> Plan[list[bytes]]:
    """Return the keys that hold the scope's session and its records."""
    session, records = keys.session(scope), keys.records(scope)
    call = Call(script("raw_keys"), [*session.own, records.index, records.expiries], [records.base])
    (found,) = answer((yield call), "The keys")
    return [bytes(key) for key in found]


def expire_now(keys: Keys, scope: Scope) -> Plan[None]:
    """Let the time to live of the scope's session and records pass, where they have one."""
    found = yield from raw_keys(keys, scope)
    if found:
        answer((yield Call(script("expire_now"), found)), "The keys")


def corrupt(keys: Keys, scope: Scope, index: int) -> Plan[None]:
    """Make the message at `index` unreadable."""
    answer((yield Call(script("corrupt"), [keys.session(scope).messages], [index])), "The message")


def older(keys: Keys, scope: Scope, dimensions: int) -> Plan[None]:
    """Write a session of two messages and a record, as the first release did."""
    now = utc_now()
    session, records = keys.session(scope), keys.records(scope)
    texts = ("from an older release", "still here")
    messages = [
        {"id": f"old{at}", "role": "user", "text": text, "metadata": {"at": at}, "tool": None}
        | {"time": microseconds(now)}
        for at, text in enumerate(texts)
    ]
    call = Call(
        script("older"),
        [*session.all, *records.all, records.record("old")],
        [
            digits(now) + encoded(scope.session, "A session id"),
            *(digits(now) + b"old", namespace_name(scope.namespace), digits(now)),
            *(b"from an older release", b'{"kind":"old"}'),
            vector_bytes([1.0] * dimensions),
            *(json.dumps(message).encode() for message in messages),
        ],
    )
    answer((yield call), "The older data")
