"""Machines that share a project, each with a report folder of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from support.project import Project, Run

CASES = ("--select", "case=text_ascii*")


class Machines:
    """Machines that share a project: each command runs on a new one, with a report folder of its own."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.used: list[str] = []
        """Those whose findings count."""
        self._made = 0

    def run(self, *arguments: str, **environ: str) -> Run:
        """Run a command on a new machine."""
        name = f"machine-{self._made}"
        self._made += 1
        self.used.append(name)
        return self.project.run(*arguments, "-q", "--report-dir", name, **environ)

    def shards(self, *command: str, of: int, more: tuple[str, ...] = ()) -> list[Run]:
        """Run all shards of a command, each on a machine of its own."""
        return [
            self.run(*command, "--shard", f"{number}/{of}", *more) for number in range(1, of + 1)
        ]

    def compat(self, writers: int, readers: int) -> list[Run]:
        """Run compat on so many machines."""
        runs = self.shards("compat", "write", of=writers)
        written = ("--from", *self.used)
        return [*runs, *self.shards("compat", "read", of=readers, more=written)]

    def merge(self, *arguments: str, **environ: str) -> Run:
        """Merge what all machines found."""
        return self.project.run("merge", "-q", *self.used, *arguments, **environ)

    def report(self, machine: str) -> dict[str, Any]:
        """Return the report that a machine wrote."""
        found: dict[str, Any] = json.loads(
            (self.project.folder / machine / "report.json").read_bytes()
        )
        return found


def facts(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a report has to be the same on however many machines it was made."""
    own = {"merged", "time", "commit"}
    found = {key: value for key, value in report.items() if key not in own}
    found["environments"] = [
        {key: value for key, value in each.items() if key != "seconds"}
        for each in report["environments"]
    ]
    found["suite"] = sorted(
        (
            {key: value for key, value in each.items() if key != "seconds"}
            for each in report["suite"]
        ),
        key=lambda each: (each["environment"], each["case"]),
    )
    return found
