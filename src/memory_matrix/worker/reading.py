"""Read: load each blob, look at what came, and say how it differs from what was expected."""

import itertools
import json
import re
import typing

from memory_matrix.worker import describe
from memory_matrix.worker.cells import Result, Runner, Step
from memory_matrix.worker.compare import NOTHING_THERE, compare
from memory_matrix.worker.describe import Table
from memory_matrix.worker.modules import Payload, Serializer
from memory_matrix.worker.steps import BATCH, Actor, FailedStepError, ran_out

_IN_PRIVATE = re.compile(r"\._[^.\[]*[.\[]")
"""The path of something that a private attribute holds."""


class Reader(Actor):
    """Loads what any environment wrote.

    A step names the blob and, under `against`, what its value is compared with: this environment's
    own description where it could build the payload, else those of the writers.
    """

    def run(self, runner: Runner) -> None:
        """Do every step and emit what became of it; steps of one child share a serializer."""
        steps = sorted(self.session.job["steps"], key=_serializer)
        for _, group in itertools.groupby(steps, key=_serializer):
            for step, result in runner.run(list(group), BATCH, _is_doubtful):
                self.session.emit(dict(result, event="read", step=step["step"]))
                if step["mine"]:
                    self.learn(result)
                self.suspect(runner, result)

    def do_read(self, step: Step) -> Result:
        """Load one blob twice, look at both values, and dump the first one again."""
        payload = self.session.payloads.get(step["payload"])
        serializer = self.session.serializers[step["serializer"]]
        value = self._load(serializer, step)
        if step["plain"] and describe.plain_digest(value) == step["plain"]:
            result: Result = {"differences": {}, "again": self._load_again(serializer, step)}
        else:
            result = self._looked_at(serializer, payload, step, value)
        if not any(result["differences"].values()) and payload is not None:
            self._dump_again(serializer, payload, value)
        return dict(result, outcome="loaded")

    def _looked_at(
        self,
        serializer: Serializer,
        payload: typing.Optional[Payload],
        step: Step,
        value: object,
    ) -> Result:
        """Say how `value` differs from what was expected, and from a second load of the bytes."""
        seen = self._look(payload, step, value)
        encoded = describe.encode(seen)
        again = self._look(payload, step, self._load(serializer, step))
        found = {name: self._differences(step, name, seen, encoded) for name in step["against"]}
        if step["own"] and not step["probing"] and self._is_only_recorded(found, payload, value):
            found = {}
        return {
            "differences": found,
            "again": [] if describe.encode(again) == encoded else compare(seen, again),
        }

    def _load_again(self, serializer: Serializer, step: Step) -> typing.Any:
        """Return how a second load differs from a first one that was as expected."""
        value = self._load(serializer, step)
        if describe.plain_digest(value) == step["plain"]:
            return []
        return compare(self._expected(step["against"][0]), describe.describe(value))

    def _look(self, payload: typing.Optional[Payload], step: Step, value: object) -> Table:
        table: Table = self.attempt(
            "use", "unreadable", lambda: self.look(payload, value, step["probing"])
        )
        return table

    def _load(self, serializer: Serializer, step: Step) -> object:
        data = self.fetch("blobs", step["blob"])
        return self.attempt("load", "unreadable", lambda: serializer.loads(data, step["text"]))

    def _differences(
        self, step: Step, name: str, seen: Table, encoded: bytes
    ) -> typing.List[typing.Dict[str, str]]:
        if describe.digest(encoded) == name:
            return []
        return compare(self._expected(name), seen, across=not step["own"])

    def _is_only_recorded(
        self,
        found: typing.Mapping[str, typing.Sequence[typing.Dict[str, str]]],
        payload: typing.Optional[Payload],
        value: object,
    ) -> bool:
        """Say whether all that differs is what a library has noted down besides, and thinks nothing of.

        Such as the arguments that an object was made with: private, more, and no matter to `==`.
        """
        every = [each for differences in found.values() for each in differences]
        noted = (
            each["expected"] == NOTHING_THERE and _IN_PRIVATE.search(each["path"]) for each in every
        )
        if not every or payload is None or not all(noted):
            return False
        try:
            return bool(value == payload.build())
        except Exception:
            return False

    def _expected(self, name: str) -> Table:
        table: Table = json.loads(self.fetch("descriptions", name).decode("ascii"))
        return table

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


def _serializer(step: Step) -> str:
    return str(step["serializer"])


def _is_doubtful(step: Step, result: Result) -> bool:
    """Say whether a result could make a break: breaks are confirmed in a process of their own."""
    if result["outcome"] == "loaded":
        clean = not any(result["differences"].values()) and not result["again"]
        return not clean and not step["mine"]
    return ran_out(result) or (result["outcome"] != "crashed" and not step["mine"])
