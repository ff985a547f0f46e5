"""The plugin's options, from the command line, the ini file, and the matrix file."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from memory_matrix.errors import MemoryMatrixError

Kind = Literal["postgres", "redis"]
KINDS: tuple[Kind, Kind] = ("postgres", "redis")
EMBEDDED = ""
"""The source that stands for the embedded default of its kind."""


@dataclass(frozen=True)
class Options:
    """What the run was told."""

    postgres: tuple[str, ...]
    redis: tuple[str, ...]
    stores: tuple[str, ...]
    serializers: tuple[str | None, ...]
    root: Path
    """Where stores that are named by file are looked for."""
    may_hold_data: bool
    waivers: Path | None
    results: Path | None
    cells: Path | None = None
    """The stores and serializers that are to be run, as the orchestrator writes them; None: all."""
    cases: Path | None = None
    """The names of the cases that are to be run; None: all."""
    seed: int | None = None
    """Of the order of the cases; None leaves it to others."""

    def sources(self, kind: Kind) -> tuple[str, ...]:
        """Return the sources of servers of `kind`; at least one."""
        return self.postgres if kind == "postgres" else self.redis

    def names(self, kind: Kind) -> dict[str, str]:
        """Return the short name of each source of `kind`, as reports show it."""
        from memory_matrix.matrix import sources

        texts = [source or sources.EMBEDDED[kind][0] for source in self.sources(kind)]
        return dict(zip(self.sources(kind), sources.names({kind: texts}), strict=True))


def add_options(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("memory-matrix", "real Postgres and Redis servers for tests of memory")
    for kind in KINDS:
        title = kind.capitalize()
        group.addoption(
            f"--{kind}", action="append", metavar="SOURCE", default=None,
            help=f"a {title} server: image:NAME:TAG, wheel:PROJECT==VERSION, bin:PATH or a URL; several: tests "
            "that use the server run on each (default: the matrix file's, else an embedded one)",
        )  # fmt: skip
        parser.addini(f"memory_{kind}", f"{title} servers, as --{kind}", type="linelist")
    group.addoption(
        "--store", action="append", metavar="NAME", default=None,
        help="a store under test, module:object or file.py:object; several: each is tested",
    )  # fmt: skip
    parser.addini("memory_stores", "stores under test, as --store", type="linelist")
    group.addoption(
        "--memory-serializer", action="append", metavar="NAME", default=None,
        help="a serializer for the stores that take one (default: the store's own)",
    )  # fmt: skip
    group.addoption(
        "--redis-may-hold-data", action="store_true",
        help="a Redis given by URL may hold data: tests use a key prefix of their own",
    )  # fmt: skip
    group.addoption(
        "--memory-results",
        type=Path,
        metavar="FILE",
        help="write what becomes of each case, as JSON lines",
    )
    for name in ("root", "cells", "cases", "waivers"):  # said by memory-matrix to its own processes
        group.addoption(f"--memory-{name}", type=Path, help=argparse.SUPPRESS)
    group.addoption("--memory-seed", type=int, help=argparse.SUPPRESS)


def says_anything(config: pytest.Config, *, is_worker: bool) -> bool:
    """Return whether there are options to be checked before anything is collected.

    A worker's controller has done so.
    """
    pairs = (("--store", "memory_stores"), *((f"--{kind}", f"memory_{kind}") for kind in KINDS))
    if any(config.getoption(option) or config.getini(ini) for option, ini in pairs):
        return True
    return not is_worker and _has_matrix(config.rootpath)


def _has_matrix(folder: Path) -> bool:
    """Return, without reading much, whether there may be a matrix file in `folder` itself."""
    if (folder / "memory-matrix.toml").is_file():
        return True
    try:
        return b"[tool.memory-matrix" in (folder / "pyproject.toml").read_bytes()
    except OSError:
        return False


def read_options(config: pytest.Config) -> Options:
    """Return what the run was told.

    Raises:
        pytest.UsageError: a source, or the matrix file, is wrong.
    """
    given = {kind: _sources(config, kind) for kind in KINDS}
    if not all(given.values()):
        # What memory-matrix itself runs was told all servers that its cells need.
        found = {} if config.getoption("--memory-cells") else _from_matrix(config.rootpath)
        given = {kind: given[kind] or found.get(kind) or (EMBEDDED,) for kind in KINDS}
    stores, root = _given(config, "--store", "memory_stores")
    return Options(
        postgres=given["postgres"],
        redis=given["redis"],
        stores=stores,
        serializers=tuple(config.getoption("--memory-serializer") or (None,)),
        root=config.getoption("--memory-root") or root,
        may_hold_data=config.getoption("--redis-may-hold-data"),
        waivers=config.getoption("--memory-waivers"),
        cells=config.getoption("--memory-cells"),
        cases=config.getoption("--memory-cases"),
        results=config.getoption("--memory-results"),
        seed=config.getoption("--memory-seed"),
    )


def _sources(config: pytest.Config, kind: Kind) -> tuple[str, ...]:
    """Return the sources that the run was told, with paths that hold from anywhere.

    Raises:
        pytest.UsageError: one is none.
    """
    option, ini = f"--{kind}", f"memory_{kind}"
    texts, root = _given(config, option, ini)
    if not texts:
        return ()
    from memory_matrix.matrix import sources

    named = option if config.getoption(option) else ini
    for text in texts:
        for problem in sources.problems(kind, text, root):
            raise pytest.UsageError(f"{named}: {problem}")
    return tuple(map(_text, sources.sources({kind: texts}, root)))


def _given(config: pytest.Config, option: str, ini: str) -> tuple[tuple[str, ...], Path]:
    """Return what the command line says, else the ini file, each once, and where its paths start from."""
    if texts := config.getoption(option):
        return tuple(dict.fromkeys(texts)), config.invocation_params.dir
    root = config.rootpath if config.inipath is None else config.inipath.parent
    return tuple(dict.fromkeys(config.getini(ini))), root


def _from_matrix(root: Path) -> dict[Kind, tuple[str, ...]]:
    """Return the servers of the matrix file that is found from `root`."""
    from memory_matrix.matrix import read

    try:
        source = read.find(root)
        matrix: Any = None if source is None else read.read(source)
    except MemoryMatrixError as error:
        raise pytest.UsageError(str(error)) from None
    servers = () if matrix is None else matrix.servers
    return {kind: tuple(_text(each) for each in servers if each.kind == kind) for kind in KINDS}


def _text(source: Any) -> str:
    return source.value if source.form == "url" else f"{source.form}:{source.value}"
