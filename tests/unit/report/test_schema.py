"""schema.json says what report.json is: all that this release writes, and nothing that is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

from memory_matrix.matrix.model import Direction, FailOn
from memory_matrix.report import model
from memory_matrix.report.model import Report, to_json
from support.tables import table


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return json.loads(files("memory_matrix.report").joinpath("schema.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def validator(schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator(schema)


def test_the_schema_is_one(schema: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(schema)


@pytest.fixture(scope="module")
def part(validator: Draft202012Validator, sample: Report) -> str:
    """A valid report as JSON, of no more things than it takes to spoil each kind."""
    data = {
        key: value[:7] if isinstance(value, list) else value
        for key, value in to_json(sample).items()
    }
    validator.validate(data)
    return json.dumps(data)


def test_a_report_of_every_kind_of_thing_is_valid(
    sample: Report, validator: Draft202012Validator
) -> None:
    assert {cell.outcome for cell in sample.cells} == set(model.OUTCOMES)
    assert {result.outcome for result in sample.suite} == set(model.SUITE_OUTCOMES)
    validator.validate(to_json(sample))


def test_an_empty_report_is_valid(validator: Draft202012Validator) -> None:
    validator.validate(to_json(Report()))


def test_fields_of_a_later_release_are_valid(
    sample: Report, validator: Draft202012Validator
) -> None:
    data = to_json(sample)
    data["colour"] = data["cells"][0]["seconds"] = 1
    validator.validate(data)


def _drop(*path: str | int) -> Callable[[dict[str, Any]], None]:
    def change(data: Any) -> None:
        *steps, last = path
        for step in steps:
            data = data[step]
        del data[last]

    return change


def _put(value: object, *path: str | int) -> Callable[[dict[str, Any]], None]:
    def change(data: Any) -> None:
        *steps, last = path
        for step in steps:
            data = data[step]
        data[last] = value

    return change


WRONG = {
    "another schema": _put(2, "schema"),
    "no schema": _drop("schema"),
    "no summary": _drop("summary"),
    "negative count": _put(-1, "summary", "ok"),
    "count that is no whole number": _put(1.5, "summary", "cells"),
    "count missing": _drop("summary", "breaks"),
    "cells missing": _drop("cells"),
    "cells as an object": _put({}, "cells"),
    "cell without a break": _drop("cells", 0, "break"),
    "cell without a payload": _drop("cells", 0, "payload"),
    "unknown outcome": _put("fine", "cells", 0, "outcome"),
    "ok with a break": _put(True, "cells", 0, "break"),
    "ok with an error": _put({"stage": "load", "type": "E", "message": ""}, "cells", 0, "error"),
    "known without a break": _put("reason", "cells", 0, "known"),
    "changed without a difference": _put([], "cells", 1, "diff"),
    "unwritable without an error": _put(None, "cells", 2, "error"),
    "break without a direction": _put(None, "cells", 6, "direction"),
    "unknown direction": _put("upward", "cells", 6, "direction"),
    "unknown stage": _put("read", "cells", 6, "error", "stage"),
    "difference without a path": _drop("cells", 1, "diff", 0, "path"),
    "via as text": _put("redis/string", "cells", 0, "via"),
    "empty name": _put("", "environments", 0, "name"),
    "version as a number": _put(3.11, "environments", 0, "packages", "pydantic"),
    "unavailable without a reason": _put(None, "environments", 2, "reason"),
    "ready with a reason": _put("why", "servers", 0, "reason"),
    "unknown status": _put("broken", "servers", 0, "status"),
    "unknown kind of server": _put("mysql", "servers", 0, "kind"),
    "unknown suite outcome": _put("flaky", "suite", 0, "outcome"),
    "failed without a reason": _put(None, "suite", 1, "reason"),
    "case without a store": _drop("suite", 0, "store"),
    "negative seconds": _put(-1, "suite", 0, "seconds"),
    "servers as text": _put("pg18", "suite", 0, "servers"),
    "no summary of the suite": _drop("suite_summary"),
    "suite count missing": _drop("suite_summary", "not-offered"),
    "unknown strategy": _put("random", "strategy", "name"),
    "strategy without pairs": _drop("strategy", "pairs"),
    "strategy missing": _drop("strategy"),
    "policy answer that is no text": _put(True, "stores", 0, "policy", "nul"),
    "unavailable store without a reason": _put(None, "stores", 4, "reason"),
    "store without an environment": _drop("stores", 0, "environment"),
    "stale_waivers as text": _put("suite.waiver[0]", "stale_waivers"),
    "unknown fail_on": _put("always", "fail_on"),
    "unknown status of a payload": _put("gone", "payloads", 0, "status"),
    "stale_known as text": _put("known[0]", "stale_known"),
}


@table("change", WRONG)
def test_a_wrong_report_is_not_valid(
    change: Callable[[dict[str, Any]], None], part: str, validator: Draft202012Validator
) -> None:
    data = json.loads(part)
    change(data)
    assert not validator.is_valid(data)


def test_the_schema_has_the_words_of_the_model(schema: dict[str, Any]) -> None:
    parts = schema["$defs"]
    assert parts["cell"]["properties"]["outcome"]["enum"] == list(model.OUTCOMES)
    assert set(parts["direction"]["enum"]) == set(get_args(Direction))
    assert set(schema["properties"]["fail_on"]["enum"]) == set(get_args(FailOn))
    assert set(parts["summary"]["required"]) == set(Report().summary())
    assert parts["case"]["properties"]["outcome"]["enum"] == list(model.SUITE_OUTCOMES)
    assert set(parts["strategy"]["properties"]["name"]["enum"]) == set(get_args(model.StrategyName))
    assert set(parts["suite_summary"]["required"]) == set(Report().suite_summary())
    assert set(get_args(model.SuiteOutcome)) == set(model.SUITE_OUTCOMES)


def test_the_schema_requires_every_field_that_is_written(
    sample: Report, schema: dict[str, Any]
) -> None:
    data, parts = to_json(sample), schema["$defs"]
    assert set(schema["required"]) == set(data)
    for part, items in {
        "cell": "cells",
        "environment": "environments",
        "server": "servers",
        "payload": "payloads",
        "store": "stores",
        "case": "suite",
    }.items():
        assert set(parts[part]["required"]) == set(data[items][0])
    assert set(parts["strategy"]["required"]) == set(data["strategy"])
