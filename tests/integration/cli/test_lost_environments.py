"""Environments that cannot be had, or are broken in themselves: never a finding."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.project import VALKEY, Project

pytestmark = pytest.mark.integration

PAYLOADS = """
    class Note:
        pass

    def payload_note():
        {imports}
        return Note()
    """


@pytest.fixture
def project(project: Project) -> Project:
    """A project with one environment that is fine, and the fastest server."""
    project.servers = VALKEY
    project.environment("fine")
    project.payloads(PAYLOADS.format(imports="pass"))
    return project


@pytest.fixture
def one_missing(project: Project) -> Project:
    """A project of which one interpreter is missing."""
    project.write(
        "memory-matrix.toml",
        f"""
[[environment]]
name = "fine"
python = "current"

[[environment]]
name = "ancient"
python = "/nowhere/bin/python3.6"

[compat]
serializers = ["pickle"]
payloads = ["payloads.py"]

{VALKEY}
""",
    )
    return project


@pytest.mark.parametrize(
    ("arguments", "environ"),
    [(["--strict"], {}), ([], {"CI": "1"}), ([], {"CI": "true"})],
    ids=["strict", "CI=1", "CI=true"],
)
def test_a_missing_interpreter_ends_a_strict_run_and_the_report_is_written(
    one_missing: Project, arguments: list[str], environ: dict[str, str]
) -> None:
    run = one_missing.run("compat", "-q", *arguments, **environ)

    assert run.code == 3
    assert run.error.startswith("what the matrix requires could not be had:\n  ancient: ")
    assert run.environment("ancient")["status"] == "unavailable"
    assert run.environment("ancient")["reason"] in run.error
    assert run.environment("fine")["status"] == "ready"
    assert run.report["cells"] == []


@pytest.mark.parametrize(
    ("arguments", "environ"), [([], {}), (["--no-strict"], {"CI": "1"})], ids=["home", "no-strict"]
)
def test_a_missing_interpreter_is_only_reported_at_home(
    one_missing: Project, arguments: list[str], environ: dict[str, str]
) -> None:
    run = one_missing.run("compat", "-q", *arguments, **environ)

    assert run.code == 0
    assert run.environment("ancient")["status"] == "unavailable"
    assert run.says("fine", "fine", "note") == "ok"
    assert "ancient" in run.stdout


def test_where_no_environment_can_be_had_there_is_nothing_to_run_even_at_home(
    project: Project,
) -> None:
    project.write(
        "memory-matrix.toml",
        """
        [[environment]]
        name = "ancient"
        python = "/nowhere/bin/python3.6"

        [compat]
        payloads = ["payloads.py"]
        """,
    )

    run = project.run("compat", "-q")

    assert run.code == 3
    assert run.environment("ancient")["status"] == "unavailable"


def test_a_package_that_is_installed_and_cannot_be_imported_makes_it_unavailable(
    project: Project,
) -> None:
    project.write(
        "wheels/build.py",
        """
        import zipfile

        with zipfile.ZipFile("recall_stub-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr("recall_stub.py", "raise RuntimeError('built for another ABI')")
            info = "recall_stub-1.0.dist-info/"
            wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: recall-stub\\nVersion: 1.0\\n")
            wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
            wheel.writestr(info + "RECORD", "")
        """,
    )
    folder = project.folder / "wheels"
    subprocess.run([sys.executable, "build.py"], cwd=folder, check=True)
    wheel = folder / "recall_stub-1.0-py3-none-any.whl"
    project.environment("broken", packages=[f"recall-stub @ {wheel.as_uri()}"])
    project.payloads(
        PAYLOADS.format(
            imports="""
        import importlib.util
        if importlib.util.find_spec("recall_stub"):
            import recall_stub"""
        )
    )
    project.matrix()

    home = project.compat("-q")
    strict = project.compat("-q", "--strict")

    assert home.code == 3
    record = home.environment("broken")
    assert record["status"] == "unavailable"
    assert record["reason"] == (
        "its packages do not work together: importing 'recall_stub' raises"
        " RuntimeError: built for another ABI"
    )
    assert home.report["summary"]["breaks"] == 0
    assert home.says("fine", "fine", "note") == "ok"
    assert strict.code == 3
    assert "built for another ABI" in strict.error


def test_a_payload_that_needs_what_only_one_environment_has_is_read_there_alone(
    project: Project,
) -> None:
    project.write("release0/extra.py", "LIMIT = 3\n")
    project.environment("without")
    project.payloads("""
        def payload_limit():
            import extra
            return {"limit": extra.LIMIT}

        def payload_text():
            return "a"
        """)
    project.matrix()

    run = project.compat("-q")

    assert run.code == 0
    assert run.says("fine", "without", "limit") == "ok backward"
    assert run.says("without", "without", "limit") == "skipped Skipped"
    assert run.says("without", "fine", "text") == "ok forward"
    (problem,) = run.report["payloads"]
    assert (problem["environment"], problem["payload"]) == ("without", "limit")
    assert problem["reason"] == "payloads.py:2: ModuleNotFoundError: No module named 'extra'"


def test_a_payloads_file_that_one_environment_cannot_import_is_read_there_all_the_same(
    project: Project,
) -> None:
    project.write("release0/extra.py", "LIMIT = 3\n")
    project.environment("without")
    project.payloads("""
        import extra

        def payload_limit():
            return {"limit": extra.LIMIT}
        """)
    project.matrix()

    run = project.compat("-q")

    assert run.code == 0
    assert run.says("fine", "without", "limit") == "ok backward"
    assert run.report["payloads"][0]["environment"] == "without"
    assert "No module named 'extra'" in run.report["payloads"][0]["reason"]
