"""Group K: listings are whole, in order, and can be had in pages."""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count

from memory_matrix.stores.policy import default_limit_of
from memory_matrix.stores.protocol import Compare, Message, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.listings import (
    Listing,
    RecordListing,
    listings,
    record_listing,
    session_listing,
)
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.outcomes import CaseFailed
from memory_matrix.suite.rewriting import move_rows, rewrite_keys
from memory_matrix.suite.samples import record

GROUP = "K"

SCOPE = Scope(namespace=("listed",))
NOON = dt.datetime(2030, 1, 1, 12, tzinfo=dt.timezone.utc)
SHUFFLED = tuple("hcafdbjeig")

USERS = (
    *("user:1", "user:10", "john_doe", "john-doe", "a%", "abc", "u*", "u?", "u1", "u[1]"),
    *("Ann", "ann", "a,b", "a", "b", "x", "x ", "x:messages", "o'brien", "a\\b", 'a"b', "{t}"),
    *("10", "010", "1e1", "\u6f22\u5b57", "meta", ""),
)
WRITERS = 8

_ALL = 1000
"""More entries than those that are listed while others come and go: they are one page."""
_ABOVE_A_SECOND = 1.01
"""Seconds after which a clock that counts whole seconds has moved."""

Name = tuple[str, ...]


def test_list_stable_order(memory: Memory) -> None:
    """Listings have the declared order, the same after rows and keys are moved, and in another store."""
    memory.require_policy(list_order=("created", "updated", "id"))
    for listing in listings(memory, SCOPE):
        with _ticking(memory):
            listing.add(SHUFFLED)
            touched = [name for name in sorted(SHUFFLED, reverse=True) if listing.touch(name)]
        wanted = _ordered(listing, SHUFFLED, touched)
        what = f"the {listing.kind} listed by {listing.order}"
        if listing.names() != wanted and _may_be_tied(listing):
            wanted = _ordered_as_far_as_it_knows(listing, touched)
        expect.equal(what, listing.names(), wanted)
        if memory.offers("tables"):
            move_rows(memory)
            expect.equal(f"{what} after rows were moved", listing.names(), wanted)
        if memory.offers("raw_keys"):
            rewrite_keys(memory, listing.keys())
            expect.equal(f"{what} after keys were moved", listing.names(), wanted)
        again = listing.seen_by(memory.another()).names()
        expect.equal(f"{what} by a store that was opened later", again, wanted)


def _ordered(listing: Listing, created: Sequence[str], touched: Sequence[str]) -> list[str]:
    """Return the names in the declared order."""
    by_update = [*(name for name in created if name not in touched), *touched]
    orders = {"created": list(created), "updated": by_update, "id": sorted(created)}
    names = orders[listing.order]
    return names if listing.memory.policy.list_direction == "up" else names[::-1]


def _may_be_tied(listing: Listing) -> bool:
    """Return whether entries that were made at once may have one time, by a clock of whole seconds."""
    return listing.order != "id" and not listing.memory.offers("store_clock")


def _ordered_as_far_as_it_knows(listing: Listing, touched: Sequence[str]) -> list[str]:
    """Return the names in the order that they are listed in, once that is seen to be the times' own.

    Raises:
        CaseFailed: the times that it shows are in another order, or entries of different seconds are.
    """
    apart = ("late-2", "late-3", "late-1")
    if listing.order == "created" or not touched:
        _each_in_a_second_of_its_own(listing.add, apart)
    else:
        listing.add(sorted(apart))
        _each_in_a_second_of_its_own(lambda names: listing.touch(*names), apart)
    names = _everything(listing, len(SHUFFLED) + len(apart))
    late = [name for name in names if name in apart]
    wanted = apart if listing.memory.policy.list_direction == "up" else apart[::-1]
    what = f"the {listing.kind} of different seconds listed by {listing.order}"
    expect.equal(what, late, [*wanted])
    expect.contents(f"the {listing.kind} listed", names, [*SHUFFLED, *apart])
    times = listing.times()
    in_order = sorted(times, reverse=listing.memory.policy.list_direction == "down")
    expect.equal(f"the times of the {listing.kind} listed by {listing.order}", times, in_order)
    return names


def _each_in_a_second_of_its_own(do: Callable[[list[str]], object], names: Iterable[str]) -> None:
    for number, name in enumerate(names):
        if number:
            time.sleep(_ABOVE_A_SECOND)
        do([name])


def test_list_pages_cover_all_once(memory: Memory) -> None:
    """Pages of 7 over 100 entries hold each of them once, and none is longer than 7."""
    names = [f"n{number * 37 % 100:02}" for number in range(100)]
    for listing in listings(memory, SCOPE, pages=True):
        _add(listing, names)
        pages = list(listing.pages(7))
        what = f"the {listing.kind} listed in pages of 7"
        expect.contents(what, [name for page in pages for name in page], names)
        longest = max(map(len, pages))
        expect.true(longest <= 7, f"{what}: expected at most 7 on a page, got {longest}")


def test_list_pages_under_inserts(memory: Memory) -> None:
    """Entries that stay are listed once, whatever comes and goes; a page by offset has what is there then."""
    names = [f"n{number * 11 % 40:02}" for number in range(40)]
    for listing in listings(memory, SCOPE, pages=True):
        _add(listing, names)
        if memory.policy.cursor == "offset":
            _pages_begin_where_they_should(listing, names)
        else:
            _each_is_listed_once(listing, names)


def _each_is_listed_once(listing: Listing, names: Sequence[str]) -> None:
    """Fail unless pages have all that was there throughout once, and nothing twice."""
    deleted: set[str] = set()
    times = Counter(name for page in _under_writes(listing, names, deleted) for name in page)
    wrong = {name: times[name] for name in names if name not in deleted and times[name] != 1}
    expect.equal(
        f"{listing.kind} that were there throughout, and how often pages had them if not once",
        wrong,
        {},
    )
    twice = sorted(name for name, often in times.items() if often > 1)
    expect.equal(f"{listing.kind} that came or went between pages, had twice", twice, [])


def _pages_begin_where_they_should(listing: Listing, names: Sequence[str]) -> None:
    """Fail unless each page has what is there at its offset by then, to the end of all."""
    offset, there = 0, listing.in_pages(_ALL)
    has_order = listing.order != "none" and listing.in_pages(7) == there  # else ties change places
    for page in _under_writes(listing, names, set()):
        there = listing.in_pages(_ALL)
        what = f"the page of {listing.kind} at offset {offset} of those there by then"
        wanted = there[offset : offset + 7]
        if has_order:
            expect.equal(what, page, wanted)
        strays = [name for name in page if name not in there]
        expect.equal(f"what is on {what}, and is not there", strays, [])
        expect.equal(f"how many are on {what}", len(page), len(wanted))
        offset += len(page)
    expect.true(
        offset >= len(there),
        f"the {listing.kind} listed by offset: expected pages to the end of {len(there)}, got {offset}",
    )


def _under_writes(listing: Listing, names: Sequence[str], deleted: set[str]) -> Iterator[list[str]]:
    """Yield the names on each page, and write before the next; `deleted` gets those that are deleted."""
    seen: list[str] = []
    numbers = count()
    for page in listing.pages(7):
        seen += page
        yield page
        number = next(numbers)
        if (
            number % 2 == 0
        ):  # in turns, or what moves entries on and what moves them back add up to nothing
            listing.add([f"{letter}{number:02}" for letter in "azn"])
            continue
        unseen = [name for name in names if name not in seen and name not in deleted]
        # The last one seen, for its place is where the next page begins, and one yet to come.
        for victim in [*page[-1:], *unseen[:1]]:
            if listing.remove(victim):
                deleted.add(victim)


def test_list_page_past_end(memory: Memory) -> None:
    """After the last page there is nothing, and no error: neither at the end nor where all is deleted."""
    for listing in listings(memory, SCOPE, pages=True):
        expect.equal(f"the {listing.kind} listed where there are none", listing.in_pages(2), [])
        listing.add("abcd")
        for limit in (2, 4, 5, 1000):
            names = listing.in_pages(limit)
            expect.contents(f"the {listing.kind} listed in pages of {limit}", names, "abcd")
        first = listing.page(limit=2)
        removed = [name for name in "abcd" if listing.remove(name)]
        if removed and first.cursor is not None:
            rest = listing.page(limit=2, cursor=first.cursor)
            expect.equal(f"a page of {listing.kind} after all were deleted", list(rest.items), [])
            expect.equal("what the next page would begin with", rest.cursor, None)


def test_list_limit_default_declared(memory: Memory) -> None:
    """A listing that nobody gave a limit has all there is, or as many as declared and a way to the rest."""
    numbers = {"sessions": 501, "records": 1001}
    for listing in listings(memory, SCOPE):
        number = numbers[listing.kind]
        _add_in_any_order(listing, [f"n{index:04}" for index in range(number)])
        default = default_limit_of(memory.policy, listing.call)
        first = len(listing.names())
        wanted = number if default is None else min(default, number)
        expect.equal(
            f"how many of {number} {listing.kind} a listing without a limit has", first, wanted
        )
        everything = len(_everything(listing, number))
        expect.equal(
            f"how many of {number} {listing.kind} can be listed at all", everything, number
        )


def _everything(listing: Listing, number: int) -> list[str]:
    """Return all names, by the ways that there are past a default limit."""
    if listing.memory.offers(listing.call, "cursor"):
        return listing.in_pages(None)
    if listing.memory.offers(listing.call, "limit"):
        return list(listing.page(limit=number + 1).items)
    return listing.names()


def test_list_filter_user(memory: Memory) -> None:
    """Each user's listing has that user's entries only, whatever the users' ids look like."""
    policy = memory.policy
    kinds: list[Callable[[Memory, Scope], Listing]] = []
    if memory.offers("list_sessions") and "user" in policy.scope_parts:
        kinds.append(session_listing)
    if memory.offers("list_records") and "user" in policy.record_parts:
        kinds.append(record_listing)
    if not kinds:
        memory.not_offered("the adapter lists nothing by user")
    for kind in kinds:
        _each_user_has_its_own(memory, kind)


def _each_user_has_its_own(memory: Memory, kind: Callable[[Memory, Scope], Listing]) -> None:
    own: dict[str, str] = {}
    scopes = {user: Scope(user=user, namespace=SCOPE.namespace) for user in USERS}
    for number, (user, scope) in enumerate(scopes.items()):
        name = f"of-{number}"
        if not memory.attempt(partial(kind(memory, scope).add, [name])).refused:
            own[user] = name
        elif user:
            raise CaseFailed(f"a user {user!r}: expected the write to be done, got a refusal")
    for user, name in own.items():
        listing = kind(memory, scopes[user])
        expect.equal(f"the {listing.kind} listed of user {user!r}", listing.names(), [name])
        if listing.pages_offered:
            paged = listing.in_pages(1)
            expect.equal(f"the {listing.kind} of user {user!r} in pages of 1", paged, [name])


def test_list_total_count(memory: Memory) -> None:
    """The number that a listing gives, and the count of a history, are the numbers of what matches."""
    checks = {
        "list_sessions": partial(_total_is_right, session_listing(memory, SCOPE)),
        "list_records": partial(_total_is_right, record_listing(memory, SCOPE)),
        "count": partial(_count_is_right, memory),
    }
    offered = [check for call, check in checks.items() if memory.offers(call)]
    if not offered:
        memory.not_offered("the adapter has neither list_sessions, list_records nor count")
    for check in offered:
        check()
    if memory.offers("list_records", "filter") and "eq" in memory.policy.filters:
        _filtered_total_is_right(memory)


def _total_is_right(listing: Listing) -> None:
    names = [f"n{number:02}" for number in range(23)]
    _add(listing, names)
    removed = {name for name in ("n07", "n20") if listing.remove(name)}
    number = len(names) - len(removed)
    page = listing.page(**({"limit": 5} if listing.pages_offered else {}))
    _total_is(f"the {listing.kind}", page.total, number)
    listed = listing.in_pages(5) if listing.pages_offered else listing.names()
    expect.equal(f"how many {listing.kind} are listed", len(listed), number)


def _filtered_total_is_right(memory: Memory) -> None:
    scope = Scope(namespace=("filtered",))
    kinds = {f"n{number:02}": "even" if number % 2 == 0 else "odd" for number in range(15)}
    memory.put_all(scope, [record(memory, name, "x", {"kind": kinds[name]}) for name in kinds])
    even = Compare("eq", "kind", "even")
    options = {"limit": 3} if memory.offers("list_records", "limit", "cursor") else {}
    page = memory.list_records(scope, filter=even, **options)
    _total_is("the records that match a filter", page.total, 8)
    matching = [each.id for each in memory.all_records(scope, filter=even, **options)]
    wanted = [name for name, kind in kinds.items() if kind == "even"]
    expect.contents("the records listed that match a filter", matching, wanted)


def _total_is(what: str, total: int | None, number: int) -> None:
    if total is not None:  # else the store does not say
        expect.equal(f"the total that a page gives of {what}", total, number)


def _count_is_right(memory: Memory) -> None:
    expect.equal("the count of no history", memory.count(SCOPE), 0)
    memory.append(SCOPE, [Message("user", str(number)) for number in range(23)])
    memory.append(Scope(session="another"), [Message("user", "x")])
    expect.equal("the count of 23 messages", memory.count(SCOPE), 23)


def test_list_sort_by_time_with_ties(memory: Memory) -> None:
    """Entries of one tick of the clock have a stable order, so that pages have each of them once."""
    memory.require_policy(list_order=("created", "updated"))
    ties = memory.offers("store_clock") or memory.offers("put_many")
    if not ties:
        memory.not_offered("the adapter has neither store_clock nor put_many to make a tie with")
    for listing in listings(memory, SCOPE, pages=True):
        if memory.offers("store_clock"):
            with memory.store_clock(lambda: NOON):
                listing.add(SHUFFLED)
        else:
            _add(listing, SHUFFLED)
        _ties_are_stable(listing)


def _ties_are_stable(listing: Listing) -> None:
    whole = listing.names()
    expect.contents(f"the {listing.kind} of one tick", whole, SHUFFLED)
    pages = listing.pages(3)
    paged = list(next(pages))
    if listing.memory.offers("tables"):
        move_rows(listing.memory)
    if listing.memory.offers("raw_keys"):
        rewrite_keys(listing.memory, listing.keys())
    paged += [name for page in pages for name in page]
    expect.equal(f"the {listing.kind} of one tick, listed in pages of 3", paged, whole)


def test_list_namespaces_prefix(memory: Memory) -> None:
    """Namespaces are listed by whole parts of a prefix, in which nothing is a wildcard but the declared."""
    memory.require("list_namespaces", "put")
    odd: tuple[Name, ...] = (("a%", "x"), ("a_", "y"), ("*", "z"), ("a.b",), ("a?", "w"))
    plain: tuple[Name, ...] = (
        ("a",),
        ("ab",),
        ("a", "b"),
        ("a", "bc"),
        ("a", "b", "c"),
        ("ab", "b"),
    )
    for name in plain:
        memory.put(Scope(namespace=name), record(memory, "a", "x"))
    there = [*plain, *(name for name in odd if _takes(memory, name))]
    prefixes: tuple[Name, ...] = (
        *((), ("a",), ("a", "b"), ("ab",), ("a_",), ("a%",), ("a?",), ("*",), ("a", "*")),
        *(("none",), ("b",)),
    )
    for prefix in prefixes:
        # Whether a namespace is below itself is left to the store.
        found = {name for name in memory.list_namespaces(SCOPE, prefix) if name != prefix}
        wanted = {name for name in there if name != prefix and _below(memory, name, prefix)}
        expect.equal(f"the namespaces below {prefix}", sorted(found), sorted(wanted))


def _takes(memory: Memory, namespace: Name) -> bool:
    """Put a record into a namespace with an odd name, which the store may refuse."""
    write = partial(memory.put, Scope(namespace=namespace), record(memory, "a", "x"))
    return not memory.attempt(write).refused


def _below(memory: Memory, name: Name, prefix: Name) -> bool:
    wildcard = memory.policy.namespace_wildcard
    parts = zip(name, prefix, strict=False)
    return len(name) >= len(prefix) and all(wanted in {part, wildcard} for part, wanted in parts)


# ---- what is listed ------------------------------------------------------------------------------


def _add(listing: Listing, names: Sequence[str]) -> None:
    """Make entries, in one call where the store has one for it."""
    if isinstance(listing, RecordListing):
        listing.add_at_once(names)
    else:
        listing.add(names)


def _add_in_any_order(listing: Listing, names: Sequence[str]) -> None:
    """Make entries, several at once where there is no call for all of them."""
    shared = listing.memory.policy.threads == "yes" or listing.memory.is_async
    if isinstance(listing, RecordListing) or not shared:
        _add(listing, names)
        return
    parts = [partial(listing.add, names[start::WRITERS]) for start in range(WRITERS)]
    for done in listing.memory.together(parts):
        done.result()


@contextmanager
def _ticking(memory: Memory) -> Iterator[None]:
    """Let a second pass between any two looks at the clock, where the store takes the time from ours."""
    seconds = count()
    if not memory.offers("store_clock"):
        yield
        return
    with memory.store_clock(lambda: NOON + dt.timedelta(seconds=next(seconds))):
        yield
