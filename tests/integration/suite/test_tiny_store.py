"""The example of a small store: sound as it is, and caught with its fault."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from support.project import Project
from support.quoted import blocks, not_quoted

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "tiny-store"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of the example, without a matrix file, as its page has it."""
    folder = tmp_path / "tiny-store"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return Project(folder, "")


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "store",
    [
        "adapter.py:ChatAdapter",
        "redis_adapter.py:RedisChatAdapter",
        "async_adapter.py:AsyncRedisChatAdapter",
    ],
)
def test_the_store_passes_every_case_that_it_offers(project: Project, store: str) -> None:
    run = project.run("suite", "--store", store)

    found = {each["case"]: each for each in run.report["suite"]}
    others = [each for each in found.values() if each["outcome"] not in {"passed", "not-offered"}]
    assert others == []
    assert found["batch_all_or_nothing_bad_middle"]["outcome"] == "passed"
    assert run.code == 0, run.stderr


def test_its_fault_is_caught_by_the_cases_that_name_it(project: Project) -> None:
    run = project.run(
        "suite", "--store", "adapter.py:HalfChatAdapter",
        "--select", "case=batch_all_or_nothing_* case=text_* case=order_*",
    )  # fmt: skip

    failed = {each["case"] for each in run.report["suite"] if each["outcome"] == "failed"}
    assert failed == {"batch_all_or_nothing_bad_middle", "batch_all_or_nothing_kill"}
    assert "expected ['before'], got ['before', 'one', 'two']" in " ".join(run.stdout.split())
    assert run.code == 1
    (place,) = run.report["locations"].values()
    assert re.fullmatch(r"adapter\.py:\d+", place)
    for page in ("README.md", "docs/your-store.md"):
        (shown,) = (each for each in blocks(ROOT / page, "text") if "HalfChatAdapter" in each)
        assert not_quoted(shown, run.stdout) == []
    command = next(
        line for line in run.stdout.splitlines() if "case=batch_all_or_nothing_b" in line
    )
    again = project.run(*shlex.split(command.strip(" $"))[1:])
    assert [each["outcome"] for each in again.report["suite"]] == ["failed"]


@pytest.mark.parametrize("name", ["adapter.py", "redis_adapter.py", "async_adapter.py"])
def test_its_page_shows_the_adapter_as_it_is_and_that_is_short(name: str) -> None:
    adapter = (EXAMPLE / name).read_text(encoding="utf-8")

    assert f"```python\n{adapter}```" in (ROOT / "docs" / "your-store.md").read_text("utf-8")
    assert len(adapter.splitlines()) < 40
