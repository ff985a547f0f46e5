"""What workers tell, as values and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from memory_matrix.report.model import Difference, Error

Event = dict[str, Any]

MOST_STARTS = 2
"""Times that a worker is started; one that dies as often makes its environment unavailable."""


def result_error(event: Mapping[str, Any], stage: Any) -> Error | None:
    """Return the error of a worker's result; `stage` is where the worker does not say."""
    error = event.get("error")
    if error is not None:
        return error_value({"stage": stage, **error})
    if event["outcome"] == "lacking":
        return Error(stage, "Lacking", event["reason"])
    return None


def differences(items: Iterable[Mapping[str, str]]) -> tuple[Difference, ...]:
    """Return a worker's differences as values."""
    return tuple(Difference(item["path"], item["expected"], item["got"]) for item in items)


def error_value(error: Mapping[str, Any]) -> Error:
    """Return an error as a worker tells it as a value."""
    return Error(error.get("stage", "build"), error["type"], error["message"])


def sentence(error: Mapping[str, Any]) -> str:
    """Return an error in one line."""
    text = " ".join(str(error["message"]).split())
    return f"{error['type']}: {text}" if text else str(error["type"])


def broken_reason(event: Event) -> str:
    """Return why an environment is unavailable whose own packages cannot be imported."""
    return (
        f"its packages do not work together: importing {event['module']!r} raises"
        f" {sentence(event['error'])}"
    )


def is_given_up(event: Event, starts: int) -> bool:
    """Say whether a worker that ended early is not started again: it died twice, or it hung."""
    return starts >= MOST_STARTS or bool(event["given_up"])


def describe_end(event: Event, doing: str) -> str:
    """Return a clause that says how a worker ended that did not finish `doing`."""
    status = event["status"]
    if event["given_up"]:
        how = f"said nothing for too long while {doing}"
    elif status < 0:
        how = f"was killed by signal {-status} while {doing}"
    else:
        how = f"ended with status {status} while {doing}"
    last = event["log"].splitlines()[-1:]
    return f"its worker {how}" + (f" ({last[0]})" if last else "")
