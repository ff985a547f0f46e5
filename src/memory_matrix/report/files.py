"""The report folder: report.json for tools and report.md for people, written whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from memory_matrix.errors import MemoryMatrixError, UsageError
from memory_matrix.report import markdown
from memory_matrix.report.model import Report, cell_to_json, from_json, result_to_json, to_json

JSON_NAME = "report.json"
MARKDOWN_NAME = "report.md"


def write(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write report.json and report.md into `folder`, made when missing, and return their paths.

    Both are complete on the disk before either takes the place of an older one.

    Raises:
        MemoryMatrixError: the folder cannot be made or written.
    """
    contents: dict[str, Iterable[str]] = {
        JSON_NAME: _json_pieces(report),
        MARKDOWN_NAME: (markdown.render(report),),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _write_all(folder, contents)
    except OSError as error:
        raise MemoryMatrixError(
            f"The report cannot be written to {str(folder)!r}: {error.strerror or error}. Name"
            " another folder with --report-dir, or make room and room to write in this one."
        ) from error


def load(path: Path) -> Report:
    """Return the report that `path`, a report.json or the folder that holds it, says.

    Raises:
        UsageError: there is none, it is damaged, or another release with another schema wrote it.
    """
    source = path / JSON_NAME if path.is_dir() else path
    if not source.is_file():
        raise UsageError(
            f"There is no report at {str(source)!r}; name a {JSON_NAME}, or the folder that a run"
            " wrote one to."
        )
    try:
        return from_json(json.loads(source.read_bytes()))
    except OSError as error:
        raise UsageError(f"{str(source)!r} cannot be read: {error.strerror or error}.") from error
    except json.JSONDecodeError as error:
        raise UsageError(
            f"{str(source)!r} is no whole JSON: {error}. It may be cut off; make it again."
        ) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{str(source)!r} is no report that can be read: {error}.") from None


def _write_all(folder: Path, contents: dict[str, Iterable[str]]) -> tuple[Path, ...]:
    with ExitStack() as stack:
        drafts = []
        for name, pieces in contents.items():
            draft = folder / f".{name}.{secrets.token_hex(8)}.tmp"
            stack.callback(draft.unlink, missing_ok=True)
            _write_new(draft, pieces)
            drafts.append(draft)
        return tuple(
            draft.replace(folder / name) for draft, name in zip(drafts, contents, strict=True)
        )


def _write_new(path: Path, pieces: Iterable[str]) -> None:
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())


def _json_pieces(report: Report) -> Iterator[str]:
    """Yield report.json cell by cell: a large matrix is never held twice."""
    parts = to_json(replace(report, cells=(), suite=()))
    parts |= {"summary": report.summary(), "suite_summary": report.suite_summary()}
    long = {
        "cells": map(cell_to_json, report.cells),
        "suite": map(result_to_json, report.suite),
    }
    for number, (key, value) in enumerate(parts.items()):
        yield f"{'{' if number == 0 else ','}\n{json.dumps(key)}: "
        if key in long:
            yield from _list_pieces(long[key])
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield from _list_pieces(value)
        else:
            yield json.dumps(value)
    yield "\n}\n"


def _list_pieces(items: Iterable[Any]) -> Iterator[str]:
    """Yield a JSON list, one item a line, so that reports can be compared line by line."""
    separator = "[\n"
    for item in items:
        yield f"{separator}{json.dumps(item)}"
        separator = ",\n"
    yield "[]" if separator == "[\n" else "\n]"
