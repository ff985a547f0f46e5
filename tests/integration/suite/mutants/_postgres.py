"""What mutants of the Postgres store have in common: statements of their own, and changed ones."""

from __future__ import annotations

from copy import copy
from typing import Any

from memory_matrix.stores.postgres import PostgresStore
from memory_matrix.stores.postgres.plans import Plan, Query, Steps
from memory_matrix.stores.postgres.values import Address
from memory_matrix.stores.protocol import Scope


def run(store: PostgresStore, template: str, scope: Scope, **more: Any) -> list[tuple[Any, ...]]:
    """Run a statement on the store's tables, with the parameters by which it finds a scope."""

    def steps() -> Steps[list[tuple[Any, ...]]]:
        parameters = store.plans.now() | Address(scope).parts | more
        answer = yield Query(store.plans.statements.custom(template), parameters)
        return answer.rows

    return store.run(Plan(steps))


def change(store: PostgresStore, name: str, old: str, new: str) -> None:
    """Change the text of one of the store's statements, whose parts are written as templates."""
    statements = store.plans.statements = copy(store.plans.statements)  # others share them
    text = getattr(statements, name)
    changed = text.replace(statements.custom(old), statements.custom(new))
    assert changed != text, f"{old} is not in the statement {name}"
    setattr(statements, name, changed)
