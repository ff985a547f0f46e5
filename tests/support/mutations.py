"""Small mutations that many broken stores are made of: what is written, and whose memory it is, changes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

from memory_matrix.stores.protocol import Message, Record, Scope

Adapter = type[Any]
Change = Callable[[Any], Any]
T = TypeVar("T", Message, Record)

WRITES = ("append", "replace", "append_with", "put", "put_many", "update")


def of_scopes(base: Adapter, change: Callable[[Scope], Scope]) -> Adapter:
    """Return `base` with every scope taken for another."""

    def changed(name: str) -> Callable[..., Any]:
        original = getattr(base, name)

        @wraps(original)
        def call(self: Any, store: Any, scope: Any, *arguments: Any, **options: Any) -> Any:
            taken = change(scope) if isinstance(scope, Scope) else scope
            return original(self, store, taken, *arguments, **options)

        return call

    calls = {name: changed(name) for name in _calls(base) if "scope" in _parameters(base, name)}
    return type(base.__name__, (base,), {**calls, "set_state": changed("set_state")})


def of_names(base: Adapter, change: Callable[[str], str]) -> Adapter:
    """Return `base` with every part of a scope changed."""

    def changed(scope: Scope) -> Scope:
        return Scope(
            session=change(scope.session),
            user=change(scope.user),
            app=change(scope.app),
            namespace=tuple(map(change, scope.namespace)),
        )

    return of_scopes(base, changed)


def of_writes(
    base: Adapter, *, text: Change | None = None, metadata: Change | None = None
) -> Adapter:
    """Return `base` with texts and metadata changed on their way in, by every call but set_state."""

    def item(given: T) -> T:
        return replace(
            given,
            text=text(given.text) if text else given.text,
            metadata=metadata(given.metadata) if metadata else given.metadata,
        )

    def update(options: Mapping[str, Any]) -> dict[str, Any]:
        changes = {"text": text, "metadata": metadata}
        return {name: (changes.get(name) or _same)(value) for name, value in options.items()}

    return _with_writes(base, item, update)


def leaves(change: Change) -> Change:
    """Return what changes every value that is neither a list nor a mapping, however deep."""

    def changed(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: changed(each) for key, each in value.items()}
        if isinstance(value, list):
            return [changed(each) for each in value]
        return change(value)

    return changed


def keys(change: Change) -> Change:
    """Return what changes every key, however deep."""

    def changed(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {change(key): changed(each) for key, each in value.items()}
        return [changed(each) for each in value] if isinstance(value, list) else value

    return changed


def _with_writes(base: Adapter, item: Change, update: Change) -> Adapter:
    def changed(name: str) -> Callable[..., Any]:
        original = getattr(base, name)

        @wraps(original)
        def call(self: Any, store: Any, scope: Any, given: Any, **options: Any) -> Any:
            if name == "update":
                return original(self, store, scope, given, **update(options))
            many = isinstance(given, Sequence)
            return original(
                self,
                store,
                scope,
                [item(each) for each in given] if many else item(given),
                **options,
            )

        return call

    return type(base.__name__, (base,), {name: changed(name) for name in WRITES})


def _same(value: Any) -> Any:
    return value


def _calls(base: Adapter) -> Iterator[str]:
    return (
        name for name in dir(base) if not name.startswith("_") and callable(getattr(base, name))
    )


def _parameters(base: Adapter, name: str) -> Mapping[str, Any]:
    return {} if name == "twin" else inspect.signature(getattr(base, name)).parameters
