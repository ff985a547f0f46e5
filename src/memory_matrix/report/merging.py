"""Reports of several machines, made into the one that a single machine would have made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, get_args

from memory_matrix.matrix.model import FailOn
from memory_matrix.matrix.select import PARTS, Part
from memory_matrix.report import suite
from memory_matrix.report.joining import joined
from memory_matrix.report.model import EnvironmentRecord, MissingPart, Report, ServerRecord

ALL_OF_IT = "all of it"
"""What is missing of a part of which nobody knows what it was to do."""

UNKNOWN = "?/?"
"""The shard of what nobody knows the shard of."""

Record = TypeVar("Record", EnvironmentRecord, ServerRecord)

_SHOWN = 5


def parts_of(report: Report) -> frozenset[Part]:
    """Return which parts of a run `report` tells of, be it that they could not be run."""
    parts: set[Part] = {"suite"} if suite.asked_for(report) else set()
    if report.cells or report.payloads or not parts:
        parts.add("compat")
    return frozenset(parts)


def put_together(reports: Mapping[Part, Report], expected: Sequence[Part], empty: Report) -> Report:
    """Return one report of all parts; what is expected and is not there is missing.

    `empty` is the report of a run of which nothing is there.
    """
    lost = tuple(
        MissingPart(part, ALL_OF_IT, UNKNOWN)
        for part in PARTS
        if part in expected and part not in reports
    )
    there = [reports[part] for part in PARTS if part in reports] or [empty]
    found = list({id(each): each for each in there}.values())  # one may tell of both parts
    merged = found[0] if len(found) == 1 else joined(*found)
    return replace(
        merged,
        fail_on=strictest([each.fail_on for each in found]),
        missing=(*(each for report in found for each in report.missing), *lost),
        merged=tuple(each for report in found for each in report.merged),
    )


def strictest(rules: Sequence[FailOn]) -> FailOn:
    """Return the rule under which most makes the run fail."""
    order: tuple[FailOn, ...] = get_args(FailOn)
    return max(rules, key=lambda rule: -1 if rule == "never" else order.index(rule))


def merged_servers(
    records: Iterable[ServerRecord], names: Sequence[str]
) -> tuple[ServerRecord, ...]:
    """Return one record for each server, in the order of `names`, with every version that it had.

    One that some machine could not have is one that could not be had.
    """
    return tuple(map(_one_server, _grouped(records, names)))


def merged_environments(
    records: Iterable[EnvironmentRecord], names: Sequence[str]
) -> tuple[EnvironmentRecord, ...]:
    """Return one record for each environment, in the order of `names`.

    One that some machine could not have, or that had other packages there, could not be had.
    """
    return tuple(map(_one_environment, _grouped(records, names)))


def otherwise(one: EnvironmentRecord, other: EnvironmentRecord) -> str:
    """Return what `other` has otherwise than `one`, such as `pydantic 2.5.3, then 2.5.4`; or nothing.

    Machines may differ in the last number of their Python.
    """
    versions = {name: one.packages.get(name) for name in (*one.packages, *other.packages)}
    changed = [
        f"{name} {version or 'absent'}, then {other.packages.get(name, 'absent')}"
        for name, version in versions.items()
        if other.packages.get(name) != version
    ]
    if one.python.split(".")[:2] != other.python.split(".")[:2]:
        changed.insert(0, f"Python {one.python}, then {other.python}")
    more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
    return "; ".join(changed[:_SHOWN]) + more


def _grouped(records: Iterable[Record], names: Sequence[str]) -> list[list[Record]]:
    """Return the records of each name, in the order of `names`."""
    groups: dict[str, list[Record]] = {}
    for each in records:
        groups.setdefault(each.name, []).append(each)
    places = {name: number for number, name in enumerate(names)}
    return [groups[name] for name in sorted(groups, key=lambda each: places.get(each, len(places)))]


def _one_server(records: Sequence[ServerRecord]) -> ServerRecord:
    down = next((each for each in records if each.status != "ready"), None)
    versions = dict.fromkeys(each.version for each in records if each.version)
    return down or replace(records[0], version=", ".join(versions) or None)


def _one_environment(records: Sequence[EnvironmentRecord]) -> EnvironmentRecord:
    first = next((each for each in records if each.status != "ready"), records[0])
    for other in records if first.status == "ready" else ():
        if changed := otherwise(first, other):
            reason = (
                f"machines had other packages in it ({changed}): run all shards again, or pin these in"
                " the matrix file."
            )
            return replace(first, status="unavailable", reason=reason)
    return first
