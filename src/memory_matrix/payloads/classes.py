"""Instances of plain classes, with each of the ways to say how they are saved."""

from typing import Any, Dict, Generic, List, NamedTuple, Optional, Tuple, TypeVar

T = TypeVar("T")


class Note:
    """A plain class; its `shared` stands on the class, not on the instance."""

    shared = False

    def __init__(self, text: str, tags: List[str]) -> None:
        self.text = text
        self.tags = tags


class Span:
    """A class with `__slots__` and no `__dict__`."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end


class PinnedSpan(Span):
    """Adds a `__dict__` to slots: its state has two parts."""

    def __init__(self, start: int, end: int, label: str) -> None:
        super().__init__(start, end)
        self.label = label


class Cursor:
    """Leaves its cache out when it is saved, and starts a new one when it is loaded."""

    def __init__(self, position: int) -> None:
        self.position = position
        self.cache: Dict[int, str] = {}

    def __getstate__(self) -> Dict[str, Any]:
        return {"position": self.position, "version": 2}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.position = state["position"]
        self.cache = {}


class Money:
    """Says by `__reduce__` how it is built again."""

    def __init__(self, amount: int, currency: str) -> None:
        self.amount = amount
        self.currency = currency

    def __reduce__(self) -> Tuple[Any, ...]:
        return Money, (self.amount, self.currency)


class Token(str):  # noqa: SLOT000 - its attribute lives in its __dict__
    """A str with arguments of its own, passed on by `__getnewargs_ex__`."""

    kind = ""

    def __new__(cls, text: str, *, kind: str) -> "Token":  # noqa: PYI034 - Self is too new
        """Return the text with its kind."""
        token = super().__new__(cls, text)
        token.kind = kind
        return token

    def __getnewargs_ex__(self) -> Tuple[Tuple[str], Dict[str, str]]:
        return (str(self),), {"kind": self.kind}


class Agent:
    """Holds a class of its own."""

    class State:
        """A class inside a class, found by its qualified name."""

        def __init__(self, step: int) -> None:
            self.step = step


class Box(Generic[T]):
    """A generic class."""

    def __init__(self, content: T) -> None:
        self.content = content


class Metadata(Dict[str, Any]):
    """A dict with an attribute beside its items."""

    source: Optional[str] = None


class History(List[str]):
    """A list with an attribute beside its items."""

    limit: Optional[int] = None


class Turn(NamedTuple):
    """A named tuple with a default."""

    role: str
    content: str
    tokens: int = 0


def payload_class() -> Any:
    """An instance of a plain class, one attribute only on the class."""
    return Note("Prefers trains.", ["travel"])


def payload_class_slots() -> Any:
    """An instance of a class with __slots__."""
    return Span(3, 14)


def payload_class_slots_and_dict() -> Any:
    """An instance with both slots and a __dict__."""
    return PinnedSpan(3, 14, "address")


def payload_class_getstate() -> Any:
    """An instance with __getstate__ and __setstate__."""
    return Cursor(42)


def payload_class_reduce() -> Any:
    """An instance with __reduce__."""
    return Money(1999, "EUR")


def payload_class_getnewargs() -> Any:
    """A str subclass with an attribute and __getnewargs_ex__."""
    return Token("Lyon", kind="city")


def payload_class_nested() -> Any:
    """An instance of a class that stands inside another class."""
    return Agent.State(7)


def payload_class_generic() -> Any:
    """An instance made through a generic class with its parameter, Box[int](1)."""
    return Box[int](1)


def payload_dict_subclass() -> Any:
    """A dict subclass with an attribute beside its items."""
    value = Metadata(page=3)
    value.source = "handbook.pdf"
    return value


def payload_list_subclass() -> Any:
    """A list subclass with an attribute beside its items."""
    value = History(["hello", "bye"])
    value.limit = 20
    return value


def payload_named_tuple() -> Any:
    """A NamedTuple with a default, which must not become a tuple or a list."""
    return [Turn("user", "hello"), ("user", "hello", 0)]
