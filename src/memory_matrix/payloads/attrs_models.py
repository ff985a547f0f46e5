"""The attrs classes of the corpus, in the spelling that every release of attrs has."""

import attr


@attr.s
class Message:
    """A plain attrs class."""

    role: str = attr.ib()
    content: str = attr.ib(default="")


@attr.s(slots=True)
class Step:
    """Slots of one type, so that swapped fields would show."""

    tool: str = attr.ib()
    result: str = attr.ib()


@attr.s(frozen=True)
class Fact:
    """A frozen attrs class: hashable, no attribute can be set."""

    subject: str = attr.ib()
    confidence: float = attr.ib(default=1.0)


@attr.s(slots=True, frozen=True)
class Source:
    """A frozen attrs class with slots."""

    url: str = attr.ib()
    page: int = attr.ib()
