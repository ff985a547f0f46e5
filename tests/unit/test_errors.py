"""One class of error per exit code, each of them caught as an error of the tool."""

from __future__ import annotations

import pytest

from memory_matrix.errors import MemoryMatrixError, UnavailableError, UsageError


@pytest.mark.parametrize(
    ("error", "code"), [(UsageError, 2), (UnavailableError, 3), (MemoryMatrixError, 4)]
)
def test_each_error_has_its_exit_code(error: type[MemoryMatrixError], code: int) -> None:
    assert error.exit_code == code
    with pytest.raises(MemoryMatrixError, match="what to do"):
        raise error("what to do")


def test_no_two_errors_share_an_exit_code_and_none_is_a_finding() -> None:
    codes = [each.exit_code for each in (MemoryMatrixError, UsageError, UnavailableError)]

    assert len(set(codes)) == len(codes)
    assert not {0, 1} & set(codes)
