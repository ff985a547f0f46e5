"""Write: build each payload, describe it, and dump it with each serializer."""

from memory_matrix.worker import describe
from memory_matrix.worker.cells import Result, Runner, Step
from memory_matrix.worker.compare import compare
from memory_matrix.worker.errors import location
from memory_matrix.worker.modules import Payload
from memory_matrix.worker.steps import Actor, FailedStepError


class Writer(Actor):
    """Tells what this environment means by each payload, and the bytes that it writes for it."""

    def run(self, runner: Runner) -> None:
        """Do every step and emit what became of it."""
        for payload in self.session.payloads.values():
            if self._expect(runner, payload):
                self._write(runner, payload)

    def _expect(self, runner: Runner, payload: Payload) -> bool:
        for _, result in runner.run([{"do": "expect", "payload": payload.name}]):
            self.session.emit(
                dict(
                    result,
                    event="payload",
                    payload=payload.name,
                    location=location(payload.build),
                )
            )
            self.learn(result)
            self.suspect(runner, result)
            return bool(result["outcome"] == "built")
        return False

    def _write(self, runner: Runner, payload: Payload) -> None:
        steps = [
            {"do": "write", "payload": payload.name, "serializer": label}
            for label in self.session.serializers
        ]
        for step, result in runner.run(steps, batch=len(steps)):
            self.session.emit(
                dict(result, event="written", payload=payload.name, serializer=step["serializer"])
            )
            self.learn(result)
            self.suspect(runner, result)

    def do_expect(self, step: Step) -> Result:
        """Build a payload twice and describe it; an unequal second one makes it unstable."""
        payload = self.session.payloads[step["payload"]]
        table = describe.describe(self._build(payload))
        again = describe.describe(self._build(payload))
        result: Result = {
            "outcome": "built",
            "expected": self.keep("descriptions", describe.encode(table)),
            "probe": None,
            "differs": compare(table, again),
        }
        if payload.probe is not None:
            try:
                self._probe(payload, result)
            except FailedStepError as failed:
                result["error"] = failed.result["error"]
        return result

    def _probe(self, payload: Payload, result: Result) -> None:
        """Add what the probe sees. What it raises on a value just built makes it unusable here."""
        seen = [
            self.attempt("use", "failed", lambda: self.look(payload, payload.build(), True))
            for _ in range(2)
        ]
        result["probe"] = self.keep("descriptions", describe.encode(seen[0]))
        result["differs"] = compare(seen[0], seen[1])

    def _build(self, payload: Payload) -> object:
        return self.attempt("build", "failed", payload.build)

    def do_write(self, step: Step) -> Result:
        """Dump a payload that was built for this serializer alone."""
        payload = self.session.payloads[step["payload"]]
        serializer = self.session.serializers[step["serializer"]]
        value = self.attempt("build", "unwritable", payload.build)
        data, text = self.attempt("dump", "unwritable", lambda: serializer.dumps(value))
        return {"outcome": "written", "blob": self.keep("blobs", data), "text": text}
