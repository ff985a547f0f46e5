"""What the command line says of the suite instead of the matrix file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from memory_matrix.errors import UsageError
from memory_matrix.matrix import sources
from memory_matrix.matrix.model import Matrix, ServerKind, ServerSource, Strategy
from memory_matrix.matrix.sources import problems


def override(
    matrix: Matrix,
    *,
    stores: Sequence[str],
    servers: Mapping[ServerKind, Sequence[str]],
    strategy: Strategy | None,
) -> Matrix:
    """Return the matrix with other stores, servers or another strategy, where they are given.

    Files are looked for in the current folder. What is given twice is there once.

    Raises:
        UsageError: a server is no server.
    """
    here = Path.cwd()
    for sentence in _problems(servers, here):
        raise UsageError(sentence)
    servers = {kind: tuple(dict.fromkeys(texts)) for kind, texts in servers.items()}
    placed = dict.fromkeys(_placed(each, here, matrix.root) for each in stores)
    suite = replace(
        matrix.suite,
        stores=tuple(placed) or matrix.suite.stores,
        strategy=strategy or matrix.suite.strategy,
    )
    return replace(
        matrix,
        suite=suite,
        asks_for_suite=matrix.asks_for_suite or bool(stores),
        servers=_servers(matrix, servers, here),
    )


def _problems(servers: Mapping[ServerKind, Sequence[str]], here: Path) -> Iterator[str]:
    for kind, texts in servers.items():
        for text in texts:
            for problem in problems(kind, text, here):
                yield f"--{kind}: {problem}"


def _servers(
    matrix: Matrix, servers: Mapping[ServerKind, Sequence[str]], here: Path
) -> tuple[ServerSource, ...]:
    kept = [each for each in matrix.servers if not servers[each.kind]]
    given = sources.sources(servers, here)
    return (*kept, *given)


def _placed(store: str, here: Path, root: Path) -> str:
    """Return a store whose file is found from the matrix file's folder."""
    path, _, name = store.rpartition(":")
    if not path.endswith(".py") or here == root:
        return store
    return f"{here / path}:{name}"
