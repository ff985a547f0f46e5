"""The memory test suite's part of what the page's script works on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_matrix.report import sentences, suite
from memory_matrix.report.html.tables import Tables
from memory_matrix.report.html.texts import NONE, Numbers, shown
from memory_matrix.report.model import SUITE_OUTCOMES, Report, SuiteResult
from memory_matrix.report.suite import Message, Trouble
from memory_matrix.report.visible import NAME, listed, visible

MOST_TROUBLES = 300
"""Failing cases of one list that are shown with their messages; all are among the results."""
MOST_MESSAGES = 10
MOST_AREAS = 6
MOST_NAMES = 12

_COLUMNS = (
    "store", "environment", "servers", "serializer", "case", "group", "outcome", "reason", "still",
)  # fmt: skip


class _Suite:
    """Tables of names that only the suite has, and the page's own."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.store: Numbers[str] = Numbers()
        self.case: Numbers[str] = Numbers()
        self.group: Numbers[str] = Numbers()
        self.serializer: Numbers[str] = Numbers()
        self.servers: Numbers[tuple[str, ...]] = Numbers()

    def row(self, result: SuiteResult) -> tuple[int, ...]:
        """Return `result` in the order of the columns."""
        own = result.serializer
        return (
            self.store[result.store],
            self.tables.environment[result.environment],
            self.servers[result.servers],
            NONE if own is None else self.serializer[own],
            self.case[result.case],
            self.group[result.group],
            SUITE_OUTCOMES.index(result.outcome),
            self.tables.message(result.reason),
            int(result.new is False),
        )

    def names(self) -> dict[str, Any]:
        """Return the tables of names."""
        server: Numbers[str] = Numbers()
        sets = [[server[name] for name in names] for names in self.servers]
        return {
            "stores": shown(self.store),
            "cases": shown(self.case),
            "groups": shown(self.group),
            "serializers": shown(self.serializer),
            "sets": sets,
            "servers": shown(server),
        }


def suite_data(report: Report, tables: Tables) -> dict[str, Any]:
    """Return the results as columns, and the failing cases by store and case."""
    made = _Suite(tables)
    rows = [made.row(each) for each in report.suite]
    columns = zip(*rows, strict=True) if rows else [()] * len(_COLUMNS)
    lists = suite.trouble_lists(report)
    return {
        "compared": report.baseline is not None,
        "outcomes": [[each, suite.SYMBOLS[each], suite.MEANINGS[each]] for each in SUITE_OUTCOMES],
        "results": dict(zip(_COLUMNS, columns, strict=True)),
        "troubles": [
            {
                "title": title,
                "rest": max(0, len(every) - MOST_TROUBLES),
                "cases": [_trouble(each, report, made) for each in every[:MOST_TROUBLES]],
            }
            for title, every in lists.items()
            if every
        ],
        **made.names(),
    }


def _trouble(trouble: Trouble, report: Report, made: _Suite) -> dict[str, Any]:
    messages = trouble.messages
    rest = messages[MOST_MESSAGES:]
    return {
        "store": made.store[trouble.store],
        "case": made.case[trouble.case],
        "group": made.group[trouble.group],
        "outcome": SUITE_OUTCOMES.index(trouble.outcome),
        "still": int(messages[0].results[0].new is False),
        "cells": trouble.cells,
        "ran": trouble.ran,
        "messages": [_message(each, made.tables) for each in messages[:MOST_MESSAGES]],
        "rest": len(rest),
        "command": sentences.suite_command(trouble, report),
    }


def _message(message: Message, tables: Tables) -> list[int]:
    where = suite.in_words(message.where, _names, MOST_AREAS)
    return [tables.texts.number(where, len(where)), tables.message(message.text)]


def _names(names: Sequence[str]) -> str:
    return listed(names, MOST_NAMES, lambda name: visible(name, NAME))
