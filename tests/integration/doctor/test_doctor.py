"""`memory-matrix doctor` by the real command line."""

from __future__ import annotations

import json
import re
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from support.project import Project

pytestmark = pytest.mark.integration


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / ".git").mkdir()
    environ = {
        "MEMORY_MATRIX_CACHE": str(tmp_path / "cache"),
        "DOCKER_HOST": "unix:///nowhere.sock",
    }
    return Project(tmp_path, "", environ)


def diagnosed(project: Project) -> tuple[int, dict, dict[str, dict]]:
    done = project.run("doctor", "--json")
    found = json.loads(done.stdout)
    return done.code, found, {each["what"]: each for each in found["checks"]}


def test_without_a_matrix_all_is_well_and_nothing_is_made(project: Project):
    before = sorted(project.folder.iterdir())
    done = project.run("doctor")
    assert done.code == 0, done.stdout
    assert "`memory-matrix init` writes one" in done.stdout
    assert "ok       uv " in done.stdout
    assert sorted(project.folder.iterdir()) == before


def test_what_the_matrix_needs_and_is_missing_is_said_with_what_to_do(project: Project):
    project.write(
        "memory-matrix.toml",
        """
        [[environment]]
        name = "a"
        python = "3.12.77"
        [servers]
        postgres = ["postgresql://me:s3cret@127.0.0.1:9/x"]
        redis = ["image:redis:8.0"]
        """,
    )
    code, found, checks = diagnosed(project)
    assert (code, found["ready"]) == (3, False)
    assert {name for name, each in checks.items() if each["needed"]} == {
        "Python 3.12.77",
        "Docker engine",
        "postgresql://me:***@127.0.0.1:9/x",
    }
    assert "uv python install 3.12.77" in checks["Python 3.12.77"]["advice"]
    assert all(each["advice"] for each in checks.values() if each["state"] != "ok")
    assert "s3cret" not in json.dumps(found)
    shown = project.run("doctor")
    assert shown.code == 3
    assert (
        "3 things are in the way of a run: Python 3.12.77; Docker engine; postgresql"
        in shown.stdout
    )
    assert "s3cret" not in shown.stdout + shown.stderr


@pytest.mark.parametrize("ci", ["", "true"], ids=["home", "CI"])
@pytest.mark.parametrize(
    "pythons",
    [("current", "3.12.77"), ("3.11.77", "3.12.77")],
    ids=["one is missing", "all are missing"],
)
def test_a_missing_interpreter_is_in_the_way_where_it_is_in_that_of_a_run(
    pythons: tuple[str, str], ci: str, project: Project
):
    old, new = pythons
    project.write(
        "memory-matrix.toml",
        f"""
        [[environment]]
        name = "old"
        python = "{old}"
        [[environment]]
        name = "new"
        python = "{new}"
        [compat]
        serializers = ["json"]
        payloads = ["payloads.py"]
        [servers]
        """,
    )
    project.write("payloads.py", "def payload_text():\n    return 'a'\n")
    project.environ["CI"] = ci

    done = project.run("doctor")
    run = project.run("compat", "-q")

    assert done.code == run.code
    assert ("are in the way" in done.stdout or "is in the way" in done.stdout) is (run.code != 0)
    assert "uv python install 3.12.77" in done.stdout
    if run.code == 0:
        assert "leaves out the environments of Python 3.12.77" in done.stdout


def test_a_wrong_matrix_is_said_and_the_rest_all_the_same(project: Project):
    project.write("memory-matrix.toml", '[[environment]]\nname = "a"\npyton = "3.11"\n')
    code, _, checks = diagnosed(project)
    assert code == 2
    assert "pyton" in checks["matrix"]["found"]
    assert checks["uv"]["state"] == "ok"


def test_a_server_that_takes_connections_and_says_nothing_is_given_up(project: Project):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        project.write(
            "memory-matrix.toml", f'[suite]\n[servers]\nredis = ["redis://127.0.0.1:{port}"]\n'
        )
        code, _, checks = diagnosed(project)
    assert code == 3
    assert checks[f"redis://127.0.0.1:{port}"]["state"] == "missing"


class Engine(BaseHTTPRequestHandler):
    """As much of a Docker engine as is asked for its version and one image."""

    def do_GET(self) -> None:
        route = re.sub(r"^/v[\d.]+", "", self.path)
        found = {
            "/version": {"Version": "28.2.2", "ApiVersion": "1.50"},
            "/images/redis:8.0/json": {"Id": "sha256:1"},
        }.get(route)
        body = json.dumps(found or {"message": "no such image"}).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_images_are_looked_for_at_the_engine_and_nothing_is_pulled(project: Project):
    project.write(
        "memory-matrix.toml", '[suite]\n[servers]\nredis = ["image:redis:8.0", "image:redis:7.0"]\n'
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), Engine) as engine:
        Thread(target=engine.serve_forever).start()
        try:
            project.environ["DOCKER_HOST"] = f"tcp://127.0.0.1:{engine.server_port}"
            code, _, checks = diagnosed(project)
        finally:
            engine.shutdown()
    assert code == 0, checks
    assert checks["Docker engine"]["found"].startswith("28.2.2 at http://127.0.0.1:")
    assert checks["image:redis:8.0"]["state"] == "ok"
    assert checks["image:redis:7.0"]["advice"] == "nothing: the first run pulls it"


def test_a_server_that_runs_is_named_by_what_it_says_of_itself(project: Project, redis_server):
    project.write("memory-matrix.toml", f'[suite]\n[servers]\nredis = ["{redis_server.url}"]\n')
    code, _, checks = diagnosed(project)
    assert code == 0
    assert any("answers as Valkey 9" in each["found"] for each in checks.values())
