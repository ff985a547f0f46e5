"""Small mutations that many broken stores are made of: what is written, and whose memory it is, changes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

from memory_matrix.stores.protocol import Scope

Adapter = type[Any]
Change = Callable[[Any], Any]

WRITES = ("append", "replace", "append_with", "put", "put_many", "update", "set_state")


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
    """Return `base` with texts and metadata changed on their way in, by every call."""

    of_text, of_metadata = text or _same, metadata or _same

    def item(given: Any) -> Any:
        if isinstance(given, str):  # the id of what is updated
            return given
        if isinstance(given, Mapping):  # a state
            return of_metadata(given)
        if isinstance(given, Sequence):
            return [item(each) for each in given]
        return replace(given, text=of_text(given.text), metadata=of_metadata(given.metadata))

    def changed(name: str) -> Callable[..., Any]:
        original = getattr(base, name)
        of_options = {"text": of_text, "metadata": of_metadata}

        @wraps(original)
        def call(self: Any, store: Any, scope: Any, given: Any, **options: Any) -> Any:
            named = {key: of_options.get(key, _same)(value) for key, value in options.items()}
            return original(self, store, scope, item(given), **named)

        return call

    return type(base.__name__, (base,), {name: changed(name) for name in WRITES})


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


def _same(value: Any) -> Any:
    return value


def _calls(base: Adapter) -> Iterator[str]:
    return (
        name for name in dir(base) if not name.startswith("_") and callable(getattr(base, name))
    )


def _parameters(base: Adapter, name: str) -> Mapping[str, Any]:
    return {} if name == "twin" else inspect.signature(getattr(base, name)).parameters
