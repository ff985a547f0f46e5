"""What LlamaIndex's stores have in common."""

from __future__ import annotations

from memory_matrix.stores.engines import SqlAlchemy
from memory_matrix.stores.requiring import required


def refusals(project: str, sqlalchemy: SqlAlchemy) -> tuple[type[Exception], ...]:
    """Return the errors by which a store refuses: what SQLAlchemy says of connections and servers.

    That a server is read-only is an InternalError there.
    """
    return (*sqlalchemy.refusals, required(project, "sqlalchemy.exc", "InternalError"))
