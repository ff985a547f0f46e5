"""Dates, times and time zones."""

from datetime import date, datetime, time, timedelta, timezone
from typing import Any

from memory_matrix.payloads.lacking import Lacking, needs, needs_python


def payload_datetime_naive() -> Any:
    """A datetime without a time zone."""
    return datetime(2026, 3, 29, 1, 30, 15, 123456)


def payload_datetime_utc() -> Any:
    """A datetime in UTC."""
    return datetime(2026, 3, 29, 1, 30, 15, 123456, tzinfo=timezone.utc)


def payload_datetime_offset() -> Any:
    """A datetime with a fixed offset of +05:30."""
    return datetime(2026, 3, 29, 1, 30, 15, tzinfo=timezone(timedelta(hours=5, minutes=30)))


def payload_datetime_zone() -> Any:
    """A datetime in a named time zone of zoneinfo (Python 3.9 and later)."""
    return datetime(2026, 7, 1, 12, 0, tzinfo=_zone("Europe/Berlin"))


def payload_datetime_fold() -> Any:
    """The second of two equal wall-clock times when clocks go back (fold=1)."""
    return datetime(2026, 10, 25, 2, 30, fold=1)


def payload_datetime_extremes() -> Any:
    """The first and the last datetime there are, as used for "always" and "never"."""
    return [datetime.min, datetime.max]  # noqa: DTZ901 - they are naive in users' code too


def payload_date() -> Any:
    """A date without a time."""
    return date(2026, 2, 28)


def payload_time() -> Any:
    """A time of day without a date."""
    return time(23, 59, 59, 999999)


def payload_time_offset() -> Any:
    """A time of day with a fixed offset."""
    return time(9, 30, tzinfo=timezone(timedelta(hours=-3)))


def payload_timedelta() -> Any:
    """A negative duration with microseconds."""
    return timedelta(days=-2, seconds=3, microseconds=1)


def _zone(key: str) -> Any:
    try:
        zoneinfo = needs("zoneinfo")
    except Lacking:
        raise needs_python("3.9", "zoneinfo") from None
    try:
        return zoneinfo.ZoneInfo(key)
    except zoneinfo.ZoneInfoNotFoundError:
        raise Lacking(
            "Needs the time zone {}; neither the system nor a tzdata package has it.".format(key)
        ) from None
