"""However a service or one of its clients ends, nothing of it stays."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memory_matrix.servers.client import ServerError, ServerInfo, Servers
from memory_matrix.servers.service import serve
from support.processes import processes_of

pytestmark = [pytest.mark.integration, pytest.mark.concurrency]

Wait = Callable[[Callable[[], bool]], None]
Tracer = Callable[[ServerInfo], Any]

OWN = """
import signal, sys
from pathlib import Path
from memory_matrix.servers.service import serve

def stop(*_):
    raise SystemExit(15)

signal.signal(signal.SIGTERM, stop)
with serve(Path(sys.argv[1]), Path(sys.argv[2])) as address:
    print(address, flush=True)
    sys.stdin.read()
"""

BORROW = """
import dataclasses, json, os, signal, sys
from memory_matrix.servers.client import Servers

servers = Servers.at(sys.argv[1])
found = [servers.shared("redis")]
for kind in sys.argv[3].split():
    found.append(servers.private(kind).info)
if sys.argv[2] == "fork" and os.fork() == 0:
    os.close(1)
    signal.pause()
print(json.dumps([dataclasses.asdict(each) for each in found]), flush=True)
sys.stdin.read()
"""


@contextmanager
def another_process(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        yield process


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "it ended too early"
    return line.strip()


def borrowed(process: subprocess.Popen[str]) -> list[ServerInfo]:
    return [ServerInfo(**each) for each in json.loads(said(process))]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=str)
def test_a_signal_to_the_service_leaves_nothing(
    number: signal.Signals, tmp_path: Path, cache: Path, trace: Tracer, eventually: Wait
) -> None:
    with another_process(OWN, tmp_path, cache) as process:
        address = said(process)
        servers = Servers.at(address)
        infos = [servers.shared("redis"), servers.shared("postgres")]
        private = [servers.private("redis"), servers.private("postgres")]
        traces = [trace(info) for info in (*infos, *(each.info for each in private))]
        group = servers.private("redis", topology="sentinel")
        for each in (*private, group):
            each.pause()
        process.send_signal(number)
        process.wait(60)
    eventually(lambda: all(each.is_gone() for each in traces))
    eventually(lambda: not processes_of(tmp_path))
    eventually(lambda: not Path(address.partition(":")[2]).parent.exists())
    eventually(lambda: not list(tmp_path.iterdir()))
    with pytest.raises(ServerError, match="has ended"):
        private[0].start()
    servers.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
@pytest.mark.parametrize("paused", [False, True], ids=["running", "paused"])
def test_a_kill_of_the_service_and_all_its_children_leaves_no_server(
    paused: bool, public_folder: Path, cache: Path, trace: Tracer, eventually: Wait
) -> None:
    with another_process(OWN, public_folder, cache) as process:
        servers = Servers.at(said(process))
        private = [servers.private("redis"), servers.private("postgres")]
        traces = [trace(each.info) for each in private]
        pids = [pid for each in traces for pid in (each.pid, *_children(each.pid))]
        assert len(pids) > 2
        if paused:
            for each in private:
                each.pause()
        for pid in (process.pid, *_children(process.pid)):
            os.kill(pid, signal.SIGKILL)
        process.wait(60)
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    assert not processes_of(public_folder)


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task")
    found = [(each / "children").read_text().split() for each in tasks.iterdir()]
    return [int(child) for children in found for child in children]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=str)
@pytest.mark.parametrize("fork", ["alone", "fork"])
def test_a_client_that_is_killed_has_its_private_servers_removed(
    number: signal.Signals, fork: str, tmp_path: Path, cache: Path, trace: Tracer, eventually: Wait
) -> None:
    if fork == "fork" and sys.platform != "linux":
        pytest.skip("only Linux tells of the end of a process")
    with (
        serve(tmp_path, cache) as address,
        another_process(BORROW, address, fork, "redis postgres") as process,
    ):
        shared, *private = borrowed(process)
        traces = [trace(info) for info in private]
        try:
            process.send_signal(number)
            process.wait(60)
            eventually(lambda: all(each.is_gone() for each in traces))
            # What is shared stays, for others.
            assert Servers.at(address).shared("redis") == shared
        finally:
            if fork == "fork":
                os.killpg(process.pid, signal.SIGKILL)


def test_a_client_that_ends_by_itself_leaves_no_private_server(
    tmp_path: Path, cache: Path, trace: Tracer, eventually: Wait
) -> None:
    with (
        serve(tmp_path, cache) as address,
        another_process(BORROW, address, "alone", "redis") as process,
    ):
        _, private = borrowed(process)
        left = trace(private)
        process.communicate()
        assert process.returncode == 0
        eventually(left.is_gone)


def test_a_client_that_is_killed_while_its_server_starts_leaves_nothing(
    tmp_path: Path, eventually: Wait
) -> None:
    pid_file = tmp_path / "pid"
    path = tmp_path / "redis-server"
    path.write_text(f"#!/bin/sh\necho $$ > {pid_file}\nexec sleep 600\n")
    path.chmod(0o755)
    code = "import sys; from memory_matrix.servers.client import Servers; Servers.at(sys.argv[1])"
    code += f".private('redis', 'bin:{path}')"
    with (
        serve(tmp_path / "run", tmp_path) as address,
        another_process(code, address) as process,
    ):
        eventually(lambda: pid_file.exists() and pid_file.read_text().endswith("\n"))
        process.kill()
        process.wait(60)
        eventually(lambda: not processes_of(path))
        socket_folder = Path(address.partition(":")[2]).parent
        eventually(lambda: set((tmp_path / "run").iterdir()) <= {socket_folder})


def test_what_one_client_does_to_its_server_does_not_hinder_another(
    tmp_path: Path, cache: Path
) -> None:
    with (
        serve(tmp_path, cache) as address,
        another_process(BORROW, address, "alone", "redis") as process,
    ):
        shared, theirs = borrowed(process)
        with Servers.at(address) as servers, servers.private("redis") as ours:
            ours.pause()
            assert servers.shared("redis") == shared
            assert dataclasses.replace(theirs, url=ours.url) == ours.info
            process.kill()
            ours.resume()
