"""A step of GitHub Actions: its variables, with files in a temporary folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from support.runner import Command, obeyed


@dataclass(frozen=True)
class Step:
    """A step that runs in this process."""

    workspace: Path
    summary: Path
    outputs: Path
    capsys: pytest.CaptureFixture[str]

    def commands(self, *names: str) -> list[Command]:
        """Return the commands that were issued since the last call, those of `names` if there are any."""
        output, errors = self.capsys.readouterr()
        assert not obeyed(output) or not errors, "commands go to one stream"
        return [each for each in obeyed(output + errors) if not names or each.name in names]

    def written(self) -> dict[str, str]:
        """Return the outputs, as the runner reads them."""
        found: dict[str, str] = {}
        lines = iter(self.outputs.read_bytes().decode().split("\n")[:-1])
        for line in lines:
            name, separator, rest = line.partition("=")
            if not separator or "<<" in name:
                name, _, end = line.partition("<<")
                rest = "\n".join(iter(lambda: next(lines), end))
            found[name] = rest
        return found


@pytest.fixture
def step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Step:
    """A step that runs in the root of its repository."""
    files = {name: tmp_path / name.lower() for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    workspace = tmp_path / "workspace"
    for folder in (workspace, tmp_path / "temporary"):
        folder.mkdir()
    for name, path in files.items():
        path.touch()
        monkeypatch.setenv(name, str(path))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(workspace))
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path / "temporary"))
    for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID", "GITHUB_BASE_REF"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(workspace)
    return Step(workspace, *files.values(), capsys)
