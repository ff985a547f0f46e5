"""The jobs of GitHub Actions that a matrix is packed into. Nothing is done."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memory_matrix.matrix.model import EnvironmentSpec, Matrix
from memory_matrix.matrix.packing import MOST_SHARDS, Seconds, pack_environments, pack_processes
from memory_matrix.matrix.select import Selection, narrow_parts
from memory_matrix.matrix.suite import REFERENCE_STORES, StoreNeeds, SuiteProcess, plan_suite

JOBS = 20
"""Jobs of one kind, unless the command line says otherwise."""

MOST_JOBS = MOST_SHARDS

_NAME = 100
"""Characters of a job's name: what GitHub shows of it without cutting."""
_BYTES = 400
"""Of a name as JSON: all the outputs of a step have to stay under 1 MB."""


@dataclass(frozen=True)
class Job:
    """One job: the command that it runs, on which share of the work."""

    command: str
    shard: str
    """Empty for all of the work."""
    artifact: str
    """What to call what it leaves."""
    units: tuple[str, ...] = ()
    """What it has to do, as far as that is known before it runs."""
    only: str = ""
    """What of the selection its command takes: not what is about another part alone."""

    @property
    def name(self) -> str:
        """Return what GitHub shows, such as `suite 1/3: next on pg17`."""
        title = f"{self.command} {self.shard}".strip()
        name = f"{title}: {', '.join(self.units)}" if self.units else title
        shown = "".join(each if each.isprintable() else "?" for each in name[: _NAME + 1])
        shown = shown if len(shown) <= _NAME else f"{shown[: _NAME - 1]}…"
        return shown if len(json.dumps(shown)) <= _BYTES else title

    def entry(self) -> dict[str, str]:
        """Return it as an entry of a job matrix."""
        return {
            "name": self.name,
            "command": self.command,
            "shard": self.shard,
            "artifact": self.artifact,
            "only": self.only,
        }


Wanted = Literal["run", "compat", "suite"]
"""The command whose work is packed."""


@dataclass(frozen=True)
class Jobs:
    """All jobs of a matrix, by what a workflow does with them."""

    everything: tuple[Job, ...]
    """Those of a workflow with one stage: all of compat, and shards of the suite beside it."""
    write: tuple[Job, ...]
    read: tuple[Job, ...]
    suite: tuple[Job, ...]

    def outputs(self) -> dict[str, Any]:
        """Return them by the names of the outputs of a step of GitHub Actions."""
        matrices = {
            "matrix": self.everything,
            "write-matrix": self.write,
            "read-matrix": self.read,
            "suite-matrix": self.suite,
        }
        return {
            **{
                name: {"include": [each.entry() for each in jobs]}
                for name, jobs in matrices.items()
            },
            "has-work": bool(self.everything),
            "has-compat": bool(self.write),
            "has-suite": bool(self.suite),
        }


def plan_jobs(
    matrix: Matrix,
    selection: Selection,
    most: int = JOBS,
    seconds: Seconds | None = None,
    wanted: Wanted = "run",
) -> Jobs:
    """Return the jobs of the selected part of `matrix`, at most `most` of a kind, for one command.

    There are never more than there are environments, or processes of the suite. What a store needs of
    which nobody knows before it is loaded counts as one process for each environment.

    Raises:
        UsageError: the selection is not one of this matrix.
    """
    seconds = seconds or Seconds()
    parts = narrow_parts(matrix, selection)
    compat = parts["compat"]
    environments = compat.environments if compat.compat.serializers and wanted != "suite" else ()
    suite = _Suite((), 0, True, seconds, "")
    if wanted == "suite" or (wanted == "run" and matrix.asks_for_suite):
        suite = _Suite.of(parts["suite"], selection, seconds)
    only = str(selection.about("compat"))
    number = min(most, len(environments))
    write = pack_environments(environments, seconds.write, number)
    read = pack_environments(environments, seconds.read, number)
    return Jobs(
        everything=_everything(bool(environments), suite, most, selection),
        write=_jobs("compat write", "written", write, only),
        read=_jobs("compat read", "read", read, only),
        suite=suite.jobs(most),
    )


def _everything(
    has_compat: bool, suite: _Suite, most: int, selection: Selection
) -> tuple[Job, ...]:
    if has_compat and suite.size and most == 1:
        return (Job("run", "", "run", only=str(selection)),)
    only = str(selection.about("compat"))
    compat = (Job("compat", "", "compat", only=only),) if has_compat else ()
    return (*compat, *suite.jobs(most - len(compat)))


@dataclass(frozen=True)
class _Suite:
    """The work of the suite, as far as it is known before stores are loaded."""

    processes: tuple[SuiteProcess, ...]
    size: int
    """Processes, known or guessed."""
    is_known: bool
    seconds: Seconds
    only: str

    @classmethod
    def of(cls, matrix: Matrix, selection: Selection, seconds: Seconds) -> _Suite:
        stores = matrix.suite.stores
        needs = {store: REFERENCE_STORES.get(store, StoreNeeds()) for store in stores}
        planned = plan_suite(matrix, needs, selection)
        is_known = all(store in REFERENCE_STORES for store in stores)
        # A selected serializer leaves out the stores that take none.
        is_out = bool(selection.patterns("serializer")) and not matrix.suite.serializers
        guess = 0 if is_known or is_out else len(matrix.environments)
        # One job then says that a store has no server.
        unserved = int(bool(planned.unserved) and bool(matrix.environments))
        size = len(planned.processes) or guess or unserved
        return cls(planned.processes, size, is_known, seconds, str(selection.about("suite")))

    def jobs(self, most: int) -> tuple[Job, ...]:
        """Return at most `most` jobs."""
        number = min(most, self.size)
        shares: Sequence[Sequence[SuiteProcess]] = [()] * number
        if self.is_known:
            shares = pack_processes(self.processes, self.seconds.suite, number)
        return _jobs("suite", "suite", shares, self.only)


def _jobs(
    command: str,
    artifact: str,
    shares: Sequence[Sequence[EnvironmentSpec | SuiteProcess]],
    only: str,
) -> tuple[Job, ...]:
    of = len(shares)
    return tuple(
        Job(
            command,
            f"{number}/{of}",
            f"{artifact}-{number}-of-{of}",
            tuple(each.name for each in mine),
            only,
        )
        for number, mine in enumerate(shares, start=1)
    )
