"""The report folder, and single files of any format: written whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from memory_matrix.errors import MemoryMatrixError, UsageError
from memory_matrix.report.formats import ALWAYS, FORMATS
from memory_matrix.report.model import Report, from_json

JSON_NAME = FORMATS["json"].file

_OURS = b'{\n"schema": '
"""How each report.json of ours begins."""


def write(report: Report, folder: Path, also: Iterable[str] = ()) -> tuple[Path, ...]:
    """Write what every run writes, and the formats `also`, into `folder`; return their paths.

    The folder is made when missing. All are complete on the disk before any takes the place of an
    older one, and those of two runs that end at the same time are never mixed. What an earlier run
    left there in another format is removed: it would be taken for this run's.

    Raises:
        MemoryMatrixError: the folder cannot be made or written.
    """
    chosen = [FORMATS[name] for name in dict.fromkeys((*ALWAYS, *also))]
    contents = {each.file: each.pieces(report) for each in chosen}
    stale = [each.file for each in FORMATS.values() if each not in chosen]
    try:
        _make(folder)
        return _write_all(folder, contents, stale)
    except OSError as error:
        raise MemoryMatrixError(
            f"The report cannot be written to {str(folder)!r}: {error.strerror or error}. Name"
            " another folder with --report-dir, or make room and room to write in this one."
        ) from error


def write_one(pieces: Iterable[str], path: Path) -> None:
    """Write `pieces` to `path`: whole or not at all where that is a file, or is to become one.

    Folders are made when missing. A pipe or a device is written to as it is, a link goes on pointing
    where it does.

    Raises:
        UsageError: it cannot be written there.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(pieces)
        else:
            target = Path(os.path.realpath(path))
            _make(target.parent)
            _write_all(target.parent, {target.name: pieces})
    except BrokenPipeError:  # nobody reads any more
        raise
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"{str(path)!r} cannot be written: {why}.") from error


def load(path: Path) -> Report:
    """Return the report that `path`, a report.json or the folder that holds it, says.

    Raises:
        UsageError: there is none, it is damaged, or another release with another schema wrote it.
    """
    source = path
    try:
        source = path / JSON_NAME if path.is_dir() else path
        if source.is_file():
            return from_json(json.loads(source.read_bytes()))
    except OSError as error:
        raise UsageError(f"{str(source)!r} cannot be read: {error.strerror or error}.") from error
    except json.JSONDecodeError as error:
        raise UsageError(
            f"{str(source)!r} is no whole JSON: {error}. It may be cut off; make it again."
        ) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{str(source)!r} is no report that can be read: {error}.") from None
    raise UsageError(
        f"There is no report at {str(source)!r}; name a {JSON_NAME}, or the folder that a run wrote"
        " one to."
    )


def _make(folder: Path) -> None:
    """Make `folder` and those above it, unless they are there.

    Raises:
        OSError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:  # "File exists" says nothing to who wants to write a file
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None


def _write_all(
    folder: Path, contents: Mapping[str, Iterable[str]], stale: Iterable[str] = ()
) -> tuple[Path, ...]:
    """Write `contents` by name, then let each take its place, and remove `stale` of an earlier run."""
    with ExitStack() as stack:
        drafts = []
        for name, pieces in contents.items():
            draft = folder / f".{name}.{secrets.token_hex(8)}.tmp"
            stack.callback(draft.unlink, missing_ok=True)
            _write_new(draft, pieces)
            drafts.append(draft)
        stack.enter_context(_alone(folder))
        if _has_report(folder):  # else a `report.txt` is somebody else's
            for name in stale:
                (folder / name).unlink(missing_ok=True)
        pairs = zip(drafts, contents, strict=True)
        return tuple(draft.replace(folder / name) for draft, name in pairs)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other runs that end now out of `folder`, where it can be read and its file system can."""
    with ExitStack() as stack:
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _has_report(folder: Path) -> bool:
    """Return whether an earlier run wrote to `folder`."""
    with suppress(OSError), (folder / JSON_NAME).open("rb") as file:
        return file.read(len(_OURS)) == _OURS
    return False


def _write_new(path: Path, pieces: Iterable[str]) -> None:
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())
