"""Resolve requirements to exact versions for one interpreter, and remember the answer for a while."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

from packaging.requirements import InvalidRequirement, Requirement

from memory_matrix.environments.interpreters import Interpreter
from memory_matrix.environments.sources import content_stamp
from memory_matrix.environments.uv_commands import Uv, UvError
from memory_matrix.errors import UnavailableError

REMEMBERED = 3600.0
"""Seconds for which a resolution is taken as it is, without asking the index."""


@dataclass(frozen=True)
class Resolver:
    """Resolves with one uv; answers are kept in `folder`, a section of the cache."""

    uv: Uv
    folder: Path
    refresh: bool = False
    """Whether to ask the index even where the answer is remembered."""

    def resolve(self, requirements: tuple[str, ...], interpreter: Interpreter) -> tuple[str, ...]:
        """Return `requirements` and all they need, pinned, as uv writes them.

        A remembered answer of any age is used where the index cannot be reached.

        Raises:
            UnavailableError: one of them is no requirement.
            UvError: they cannot be resolved.
        """
        if not requirements:
            return ()
        for requirement in requirements:
            _check(requirement)
        memory = self.folder / f"{self._key(requirements, interpreter)}.json"
        known = None if self.refresh else _recall(memory)
        if known is not None and 0 <= time.time() - known.time < REMEMBERED:
            return known.lines
        try:
            lines = self._compile(requirements, interpreter)
        except UvError as error:
            if known is None or not error.offline:
                raise
            return known.lines
        _remember(memory, lines)
        return lines

    def _compile(self, requirements: tuple[str, ...], interpreter: Interpreter) -> tuple[str, ...]:
        output = self.uv(
            *("pip", "compile", "-", "--python", str(interpreter.path), "--quiet"),
            *("--no-header", "--no-annotate", "--no-generate-hashes", "--no-universal"),
            *("--no-emit-index-url", "--format", "requirements.txt"),
            *refreshing(requirements),
            stdin="\n".join(requirements),
        )
        lines = (line.strip() for line in output.splitlines())
        return tuple(sorted(line for line in lines if line and not line.startswith(("#", "-"))))

    def _key(self, requirements: tuple[str, ...], interpreter: Interpreter) -> str:
        return digest(
            interpreter.identity,
            *stamped(requirements),
            _index_settings(self.uv.environ),
            self.uv.index_options,
            _uv_tables(self.uv.cwd),
        )


@dataclass(frozen=True)
class _Known:
    time: float
    lines: tuple[str, ...]


def digest(*parts: object) -> str:
    """Return a short name for a folder or file of the cache that is made from `parts`."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


def stamped(requirements: tuple[str, ...]) -> tuple[str, ...]:
    """Return `requirements`, those that name a local path followed by what its content is now."""
    return tuple(
        requirement if path is None else f"{requirement} {content_stamp(path)}"
        for requirement in requirements
        for path in [_local_path(requirement)]
    )


def refreshing(requirements: tuple[str, ...]) -> list[str]:
    """Return the options that make uv build local paths anew: it does not see that files changed."""
    names = (Requirement(each).name for each in requirements if _local_path(each) is not None)
    return [f"--refresh-package={name}" for name in names]


def _check(requirement: str) -> None:
    try:
        Requirement(requirement)
    except InvalidRequirement as error:
        raise UnavailableError(
            f"{requirement!r} is no requirement ({str(error).splitlines()[0]}): write it as in "
            "`attrs>=22`."
        ) from None


def _local_path(requirement: str) -> Path | None:
    url = urlparse(requirement.partition(" @ ")[2].strip())
    return Path(unquote(url.path)) if url.scheme == "file" else None


def _index_settings(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name.startswith("UV_")}


def _uv_tables(folder: Path | None) -> str:
    """Return what configures uv in `folder`."""
    if folder is None:
        return ""
    texts = []
    for name in ("uv.toml", "pyproject.toml"):
        try:
            texts.append((folder / name).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            texts.append("")
    return json.dumps([texts[0], _tool_uv(texts[1])], sort_keys=True, default=str)


def _tool_uv(pyproject: str) -> object:
    from memory_matrix.toml import tomllib

    try:
        return tomllib.loads(pyproject).get("tool", {}).get("uv")
    except tomllib.TOMLDecodeError:
        return pyproject


def _recall(memory: Path) -> _Known | None:
    try:
        data = json.loads(memory.read_text(encoding="utf-8"))
        return _Known(float(data["time"]), tuple(map(str, data["lines"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _remember(memory: Path, lines: tuple[str, ...]) -> None:
    """Write `memory` in one step, for its owner's eyes: a requirement's URL may hold a password."""
    draft = memory.with_name(f"{memory.name}.{secrets.token_hex(4)}.partial")
    try:
        draft.touch(mode=0o600, exist_ok=False)
        draft.write_text(json.dumps({"time": time.time(), "lines": lines}), encoding="utf-8")
        draft.replace(memory)
    finally:
        draft.unlink(missing_ok=True)
