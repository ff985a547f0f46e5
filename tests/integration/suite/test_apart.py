"""Stores that refuse some names, and say so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory_matrix.stores.errors import RefusedError
from memory_matrix.stores.protocol import Scope
from memory_matrix.stores.redis import RedisAdapter
from memory_matrix.suite.worker import Worker
from support.mutants import try_case
from support.mutations import of_scopes

pytestmark = pytest.mark.integration


def _undotted(scope: Scope) -> Scope:
    if any("." in part for part in scope.namespace):
        raise RefusedError(f"{scope.namespace} has a part with a dot")
    return scope


class RefusesDots(of_scopes(RedisAdapter, _undotted)):  # type: ignore[misc]
    """Refuses dots in namespaces without saying so."""


class SaysSo(RefusesDots):
    """Says so."""

    policy = replace(RedisAdapter.policy, namespace_refuses=".")


@pytest.mark.parametrize("case", ["iso_search_syntax", "iso_prefix_namespace_part"])
def test_a_store_may_refuse_characters_of_namespaces_that_it_names(
    case: str, suite_worker: Worker
) -> None:
    assert try_case(suite_worker, SaysSo, case) is None


def test_a_store_that_does_not_name_them_has_to_take_them(suite_worker: Worker) -> None:
    error = try_case(suite_worker, RefusesDots, "iso_search_syntax")

    assert isinstance(error, RefusedError)
