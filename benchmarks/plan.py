#!/usr/bin/env python3
"""Time the plan of a large matrix, as a process of its own: what a job on GitHub waits for.

    python benchmarks/plan.py [--values 10] [--runs 5]

Four packages of so many releases each; 10 make 10,000 environments, and 20,000 cells of the suite.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = (sys.executable, "-m", "memory_matrix", "plan")


def main() -> int:
    """Run the benchmark and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--values", type=int, default=10, help="default: %(default)s")
    parser.add_argument("--runs", type=int, default=5, help="default: %(default)s")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_matrix(Path(folder), options.values)
        for arguments in ((), ("--github",), ("--github", "--jobs", "256")):
            seconds = min(run(Path(folder), arguments) for _ in range(options.runs))
            print(f"{' '.join(('plan', *arguments)):28} {seconds:.2f} s")
        outputs = Path(folder, "output").stat().st_size // options.runs // 2
        print(f"{options.values**4:,} combinations; outputs of {outputs:,} bytes on average")
    return 0


def write_matrix(folder: Path, values: int) -> None:
    """Write the matrix file."""
    releases = [f"=={number}" for number in range(values)]
    axes = "".join(f"package{number} = {releases}\n" for number in range(4))
    (folder / "memory-matrix.toml").write_text(f"[axes.packages]\n{axes}", encoding="utf-8")


def run(folder: Path, arguments: tuple[str, ...]) -> float:
    """Return the seconds that one process takes from its start to its end."""
    environ = {**os.environ, "GITHUB_OUTPUT": str(folder / "output")}
    start = time.perf_counter()
    command = (*COMMAND, *arguments)
    subprocess.run(command, cwd=folder, env=environ, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    raise SystemExit(main())
