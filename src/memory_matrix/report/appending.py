"""Bytes added to the end of a file: all of them, or none."""

from __future__ import annotations

import errno
import os
import stat


def append_whole(file: int, data: bytes) -> None:
    """Add `data` to `file`, which is open for that; what was added of it is taken back.

    Raises:
        OSError: it has no room, or cannot be written.
    """
    before, written = os.fstat(file), 0
    is_file = stat.S_ISREG(before.st_mode)  # a pipe or a device has neither a disk nor a size
    try:
        written = os.write(file, data)
        if written < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if is_file:
            os.fsync(file)
    finally:
        if written < len(data) and is_file:
            os.ftruncate(file, before.st_size)
