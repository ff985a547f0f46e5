"""One worker: imports once, then does its steps in forked children and tells what became of each.

Results go to what standard output was at the start, a line of JSON each. Standard input says that the
orchestrator is alive: when it ends, so does the worker.
"""

import fnmatch
import json
import os
import signal
import sys
import typing
import warnings

from memory_matrix.worker import life, modules
from memory_matrix.worker.cells import Limits, OrphanedError, Runner, adopt_orphans, end_children
from memory_matrix.worker.errors import Scrubber, import_place
from memory_matrix.worker.reading import Reader
from memory_matrix.worker.writing import Writer

Job = typing.Dict[str, typing.Any]
Event = typing.Dict[str, typing.Any]


class Session:
    """What the steps of a worker share."""

    def __init__(self, job: Job, emit: typing.Callable[[Event], None]) -> None:
        self.job = job
        self.emit = emit
        self.scrubber = Scrubber(job["scrub"])
        self.payloads: typing.Dict[str, modules.Payload] = {}
        self.serializers: typing.Dict[str, modules.Serializer] = {}

    def prepare(self) -> None:
        """Import the payloads and the serializers, and tell what this environment lacks."""
        modules.add_folders(self.job["path"])
        modules.preload(self.job["preload"] or ())
        for source in self.job["payloads"]:
            self._import_payloads(source)
        for label, target in self.job["serializers"].items():
            self._import_serializer(label, target)
        patterns, only = self.job["select"], self.job.get("only")
        self.payloads = {
            name: payload
            for name, payload in self.payloads.items()
            if _selected(name, patterns) and (only is None or name in only)
        }

    def _import_payloads(self, source: str) -> None:
        try:
            found = modules.find_payloads(source)
        except BaseException as error:
            self._lacks("source", source, error)
            return
        for name in sorted(set(found) & set(self.payloads)):
            self.emit({"event": "twice", "payload": name, "source": source})
        self.payloads.update(found)
        unused = modules.unused_probes(source, found)
        self.emit({"event": "source", "source": source, "payloads": list(found), "unused": unused})

    def _import_serializer(self, label: str, target: str) -> None:
        try:
            self.serializers[label] = modules.load_serializer(target)
        except BaseException as error:
            self._lacks("serializer", label, error)
        else:
            self.emit({"event": "serializer", "serializer": label})

    def _lacks(self, event: str, name: str, error: BaseException) -> None:
        if isinstance(error, KeyboardInterrupt):
            raise error
        described = self.scrubber.error("build", error)
        described.update(import_place(error))
        self.emit({"event": event, event: name, "error": described})


def main(arguments: typing.Sequence[str]) -> int:
    """Do the job in the file that `arguments` name; return the exit status."""
    mode, path = arguments
    with open(path, encoding="utf-8") as file:
        job = json.load(file)
    alive, results = _take_over_streams()
    signal.signal(signal.SIGTERM, _stop)
    warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)

    def emit(event: Event) -> None:
        data = json.dumps(event).encode("ascii") + b"\n"
        while data:
            data = data[os.write(results, data) :]

    session = Session(job, emit)
    limits = Limits(job["timeout"], job["memory"])
    adopt_orphans()
    life.end_with(alive)
    try:
        session.prepare()
        life.end_in_order()
        actor: typing.Any = Writer(session) if mode == "write" else Reader(session)
        actor.run(Runner(actor.work, limits, alive, (alive, results)))
    except OrphanedError:
        return 1
    finally:
        end_children()
    emit({"event": "done"})
    return 0


def _selected(name: str, patterns: typing.Sequence[str]) -> bool:
    return not patterns or any(
        name == pattern or fnmatch.fnmatchcase(name, pattern) for pattern in patterns
    )


def _take_over_streams() -> typing.Tuple[int, int]:
    """Keep what standard input and output were, for the orchestrator alone.

    Modules that read get nothing, and what they print goes to standard error.
    """
    alive, results = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return alive, results


def _stop(number: int, _: object) -> None:
    raise SystemExit(128 + number)
