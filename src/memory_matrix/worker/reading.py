"""Read: load each blob, look at what came, and say how it differs from what was expected."""

import json
import typing

from memory_matrix.worker import describe
from memory_matrix.worker.cells import Result, Runner, Step
from memory_matrix.worker.compare import compare
from memory_matrix.worker.describe import Table
from memory_matrix.worker.modules import Payload, Serializer
from memory_matrix.worker.steps import Actor, FailedStepError


class Reader(Actor):
    """Loads what any environment wrote.

    A step names the blob and, under `against`, what its value is compared with: this environment's
    own description where it could build the payload, else those of the writers.
    """

    def run(self, runner: Runner) -> None:
        """Do every step and emit what became of it."""
        for step, result in runner.run(self.session.job["steps"]):
            self.session.emit(dict(result, event="read", step=step["step"]))
            if step["mine"]:
                self.learn(result)
            self.suspect(runner, result)

    def do_read(self, step: Step) -> Result:
        """Load one blob twice, look at both values, and dump the first one again."""
        payload = self.session.payloads.get(step["payload"])
        serializer = self.session.serializers[step["serializer"]]
        value = self._load(serializer, step)
        probing = step["probing"]
        seen = self.attempt("use", "unreadable", lambda: self.look(payload, value, probing))
        encoded = describe.encode(seen)
        differences = {
            name: self._differences(step, name, seen, encoded) for name in step["against"]
        }
        result = {
            "outcome": "loaded",
            "differences": differences,
            "again": self._second_load(serializer, payload, step, seen, encoded),
        }
        if not any(differences.values()) and payload is not None:
            self._dump_again(serializer, payload, value)
        return result

    def _load(self, serializer: Serializer, step: Step) -> object:
        data = self.fetch("blobs", step["blob"])
        return self.attempt("load", "unreadable", lambda: serializer.loads(data, step["text"]))

    def _differences(
        self, step: Step, name: str, seen: Table, encoded: bytes
    ) -> typing.List[typing.Dict[str, str]]:
        if describe.digest(encoded) == name:
            return []
        expected = json.loads(self.fetch("descriptions", name).decode("ascii"))
        return compare(expected, seen, across=not step["own"])

    def _second_load(
        self,
        serializer: Serializer,
        payload: typing.Optional[Payload],
        step: Step,
        seen: Table,
        encoded: bytes,
    ) -> typing.Any:
        """Return how a second load differs from the first, which it should not."""
        value = self._load(serializer, step)
        again = self.attempt(
            "use", "unreadable", lambda: self.look(payload, value, step["probing"])
        )
        return [] if describe.encode(again) == encoded else compare(seen, again)

    def _dump_again(self, serializer: Serializer, payload: Payload, value: object) -> None:
        """Fail where what was loaded cannot be written, though a value just built can."""
        try:
            self.attempt("use", "unreadable", lambda: serializer.dumps(value))
        except FailedStepError as failed:
            try:
                serializer.dumps(payload.build())
            except Exception:
                return
            error = failed.result["error"]
            error["message"] = "it loads, but cannot be dumped again: " + error["message"]
            raise
