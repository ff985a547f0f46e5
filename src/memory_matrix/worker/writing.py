"""Write: build each payload, describe it, and dump it with each serializer."""

import typing

from memory_matrix.worker import describe
from memory_matrix.worker.cells import Result, Runner, Step
from memory_matrix.worker.compare import compare
from memory_matrix.worker.errors import defined, location
from memory_matrix.worker.modules import Payload
from memory_matrix.worker.steps import BATCH, Actor, FailedStepError, ran_out


class Writer(Actor):
    """Tells what this environment means by each payload, and the bytes that it writes for it."""

    def run(self, runner: Runner) -> None:
        """Do every step and emit what became of it."""
        built = list(self._expect(runner))
        for label in self.session.serializers:
            self._write(runner, label, built)

    def _expect(self, runner: Runner) -> typing.Iterator[str]:
        """Yield the names of the payloads that can be built here."""
        steps = [{"do": "expect", "payload": name} for name in self.session.payloads]
        for step, result in runner.run(steps, BATCH, lambda _, result: not _is_plain(result)):
            name = step["payload"]
            build = self.session.payloads[name].build
            where = dict(defined(build), location=location(build))
            self.session.emit(dict(result, event="payload", payload=name, **where))
            self.learn(result)
            self.suspect(runner, result)
            if result["outcome"] == "built":
                yield name

    def _write(self, runner: Runner, label: str, payloads: typing.Sequence[str]) -> None:
        steps = [{"do": "write", "payload": name, "serializer": label} for name in payloads]
        for step, result in runner.run(steps, BATCH, lambda _, result: ran_out(result)):
            self.session.emit(
                dict(result, event="written", payload=step["payload"], serializer=label)
            )
            self.learn(result)
            self.suspect(runner, result)

    def do_expect(self, step: Step) -> Result:
        """Build a payload twice and describe it; an unequal second one makes it unstable."""
        payload = self.session.payloads[step["payload"]]
        value = self._build(payload)
        table = self._describe(value)
        plain = describe.plain_digest(value) if describe.is_plain(table) else None
        again = self._build(payload)
        same = plain is not None and describe.plain_digest(again) == plain
        result: Result = {
            "outcome": "built",
            "expected": self.keep("descriptions", describe.encode(table)),
            "plain": plain,
            "probe": None,
            "differs": [] if same else compare(table, self._describe(again)),
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

    def _describe(self, value: object) -> describe.Table:
        table: describe.Table = self.attempt("build", "failed", lambda: describe.describe(value))
        return table

    def do_write(self, step: Step) -> Result:
        """Dump a payload that was built for this serializer alone."""
        payload = self.session.payloads[step["payload"]]
        serializer = self.session.serializers[step["serializer"]]
        value = self.attempt("build", "unwritable", payload.build)
        data, text = self.attempt("dump", "unwritable", lambda: serializer.dumps(value))
        return {"outcome": "written", "blob": self.keep("blobs", data), "text": text}


def _is_plain(result: Result) -> bool:
    """Say whether a payload was built, or needs what is not there: nothing to look at twice."""
    return result["outcome"] in ("built", "lacking") and not result.get("differs")
