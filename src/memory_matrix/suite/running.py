"""Open a store under test for one case, and say what became of the case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from memory_matrix.errors import MemoryMatrixError
from memory_matrix.isolation.redis import Place
from memory_matrix.servers.client import ServerError
from memory_matrix.stores.protocol import Codec, Scope
from memory_matrix.suite.leftovers import Threads
from memory_matrix.suite.logs import listening
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.offered import fill, seen
from memory_matrix.suite.options import Kind
from memory_matrix.suite.outcomes import (
    CaseFailed,
    CaseOutcome,
    CaseSkipped,
    HarnessError,
    NotOffered,
)
from memory_matrix.suite.site import Facilities, Site, env_of, new_site
from memory_matrix.suite.stores import StoreParameter
from memory_matrix.suite.worker import Worker
from memory_matrix.worker.modules import Serializer, load_serializer

_LONGEST = 4000
"""Characters of an error's text that are told."""
_HARNESS = (HarnessError, ServerError, MemoryMatrixError)
"""Errors that say nothing of the store."""


@contextmanager
def opened(worker: Worker, parameter: StoreParameter) -> Iterator[Memory]:
    """Yield the store on fresh places; afterwards check what it left behind.

    Raises:
        HarnessError: a server cannot be had.
        CaseFailed: on leaving, the store left something behind.
    """
    store = parameter.store
    try:
        facilities = _facilities(worker, parameter)
        site = new_site(facilities, store)
    except ServerError as error:
        raise HarnessError(str(error)) from error
    codec = None if parameter.serializer is None else load_codec(parameter.serializer)
    threads = Threads()
    memory = Memory(store, env_of(site, serializer=parameter.serializer, codec=codec), site)
    try:
        with listening() as memory.logged:
            try:
                yield memory
            except BaseException:
                with suppress(CaseFailed):  # what went wrong first is the finding
                    memory.finish()
                raise
            memory.finish()
            _expect_no_threads(memory, threads)
    finally:
        site.close()
        outside = _leave(facilities, site)
    if outside and store.policy.key_prefix == "yes":
        raise CaseFailed(f"keys outside the store's prefix were left: {', '.join(outside[:5])}")


def _expect_no_threads(memory: Memory, threads: Threads) -> None:
    """Fail if the store objects of a case, which are closed, have left threads; and so does one more."""
    if memory.disturbed or not memory.offers("close") or not threads.left():
        return
    again = Threads()  # what a library starts once in a process is no leak
    another = Memory(memory.tested, memory.env, memory.site)
    with suppress(Exception):
        fill(another, Scope())
        seen(another, Scope())
    another.finish()
    if left := again.left():
        raise CaseFailed(f"threads are left after the store was closed: {', '.join(left)}")


def run_case(
    case: Callable[[Memory], None], worker: Worker, parameter: StoreParameter
) -> Exception | None:
    """Run one case outside pytest; return what it raised, for `outcome_of`; None where it passed."""
    try:
        with opened(worker, parameter) as memory:
            case(memory)
    except Exception as error:  # noqa: BLE001 - whatever a store raises is a finding
        return error
    return None


def outcome_of(error: BaseException | None) -> CaseOutcome:
    """Return the outcome of a case that raised `error`."""
    if error is None:
        return "passed"
    if isinstance(error, NotOffered):
        return "not-offered"
    if isinstance(error, CaseSkipped):
        return "skipped"
    return "error" if isinstance(error, _HARNESS) else "failed"


def reason_of(error: BaseException) -> str:
    """Return one paragraph on why a case did not pass."""
    text = " ".join(_text(error).split())
    plain = isinstance(error, (CaseFailed, NotOffered, CaseSkipped, *_HARNESS))
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    return text if plain else f"{name}: {text}" if text else name


def _text(error: BaseException) -> str:
    try:
        return str(error)[:_LONGEST]
    except BaseException as second:  # noqa: BLE001 - an error of the store's own class
        return f"(its text cannot be had: {type(second).__name__})"


def load_codec(name: str) -> Codec:
    """Return the serializer `name`, a built-in one or `file.py:object`, as one that gives bytes."""
    return _Bytes(load_serializer(name))


class _Bytes:
    """A serializer whose text is kept as UTF-8."""

    def __init__(self, inner: Serializer) -> None:
        self._inner = inner
        _, self._text = inner.dumps([])

    def dumps(self, value: object) -> bytes:
        """Return `value` as bytes."""
        return self._inner.dumps(value)[0]

    def loads(self, data: bytes) -> object:
        """Return what `dumps` wrote."""
        return self._inner.loads(data, self._text)


def _facilities(worker: Worker, parameter: StoreParameter) -> Facilities:
    sources: dict[Kind, str] = dict(parameter.sources)
    alone = parameter.store.own_database
    return Facilities(
        worker.servers,
        sources,
        postgres=worker.postgres(sources["postgres"]) if "postgres" in sources else None,
        redis=None if "redis" not in sources else worker.redis(sources["redis"], own_server=alone),
    )


def silent(facilities: Facilities) -> str | None:
    """Return which of the run's servers does not answer: what a store raised then says nothing of it."""
    try:
        if facilities.postgres is not None:
            facilities.postgres.execute("SELECT 1")
    except Exception:  # noqa: BLE001 - whatever its client raises
        return "Postgres"
    try:
        if facilities.redis is not None:
            facilities.redis.client.ping()
    except Exception:  # noqa: BLE001
        return "Redis"
    return None


def _leave(facilities: Facilities, site: Site) -> list[str]:
    place: Place | None = site.redis
    if facilities.redis is None or place is None:
        return []
    return facilities.redis.leave(place)
