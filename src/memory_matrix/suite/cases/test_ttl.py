"""Group H: what has a time to live goes as a whole, in time and for good, and nothing else does."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from memory_matrix.stores.protocol import Message, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.embedding import embed
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.outcomes import CaseFailed
from memory_matrix.suite.parts import cover_each
from memory_matrix.suite.samples import record
from memory_matrix.suite.sessions import delete_at, say_with_ids

GROUP = "H"

SCOPE = Scope()

TTL = 3600.0
AGED = 1800.0
"""Seconds that a case lets pass, as seen from outside."""
SLACK = 600.0
"""Seconds by which clocks, and a slow machine, may differ from what is expected."""

Left = Mapping[str, "float | None"]
Check = Callable[[Memory], None]


def test_ttl_set_on_every_key(memory: Memory) -> None:
    """With a time to live, every key and row of a session and of a record carries one."""
    _cover(memory, _session_is_marked, _record_is_marked)


def _session_is_marked(memory: Memory) -> None:
    memory.say(replace(SCOPE, session="beside"), "x")  # makes what all sessions of a user share
    shared = memory.site.redis_keys()
    for name, write in _session_writes(memory).items():
        write()
        own = [key for key in memory.site.redis_keys() if key not in shared]
        _all_end(
            f"the session after {name}", {**memory.site.redis_times(own), **memory.traces(SCOPE)}
        )


def _session_writes(memory: Memory) -> dict[str, Callable[[], object]]:
    """Return what can be done to a session, in an order in which it is never empty."""
    writes: dict[str, tuple[tuple[str, ...], Callable[[], object]]] = {
        "append": (("append",), lambda: say_with_ids(memory, SCOPE, "abc")),
        "a second append": (("append",), lambda: memory.say(SCOPE, "d")),
        "append_with": (("load", "append_with"), lambda: _append_with(memory)),
        "set_state": (("set_state",), lambda: _set_state(memory)),
        "pop": (("pop",), lambda: memory.pop(SCOPE)),
        "delete_message": (("delete_message",), lambda: delete_at(memory, SCOPE, 0)),
        "replace": (("replace",), lambda: memory.replace(SCOPE, [Message("user", "new")])),
        "an append after all that": (("append",), lambda: memory.say(SCOPE, "e")),
    }
    if memory.policy.delete_by == "id" and "id" not in memory.policy.message_fields:
        del writes["delete_message"]
    return {
        name: write for name, (calls, write) in writes.items() if all(map(memory.offers, calls))
    }


def _record_is_marked(memory: Memory) -> None:
    memory.put(SCOPE, record(memory, "for ever", "x"))  # makes what all records of a scope share
    memory.traces(SCOPE)  # ends the case where there is nothing to see
    before = _all_left(memory, SCOPE)
    memory.put(SCOPE, record(memory, "a", "x"), ttl=TTL)
    _all_end("a record after put", _without(_all_left(memory, SCOPE), before))
    if memory.offers("put_many", "ttl"):
        memory.put_many(SCOPE, [record(memory, name, "x") for name in "bc"], ttl=TTL)
        _all_end("records after put_many", _without(_all_left(memory, SCOPE), before))
    if memory.offers("update", "ttl"):
        memory.put(SCOPE, record(memory, "d", "x"))
        memory.update(SCOPE, "d", ttl=TTL)
        _all_end("a record after update(ttl=...)", _without(_all_left(memory, SCOPE), before))


def test_ttl_expired_not_returned(memory: Memory) -> None:
    """What has expired is in no answer of get, read, list, search or count, before any sweep too."""
    memory.require("expire_now")
    memory.require_policy(expiry_read="hidden")
    _cover(memory, _expired_session_is_hidden, _expired_record_is_hidden)


def _expired_session_is_hidden(memory: Memory) -> None:
    _fill(memory)
    expect.equal("the history before it expires", memory.texts(SCOPE), ["a", "b"])
    memory.expire_now(SCOPE)
    expect.equal("the history of an expired session", memory.texts(SCOPE), [])
    _no_trace_of_session(memory)


def _no_trace_of_session(memory: Memory) -> None:
    """Fail if anything but `read` still shows the expired session."""
    if memory.offers("count"):
        expect.equal("the count of an expired session", memory.count(SCOPE), 0)
    if memory.offers("list_sessions"):
        expect.equal("the sessions listed after the only one expired", _sessions(memory), [])
    if memory.tested.part("state"):
        expect.equal("the state of an expired session", memory.get_state(SCOPE), {})
    if memory.offers("pop"):
        expect.equal("what pop gives of an expired session", memory.pop(SCOPE), None)


def _expired_record_is_hidden(memory: Memory) -> None:
    memory.put(SCOPE, record(memory, "a", "x"), ttl=TTL)
    expect.equal("what is found before it expires", _seen(memory), _ways_to_see(memory, ["a"]))
    memory.expire_now(SCOPE)
    expect.equal("what is found of an expired record", _seen(memory), _ways_to_see(memory, []))


def test_ttl_read_does_not_revive(memory: Memory) -> None:
    """Reading what has expired does not bring it back."""
    memory.require("expire_now")
    if not _sees_outside(memory):
        memory.require_policy(expiry_read="hidden")
    _cover(memory, _session_stays_expired, _record_stays_expired)


def _session_stays_expired(memory: Memory) -> None:
    _fill(memory)

    def reads() -> list[str]:
        _sessions(memory)
        return memory.texts(SCOPE)

    _stays_expired(memory, "session", reads)


def _record_stays_expired(memory: Memory) -> None:
    memory.put(SCOPE, record(memory, "a", "x"), ttl=TTL)
    _stays_expired(
        memory, "record", lambda: [name for seen in _seen(memory).values() for name in seen]
    )


def _stays_expired(memory: Memory, kind: str, reads: Callable[[], list[str]]) -> None:
    seen_outside = _sees_outside(memory)
    ending = _living(memory.traces(SCOPE), ending=True) if seen_outside else {}
    memory.expire_now(SCOPE)
    reads()
    again = reads()
    if memory.policy.expiry_read == "hidden":
        expect.equal(f"what a second read gives of an expired {kind}", again, [])
    if seen_outside:
        living = _living(memory.traces(SCOPE))
        revived = {name: left for name, left in living.items() if name in ending}
        expect.equal(f"what lives again of an expired {kind} that was read", revived, {})


def test_ttl_refresh_on_read_as_declared(memory: Memory) -> None:
    """A read makes the time to live start again for all keys alike, or for none, as declared."""
    alone = memory.policy.ttl == "record" or memory.policy.ttl_refresh != "read"
    _cover(memory, _session_read_refreshes, _record_read_refreshes if alone else None)


def _session_read_refreshes(memory: Memory) -> None:
    _fill(memory)
    memory.age(SCOPE, AGED)
    memory.texts(SCOPE)
    if memory.policy.ttl_refresh != "read":
        _sessions(memory)
    _went_on("a session after a read", memory, memory.policy.ttl_refresh == "read")


def _record_read_refreshes(memory: Memory) -> None:
    memory.put(SCOPE, record(memory, "for ever", "x"))
    before = memory.traces(SCOPE)
    memory.put(SCOPE, record(memory, "a", "x"), ttl=TTL)
    memory.age(SCOPE, AGED)
    memory.get(SCOPE, "a")
    refreshed = memory.policy.ttl_refresh == "read"
    if not refreshed:
        _seen(memory)
    _went_on("a record after a read", memory, refreshed, but=before)


def test_ttl_refresh_on_write(memory: Memory) -> None:
    """An append makes the time to live of all keys of the session start again, or of none as declared."""
    _cover(memory, _session_write_refreshes, None)


def _session_write_refreshes(memory: Memory) -> None:
    _fill(memory)
    memory.age(SCOPE, AGED)
    memory.say(SCOPE, "c")
    _went_on("a session after an append", memory, memory.policy.ttl_refresh != "never")


def test_ttl_kept_on_update(memory: Memory) -> None:
    """An update that names no time to live keeps the one that there is, or clears it, as declared."""
    memory.require("update")
    _cover(memory, None, _update_keeps)


def _update_keeps(memory: Memory) -> None:
    memory.put(SCOPE, record(memory, "for ever", "x"))
    before = memory.traces(SCOPE)
    changes = {"text": "new", "metadata": {"new": 1}, "vector": embed(["new"])[0]}
    for name, value in changes.items():
        if not memory.offers("update", name) or (name == "vector" and not memory.offers("search")):
            continue
        memory.put(SCOPE, record(memory, name, "old"), ttl=TTL)
        memory.age(SCOPE, AGED)
        memory.update(SCOPE, name, **{name: value})
        what = f"a record after an update of its {name}"
        if memory.policy.ttl_on_update == "keep":
            _went_on(what, memory, False, but=before)
        else:
            left = _without(memory.traces(SCOPE), before)
            expect.true(
                None in left.values(), f"{what}: expected it to live for ever, got {_shown(left)}"
            )


def test_ttl_replace_keeps(memory: Memory) -> None:
    """A replaced history keeps its time to live in all keys alike, begun again only if writes do that."""
    memory.require("replace")
    _cover(memory, _replace_keeps, None)


def _replace_keeps(memory: Memory) -> None:
    _fill(memory)
    memory.age(SCOPE, AGED)
    memory.replace(SCOPE, [Message("user", "new"), Message("assistant", "newer")])
    expect.equal("the replaced history", memory.texts(SCOPE), ["new", "newer"])
    if memory.policy.ttl_refresh == "never":
        _went_on("a session after replace", memory, False)
    left = memory.traces(SCOPE)
    _all_end("a session after replace", left)
    times = [each for each in left.values() if each is not None]
    alike = max(times) - min(times) < SLACK
    expect.true(alike, f"a session after replace: expected one end for all, got {_shown(left)}")


def test_ttl_fraction_and_zero(memory: Memory) -> None:
    """A time to live of 0.5 s and one of 0 are handled as declared, and never mean for ever."""
    unseen: list[str] = []
    _cover(memory, partial(_short_sessions, unseen), partial(_short_records, unseen))
    if unseen:
        memory.not_offered(
            f"the adapter has neither raw_keys nor raw_rows to see the end of {unseen[0]} by"
        )


def _short_sessions(unseen: list[str], memory: Memory) -> None:
    memory.say(Scope(session="beside"), "x")  # makes what all sessions of a user share
    for ttl in (0.5, 0):
        scope, other = Scope(session=f"ttl {ttl}"), memory.another(ttl=ttl)
        _short(_session_of(other, memory, scope), unseen)


def _session_of(other: Memory, outside: Memory, scope: Scope) -> _Short:
    return _Short(
        other,
        scope,
        "a session",
        other.env.ttl or 0,
        write=lambda: other.say(scope, "a"),
        seen=lambda: bool(other.texts(scope)),
        outside=outside,
        seen_outside=lambda: bool(outside.texts(scope)),
    )


def _short_records(unseen: list[str], memory: Memory) -> None:
    for ttl in (0.5, 0):
        scope = Scope(namespace=("short" if ttl else "zero",))
        memory.put(scope, record(memory, "for ever", "x"))  # as above, of a scope
        _short(_record_of(memory, scope, ttl), unseen)


def _record_of(memory: Memory, scope: Scope, ttl: float) -> _Short:
    def seen() -> bool:
        return memory.get(scope, "a") is not None

    def write() -> object:
        return memory.put(scope, record(memory, "a", "x"), ttl=ttl)

    return _Short(memory, scope, "a record", ttl, write, seen, memory, seen)


def test_ttl_none_means_none(memory: Memory) -> None:
    """Without one nothing expires; a put without one leaves no old one, an append as is declared."""
    checks = {"conversation": _session_lives_on, "records": _record_lives_on}
    offered = [check for part, check in checks.items() if memory.tested.part(part)]
    memory.traces(SCOPE)
    for check in offered:
        check(memory)


def _session_lives_on(memory: Memory) -> None:
    _fill(memory)
    _none_ends("a session without a time to live", memory.traces(SCOPE))
    if memory.policy.ttl not in {"session", "both"}:
        return
    scope = Scope(session="begun with a time to live")
    memory.another(ttl=TTL).say(scope, "a", "b")
    memory.say(scope, "c")
    what = "a session with a time to live after an append without one"
    if memory.policy.ttl_on_append == "keep":
        _all_end(what, memory.traces(scope))
    else:
        _none_ends(what, memory.traces(scope))


def _record_lives_on(memory: Memory) -> None:
    memory.put(SCOPE, record(memory, "a", "x"))
    _none_ends("a record without a time to live", memory.traces(SCOPE))
    if not memory.offers("put", "ttl") or memory.policy.same_id == "refuse":
        return
    before = memory.traces(SCOPE)
    memory.put(SCOPE, record(memory, "a", "x"), ttl=TTL)
    memory.put(SCOPE, record(memory, "a", "y"))
    after = memory.traces(SCOPE)
    left = {name: each for name, each in after.items() if name in before} or after
    _none_ends("a record that was put again without a time to live", left)


def test_ttl_rebuild_after_expiry(memory: Memory) -> None:
    """Writing to what has expired starts it anew: nothing of the old, and with a time to live."""
    memory.require("expire_now")
    memory.require_policy(expiry_read="hidden")
    _cover(memory, _session_starts_anew, _record_starts_anew)


def _session_starts_anew(memory: Memory) -> None:
    _fill(memory)
    memory.expire_now(SCOPE)
    memory.say(SCOPE, "c")
    expect.equal("the history of a session begun anew", memory.texts(SCOPE), ["c"])
    memory.say(SCOPE, "d")
    expect.equal("that history after a second append", memory.texts(SCOPE), ["c", "d"])
    if memory.offers("count"):
        expect.equal("the count of a session begun anew", memory.count(SCOPE), 2)
    if memory.offers("list_sessions"):
        expect.equal("the sessions listed", _sessions(memory), [SCOPE.session])
    if memory.tested.part("state"):
        expect.equal("the state of a session begun anew", memory.get_state(SCOPE), {})
    _new_ends("a session begun anew", memory)


def _record_starts_anew(memory: Memory) -> None:
    memory.put(SCOPE, record(memory, "a", "old", {"old": 1}), ttl=TTL)
    memory.expire_now(SCOPE)
    memory.put(SCOPE, record(memory, "a", "new", {"new": 2}), ttl=TTL)
    found = memory.get(SCOPE, "a")
    got = None if found is None else (found.text, dict(found.metadata))
    expect.equal("a record put anew after it expired", got, ("new", {"new": 2}))
    expect.equal("what is found of it", _seen(memory), _ways_to_see(memory, ["a"]))
    _new_ends("a record put anew", memory)


def test_ttl_part_expired(memory: Memory) -> None:
    """Where one of a session's keys has expired, the store says so or has no session: never half of one."""
    memory.require("append", "read", "raw_keys")
    ttl = TTL if memory.policy.ttl in {"session", "both"} else None
    other = memory.another(ttl=ttl)
    whole = ["a", "b", "c"]
    number, keys = 0, [""]
    while number < len(keys):
        scope = Scope(session=f"s{number}")
        other.say(scope, *whole)
        _set_state(other, scope)
        keys = sorted(other.raw_keys(scope))
        expect.true(keys, "expected raw_keys to name the keys of a session, got none")
        other.site.redis_client.delete(keys[number])
        _is_whole(other, scope, whole)
        number += 1


def _is_whole(memory: Memory, scope: Scope, whole: list[str]) -> None:
    """Fail if what is left of a session is passed as a session."""
    read = memory.attempt(lambda: memory.texts(scope))
    what = "the history of a session one of whose keys has expired"
    _one_of(what, read.value, [whole, []], refused=read.refused)
    if memory.offers("count"):
        count = memory.attempt(lambda: memory.count(scope))
        _one_of(f"the count of {what}", count.value, [len(whole), 0], refused=count.refused)
    wrote = memory.attempt(lambda: memory.say(scope, "d"))
    again = memory.attempt(lambda: memory.texts(scope))
    histories = [[], whole] if wrote.refused else [["d"], [*whole, "d"]]
    _one_of(f"after one more append, {what}", again.value, histories, refused=again.refused)


def test_ttl_delete_then_ttl_listing(memory: Memory) -> None:
    """Listings hold nothing of sessions and records that have expired or were deleted."""
    memory.require("expire_now")
    memory.require_policy(expiry_read="hidden")
    lists = memory.offers("list_sessions"), memory.offers("list_records")
    if not any(lists):
        memory.not_offered("the adapter has neither list_sessions nor list_records")
    _cover(
        memory,
        _expired_sessions_are_not_listed if lists[0] else None,
        _expired_records_are_not_listed if lists[1] else None,
    )


def _expired_sessions_are_not_listed(memory: Memory) -> None:
    scopes = {name: Scope(session=name) for name in ("kept", "expired", "cleared", "other")}
    for scope in scopes.values():
        memory.say(scope, "a")
    memory.expire_now(scopes["expired"])
    if memory.offers("clear"):
        memory.clear(scopes["cleared"])
    wanted = ["kept", "other"] if memory.offers("clear") else ["kept", "other", "cleared"]
    expect.contents("the sessions listed", _sessions(memory), wanted)
    if memory.offers("list_sessions", "limit", "cursor"):
        paged = memory.all_sessions(SCOPE, limit=1)
        expect.contents("the sessions listed in pages of 1", paged, wanted)


def _expired_records_are_not_listed(memory: Memory) -> None:
    kept, expired = Scope(namespace=("n", "kept")), Scope(namespace=("n", "expired"))
    for scope in (kept, expired):
        memory.put(scope, record(memory, "a", "x"), ttl=TTL)
    memory.expire_now(expired)
    if memory.offers("list_namespaces"):
        found = [each for each in memory.list_namespaces(SCOPE, ("n",)) if len(each) > 1]
        expect.equal("the namespaces listed", found, [kept.namespace])
    memory.put(expired, record(memory, "b", "x"), ttl=TTL)
    names = [each.id for each in memory.all_records(expired)]
    expect.equal("the records listed where one has expired", names, ["b"])
    names = [each.id for each in memory.all_records(kept)]
    expect.equal("the records listed where none has", names, ["a"])
    if memory.offers("delete"):
        memory.delete(kept, "a")
        expect.equal("the records listed after a delete", memory.all_records(kept), [])


# ---- what the store has --------------------------------------------------------------------------


def _cover(memory: Memory, sessions: Check | None, records: Check | None) -> None:
    """Run the check of sessions on a store whose sessions have a time to live, and that of records."""
    ttl = memory.policy.ttl
    checks = []
    if sessions and ttl in {"session", "both"} and memory.tested.part("conversation"):
        checks.append((memory.another(ttl=TTL), sessions))
    if records and ttl in {"record", "both"} and memory.offers("put", "ttl"):
        checks.append((memory, records))
    if not checks:
        memory.not_offered(f"policy ttl is {ttl}")
    cover_each(checks)


def _fill(memory: Memory) -> None:
    """Make a session of two messages, with a state where there are states."""
    memory.say(SCOPE, "a", "b")
    _set_state(memory)


def _set_state(memory: Memory, scope: Scope = SCOPE) -> None:
    if memory.tested.part("state"):
        handle = memory.load(scope) if memory.offers("load") else scope
        memory.set_state(handle, {"key": "value"})


def _append_with(memory: Memory) -> None:
    memory.append_with(memory.load(SCOPE), [Message("user", "with a handle")])


def _sessions(memory: Memory) -> list[str]:
    return memory.all_sessions(SCOPE) if memory.offers("list_sessions") else []


def _seen(memory: Memory) -> dict[str, list[str]]:
    """Return the ids of the records but the one for ever, by each call that may show them."""
    found = memory.get(SCOPE, "a")
    seen = {"get": [] if found is None else [found.id]}
    if memory.offers("list_records"):
        seen["list_records"] = [each.id for each in memory.all_records(SCOPE)]
    if memory.offers("search"):
        seen["search"] = memory.found(SCOPE, embed(["x"])[0], 5)
    return seen


def _ways_to_see(memory: Memory, ids: list[str]) -> dict[str, list[str]]:
    calls = [call for call in ("get", "list_records", "search") if memory.offers(call)]
    return dict.fromkeys(calls, ids)


# ---- times ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Short:
    """A write with a time to live of 0.5 s or 0."""

    memory: Memory
    scope: Scope
    kind: str
    ttl: float
    write: Callable[[], object]
    seen: Callable[[], bool]
    outside: Memory
    """A store that can be used where this one could not even be opened."""
    seen_outside: Callable[[], bool]
    """By that store."""

    @property
    def what(self) -> str:
        """What it is, for messages."""
        return f"{self.kind} with a time to live of {self.ttl:g} s"


def _short(short: _Short, unseen: list[str]) -> None:
    """Fail unless it is as declared; note it as `unseen` where nobody can tell when it ends."""
    policy, what = short.memory.policy, short.what
    declared = policy.ttl_fraction if short.ttl else policy.ttl_zero
    before = _all_left(short.outside, short.scope)
    started = time.monotonic()
    refused = short.memory.attempt(short.write).refused
    expect.equal(f"whether {what} is refused", refused, declared == "refuse")
    if refused:
        expect.equal(f"whether {what} is there after the refusal", short.seen_outside(), False)
        return
    there = short.seen()
    gone = not short.ttl and policy.expiry_read == "hidden"
    if gone:
        expect.equal(f"whether {what} is there", there, False)
    elif short.ttl and time.monotonic() - started < short.ttl:
        expect.equal(f"whether {what} is there at once", there, True)
    left = _without(_all_left(short.outside, short.scope), before)
    longest = {"expired": 0.0, "exact": short.ttl, "up": 60.0}[declared]
    late = {name: each for name, each in left.items() if each is None or each > longest}
    expect.equal(f"what lives longer than {longest:g} s of {what}", late, {})
    if not (gone or left or _sees_outside(short.memory)):
        unseen.append(what)


def _sees_outside(memory: Memory) -> bool:
    return memory.offers("raw_keys") or memory.offers("raw_rows")


def _all_left(memory: Memory, scope: Scope) -> dict[str, float | None]:
    """Return the seconds that all keys of the case have left, whatever the adapter says of them.

    Also those of the rows and the keys of `scope` that it names.
    """
    named = memory.traces(scope) if _sees_outside(memory) else {}
    return {**memory.site.redis_times(memory.site.redis_keys()), **named}


def _went_on(what: str, memory: Memory, again: bool, but: Left | None = None) -> None:
    """Fail unless all times to live have started again, or all have gone on."""
    left = _without(memory.traces(SCOPE), but or {})
    _all_end(what, left)
    wrong = {
        name: each
        for name, each in left.items()
        if each is not None and (each < TTL - SLACK if again else each > TTL - AGED + SLACK)
    }
    wanted = f"{TTL:g} s, begun again" if again else f"{TTL - AGED:g} s, gone on"
    expect.true(not wrong, f"{what}: expected about {wanted}, got {_shown(left)}")


def _all_end(what: str, left: Left) -> None:
    """Fail unless there are keys or rows, and each has a time to live."""
    expect.true(left, f"{what}: expected keys or rows with a time to live, got none at all")
    endless = sorted(name for name, each in left.items() if each is None)
    if endless:
        raise CaseFailed(
            f"{what}: expected a time to live on all {len(left)} keys and rows, got none on "
            f"{', '.join(endless[:5])}"
        )


def _none_ends(what: str, left: Left) -> None:
    ending = {name: each for name, each in left.items() if each is not None}
    expect.true(not ending, f"{what}: expected no end, got {_shown(ending)}")


def _new_ends(what: str, memory: Memory) -> None:
    """Fail unless what lives of the scope has an end; rows that have expired may wait for a sweep."""
    if _sees_outside(memory):
        _all_end(what, _living(memory.traces(SCOPE)))


def _living(left: Left, *, ending: bool = False) -> dict[str, float | None]:
    """Return what has not expired; with `ending`, only what will."""
    return {
        name: each
        for name, each in left.items()
        if (each is not None and each > 0) or (each is None and not ending)
    }


def _without(left: Left, others: Left) -> dict[str, float | None]:
    return {name: each for name, each in left.items() if name not in others}


def _shown(left: Left) -> str:
    parts = [
        f"{name}: {'for ever' if each is None else f'{each:.0f} s'}" for name, each in left.items()
    ]
    return expect.shown(", ".join(parts) or "nothing")


def _one_of(what: str, got: object, allowed: list[Any], *, refused: bool) -> None:
    if not refused and not any(expect.same(got, each) for each in allowed):
        choices = " or ".join(expect.shown(each) for each in allowed)
        raise CaseFailed(f"{what}: expected a refusal, or {choices}, got {expect.shown(got)}")
