"""A matrix file's table to the matrix it means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_matrix.matrix import sources
from memory_matrix.matrix.crosschecks import crosscheck
from memory_matrix.matrix.declaration import FILE
from memory_matrix.matrix.expand import axes, expand
from memory_matrix.matrix.model import (
    CURRENT_PYTHON,
    CompatOptions,
    EnvironmentSpec,
    Known,
    Matrix,
    ServerSource,
    SuiteOptions,
    Waiver,
)
from memory_matrix.matrix.places import absolute
from memory_matrix.matrix.problems import Problem
from memory_matrix.matrix.shapes import to_date


def problems(table: Mapping[str, Any], root: Path) -> list[Problem]:
    """Return all that is wrong with a matrix file's `table`; `root` is the folder it stands in."""
    found = list(FILE.problems(table, (), root))
    return [*found, *crosscheck(table, found)]


def build(table: Mapping[str, Any], root: Path, source: Path | None) -> Matrix:
    """Return the matrix of a table without problems."""
    expanded, excluded = expand(axes(table.get("axes", {})), table.get("exclude", ()))
    named = _named(table.get("environment", ()) or _alone(table), root)
    return Matrix(
        source=source,
        root=root,
        environments=(*expanded, *named),
        excluded=excluded,
        compat=_compat(table.get("compat", {})),
        known=tuple(_known(table.get("known", ()))),
        servers=_servers(table.get("servers"), root),
        suite=_suite(table.get("suite", {})),
        asks_for_suite=source is None or "suite" in table,
    )


def _alone(table: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Return the environment of a file that has none: the Python that runs memory-matrix."""
    return () if "axes" in table else ({"name": CURRENT_PYTHON},)


def _named(tables: Iterable[Mapping[str, Any]], root: Path) -> Iterator[EnvironmentSpec]:
    for number, table in enumerate(tables):
        python = table.get("python", CURRENT_PYTHON)
        yield EnvironmentSpec(
            name=table["name"],
            python=python,
            packages=tuple(table.get("packages", ())),
            app=table.get("app"),
            path=tuple(absolute(folder, root) for folder in table.get("path", ())),
            env=tuple(table.get("env", {}).items()),
            coordinates=(("environment", number),),
            values=(("python", python),),
        )


def _compat(table: Mapping[str, Any]) -> CompatOptions:
    return CompatOptions(**_fields(table))


def _suite(table: Mapping[str, Any]) -> SuiteOptions:
    options = {key: value for key, value in table.items() if key != "waiver"}
    return SuiteOptions(**_fields(options), waivers=tuple(_waivers(table.get("waiver", ()))))


def _fields(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table of options as fields, which are its keys with `-` for `_`."""
    return {
        key.replace("-", "_"): tuple(value) if isinstance(value, list) else value
        for key, value in table.items()
    }


def _known(tables: Iterable[Mapping[str, Any]]) -> Iterator[Known]:
    for number, table in enumerate(tables):
        until = to_date(table.get("until"))
        yield Known(**{**table, "key": f"known[{number}]", "until": until})


def _waivers(tables: Iterable[Mapping[str, Any]]) -> Iterator[Waiver]:
    for number, table in enumerate(tables):
        until = to_date(table["until"])
        yield Waiver(**{**table, "key": f"suite.waiver[{number}]", "until": until})


def _servers(table: Mapping[Any, Any] | None, root: Path) -> tuple[ServerSource, ...]:
    lists = sources.EMBEDDED if table is None else table
    return sources.sources(lists, root)
