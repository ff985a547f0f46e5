"""What writing and reading share: looking at a value, keeping it, and telling what was raised."""

import os
import sys
import traceback
import typing

from memory_matrix.payloads.lacking import Lacking
from memory_matrix.worker import describe, modules
from memory_matrix.worker.cells import Result, Runner, Step
from memory_matrix.worker.describe import Table
from memory_matrix.worker.errors import installed
from memory_matrix.worker.modules import Payload

if typing.TYPE_CHECKING:
    from memory_matrix.worker.session import Session


BATCH = 16
"""Steps that one child does: forking costs more than most steps do."""


class Actor:
    """Does the steps of one worker in the children that a `Runner` forks."""

    def __init__(self, session: "Session") -> None:
        self.session = session
        self._imports: typing.Dict[str, bool] = {}

    def attempt(
        self, stage: str, outcome: str, action: typing.Callable[[], typing.Any]
    ) -> typing.Any:
        """Return what `action` returns; what it raises becomes the step's result by `FailedStepError`."""
        try:
            return action()
        except MemoryError:
            raise FailedStepError(self._out_of_memory(stage)) from None
        except Lacking as lacking:
            raise FailedStepError({"outcome": "lacking", "reason": str(lacking)}) from None
        except BaseException as error:
            described = self.session.scrubber.error(stage, error)
            raise FailedStepError({"outcome": outcome, "error": described}) from None

    def _out_of_memory(self, stage: str) -> Result:
        text = "more than %d MiB" % self.session.job["memory"]
        error = {"stage": stage, "type": "MemoryError", "message": text}
        return {"outcome": "crashed", "error": error}

    def work(self, step: Step) -> Result:
        """Do one step. Runs in a child; never raises, and never blames the cell for our own faults."""
        do: typing.Callable[[Step], Result] = getattr(self, "do_" + step["do"])
        before = set(sys.modules)
        try:
            result = do(step)
        except FailedStepError as failed:
            result = failed.result
        except MemoryError:
            result = self._out_of_memory("use")
        except OSError as error:  # of our own files: a full disk
            result = {"outcome": "internal", "error": "%s: %s" % (type(error).__name__, error)}
        except Exception:
            result = {"outcome": "internal", "error": traceback.format_exc()}
        result["imported"] = [name for name in sys.modules if name not in before]
        return result

    def do_import(self, step: Step) -> Result:
        """Say whether a module of the environment's own packages can be imported at all."""
        if not installed(step["module"]):
            return {"broken": None}
        try:
            __import__(step["module"])
        except BaseException as error:
            return {"broken": self.session.scrubber.error("build", error)}
        return {"broken": None}

    def learn(self, result: Result) -> None:
        """Import what the environment's own code imported in a child, so that it is paid once."""
        if self.session.job["preload"] is not None:
            modules.preload(result["imported"])

    def suspect(self, runner: Runner, result: Result) -> None:
        """Tell the orchestrator when what was raised shows that the environment is broken."""
        error = result.get("error")
        module = error.get("importing") if isinstance(error, dict) else None
        if module is None or module in self._imports:
            return
        self._imports[module] = True
        for _, checked in runner.run([{"do": "import", "module": module}]):
            if checked.get("broken"):
                self.session.emit({"event": "broken", "module": module, "error": checked["broken"]})

    def keep(self, folder: str, data: bytes) -> str:
        """Store `data` under its digest, once, and return the digest."""
        name = describe.digest(data)
        path = os.path.join(self.session.job[folder], name)
        if not os.path.exists(path):
            unfinished = "%s.%d" % (path, os.getpid())
            with open(unfinished, "wb") as file:
                file.write(data)
            os.replace(unfinished, path)
        return name

    def fetch(self, folder: str, name: str) -> bytes:
        """Return what `keep` stored."""
        with open(os.path.join(self.session.job[folder], name), "rb") as file:
            return file.read()

    def look(self, payload: typing.Optional[Payload], value: object, probing: bool) -> Table:
        """Describe `value`, or what the payload's probe makes of it."""
        if probing and payload is not None and payload.probe is not None:
            value = payload.probe(value)
        return describe.describe(value)


class FailedStepError(Exception):
    """A step that ended early, with its result."""

    def __init__(self, result: Result) -> None:
        super().__init__()
        self.result = result


def ran_out(result: Result) -> bool:
    """Say whether a step ran out of memory, to which others in the same child may have added."""
    return bool(result["outcome"] == "crashed" and result["error"]["type"] == "MemoryError")
