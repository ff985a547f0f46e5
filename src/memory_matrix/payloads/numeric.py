"""Numbers at the edges of what serializers and stores can hold."""

from decimal import Decimal
from fractions import Fraction
from typing import Any


def payload_int_64_bits() -> Any:
    """The smallest and largest whole numbers of 64 bits, signed and unsigned."""
    return [-(2**63), 2**63 - 1, 2**64 - 1]


def payload_int_beyond_53_bits() -> Any:
    """A message id that a double cannot hold exactly (2**53 + 1)."""
    return {"id": 2**53 + 1}


def payload_int_beyond_64_bits() -> Any:
    """Whole numbers of more than 64 bits."""
    return [2**64, -(2**63) - 1, 2**128 + 1]


def payload_int_5000_digits() -> Any:
    """A whole number of 5,000 digits, more than Python turns into text by default."""
    return 10**4999 + 7


def payload_bool_and_int() -> Any:
    """Booleans beside the whole numbers and floats they are equal to."""
    return [True, 1, 1.0, False, 0, 0.0]


def payload_float_whole() -> Any:
    """Floats without a fraction, which must not become whole numbers."""
    return [1.0, -3.0, 1e16, 1e22]


def payload_float_17_digits() -> Any:
    """Floats that need all 17 significant digits."""
    return [0.1 + 0.2, 1.0000000000000002, 123456789.12345679]


def payload_float_subnormal() -> Any:
    """The smallest float there is, the largest subnormal, and the largest float."""
    return [5e-324, 2.225073858507201e-308, 1.7976931348623157e308]


def payload_float_negative_zero() -> Any:
    """Minus zero, which keeps its sign."""
    return -0.0


def payload_float_nan() -> Any:
    """NaN as a score."""
    return {"score": float("nan")}


def payload_float_infinity() -> Any:
    """Both infinities, as in "no limit"."""
    return [float("inf"), float("-inf")]


def payload_decimal() -> Any:
    """Decimals with trailing zeros, many digits, a large exponent, and infinity."""
    return [
        Decimal("10.50"),
        Decimal("0.1234567890123456789012345678901"),
        Decimal("-1E+400"),
        Decimal("Infinity"),
    ]


def payload_fraction() -> Any:
    """A fraction."""
    return Fraction(-2, 3)


def payload_complex() -> Any:
    """A complex number."""
    return complex(1.5, -0.0)
