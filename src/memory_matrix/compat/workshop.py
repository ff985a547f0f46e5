"""Where the phases keep their files, and what every worker's job has in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory_matrix.compat.workers import Task
from memory_matrix.environments.model import Environment
from memory_matrix.matrix.model import CompatOptions
from memory_matrix.matrix.select import Selection


@dataclass(frozen=True)
class Workshop:
    """Where the phases keep their files, and what every job has in common."""

    folder: Path
    options: CompatOptions
    serializers: Mapping[str, str]
    """Each serializer's name in the matrix file, and what the worker loads for it."""
    payloads: Mapping[str, str]
    """Each payload source's name in the matrix file, and what the worker imports for it."""
    selection: Selection = field(default_factory=Selection)
    parallel: int = 2

    def job(self, environment: Environment, **more: Any) -> dict[str, Any]:
        """Return the job that every worker of `environment` gets, and `more`."""
        return {
            "path": [str(path) for path in environment.spec.path],
            "payloads": list(self.payloads.values()),
            "serializers": dict(self.serializers),
            "select": self.selection.patterns("payload"),
            "timeout": self.options.timeout,
            "memory": self.options.memory,
            "blobs": str(self.blobs),
            "descriptions": str(self.descriptions),
            "scrub": {
                str(self.folder): "<run>",
                **({str(environment.folder): "<environment>"} if environment.folder else {}),
            },
            **more,
        }

    @property
    def blobs(self) -> Path:
        """The folder of what was written, by digest."""
        return self.folder / "blobs"

    @property
    def descriptions(self) -> Path:
        """The folder of what values look like, by digest."""
        return self.folder / "descriptions"

    def task(self, environment: Environment, mode: Any, **more: Any) -> Task:
        """Return the work of one worker of `environment`."""
        patience = 60 + 6 * self.options.timeout
        return Task(environment, mode, self.job(environment, **more), patience)
