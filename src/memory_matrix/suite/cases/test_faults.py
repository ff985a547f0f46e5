"""Group I: connections that break, servers that restart, and new primaries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from threading import Semaphore
from typing import Any

from memory_matrix.stores.protocol import Scope
from memory_matrix.suite import expect
from memory_matrix.suite.faults import FaultyPostgres, FaultyRedis, FaultyServer
from memory_matrix.suite.listings import Listing, record_listing, session_listing
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.offered import (
    GROWING,
    TEXTS,
    Calls,
    expect_seen,
    fill,
    reads,
    seen,
    works,
    writes,
)
from memory_matrix.suite.outcomes import CaseFailed, HarnessError
from memory_matrix.suite.parts import cover
from memory_matrix.suite.proxies import Proxy
from memory_matrix.suite.recovering import (
    WAIT,
    Writer,
    all_in_time,
    expect_written,
    in_time,
    kill_connections,
    works_again,
)
from memory_matrix.suite.samples import record

GROUP = "I"

SCOPE = Scope(session="kept", namespace=("kept",))
WRITERS, EACH = 4, 24
LOST_REPLIES = 6
"""Of so many replies of a write, each is lost once: the last is that to its commit."""
ELECTION = 30.0
"""Seconds within which sentinels have made a replica the new primary."""
_BETWEEN_LOOKS = 0.02
"""Seconds between two looks at what the sentinels say, which take their turn on the same processors."""


def test_re_backend_killed_once(memory: Memory) -> None:
    """After the server ended its connections a store works again, within the declared number of calls."""
    fill(memory, SCOPE)
    before = seen(memory, SCOPE)
    calls = reads(memory, SCOPE)
    for done in memory.together([*calls.values()]):  # so that there is more than one connection
        done.result()
    for name, call in calls.items():
        kill_connections(memory)
        got = works_again(memory, f"{name} after the connections were ended", call)
        expect.equal(f"what {name} gives after the connections were ended", got, before[name])
    cover(memory, {("append", "read"): _append_killed, ("put", "get"): _put_killed})


def test_re_backend_killed_under_load(memory: Memory) -> None:
    """Whatever connection breaks, and when: acknowledged writes are all there, and none twice."""
    cover(memory, {("append", "read"): _append_under_load, ("put", "get"): _put_under_load})


def test_re_server_restart_persistent(memory: Memory) -> None:
    """After a restart, and a crash, all acknowledged data is there, in its order, and the store goes on."""
    for kind in memory.tested.needs:
        settings = {"appendonly": "yes"} if kind == "redis" else {}
        own, server = memory.on_own_server(_kind(kind), settings=settings)
        fill(own, SCOPE)
        before = seen(own, SCOPE)
        lists = _ordered_listings(own)
        names = [each.names() for each in lists]
        for what, restart in _RESTARTS.items():
            restart(server)
            _expect_as_before(own, f"after a {what}", before)
            for each, wanted in zip(lists, names, strict=True):
                got = [name for name in each.names() if name in wanted]
                expect.equal(f"the {each.kind} listed after a {what}", got, wanted)
            works(own, f"after a {what}")
        _expect_as_before(own.another(), "in a new store after two restarts", before)


def test_re_restart_does_not_overwrite(memory: Memory) -> None:
    """A store that met a server which was not ready does not write an empty history over the old one."""
    fill(memory, SCOPE)
    before = seen(memory, SCOPE)
    for what, trouble in _TROUBLES.items():
        other, proxy = memory.behind_proxy(wait=WAIT)
        with trouble(proxy):
            other.attempt(partial(getattr, other, "store"))
            all_in_time(other, {**reads(other, SCOPE), **_additions(other, "during")})
        _expect_kept(other, f"after the server was {what}", before)
        for call in _additions(other, f"after {what}").values():
            works_again(other, f"a write after the server was {what}", call)
        _expect_kept(memory, f"after a write when the server was {what} before", before)


def test_re_redis_empty_after_restart(memory: Memory) -> None:
    """When Redis comes back empty, the next write rebuilds what it needs, or gets a clear error."""
    memory.require_kind("redis")
    own, server = memory.on_own_server("redis")
    fill(own, SCOPE)
    before = seen(own, SCOPE)
    server.restart()
    if own.tested.part("conversation"):
        texts = works_again(own, "a read of the empty server", lambda: own.texts(SCOPE))
        expect.equal("the texts on an empty server", texts, [])
    if own.tested.part("records"):
        works_again(own, "a get on the empty server", lambda: own.get(SCOPE, "one"))
    if own.attempt(partial(fill, own, SCOPE)).refused:
        own = own.another()
        if own.tested.part("conversation") and own.offers("clear"):
            own.clear(SCOPE)
        fill(own, SCOPE)
    expect_seen(own, "once it was written anew", SCOPE, before)
    works(own)


def test_re_server_down_at_open(memory: Memory) -> None:
    """With the server down, opening or the first call fails in time; once it is up the store works."""
    other, proxy = memory.behind_proxy(wait=WAIT)
    with proxy.down():
        steps: dict[str, Callable[[], Any]] = {"opening the store": other.open}
        steps |= {"setting it up": other.setup} if other.offers("setup") else {}
        steps |= reads(other, SCOPE)
        refusal = None
        for what, step in steps.items():
            refusal = refusal or in_time(other, f"{what} with the server down", step).refusal
    expect.true(refusal, f"with the server down {', '.join(steps)} worked: expected a refusal")
    works_again(other, "setting up once the server is up", other.setup)
    for name, call in reads(other, SCOPE).items():
        works_again(other, f"{name} once the server is up", call)
    works(other)


def test_re_read_error_is_not_empty(memory: Memory) -> None:
    """A read that fails raises: it never gives an empty answer for what is there."""
    fill(memory, SCOPE)
    before = seen(memory, SCOPE)
    for what in ("down", "starting"):
        other, proxy = memory.behind_proxy(wait=WAIT)
        expect_seen(other, "through a proxy", SCOPE, before)
        with _TROUBLES[what](proxy):
            for name, attempt in all_in_time(other, reads(other, SCOPE)).items():
                expect.true(
                    attempt.refused or expect.same(attempt.value, before[name]),
                    f"{name} with the server {what}: expected a refusal, got "
                    f"{expect.shown(attempt.value)}",
                )
        _expect_as_before(other, f"after the server was {what}", before)


def test_re_timeout_bounded(memory: Memory) -> None:
    """Where the server accepts and never answers, each call ends with an error in the declared time."""
    fill(memory, SCOPE)
    before = seen(memory, SCOPE)
    other, proxy = memory.behind_proxy(wait=WAIT)
    _expect_as_before(other, "through a proxy", before)
    with proxy.holding():
        calls = {**reads(other, SCOPE), **_additions(other, "unanswered")}
        ended = all_in_time(other, calls)
    for name, attempt in ended.items():
        answered = name in before and expect.same(attempt.value, before[name])
        expect.true(
            attempt.refused or answered,
            f"{name} without an answer of the server: expected a refusal, got "
            f"{expect.shown(attempt.value)}",
        )
    _expect_kept(other, "once the server answers again", before)
    works(other)


def test_re_redis_readonly_replica(memory: Memory) -> None:
    """Writes to a replica are refused clearly and change nothing; reads go on."""
    memory.require_kind("redis")
    own, server = _own_redis(memory)
    fill(own, SCOPE)
    before = seen(own, SCOPE)
    server.read_only()
    _expect_refused(own, "on a replica", writes(own, SCOPE))
    _expect_reads(own, "on a replica", before)
    server.read_only(False)
    _expect_as_before(own, "once it is a primary again", before)
    works(own)


def test_re_maxmemory_oom(memory: Memory) -> None:
    """Where Redis has no memory left, writes that need some are refused; later the store works on."""
    memory.require_kind("redis")
    own, server = _own_redis(memory)
    fill(own, SCOPE)
    before = seen(own, SCOPE)
    server.out_of_memory()
    growing = {name: call for name, call in writes(own, SCOPE).items() if name in GROWING}
    _expect_refused(own, "without memory", growing)
    _expect_reads(own, "without memory", before)
    server.out_of_memory(False)
    _expect_as_before(own, "once there is memory again", before)
    works(own)


def test_re_disk_full_or_readonly_pg(memory: Memory) -> None:
    """Where Postgres takes no writes, each is refused clearly; once it takes them the store works on."""
    memory.require_kind("postgres")
    own, server = memory.on_own_server("postgres")
    assert isinstance(server, FaultyPostgres)
    fill(own, SCOPE)
    before = seen(own, SCOPE)
    for on in (True, False):
        server.read_only(on)
        kill_connections(own)  # those that are there would follow too late for a test
        _expect_as_before(own, f"with read-only {'on' if on else 'off again'}", before)
        if on:
            _expect_refused(own, "on a read-only server", writes(own, SCOPE))
            _expect_as_before(own, "after refused writes", before)
    works(own)


def test_re_failover_new_primary(memory: Memory) -> None:
    """After a failover the store goes on with the new primary where that is declared, or it says so."""
    memory.require_kind("redis")
    own, server = memory.on_own_server("redis", topology="sentinel")
    fill(own, SCOPE)
    before = seen(own, SCOPE)
    _wait_for_replica(own)
    server.kill()
    primary = _new_primary(server)
    if own.policy.sentinel == "yes":
        _expect_as_before(own, "after a failover", before)
        works(own)
    else:
        _expect_refused(own, "after a failover", {**reads(own, SCOPE), **writes(own, SCOPE)})
    single = own.another(redis_url=primary, topology="single", nodes=(), primary=None)
    expect_seen(single, "on the new primary", SCOPE, before)


# ---- connections that are ended -----------------------------------------------------------------


def _append_killed(memory: Memory) -> None:
    writer = Writer(memory, SCOPE, "killed")
    for _ in range(3):
        kill_connections(memory)
        _write_again(writer, "after the connections were ended")
    # The writes may have had new connections: that the others ended is for the first read to find.
    works_again(memory, "a read after the connections were ended", partial(memory.read, SCOPE))
    expect_written(memory, "after the connections were ended", SCOPE, [writer], TEXTS)


def _write_again(writer: Writer, when: str) -> None:
    allowed = writer.memory.policy.reconnect_calls
    for _ in range(allowed + 1):
        if writer.write():
            return
    raise CaseFailed(f"{when}: expected at most {allowed} refused appends, got {allowed + 1}")


def _put_killed(memory: Memory) -> None:
    for number in range(3):
        one = record(memory, f"killed-{number}")
        kill_connections(memory)
        works_again(
            memory, "a put after the connections were ended", partial(memory.put, SCOPE, one)
        )
        # As above: it may be the first to take a connection that was ended.
        get = partial(memory.get, SCOPE, one.id)
        found = works_again(memory, "a get after the connections were ended", get)
        expect.equal("the text of a record put afterwards", found and found.text, one.text)


def _append_under_load(memory: Memory) -> None:
    writers = [Writer(_own(memory), SCOPE, f"writer-{n}") for n in range(WRITERS)]
    _under_kills(memory, [writer.write for writer in writers])
    expect_written(memory.another(), "after kills under load", SCOPE, writers)
    other, proxy = memory.behind_proxy(wait=WAIT)
    lossy = Writer(other, replace(SCOPE, session="lossy"), "lossy")
    lossy.write()
    for number in range(1, LOST_REPLIES + 1):
        proxy.lose_reply(number)
        lossy.write()
    proxy.lose_reply(0)
    expect_written(memory.another(), "after lost replies", lossy.scope, [lossy])


def _put_under_load(memory: Memory) -> None:
    stored: list[str] = []

    def write(worker: Memory, names: Iterator[str]) -> None:
        one = record(memory, next(names))
        if not worker.attempt(partial(worker.put, SCOPE, one)).refused:
            stored.append(one.id)

    names = [iter([f"{n}-{m}" for m in range(EACH)]) for n in range(WRITERS)]
    _under_kills(memory, [partial(write, _own(memory), each) for each in names])
    reader = memory.another()
    lost = [each for each in stored if reader.get(SCOPE, each) is None]
    expect.true(not lost, f"of {len(stored)} acknowledged records {len(lost)} are lost: {lost[:5]}")


def _own(memory: Memory) -> Memory:
    shared = memory.policy.threads == "yes" or memory.is_async
    return memory if shared else memory.another()


def _under_kills(memory: Memory, steps: list[Callable[[], object]]) -> None:
    """Make each step so many times, at once, and end the connections again and again meanwhile."""
    progress = Semaphore(0)

    def work(step: Callable[[], object]) -> None:
        left = EACH
        try:
            while left:
                step()
                left -= 1
                progress.release()
        finally:
            progress.release(left + 1)  # nobody waits for what does not come

    def kill() -> None:
        for _ in range(EACH):
            for _ in steps:
                progress.acquire()
            memory.kill_connections()

    calls: list[Callable[[], None]] = [partial(work, step) for step in steps]
    for done in memory.together([*calls, kill]):
        done.result()


# ---- servers that are not ready -----------------------------------------------------------------

_TROUBLES: dict[str, Callable[[Proxy], Any]] = {
    "starting": Proxy.starting,
    "down": Proxy.down,
    "silent": Proxy.holding,
}


def _kind(name: str) -> Any:
    return name


def _crash(server: FaultyServer) -> None:
    server.kill()
    server.start()


_RESTARTS: dict[str, Callable[[FaultyServer], None]] = {
    "restart": FaultyServer.restart,
    "crash": _crash,
}


def _ordered_listings(memory: Memory) -> list[Listing]:
    """Return the listings whose order is declared, of some entries."""
    if memory.policy.list_order == "none":
        return []
    scope = Scope(user="listed", namespace=("listed",))
    both: list[Listing] = [session_listing(memory, scope), record_listing(memory, scope)]
    found = [each for each in both if memory.offers(each.call)]
    for each in found:
        each.add("cadb")
        each.touch("d")
    return found


def _additions(memory: Memory, name: str) -> Calls:
    """Return writes that add to what was filled in, and change none of it."""
    calls: dict[str, Callable[[], Any]] = {}
    if memory.tested.part("conversation"):
        calls["append"] = lambda: memory.say(SCOPE, name)
    if memory.tested.part("records"):
        calls["put"] = lambda: memory.put(SCOPE, record(memory, name))
    if memory.tested.part("state"):
        target = SCOPE
        calls["set_state"] = lambda: memory.set_state(
            memory.load(target) if memory.offers("load") else target, {name: name}
        )
    return calls


def _expect_kept(memory: Memory, when: str, before: dict[str, Any]) -> None:
    """Fail unless all that was filled in is still there, whatever was added."""
    for name, call in reads(memory, SCOPE).items():
        got = works_again(memory, f"{name} {when}", call)
        if name in {"read", "list_records"}:
            got = [each for each in got if each in before[name]]
        elif name == "get_state":
            got = {key: value for key, value in got.items() if key in before[name]}
        elif name in {"count", "search"}:
            continue  # what was added counts, and is found, too
        expect.equal(f"what {name} gives {when}", got, before[name])


def _expect_as_before(memory: Memory, when: str, before: dict[str, Any]) -> None:
    for name, call in reads(memory, SCOPE).items():
        got = works_again(memory, f"{name} {when}", call)
        expect.equal(f"what {name} gives {when}", got, before[name])


# ---- servers that take no writes ----------------------------------------------------------------


def _own_redis(memory: Memory) -> tuple[Memory, FaultyRedis]:
    own, server = memory.on_own_server("redis")
    assert isinstance(server, FaultyRedis)
    return own, server


def _expect_refused(memory: Memory, when: str, calls: Calls) -> None:
    for name, call in calls.items():
        memory.refused(f"{name} {when}", call)


def _expect_reads(memory: Memory, when: str, before: dict[str, Any]) -> None:
    """Fail where a read gives something else than is there; that it is refused is no failure here."""
    for name, call in reads(memory, SCOPE).items():
        attempt = memory.attempt(call)
        if not attempt.refused:
            expect.equal(f"what {name} gives {when}", attempt.value, before[name])


# ---- failover -----------------------------------------------------------------------------------


def _wait_for_replica(memory: Memory) -> None:
    """Return once the replica has all that was written."""
    client = memory.site.redis_client
    client.set("memory-matrix-last", "written")
    client.delete("memory-matrix-last")
    if not client.wait(1, round(ELECTION * 1000)):
        raise HarnessError("the replica does not follow its primary")


def _new_primary(server: FaultyServer) -> str:
    """Return the URL of the primary that the sentinels have chosen in the place of the first node."""
    ends = time.monotonic() + ELECTION
    while time.monotonic() < ends:
        for node in server.private.nodes[1:]:
            if node.role == "primary":
                return node.url
        time.sleep(_BETWEEN_LOOKS)
    raise HarnessError(f"the sentinels chose no new primary within {ELECTION:g} s")
