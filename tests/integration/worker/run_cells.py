"""Runs steps in cells and prints as JSON what became of each, for the tests of cells.

A process of its own: forking a test run that has threads is asking for trouble.
"""

import contextlib
import ctypes
import json
import os
import signal
import sys
import time
from pathlib import Path

from memory_matrix.worker import cells
from memory_matrix.worker.cells import Limits, Runner, adopt_orphans


def fine(step):
    return {"value": step.get("value")}


def segfault(step):
    ctypes.string_at(0)


def leave(step):
    os._exit(step.get("status", 0))


def system_exit(step):
    raise SystemExit(3)


def interrupt(step):
    raise KeyboardInterrupt


def hang(step):
    while True:
        time.sleep(60)


def hang_in_c(step):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    time.sleep(600)


def stop(step):
    os.kill(os.getpid(), signal.SIGSTOP)


def allocate(step):
    try:
        bytearray(10**11)
    except MemoryError:
        return {"refused": True}
    return {"refused": False}


def allocate_gradually(step):
    held = []
    try:
        while len(held) < 4096:
            held.append(bytearray(1 << 20))
    except MemoryError:
        return {"held": len(held)}
    return {"held": len(held)}


def print_much(step):
    block = b"x" * 1_000_000
    for _ in range(100):
        os.write(1, block)
    return {"printed": True}


def print_and_die(step):
    print("last words", file=sys.stderr, flush=True)
    os._exit(9)


def close_everything(step):
    os.closerange(0, 200)
    return {"closed": True}


def close_everything_and_hang(step):
    os.closerange(0, 200)
    time.sleep(600)


def write_everywhere(step):
    for descriptor in range(200):
        with contextlib.suppress(OSError):
            os.write(descriptor, step["garbage"].encode())
    return {"written": True}


def read_everything(step):
    return {"read": len(sys.stdin.buffer.read())}


def grandchild(step):
    """Leave a process that holds the pipes, and say which."""
    pid = os.fork()
    if pid == 0:
        if step.get("own_session"):
            os.setsid()
        if step.get("chatty"):
            while True:
                os.write(1, b"x" * 1000)
        time.sleep(600)
    if step.get("die"):
        Path(step["note"]).write_text(str(pid))
        os._exit(1)
    return {"pid": pid}


def generations(step):
    """Leave a chain of processes, each in a session of its own, and say which."""
    first = os.getpid()
    reading, writing = os.pipe()
    for _ in range(5):
        if os.fork():
            break
        os.setsid()
        os.write(writing, b"%d\n" % os.getpid())
    if os.getpid() != first:
        time.sleep(600)
    pids = b""
    while pids.count(b"\n") < 5:
        pids += os.read(reading, 100)
    return {"pids": [int(pid) for pid in pids.split()]}


def fork_and_return(step):
    """Go on in two processes, as a careless use of fork does."""
    os.fork()
    return {"value": step["value"]}


def leave_group(step):
    os.setpgid(0, os.getpgid(os.getppid()))
    if step.get("hang"):
        time.sleep(600)
    return {"left": True}


def kill_group(step):
    os.killpg(0, signal.SIGKILL)


def recurse(step):
    try:
        return recurse(step)
    except RecursionError:
        return {"caught": True}


def recurse_without_end(step):
    sys.setrecursionlimit(10**9)
    ctypes.CDLL(None)
    deep = []
    for _ in range(10**6):
        deep = [deep]
    return {"text": len(repr(deep))}


def ignore_signals(step):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(600)


def long_result(step):
    return {"text": "x" * step["length"]}


def no_result(step):
    return {"value": object()}


def spoil(step):
    """Fail, but only where `poison` ran before in the same process."""
    if getattr(sys, "poisoned", False):
        os._exit(5)
    return {"value": "fine alone"}


def poison(step):
    sys.poisoned = True
    return {"value": None}


def chdir(step):
    os.chdir("/")
    os.environ["SPOILED"] = "1"
    return {"value": None}


def surroundings(step):
    return {"cwd": str(Path.cwd()), "spoiled": os.environ.get("SPOILED")}


def work(step):
    return globals()[step["do"]](step)


def main(job):
    adopt_orphans()
    reading, writing = os.pipe()
    runner = Runner(work, Limits(job["timeout"], job["memory"]), reading, ())
    results = [[step["do"], result] for step, result in runner.run(job["steps"], job["batch"])]
    print(json.dumps({"results": results, "left": sorted(cells._children())}))
    os.close(writing)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
