"""The corpus and the serializers on real interpreters, with old and new releases of libraries."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import memory_matrix
from memory_matrix.environments.build import build_all
from memory_matrix.environments.interpreters import find
from memory_matrix.environments.model import Environment
from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import EnvironmentSpec
from memory_matrix.serializers.builtin import NAMES

pytestmark = pytest.mark.integration

SCRIPT = Path(__file__).with_name("build_corpus.py")
PACKAGE = Path(memory_matrix.__file__).parent
STANDARD = {name for name in NAMES if name.partition(":")[0] in {"pickle", "json"}}
VERSIONS = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15")

OLD = (
    *("attrs==19.3.0", "cbor2==5.1.2", "cloudpickle==1.6.0", "dill==0.3.4", "jsonpickle==1.5.0"),
    *("msgpack==1.0.0", "numpy==1.17.5", "orjson==3.0.0", "pydantic==1.7.4", "PyYAML==5.4.1"),
    *("pandas==1.0.5", "ujson==4.0.2"),
)
NEW = (
    *("attrs", "cbor2", "cloudpickle", "dill", "jsonpickle", "langchain-core", "msgpack"),
    *("msgspec", "numpy", "orjson", "ormsgpack", "pandas", "pydantic", "PyYAML", "ujson"),
)


def run(python: Path | str, *options: str, hash_seed: int = 0) -> dict[str, Any]:
    done = subprocess.run(
        [python, "-B", *options, SCRIPT, PACKAGE],
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def interpreter(version: str) -> Path:
    try:
        return find(version).path
    except UnavailableError:
        return pytest.skip(f"there is no Python {version} here")


def lacking(result: dict[str, Any]) -> dict[str, str]:
    return {
        name: built["lacking"] for name, built in result["payloads"].items() if "lacking" in built
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_every_payload_builds_equal_each_time_or_says_what_is_lacking(version: str) -> None:
    python = interpreter(version)
    # -S: without site-packages, so that what is there by chance changes nothing.
    result = run(python, "-S", "-W", "error")
    again = run(python, "-S", "-W", "error", hash_seed=1)
    assert result["payloads"] == again["payloads"]
    assert not [name for name, built in result["payloads"].items() if built.get("differences")]
    assert all(re.fullmatch(r"Needs [^\n]+\.", reason) for reason in lacking(result).values())
    assert len(result["payloads"]) - len(lacking(result)) >= 100


@pytest.mark.parametrize("version", VERSIONS)
def test_standard_serializers_work_and_the_others_are_missing(version: str) -> None:
    outcomes = run(interpreter(version), "-S", "-W", "error")["serializers"]
    assert {name for name, outcome in outcomes.items() if "missing" in outcome} == (
        set(NAMES) - STANDARD
    )
    working = {name for name, outcome in outcomes.items() if outcome.get("same")}
    without_protocol_5 = version in {"3.6", "3.7"}
    assert working == STANDARD - ({"pickle:5"} if without_protocol_5 else set())


def test_importing_both_imports_no_library(tmp_path: Path) -> None:
    environment = built(tmp_path, "current", ("attrs", "PyYAML"))
    assert not {"attr", "attrs", "yaml"} & set(run(environment.command[0])["imported"])


@pytest.mark.parametrize(
    ("version", "packages", "absent"),
    [
        ("3.8", OLD, {"langchain-core", "msgspec"}),
        ("3.12", NEW, set()),
    ],
    ids=["old", "new"],
)
def test_every_library_takes_part(
    version: str, packages: tuple[str, ...], absent: set[str], tmp_path: Path
) -> None:
    interpreter(version)
    result = run(built(tmp_path, version, packages).command[0])
    needed = {
        match[1]
        for reason in lacking(result).values()
        if (match := re.match(r"Needs (\S+),", reason))
    }
    assert needed == absent
    assert not [name for name, built in result["payloads"].items() if built.get("differences")]
    outcomes = result["serializers"]
    assert not {name for name, outcome in outcomes.items() if outcome.get("same") is False}
    assert {name for name, outcome in outcomes.items() if "same" not in outcome} <= {
        *("ormsgpack", "msgspec-json", "msgspec-msgpack")
    }


def built(folder: Path, python: str, packages: tuple[str, ...]) -> Environment:
    spec = EnvironmentSpec(name="libraries", python=python, packages=packages)
    (environment,) = build_all([spec], cache=folder / "cache", root=folder)
    assert isinstance(environment, Environment), environment.reason
    return environment
