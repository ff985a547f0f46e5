"""End with whoever is responsible for this process, even where it hangs in code that is not ours."""

import importlib
import os
import select
import signal
import sys
import typing

try:
    fcntl: typing.Any = importlib.import_module("fcntl")
except ImportError:  # not on every platform
    fcntl = None


def end_with(descriptor: int) -> None:
    """Have this process killed once nobody holds the other end of the pipe `descriptor` any more.

    Linux only: the kernel does it, by a signal that ends a process which does not handle it. Where
    the other end is closed already, the process ends here and now.
    """
    if fcntl is None or not sys.platform.startswith("linux"):
        return
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(descriptor, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_ASYNC)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if poll.poll(0):  # it was closed before the kernel could know of our wish
        os._exit(1)


def end_in_order() -> None:
    """Take `end_with` back: from now on this process sees for itself, and cleans up."""
    if hasattr(signal, "SIGIO"):
        signal.signal(signal.SIGIO, signal.SIG_IGN)
