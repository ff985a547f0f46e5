#!/usr/bin/env python3
"""Time what the action adds to a job: from its first step to the first cell, on a small matrix.

    python benchmarks/action.py [--rounds 3]

Each round runs the scripts of action.yml as a runner does, in a new RUNNER_TEMP: the installation with
uv and its cache, the same where there is no uv (pip then gets one), and the tool's own start until the
first payload is written. Times are seconds; the median of the rounds is shown, and each of them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from uv import find_uv_bin

ROOT = Path(__file__).parents[1]
PROJECT = ROOT / "tests/action/projects/sound"
FIRST_CELL = "Writing:"
"""What the log says once the first payloads are written."""
WANTED = 10.0


def main() -> int:
    """Time it, print it, and return 1 where it takes longer than it may."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    rounds = parser.parse_args().rounds
    medians = {}
    for way, path in (("with uv", with_uv), ("without uv", without_uv)):
        timed = [timed_round(path) for _ in range(rounds)]
        for part in ("install", "first cell"):
            seconds = [each[part] for each in timed]
            medians[way, part] = statistics.median(seconds)
            print(
                f"{way:10}  {part:10}  {medians[way, part]:6.2f} s  {', '.join(f'{s:.2f}' for s in seconds)}"
            )
    total = medians["with uv", "install"] + medians["with uv", "first cell"]
    print(f"{'with uv':10}  {'together':10}  {total:6.2f} s, of {WANTED:g} s that it may take")
    return int(total > WANTED)


def with_uv(folder: Path) -> str:
    """Return a PATH that has uv."""
    (folder / "bin").mkdir()
    (folder / "bin/uv").symlink_to(find_uv_bin())
    return os.pathsep.join((str(folder / "bin"), os.environ["PATH"]))


def without_uv(_: Path) -> str:
    """Return a PATH that has none."""
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(each for each in folders if shutil.which("uv", path=each) is None)


def timed_round(path_in: Callable[[Path], str]) -> dict[str, float]:
    """Return the seconds of an installation, and from there to the first cell."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(PROJECT, folder / "workspace")
        environ = runner(folder, path_in(folder))
        began = time.perf_counter()
        subprocess.run(
            ("bash", ROOT / "tools/action-install"),
            env=environ,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        installed = time.perf_counter()
        seen = first_cell(folder, environ)
        return {"install": installed - began, "first cell": seen - installed}


def runner(folder: Path, path: str) -> Mapping[str, str]:
    """Return the variables that a runner sets."""
    (folder / "temp").mkdir()
    python = Path(os.path.realpath(sys.executable)).parent / "python3"
    return {
        **os.environ,
        "PATH": path,
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_WORKSPACE": str(folder / "workspace"),
        "RUNNER_TEMP": str(folder / "temp"),
        "MEMORY_MATRIX_PYTHON": str(python),
        "MEMORY_MATRIX_INPUT_COMMAND": "compat",
    }


def first_cell(folder: Path, environ: Mapping[str, str]) -> float:
    """Run the tool to its end, and return when it had written its first payloads."""
    venv = (folder / "output").read_text(encoding="utf-8").removeprefix("venv=").strip()
    command = (f"{venv}/bin/python", "-I", "-m", "memory_matrix.github")
    seen = None
    with subprocess.Popen(
        command, env=environ, cwd=folder / "workspace", stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout or ():
            if seen is None and FIRST_CELL in line:
                seen = time.perf_counter()
    if process.returncode or seen is None:
        sys.exit(
            f"benchmarks/action.py: the run ended with {process.returncode}, and wrote nothing"
        )
    return seen


if __name__ == "__main__":
    sys.exit(main())
