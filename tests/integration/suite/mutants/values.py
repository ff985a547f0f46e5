"""Stores that change values, and what the cases of group B say of them."""

from __future__ import annotations

import datetime as dt
import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import count
from typing import Any

from memory_matrix.stores.policy import VALUE_KINDS
from memory_matrix.stores.postgres import PostgresAdapter
from memory_matrix.stores.protocol import Compare, Message, Page, Record
from memory_matrix.stores.redis import RedisAdapter
from support.mutants import mutant
from support.mutations import keys, leaves, of_writes

INT64 = 2**63


def _kept(value: Any) -> bool:
    return isinstance(value, str | int | float | bool) or value is None


def _as_text(value: Any) -> Any:
    """Return what `json.dumps(..., default=str)` makes of a value."""
    return value if _kept(value) else str(value)


def _wrapped(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return (value + INT64) % (2 * INT64) - INT64
    return value


def _doubled(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        return int(float(value))
    return value


def _rounded(value: Any) -> Any:
    return float(f"{value:.15g}") if isinstance(value, float) else value


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


@mutant("meta_none_value")
class DropsNone(
    of_writes(
        PostgresAdapter,
        metadata=lambda given: {key: each for key, each in given.items() if each is not None},
    )
):
    """Strips nulls, as some serializers do by default."""


@mutant("meta_empty_list_and_dict")
class EmptyIsNone(
    of_writes(
        RedisAdapter, metadata=lambda given: {key: each or None for key, each in given.items()}
    )
):
    """Tests values for truth."""


@mutant("meta_bool_vs_int")
class BoolsAreInts(
    of_writes(
        PostgresAdapter,
        metadata=leaves(lambda value: int(value) if isinstance(value, bool) else value),
    )
):
    """Has numbers, and no booleans."""


@mutant("meta_bool_vs_int")
class FiltersByPythonsEqual(RedisAdapter):
    """Compares True and 1 as Python does."""

    def list_records(self, store: Any, scope: Any, *, filter: Any = None, **options: Any) -> Page:
        if not isinstance(filter, Compare):
            return super().list_records(store, scope, filter=filter, **options)
        page = super().list_records(store, scope)
        same = [each for each in page.items if each.metadata.get(filter.field) == filter.value]
        return Page(same)


@mutant("meta_int_float_kind", "meta_negative_zero")
class WholeFloatsAreInts(
    of_writes(
        RedisAdapter,
        metadata=leaves(
            lambda value: (
                int(value)
                if isinstance(value, float) and math.isfinite(value) and value.is_integer()
                else value
            )
        ),
    )
):
    """Writes numbers as JavaScript does."""


@mutant("meta_int_2_53_plus_1", "meta_int_2_63_plus_5", "meta_int_10_30")
class NumbersAreDoubles(of_writes(PostgresAdapter, metadata=leaves(_doubled))):
    """Reads every number as a float of 64 bits."""


@mutant("meta_int_2_63_plus_5", "meta_int_10_30")
class IntsWrap(of_writes(RedisAdapter, metadata=leaves(_wrapped))):
    """Has ints of 64 bits, and lets them run over."""


@mutant("meta_float_exact")
class FifteenDigits(of_writes(PostgresAdapter, metadata=leaves(_rounded))):
    """Writes floats with fifteen digits."""


@mutant("meta_nan_inf")
class NotANumberIsNone(of_writes(PostgresAdapter, metadata=leaves(_finite))):
    """Says that it refuses NaN, and writes null."""

    policy = replace(PostgresAdapter.policy, nan="refuse")


@mutant("meta_non_string_keys")
class KeysBecomeText(of_writes(RedisAdapter, metadata=keys(str))):
    """Folds 1 and "1" into one key."""

    policy = replace(RedisAdapter.policy, non_string_keys="text")


@mutant("meta_non_string_keys")
class KeysBecomeTextUnsaid(of_writes(PostgresAdapter, metadata=keys(str))):
    """Says that it refuses keys that are no text, and makes them text."""

    policy = replace(PostgresAdapter.policy, non_string_keys="refuse")


@mutant("meta_deep_nesting_200")
class CutsWhatIsDeep(of_writes(RedisAdapter, metadata=lambda given: _cut(given, 100))):
    """Writes what is too deep as text."""


def _cut(value: Any, depth: int) -> Any:
    if depth == 0:
        return "..."
    if isinstance(value, Mapping):
        return {key: _cut(each, depth - 1) for key, each in value.items()}
    return [_cut(each, depth - 1) for each in value] if isinstance(value, list) else value


@mutant("meta_wide_10k_keys")
class KeepsAThousandKeys(
    of_writes(PostgresAdapter, metadata=lambda given: dict(list(given.items())[:1000]))
):
    """Has so many columns."""


@mutant("meta_datetime_uuid_decimal_bytes", "meta_set_tuple_enum")
class WritesAnythingAsText(of_writes(PostgresAdapter, metadata=leaves(_as_text))):
    """Says that it refuses what JSON has not, and writes its text."""


@mutant("meta_datetime_uuid_decimal_bytes", "meta_set_tuple_enum")
class EachCallItsOwn(of_writes(RedisAdapter, metadata=leaves(_as_text))):
    """Writes such values as text, but differently in each call."""

    policy = replace(RedisAdapter.policy, value_kinds=dict.fromkeys(VALUE_KINDS, "text"))

    def put(self, store: Any, scope: Any, record: Record, **options: Any) -> None:
        metadata = leaves(lambda value: value if _kept(value) else repr(value))(record.metadata)
        super().put(store, scope, replace(record, metadata=metadata), **options)


def _shortening(kind: str, shorten: Callable[[Any], Any]) -> type[Any]:
    """Return a store that writes values of a kind as text by `shorten`, and says so."""

    class Shortens(of_writes(RedisAdapter, metadata=leaves(shorten))):
        policy = replace(RedisAdapter.policy, value_kinds={kind: "text"})

    return Shortens


@mutant("meta_datetime_uuid_decimal_bytes")
class DatetimesLoseTheirZone(
    _shortening(
        "datetime",
        lambda value: (
            value.strftime("%Y-%m-%d %H:%M:%S.%f") if isinstance(value, dt.datetime) else value
        ),
    )
):
    """Writes the wall clock's time."""


@mutant("meta_datetime_uuid_decimal_bytes")
class DatetimesLoseMicroseconds(
    _shortening(
        "datetime",
        lambda value: (
            value.isoformat(timespec="milliseconds") if isinstance(value, dt.datetime) else value
        ),
    )
):
    """Writes times in milliseconds."""


@mutant("meta_datetime_uuid_decimal_bytes")
class DecimalsAreDoubles(
    _shortening("decimal", lambda value: str(float(value)) if isinstance(value, Decimal) else value)
):
    """Writes what a double has of a number."""


@mutant("meta_datetime_uuid_decimal_bytes")
class UuidsAreCut(
    _shortening("uuid", lambda value: str(value)[:8] if isinstance(value, uuid.UUID) else value)
):
    """Writes the first part."""


@mutant("meta_datetime_uuid_decimal_bytes")
class BytesAreAscii(
    _shortening(
        "bytes",
        lambda value: value.decode("ascii", "ignore") if isinstance(value, bytes) else value,
    )
):
    """Writes what is ASCII."""


@mutant("meta_key_with_dot_quote_space")
class PlainKeys(of_writes(PostgresAdapter, metadata=keys(lambda key: key.replace(".", "_")))):
    """Makes keys that are names of columns."""


@mutant("meta_key_with_dot_quote_space")
class FiltersByPath(RedisAdapter):
    """Takes a dot in a filter's key for a path."""

    def list_records(self, store: Any, scope: Any, *, filter: Any = None, **options: Any) -> Page:
        if isinstance(filter, Compare) and "." in filter.field:
            return Page(())
        return super().list_records(store, scope, filter=filter, **options)


@mutant("meta_reserved_key_names")
class OneFlatDocument(RedisAdapter):
    """Keeps a record's fields and its metadata in one hash."""

    def get(self, *arguments: Any) -> Record | None:
        found = super().get(*arguments)
        text = found and found.metadata.get("text", found.text)
        return found and replace(found, text=text)


@mutant("meta_reserved_key_names")
class DropsItsOwnNames(
    of_writes(
        PostgresAdapter,
        metadata=lambda given: {key: each for key, each in given.items() if key != "session_id"},
    )
):
    """Takes its own columns out of what it gives back."""


@mutant("meta_update_to_empty")
class UpdatesIfThereIsAny(PostgresAdapter):
    """Tests what is to be changed for truth."""

    def update(self, store: Any, scope: Any, record_id: str, **changes: Any) -> None:
        given = {name: value for name, value in changes.items() if value}
        super().update(store, scope, record_id, **given)


@mutant("meta_update_to_empty")
class ReplacesIfThereIsAny(RedisAdapter):
    """Takes a history of nothing for nothing to do."""

    def replace(self, store: Any, scope: Any, messages: Any) -> None:
        if messages:
            super().replace(store, scope, messages)


@mutant("meta_partial_update_keeps_rest")
class UpdateReplaces(PostgresAdapter):
    """Writes the metadata that an update names over all that was there."""

    policy = replace(PostgresAdapter.policy, partial_update="merge")

    def update(self, store: Any, scope: Any, record_id: str, **changes: Any) -> None:
        found = self.get(store, scope, record_id)
        if found is not None:
            self.put(store, scope, replace(found, **changes))


@mutant("meta_partial_update_keeps_rest")
class UpdateForgets(RedisAdapter):
    """Rebuilds a record from its text when that changes."""

    def update(self, store: Any, scope: Any, record_id: str, **changes: Any) -> None:
        if "text" in changes:
            super().put(store, scope, Record(record_id, changes["text"], (1.0,) * 8))
        else:
            super().update(store, scope, record_id, **changes)


@mutant("tool_call_fields_kept")
class KnownToolFields(RedisAdapter):
    """Keeps of a tool call what it has a column for."""

    def append(self, store: Any, scope: Any, messages: Any, **options: Any) -> None:
        super().append(store, scope, [_known(each) for each in messages], **options)


@mutant("tool_call_fields_kept")
class NumbersEachRead(RedisAdapter):
    """Gives messages ids of its own, which are others at each read."""

    policy = replace(RedisAdapter.policy, message_ids="store")

    def __init__(self) -> None:
        self._numbers = count()

    def read(self, *arguments: Any, **options: Any) -> list[Message]:
        found = super().read(*arguments, **options)
        return [replace(each, id=str(next(self._numbers))) for each in found]


@mutant("tool_call_fields_kept")
class OneIdForAll(RedisAdapter):
    """Gives all messages of a session one id."""

    policy = replace(RedisAdapter.policy, message_ids="store")

    def read(self, *arguments: Any, **options: Any) -> list[Message]:
        return [replace(each, id="1") for each in super().read(*arguments, **options)]


def _known(message: Message) -> Message:
    names = ("name", "call_id", "arguments", "output")
    tool = message.tool and {key: message.tool[key] for key in names if key in message.tool}
    return replace(message, tool=tool)


@mutant("caller_object_not_changed")
class KeepsTheCallersObjects(PostgresAdapter):
    """Has a cache in the process, and hands out what is in it."""

    def __init__(self) -> None:
        self._cache: dict[Any, Record] = {}

    def put(self, store: Any, scope: Any, record: Record, **options: Any) -> None:
        super().put(store, scope, record, **options)
        self._cache[scope, record.id] = record

    def get(self, store: Any, scope: Any, record_id: str) -> Record | None:
        return self._cache.get((scope, record_id)) or super().get(store, scope, record_id)


@mutant("caller_object_not_changed")
class MarksTheCallersMetadata(RedisAdapter):
    """Writes a mark of its own into the caller's mapping."""

    def append(self, store: Any, scope: Any, messages: Any, **options: Any) -> None:
        super().append(store, scope, messages, **options)
        for each in messages:
            each.metadata["stored"] = True
