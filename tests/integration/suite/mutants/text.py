"""Stores that change texts, and what the cases of group A say of them."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from dataclasses import replace
from typing import Any

import psycopg

from memory_matrix.stores.postgres import PostgresAdapter
from memory_matrix.stores.protocol import Message, Scope
from memory_matrix.stores.redis import RedisAdapter
from support.mutants import mutant
from support.mutations import keys, leaves, of_names, of_writes

MIB = 1024 * 1024


def _texts(change: Any) -> Any:
    return leaves(lambda value: change(value) if isinstance(value, str) else value)


def _cut(text: str) -> str:
    return text.partition("\0")[0]


def _encodable(text: str) -> str:
    return text.encode(errors="replace").decode()


def _as_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@mutant("text_ascii_round_trip", "text_sql_and_json_looking")
class EscapesForPages(of_writes(PostgresAdapter, text=html.escape)):
    """Keeps what a page would show."""


@mutant("text_ascii_round_trip")
class GivesBytes(RedisAdapter):
    """Leaves the client's bytes as they are."""

    def read(self, *arguments: Any, **options: Any) -> list[Message]:
        messages = super().read(*arguments, **options)
        return [replace(each, text=each.text.encode()) for each in messages]


@mutant("text_bmp_and_astral")
class KnowsThreeBytes(
    of_writes(RedisAdapter, metadata=_texts(lambda text: re.sub(r"[^\0-\uffff]", "?", text)))
):
    """Has no room for characters of four bytes."""


@mutant("text_bmp_and_astral", "text_nfc_nfd_distinct")
class Normalises(of_writes(PostgresAdapter, text=lambda text: unicodedata.normalize("NFKC", text))):
    """Brings texts into one form."""


@mutant("text_nfc_nfd_distinct")
class ComposesIds(of_names(PostgresAdapter, lambda name: unicodedata.normalize("NFC", name))):
    """Compares ids as people read them."""


@mutant("text_rtl_and_bidi_controls")
class DropsWhatIsNotSeen(
    of_writes(
        RedisAdapter,
        text=lambda text: "".join(each for each in text if unicodedata.category(each) != "Cf"),
    )
):
    """Thinks that what has no shape has no meaning."""


@mutant("text_nul_in_content", "text_nul_in_metadata_value", "text_nul_in_metadata_key")
class CutsAtNul(
    of_writes(
        RedisAdapter,
        text=_cut,
        metadata=lambda given: keys(_cut)(_texts(_cut)(given)),
    )
):
    """Ends texts where C does."""

    policy = replace(RedisAdapter.policy, nul="clean")


@mutant("text_nul_in_content")
class CleansThoughItRefuses(of_writes(PostgresAdapter, text=lambda text: text.replace("\0", ""))):
    """Says that it refuses a NUL, and drops it."""

    policy = replace(PostgresAdapter.policy, nul="refuse")


@mutant("text_nul_in_content", "text_nul_in_metadata_value")
class StoresHalf(PostgresAdapter):
    """Stores the messages of a batch one by one, and notices the NUL afterwards."""

    def append(self, store: Any, scope: Any, messages: Any, **options: Any) -> None:
        cleaned = of_writes(
            PostgresAdapter,
            text=lambda text: text.replace("\0", ""),
            metadata=_texts(lambda text: text.replace("\0", "")),
        )
        cleaned().append(store, scope, messages, **options)
        super().append(store, scope, messages, **options)


@mutant("text_nul_in_session_id")
class DropsNulFromIds(of_names(RedisAdapter, lambda name: name.replace("\0", ""))):
    """Cleans ids as it cleans texts."""


@mutant("text_lone_surrogate_content", "text_lone_surrogate_metadata")
class EncodesWhatItCan(
    of_writes(
        PostgresAdapter,
        text=lambda text: text.encode(errors="ignore").decode(),
        metadata=lambda given: keys(_encodable)(_texts(_encodable)(given)),
    )
):
    """Says that it refuses lone surrogates, and ignores them."""


@mutant("text_backslash_u0000_literal")
class CleansTheEscape(of_writes(PostgresAdapter, text=lambda text: text.replace("\\u0000", ""))):
    """Cleans the JSON text of what may be a NUL."""


@mutant("text_crlf_tabs_trailing_space", "text_only_whitespace")
class Strips(of_writes(RedisAdapter, text=str.strip)):
    """Trims."""


@mutant("text_crlf_tabs_trailing_space")
class OneKindOfLineEnd(
    of_writes(PostgresAdapter, metadata=_texts(lambda text: "\n".join(text.splitlines())))
):
    """Reads texts as files."""


@mutant("text_empty_string")
class DropsTheEmpty(PostgresAdapter):
    """Takes an empty message for none."""

    def append(self, store: Any, scope: Any, messages: Any, **options: Any) -> None:
        super().append(store, scope, [each for each in messages if each.text], **options)


@mutant("text_huge_summary_8MiB")
class CutsAtFourMiB(of_writes(PostgresAdapter, text=lambda text: text[: 4 * MIB])):
    """Has a column of that size."""


@mutant("text_sql_and_json_looking")
class ReadsJsonInTexts(of_writes(RedisAdapter, metadata=_texts(_as_json))):
    """Takes a text that looks like JSON for JSON."""


@mutant("text_percent_s_and_braces")
class HalvesPercents(of_writes(PostgresAdapter, text=lambda text: text.replace("%%", "%"))):
    """Lets its statement go through a formatter once too often."""


@mutant("text_percent_s_and_braces")
class FormatsKeys(of_writes(RedisAdapter, metadata=keys(lambda key: key.replace("{}", "")))):
    """Builds a path from each key."""


@mutant("name_and_id_unicode")
class IdsInAscii(of_names(RedisAdapter, lambda name: name.encode("ascii", "replace").decode())):
    """Makes keys of ASCII only."""


def _raw(text: str) -> str:
    if "\0" in text:
        raise psycopg.errors.UntranslatableCharacter("unsupported Unicode escape sequence")
    return text


@mutant("text_nul_in_content", "text_nul_in_metadata_value")
class HandsOnWhatTheServerSays(of_writes(RedisAdapter, text=_raw, metadata=_texts(_raw))):
    """Declares the errors of its driver as its own."""

    policy = replace(RedisAdapter.policy, nul="refuse")
    refusals = (*RedisAdapter.refusals, psycopg.Error)


@mutant("text_nul_in_session_id")
class HandsOnWhatTheServerSaysOfIds(of_names(RedisAdapter, _raw)):
    """Declares the errors of its driver as its own."""

    refusals = (*RedisAdapter.refusals, psycopg.Error)


@mutant("text_nul_in_session_id")
class TakesEveryFaultForARefusal(RedisAdapter):
    """Forgets what it reads, and has the suite's own findings among its refusals."""

    refusals = (AssertionError,)

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        return []
