"""A baseline from an artifact: asked for by the REST API, here of a server of the test's own."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from memory_matrix.errors import MemoryMatrixError, UsageError
from memory_matrix.github import artifacts
from memory_matrix.github.artifacts import Source
from support.tables import table

Answer = tuple[int, dict[str, str], bytes]
REPORT = b'{"schema": 1}'


@dataclass
class Server:
    """A server with an answer for each path; it keeps what it was asked."""

    address: str
    answers: dict[str, Answer | list[Answer]] = field(default_factory=dict)
    asked: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)

    def says(self, path: str, answer: object) -> None:
        """Answer `path` with JSON."""
        self.answers[path] = 200, {}, json.dumps(answer).encode()

    def sends(self, path: str, to: str) -> None:
        """Redirect `path`."""
        self.answers[path] = 302, {"Location": to}, b""

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer:
        self.asked.append((path, headers))
        found = self.answers.get(path.partition("?")[0], (404, {}, b"{}"))
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found

    def tokens(self, path: str) -> list[str | None]:
        """Return the tokens that came with what was asked of `path`."""
        return [each.get("Authorization") for asked, each in self.asked if asked.startswith(path)]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Server]]:
    """Start servers."""
    monkeypatch.setenv("no_proxy", "*")
    started: list[ThreadingHTTPServer] = []

    def start() -> Server:
        made = Server("")

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, headers, body = made.answer(self.path, dict(self.headers))
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
        started.append(http)
        made.address = f"http://127.0.0.1:{http.server_port}"
        return made

    yield start
    for each in started:
        each.shutdown()
        each.server_close()


def zipped(*members: tuple[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return content.getvalue()


def run(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": number,
        "event": "push",
        "conclusion": "success",
        "head_branch": "main",
        "head_repository": {"full_name": "a/b"},
        **fields,
    }


@pytest.fixture
def api(serve: Callable[[], Server]) -> Server:
    """The API of a repository a/b with two good runs on main, of which the later has no artifact."""
    server = serve()
    server.says("/repos/a/b", {"default_branch": "main"})
    server.says("/repos/a/b/actions/runs/7", {"workflow_id": 70})
    runs = [run(9), run(8)]
    server.says("/repos/a/b/actions/workflows/70/runs", {"workflow_runs": runs})
    server.says("/repos/a/b/actions/runs/9/artifacts", {"artifacts": []})
    found = [{"id": 80, "name": "mine", "expired": False}]
    server.says("/repos/a/b/actions/runs/8/artifacts", {"artifacts": found})
    server.answers["/repos/a/b/actions/artifacts/80/zip"] = 200, {}, zipped(("report.json", REPORT))
    return server


def source(api: Server, branch: str = "main") -> Source:
    return Source(api.address, "a/b", "7", branch, "s3cret", pause=0)


def fetched(api: Server, tmp_path: Path, branch: str = "main") -> Path | None:
    return artifacts.fetch(source(api, branch), "mine", tmp_path / "x")


@pytest.mark.parametrize("branch", ["main", ""])
def test_the_last_good_run_that_has_it_gives_the_report(
    api: Server, tmp_path: Path, branch: str
) -> None:
    found = fetched(api, tmp_path, branch)

    assert found == tmp_path / "x/report.json"
    assert found.read_bytes() == REPORT
    assert [each.name for each in found.parent.iterdir()] == ["report.json"]
    assert set(api.tokens("/")) == {"Bearer s3cret"}
    (listed,) = (path for path, _ in api.asked if "workflows" in path)
    assert "branch=main" in listed
    assert "status=success" in listed


@pytest.mark.parametrize(
    "fields",
    [
        {"event": "pull_request"},
        {"event": "pull_request_target"},
        {"head_repository": {"full_name": "fork/b"}},
        {"head_repository": None},
        {"head_branch": "other"},
        {"conclusion": "failure"},
    ],
)
def test_runs_of_others_are_never_the_baseline(
    api: Server, tmp_path: Path, fields: dict[str, Any]
) -> None:
    api.says("/repos/a/b/actions/workflows/70/runs", {"workflow_runs": [run(8, **fields)]})

    assert fetched(api, tmp_path) is None
    assert api.tokens("/repos/a/b/actions/runs/8") == []


@pytest.mark.parametrize("found", [[], [{"id": 80, "name": "mine", "expired": True}], None,
                                   [{"id": 80, "name": "others", "expired": False}, 3]])  # fmt: skip
def test_where_no_run_has_it_there_is_none(api: Server, tmp_path: Path, found: object) -> None:
    api.says("/repos/a/b/actions/runs/8/artifacts", {"artifacts": found})

    assert fetched(api, tmp_path) is None
    assert not (tmp_path / "x").exists()


def test_the_token_stays_with_the_api(
    api: Server, tmp_path: Path, serve: Callable[[], Server]
) -> None:
    storage = serve()
    storage.answers["/blob"] = api.answers["/repos/a/b/actions/artifacts/80/zip"]
    api.sends("/repos/a/b/actions/artifacts/80/zip", f"{api.address}/moved")
    api.sends("/moved", f"{storage.address}/blob")

    found = fetched(api, tmp_path)

    assert found is not None
    assert api.tokens("/moved") == ["Bearer s3cret"]
    assert storage.tokens("/blob") == [None]


@pytest.mark.parametrize(
    "place", ["file:///etc/passwd", "ftp://127.0.0.1/x", "/loop", "http://[::1", "http://x:y/", ""]
)
def test_a_redirect_elsewhere_is_refused(api: Server, tmp_path: Path, place: str) -> None:
    api.sends("/repos/a/b/actions/artifacts/80/zip", place)
    api.sends("/loop", "/loop")

    with pytest.raises(MemoryMatrixError, match="GitHub's API"):
        fetched(api, tmp_path)


def test_a_redirect_from_https_goes_to_no_less() -> None:
    request = artifacts.Request("https://api.github.com/x")
    with pytest.raises(artifacts.URLError, match="redirects to http://"):
        artifacts._Redirects().redirect_request(
            request, io.BytesIO(), 302, "Found", artifacts.HTTPMessage(), "http://x.example"
        )


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_token_that_may_not_read_is_said_with_what_to_do(
    api: Server, tmp_path: Path, status: int
) -> None:
    api.answers["/repos/a/b/actions/workflows/70/runs"] = status, {}, b"{}"

    with pytest.raises(MemoryMatrixError, match=f"{status} .*actions: read") as raised:
        fetched(api, tmp_path)
    assert "s3cret" not in str(raised.value)


def test_a_server_that_recovers_is_asked_again(api: Server, tmp_path: Path) -> None:
    path = "/repos/a/b/actions/runs/7"
    good = api.answers[path]
    assert isinstance(good, tuple)
    api.answers[path] = [(502, {}, b""), (503, {}, b""), good]

    assert fetched(api, tmp_path) is not None


@pytest.mark.parametrize("status", [500, 418])
def test_a_server_that_does_not_recover_ends_it(api: Server, tmp_path: Path, status: int) -> None:
    api.answers["/repos/a/b/actions/runs/7"] = status, {}, b""

    with pytest.raises(MemoryMatrixError, match=f"answers {status}"):
        fetched(api, tmp_path)
    assert len(api.tokens("/repos/a/b/actions/runs/7")) == (3 if status == 500 else 1)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"workflow_id": "x"}', b"{}", b"[" * 99_999]
)
def test_an_answer_that_is_none_ends_it(api: Server, tmp_path: Path, body: bytes) -> None:
    api.answers["/repos/a/b/actions/runs/7"] = 200, {}, body

    with pytest.raises(MemoryMatrixError, match="GitHub's API"):
        fetched(api, tmp_path)


def test_an_answer_that_breaks_off_ends_it(api: Server, tmp_path: Path) -> None:
    api.answers["/repos/a/b/actions/artifacts/80/zip"] = 200, {"Content-Length": "1000"}, b"PK"
    api.answers["/repos/a/b/actions/runs/7"] = 200, {"Content-Length": "1000"}, b"{"

    with pytest.raises(MemoryMatrixError, match="GitHub's API"):
        fetched(api, tmp_path)


def test_a_server_that_is_not_there_ends_it(api: Server, tmp_path: Path) -> None:
    nowhere = replace(source(api), api="http://127.0.0.1:1")

    with pytest.raises(MemoryMatrixError, match="does not answer"):
        artifacts.fetch(nowhere, "mine", tmp_path / "x")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "cannot be unpacked"),
        (b"PK\x05\x06", "cannot be unpacked"),
        (zipped(("report.md", b"x")), "has no report.json"),
        (zipped(("a/report.json", b"1"), ("b/report.json", b"2")), "has more than one report.json"),
        (zipped(("report.json", REPORT * 1000))[:60] + b"\0" * 100, "cannot be unpacked"),
    ],
)
def test_an_artifact_without_one_report_is_said(
    api: Server, tmp_path: Path, content: bytes, said: str
) -> None:
    api.answers["/repos/a/b/actions/artifacts/80/zip"] = 200, {}, content

    with pytest.raises(MemoryMatrixError, match=f"'mine' .*{said}"):
        fetched(api, tmp_path)


def test_a_damaged_report_in_an_archive_is_said(api: Server, tmp_path: Path) -> None:
    content = bytearray(zipped(("report.json", bytes(range(256)) * 100)))
    content[60:90] = b"\xff" * 30
    api.answers["/repos/a/b/actions/artifacts/80/zip"] = 200, {}, bytes(content)

    with pytest.raises(MemoryMatrixError, match="cannot be unpacked"):
        fetched(api, tmp_path)


@pytest.mark.parametrize("name", ["../../report.json", "/tmp/report.json", "deep/er/report.json"])
def test_no_path_in_an_archive_is_followed(api: Server, tmp_path: Path, name: str) -> None:
    content = zipped(("x/y/z/w/report.json", b"deeper"), (name, REPORT))
    api.answers["/repos/a/b/actions/artifacts/80/zip"] = 200, {}, content

    found = fetched(api, tmp_path)

    assert found == tmp_path / "x/report.json"
    assert found.read_bytes() == REPORT
    assert [each.name for each in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize(
    ("limit", "said"), [("MOST_REPORT", "report in the artifact"), ("MOST_ARCHIVE", "artifact")]
)
def test_what_is_too_large_is_not_read_to_its_end(
    api: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, said: str
) -> None:
    monkeypatch.setattr(artifacts, limit, 100)
    bomb = zipped(("report.json", b"0" * 5_000_000))
    api.answers["/repos/a/b/actions/artifacts/80/zip"] = 200, {}, bomb

    with pytest.raises(MemoryMatrixError, match=f"The {said} 'mine' is larger"):
        fetched(api, tmp_path)
    assert all(each.stat().st_size <= 5_000 for each in (tmp_path / "x").iterdir())


def test_where_to_look_comes_from_the_runner() -> None:
    environ = {
        "GITHUB_REPOSITORY": "a/b",
        "GITHUB_RUN_ID": "7",
        "GITHUB_BASE_REF": "main",
        "GITHUB_API_URL": "https://ghe.example/api/v3",
    }

    found = Source.of(environ, "t")

    assert found == Source("https://ghe.example/api/v3", "a/b", "7", "main", "t")
    assert found.url("/x", name="a b&c") == "https://ghe.example/api/v3/repos/a/b/x?name=a%20b%26c"


@pytest.mark.parametrize("missing", ["GITHUB_REPOSITORY", "GITHUB_RUN_ID"])
def test_outside_a_workflow_there_are_no_artifacts(missing: str) -> None:
    environ = {"GITHUB_REPOSITORY": "a/b", "GITHUB_RUN_ID": "7", missing: ""}
    with pytest.raises(UsageError, match="needs a workflow of GitHub Actions"):
        Source.of(environ, "")


@table(
    "api",
    ["nonsense", "file:///etc", "http://[::1", "https://", "https://x:port", "//x", "\x1b[31m"],
)
def test_an_api_that_is_no_address_is_refused(api: str) -> None:
    environ = {"GITHUB_REPOSITORY": "a/b", "GITHUB_RUN_ID": "7", "GITHUB_API_URL": api}
    with pytest.raises(UsageError, match="GITHUB_API_URL") as raised:
        Source.of(environ, "t")
    assert str(raised.value).isprintable()
