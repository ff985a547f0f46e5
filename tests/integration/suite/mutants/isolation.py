"""Stores that take one id for another, and what the cases of group F say of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import wraps
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from memory_matrix.stores.postgres import PostgresAdapter
from memory_matrix.stores.protocol import Combine, Compare, Filter, Page, Record, Scope, StoreEnv
from memory_matrix.stores.redis import RedisAdapter
from support.mutants import mutant
from support.mutations import of_names, of_scopes

Matches = Callable[[str, str], bool]


def _like(name: str, pattern: str) -> bool:
    """Return whether SQL's LIKE would match."""
    parts = [{"%": ".*", "_": "."}.get(each, re.escape(each)) for each in pattern]
    return re.fullmatch("".join(parts), name, re.DOTALL) is not None


def _clears(base: type[Any], matches: Matches) -> type[Any]:
    """Return `base`, which clears every session whose id matches."""

    def clear(self: Any, store: Any, scope: Scope) -> None:
        for session in base.list_sessions(self, store, scope).items:
            if matches(session, scope.session):
                base.clear(self, store, replace(scope, session=session))

    return type(base.__name__, (base,), {"clear": clear})


@mutant("iso_prefix_user1_user10")
class ClearsByPrefix(_clears(RedisAdapter, str.startswith)):
    """Deletes all keys that begin with the session's."""


@mutant("iso_prefix_user1_user10")
class ListsByPrefix(PostgresAdapter):
    """Finds the records of all ids that begin with the one that was asked for."""

    def get(self, store: Any, scope: Scope, record_id: str) -> Record | None:
        records = super().list_records(store, scope).items
        return next((each for each in records if each.id.startswith(record_id)), None)


@mutant("iso_prefix_namespace_part")
class JoinsNamespaces(
    of_scopes(RedisAdapter, lambda scope: replace(scope, namespace=(".".join(scope.namespace),)))
):
    """Writes a namespace as one text with dots."""


@mutant("iso_prefix_namespace_part")
class NamespacesByLike(PostgresAdapter):
    """Lists what is in all namespaces that begin with the same letters."""

    def list_records(self, store: Any, scope: Scope, **options: Any) -> Page:
        own = "/".join(scope.namespace)
        every = super().list_namespaces(store, scope, ())
        below = [each for each in every if _like("/".join(each), f"{own}%")]
        pages = [
            super(NamespacesByLike, self).list_records(
                store, replace(scope, namespace=each), **options
            )
            for each in below
        ]
        return Page([record for page in pages for record in page.items])


@mutant("iso_sql_underscore_percent")
class ClearsByLike(_clears(PostgresAdapter, _like)):
    """Matches ids with LIKE."""


@mutant("iso_backslash_and_quote")
class DropsBackslashes(of_names(PostgresAdapter, lambda name: name.replace("\\", ""))):
    """Escapes ids by hand, and wrongly."""


@mutant("iso_backslash_and_quote")
class BreaksOnQuotes(PostgresAdapter):
    """Writes values into its SQL, so that a quote in one makes it find nothing."""

    def list_records(self, store: Any, scope: Scope, *, filter: Any = None, **options: Any) -> Page:
        if isinstance(filter, Compare) and "'" in str(filter.value):
            return Page(())
        return super().list_records(store, scope, filter=filter, **options)


@mutant("iso_glob_star_question_bracket")
class ClearsByGlob(_clears(RedisAdapter, fnmatchcase)):
    """Scans for the keys to delete with the id in the pattern."""


def _joined_to_user(scope: Scope) -> Scope:
    first, *rest = (f"{scope.user}:{each}" for each in (scope.session, *scope.namespace))
    return replace(scope, user="", session=first, namespace=tuple(rest))


@mutant("iso_key_separator")
class JoinsUserAndSession(of_scopes(RedisAdapter, _joined_to_user)):
    """Makes one key of user and session, without escaping either."""

    def list_sessions(self, store: Any, scope: Scope, **options: Any) -> Page:
        own = f"{scope.user}:"
        page = super().list_sessions(store, scope, **options)
        found = [each.removeprefix(own) for each in page.items if each.startswith(own)]
        return Page(found, page.cursor)


@mutant("iso_key_separator")
class JoinsNamespaceAndId(PostgresAdapter):
    """Makes one key of a record's namespace and id."""

    put_many = update = delete = delete_where = delete_all = list_records = search = None

    def put(self, store: Any, scope: Scope, record: Record, **options: Any) -> None:
        super().put(store, *_joined(scope, record.id, record), **options)

    def get(self, store: Any, scope: Scope, record_id: str) -> Record | None:
        place, record = _joined(scope, record_id, Record(record_id))
        return super().get(store, place, record.id)


def _joined(scope: Scope, record_id: str, record: Record) -> tuple[Scope, Record]:
    key = ":".join([*scope.namespace, record_id])
    return replace(scope, namespace=("all",)), replace(record, id=key)


@mutant("iso_internal_names")
class HidesItsOwnNames(RedisAdapter):
    """Leaves out of its listings what it takes for its own."""

    def list_sessions(self, store: Any, scope: Scope, **options: Any) -> Page:
        page = super().list_sessions(store, scope, **options)
        return Page([each for each in page.items if not each.startswith("__")], page.cursor)


@mutant("iso_internal_names")
class NullIsNone(of_names(PostgresAdapter, lambda name: "" if name in {"None", "null"} else name)):
    """Writes None as text, and reads that text as None."""


@mutant("iso_search_syntax")
class SplitsIntoWords(of_names(RedisAdapter, lambda name: " ".join(re.findall(r"\w+", name)))):
    """Looks ids up in an index of words."""


@mutant("iso_search_syntax")
class TakesWhatItSaysItRefuses(RedisAdapter):
    """Says that it refuses dots in namespaces, and does not."""

    policy = replace(RedisAdapter.policy, namespace_refuses=".")


@mutant("iso_case")
class FoldsCase(of_names(RedisAdapter, str.casefold)):
    """Looks ids up in an index that folds case."""


def _also_of(base: type[Any], call: str) -> type[Any]:
    """Return `base`, one call of which is made on the id in small letters, too."""
    original = getattr(base, call)

    @wraps(original)
    def both(self: Any, store: Any, scope: Scope, *arguments: Any, **options: Any) -> Any:
        small = tuple(map(str.casefold, scope.namespace))
        other = replace(scope, session=scope.session.casefold(), namespace=small)
        if other != scope:
            original(self, store, other, *arguments, **options)
        return original(self, store, scope, *arguments, **options)

    return type(f"FoldsCaseIn_{call}", (base,), {call: both})


for _call in ("append", "replace", "pop", "clear"):
    mutant("iso_case")(_also_of(RedisAdapter, _call))
for _call in ("put", "put_many", "update", "delete", "delete_where", "delete_all"):
    mutant("iso_case")(_also_of(PostgresAdapter, _call))


@mutant("iso_comma")
class TagsAtCommas(of_names(RedisAdapter, lambda name: name.split(",")[0])):
    """Keeps ids as tags, which commas separate."""


@mutant("iso_leading_trailing_space")
class StripsIds(of_names(PostgresAdapter, str.strip)):
    """Trims ids."""


@mutant("iso_numeric_looking")
class NumbersInFilters(PostgresAdapter):
    """Compares as numbers what looks like numbers."""

    def list_records(self, store: Any, scope: Scope, *, filter: Any = None, **options: Any) -> Page:
        if not isinstance(filter, Compare):
            return super().list_records(store, scope, filter=filter, **options)
        records = super().list_records(store, scope).items
        wanted = _number(filter.value)
        return Page([each for each in records if _number(each.metadata["who"]) == wanted])


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


@mutant("iso_long_id_600")
class CutsLongIds(of_names(PostgresAdapter, lambda name: name[:255])):
    """Has columns of 255 characters."""


@mutant("iso_same_record_id_two_collections")
class OneCollection(of_scopes(PostgresAdapter, lambda scope: replace(scope, namespace=("all",)))):
    """Has one primary key for all collections."""


@mutant("iso_same_record_id_two_collections")
class OneUser(of_scopes(RedisAdapter, lambda scope: replace(scope, user="all"))):
    """Forgets whose records they are."""


@mutant("iso_two_key_prefixes")
class CutsThePrefix(RedisAdapter):
    """Keeps a pointer for all stores whose prefixes begin alike."""

    def open(self, env: StoreEnv) -> Any:
        return super().open(replace(env, prefix=":".join(env.prefix.split(":")[:2]) + ":"))


@mutant("iso_two_schemas_or_databases")
class AlwaysTheFirstDatabase(RedisAdapter):
    """Does not read the number in the URL."""

    def open(self, env: StoreEnv) -> Any:
        url = urlunsplit(urlsplit(str(env.redis_url))._replace(path="/0"))
        return super().open(replace(env, redis_url=url))


@mutant("iso_two_schemas_or_databases")
class AlwaysTheFirstSchema(PostgresAdapter):
    """Remembers where it was opened first."""

    def __init__(self) -> None:
        self._first: StoreEnv | None = None

    def open(self, env: StoreEnv) -> Any:
        self._first = self._first or env
        return super().open(self._first)


@mutant("iso_user_and_session")
class ForgetsTheUser(of_scopes(PostgresAdapter, lambda scope: replace(scope, user="all"))):
    """Looks sessions up by their own id alone."""


@mutant("iso_clear_scope")
class EmptyFilterIsNone(RedisAdapter):
    """Takes a filter that matches nothing for no filter."""

    def delete_where(self, store: Any, scope: Scope, filter: Any) -> int:
        if isinstance(filter, Compare) and filter.op == "in" and not filter.value:
            super().delete_all(store, scope)
            return 0
        return super().delete_where(store, scope, filter)


@mutant("iso_clear_scope")
class HalfOfTheFilter(PostgresAdapter):
    """Deletes by the first condition only."""

    def delete_where(self, store: Any, scope: Scope, filter: Any) -> int:
        first = filter.filters[0] if isinstance(filter, Combine) else filter
        return super().delete_where(store, scope, first)


@mutant("iso_clear_scope")
class DeletesEverywhere(RedisAdapter):
    """Deletes the records of all namespaces."""

    def delete_all(self, store: Any, scope: Scope) -> None:
        for namespace in super().list_namespaces(store, scope, ()):
            super().delete_all(store, replace(scope, namespace=namespace))


@mutant("iso_none_id")
class NoneIsAll(RedisAdapter):
    """Gives all that there is where nobody is named."""

    def clear(self, store: Any, scope: Scope) -> None:
        if scope.session is None:
            for session in super().list_sessions(store, replace(scope, session="any")).items:
                super().clear(store, replace(scope, session=session))
        else:
            super().clear(store, scope)


@mutant("iso_none_id")
class ListsForNobody(PostgresAdapter):
    """Lists the sessions of some user where none is named."""

    def list_sessions(self, store: Any, scope: Scope, **options: Any) -> Page:
        return super().list_sessions(store, _somebody(scope), **options)


@mutant("iso_none_id")
class LoadsForNobody(RedisAdapter):
    """Loads the session of some user where none is named."""

    def load(self, store: Any, scope: Scope) -> Any:
        return super().load(store, _somebody(scope))


@mutant("iso_none_id")
class KeepsTheStateOfNobody(PostgresAdapter):
    """Reads the state of some user where none is named."""

    def get_state(self, store: Any, scope: Scope, **options: Any) -> Any:
        return super().get_state(store, _somebody(scope), **options)


@mutant("iso_none_id")
class NoMessageIsEach(RedisAdapter):
    """Deletes all messages where none is named."""

    def delete_message(self, store: Any, scope: Scope, which: Any) -> Any:
        if which is None:
            return super().clear(store, scope)
        return super().delete_message(store, scope, which)


@mutant("iso_none_id")
class DeletesByFilterForNobody(RedisAdapter):
    """Deletes what matches in some namespace where none is named."""

    def delete_where(self, store: Any, scope: Scope, filter: Filter) -> int:
        return super().delete_where(store, _somebody(scope), filter)


@mutant("iso_none_id")
class PutsManyForNobody(PostgresAdapter):
    """Puts records in some namespace where none is named."""

    def put_many(self, store: Any, scope: Scope, records: Any, **options: Any) -> None:
        super().put_many(store, _somebody(scope), records, **options)


@mutant("iso_none_id")
class UpdatesForNobody(RedisAdapter):
    """Updates a record in some namespace where none is named."""

    def update(self, store: Any, scope: Scope, record_id: str, **changes: Any) -> None:
        super().update(store, _somebody(scope), record_id, **changes)


@mutant("iso_none_id")
class ListsEveryNamespace(PostgresAdapter):
    """Lists all namespaces where a part of the prefix is not named."""

    def list_namespaces(self, store: Any, scope: Scope, prefix: tuple[str, ...]) -> Any:
        named = tuple(part for part in prefix if part is not None)
        return super().list_namespaces(store, scope, named)


def _somebody(scope: Scope) -> Scope:
    """Return a scope in which what is None is what most cases call it."""
    usual = Scope()
    return Scope(**{part: getattr(scope, part) or getattr(usual, part) for part in vars(usual)})


@mutant("iso_none_id")
class NoneIsAName(of_names(PostgresAdapter, str)):
    """Writes None into its key."""
