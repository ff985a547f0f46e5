"""What nox and tox have in common: one session for each suite process, run by `memory-matrix suite`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_matrix.cli import parser
from memory_matrix.errors import NO_ENGINE, UnavailableError, UsageError
from memory_matrix.matrix import override, read, select, sessions
from memory_matrix.matrix.model import Matrix
from memory_matrix.matrix.sessions import Session

TAG = "memory-matrix"
"""What marks all that is offered: a tag in nox, a label in tox."""

LACKING = UnavailableError.exit_code
"""How `memory-matrix suite` ends where it could not have what the matrix requires."""

REPORTS = Path("memory-matrix-report")
"""The folder for all that is reported, in the folder that a runner starts from."""


@dataclass(frozen=True)
class Offered:
    """A matrix file, and the sessions that its suite has."""

    file: Path
    matrix: Matrix
    sessions: tuple[Session, ...]


@dataclass(frozen=True)
class SuiteCommand:
    """How to run one session."""

    options: tuple[str, ...]
    """Those of `memory-matrix suite` that say what is run."""
    report: Path
    """The folder that its report goes to."""
    strict: bool
    """Whether a machine that lacks what the session needs fails it; else the session is skipped."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """What follows `python`."""
        return ("-m", "memory_matrix", "suite", "--report-dir", str(self.report), *self.options)


def find(folder: Path, config: str | Path | None = None) -> Path | None:
    """Return the matrix file that `config` names from `folder`, or the one that is found from there.

    Raises:
        UsageError: a pyproject.toml on the way cannot be read.
    """
    return read.find(folder) if config is None else folder / config


def offer(file: Path, *, by_serializer: bool = False) -> Offered:
    """Return what a matrix file offers; no sessions where its suite has nothing to run.

    Raises:
        UsageError: something in the file is wrong.
    """
    matrix = read.read(file)
    return Offered(file, matrix, sessions.sessions(matrix, by_serializer=by_serializer))


def suite_command(
    offered: Offered, session: Session, reports: Path, given: Sequence[str]
) -> SuiteCommand | None:
    """Return how to run a session with the options that are `given`; None if they select none of it.

    Each session has a folder of its own in `reports`.

    Raises:
        UsageError: an option is wrong.
    """
    options = parser().parse_args(["suite", *given])
    if options.config is not None:
        raise UsageError(f"-c cannot be given here: these are the sessions of {offered.file}.")
    matrix = override.override(
        offered.matrix,
        stores=options.store or (),
        servers={"postgres": options.postgres or (), "redis": options.redis or ()},
        strategy=options.strategy,
    )
    replaced = sessions.replaced(session, offered.matrix, matrix)
    selection = sessions.selection(replaced, matrix, select.parse(" ".join(options.select or ())))
    if selection is None:
        return None
    given_folder = options.report_dir != parser().parse_args(["suite"]).report_dir
    return SuiteCommand(
        options=(
            *given,
            "-c",
            str(offered.file),
            "--session",
            str(selection),
        ),
        report=options.report_dir if given_folder else reports / session.name,
        strict=bool(os.environ.get("CI")) if options.strict is None else options.strict,
    )


def forget(report: Path) -> None:
    """Remove what an earlier run reported, so that it is not taken for what this one finds."""
    (report / "report.json").unlink(missing_ok=True)


@dataclass(frozen=True)
class Missing:
    """What a run needed and could not have."""

    reason: str
    of_the_machine: bool
    """Whether that is interpreters and Docker alone, and not, say, a package that does not exist."""


def missing(report: Path) -> Missing | None:
    """Return what a run could not have, by its report; None if it had all."""
    try:
        found = json.loads((report / "report.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Missing(f"There is no report in {report}: the output above says why.", False)
    absent = [each for each in _required(found) if each["status"] != "ready"]
    if not absent:
        return None
    reasons = dict.fromkeys(str(each["reason"]) for each in absent)
    return Missing(" ".join(reasons), all(map(_is_of_the_machine, absent)))


def _required(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for part in ("environments", "servers", "stores"):
        yield from report.get(part, ())


def _is_of_the_machine(absent: dict[str, Any]) -> bool:
    return bool(absent.get("interpreter_missing")) or NO_ENGINE in str(absent["reason"])
