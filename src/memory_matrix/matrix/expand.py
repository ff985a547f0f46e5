"""Axes to environments: every combination of their values but those that are excluded."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from memory_matrix.matrix import rules
from memory_matrix.matrix.model import CURRENT_PYTHON, EnvironmentSpec, Excluded
from memory_matrix.matrix.naming import unique
from memory_matrix.matrix.problems import At

Entry = Mapping[str, str]
"""An `[[exclude]]` entry: axis and value."""


@dataclass(frozen=True)
class Axis:
    """One dimension. Projects are axes under their normalised names."""

    key: str
    values: tuple[str, ...]
    """Oldest first, as the file writes them."""
    at: At
    """Where the file has its values."""

    def index(self, value: str) -> int | None:
        """Return the age of `value` on this axis; None if it is none of the axis' values."""
        wanted = self._identity(value)
        ages = (age for age, each in enumerate(self.values) if self._identity(each) == wanted)
        return next(ages, None)

    def labels(self) -> list[str]:
        """Return what each value adds to the name of an environment."""
        label = {"python": _python_label, "app": _app_label}.get(self.key, self._project_label)
        return unique(map(label, self.values))

    def _identity(self, value: str) -> object:
        return value if self.key in {"python", "app"} else rules.specifier_identity(value)

    def _project_label(self, value: str) -> str:
        return self.key + ("" if rules.is_any(value) else "".join(value.split()))


def axis_key(text: str) -> str:
    """Return the axis that a key of `[[exclude]]` or of --select names."""
    return canonicalize_name(text)


def axes(table: Mapping[str, object]) -> tuple[Axis, ...]:
    """Return the axes of `[axes]`: python, app, then the projects in the order of the file.

    Values of wrong types are passed over, so that what is right can be checked further.
    """
    packages = table.get("packages")
    projects = packages if isinstance(packages, dict) else {}
    plain = [_axis(key, table[key], (key,)) for key in ("python", "app") if key in table]
    return (
        *plain,
        *(_axis(axis_key(key), projects[key], ("packages", key)) for key in projects),
    )


def expand(
    axes: Sequence[Axis], entries: Sequence[Entry]
) -> tuple[tuple[EnvironmentSpec, ...], tuple[Excluded, ...]]:
    """Return the combinations of all axes, and those of them that an entry takes out.

    The first axis turns slowest. A name is made of the labels of python, app and the projects that
    have several values: `py3.12-pydantic==1.10.*`. Projects at the end are left out of it where those
    before them tell the environments apart.
    """
    kept, out = combinations(axes, entries)
    return (
        tuple(_environment(name, axes, ages) for name, ages in kept),
        tuple(Excluded(name, f"exclude[{number}]") for name, number in out),
    )


def combinations(
    axes: Sequence[Axis], entries: Sequence[Entry]
) -> tuple[list[tuple[str, tuple[int, ...]]], list[tuple[str, int]]]:
    """Return what `expand` makes of axes and entries, in short: names with the ages on all axes, and
    the names of what is taken out with the numbers of the entries."""
    if not axes:
        return [], []
    taken = _taken_out(axes, entries)
    every = list(itertools.product(*(range(len(axis.values)) for axis in axes)))
    kept = [ages for ages in every if ages not in taken]
    out = [ages for ages in every if ages in taken]
    naming = [
        place
        for place, axis in enumerate(axes)
        if axis.key in {"python", "app"} or len(axis.values) > 1
    ] or list(range(len(axes)))
    kept_names = _names(axes, _telling(kept, naming), kept)
    out_names = _names(axes, naming, out)
    return (
        list(zip(kept_names, kept, strict=True)),
        [(name, taken[ages]) for name, ages in zip(out_names, out, strict=True)],
    )


def _telling(kept: Sequence[tuple[int, ...]], naming: Sequence[int]) -> Sequence[int]:
    """Return the first of `naming`, the places of axes, that tell the kept combinations apart."""
    for count in range(1, len(naming)):
        if len({tuple(ages[place] for place in naming[:count]) for ages in kept}) == len(kept):
            return naming[:count]
    return naming


def _names(
    axes: Sequence[Axis], naming: Sequence[int], combinations: Sequence[tuple[int, ...]]
) -> list[str]:
    labels = {place: axes[place].labels() for place in naming}
    return unique("-".join(labels[place][ages[place]] for place in naming) for ages in combinations)


def _taken_out(axes: Sequence[Axis], entries: Sequence[Entry]) -> dict[tuple[int, ...], int]:
    """Return the combinations that are taken out, each with the number of the first such entry."""
    taken: dict[tuple[int, ...], int] = {}
    for number, entry in enumerate(entries):
        wanted = {axis_key(key): value for key, value in entry.items()}
        for ages in itertools.product(*(_ages(axis, wanted) for axis in axes)):
            taken.setdefault(ages, number)
    return taken


def _ages(axis: Axis, wanted: Entry) -> Sequence[int]:
    if axis.key not in wanted:
        return range(len(axis.values))
    age = axis.index(wanted[axis.key])
    return () if age is None else (age,)


def _environment(name: str, axes: Sequence[Axis], ages: Sequence[int]) -> EnvironmentSpec:
    values = {axis.key: axis.values[age] for axis, age in zip(axes, ages, strict=True)}
    projects = [key for key in values if key not in {"python", "app"}]
    return EnvironmentSpec(
        name=name,
        python=values.get("python", CURRENT_PYTHON),
        packages=tuple(
            f"{key}{'' if rules.is_any(values[key]) else values[key]}" for key in projects
        ),
        app=values.get("app"),
        coordinates=tuple((axis.key, age) for axis, age in zip(axes, ages, strict=True)),
        values=tuple((key, value or "*") for key, value in values.items()),
    )


def _axis(key: str, values: object, at: At) -> Axis:
    return Axis(key, tuple(_texts(values)), ("axes", *at))


def _texts(values: object) -> Iterator[str]:
    if isinstance(values, list):
        yield from (value for value in values if isinstance(value, str))


def _python_label(value: str) -> str:
    if value[0].isdigit():
        return f"py{value}"
    return value.rpartition("/")[2]


def _app_label(value: str) -> str:
    return f"app@{value.removeprefix('git:')}"
