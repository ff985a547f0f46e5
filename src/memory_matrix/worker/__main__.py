"""Entry point inside an environment: `python __main__.py write|read JOB.json`."""

import os
import sys
import traceback
import types


def _adopt_package() -> None:
    """Make `memory_matrix` importable without installing it, and without its `__init__`.

    Only this package's folder is reachable, nothing of the orchestrator's site-packages.
    """
    here = __file__.replace("\\", "/").rsplit("/", 1)[0]
    if sys.path and sys.path[0].replace("\\", "/") == here:
        del sys.path[0]
    package = types.ModuleType("memory_matrix")
    package.__path__ = [here.rsplit("/", 1)[0]]
    sys.modules["memory_matrix"] = package


def _run() -> int:
    from memory_matrix.worker.session import main

    try:
        return main(sys.argv[1:])
    except SystemExit as stopped:
        return int(stopped.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1


if __name__ == "__main__":
    _adopt_package()
    status = _run()
    sys.stderr.flush()
    os._exit(status)  # without waiting for threads that imported modules have started
