"""The action's own entry: inputs in, the command line run, outputs out, whatever came of it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory

from memory_matrix import cli
from memory_matrix.errors import MemoryMatrixError, UsageError
from memory_matrix.github import artifacts, log, masks, outputs
from memory_matrix.github.commands import Annotation
from memory_matrix.github.inputs import Inputs
from memory_matrix.github.outputs import Results


def main() -> int:
    """Run what the inputs in the environment say, and return the exit code of the command line."""
    inputs = Inputs.taken_from(os.environ)
    with _one_stream(), log.guarded_errors():
        masks.mask(inputs.servers)
        if problems := list(inputs.problems()):
            for each in problems:
                log.issue(str(Annotation("error", each, "memory-matrix: wrong input")))
            _put({"result": "error", **_no_plan(inputs)})
            return UsageError.exit_code
        os.chdir(inputs.folder)
        return _run(inputs)


def _run(inputs: Inputs) -> int:
    """Run the command line; the outputs are written also where that raises."""
    results = Results.in_folder(inputs.report_dir)
    code = MemoryMatrixError.exit_code
    try:
        code = _command(inputs)
    finally:
        values = outputs.of_run(code, results)
        _put({**values, **(_no_plan(inputs) if code else {})})
    return code


def _command(inputs: Inputs) -> int:
    try:
        with _baseline(inputs) as baseline:
            return cli.main(inputs.arguments(baseline))
    except SystemExit:  # `args: --help`: no pass, since nothing was tested
        log.say("error", "input args: it asks for help, which is shown above, and nothing was run.")
        return UsageError.exit_code
    except MemoryMatrixError as error:
        log.say("error", str(error))
        return error.exit_code
    except OSError as error:
        log.say("error", f"The system does not let it: {error}.")
    except Exception as error:  # noqa: BLE001 - Python would end with 1, as after a finding
        log.say("error", cli.about_defect(error))
    return MemoryMatrixError.exit_code


@contextmanager
def _baseline(inputs: Inputs) -> Iterator[Path | None]:
    """Yield where the report is that an artifact holds, if that is the baseline and there is one."""
    name = inputs.artifact_of_baseline
    if name is None:
        yield None
        return
    source = artifacts.Source.of(os.environ, inputs.values.get("token", ""))
    temporary = os.environ.get("RUNNER_TEMP") or None
    with TemporaryDirectory(prefix="memory-matrix-", dir=temporary) as folder:
        found = artifacts.fetch(source, name, Path(folder, f"artifact-{name[:100]}"))
        if found is None:
            log.say(
                "notice", f"There is no baseline yet: {_where(source)} has an artifact {name!r}."
            )
        yield found


def _where(source: artifacts.Source) -> str:
    branch = source.branch or "the default branch"
    return f"no successful run of this workflow on {branch}"


def _no_plan(inputs: Inputs) -> dict[str, str]:
    """Return outputs of a plan that was to be made, and was not."""
    return dict(outputs.NO_PLAN) if inputs.command == "plan" else {}


def _put(values: dict[str, str]) -> None:
    path = os.environ.get("GITHUB_OUTPUT")
    if not path:
        log.say("warning", "No outputs are set: GITHUB_OUTPUT is not.")
        return
    try:
        outputs.write(Path(path), values)
    except OSError as error:
        log.say("warning", f"No outputs are set: {path!r}: {error.strerror or error}.")


@contextmanager
def _one_stream() -> Iterator[None]:
    """Print everything to standard output: two streams reach the log in no order."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    with redirect_stderr(sys.stdout):
        yield
