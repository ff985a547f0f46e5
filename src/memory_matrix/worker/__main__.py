"""Entry point inside an environment: `python __main__.py write|read JOB.json`."""

import sys
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


if __name__ == "__main__":
    _adopt_package()
    from memory_matrix.worker.session import main

    sys.exit(main(sys.argv[1:]))
