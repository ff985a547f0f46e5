"""What the page's script works on: columns of numbers, and tables of the names and texts they mean.

A hundred thousand cells have few names and end in few ways; each of these is said once.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory_matrix.report import grouping, sentences
from memory_matrix.report.grouping import Finding, Flow
from memory_matrix.report.html import hints
from memory_matrix.report.html.lists import CellList, Gathered
from memory_matrix.report.html.suite_data import suite_data
from memory_matrix.report.html.tables import Tables
from memory_matrix.report.html.texts import NONE, Numbers
from memory_matrix.report.model import OUTCOMES, Cell, EnvironmentRecord, Report

_DIRECTIONS = ("backward", "forward", "sideways")
_MARKS: Mapping[str, int] = {mark: number for number, mark in enumerate(grouping.MEANINGS)}

Columns = dict[str, list[Any]]


def page_data(report: Report, lists: Sequence[CellList]) -> dict[str, Any]:
    """Return everything that the page's script shows, ready to be made JSON."""
    tables = Tables.of(report)
    cells, kinds = _cells(report.cells, lists, tables)
    numbers = {id(cell): number for number, cell in enumerate(report.cells)}
    made = {
        "outcomes": OUTCOMES,
        "directions": _DIRECTIONS,
        "marks": [[each, grouping.SYMBOLS[each], text] for each, text in grouping.MEANINGS.items()],
        "command": shlex.join([*sentences.command_words("compat", report), "--select"]),
        "cells": cells,
        "kinds": kinds,
        "lists": [[_gathered(each, tables, numbers) for each in own.groups] for own in lists],
        "suite": suite_data(report, tables),
        "packages": [_packages(each, tables) for each in grouping.ready(report)],
    }
    return made | tables.names() | {"texts": tables.texts.every}


def _cells(
    cells: Iterable[Cell], lists: Iterable[CellList], tables: Tables
) -> tuple[Columns, Columns]:
    """Return the columns of `cells`, and those of their kinds: cells of one kind ended alike."""
    examples: list[Cell] = []
    kinds: Numbers[tuple[object, ...]] = Numbers()
    names = ("writer", "reader", "serializer", "payload", "slots", "kind")
    columns: Columns = {name: [] for name in names}
    for cell in cells:
        kind = kinds[_kind(cell)]
        if kind == len(examples):
            examples.append(cell)
        columns["writer"].append(tables.environment[cell.writer])
        columns["reader"].append(tables.environment[cell.reader])
        columns["serializer"].append(tables.serializer[cell.serializer])
        columns["payload"].append(tables.payload[cell.payload])
        columns["slots"].append(tables.slots[cell.via])
        columns["kind"].append(kind)
    return columns, _table(examples, tables) | {"group": _group_numbers(lists, kinds)}


def _table(examples: Sequence[Cell], tables: Tables) -> Columns:
    """Return the columns of kinds. What is worst comes first to the room that there is for texts."""
    marks = [_MARKS[grouping.mark(cell)] for cell in examples]
    worst_first = sorted(range(len(examples)), key=marks.__getitem__)
    rows = {number: _row(examples[number], tables) for number in worst_first}
    every = [rows[number] for number in range(len(rows))]
    return {name: [row[name] for row in every] for name in every[0]} if every else {}


def _kind(cell: Cell) -> tuple[object, ...]:
    end = cell.outcome, cell.error, cell.diff, cell.cause, cell.hint
    return *end, cell.is_break, cell.known, cell.direction, cell.new


def _row(cell: Cell, tables: Tables) -> dict[str, Any]:
    hint = hints.key(cell)
    most = tables.room.places
    return {
        "outcome": OUTCOMES.index(cell.outcome),
        "mark": _MARKS[grouping.mark(cell)],
        "direction": NONE if cell.direction is None else _DIRECTIONS.index(cell.direction),
        "broken": int(cell.is_break),
        "fresh": int(cell.is_break and cell.new is True),
        "known": tables.message(cell.known),
        "cause": NONE if cell.cause is None else tables.cause[cell.cause],
        "hint": NONE if hint is None else tables.hint[hint],
        "error": _error(cell, tables),
        "places": [
            [tables.value(text) for text in (each.path, each.expected, each.got)]
            for each in cell.diff[:most]
        ],
        "more": max(0, len(cell.diff) - most),
    }


def _error(cell: Cell, tables: Tables) -> list[int]:
    if cell.error is None:
        return []
    head = tables.value(f"{cell.error.stage}: {cell.error.type}")
    return [head, tables.message(cell.error.message)]


def _group_numbers(lists: Iterable[CellList], kinds: Mapping[tuple[object, ...], int]) -> list[int]:
    """Return for each kind the group that its cells stand in, counted through all lists."""
    found = [NONE] * len(kinds)
    groups = [(own.here, each) for own in lists for each in own.groups]
    for number, (here, group) in enumerate(groups):
        for cell in group.cells if here else ():
            found[kinds[_kind(cell)]] = number
    return found


def _gathered(group: Gathered, tables: Tables, numbers: Mapping[int, int]) -> dict[str, Any]:
    first = group.cells[0]
    return {
        "mark": _MARKS[grouping.mark(first)],
        "cause": NONE if group.cause is None else tables.cause[group.cause],
        "hint": tables.message(group.hint),
        "reason": tables.message(group.reason),
        "cells": len(group.cells),
        "pairs": len({(cell.writer, cell.reader) for cell in group.cells}),
        "fresh": sum(cell.new is True for cell in group.cells),
        "example": numbers.get(id(first), NONE),
        "findings": [_finding(each, tables) for each in grouping.findings(group.cells)],
    }


def _finding(finding: Finding, tables: Tables) -> list[Any]:
    return [
        [tables.serializer[name] for name in finding.serializers],
        [tables.payload[name] for name in finding.payloads],
        [_flow(each, tables) for each in finding.flows],
        len(finding.cells),
    ]


def _flow(flow: Flow, tables: Tables) -> list[Any]:
    return [
        [tables.environment[name] for name in flow.writers],
        [tables.environment[name] for name in flow.readers],
        [_DIRECTIONS.index(each) for each in flow.directions],
    ]


def _packages(environment: EnvironmentRecord, tables: Tables) -> list[int]:
    installed = [f"{name} {version}" for name, version in environment.packages.items()]
    added = environment.suite_packages.items()
    others = [f"{name} {version} (for the suite)" for name, version in added]
    return [tables.value(each) for each in (*installed, *others)]
