"""What the pytest plugin tells of each case: one line of JSON, for whoever makes the report."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from memory_matrix.suite.outcomes import CaseOutcome

_UNSTOPPED = "it did not come back in time, nor when it was told to end: its process was killed"
PROPERTY = "memory_case"
"""The name under which a test's report carries its `Case`."""


@dataclass(frozen=True)
class Case:
    """One case on one store and its servers."""

    case: str
    """Its stable name, such as `text_ascii_round_trip`."""
    group: str
    """The letter of its group, `A` to `N`."""
    store: str
    servers: tuple[str, ...]
    serializer: str | None = None


@dataclass(frozen=True)
class CaseResult(Case):
    """What became of it."""

    outcome: CaseOutcome = "skipped"
    reason: str | None = None
    seconds: float = 0.0


def result(case: Case, outcome: CaseOutcome, reason: str | None, seconds: float) -> CaseResult:
    """Return what became of `case`."""
    told = reason and reason.encode("utf-8", "backslashreplace").decode()
    return CaseResult(**asdict(case), outcome=outcome, reason=told, seconds=round(seconds, 4))


class ResultLines:
    """Writes a file of lines: first every case that was collected, then each as it ends.

    Several processes may write to one file, each line at once.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)

    def collected(self, cases: list[Case]) -> None:
        """Say which cases there are."""
        self._write({"collected": [asdict(case) for case in cases]})

    def ended(self, ended: CaseResult) -> None:
        """Say what became of one."""
        self._write({"result": asdict(ended)})

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line).encode() + b"\n")


def read_lines(path: Path) -> tuple[list[Case], list[CaseResult]]:
    """Return the cases that were collected and those that ended; a last line cut short is left out.

    Of several processes each has collected the same. What became of a case is what was said first.
    """
    collected: list[Case] = []
    ended: dict[tuple[Any, ...], CaseResult] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            data = json.loads(line)
        except ValueError:
            continue
        collected = collected or [_case(Case, each) for each in data.get("collected", ())]
        if "result" in data:
            each = _case(CaseResult, data["result"])
            ended.setdefault(_key(each), each)
        elif data.get("lost", len(collected)) < len(collected):
            each = _lost(collected[data["lost"]], data["status"])
            ended.setdefault(_key(each), each)
    return collected, [*ended.values()]


def count_ended(path: Path) -> int:
    """Return how many cases have ended so far."""
    if not path.exists():
        return 0
    lines = path.read_bytes().splitlines()
    return sum(line.startswith((b'{"result"', b'{"lost"')) for line in lines)


def _lost(case: Case, status: int | None) -> CaseResult:
    if status is None:
        return result(case, "failed", _UNSTOPPED, 0.0)
    how = f"by signal {-status}" if status < 0 else f"with status {status}"
    return result(case, "error", f"it did not end: its process ended {how}", 0.0)


def missing(collected: list[Case], ended: list[CaseResult], reason: str) -> list[CaseResult]:
    """Return a result for every case that was collected and did not end: an error, never passed."""
    done = {_key(each) for each in ended}
    return [result(each, "error", reason, 0.0) for each in collected if _key(each) not in done]


def _key(case: Case) -> tuple[Any, ...]:
    return (case.case, case.store, case.servers, case.serializer)


def _case(kind: type[Any], data: dict[str, Any]) -> Any:
    return replace(kind(**data), servers=tuple(data["servers"]))
