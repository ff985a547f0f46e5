"""Tiny projects and a package index of their own, so that environments are real and cost little."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

BACKEND = """
import os, pathlib, re, zipfile

HERE = pathlib.Path(__file__).parent

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    exec((HERE / "before_build.py").read_text())
    version = re.search("version = \\"(.*)\\"", (HERE / "pyproject.toml").read_text())[1]
    name = f"demo_app-{version}-py3-none-any.whl"
    info = f"demo_app-{version}.dist-info"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        wheel.write(HERE / "demo_app.py", "demo_app.py")
        wheel.writestr(f"{info}/METADATA",
            f"Metadata-Version: 2.1\\nName: demo-app\\nVersion: {version}\\n")
        wheel.writestr(f"{info}/WHEEL",
            "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/entry_points.txt",
            "[console_scripts]\\ndemo-app = demo_app:main\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
"""


@dataclass(frozen=True)
class Index:
    """A folder of wheels in the place of a package index."""

    folder: Path

    def add(
        self, name: str, version: str, *, needs: tuple[str, ...] = (), tag: str = "py3-none-any"
    ) -> None:
        info = f"{name}-{version}.dist-info"
        metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        metadata += [f"Requires-Dist: {need}" for need in needs]
        with zipfile.ZipFile(self.folder / f"{name}-{version}-{tag}.whl", "w") as wheel:
            wheel.writestr(f"{name}.py", f"VERSION = {version!r}\n")
            wheel.writestr(f"{info}/METADATA", "\n".join(metadata) + "\n")
            wheel.writestr(
                f"{info}/WHEEL",
                f"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: {tag}\n",
            )
            wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """An index with `demo` 1.0 and 2.0, which need `base` 1.0; nothing else can be had.

    It is set up for pip, from whose settings uv learns of it.
    """
    folder = tmp_path / "index"
    folder.mkdir()
    index = Index(folder)
    index.add("demo", "1.0", needs=("base",))
    index.add("demo", "2.0", needs=("base",))
    index.add("base", "1.0")
    for name in ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("UV_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return index


@pytest.fixture
def make_project(tmp_path: Path) -> Callable[..., Path]:
    """Make a project `demo-app`, whose backend is its own and runs `before_build` first."""

    def make(name: str = "project", *, version: str = "1.0", before_build: str = "") -> Path:
        root = tmp_path / name
        root.mkdir()
        (root / "pyproject.toml").write_text(
            f'[project]\nname = "demo-app"\nversion = "{version}"\n'
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        )
        (root / "backend.py").write_text(BACKEND)
        (root / "before_build.py").write_text(before_build)
        (root / "demo_app.py").write_text("def main():\n    print('demo-app runs')\n")
        return root

    return make
