"""Objects with parts: what they are made of, whatever library made their class."""

import array
import collections
import enum
import functools
import hashlib
import importlib
import struct
import types
import typing

from memory_matrix.worker import parts, scalars
from memory_matrix.worker.naming import stable_text, type_name
from memory_matrix.worker.parts import Describer, Object

Describe = typing.Callable[[Describer, typing.Any, Object], None]


MOST_NUMBERS = 4096
"""Numbers of an array that are listed; of a longer one the digest is kept."""

_CACHES = frozenset(("cache", "cached", "caches", "hash", "memo"))
"""Words in the names of private attributes that only save a library work."""

_HIDDEN_IN_EXCEPTIONS: typing.Tuple[typing.Tuple[type, str], ...] = (
    (BaseException, "__notes__"),
    (OSError, "filename"),
    (OSError, "filename2"),
    (ImportError, "name"),
    (ImportError, "path"),
)
"""What built-in exceptions keep outside of their arguments and their attributes."""

_UNSET = object()


def describe_into(
    describer: Describer, kind: typing.Any, value: typing.Any, described: Object
) -> None:
    """Fill `described` with the parts of `value`, whose type is `kind`."""
    if issubclass(kind, enum.Enum):
        return _enum(describer, value, described)
    special = _EXACT.get(kind) or _foreign(kind)
    if special is not None:
        return special(describer, value, described)
    based = _base_parts(describer, kind, value, described)
    if _properties(kind):
        described["properties"] = _properties(kind)
    names = declared_fields(kind)
    if names is not None:
        return _declared(describer, kind, value, names, described)
    told = _attributes(describer, kind, value, described)
    if based or (told and not _hides_state(kind)):
        return None
    return _reduced(describer, value, described)


@functools.lru_cache(maxsize=None)
def declared_fields(kind: type) -> typing.Optional[typing.Dict[str, typing.Any]]:
    """Return the declared fields of a pydantic, attrs or data class with their defaults, or None.

    A default is a library's own mark, which no field holds, where there is none. Factories are called,
    once per class: what is new each time, such as an identifier, then equals no field either.
    """
    for read in (_pydantic_fields, _attrs_fields, _dataclass_fields, _struct_fields):
        names = read(kind)
        if names is not None:
            return names
    return None


@functools.lru_cache(maxsize=None)
def _foreign(kind: type) -> typing.Optional[Describe]:
    """Return how to describe a library's own type; of pandas' types, subclasses too."""
    names = [_short_name(base) for base in kind.__mro__]
    wanted = names if "pandas" in map(_root, kind.__mro__) else names[:1]
    return next((_FOREIGN[name] for name in wanted if name in _FOREIGN), None)


def _base_parts(describer: Describer, kind: type, value: typing.Any, described: Object) -> bool:
    """Describe what a subclass of a built-in type, or an exception, inherits from it."""
    for base, describe in _BASES:
        if issubclass(kind, base):  # what `value.__class__` says may be a lie
            describe(describer, value, described)
            return True
    for ancestor in kind.__mro__:
        if _short_name(ancestor) in _FOREIGN:
            _FOREIGN[_short_name(ancestor)](describer, value, described)
            return True
    return False


def _declared(
    describer: Describer,
    kind: type,
    value: typing.Any,
    names: typing.Dict[str, typing.Any],
    described: Object,
) -> None:
    fields = described["fields"] = {}
    default = described["default"] = []
    for name, declared in names.items():
        held = _get(value, name)
        fields[name] = _field_node(describer, held)
        if _holds_default(held, declared):
            default.append(name)
    for name, held in _undeclared(kind, value).items():
        if name not in fields:
            fields[name] = _field_node(describer, held)
    for holder in ("__pydantic_extra__", "__pydantic_private__"):
        for name, held in (_get(value, holder, None) or {}).items():
            fields[name] = describer.node(held)
    local = _pydantic_internals(value)
    if local:
        described["local"] = local


def _attributes(describer: Describer, kind: type, value: typing.Any, described: Object) -> bool:
    """Describe the attributes of an object of a plain class; say whether it can have any."""
    held = _undeclared(kind, value)
    annotated = _annotated(kind)
    if not held and not annotated and not kind.__dictoffset__ and not _slots(kind):
        return False
    fields = described["fields"] = {}
    for name in list(annotated) + list(held):
        if name not in fields:
            fields[name] = _field_node(describer, held.get(name, _UNSET) if name in held
                                       else _get(value, name))  # fmt: skip
    described["default"] = _filled_in(kind, held) + [
        name for name in annotated if name not in held and fields[name] != parts.MISSING
    ]
    fallback = _class_defaults(describer, kind, fields)
    if fallback:
        described["fallback"] = fallback
    return bool(fields) or (_is_python_class(kind) and not _reduces_itself(kind))


def _filled_in(kind: type, held: typing.Dict[str, typing.Any]) -> typing.List[str]:
    """Return which attributes of a plain class are as its `__init__` fills them in, or empty."""
    defaults = _argument_defaults(kind)
    return [
        name
        for name, item in held.items()
        if _is_empty(item) or _holds_default(item, defaults.get(name, _UNSET))
    ]


@functools.lru_cache(maxsize=None)
def _argument_defaults(kind: typing.Any) -> typing.Dict[str, typing.Any]:
    """Return the defaults of what `__init__` takes, by the names of its arguments."""
    code = getattr(kind.__init__, "__code__", None)
    if code is None:
        return {}
    values = kind.__init__.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    return dict(zip(names, values), **(kind.__init__.__kwdefaults__ or {}))


@functools.lru_cache(maxsize=None)
def _properties(kind: type) -> typing.List[str]:
    """Return the public names that a class of Python's answers by code rather than from a field."""
    return sorted(
        {
            name
            for base in kind.__mro__
            if _is_python_class(base)
            for name, item in base.__dict__.items()
            if isinstance(item, property) and not name.startswith("_")
        }
    )


def _reduces_itself(kind: type) -> bool:
    return any(
        name in base.__dict__
        for base in kind.__mro__[:-1]
        for name in ("__reduce__", "__reduce_ex__", "__getstate__", "__getnewargs__")
    )


@functools.lru_cache(maxsize=None)
def _hides_state(kind: typing.Any) -> bool:
    """Say whether instances hold more than their attributes: what an extension type keeps for itself.

    All that Python itself gives an instance is a pointer for each slot, for attributes, and for
    weak references.
    """
    pointers = len(_slots(kind)) + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return bool(kind.__basicsize__ > object.__basicsize__ + pointers * struct.calcsize("P"))


def _is_python_class(kind: type) -> bool:
    return bool(kind.__flags__ & (1 << 9))  # Py_TPFLAGS_HEAPTYPE: made by a class statement


def _undeclared(kind: type, value: typing.Any) -> typing.Dict[str, typing.Any]:
    """Return what the instance holds, without values that a cache put there."""
    held = {}
    for name in _slots(kind):
        item = _get(value, name)
        if item is not _UNSET:
            held[name] = item
    own = _get(value, "__dict__", None)
    if isinstance(own, dict):
        held.update((name, item) for name, item in own.items() if isinstance(name, str))
    return {name: item for name, item in held.items() if not _is_cache(kind, name)}


@functools.lru_cache(maxsize=None)
def _is_cache(kind: type, name: str) -> bool:
    if name.startswith("_sa_") or (name.startswith("__") and name.endswith("__")):
        return True  # SQLAlchemy's own, or Python's
    if name.startswith("_") and not _CACHES.isdisjoint(name.split("_")):
        return True
    made_by = type(getattr(kind, name, None)).__name__
    return "cached_property" in made_by or made_by in ("lazyproperty", "reify")


@functools.lru_cache(maxsize=None)
def _slots(kind: type) -> typing.Tuple[str, ...]:
    names = []
    for base in reversed(kind.__mro__):
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            if name in ("__dict__", "__weakref__"):
                continue
            private = name.startswith("__") and not name.endswith("__")
            names.append("_" + base.__name__.lstrip("_") + name if private else name)
    return tuple(names)


@functools.lru_cache(maxsize=None)
def _annotated(kind: type) -> typing.Tuple[str, ...]:
    names: typing.Dict[str, None] = {}
    for base in reversed(kind.__mro__):
        if _is_python_class(base):
            for name, annotation in _readable_annotations(base).items():
                if "ClassVar" not in str(annotation) and not name.startswith("_"):
                    names[name] = None
    return tuple(names)


def _readable_annotations(kind: typing.Any) -> typing.Dict[str, typing.Any]:
    try:
        return _annotations(kind)
    except Exception:  # they may be any code
        return {}


def _annotations(kind: typing.Any) -> typing.Dict[str, typing.Any]:
    """Return a class's own annotations, unevaluated where Python 3.14 and later keep them so."""
    if "__annotations__" in vars(kind):
        return dict(vars(kind)["__annotations__"])
    if vars(kind).get("__annotate_func__") is None:
        return {}
    lazy: typing.Any = importlib.import_module("annotationlib")
    return dict(lazy.get_annotations(kind, format=lazy.Format.FORWARDREF))


def _class_defaults(
    describer: Describer, kind: type, fields: typing.Dict[str, typing.Any]
) -> typing.Dict[str, typing.Any]:
    """Return plain class attributes that answer where an instance has none of its own."""
    defaults: typing.Dict[str, typing.Any] = {}
    for base in kind.__mro__:
        if not _is_python_class(base):
            continue
        for name, item in base.__dict__.items():
            plain = isinstance(item, enum.Enum) or _is_empty(item)
            plain = plain or type(item) in (bool, int, float, str, bytes, tuple)
            if plain and not name.startswith("__") and name not in fields:
                defaults.setdefault(name, describer.node(item))
    return defaults


def _get(value: typing.Any, name: str, otherwise: typing.Any = _UNSET) -> typing.Any:
    try:
        return getattr(value, name)
    except AttributeError:
        return otherwise
    except Exception as error:
        return _Raises(type_name(type(error)))


class _Raises:
    """Stands for an attribute that cannot be read."""

    def __init__(self, error: str) -> None:
        self.error = error


def _field_node(describer: Describer, held: typing.Any) -> typing.Any:
    if held is _UNSET:
        return parts.MISSING
    if type(held) is _Raises:
        return ["<raises>", held.error]
    return describer.node(held)


def _holds_default(held: typing.Any, declared: typing.Any) -> bool:
    if declared is _UNSET or held is _UNSET:
        return False
    try:
        return held is declared or (type(held) is type(declared) and bool(held == declared))
    except Exception:
        return False


def _is_empty(held: typing.Any) -> bool:
    return held is None or (type(held) in (bool, int, float, str, bytes, list, tuple, dict, set)
                            and not held)  # fmt: skip


def _pydantic_fields(kind: typing.Any) -> typing.Optional[typing.Dict[str, typing.Any]]:
    if isinstance(kind.__dict__.get("__pydantic_fields__"), dict):  # 2.10 and later
        fields = kind.__dict__["__pydantic_fields__"]
    elif hasattr(kind, "__pydantic_core_schema__") and isinstance(
        getattr(kind, "model_fields", None), dict
    ):
        fields = kind.model_fields
    elif hasattr(kind, "__fields_set__") and isinstance(getattr(kind, "__fields__", None), dict):
        fields = kind.__fields__
    else:
        return None
    return {name: _declared_default(field) for name, field in fields.items()}


def _attrs_fields(kind: typing.Any) -> typing.Optional[typing.Dict[str, typing.Any]]:
    fields = kind.__dict__.get("__attrs_attrs__")
    if fields is None:
        return None
    return {field.name: _declared_default(field) for field in fields}


def _dataclass_fields(kind: typing.Any) -> typing.Optional[typing.Dict[str, typing.Any]]:
    fields = getattr(kind, "__dataclass_fields__", None)
    if not isinstance(fields, dict):
        return None
    return {
        name: _declared_default(field)
        for name, field in fields.items()
        if getattr(getattr(field, "_field_type", None), "name", "") == "_FIELD"
    }


def _struct_fields(kind: typing.Any) -> typing.Optional[typing.Dict[str, typing.Any]]:
    """Return the fields of a msgspec Struct."""
    names = getattr(kind, "__struct_fields__", None)
    if not isinstance(names, tuple):
        return None
    defaults = dict(zip(reversed(names), reversed(getattr(kind, "__struct_defaults__", ()))))
    return {name: _made(defaults.get(name, _UNSET)) for name in names}


def _declared_default(field: typing.Any) -> typing.Any:
    factory = getattr(field, "default_factory", None)
    return _call(factory) if callable(factory) else _made(getattr(field, "default", _UNSET))


def _made(default: typing.Any) -> typing.Any:
    """Return a default, or what it makes where it is a factory of attrs or msgspec."""
    is_factory = type(default).__name__ == "Factory"
    return _call(default.factory) if is_factory else default


def _call(factory: typing.Callable[[], typing.Any]) -> typing.Any:
    try:
        return factory()
    except Exception:  # it may want to see the other fields
        return _UNSET


def _pydantic_internals(value: typing.Any) -> typing.Dict[str, typing.Any]:
    """Return the types of what pydantic needs to work on a model at all."""
    if hasattr(type(value), "__pydantic_core_schema__"):
        names = ["__pydantic_fields_set__", "__pydantic_extra__"]
    elif hasattr(type(value), "__fields_set__"):
        names = ["__fields_set__"]
    else:
        return {}
    held = ((name, _get(value, name)) for name in names)
    return {
        name: parts.MISSING if item is _UNSET else ["type", type_name(type(item))]
        for name, item in held
    }


def _enum(describer: Describer, value: enum.Enum, described: Object) -> None:
    facts = described["facts"] = {"value": describer.node(value.value)}
    if not isinstance(value, enum.Flag):  # combined flags have a name on some interpreters only
        facts["name"] = describer.node(value.name)


def _function(describer: Describer, value: types.FunctionType, described: Object) -> None:
    facts = described["facts"] = {"name": _function_name(value, value.__qualname__)}
    if value.__kwdefaults__:
        facts["keywords"] = describer.node(value.__kwdefaults__)
    if value.__closure__:
        facts["closure"] = describer.node(
            dict(zip(value.__code__.co_freevars, map(_cell_contents, value.__closure__)))
        )
    described["local"] = {"code": _code_digest(value.__code__)}
    described["items"] = [describer.node(item) for item in value.__defaults__ or ()]
    described["fields"] = {
        name: describer.node(item)
        for name, item in value.__dict__.items()
        if not _is_cache(types.FunctionType, name)
    }


def _cached_function(describer: Describer, value: typing.Any, described: Object) -> None:
    described["facts"] = {
        "name": _function_name(value, value.__qualname__),
        "wrapped": describer.node(value.__wrapped__),
    }


def _function_name(value: typing.Any, name: str) -> typing.List[str]:
    return [scalars.FUNCTION, "%s.%s" % (getattr(value, "__module__", None), name)]


def _cell_contents(cell: typing.Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return "<empty>"


def _code_digest(code: types.CodeType) -> str:
    return hashlib.sha256(_code_text(code).encode("utf-8", "replace")).hexdigest()


def _code_text(code: types.CodeType) -> str:
    seen = (code.co_code, code.co_names, code.co_varnames, code.co_freevars)
    return "%r %s" % (seen, [_constant_text(constant) for constant in code.co_consts])


def _constant_text(constant: object) -> str:
    if isinstance(constant, types.CodeType):
        return _code_text(constant)
    if isinstance(constant, frozenset):
        return repr(sorted(map(repr, constant)))
    return repr(constant)


def _method(describer: Describer, value: typing.Any, described: Object) -> None:
    described["facts"] = {
        "name": describer.node(value.__name__),
        "self": describer.node(value.__self__),
    }


def _partial(describer: Describer, value: typing.Any, described: Object) -> None:
    described["facts"] = {
        "func": describer.node(value.func),
        "keywords": describer.node(value.keywords),
    }
    described["items"] = [describer.node(item) for item in value.args]


def _slice(describer: Describer, value: slice, described: Object) -> None:
    described["items"] = [describer.node(item) for item in (value.start, value.stop, value.step)]


def _text(describer: Describer, value: typing.Any, described: Object) -> None:
    described["facts"] = {"text": stable_text(repr(value))}


def _code(describer: Describer, value: types.CodeType, described: Object) -> None:
    described["facts"] = {"name": value.co_name}
    described["local"] = {"code": _code_digest(value)}


def _deque(describer: Describer, value: typing.Any, described: Object) -> None:
    described["facts"] = {"maxlen": describer.node(value.maxlen)}
    parts.items(describer, value, described)


def _mapping(describer: Describer, value: typing.Any, described: Object) -> None:
    ordered = isinstance(value, collections.OrderedDict)
    pairs = collections.OrderedDict.items(value) if ordered else dict.items(value)
    described["entries"] = [[describer.node(key), describer.node(item)] for key, item in pairs]
    if ordered:
        described["ordered"] = True
    if isinstance(value, collections.defaultdict):
        described["facts"] = {"default_factory": describer.node(value.default_factory)}


def _chain_map(describer: Describer, value: typing.Any, described: Object) -> None:
    described["items"] = [describer.node(item) for item in value.maps]


def _array(describer: Describer, value: typing.Any, described: Object) -> None:
    described["facts"] = {"typecode": value.typecode}
    _numbers(describer, value.tolist(), value.tobytes(), described)


def _numbers(
    describer: Describer,
    numbers: typing.List[typing.Any],
    data: typing.Optional[bytes],
    described: Object,
) -> None:
    """List `numbers`; of many, keep a digest of `data`, unless these bytes do not tell them."""
    if data is None or len(numbers) <= MOST_NUMBERS:
        described["items"] = [describer.node(number) for number in numbers]
    else:
        described["facts"]["numbers"] = "%d, sha256 %s" % (
            len(numbers),
            hashlib.sha256(data).hexdigest(),
        )


def _exception(describer: Describer, value: BaseException, described: Object) -> None:
    facts = described["facts"] = {"cause": describer.node(value.__cause__)}
    for kind, name in _HIDDEN_IN_EXCEPTIONS:
        held = _get(value, name, None) if issubclass(type(value), kind) else None
        if held is not None:
            facts[name] = _field_node(describer, held)
    nested = getattr(value, "exceptions", None)
    if nested is not None:
        facts["exceptions"] = describer.node(nested)
        facts["message"] = describer.node(getattr(value, "message", None))
    else:
        parts.items(describer, value.args, described)


def _ndarray(describer: Describer, value: typing.Any, described: Object) -> None:
    described["facts"] = {
        "dtype": value.dtype.str if value.dtype.names is None else str(value.dtype.descr),
        "shape": describer.node(tuple(int(size) for size in value.shape)),
    }
    telling = not value.dtype.hasobject and value.dtype.char not in "gG"  # no pointers, no padding
    data = value.tobytes() if telling else None
    _numbers(describer, value.ravel().tolist(), data, described)


def _frame(describer: Describer, value: typing.Any, described: Object) -> None:
    described["facts"] = {
        **_labels(describer, "index", value.index),
        **_labels(describer, "columns", value.columns),
        "dtypes": describer.node([_dtype(dtype) for dtype in value.dtypes]),
    }
    described["items"] = [
        describer.node(value.iloc[:, place].tolist()) for place in range(value.shape[1])
    ]


def _series(describer: Describer, value: typing.Any, described: Object) -> None:
    described["facts"] = {
        **_labels(describer, "index", value.index),
        "name": describer.node(value.name),
        "dtype": describer.node(_dtype(value.dtype)),
    }
    described["items"] = [describer.node(item) for item in value.tolist()]


def _index(describer: Describer, value: typing.Any, described: Object) -> None:
    described["facts"] = {"names": describer.node(list(value.names)), "dtype": str(value.dtype)}
    described["items"] = [describer.node(item) for item in value.tolist()]


def _labels(describer: Describer, name: str, index: typing.Any) -> Object:
    """Return what an index says; its type says how it is kept, which is pandas' own affair."""
    return {
        name: describer.node(index.tolist()),
        name + " names": describer.node(list(index.names)),
    }


def _dtype(dtype: typing.Any) -> typing.Any:
    """Return the text of a type of pandas; what a category may be is no part of its text."""
    if not hasattr(dtype, "categories"):
        return str(dtype)
    return [str(dtype), list(dtype.categories), bool(dtype.ordered)]


def _numpy_dtype(_: Describer, value: typing.Any, described: Object) -> None:
    """Describe a type of numpy, whose own class has another name in every other release."""
    described["t"] = "numpy.dtype"
    described["facts"] = {"text": str(value)}


def _bit_generator(describer: Describer, value: typing.Any, described: Object) -> None:
    """Describe what a generator of numpy draws next; what it was seeded with is not always kept."""
    old = hasattr(value, "get_state")  # which also keeps one number in hand
    state = value.get_state(legacy=False) if old else getattr(value, "bit_generator", value).state
    described["facts"] = {"state": describer.node(state)}


def _random(describer: Describer, value: typing.Any, described: Object) -> None:
    described["facts"] = {"state": describer.node(value.getstate())}


def _reduced(describer: Describer, value: typing.Any, described: Object) -> None:
    """Describe an object of an extension type by what it gives to pickle, else by its text."""
    if "numpy.generic" in map(_short_name, type(value).__mro__):
        return _numpy_scalar(describer, value, described)
    try:
        reduced = value.__reduce_ex__(2)
    except Exception:
        reduced = None
    if isinstance(reduced, tuple):
        described["facts"] = {"made by": describer.node(reduced[0])}
        told = bool(described.get("fields"))
        described["items"] = [
            describer.node(item)
            for item in reduced[1:3]
            if not (told and isinstance(item, dict))  # the attributes again
        ]
    elif isinstance(reduced, str):
        described["facts"] = {"name": _function_name(value, reduced)}
    else:
        _text(describer, value, described)
    return None


def _numpy_scalar(describer: Describer, value: typing.Any, described: Object) -> None:
    held = value.item()
    wide = type(held) is type(value)  # a longdouble is its own item
    described["facts"] = {
        "dtype": str(value.dtype),
        "value": describer.node(repr(held) if wide else held),
    }


def _root(kind: type) -> str:
    return str(getattr(kind, "__module__", "")).partition(".")[0]


def _short_name(kind: type) -> str:
    return "%s.%s" % (_root(kind), kind.__name__)


def _inherited(describer: Describer, value: typing.Any, described: Object) -> None:
    described["facts"] = {"value": scalars.inherited(value)}


def _text_value(describer: Describer, value: str, described: Object) -> None:
    described["facts"] = {"value": describer.node(str.__str__(value))}


def _int_value(describer: Describer, value: int, described: Object) -> None:
    described["facts"] = {"value": describer.node(int.__int__(value))}


def _float_value(describer: Describer, value: float, described: Object) -> None:
    described["facts"] = {"value": describer.node(float.__float__(value))}


def _bytes_value(describer: Describer, value: typing.Any, described: Object) -> None:
    described["facts"] = {"value": describer.node(bytes(value))}


def _duration(describer: Describer, value: typing.Any, described: Object) -> None:
    """Describe a duration of pendulum, whose months are no number of days."""
    _inherited(describer, value, described)
    described["facts"].update(years=value.years, months=value.months)


def _nothing(describer: Describer, value: typing.Any, described: Object) -> None:
    """Two plain objects of one class are alike."""


_BASES: typing.Tuple[typing.Tuple[typing.Any, Describe], ...] = (
    (BaseException, _exception),
    (collections.deque, _deque),
    (dict, _mapping),
    (list, parts.items),
    (tuple, parts.items),
    (set, parts.members),
    (frozenset, parts.members),
    (str, _text_value),
    (float, _float_value),
    (int, _int_value),
    (bytes, _bytes_value),
    (bytearray, _bytes_value),
    (scalars.STATEFUL, _inherited),
    (functools.partial, _partial),
    (array.array, _array),
)

_EXACT: typing.Dict[type, Describe] = {
    object: _nothing,
    types.FunctionType: _function,
    types.MethodType: _method,
    types.CodeType: _code,
    type(functools.lru_cache()(stable_text)): _cached_function,
    types.MappingProxyType: parts.entries,
    slice: _slice,
    array.array: _array,
    collections.deque: _deque,
    collections.ChainMap: _chain_map,
}

_FOREIGN: typing.Dict[str, Describe] = {
    "numpy.ndarray": _ndarray,
    "numpy.MaskedArray": _ndarray,
    "numpy.dtype": _numpy_dtype,
    "numpy.Generator": _bit_generator,
    "numpy.BitGenerator": _bit_generator,
    "numpy.RandomState": _bit_generator,
    "random.Random": _random,
    "pendulum.Duration": _duration,
    "pandas.DataFrame": _frame,
    "pandas.Series": _series,
    "pandas.Index": _index,
    "typing.TypeVar": _text,
}
