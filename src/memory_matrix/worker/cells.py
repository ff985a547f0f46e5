"""Run steps in forked children, so that whatever one does costs that step alone.

A child works through steps and sends one line of JSON for each. Where it dies, hangs or runs out of
memory, the step it was at is tried once more in a child of its own, so that only the culprit is
blamed, and the rest goes on in a new child.
"""

import binascii
import errno
import gc
import importlib
import json
import os
import select
import signal
import sys
import time
import typing

from memory_matrix.worker import life

try:
    resource: typing.Any = importlib.import_module("resource")
except ImportError:  # not on every platform
    resource = None

Step = typing.Dict[str, typing.Any]
Result = typing.Dict[str, typing.Any]
Work = typing.Callable[[Step], Result]


TICK = 0.05
"""Seconds between looks at whether a child that sends nothing is still alive."""

SIGN_OF_LIFE = 0.5
"""Seconds between signs of life of a child that imports modules."""

LONGEST_RESULT = 8 << 20
"""Bytes of one result; what is longer is no result."""

MOST_GENERATIONS = 100
"""Generations of processes that a cell may leave behind."""

PR_SET_CHILD_SUBREAPER = 36
"""From Linux's prctl.h."""

KEPT_OUTPUT = 2000
"""Bytes of what a cell prints that are kept, from the end."""


class OrphanedError(Exception):
    """The orchestrator is gone: nobody will read another result."""


class Limits:
    """What one cell may take."""

    def __init__(self, timeout: float, memory: int) -> None:
        self.timeout = timeout
        """Seconds."""
        self.memory = memory
        """MiB on top of what the worker itself holds."""


class Runner:
    """Forks children for steps; `orphaned_by` is a descriptor that ends when the orchestrator does."""

    def __init__(
        self, work: Work, limits: Limits, orphaned_by: int, private: typing.Sequence[int]
    ) -> None:
        self._work = work
        self._limits = limits
        self._orphaned_by = orphaned_by
        self._private = tuple(private)

    def run(
        self,
        steps: typing.Sequence[Step],
        batch: int = 1,
        doubts: typing.Callable[[Step, Result], bool] = lambda *_: False,
    ) -> typing.Iterator[typing.Tuple[Step, Result]]:
        """Yield (step, result) for each of `steps`, up to `batch` of them in one child.

        What a step did may touch those after it in the same child: a step whose result `doubts` holds
        for is done again in a child of its own.
        """
        done = 0
        while done < len(steps):
            chunk = steps[done : done + batch]
            again = []
            for step, result in self._run_chunk(chunk):
                done += 1
                if len(chunk) > 1 and doubts(step, result):
                    again.append(step)
                else:
                    yield step, result
            for step in again:
                for pair in self._run_chunk([step]):
                    yield pair

    def _run_chunk(
        self, chunk: typing.Sequence[Step]
    ) -> typing.Iterator[typing.Tuple[Step, Result]]:
        older = _children()
        child = Child(self._work, chunk, self._limits, self._private)
        index = 0
        try:
            for result in child.results(self._orphaned_by):
                yield chunk[index], result
                index += 1
        finally:
            child.kill()
            end_children(older)
        if index == len(chunk):
            return
        if index > 0:
            # What came before in the same child may be to blame: this step again, alone.
            for pair in self._run_chunk(chunk[index : index + 1]):
                yield pair
        else:
            yield chunk[0], child.crash()


class Child:
    """One forked process at work on `steps`."""

    def __init__(
        self,
        work: Work,
        steps: typing.Sequence[Step],
        limits: Limits,
        private: typing.Sequence[int],
    ) -> None:
        self._limits = limits
        self._missing = len(steps)
        self._lines = b""
        self._printed = b""
        self._status: typing.Optional[int] = None
        self._deadline = 0.0
        self._ended = False
        self._timed_out = False
        self._garbled = False
        self._mark = b"%s " % binascii.hexlify(os.urandom(8))
        results, results_in = os.pipe()
        output, output_in = os.pipe()
        end, self._life = os.pipe()
        if hasattr(gc, "freeze"):
            gc.freeze()  # a collection in the child then leaves the pages that we share alone
        self.pid = os.fork()
        if self.pid == 0:
            not_ours = (results, output, self._life) + tuple(private)
            sender = _Sender(results_in, self._mark)
            _be_child(work, steps, limits, sender, output_in, end, not_ours)
        os.close(results_in)
        os.close(output_in)
        os.close(end)
        self._results = results
        self._output = output
        try:
            os.setpgid(self.pid, self.pid)  # the child does so too: whoever comes first
        except OSError:
            pass

    def results(self, orphaned_by: int) -> typing.Iterator[Result]:
        """Yield each result as it comes; ends early where the child dies, hangs or sends nonsense.

        Raises:
            OrphanedError: `orphaned_by` has ended.
        """
        poll = select.poll()
        for descriptor in (self._results, self._output, orphaned_by):
            poll.register(descriptor, select.POLLIN | select.POLLHUP)
        self._deadline = time.monotonic() + self._limits.timeout
        while self._missing and not self._ended:
            died = self._has_died()  # asked first: what it has sent is then there to be read
            events = dict(poll.poll(0 if died else TICK * 1000))
            if orphaned_by in events and not os.read(orphaned_by, 4096):
                raise OrphanedError
            if self._output in events and not self._drain_output():
                poll.unregister(self._output)
            if self._results in events:
                more = os.read(self._results, 1 << 16)
                for result in self._arrived(more):
                    yield result
                if not more:
                    poll.unregister(self._results)
            elif died:
                return  # a grandchild may hold the pipe open
            if time.monotonic() > self._deadline and not self._ended:
                self._timed_out = self._ended = True

    def kill(self) -> None:
        """End the child and what it started, and close its pipes. May be called twice."""
        if self._results < 0:
            return
        for end in (os.killpg, os.kill):  # it may have left its group
            try:
                if end is os.killpg or self._status is None:
                    end(self.pid, signal.SIGKILL)
            except OSError:
                pass
        if self._status is None:
            self._status = os.waitpid(self.pid, 0)[1]
        for descriptor in (self._results, self._output, self._life):
            os.close(descriptor)
        self._results = self._output = self._life = -1

    def crash(self) -> Result:
        """Return the result of a step that sent none. After `kill`."""
        if self._timed_out:
            kind, text = "Timeout", "no answer within %g s" % self._limits.timeout
        elif self._garbled:
            kind, text = "Garbled", "it wrote into a pipe that is not its own"
        elif self._status is not None and os.WIFSIGNALED(self._status):
            number = os.WTERMSIG(self._status)
            kind, text = _signal_name(number), "the process was killed by signal %d" % number
        else:
            code = os.WEXITSTATUS(self._status or 0)
            kind, text = "Exit", "the process ended with status %d and no result" % code
        printed = self._printed.decode("utf-8", "replace").strip()
        if printed:
            text += "; it last printed: " + printed[-300:]
        return {"outcome": "crashed", "error": {"type": kind, "message": text}, "imported": []}

    def _arrived(self, more: bytes) -> typing.Iterator[Result]:
        """Yield the results that have come whole; each, and each sign of life, moves the deadline."""
        lines = (self._lines + more).split(b"\n")
        self._lines = lines.pop()
        for line in lines:
            if not line.startswith(self._mark):
                self._garbled = self._ended = True
                return
            if len(line) > len(self._mark):
                self._missing -= 1
                yield json.loads(line[len(self._mark) :].decode("ascii"))
            self._deadline = time.monotonic() + self._limits.timeout
        if len(self._lines) > LONGEST_RESULT:
            self._garbled = self._ended = True

    def _drain_output(self) -> bool:
        more = os.read(self._output, 1 << 16)
        self._printed = (self._printed + more)[-KEPT_OUTPUT:]
        return bool(more)

    def _has_died(self) -> bool:
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = status
        return self._status is not None


class _Sender:
    """Sends lines with a mark that nothing else knows, and only from the process that made it."""

    def __init__(self, descriptor: int, mark: bytes) -> None:
        self._descriptor = descriptor
        self._mark = mark
        self._process = 0

    def begin(self) -> None:
        """Send from this process alone, whatever a step forks."""
        self._process = os.getpid()

    def send(self, result: Result) -> None:
        self._write(json.dumps(result).encode("ascii"))

    def show_life(self) -> None:
        self._write(b"")

    def _write(self, line: bytes) -> None:
        data = self._mark + line + b"\n"
        while data and self._process == os.getpid():
            try:
                data = data[os.write(self._descriptor, data) :]
            except OSError as error:
                if error.errno != errno.EINTR:
                    raise


def _be_child(
    work: Work,
    steps: typing.Sequence[Step],
    limits: Limits,
    results: _Sender,
    output: int,
    end: int,
    not_ours: typing.Sequence[int],
) -> typing.NoReturn:
    """Work through `steps` and leave without a trace of the parent's exit handlers.

    It is killed when the pipe `end` is closed: when its parent is gone.
    """
    status = 0
    try:
        results.begin()
        os.setpgid(0, 0)
        for descriptor in not_ours:
            os.close(descriptor)
        life.end_with(end)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        _limit_memory(limits.memory)
        _show_life(results)
        for step in steps:
            results.send(work(step))
    except BaseException:
        status = 70
    finally:
        os._exit(status)


def _show_life(results: _Sender) -> None:
    """Give a sign of life while modules are imported: their time is not the cell's.

    Importing a large package for the first time may take longer than any cell should.
    """
    if not hasattr(sys, "addaudithook"):  # Python 3.7 and older
        return
    last = [time.monotonic()]

    def hook(event: str, _: typing.Any) -> None:
        if event == "import" and time.monotonic() - last[0] > SIGN_OF_LIFE:
            last[0] = time.monotonic()
            results.show_life()

    sys.addaudithook(hook)


def _limit_memory(mebibytes: int) -> None:
    if resource is None:
        return
    try:
        with open("/proc/self/statm") as statm:
            held = int(statm.read().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = held + (mebibytes << 20)
        if hard != resource.RLIM_INFINITY:
            wanted = min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    except (OSError, ValueError):
        pass  # not Linux: the time limit still holds


def adopt_orphans() -> None:
    """Let this process be the parent of what its children leave behind, so that it can be ended.

    On Linux only; elsewhere a child's group is ended, but not what has left it.
    """
    try:
        ctypes: typing.Any = importlib.import_module("ctypes")
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def _children() -> typing.FrozenSet[int]:
    """Return the ids of this process's children, where the system tells."""
    try:
        with open("/proc/self/task/%d/children" % os.getpid()) as file:
            return frozenset(map(int, file.read().split()))
    except OSError:
        return frozenset()


def end_children(spared: typing.FrozenSet[int] = frozenset()) -> None:
    """End all children but those `spared`; what these leave becomes ours, and is ended too."""
    for _ in range(MOST_GENERATIONS):
        left = _children() - spared
        if not left:
            return
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        for pid in left:
            os.waitpid(pid, 0)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "signal %d" % number


if sys.version_info < (3, 6):
    raise SystemExit("memory-matrix needs Python 3.6 or newer in an environment")
