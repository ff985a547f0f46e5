"""Group B: values and metadata come back as they were, or the store has said what becomes of them."""

from __future__ import annotations

import copy
import datetime as dt
import enum
import math
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial
from itertools import combinations
from typing import Any

from memory_matrix.stores.protocol import Compare, Message, Record, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.parts import cover
from memory_matrix.suite.samples import vector
from memory_matrix.suite.ways import (
    Content,
    Way,
    are_refused,
    come_back,
    comes_back,
    entries_equal_or_refused,
    equal_or_refused,
    has_metadata,
    ways,
)

GROUP = "B"

SCOPE = Scope()


class Mood(enum.Enum):
    """A member of an enum, as applications keep them in metadata."""

    CALM = "calm"
    CALMER = "calmer"


KINDS: Mapping[str, Sequence[Any]] = {
    "datetime": (
        dt.datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=dt.timezone.utc),
        dt.datetime(2026, 3, 29, 1, 30, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30))),
    ),
    "uuid": (uuid.UUID("12345678-1234-5678-1234-567812345678"),),
    "decimal": (Decimal("0.10"), Decimal("1E+30")),
    "bytes": (b"\x00\xff", b""),
    "set": ({"only"}, set()),
    "tuple": ((1, "two"), ()),
    "enum": (Mood.CALM,),
}
_NOON = dt.datetime(2026, 3, 29, 12, 0, 0, 123456, tzinfo=dt.timezone.utc)
NAIVE = _NOON.replace(tzinfo=None)
ALIKE: Mapping[str, Sequence[Any]] = {
    "datetime": (
        _NOON,
        _NOON + dt.timedelta(microseconds=1),
        _NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30))),
    ),
    "uuid": (uuid.UUID("12345678-1234-5678-1234-567812345679"),),
    "decimal": (Decimal("0.1000000000000000000001"), Decimal(1000000000000000000000000000001)),
    "bytes": (b"\x00", b"\x00\xfe"),
    "set": ({"other"},),
    "tuple": ((1, "three"), ("1", "two")),
    "enum": (Mood.CALMER,),
}
"""Values that differ, from each other and from those above, in what a text easily leaves out."""
PLAIN: Mapping[str, type] = {"tuple": list, "set": list, "enum": str}
"""What is next to a kind in JSON; the other kinds have nothing but text."""

ODD_KEYS = (
    *("a.b", "a b", " a", "a ", "a'b", 'a"b', "a\\b", "a:b", "a,b", "a-b", "a/b", "a|b", "a@b"),
    *("$a", "a$b", "{a}", "a[0]", "%", "a%b", "a_b", "*", "#", "\u043a\u043b\u044e\u0447", "A", ""),
)
EMPTY: Mapping[str, Any] = {"a": None, "b": [], "c": {}, "d": "", "e": 0, "f": False}
RESERVED = (
    *("id", "key", "session_id", "text", "embedding", "vector", "metadata", "content", "user_id"),
    *("namespace", "created_at", "updated_at", "expires_at", "ttl", "score", "distance", "role"),
    *("type", "name", "value", "data", "_id", "__class__"),
)


def test_meta_none_value(memory: Memory) -> None:
    """None comes back None, and is told from a missing key."""
    _values_come_back(memory, None, [None], {"inner": None})
    come_back(memory, [Content(metadata={"a": None}), Content(metadata={})], "metadata")


def test_meta_empty_list_and_dict(memory: Memory) -> None:
    """[] and {} come back, not None and not dropped."""
    _values_come_back(memory, [], {}, [[]], [{}], {"inner": []}, {"inner": {}}, "", 0, False)
    come_back(memory, [Content(metadata={})], "metadata")


def test_meta_bool_vs_int(memory: Memory) -> None:
    """True stays True and 1 stays 1, in storage and in filters."""
    _values_come_back(memory, True, 1, False, 0, [True, 1, False, 0])
    _are_told_apart(memory, True, 1, False, 0, "1", "true", "True")


def test_meta_int_float_kind(memory: Memory) -> None:
    """1.0 stays a float and 1 an int, or the change is declared."""
    _numbers_come_back(memory, 1, 1.0, 0, 0.0, -3, -3.0, 1e3, 100, 1e22)


def test_meta_int_2_53_plus_1(memory: Memory) -> None:
    """Ints that no float holds are exact."""
    numbers = (2**53 + 1, -(2**53 + 1), 2**53 - 1, 2**63 - 1, -(2**63))
    _values_come_back(memory, *numbers, [2**53 + 1], {"inner": 2**62 + 1})


def test_meta_int_2_63_plus_5(memory: Memory) -> None:
    """Ints of more than 63 bits are exact or refused."""
    _values_come_back_or_are_refused(memory, 2**63 + 5, -(2**63) - 5, 2**64 + 1, [2**63 + 5])


def test_meta_int_10_30(memory: Memory) -> None:
    """Ints of a hundred bits and more are exact or refused."""
    _values_come_back_or_are_refused(memory, 10**30, 10**30 + 1, -(10**40) - 7, 2**400 + 1)


def test_meta_float_exact(memory: Memory) -> None:
    """Floats come back bit for bit."""
    floats = (0.1 + 0.2, 5e-324, -5e-324, 1 / 3, 1e-7, 123456.789012345678, 2.2250738585072014e-308)
    _values_come_back(memory, *floats, [0.1 + 0.2], {"inner": 5e-324})
    _numbers_come_back(memory, 1.7976931348623157e308)


def test_meta_nan_inf(memory: Memory) -> None:
    """NaN and infinity are kept, become None or are refused, as declared; all stays readable."""
    values = (math.nan, math.inf, -math.inf, [math.nan], {"inner": math.inf})
    contents = [Content(metadata={"value": value, "other": 1}) for value in values]
    kept = contents if memory.policy.nan == "keep" else [_finite(each) for each in contents]
    for way in ways(memory, "metadata"):
        if memory.policy.nan == "refuse":
            are_refused(way, contents, "metadata with what is no finite number")
        else:
            way.write(contents)
            comes_back(way, kept, "metadata")


def test_meta_negative_zero(memory: Memory) -> None:
    """-0.0 keeps its sign, or loses it as declared."""
    kept = -0.0 if memory.policy.negative_zero == "keep" else 0.0
    _numbers_come_back(memory, kept, given=[-0.0])


def test_meta_non_string_keys(memory: Memory) -> None:
    """Keys that are no strings are kept, become text or are refused; two never fold into one."""
    odd: list[Any] = [{1: "a"}, {None: "a"}, {True: "a"}, {2.5: "a"}, {"inner": {1: "a"}}]
    folding: list[Any] = [{1: "a", "1": "b"}, {"inner": [{1: "a", "1": "b"}]}]
    for way in ways(memory, "metadata"):
        _keys_are_as_declared(way, [Content(metadata=metadata) for metadata in odd])
    for metadata in folding:
        equal_or_refused(memory, [Content(metadata=metadata)])


def test_meta_deep_nesting_200(memory: Memory) -> None:
    """Lists and mappings within each other, 200 deep, come back or are refused."""
    lists: Any = "inside"
    mappings: Any = "inside"
    for _ in range(200):
        lists, mappings = [lists], {"in": mappings}
    _values_come_back_or_are_refused(memory, lists, mappings)


def test_meta_wide_10k_keys(memory: Memory) -> None:
    """10,000 keys come back or are refused."""
    wide = {f"key {number}": number for number in range(10_000)}
    equal_or_refused(memory, [Content(metadata=wide)])


def test_meta_datetime_uuid_decimal_bytes(memory: Memory) -> None:
    """Each is kept, becomes text or is refused as declared, and the same by every call."""
    _kinds_are_as_declared(memory, "datetime", "uuid", "decimal", "bytes")


def test_meta_set_tuple_enum(memory: Memory) -> None:
    """Each is kept, becomes what is declared or is refused, and the same by every call."""
    _kinds_are_as_declared(memory, "set", "tuple", "enum")


def test_meta_key_with_dot_quote_space(memory: Memory) -> None:
    """Keys with dots, quotes, spaces and the like are read back and can be filtered by, or are refused."""
    entries_equal_or_refused(memory, {key: f"value of {key}" for key in ODD_KEYS})
    entries_equal_or_refused(memory, _numbered([{key: 1} for key in ODD_KEYS]))
    if not memory.tested.part("records"):
        return
    scope = Scope(namespace=("odd keys",))
    put = partial(_puts_with, memory, scope)
    taken = [key for number, key in enumerate(ODD_KEYS) if put(number, {key: "here"})]
    for key in taken:
        _finds(memory, scope, Compare("eq", key, "here"), [f"r{ODD_KEYS.index(key)}"])


def test_meta_reserved_key_names(memory: Memory) -> None:
    """Metadata named like the store's own fields does not overwrite these, and comes back."""
    entries_equal_or_refused(memory, {key: f"not the {key}" for key in RESERVED})
    every = dict.fromkeys(RESERVED, "not the store's own")
    cover(
        memory,
        {
            ("put", "get"): partial(_record_keeps_its_fields, metadata=every),
            ("append", "read"): partial(_message_keeps_its_fields, metadata=every),
        },
    )


def test_meta_update_to_empty(memory: Memory) -> None:
    """A text of "", metadata of {} and a history of nothing apply, as anything else does."""
    cover(
        memory,
        {
            ("put", "get", "update"): _record_becomes_empty,
            ("put", "get"): _put_replaces_by_empty,
            ("replace", "append", "read"): _history_becomes_empty,
            ("set_state", "get_state"): _state_becomes_empty,
        },
    )


def test_meta_partial_update_keeps_rest(memory: Memory) -> None:
    """An update changes what it names and, as declared, keeps or drops the other keys of metadata."""
    memory.require("put", "get", "update")
    memory.put(SCOPE, Record("r", "text", vector(memory, 3), {"a": 1, "b": [2], "c": None}))
    memory.update(SCOPE, "r", metadata={"b": 3, "d": 4})
    kept = {"a": 1, "c": None} if memory.policy.partial_update == "merge" else {}
    _record_is(memory, "an update of metadata", "text", {**kept, "b": 3, "d": 4})
    memory.update(SCOPE, "r", text="new text")
    _record_is(memory, "an update of the text", "new text", {**kept, "b": 3, "d": 4})
    if memory.offers("search") and memory.offers("update", "vector"):
        memory.update(SCOPE, "r", vector=vector(memory, 9))
        _record_is(memory, "an update of the vector", "new text", {**kept, "b": 3, "d": 4})
    memory.put(SCOPE, Record("other", "other", vector(memory), {"a": 1}))
    memory.update(SCOPE, "other", metadata={"a": 2})
    _record_is(memory, "an update of another record", "new text", {**kept, "b": 3, "d": 4})


def test_tool_call_fields_kept(memory: Memory) -> None:
    """Tool calls, ids, names and extra fields of a message come back."""
    if "tool" not in memory.policy.message_fields:
        memory.not_offered("policy message_fields has no tool")
    conversation = list(_conversation())
    calls = {"append": memory.append, "replace": memory.replace}
    for name, write in calls.items():
        if memory.offers(name):
            scope = Scope(session=name)
            write(scope, conversation)
            read = memory.read(scope)
            _messages_equal(memory, f"messages by {name}", read, conversation)
            again = [each.id for each in memory.read(scope)]
            expect.equal(f"id of messages by {name}, read again", again, [each.id for each in read])
    if memory.offers("append") and memory.offers("pop"):
        popped = memory.pop(Scope(session="append"))
        _messages_equal(memory, "a popped message", [popped], conversation[-1:])


def test_caller_object_not_changed(memory: Memory) -> None:
    """What was stored, and what was read, can be changed without changing the store; no call changes it."""
    for way in ways(memory, "metadata") if has_metadata(memory) else []:
        metadata: dict[str, Any] = {"list": [1], "inner": {"a": {"b": 1}}}
        untouched = copy.deepcopy(metadata)
        way.write([Content(metadata=metadata)])
        expect.equal(f"the caller's metadata after {way.name}", metadata, untouched)
        _spoil(metadata)
        comes_back(way, [Content(metadata=untouched)], "metadata")
        for contents in way.read().values():
            _spoil(contents[0].metadata)
        comes_back(way, [Content(metadata=untouched)], "metadata")
    if memory.tested.part("conversation"):
        _list_is_not_kept(memory)


# ---- values that come back ------------------------------------------------------------------


def _values_come_back(memory: Memory, *values: Any) -> None:
    come_back(memory, [Content(metadata=_numbered(values))], "metadata")


def _values_come_back_or_are_refused(memory: Memory, *values: Any) -> None:
    entries_equal_or_refused(memory, _numbered(values))


def _numbered(values: Sequence[Any]) -> dict[str, Any]:
    return {f"value {number}": value for number, value in enumerate(values)}


def _numbers_come_back(
    memory: Memory, *wanted: float, given: Sequence[float] | None = None
) -> None:
    """Fail unless numbers come back, as floats or ints as they were, unless the policy merges these."""
    merges = memory.policy.number_kinds == "merge"
    for way in ways(memory, "metadata"):
        way.write([Content(metadata=_numbered(wanted if given is None else given))])
        for reader, got in way.read().items():
            kept = got[0].metadata if got else {}
            for name, number in _numbered(wanted).items():
                value = kept.get(name)
                if merges:
                    value = _of_the_kind(number, value)
                expect.equal(f"{number!r} written by {way.name}, read by {reader}", value, number)


def _of_the_kind(number: float, value: Any) -> Any:
    """Return an int for a float, or a float for an int, as the other where it stands for that number.

    An int may be the float's shortest decimal: 1.8e308 has more digits than the store was given.
    """
    if type(number) is float and type(value) is int:
        with suppress(OverflowError):
            return float(value)
    if type(number) is int and type(value) is float and value == number:
        return number
    return value


def _finite(content: Content) -> Content:
    def finite(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: finite(each) for key, each in value.items()}
        if isinstance(value, list):
            return [finite(each) for each in value]
        return None if isinstance(value, float) else value

    return Content(content.text, finite(dict(content.metadata)))


def _are_told_apart(memory: Memory, *values: Any) -> None:
    """Fail unless a filter for each of the values finds that record only, where the store has filters."""
    if not memory.tested.part("records"):
        return
    scope = Scope(namespace=("told apart",))
    for number, value in enumerate(values):
        _puts_with(memory, scope, number, {"value": value})
    for number, value in enumerate(values):
        _finds(memory, scope, Compare("eq", "value", value), [f"r{number}"])


def _puts_with(memory: Memory, scope: Scope, number: int, metadata: Mapping[str, Any]) -> bool:
    """Put the record `number`; return whether the store took it."""
    record = Record(f"r{number}", "text", vector(memory, number), metadata)
    return not memory.attempt(partial(memory.put, scope, record)).refused


def _finds(memory: Memory, scope: Scope, wanted: Compare, ids: list[str]) -> None:
    """Fail unless a filter finds just `ids`, by every call that takes one."""
    if wanted.op not in memory.policy.filters:
        return
    what = f"{wanted.op} {wanted.value!r} on {wanted.field!a}"
    if memory.offers("list_records", "filter"):
        listed = [each.id for each in memory.all_records(scope, filter=wanted)]
        expect.equal(f"what list_records finds for {what}", listed, ids)
    if memory.offers("search", "filter"):
        found = memory.found(scope, vector(memory) or (), 100, filter=wanted)
        expect.equal(f"what search finds for {what}", found, ids)


# ---- keys and kinds of values ---------------------------------------------------------------


def _keys_are_as_declared(way: Way, contents: Sequence[Content]) -> None:
    """Fail unless keys that are no strings are kept, become some text or are refused as declared."""
    answer = way.memory.policy.non_string_keys
    if answer == "refuse":
        are_refused(way, contents, "metadata with a key that is no string")
        return
    way.write(contents)
    if answer == "keep":
        comes_back(way, contents, "metadata")
        return
    for reader, got in way.read().items():
        by = f"written by {way.name}, read by {reader}"
        expect.equal(f"how many {by}", len(got), len(contents))
        for each, content in zip(got, contents, strict=True):
            kept = each.metadata
            inner = kept.get("inner", kept)
            as_text = len(inner) == 1 and all(isinstance(key, str) for key in inner)
            expect.true(
                as_text and list(inner.values()) == ["a"],
                f"metadata {content.metadata!r} {by}: expected its key as text, got {kept!r}",
            )


def _kinds_are_as_declared(memory: Memory, *kinds: str) -> None:
    """Fail unless values of these kinds are kept, become text or something plain, or are refused."""
    answers = {kind: memory.policy.value_kinds[kind] for kind in kinds}
    refused = [value for kind in kinds if answers[kind] == "refuse" for value in KINDS[kind]]
    taken = [
        (kind, value)
        for kind in kinds
        if answers[kind] != "refuse"
        for value in (*KINDS[kind], *ALIKE[kind])
    ]
    if answers.get("datetime") in {"text", "plain"} and _takes_naive(memory):
        taken.append(("datetime", NAIVE))
    seen: list[dict[str, Any]] = [{} for _ in taken]
    for way in ways(memory, "metadata") if refused else []:
        are_refused(way, [_holding(value) for value in refused], "metadata with such a value")
    for way in ways(memory, "metadata") if taken else []:
        way.write([_holding(value) for _, value in taken])
        _are_kept_as_declared(way, taken, seen)
    for (_, value), by_call in zip(taken, seen, strict=True):
        _all_alike(f"{value!r}", by_call)
    _tell_apart(memory, taken, [next(iter(each.values())) for each in seen])


def _takes_naive(memory: Memory) -> bool:
    """Return whether metadata may have a time without a zone, which a store may refuse."""
    way = ways(memory, "metadata")[0]
    attempt = memory.attempt(partial(way.write, [_holding(NAIVE)]))
    return not attempt.refused or memory.policy.naive_time != "refuse"


def _tell_apart(memory: Memory, taken: Sequence[tuple[str, Any]], kept: Sequence[Any]) -> None:
    """Fail if two different values of one kind have become one."""
    for (left, left_kept), (right, right_kept) in combinations(zip(taken, kept, strict=True), 2):
        if left[0] == right[0] and left[1] != right[1] and not _is_one_time(memory, left, right):
            expect.true(
                not expect.same(left_kept, right_kept),
                f"{left[1]!r} and {right[1]!r}: expected what tells them apart, got "
                f"{expect.shown(left_kept)} for both",
            )


def _is_one_time(memory: Memory, *values: tuple[str, Any]) -> bool:
    """Return whether two values are one where a time without a zone is one in UTC."""
    return memory.policy.naive_time == "utc" and {value for _, value in values} == {_NOON, NAIVE}


def _holding(value: Any) -> Content:
    return Content(metadata={"value": value, "deep": [{"value": value}]})


def _are_kept_as_declared(
    way: Way, taken: Sequence[tuple[str, Any]], seen: Sequence[dict[str, Any]]
) -> None:
    """Note what became of each value, by the calls that wrote and read it."""
    for reader, got in way.read().items():
        name = f"written by {way.name}, read by {reader}"
        expect.equal(f"how many {name}", len(got), len(taken))
        for each, (kind, value), by_call in zip(got, taken, seen, strict=True):
            by_call[name] = _kept_as_declared(way, kind, value, each, name)


def _kept_as_declared(way: Way, kind: str, value: Any, got: Content, name: str) -> Any:
    answer = way.memory.policy.value_kinds[kind]
    wanted = {"keep": type(value), "text": str, "plain": PLAIN.get(kind, str)}[answer]
    kept = got.metadata.get("value")
    fits = type(kept) is wanted and (answer != "keep" or expect.same(kept, value))
    expect.true(fits, f"{value!r} {name}: expected {answer} as declared, got {expect.shown(kept)}")
    expect.equal(f"a deeper {value!r} {name}", got.metadata.get("deep"), [{"value": kept}])
    return kept


def _all_alike(what: str, seen: Mapping[str, Any]) -> None:
    first, *others = seen.items() or [("", None)]
    for name, kept in others:
        expect.equal(f"what {what} is, {name}, as {first[0]}", kept, first[1])


# ---- fields of records and messages ---------------------------------------------------------


def _record_keeps_its_fields(memory: Memory, metadata: Mapping[str, Any]) -> None:
    record = Record("mine", "my text", vector(memory, 5), metadata)
    if memory.attempt(partial(memory.put, SCOPE, record)).refused:
        return
    _record_is(memory, "a put of such metadata", "my text", metadata, "mine")
    if memory.offers("search"):
        found = memory.found(SCOPE, vector(memory, 5) or (), 10)
        expect.equal("what a search finds", found, ["mine"])
    if "eq" in memory.policy.filters:
        _finds(memory, SCOPE, Compare("eq", "id", metadata["id"]), ["mine"])
        _finds(memory, SCOPE, Compare("eq", "id", "mine"), [])


def _message_keeps_its_fields(memory: Memory, metadata: Mapping[str, Any]) -> None:
    if "metadata" not in memory.policy.message_fields:
        return
    message = Message("assistant", "my text", id="mine", metadata=metadata)
    if not memory.attempt(partial(memory.append, SCOPE, [message])).refused:
        _messages_equal(memory, "a message with such metadata", memory.read(SCOPE), [message])


def _messages_equal(
    memory: Memory, what: str, got: Sequence[Message | None], wanted: Sequence[Message]
) -> None:
    """Fail unless messages are equal in all that the store carries and the caller gave."""
    names = [name for name in memory.policy.message_fields if name != "created_at"]
    expect.equal(f"how many {what}", len(got), len(wanted))
    if "id" in names and memory.policy.message_ids == "store":
        names.remove("id")
        ids = [came and came.id for came in got]
        told_apart = None not in ids and len({*ids}) == len(ids)
        expect.true(
            told_apart, f"id of {what}: expected one for each, given by the store, got {ids}"
        )
    for came, went in zip(got, wanted, strict=True):
        for name in names:
            given, kept = getattr(went, name), getattr(came, name)
            if name != "id" or given is not None:
                expect.equal(f"{name} of {what}", kept, given)


def _conversation() -> Iterator[Message]:
    """Yield messages with all that tools need."""
    arguments = {"query": "caf\u00e9", "limit": 3, "exact": True, "near": None, "tags": [], "o": {}}
    call = {"name": "search", "call_id": "call_1", "arguments": arguments, "type": "function"}
    result = {
        "call_id": "call_1",
        "output": [{"score": 0.5}, None],
        "error": None,
        "extra": {"x": 1},
    }
    yield Message("system", "Be brief.", id="m0")
    yield Message("user", "Where?", id="m1", metadata={"name": "Ann", "lang": "de"})
    yield Message("assistant", "", id="m2", tool=call)
    yield Message("tool", "", id="m3", tool=result, metadata={"seconds": 0.25})
    yield Message(
        "assistant", "Here.", id="m4", tool={**call, "call_id": "call_2", "arguments": {}}
    )


# ---- updates --------------------------------------------------------------------------------


def _record_is(
    memory: Memory, after: str, text: str, metadata: Mapping[str, Any], name: str = "r"
) -> None:
    """Fail unless a record has this text and metadata, by get and by list."""
    found = {"get": memory.get(SCOPE, name)}
    if memory.offers("list_records"):
        listed = [each for each in memory.all_records(SCOPE) if each.id == name]
        found["list_records"] = listed[0] if listed else None
    for call, record in found.items():
        got = record and (record.id, record.text, dict(record.metadata))
        expect.equal(f"the record after {after}, by {call}", got, (name, text, dict(metadata)))


def _record_becomes_empty(memory: Memory) -> None:
    merges = memory.policy.partial_update == "merge"
    memory.put(SCOPE, Record("r", "text", vector(memory), dict.fromkeys(EMPTY, "full")))
    memory.update(SCOPE, "r", metadata=EMPTY)
    _record_is(memory, "an update to empty values", "text", EMPTY)
    memory.update(SCOPE, "r", text="")
    _record_is(memory, 'an update of the text to ""', "", EMPTY)
    memory.update(SCOPE, "r", metadata={})
    _record_is(memory, "an update of metadata to {}", "", EMPTY if merges else {})


def _put_replaces_by_empty(memory: Memory) -> None:
    if memory.policy.same_id == "last-wins":
        memory.put(SCOPE, Record("r", "text", vector(memory), {"a": 1}))
        memory.put(SCOPE, Record("r", "", vector(memory), {}))
        _record_is(memory, "a put of an empty one", "", {})


def _history_becomes_empty(memory: Memory) -> None:
    memory.say(SCOPE, "one", "two")
    memory.replace(SCOPE, [])
    expect.equal("the history after it was replaced by nothing", memory.texts(SCOPE), [])


def _state_becomes_empty(memory: Memory) -> None:
    scope = Scope(session="state")
    for delta in (dict.fromkeys(EMPTY, "full"), EMPTY):
        handle = memory.load(scope) if memory.offers("load") else scope
        memory.set_state(handle, delta)
    expect.equal("the state after its values became empty", memory.get_state(scope), EMPTY)


# ---- the caller's own objects ---------------------------------------------------------------


def _spoil(metadata: Any) -> None:
    """Change what is in some metadata, at every depth."""
    metadata["list"].append("spoiled")
    metadata["inner"]["a"]["b"] = "spoiled"
    metadata["more"] = "spoiled"


def _list_is_not_kept(memory: Memory) -> None:
    scope = Scope(session="a list of messages")
    messages = [Message("user", "one"), Message("user", "two")]
    memory.append(scope, messages)
    expect.equal("how many messages the caller's list has", len(messages), 2)
    messages.append(Message("user", "never appended"))
    read = memory.read(scope)
    expect.equal("the texts read back", [each.text for each in read], ["one", "two"])
    read.clear()
    expect.equal("the texts read again", memory.texts(scope), ["one", "two"])
