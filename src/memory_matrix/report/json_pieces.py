"""report.json in pieces: a large matrix is never held twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from memory_matrix.report.model import Report, cell_to_json, result_to_json, to_json


def render(report: Report) -> Iterator[str]:
    """Yield report.json, one cell and one case a line."""
    parts = to_json(replace(report, cells=(), suite=()))
    parts |= {"summary": report.summary(), "suite_summary": report.suite_summary()}
    long = {
        "cells": map(cell_to_json, report.cells),
        "suite": map(result_to_json, report.suite),
    }
    for number, (key, value) in enumerate(parts.items()):
        yield f"{'{' if number == 0 else ','}\n{json.dumps(key)}: "
        if key in long:
            yield from list_pieces(long[key])
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield from list_pieces(value)
        else:
            yield json.dumps(value)
    yield "\n}\n"


def list_pieces(items: Iterable[Any]) -> Iterator[str]:
    """Yield a JSON list, one item a line, so that files can be compared line by line."""
    separator = "[\n"
    for item in items:
        yield f"{separator}{json.dumps(item)}"
        separator = ",\n"
    yield "[]" if separator == "[\n" else "\n]"
