"""Asking for a Docker engine that is not there, or is none."""

from __future__ import annotations

import gc
import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from memory_matrix.errors import NO_ENGINE, UnavailableError
from memory_matrix.servers.engine import ask_engine

pytestmark = pytest.mark.large  # imports the Docker client


def _nowhere(folder: Path) -> Iterator[str]:
    yield f"unix://{folder}/nowhere.sock"


def _plain_file(folder: Path) -> Iterator[str]:
    (folder / "file").touch()
    yield f"unix://{folder}/file"


def _left_by_an_engine(folder: Path) -> Iterator[str]:
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(f"{folder}/e.sock")
    yield f"unix://{folder}/e.sock"


def _silent(folder: Path) -> Iterator[str]:
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(f"{folder}/e.sock")
        listener.listen()
        yield f"unix://{folder}/e.sock"


def _refusing(_: Path) -> Iterator[str]:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
    yield f"tcp://127.0.0.1:{port}"


def _of_another_kind(_: Path) -> Iterator[str]:
    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(10_000)
            connection.sendall(b"220 mail.example ESMTP\r\n")

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        Thread(target=answer, daemon=True).start()
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize(
    "engine",
    [_nowhere, _plain_file, _left_by_an_engine, _silent, _refusing, _of_another_kind],
    ids=lambda each: each.__name__.strip("_"),
)
def test_where_no_engine_answers_nothing_is_left_open(
    engine: Callable[[Path], Iterator[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with closing(engine(tmp_path)) as addresses:
            monkeypatch.setenv("DOCKER_HOST", next(addresses))

            with pytest.raises(UnavailableError, match=NO_ENGINE) as raised:
                ask_engine([], timeout=0.3)

            del raised
        gc.collect()

    assert [str(each.message) for each in said] == []
