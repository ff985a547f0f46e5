"""The built-in serializers, each with its library's plain defaults.

A library is imported only when its serializer is loaded, so this module itself needs none of them.
"""

import importlib
import json
import pickle
from typing import Any, Callable, Dict, Mapping, Tuple, Union

from memory_matrix.payloads.lacking import Lacking

PROTOCOLS = range(6)


class Serializer:
    """What `load` returns: `dumps(value)` gives bytes or text, `loads` takes the same back."""

    def __init__(
        self,
        dumps: Callable[[Any], Union[bytes, str]],
        loads: Callable[[Any], Any],
    ) -> None:
        self.dumps = dumps
        self.loads = loads


def _pickle() -> Serializer:
    return Serializer(pickle.dumps, pickle.loads)


def _pickle_protocol(protocol: int) -> Callable[[], Serializer]:
    def dumps(value: Any) -> bytes:
        if protocol > pickle.HIGHEST_PROTOCOL:
            raise Lacking(
                "Needs pickle protocol {}, and this interpreter's highest is {}.".format(
                    protocol, pickle.HIGHEST_PROTOCOL
                )
            )
        return pickle.dumps(value, protocol)

    return lambda: Serializer(dumps, pickle.loads)


def _json() -> Serializer:
    return Serializer(json.dumps, json.loads)


def _library(module: str, dumps: str = "dumps", loads: str = "loads") -> Callable[[], Serializer]:
    def make() -> Serializer:
        library = importlib.import_module(module)
        return Serializer(getattr(library, dumps), getattr(library, loads))

    return make


def _yaml() -> Serializer:
    yaml = importlib.import_module("yaml")
    # Only this loader reads all that yaml.dump writes; releases before 5.1 call it Loader. What is
    # loaded is what another environment of the same run has just written.
    loader = getattr(yaml, "UnsafeLoader", yaml.Loader)
    return Serializer(yaml.dump, lambda text: yaml.load(text, Loader=loader))


_MAKERS: Dict[str, Callable[[], Serializer]] = {
    "pickle": _pickle,
    **{"pickle:{}".format(protocol): _pickle_protocol(protocol) for protocol in PROTOCOLS},
    "json": _json,
    "orjson": _library("orjson"),
    "ujson": _library("ujson"),
    "msgpack": _library("msgpack", "packb", "unpackb"),
    "ormsgpack": _library("ormsgpack", "packb", "unpackb"),
    "msgspec-json": _library("msgspec.json", "encode", "decode"),
    "msgspec-msgpack": _library("msgspec.msgpack", "encode", "decode"),
    "cbor2": _library("cbor2"),
    "cloudpickle": _library("cloudpickle"),
    "dill": _library("dill"),
    "jsonpickle": _library("jsonpickle", "encode", "decode"),
    "yaml": _yaml,
}

NAMES: Tuple[str, ...] = tuple(_MAKERS)

JSON_TEXT: Tuple[str, ...] = ("json", "orjson", "ujson", "msgspec-json", "jsonpickle")
"""Those that write JSON text, which Postgres can also keep as jsonb."""

PROJECTS: Mapping[str, str] = {
    "orjson": "orjson",
    "ujson": "ujson",
    "msgpack": "msgpack",
    "ormsgpack": "ormsgpack",
    "msgspec-json": "msgspec",
    "msgspec-msgpack": "msgspec",
    "cbor2": "cbor2",
    "cloudpickle": "cloudpickle",
    "dill": "dill",
    "jsonpickle": "jsonpickle",
    "yaml": "PyYAML",
}
"""The PyPI project that each serializer needs; those of the standard library are not in it."""


def load(name: str) -> Serializer:
    """Return the serializer `name`.

    Raises:
        ImportError: its library is not installed, or fails to import.
        ValueError: there is no built-in serializer of that name.
    """
    if name not in _MAKERS:
        raise ValueError(
            "{!r} is no built-in serializer; there are {}.".format(name, ", ".join(NAMES))
        )
    return _MAKERS[name]()
