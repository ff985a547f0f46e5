"""The cache folder: where it is, how entries get into it whole or not at all, and its removal.

The cache holds sections (`environments`, `wheels`, ...). Each section that this project made carries
a `CACHEDIR.TAG`, so that nothing else is ever removed, even where the cache is somebody's home.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from memory_matrix.environments.processes import StoppedError
from memory_matrix.errors import MemoryMatrixError, UsageError

CACHE_VARIABLE = "MEMORY_MATRIX_CACHE"
TAG_FILE = "CACHEDIR.TAG"
TAG = """\
Signature: 8a477f597d28d172789f06886806bc55
# Made by memory-matrix, which removes this folder when its cache is cleaned.
# About this file: https://bford.info/cachedir/
"""

_PARTIAL = ".partial"
_LOCK = ".lock"


def default_cache() -> Path:
    """Return the folder that `MEMORY_MATRIX_CACHE` names, else the user's own for such things.

    Nothing is created.
    """
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser().absolute()
    from platformdirs import user_cache_path

    return user_cache_path("memory-matrix", appauthor=False)


def section(cache: Path, name: str) -> Path:
    """Return the section `name` of the cache, made where it is missing.

    Raises:
        MemoryMatrixError: it cannot be made.
        UsageError: there is a folder of that name that memory-matrix did not make.
    """
    folder = cache / name
    with writing(cache):
        if not _is_ours(folder):
            _make_section(folder)
    return folder


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn errors of the file system in this block into one that says what to do.

    Raises:
        MemoryMatrixError: `folder`, the cache or in it, cannot be written.
    """
    try:
        yield
    except OSError as error:
        where = error.filename or folder
        raise MemoryMatrixError(
            f"The cache {folder} cannot be written ({where}: {error.strerror}): make room or give "
            f"yourself the right to, or set {CACHE_VARIABLE} to another folder."
        ) from error


def obtain(
    folder: Path,
    *,
    is_good: Callable[[Path], bool],
    make: Callable[[Path], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> bool:
    """See to it that `folder`, an entry of a section, is there and good; say whether it was already.

    `make` fills a folder beside it, which takes the entry's place only when it is complete. Runs that
    want the same entry at once wait for the one that makes it. A bad entry is replaced.

    Raises:
        StoppedError: `cancelled` said so while another run held the entry.
    """
    if is_good(folder):
        return True
    with _holding(folder, cancelled):
        _remove_partials(folder)
        if is_good(folder):
            return True
        partial = _beside(folder)
        try:
            make(partial)
            _publish(partial, folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return False


def sweep(folder: Path) -> None:
    """Remove what killed runs left half-made in the section `folder`; what a live run makes stays."""
    from filelock import FileLock, Timeout

    for entry in {_entry_of(partial) for partial in folder.glob(f"*{_PARTIAL}")}:
        try:
            with FileLock(_lock_file(entry), timeout=0):
                _remove_partials(entry)
        except Timeout:
            continue


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """Make a folder in the section `folder` for a run's temporary files, gone afterwards.

    Where the run is killed, the next `sweep` removes it.

    Raises:
        MemoryMatrixError: the section cannot be written.
    """
    entry = folder / f"run-{secrets.token_hex(8)}"
    made = _beside(entry)
    with ExitStack() as stack:
        with writing(folder):
            stack.enter_context(_holding(entry, lambda: False))
            made.mkdir()
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)
            _lock_file(entry).unlink(missing_ok=True)


def clean(cache: Path) -> tuple[Path, ...]:
    """Remove every section that memory-matrix made in `cache`, and return their folders.

    `cache` itself goes too when nothing else is in it.

    Raises:
        MemoryMatrixError: a run is building in it just now, or a folder cannot be removed.
    """
    sections = [folder for folder in _children(cache) if _is_ours(folder)]
    _refuse_while_used(sections)
    try:
        for folder in sections:
            shutil.rmtree(folder)
        if cache.is_dir() and not any(cache.iterdir()):
            cache.rmdir()
    except OSError as error:
        raise MemoryMatrixError(
            f"The cache in {cache} cannot be removed: {error.filename}: {error.strerror}."
        ) from error
    return tuple(sections)


def _children(cache: Path) -> list[Path]:
    return sorted(cache.iterdir()) if cache.is_dir() else []


def _is_ours(folder: Path) -> bool:
    if folder.is_symlink():
        return False
    try:
        return (folder / TAG_FILE).read_text(encoding="utf-8") == TAG
    except (FileNotFoundError, NotADirectoryError, PermissionError, UnicodeDecodeError):
        return False


def _make_section(folder: Path) -> None:
    """Make `folder` with its tag in one step, so that no other run ever sees it without."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not _is_ours(folder):
        raise UsageError(
            f"{folder} is there already and is no cache of memory-matrix: set {CACHE_VARIABLE} to "
            "another folder."
        )
    tagged = _beside(folder)
    tagged.mkdir()
    try:
        (tagged / TAG_FILE).write_text(TAG, encoding="utf-8")
        tagged.rename(folder)
    except OSError:
        if not _is_ours(folder):  # else another run was first
            raise
    finally:
        shutil.rmtree(tagged, ignore_errors=True)


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.{secrets.token_hex(4)}{_PARTIAL}")


def _entry_of(partial: Path) -> Path:
    return partial.with_name(partial.name.split(".", maxsplit=1)[0])


def _lock_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}{_LOCK}")


def _remove_partials(folder: Path) -> None:
    for partial in folder.parent.glob(f"{folder.name}.*{_PARTIAL}"):
        shutil.rmtree(partial, ignore_errors=True)


def _publish(partial: Path, folder: Path) -> None:
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        bad = _beside(folder)
        folder.rename(bad)  # at once, so that no reader sees it half-removed
        shutil.rmtree(bad, ignore_errors=True)
    partial.rename(folder)


@contextmanager
def _holding(folder: Path, cancelled: Callable[[], bool]) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(_lock_file(folder))
    while not cancelled():
        try:
            lock.acquire(timeout=0.5)
        except Timeout:
            continue
        try:
            yield
        finally:
            lock.release()
        return
    raise StoppedError


def _refuse_while_used(sections: list[Path]) -> None:
    from filelock import FileLock, Timeout

    for folder in sections:
        for file in folder.glob(f"*{_LOCK}"):
            try:
                with FileLock(file, timeout=0):
                    pass
            except Timeout:
                raise MemoryMatrixError(
                    f"{file.with_suffix('')} is being built by another run: clean the cache when "
                    "that run has ended."
                ) from None
