"""What a store declares of itself where more than one answer is right.

The memory test suite checks a store against what it declares, and reports each line of it, so that a
change of policy between two releases shows even where every case passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, TypeGuard, TypeVar, get_args, get_origin, get_type_hints

from memory_matrix.errors import UsageError

T = TypeVar("T")

Keeping = Literal["keep", "clean", "refuse"]
KindKeeping = Literal["keep", "text", "plain", "refuse"]
"""`plain`: as what JSON has of it: a list for a tuple or a set, its value for a member of an enum."""
Ttl = Literal["keep", "clear"]
Ids = Literal["last-wins", "refuse"]

FILTER_OPERATORS = (
    *("eq", "ne", "lt", "lte", "gt", "gte", "in", "nin", "exists"),
    *("contains-any", "contains-all", "and", "or", "not"),
)
VALUE_KINDS = ("datetime", "uuid", "decimal", "bytes", "set", "tuple", "enum")
SCOPE_PARTS = ("app", "user", "session", "namespace")
MESSAGE_FIELDS = ("id", "role", "text", "metadata", "tool", "created_at")
METRICS = ("cosine", "l2", "ip")
LISTINGS = ("read", "list_sessions", "list_records")
"""The calls that may give less than all where nobody says how many."""


def _declared(default: T, doc: str) -> T:
    value: T = field(default_factory=lambda: default, metadata={"doc": doc})
    return value


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The declared answers of one store; the defaults are what most users would expect."""

    # What is kept of odd values.
    nul: Keeping = _declared("refuse", "a NUL character in text, metadata or an id")
    metadata_nul: Literal["as-text", "keep", "clean", "refuse"] = _declared(
        "as-text", "a NUL character in metadata; as-text: as `nul` says"
    )
    surrogate: Keeping = _declared("refuse", "a lone surrogate in text or metadata")
    nan: Literal["keep", "none", "refuse"] = _declared("refuse", "NaN and infinity in metadata")
    negative_zero: Literal["keep", "drop"] = _declared("keep", "the sign of -0.0 in metadata")
    number_kinds: Literal["keep", "merge"] = _declared(
        "keep", "whether 1.0 stays a float, or may come back as 1"
    )
    non_string_keys: Literal["keep", "text", "refuse"] = _declared(
        "refuse", "keys of metadata that are no strings"
    )
    value_kinds: Mapping[str, KindKeeping] = _declared(
        MappingProxyType(dict.fromkeys(VALUE_KINDS, "refuse")),
        "values of metadata that JSON has not; text: as a string; plain: as the nearest that JSON has, such "
        "as a list for a tuple",
    )
    message_fields: tuple[str, ...] = _declared(
        ("role", "text"), f"what of a message is carried, of {', '.join(MESSAGE_FIELDS)}"
    )
    message_ids: Literal["caller", "store"] = _declared(
        "caller",
        "who gives a message the id that is carried; store: what a caller names is not kept",
    )
    scope_parts: tuple[str, ...] = _declared(("session",), "which parts of a scope it has")
    record_parts: tuple[str, ...] = _declared(
        ("namespace",), "which parts of a scope tell records apart"
    )

    # Order, limits and lists.
    order: Literal["call", "time"] = _declared("call", "what the order of messages follows")
    limit_counts: Literal["messages", "turns"] = _declared("messages", "what a limit counts")
    limit_zero: Literal["none", "all", "refuse"] = _declared("none", "what limit=0 gives")
    limit_negative: Literal["none", "all", "refuse"] = _declared("refuse", "what limit=-1 gives")
    after: Literal["exclusive", "inclusive"] = _declared(
        "exclusive", "whether a message or time equal to the bound of `after` is among the answer"
    )
    delete_by: Literal["id", "index"] = _declared("id", "how delete_message names a message")
    corrupt: Literal["skip", "raise"] = _declared(
        "raise", "a record that cannot be read: left out, or an error that names it"
    )
    list_order: Literal["created", "updated", "id", "none"] = _declared(
        "none", "the order of listings"
    )
    list_direction: Literal["up", "down"] = _declared("up", "oldest or smallest first, or last")
    default_limit: int | Mapping[str, int] | None = _declared(
        None,
        "how many a listing gives where nobody says: a number for all, or one for each call that has one, "
        f"of {', '.join(LISTINGS)}; what is declared of read is checked to the number",
    )
    cursor: Literal["entry", "offset"] = _declared(
        "entry",
        "where the next page of a listing begins: after the last entry given, whatever comes and goes, or "
        "after as many as were given, of those that are there by then",
    )
    namespaces: Literal["exact", "prefix"] = _declared(
        "exact", "whether a namespace's listings and searches hold those of longer namespaces"
    )
    namespace_wildcard: str | None = _declared(
        None, "the part that stands for any one part in the prefix of list_namespaces"
    )
    namespace_refuses: str | None = _declared(
        None, "characters that no part of a namespace may have, since the store joins parts by them"
    )
    empty_session: Literal["made", "none"] = _declared(
        "none", "whether appending no message makes a session"
    )

    # Writers that meet.
    conflict: Literal["refuse", "merge", "last-wins"] = _declared(
        "merge", "an append with a handle that was loaded before somebody else's append"
    )
    late_write_after_delete: Literal["refuse", "drop", "revive"] = _declared(
        "refuse", "a write with a handle that was loaded before the session was deleted"
    )
    batch: Literal["atomic", "reports", "single"] = _declared(
        "atomic",
        "a batch with one bad record: none is stored; reports: the error has `stored`, the positions in the "
        "batch, from 0, of what is stored; single: it has no batches, each message of an append is a write "
        "of its own",
    )
    duplicate_ids: Ids = _declared("last-wins", "one id twice in a batch")
    same_id: Ids = _declared("last-wins", "putting an id that is there")
    partial_update: Literal["merge", "replace"] = _declared(
        "merge", "what an update does to the keys of metadata that it does not name"
    )
    delete_missing: Literal["quiet", "refuse"] = _declared("quiet", "deleting what is not there")
    idempotent_by: Literal["id", "none"] = _declared(
        "none", "whether a write that is sent twice with one write_id is done once"
    )
    connection: Literal["pool", "single"] = _declared(
        "pool", "whether callers share a pool, or one connection that they take in turns"
    )
    reconnect_calls: int = _declared(
        1, "calls that may fail after the server ended the connections"
    )
    wait: float = _declared(5.0, "seconds after which a call that cannot be served has failed")
    loops: Literal["one", "any"] = _declared("any", "event loops that one object can be used from")
    threads: Literal["yes", "refuse"] = _declared("yes", "whether threads may share an object")
    cluster: Literal["yes", "no"] = _declared("no", "whether it works on a Redis cluster")
    sentinel: Literal["yes", "no"] = _declared(
        "no", "whether it asks sentinels for the primary, and goes on with a new one"
    )
    key_prefix: Literal["yes", "no"] = _declared(
        "yes", "whether all its Redis keys begin with the prefix that it was opened with"
    )
    pgbouncer: Literal["yes", "no"] = _declared("yes", "whether it works behind a transaction pool")

    # Time to live.
    ttl: Literal["session", "record", "both", "none"] = _declared(
        "none", "what can have a time to live"
    )
    expiry_read: Literal["hidden", "until-sweep"] = _declared("hidden", "reading what has expired")
    ttl_refresh: Literal["read", "write", "never"] = _declared(
        "write", "what makes a session's time to live start again (reading: then writing too)"
    )
    ttl_on_update: Ttl = _declared("keep", "an update that names no time to live")
    ttl_on_append: Ttl = _declared(
        "keep",
        "what becomes of a session's time to live when a store that was opened without one appends to it",
    )
    ttl_zero: Literal["refuse", "expired"] = _declared("refuse", "a time to live of 0")
    ttl_fraction: Literal["exact", "up", "refuse"] = _declared(
        "exact", "a time to live of 0.5 s: exact, rounded up, or refused"
    )

    # Vectors.
    search_by: Literal["vector", "text"] = _declared(
        "vector", "what a record is found by: its vector, or what its text says"
    )
    dimensions: Literal["any", "one"] = _declared(
        "any", "whether stores with other dimensions may share its schema or its prefix"
    )
    score: Literal["similarity", "distance"] = _declared("similarity", "what search returns")
    score_range: tuple[float, float] | None = _declared(None, "the least and the most it can be")
    metrics: tuple[str, ...] = _declared(("cosine",), "the metrics that it can be opened with")
    filters: tuple[str, ...] = _declared((), "the operators of filters that it translates")
    ne_matches_missing: bool = _declared(True, "whether ne and nin match records that lack the key")
    null_exists: bool = _declared(True, "whether a key whose value is None exists")
    time_filter: Literal["no", "inclusive", "exclusive"] = _declared(
        "no", "whether created_at can be filtered by lte and gte, and what a bound is"
    )
    threshold: Literal["no", "inclusive", "exclusive"] = _declared(
        "no", "whether search takes a threshold, and whether a score equal to it is in"
    )
    k_zero: Literal["none", "refuse"] = _declared("none", "a search for 0 records")
    zero_vector: Literal["keep", "refuse"] = _declared("keep", "storing a vector of zeros")
    zero_query: Literal["answer", "refuse"] = _declared(
        "answer", "searching with a vector of zeros"
    )
    recall: float = _declared(0.95, "the share of the true top 10 that its index finds")
    vectors: Literal["keep", "no"] = _declared("keep", "whether get gives the vector back")
    index: Literal["hnsw", "ivfflat", "none"] = _declared("none", "its vector index")

    # Time.
    time_zone: Literal["utc", "any"] = _declared("utc", "the zone of the times that come back")
    naive_time: Literal["refuse", "utc"] = _declared("refuse", "a time without a zone as input")
    old_schema: Literal["migrate", "refuse"] = _declared(
        "migrate", "opening on the data of an earlier release"
    )

    def lines(self) -> dict[str, str]:
        """Return every declared answer as text, by name."""
        return {each.name: _text(getattr(self, each.name)) for each in fields(self)}


def default_limit_of(policy: Policy, call: str) -> int | None:
    """Return how many one of the LISTINGS gives where nobody says; None for all."""
    limit = policy.default_limit
    return limit.get(call) if isinstance(limit, Mapping) else limit


def as_policy(declared: object, store: str) -> Policy:
    """Return the policy that an adapter declares, as a Policy or as a mapping of some of its names.

    Raises:
        UsageError: it declares a policy or an answer that does not exist.
    """
    if isinstance(declared, Policy):
        answers: Mapping[str, Any] = {
            each.name: getattr(declared, each.name) for each in fields(Policy)
        }
    elif isinstance(declared, Mapping):
        answers = declared
    else:
        raise UsageError(
            f"{store}: its policy is a {type(declared).__name__}; it should be a "
            "memory_matrix.stores.Policy, or a mapping of names to answers."
        )
    hints = _hints()
    for name, answer in answers.items():
        if name not in hints:
            raise UsageError(f"{store}: there is no policy {name!r}.{answer_meant(name)}")
        if problem := _problem(name, answer, hints[name]):
            raise UsageError(f"{store}: policy {name} is {answer!r}; it should be {problem}.")
    try:
        return Policy(**{**answers, **_completed(answers)})
    except TypeError as error:
        raise UsageError(f"{store}: its policy cannot be read: {error}.") from None


@cache
def _hints() -> Mapping[str, Any]:
    """Return what each answer may be."""
    return get_type_hints(Policy)


def _completed(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kinds of values with those that are not named, and lists as tuples."""
    kinds = {**dict.fromkeys(VALUE_KINDS, "refuse"), **answers.get("value_kinds", {})}
    tuples = {key: tuple(value) for key, value in answers.items() if isinstance(value, list)}
    return {**tuples, "value_kinds": MappingProxyType(kinds)}


_WORDS: Mapping[str, tuple[str, ...]] = {
    "filters": FILTER_OPERATORS,
    "scope_parts": SCOPE_PARTS,
    "record_parts": SCOPE_PARTS,
    "message_fields": MESSAGE_FIELDS,
    "metrics": METRICS,
}


def _problem(name: str, answer: object, hint: Any) -> str | None:
    """Return what is allowed where `answer` is not."""
    if name in _WORDS:
        return _no_words(answer, _WORDS[name])
    if name in _CHECKS:
        return _CHECKS[name](answer)
    if get_origin(hint) is Literal:
        allowed = get_args(hint)
        return None if answer in allowed else " or ".join(map(repr, allowed))
    if type(None) in get_args(hint):
        return None if answer is None else _no_scalar(answer, get_args(hint)[0])
    return _no_scalar(answer, hint)


def _no_scalar(answer: object, hint: Any) -> str | None:
    if hint is bool:
        return None if isinstance(answer, bool) else "True or False"
    if hint is str:
        return None if isinstance(answer, str) else "a string"
    return None if _is_number(answer) and answer >= 0 else "a number of 0 or more"


def _no_words(answer: object, words: tuple[str, ...]) -> str | None:
    fits = isinstance(answer, list | tuple) and all(word in words for word in answer)
    return None if fits else f"some of {', '.join(words)}"


def _no_kinds(answer: object) -> str | None:
    allowed = get_args(KindKeeping)
    fits = isinstance(answer, Mapping) and all(
        kind in VALUE_KINDS and keeping in allowed for kind, keeping in answer.items()
    )
    kinds = ", ".join(VALUE_KINDS)
    return None if fits else f"a mapping of {kinds} to {' or '.join(map(repr, allowed))}"


def _no_limits(answer: object) -> str | None:
    limits = answer if isinstance(answer, Mapping) else {LISTINGS[0]: answer}
    fits = answer is None or all(
        call in LISTINGS and type(limit) is int and limit >= 0 for call, limit in limits.items()
    )
    return None if fits else f"None, a whole number, or a mapping of {', '.join(LISTINGS)} to such"


def _no_range(answer: object) -> str | None:
    fits = answer is None or (
        isinstance(answer, list | tuple) and len(answer) == 2 and all(map(_is_number, answer))
    )
    return None if fits else "None, or its least and its most"


_CHECKS: Mapping[str, Callable[[object], str | None]] = {
    "value_kinds": _no_kinds,
    "default_limit": _no_limits,
    "score_range": _no_range,
}


def _is_number(answer: object) -> TypeGuard[float]:
    return isinstance(answer, int | float) and not isinstance(answer, bool)


def answer_meant(name: str) -> str:
    """Return which answer may have been meant by one that there is not, as a sentence after a space."""
    known = [each.name for each in fields(Policy)]
    close = get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]!r}?" if close else f" There are {', '.join(known)}."


def _text(answer: object) -> str:
    if isinstance(answer, Mapping):
        return ", ".join(f"{key}: {value}" for key, value in answer.items()) or "none"
    if isinstance(answer, tuple):
        return ", ".join(map(str, answer)) or "none"
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return "none" if answer is None else str(answer)
