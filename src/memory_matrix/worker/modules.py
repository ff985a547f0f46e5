"""Import what the matrix file names: payload modules and serializers."""

import contextlib
import importlib
import importlib.util
import inspect
import os
import sys
import typing

Payloads = typing.Dict[str, "Payload"]


BUILTIN = "builtin"


class Payload:
    """A named value of agent memory, and how to look at it."""

    def __init__(
        self,
        name: str,
        build: typing.Callable[[], object],
        probe: typing.Optional[typing.Callable[[object], object]],
    ) -> None:
        self.name = name
        self.build = build
        self.probe = probe


class Serializer:
    """Anything with `dumps` and `loads`, where text is kept as UTF-8."""

    def __init__(self, inner: typing.Any) -> None:
        self._inner = inner

    def dumps(self, value: object) -> typing.Tuple[bytes, bool]:
        """Return the bytes, and whether they are text that `loads` wants back as text.

        Raises:
            TypeError: it wrote something that is neither bytes nor text.
        """
        data = self._inner.dumps(value)
        if isinstance(data, str):
            return data.encode("utf-8"), True
        if isinstance(data, (bytes, bytearray, memoryview)):
            return bytes(data), False
        raise TypeError("dumps returned %s, neither bytes nor str" % type(data).__name__)

    def loads(self, data: bytes, text: bool) -> object:
        """Return the value that the serializer reads from `data`."""
        return self._inner.loads(data.decode("utf-8") if text else data)


def preload(names: typing.Iterable[str]) -> None:
    """Import modules that a payload's own code has imported in a child, so that each is paid once."""
    for name in names:
        if name not in sys.modules:
            with contextlib.suppress(Exception, SystemExit):
                importlib.import_module(name)


def add_folders(folders: typing.Iterable[str]) -> None:
    """Put `folders` in front of `sys.path`, in their order."""
    sys.path[:0] = [folder for folder in folders if folder not in sys.path]


def import_source(source: str) -> typing.Any:
    """Import a module by its name, or a file by its path, whose folder becomes importable.

    Raises: whatever the module raises.
    """
    if not source.endswith(".py"):
        return importlib.import_module(source)
    name = os.path.splitext(os.path.basename(source))[0]
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == source:
        return loaded
    folder = os.path.dirname(source)
    if folder not in sys.path:
        sys.path.append(folder)
    if loaded is not None:
        name = "memory_matrix_" + name  # a module of that name is in use, such as types.py
    spec = importlib.util.spec_from_file_location(name, source)
    if spec is None or spec.loader is None:
        raise ImportError("%s is no Python module" % source)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _module_of(source: str) -> str:
    return "memory_matrix.payloads.builtin" if source == BUILTIN else source


def find_payloads(source: str) -> Payloads:
    """Return the payloads of a module, in the order in which it defines them."""
    module = import_source(_module_of(source))
    found = {}
    for attribute, build in vars(module).items():
        if attribute.startswith("payload_") and callable(build):
            name = attribute[len("payload_") :]
            probe = getattr(module, "probe_" + name, None)
            found[name] = Payload(name, build, probe if callable(probe) else None)
    return found


def unused_probes(source: str, payloads: typing.Iterable[str]) -> typing.List[str]:
    """Return the names of a module's probes that have no payload."""
    names = set(payloads)
    return [
        attribute[len("probe_") :]
        for attribute in vars(import_source(_module_of(source)))
        if attribute.startswith("probe_") and attribute[len("probe_") :] not in names
    ]


def load_serializer(name: str) -> Serializer:
    """Return the serializer `name`: built in, `file.py:object` or `module:object`.

    Raises: whatever its module raises; AttributeError or TypeError where it is no serializer.
    """
    source, colon, attribute = name.rpartition(":")
    from memory_matrix.serializers import builtin

    if name in builtin.NAMES:
        return Serializer(builtin.load(name))
    if not colon:
        raise LookupError("%r is no serializer" % name)
    found = import_source(source)
    for part in attribute.split("."):
        found = getattr(found, part)
    for method in ("dumps", "loads"):
        if not callable(getattr(found, method, None)):
            raise TypeError("%s has no method %s" % (name, method))
        if not _takes_one(getattr(found, method)):
            raise TypeError(
                "%s.%s cannot be called with one argument; if it is a class, name an instance of it"
                % (name, method)
            )
    return Serializer(found)


def _takes_one(function: typing.Any) -> bool:
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:  # it has no signature to look at
        return True
    return True
