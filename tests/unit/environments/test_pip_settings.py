"""What uv is told where only pip is set up."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_matrix.environments import pip_settings
from memory_matrix.environments.pip_settings import pip_options, uv_options, uv_settings
from memory_matrix.environments.uv_commands import uv_environ
from support.tables import table


@pytest.fixture(autouse=True)
def no_files_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pip_settings, "_files", _own_files)


def _own_files(environ: dict[str, str]) -> list[Path]:
    return [Path(environ[name]) for name in ("FIRST", "SECOND") if name in environ]


def test_nothing_set_up_means_nothing_passed_on() -> None:
    assert uv_settings({"PATH": "/bin", "PIP_DEFAULT_TIMEOUT": "9"}) == {}


def test_variables_of_pip_are_passed_on_with_its_way_to_choose() -> None:
    environ = {
        "PIP_INDEX_URL": "https://one.test/simple",
        "PIP_EXTRA_INDEX_URL": "https://two.test/simple\n  https://three.test/simple",
        "PIP_FIND_LINKS": "/wheels /more",
    }

    assert uv_settings(environ) == {
        "UV_DEFAULT_INDEX": "https://one.test/simple",
        "UV_INDEX": "https://two.test/simple https://three.test/simple",
        "UV_FIND_LINKS": "/wheels,/more",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


@pytest.mark.parametrize("name", ["UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_FIND_LINKS"])
def test_what_uv_itself_is_told_wins(name: str) -> None:
    assert uv_settings({name: "https://uv.test", "PIP_INDEX_URL": "https://pip.test"}) == {}


def test_files_are_read_in_order_and_variables_win(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("[global]\nindex-url = https://a.test\ncert = /a.pem\n[list]\nformat = json\n")
    second.write_text("[global]\nindex-url = https://b.test\n[install]\nfind-links = /w\n")
    environ = {"FIRST": str(first), "SECOND": str(second), "PIP_CERT": "/c.pem"}

    assert pip_options(environ) == {
        "index-url": "https://b.test",
        "find-links": "/w",
        "cert": "/c.pem",
    }


def test_a_file_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    broken = tmp_path / "pip.conf"
    broken.write_text("no section at all = 1\n")

    assert pip_options({"FIRST": str(broken), "SECOND": str(tmp_path / "missing")}) == {}


@table(
    ("value", "options"), [("1", ("--no-index",)), ("True", ("--no-index",)), ("0", ()), ("", ())]
)
def test_no_index_is_passed_on_only_where_it_is_on(value: str, options: tuple[str, ...]) -> None:
    assert uv_options({"PIP_NO_INDEX": value}) == options
    assert uv_options({"PIP_NO_INDEX": value, "UV_DEFAULT_INDEX": "https://uv.test"}) == ()


def test_a_certificate_alone_does_not_change_how_versions_are_chosen() -> None:
    assert uv_settings({"PIP_CERT": "/c.pem"}) == {"SSL_CERT_FILE": "/c.pem"}
    assert uv_settings({"PIP_CERT": "/c.pem", "SSL_CERT_FILE": "/own.pem"}) == {}


@table(
    "name",
    ["VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "CONDA_PREFIX", "UV_PYTHON", "UV_VENV_SEED"],
)
def test_what_belongs_to_the_running_environment_does_not_reach_uv(name: str) -> None:
    assert name not in uv_environ({name: "/somewhere", "HOME": "/home/me"})


def test_what_the_user_tells_uv_reaches_it() -> None:
    environ = uv_environ({"UV_INDEX_URL": "https://uv.test", "HTTPS_PROXY": "http://proxy.test"})

    assert environ["UV_INDEX_URL"] == "https://uv.test"
    assert environ["HTTPS_PROXY"] == "http://proxy.test"
