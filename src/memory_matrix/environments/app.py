"""Build the user's own project, as it stands or at a git ref, to a wheel in the cache."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import parse_wheel_filename

from memory_matrix.environments import cache as caches
from memory_matrix.environments.interpreters import Interpreter
from memory_matrix.environments.resolution import digest
from memory_matrix.environments.sources import Source, open_source
from memory_matrix.environments.uv_commands import Uv, UvError
from memory_matrix.environments.words import last_log_line
from memory_matrix.errors import UnavailableError


@dataclass(frozen=True)
class AppBuilder:
    """Builds the project in `root`; its wheels are kept in `folder`, a section of the cache."""

    uv: Uv
    folder: Path
    root: Path

    def requirement(self, app: str, interpreter: Interpreter) -> str:
        """Return the requirement that names the wheel of `app` (`.` or `git:REF`).

        The project's own folder is left as it is: a copy is built.

        Raises:
            UnavailableError: there is no such state of the project, or it cannot be built.
        """
        source = open_source(app, self.root, self.uv.runner)
        entry = self.folder / digest(source.stamp, interpreter.identity)
        caches.obtain(
            entry,
            is_good=lambda folder: _wheel(folder) is not None,
            make=lambda folder: self._build(source, interpreter, folder),
            cancelled=lambda: self.uv.runner.stopped,
        )
        wheel = _wheel(entry)
        assert wheel is not None
        return f"{parse_wheel_filename(wheel.name)[0]} @ {wheel.as_uri()}"

    def _build(self, source: Source, interpreter: Interpreter, folder: Path) -> None:
        folder.mkdir()
        copy = folder / "source"
        project = source.copy(copy)
        self._check(project, source)
        try:
            self.uv(
                *("build", "--wheel", "--python", str(interpreter.path)),
                *("--out-dir", str(folder), str(project)),
            )
        except UvError as error:
            words = f"{error.reason.rstrip('.')}: {last_log_line(error.stderr)}"
            raise UnavailableError(
                f"app {source.title!r} cannot be built on Python {interpreter.version}: "
                f"{words.replace(str(project), str(self.root))}. Make sure that `pip wheel .` "
                "works there."
            ) from None
        shutil.rmtree(copy)

    def _check(self, project: Path, source: Source) -> None:
        if not any((project / name).is_file() for name in ("pyproject.toml", "setup.py")):
            raise UnavailableError(
                f"app {source.title!r} cannot be installed: {self.root} has neither a "
                "pyproject.toml nor a setup.py there, so it is no project that can be built."
            )


def _wheel(folder: Path) -> Path | None:
    return next(iter(sorted(folder.glob("*.whl"))), None)
