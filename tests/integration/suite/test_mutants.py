"""The suite can fail: for every case there is a broken store that it catches."""

from __future__ import annotations

import pytest

from memory_matrix.suite.catalogue import cases
from memory_matrix.suite.outcomes import CaseFailed
from memory_matrix.suite.running import outcome_of
from memory_matrix.suite.worker import Worker
from support.mutants import Mutant, all_mutants, try_case

pytestmark = pytest.mark.integration

MUTANTS = all_mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_case_catches_its_mutant(mutant: Mutant, suite_worker: Worker) -> None:
    error = try_case(suite_worker, mutant.adapter, mutant.case, mutant.serializer)

    assert outcome_of(error) == "failed", f"{mutant} was {outcome_of(error)}: {error!r}"
    # Else the mutant may only be out of step with the store that it changes.
    assert isinstance(error, CaseFailed) != mutant.raises, repr(error)


def test_every_case_has_a_mutant() -> None:
    caught = {mutant.case for mutant in MUTANTS}

    assert {case.name for case in cases()} <= caught


def test_every_mutant_names_a_case() -> None:
    assert {mutant.case for mutant in MUTANTS} <= {case.name for case in cases()}
