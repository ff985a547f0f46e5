"""Group L: times are instants, the same in every zone, to the microsecond."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from memory_matrix.isolation.postgres import with_parameters
from memory_matrix.stores.protocol import Compare, Message, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.outcomes import CaseFailed
from memory_matrix.suite.parts import cover_each
from memory_matrix.suite.samples import record
from memory_matrix.suite.stamps import (
    UTC,
    Stamps,
    Times,
    host_zone,
    stamps,
    takes_message_times,
    takes_record_times,
)

GROUP = "L"

SCOPE = Scope(namespace=("timed",))
NOON = dt.datetime(2030, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)
MICROSECOND = dt.timedelta(microseconds=1)
KOLKATA = ("Asia/Kolkata", "IST-5:30")
ZONES = {
    "UTC": UTC,
    "+05:30": dt.timezone(dt.timedelta(hours=5, minutes=30)),
    "-08:00": dt.timezone(dt.timedelta(hours=-8)),
}


class _NewYork(dt.tzinfo):
    """New York around its two changes of 2024, so that no database of zones is needed."""

    def dst(self, at: dt.datetime | None) -> dt.timedelta:
        """Return an hour from the second Sunday of March to the first 02:00 of November's first."""
        assert at is not None
        wall, begins, ends = (at.month, at.day, at.hour), (3, 10, 2), (11, 3, 1)
        if wall == begins:
            summer = bool(at.fold)
        else:
            summer = begins < wall < ends or (wall == ends and not at.fold)
        return dt.timedelta(hours=summer)

    def utcoffset(self, at: dt.datetime | None) -> dt.timedelta:
        """Return the hours from UTC."""
        return dt.timedelta(hours=-5) + self.dst(at)

    def tzname(self, at: dt.datetime | None) -> str:
        """Return the usual letters."""
        return "EDT" if self.dst(at) else "EST"


def test_time_utc_aware(memory: Memory) -> None:
    """Times come back aware, and in UTC unless another zone is declared."""
    _are_aware(memory, _fresh_times(memory))


def test_time_host_zone_kolkata(memory: Memory) -> None:
    """On a host in Kolkata, times are those of now, here and for a reader elsewhere."""
    with host_zone(*KOLKATA):
        there = memory.another()
        times = _fresh_times(there)
        _are_aware(there, times)
        _are_now(times, "on a host in Kolkata")
        again = _read_times(there)
    elsewhere = _read_times(memory.another())
    wrong = {what: at for what, at in elsewhere.items() if at != again[what]}
    expect.equal("times that a host in UTC reads otherwise than one in Kolkata", wrong, {})


def test_time_pg_timezone_setting(memory: Memory) -> None:
    """Where the server's TimeZone is another, times are those of now, aware and in the declared zone."""
    memory.require_kind("postgres")
    _fresh_times(memory.another(postgres_dsn=_dsn_in(memory, "UTC")))
    there = memory.another(postgres_dsn=_dsn_in(memory, "Asia/Kolkata"))
    times = _fresh_times(there, Scope(session="there", namespace=("there",)))
    _are_aware(there, times)
    _are_now(times, "with the server's TimeZone in Kolkata")


def _dsn_in(memory: Memory, zone: str) -> str:
    """Return the URL of the case's schema, for connections that begin in a time zone."""
    place = memory.site.postgres
    assert place is not None
    return with_parameters(
        memory.env.postgres_dsn or "", application=place.application, settings={"TimeZone": zone}
    )


def test_time_naive_input(memory: Memory) -> None:
    """A time without a zone is refused, or read as UTC, as declared."""
    ways = _ways_to_give_a_time(memory)
    refuse = memory.policy.naive_time == "refuse"
    with host_zone(*KOLKATA):  # where local time, the usual mistake, is not UTC
        for what, give in ways.items():
            wanted = give(_in(UTC), "aware")
            if refuse:
                memory.refused(f"a time without a zone as {what}", partial(give, _naive, "naive"))
            else:
                got = give(_naive, "naive")
                expect.equal(f"what a time without a zone gives as {what}", got, wanted)
            again = give(_in(UTC), "aware again")
            expect.equal(f"what a time in UTC gives as {what} afterwards", again, wanted)
    if refuse and memory.tested.part("records"):
        expect.equal("a record that was refused", memory.get(SCOPE, "naive"), None)
    if refuse and memory.tested.part("conversation"):
        expect.equal("a message that was refused", memory.texts(Scope(session="naive")), [])


def test_time_aware_on_every_driver(memory: Memory) -> None:
    """Aware times of any zone are instants to the store, to its twin, and on each driver that it names."""
    for kind, each in _on_each_driver(memory).items():
        _are_aware(each, _fresh_times(each, Scope(session=kind, namespace=(kind,))))
        for what, give in _ways_to_give_a_time(each).items():
            wanted = give(_in(UTC), f"{kind} UTC")
            for zone, tzinfo in ZONES.items():
                got = give(_in(tzinfo), f"{kind} in {zone}")
                sentence = f"what a time in {zone} gives as {what} of the {kind} store"
                expect.equal(sentence, got, wanted)


def _on_each_driver(memory: Memory) -> dict[str, Memory]:
    """Return the store, its twin, and each of both on every driver that the adapter names."""
    twins = [memory.twin()] if getattr(memory.adapter, "twin", None) is not None else []
    kinds = {"async" if each.is_async else "plain": each for each in (memory, *twins)}
    return {
        **kinds,
        **{
            f"{kind} {driver}": each.another(options={**each.env.options, "driver": driver})
            for kind, each in kinds.items()
            for driver in getattr(each.adapter, "drivers", ())
        },
    }


def test_time_microseconds_kept(memory: Memory) -> None:
    """Two times a microsecond apart are kept apart, in the right order."""
    for way in stamps(memory):
        times = {"z": NOON, "a": NOON + MICROSECOND, "m": NOON + 2 * MICROSECOND}
        _are_kept(way, times)
        if way.of_messages and _takes_after(way.memory):
            texts = way.memory.texts(way.scope, after=NOON + MICROSECOND)
            inclusive = way.memory.policy.after == "inclusive"
            wanted = ["a", "m"] if inclusive else ["m"]
            expect.equal(f"{way.what} after one a microsecond earlier", texts, wanted)
        if not way.of_messages and way.memory.offers("list_records"):
            _are_listed_in_order(way, list(times))


def _are_listed_in_order(way: Stamps, names: list[str]) -> None:
    if way.memory.policy.list_order in {"created", "updated"}:
        listed = [each.id for each in way.memory.all_records(way.scope)]
        wanted = names if way.memory.policy.list_direction == "up" else names[::-1]
        expect.equal(f"the order of {way.what} a microsecond apart", listed, wanted)


def test_time_dst_gap_and_fold(memory: Memory) -> None:
    """The two 01:30 of the night in which summer time ends are two times, an hour apart."""
    zone = _NewYork()
    first = dt.datetime(2024, 11, 3, 1, 30, tzinfo=zone)
    times = {
        "in the gap": dt.datetime(2024, 3, 10, 2, 30, tzinfo=zone),
        "first": first,
        "second": first.replace(fold=1),
    }
    for way in stamps(memory):
        _are_kept(way, times)
        if way.of_messages and _takes_after(way.memory):
            inclusive = way.memory.policy.after == "inclusive"
            for fold in (0, 1):
                wanted = ["first", "second", None][fold + (not inclusive) :]
                texts = way.memory.texts(way.scope, after=first.replace(fold=fold))
                sentence = f"{way.what} after the 01:30 with fold={fold}"
                expect.equal(sentence, texts, [each for each in wanted if each])
    if memory.policy.value_kinds["datetime"] == "keep":
        _metadata_is_kept(memory, times)


def _metadata_is_kept(memory: Memory, times: Mapping[str, dt.datetime]) -> None:
    for what, found in _metadata_back(memory, times).items():
        got = {name: _shown(at) for name, at in found.items()}
        wanted = {name: _shown(at) for name, at in times.items()}
        expect.equal(f"the times in the metadata of a {what}", got, wanted)


def test_time_after_filter_inclusive(memory: Memory) -> None:
    """A bound in time is in the answer or not, as declared, alike for every zone and with a limit."""
    after = memory.offers("read", "after") and "created_at" in memory.policy.message_fields
    filters = _filters_times(memory)
    if not after and not filters:
        memory.not_offered("it can neither be read after a time, nor be filtered by one")
    checks = {_after_has_its_border: after, _filter_has_its_border: filters}
    cover_each((memory, check) for check, offered in checks.items() if offered)


def _after_has_its_border(memory: Memory) -> None:
    for text in "abcde":
        memory.say(SCOPE, text)
    messages = memory.read(SCOPE)
    bound = messages[2].created_at
    if bound is None:
        raise CaseFailed("the time of a message: expected one, got None")
    if memory.attempt(lambda: memory.read(SCOPE, after=bound)).refused:
        memory.not_offered("`after` takes no time")
    wanted = [each.text for each in messages if _is_after(memory, each, bound)]
    for name, zone in ZONES.items():
        got = memory.texts(SCOPE, after=bound.astimezone(zone))
        expect.equal(f"the messages after the third, its time given in {name}", got, wanted)
    times = [each.created_at for each in messages if each.created_at]
    earlier, later = min(times) - MICROSECOND, max(times) + MICROSECOND
    expect.equal(
        "the messages after a time before all", memory.texts(SCOPE, after=earlier), [*"abcde"]
    )
    expect.equal("the messages after all", memory.texts(SCOPE, after=later), [])
    if memory.offers("read", "limit"):
        for bound, what in ((messages[1].created_at, "the second"), (earlier, "a time before all")):
            after = [each.text for each in messages if bound and _is_after(memory, each, bound)]
            got = memory.texts(SCOPE, after=bound, limit=2)
            expect.equal(f"the newest 2 messages of those after {what}", got, after[-2:])


def _is_after(memory: Memory, message: Message, bound: dt.datetime) -> bool:
    if message.created_at is None:
        return False
    inclusive = memory.policy.after == "inclusive"
    return message.created_at >= bound if inclusive else message.created_at > bound


def _filter_has_its_border(memory: Memory) -> None:
    for name in "abcde":
        memory.put(SCOPE, record(memory, name))
    times = {each.id: each.created_at for each in memory.all_records(SCOPE)}
    bound = times["c"]
    if bound is None:
        raise CaseFailed("the time of a record: expected one, got None")
    sides: tuple[tuple[Literal["lte", "gte"], bool], ...] = (("lte", True), ("gte", False))
    for op, before in sides:
        if op in memory.policy.filters:
            wanted = [name for name, at in times.items() if _is_within(memory, at, bound, before)]
            for zone, tzinfo in ZONES.items():
                condition = Compare(op, "created_at", bound.astimezone(tzinfo), own=True)
                got = [each.id for each in memory.all_records(SCOPE, filter=condition)]
                expect.contents(f"the records with created_at {op} a bound in {zone}", got, wanted)


def _is_within(memory: Memory, at: dt.datetime | None, bound: dt.datetime, before: bool) -> bool:
    if at is None or at == bound:
        return at is not None and memory.policy.time_filter == "inclusive"
    return at < bound if before else at > bound


def test_time_float_epoch_precision(memory: Memory) -> None:
    """A time that was written as seconds since 1970, in a float, comes back within a microsecond."""
    epochs = {"a": 1700000003.123457, "b": 1700000003.999999, "c": 2**31 + 0.000001}
    for what, found in _metadata_back(memory, epochs).items():
        for name, wanted in epochs.items():
            got = found.get(name)
            close = isinstance(got, float) and abs(got - wanted) <= 1e-6
            expect.true(
                close, f"an epoch in the metadata of a {what}: expected {wanted}, got {got!r}"
            )
    if memory.offers("list_records", "filter"):
        _epochs_are_compared(memory, epochs)


def _epochs_are_compared(memory: Memory, epochs: Mapping[str, float]) -> None:
    for name, epoch in epochs.items():
        memory.put(SCOPE, record(memory, name, "x", {"at": epoch}))
    sides: dict[Literal["gte", "lte"], list[str]] = {"gte": ["b", "c"], "lte": ["a", "b"]}
    for op, wanted in sides.items():
        if op in memory.policy.filters:
            found = memory.all_records(SCOPE, filter=Compare(op, "at", epochs["b"]))
            sentence = f"the records with an epoch {op} {epochs['b']}"
            expect.contents(sentence, [each.id for each in found if each.id in epochs], wanted)


def test_time_future_and_1970(memory: Memory) -> None:
    """Times from the first second of 1970 to far ahead are kept, and are bounds like any other."""
    epoch = dt.datetime(1970, 1, 1, tzinfo=UTC)
    times = {
        "epoch": epoch,
        "a second later": epoch + dt.timedelta(seconds=1),
        "2038": dt.datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),
        "2106": dt.datetime(2106, 2, 7, 6, 28, 16, tzinfo=UTC),
        "2999": dt.datetime(2999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    }
    for way in stamps(memory):
        _are_kept(way, times)
        if way.of_messages and _takes_after(way.memory):
            skipped = 0 if way.memory.policy.after == "inclusive" else 1
            got = way.memory.texts(way.scope, after=epoch)
            expect.equal(f"{way.what} after the first second of 1970", got, list(times)[skipped:])
    if memory.policy.value_kinds["datetime"] == "keep":
        _metadata_is_kept(memory, times)


# ---- times that the store keeps ------------------------------------------------------------------


def _fresh_times(memory: Memory, scope: Scope = SCOPE) -> Times:
    """Return every time that the store gives of what is written now; the case ends if there is none."""
    if memory.tested.part("conversation"):
        memory.say(scope, "a")
        memory.say(scope, "b")
    if memory.tested.part("records"):
        memory.put(scope, record(memory, "a"))
        if memory.offers("update"):
            memory.update(scope, "a", text="changed")
    times = _read_times(memory, scope)
    if not times:
        memory.not_offered("the store gives no times")
    return times


def _read_times(memory: Memory, scope: Scope = SCOPE) -> Times:
    times: Times = {}
    if memory.tested.part("conversation") and "created_at" in memory.policy.message_fields:
        for number, message in enumerate(memory.read(scope), 1):
            times[f"created_at of message {number}"] = message.created_at
    if memory.tested.part("records"):
        found = [("get", memory.get(scope, "a"))]
        if memory.offers("list_records"):
            found += [("list_records", each) for each in memory.all_records(scope)]
        for call, each in found:
            named = {"created_at": each.created_at, "updated_at": each.updated_at} if each else {}
            times |= {f"{name} by {call}": at for name, at in named.items() if at is not None}
    return times


def _are_aware(memory: Memory, times: Times) -> None:
    for what, at in times.items():
        aware = isinstance(at, dt.datetime) and at.utcoffset() is not None
        expect.true(aware, f"{what}: expected an aware datetime, got {at!r}")
        if memory.policy.time_zone == "utc" and at is not None:
            offset = at.utcoffset()
            expect.true(not offset, f"{what}: expected it in UTC, got {at.isoformat()}")


def _are_now(times: Times, where: str) -> None:
    now = dt.datetime.now(UTC)
    for what, at in times.items():
        assert at is not None
        off = (at - now).total_seconds()
        expect.true(abs(off) < 60, f"{what} {where}: expected now, got {off / 3600:+.2f} hours")


def _are_kept(way: Stamps, times: Mapping[str, dt.datetime]) -> None:
    for name, at in times.items():
        way.write(name, at)
    found = way.times()
    got = {name: _shown(found.get(name)) for name in times}
    wanted = {name: _shown(at) for name, at in times.items()}
    expect.equal(f"the times of {way.what}", got, wanted)


def _shown(at: object) -> str:
    """Return a time as an instant: two datetimes of one zone are compared without their fold."""
    if not isinstance(at, dt.datetime) or at.utcoffset() is None:
        return repr(at)
    return at.astimezone(UTC).isoformat()


def _metadata_back(memory: Memory, values: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the metadata that a message, and a record, has after it was written with `values`."""
    back: dict[str, Mapping[str, Any]] = {}
    if memory.tested.part("conversation") and "metadata" in memory.policy.message_fields:
        scope = Scope(session="metadata")
        memory.append(scope, [Message("user", "a", metadata=dict(values))])
        back["message"] = memory.read(scope)[0].metadata
    if memory.tested.part("records"):
        memory.put(SCOPE, record(memory, "metadata", "x", dict(values)))
        found = memory.get(SCOPE, "metadata")
        back["record"] = {} if found is None else found.metadata
    if not back:
        memory.not_offered("the store keeps no metadata")
    return back


# ---- times that are given to it ------------------------------------------------------------------

Spelling = Callable[[dt.datetime], dt.datetime]
"""How an instant is given: in some zone, or in none."""
Give = Callable[[Spelling, str], object]
"""A call that takes a time, and what comes of it; the name is for what it writes."""


def _in(zone: dt.tzinfo) -> Spelling:
    return lambda at: at.astimezone(zone)


def _naive(at: dt.datetime) -> dt.datetime:
    return at.astimezone(UTC).replace(tzinfo=None)


def _ways_to_give_a_time(memory: Memory) -> dict[str, Give]:
    """Return the calls that take a time; the case ends as not offered if there is none."""
    ways: dict[str, Give] = {}
    if _takes_after(memory):
        ways["the bound of read"] = partial(_read_around, memory)
    if memory.tested.part("conversation") and takes_message_times(memory):
        ways["created_at of a message"] = partial(_give_message, memory)
    if memory.tested.part("records") and takes_record_times(memory):
        ways["created_at of a record"] = partial(_give_record, memory)
    if _filters_times(memory):
        ways["the bound of a filter"] = partial(_filter_around, memory)
    if not ways:
        memory.not_offered("no call takes a time")
    return ways


def _takes_after(memory: Memory) -> bool:
    if not memory.offers("read", "after") or "created_at" not in memory.policy.message_fields:
        return False
    read = partial(memory.texts, Scope(session="probe of after"), after=NOON)
    return not memory.attempt(read).refused


def _filters_times(memory: Memory) -> bool:
    offered = memory.offers("list_records", "filter") and memory.policy.time_filter != "no"
    return offered and bool({"lte", "gte"} & set(memory.policy.filters))


def _around(made: dt.datetime | None) -> list[dt.datetime]:
    """Return an hour before and an hour after: nearer than any two zones that are tried."""
    if made is None:
        raise CaseFailed("the time of what was written: expected one, got None")
    return [made - dt.timedelta(hours=1), made + dt.timedelta(hours=1)]


def _read_around(memory: Memory, spelled: Spelling, _: str) -> object:
    scope = Scope(session="bounded")
    if not memory.texts(scope):
        memory.say(scope, "a")
    made = memory.read(scope)[0].created_at
    return [memory.texts(scope, after=spelled(bound)) for bound in _around(made)]


def _filter_around(memory: Memory, spelled: Spelling, _: str) -> object:
    scope = Scope(namespace=("bounded",))
    memory.put(scope, record(memory, "a"))
    made = memory.all_records(scope)[0].created_at
    op: Any = "gte" if "gte" in memory.policy.filters else "lte"
    conditions = [Compare(op, "created_at", spelled(at), own=True) for at in _around(made)]
    return [[each.id for each in memory.all_records(scope, filter=each)] for each in conditions]


def _give_message(memory: Memory, spelled: Spelling, name: str) -> object:
    scope = Scope(session=name)
    memory.append(scope, [Message("user", "a", created_at=spelled(NOON))])
    return [_shown(each.created_at) for each in memory.read(scope)]


def _give_record(memory: Memory, spelled: Spelling, name: str) -> object:
    memory.put(SCOPE, replace(record(memory, name), created_at=spelled(NOON)))
    found = memory.get(SCOPE, name)
    return None if found is None else _shown(found.created_at)
