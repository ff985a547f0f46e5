"""The built-in serializers: their names, what they need, and that they write and read."""

from __future__ import annotations

import importlib.util
import json
import pickle
import sys
from pathlib import Path

import pytest

from memory_matrix.payloads.lacking import Lacking
from memory_matrix.serializers import builtin
from support.tables import table

MODULES = {"msgspec-json": "msgspec", "msgspec-msgpack": "msgspec"}
PLAIN = {"role": "user", "tokens": 3, "parts": [None, True, 1.5, "é\U0001f9e0"]}
PAGE = Path(__file__).parents[3] / "docs" / "serializers.md"


def test_names_are_those_of_the_documentation() -> None:
    names = (
        *("pickle", "pickle:0", "pickle:1", "pickle:2", "pickle:3", "pickle:4", "pickle:5"),
        *("json", "orjson", "ujson", "msgpack", "ormsgpack", "msgspec-json", "msgspec-msgpack"),
        *("cbor2", "cloudpickle", "dill", "jsonpickle", "yaml"),
    )
    assert names == builtin.NAMES


def test_json_text_and_projects_speak_of_existing_names() -> None:
    assert set(builtin.JSON_TEXT) <= set(builtin.NAMES)
    standard = {"json", *(name for name in builtin.NAMES if name.split(":")[0] == "pickle")}
    assert builtin.PROJECTS.keys() == set(builtin.NAMES) - standard


def test_page_has_a_row_for_every_library_with_its_project() -> None:
    rows = PAGE.read_text(encoding="utf-8").splitlines()
    for name, project in builtin.PROJECTS.items():
        (row,) = [row for row in rows if row.startswith(f"| `{name}` |")]
        assert row.endswith(f"| {project} |")
        assert ("JSON text" in row) is (name in builtin.JSON_TEXT)


@table("name", builtin.NAMES)
def test_plain_value_comes_back(name: str) -> None:
    module = MODULES.get(name, name)
    if name in builtin.PROJECTS and importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    serializer = builtin.load(name)
    assert serializer.loads(serializer.dumps(PLAIN)) == PLAIN


@table("name", list(builtin.PROJECTS))
def test_missing_library_is_an_import_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        for module in [each for each in sys.modules if each.startswith("msgspec.")]:
            patch.delitem(sys.modules, module)
        patch.setitem(sys.modules, MODULES.get(name, name), None)
        with pytest.raises(ImportError):
            builtin.load(name)


@table("protocol", range(6))
def test_numbered_pickle_writes_that_protocol(protocol: int) -> None:
    data = builtin.load(f"pickle:{protocol}").dumps((1.5, "text"))
    assert data == pickle.dumps((1.5, "text"), protocol)


def test_pickle_writes_the_default_protocol() -> None:
    assert builtin.load("pickle").dumps({1, 2}) == pickle.dumps({1, 2})


def test_json_writes_text() -> None:
    assert builtin.load("json").dumps(PLAIN) == json.dumps(PLAIN)


def test_protocol_beyond_the_interpreter_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickle, "HIGHEST_PROTOCOL", 4)
    with pytest.raises(Lacking, match=r"^Needs pickle protocol 5, .* highest is 4\.$"):
        builtin.load("pickle:5").dumps(PLAIN)


def test_protocol_beyond_the_interpreter_is_still_given_to_it_to_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pickle, "HIGHEST_PROTOCOL", 4)
    assert builtin.load("pickle:5").loads(pickle.dumps(PLAIN, 3)) == PLAIN


@table("name", ["pickle:6", "pickle:", "JSON", ""])
def test_unknown_name_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(ValueError, match=r"pickle, pickle:0, .*yaml"):
        builtin.load(name)
