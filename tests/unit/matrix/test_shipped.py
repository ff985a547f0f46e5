"""The matrices that come with the project are sound, and there is one quick matrix only."""

from __future__ import annotations

from pathlib import Path

from packaging.requirements import Requirement

from memory_matrix.matrix.model import SuiteOptions
from memory_matrix.matrix.read import QUICK, builtin_quick, read
from memory_matrix.matrix.suite import REFERENCE_STORES, plan_suite
from memory_matrix.serializers.builtin import NAMES, PROJECTS
from support.tables import table

MATRICES = Path(__file__).parents[3] / "matrix"


def test_the_quick_matrix_that_people_copy_is_the_one_that_runs() -> None:
    assert (MATRICES / "quick.toml").samefile(QUICK)


def test_the_quick_matrix_pins_each_project_once_for_every_interpreter(tmp_path: Path) -> None:
    for environment in builtin_quick(tmp_path).environments:
        requirements = list(map(Requirement, environment.packages))
        assert {each.operator for one in requirements for each in one.specifier} == {"=="}
        for minor in range(10, 15):
            version = f"3.{minor}"
            fitting = [
                each.name
                for each in requirements
                if each.marker is None or each.marker.evaluate({"python_version": version})
            ]
            assert len(fitting) == len(set(fitting)) == 6


def test_the_default_matrix_covers_interpreters_and_serializers() -> None:
    matrix = read(MATRICES / "default.toml")

    assert matrix.compat.serializers == NAMES
    assert {each.python for each in matrix.environments} == {"3.10", "3.11", "3.12", "3.13"}
    installed = {Requirement(each).name for each in matrix.environments[0].packages}
    assert installed >= {project.lower() for project in PROJECTS.values()}


def test_the_default_matrix_runs_both_reference_stores_on_all_of_it() -> None:
    matrix = read(MATRICES / "default.toml")

    assert matrix.suite == SuiteOptions()
    suite = plan_suite(matrix, REFERENCE_STORES)
    assert len(suite.processes) == len(matrix.environments)
    assert len(suite.cells) == 2 * len(matrix.environments)
    assert not suite.unserved


@table("path", sorted(MATRICES.glob("*.toml")))
def test_every_matrix_of_the_project_compares_environments_or_tests_stores(path: Path) -> None:
    matrix = read(path)

    assert len(matrix.environments) >= 2 or matrix.suite.stores
