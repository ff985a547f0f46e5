"""Functions and classes kept in memory, as callbacks and tool state are."""

import functools
import itertools
import operator
from typing import Any, Callable, Dict

RECORD = {"name": "Lyon", "score": 0.5}
"""What probes call the functions with."""


class Greeter:
    """Its bound method is kept as a callback."""

    def __init__(self, greeting: str) -> None:
        self.greeting = greeting

    def greet(self, name: str) -> str:
        """Return the greeting with `name`."""
        return "{}, {}!".format(self.greeting, name)


def rank(record: Dict[str, Any], weight: float = 1.0) -> float:
    """Return the weighted score of `record`."""
    return float(record["score"]) * weight


def payload_function() -> Any:
    """A function of a module, saved by its name."""
    return rank


def probe_function(value: Any) -> Any:
    """Call it."""
    return value(RECORD)


def payload_function_builtin() -> Any:
    """A built-in function."""
    return len


def probe_function_builtin(value: Any) -> Any:
    """Call it."""
    return value(RECORD)


def payload_partial() -> Any:
    """A functools.partial of a module's function."""
    return functools.partial(rank, weight=3.0)


def probe_partial(value: Any) -> Any:
    """Call it, and read its arguments."""
    return [value(RECORD), list(value.args), dict(value.keywords)]


def payload_lambda() -> Any:
    """A lambda, which only serializers that save code can write."""
    return lambda record: record["name"].upper()


def probe_lambda(value: Any) -> Any:
    """Call it."""
    return value(RECORD)


def payload_closure() -> Any:
    """A function inside a function that uses the outer one's variable."""
    return _at_least(0.4)


def probe_closure(value: Any) -> Any:
    """Call it."""
    return value(RECORD)


def payload_bound_method() -> Any:
    """A method bound to its object."""
    return Greeter("Bonjour").greet


def probe_bound_method(value: Any) -> Any:
    """Call it."""
    return value("Lyon")


def payload_item_getter() -> Any:
    """An operator.itemgetter, as sort keys are."""
    return operator.itemgetter("name", "score")


def probe_item_getter(value: Any) -> Any:
    """Call it."""
    return list(value(RECORD))


def payload_iterator_count() -> Any:
    """An itertools.count in mid-course (no longer written by pickle since Python 3.14)."""
    counter = itertools.count(5)
    next(counter)
    return counter


def probe_iterator_count(value: Any) -> Any:
    """Say where it stands, without moving it on."""
    return repr(value)


def payload_class_object() -> Any:
    """A class itself, saved by its name."""
    return Greeter


def probe_class_object(value: Any) -> Any:
    """Make an instance and use it."""
    return value("Hello").greet("Lyon")


def payload_class_local() -> Any:
    """An instance of a class made inside a function."""

    class Scratch:
        """Not importable by any name."""

        def __init__(self, text: str) -> None:
            self.text = text

        def shout(self) -> str:
            """Return the text in capitals."""
            return self.text.upper()

    return Scratch("draft")


def probe_class_local(value: Any) -> Any:
    """Read its attribute and call its method."""
    return [type(value).__name__, value.text, value.shout()]


def _at_least(threshold: float) -> Callable[[Dict[str, Any]], bool]:
    def accept(record: Dict[str, Any]) -> bool:
        return rank(record) >= threshold

    return accept
