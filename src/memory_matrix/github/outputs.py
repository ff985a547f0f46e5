"""The outputs of the action: what came of the command, for later steps and jobs."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memory_matrix.errors import UsageError
from memory_matrix.report.appending import append_whole
from memory_matrix.report.model import Report

OUTPUTS: tuple[str, ...] = (
    "result",
    "breaks",
    "new-breaks",
    "cells",
    "passed",
    "failed",
    "skipped",
    "matrix",
    "write-matrix",
    "read-matrix",
    "suite-matrix",
    "has-work",
    "has-compat",
    "has-suite",
    "report-path",
    "json-path",
)
"""What action.yml declares, without what its upload step adds."""

NO_PLAN: Mapping[str, str] = {
    **dict.fromkeys(("has-work", "has-compat", "has-suite"), "false"),
    **dict.fromkeys(("matrix", "write-matrix", "read-matrix", "suite-matrix"), '{"include": []}'),
}
"""What there is where a plan could not be made: `fromJSON` fails on an empty text."""

_JSON = "report.json"
_Stamp = tuple[int, int]


@dataclass(frozen=True)
class Results:
    """The results in a report folder, to know afterwards which of them a run made."""

    folder: Path
    stamps: Mapping[Path, _Stamp]

    @classmethod
    def in_folder(cls, folder: Path) -> Results:
        """Return what there is in `folder` now."""
        return cls(folder, dict(_stamped(folder)))

    def newer(self) -> list[Path]:
        """Return what was made since: report.json files, and folders of shards."""
        return [path for path, stamp in _stamped(self.folder) if self.stamps.get(path) != stamp]


def _stamped(folder: Path) -> Iterator[tuple[Path, _Stamp]]:
    """Yield the results in `folder`, each with what no later one of its name has too.

    There are none in what cannot be a folder: the command says so.
    """
    with suppress(OSError):
        found = (folder / _JSON, *folder.glob("*-of-*"), *folder.glob(f"*-of-*/{_JSON}"))
        for path in filter(Path.exists, found):
            status = path.stat()
            yield path, (status.st_ino, status.st_mtime_ns)


def of_run(code: int, results: Results) -> dict[str, str]:
    """Return the outputs of a run that ended with `code` and left some results."""
    values = {"result": {0: "pass", 1: "fail"}.get(code, "error")}
    made = results.newer()
    if made:
        values["report-path"] = str(results.folder.absolute())
    reports = [path for path in made if path.name == _JSON]
    if reports:
        values |= {"json-path": str(reports[0].absolute()), **_of_file(reports[0])}
    return values


def _of_file(path: Path) -> dict[str, str]:
    from memory_matrix.report import files

    try:
        return of_report(files.load(path))
    except UsageError:  # its run failed too, and said why
        return {}


def of_report(report: Report) -> dict[str, str]:
    """Return the numbers in `report`. Cells are those of compat and of the suite together.

    `passed` and `failed` leave out what nobody was asked to decide: limits of serializers, known
    breaks, waived cases.
    """
    from memory_matrix.report.baseline import cell_changes

    compat, suite = report.summary(), report.suite_summary()
    changes = cell_changes(report)
    return {
        "breaks": str(compat["breaks"]),
        "new-breaks": "" if changes is None else str(changes.new),
        "cells": str(compat["cells"] + suite["cases"]),
        "passed": str(compat["ok"] + suite["passed"]),
        "failed": str(compat["breaks"] - compat["known"] + suite["failed"] + suite["error"]),
        "skipped": str(compat["skipped"] + suite["skipped"] + suite["not-offered"]),
    }


def write(path: Path, values: Mapping[str, str]) -> None:
    """Add `values` to the runner's file at `path`: all, or none, since the runner refuses half of one.

    No text in them can be taken for another output.

    Raises:
        OSError: it cannot be written.
    """
    text = "".join(_entry(name, value) for name, value in values.items())
    with path.open("ab", buffering=0) as file:
        append_whole(file.fileno(), text.encode(errors="backslashreplace"))


def _entry(name: str, value: str) -> str:
    if not re.search(r"[\r\n]", value):
        return f"{name}={value}\n"
    end = f"end-{secrets.token_hex(16)}"
    return f"{name}<<{end}\n{value}\n{end}\n"
