"""What is wrong between the parts of a matrix file: names that one part gives and another uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_matrix.matrix import sources
from memory_matrix.matrix.expand import Axis, axes, axis_key, combinations
from memory_matrix.matrix.model import CURRENT_PYTHON, CompatOptions, SuiteOptions
from memory_matrix.matrix.patterns import matches, matches_store
from memory_matrix.matrix.problems import At, Problem, did_you_mean, listed, show


@dataclass(frozen=True)
class _Checked:
    """A file's table, and what is known to be wrong in it."""

    table: Mapping[str, Any]
    found: Sequence[Problem]

    def sound(self, *at: str | int) -> bool:
        """Return whether nothing is wrong at or below the key `at`, nor with a table above it."""
        return not any(
            problem.at[: len(at)] == at or (problem.at == at[: len(problem.at)])
            for problem in self.found
        )

    def section(self, key: str) -> Mapping[str, Any]:
        """Return the table `key`; an empty one where there is none."""
        section = self.table.get(key)
        return section if isinstance(section, dict) else {}

    def tables(self, key: str, *, within: str = "") -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the tables in the list `key` of the file, or `within` a table of it, with numbers."""
        items = (self.section(within) if within else self.table).get(key)
        for number, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, dict):
                yield number, item


def crosscheck(table: Mapping[str, Any], found: Sequence[Problem]) -> Iterator[Problem]:
    """Yield what else is wrong with `table`, in which `found` are wrong already.

    What follows only from something in `found` is not reported again.
    """
    checked = _Checked(table, found)
    axes_table = table.get("axes")
    all_axes = axes(axes_table) if isinstance(axes_table, dict) else ()
    yield from _names_given_twice(checked)
    excludes = list(_excludes(checked, all_axes))
    yield from excludes
    if all(map(checked.sound, ("axes", "environment"))):
        sound = checked.sound("exclude") and not excludes
        entries = [entry for _, entry in checked.tables("exclude")] if sound else []
        yield from _environments(checked, [name for name, _ in combinations(all_axes, entries)[0]])
    if checked.sound("compat", "serializers"):
        names = checked.section("compat").get("serializers", CompatOptions().serializers)
        yield from _globs(_known(checked), ("serializer",), names, "serializer")
    if checked.sound("suite", "stores"):
        names = checked.section("suite").get("stores", SuiteOptions().stores)
        yield from _globs(_waivers(checked), ("store",), names, "store")
    if checked.sound("servers"):
        names = sources.names(table.get("servers", sources.EMBEDDED))
        yield from _globs(_waivers(checked), ("server",), names, "server")


def _names_given_twice(checked: _Checked) -> Iterator[Problem]:
    first: dict[str, tuple[int, Mapping[str, Any]]] = {}
    for number, environment in checked.tables("environment"):
        name = environment.get("name")
        if not isinstance(name, str):
            continue
        other, table = first.setdefault(name, (number, environment))
        if table != environment:  # a table that is there twice is reported as such already
            sentence = f"{show(name)} is the name of environment[{other}] too; names must differ."
            yield Problem(("environment", number, "name"), sentence)


def _excludes(checked: _Checked, all_axes: Sequence[Axis]) -> Iterator[Problem]:
    by_key = {axis.key: axis for axis in all_axes}
    for number, entry in checked.tables("exclude"):
        for key, value in entry.items():
            at: At = ("exclude", number, key)
            axis = by_key.get(axis_key(key))
            if not isinstance(value, str):
                continue
            if axis is None:
                if checked.sound("axes"):
                    yield Problem(at, _no_axis(key, by_key))
            elif axis.index(value) is None and checked.sound(*axis.at):
                yield Problem(
                    at,
                    f"{show(value)} is none of the values of the axis {show(axis.key)}: "
                    f"{listed(axis.values)}.{did_you_mean(value, axis.values)}",
                )


def _no_axis(key: str, by_key: Mapping[str, Axis]) -> str:
    there_are = f"the axes are {listed(by_key)}" if by_key else "there are no axes, so leave it out"
    return f"no such axis; {there_are}.{did_you_mean(key, by_key)}"


def _environments(checked: _Checked, expanded: Sequence[str]) -> Iterator[Problem]:
    taken = set(expanded)
    names = [environment["name"] for _, environment in checked.tables("environment")]
    for number, name in enumerate(names):
        if name in taken:
            yield Problem(
                ("environment", number, "name"),
                f"{show(name)} is the name of a combination of the axes too; take another one.",
            )
    every = [*expanded, *names]
    if not every and "axes" in checked.table:
        yield Problem(("exclude",), "the entries take out every combination of the axes.")
    elif not every:
        every = [CURRENT_PYTHON]  # the suite alone runs in this Python
    yield from _globs(_known(checked), ("writer", "reader"), every, "environment")
    yield from _globs(_waivers(checked), ("environment",), every, "environment")


_Entries = Iterable[tuple[At, Mapping[str, Any]]]
"""Tables, and where each stands."""


def _known(checked: _Checked) -> _Entries:
    return ((("known", number), entry) for number, entry in checked.tables("known"))


def _waivers(checked: _Checked) -> _Entries:
    tables = checked.tables("waiver", within="suite")
    return ((("suite", "waiver", number), entry) for number, entry in tables)


def _globs(
    entries: _Entries, keys: Iterable[str], names: Sequence[str], what: str
) -> Iterator[Problem]:
    """Yield the globs under `keys` that match none of `names`."""
    for at, entry in entries:
        for key in keys:
            pattern = entry.get(key)
            if not isinstance(pattern, str) or not pattern.strip():
                continue
            fits = matches_store if key == "store" else matches
            if not any(fits(name, pattern) for name in names):
                there_are = listed(names) if names else "there is none"
                yield Problem(
                    (*at, key),
                    f"{show(pattern)} matches no {what} of this file: {there_are}."
                    f"{did_you_mean(pattern, names)}",
                )
