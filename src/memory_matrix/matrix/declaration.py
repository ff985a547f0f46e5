"""The format of the matrix file, declared once: `FILE` checks a file and makes its JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import get_args

from memory_matrix.matrix import rules, sources
from memory_matrix.matrix.model import (
    CURRENT_PYTHON,
    CompatOptions,
    ServerKind,
    Strategy,
    SuiteOptions,
)
from memory_matrix.matrix.shapes import Choice, Day, Items, Number, Open, Shape, Table, Text

_DEFAULT = CompatOptions()
_SUITE = SuiteOptions()
_PROJECT = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"

_PYTHON = Text(
    allowed='a version such as "3.12"',
    rule=rules.python,
    doc='A version ("3.12", "3.12.1"), "current", or the path of an interpreter.',
)
_APP = Text(
    allowed='"." or "git:REF"',
    pattern=r"\.|git:.+",
    rule=rules.app,
    doc='The project itself: "." as it stands, or "git:REF".',
)

AXES = Table(
    doc="Every combination of these values is one environment. Their order is age: oldest first.",
    keys={
        "python": Items(item=_PYTHON, at_least=1, doc="Interpreters, oldest first."),
        "app": Items(item=_APP, at_least=1, doc="States of the project itself, oldest first."),
        "packages": Open(
            doc="PyPI project = version specifiers, oldest first.",
            key=Text(allowed="the name of a PyPI project", pattern=_PROJECT, rule=rules.project),
            identity=rules.project_identity,
            value=Items(
                item=Text(
                    allowed='a version specifier such as ">=2,<3"',
                    pattern=r"[^\x00-\x1f\x7f]*",
                    rule=rules.specifier,
                ),
                identity=rules.specifier_identity,
                at_least=1,
            ),
            at_least=1,
        ),
    },
    one_of=("python", "app", "packages"),
    elsewhere={
        "serializer": "serializers are listed in [compat] as serializers.",
        "serializers": "serializers are listed in [compat].",
        "postgres": "servers are listed in [servers].",
        "redis": (
            "servers are listed in [servers], and versions of the client in [axes.packages]."
        ),
    },
)

EXCLUDE = Items(
    doc="Combinations to leave out: those that have every value an entry names.",
    item=Open(
        key=Text(allowed="an axis"),
        identity=rules.project_identity,
        value=Text(allowed="one of the axis' values", pattern=r"[^\x00-\x1f\x7f]*"),
        at_least=1,
    ),
)

ENVIRONMENT = Items(
    doc="Environments with names of their own, oldest first.",
    at_least=1,
    item=Table(
        keys={
            "name": Text(
                allowed="a name without white space around it",
                pattern=r"[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?",
                doc="What reports call it.",
            ),
            "python": Text(
                allowed=_PYTHON.allowed, rule=rules.python, doc=_PYTHON.doc, default=CURRENT_PYTHON
            ),
            "app": _APP,
            "packages": Items(
                item=Text(
                    allowed='a requirement such as "pydantic==2.5.3"', rule=rules.requirement
                ),
                doc="Requirements, as pip takes them.",
            ),
            "path": Items(
                item=Text(allowed="a folder", rule=rules.folder),
                doc="Folders put in front of sys.path, in this environment only.",
            ),
            "env": Open(
                doc="Variables set in this environment only.",
                key=Text(allowed='a name without "="', pattern=r"[^=\x00]+"),
                value=Text(
                    allowed="a string without a NUL character",
                    pattern=r"[^\x00]*",
                    secret=True,
                    longest=131071,
                ),
            ),
        },
        required=("name",),
    ),
)

_SERIALIZER = Text(
    allowed="a built-in name, file.py:object or module:object", rule=rules.serializer
)

COMPAT = Table(
    doc="What is written and read, and what makes the run fail.",
    keys={
        "serializers": Items(
            item=_SERIALIZER,
            at_least=1,
            doc="Built-in names, file.py:object or module:object.",
            default=_DEFAULT.serializers,
        ),
        "payloads": Items(
            item=Text(allowed='"builtin", a Python file or a module', rule=rules.payloads),
            at_least=1,
            doc='"builtin", Python files and modules.',
            default=_DEFAULT.payloads,
        ),
        "fail-on": Choice(
            words=("new-breaks", "break", "drifted", "changed", "never"),
            doc="Fail on that and on what is worse; new-breaks: on what a baseline had not.",
            default=_DEFAULT.fail_on,
        ),
        "directions": Items(
            item=Choice(words=("backward", "forward", "sideways")),
            at_least=1,
            doc="Which breaks fail the run.",
            default=_DEFAULT.directions,
        ),
        "timeout": Number(
            unit="seconds",
            above=True,
            maximum=86400,
            doc="Seconds for one cell.",
            default=_DEFAULT.timeout,
        ),
        "memory": Number(
            unit="MiB",
            whole=True,
            minimum=16,
            maximum=16777216,
            doc="MiB that one cell may take.",
            default=_DEFAULT.memory,
        ),
    },
)

_EXPECTED = ("writer", "reader", "serializer", "payload")
_WAIVED = ("store", "case", "environment", "server")


def _globs(words: Iterable[str]) -> dict[str, Shape]:
    """Return a key for each word: a glob of what the word names."""
    return {
        word: Text(
            allowed="a name or a glob", rule=rules.not_blank, doc=f"The {word}: a name or a glob."
        )
        for word in words
    }


_REASON = Text(
    allowed="a reason", pattern=r"[^\x00]+", rule=rules.not_blank, doc="Why it is expected."
)

KNOWN = Items(
    doc="Breaks that are expected.",
    item=Table(
        keys={
            **_globs(_EXPECTED),
            "reason": _REASON,
            "until": Day(doc="The last day on which it is expected."),
        },
        required=("reason",),
        one_of=_EXPECTED,
    ),
)

WAIVER = Items(
    doc="Cases of the suite that are expected to fail.",
    item=Table(
        keys={
            **_globs(_WAIVED),
            "reason": _REASON,
            "until": Day(doc="The last day on which it holds."),
        },
        required=("reason", "until"),
        one_of=("store", "case"),
    ),
)


def _servers(kind: ServerKind, title: str) -> Shape:
    return Items(
        item=Text(
            allowed="image:NAME:TAG, wheel:PROJECT==VERSION, bin:PATH or a URL",
            rule=partial(sources.problems, kind),
        ),
        identity=sources.identity,
        doc=f"{title} servers: image:NAME:TAG, wheel:PROJECT==VERSION, bin:PATH or a URL.",
        default=sources.EMBEDDED[kind],
    )


SERVERS = Table(
    doc="The servers that keep the bytes. Without this table, those of the default wheels.",
    keys={"postgres": _servers("postgres", "Postgres"), "redis": _servers("redis", "Redis")},
    elsewhere={"valkey": "list it as redis.", "postgresql": "list it as postgres."},
)

SUITE = Table(
    doc="The memory test suite.",
    keys={
        "stores": Items(
            item=Text(allowed="a store, module:object or file.py:object", rule=rules.store),
            at_least=1,
            doc="Stores under test: module:object or file.py:object.",
            default=_SUITE.stores,
        ),
        "serializers": Items(
            item=_SERIALIZER,
            doc="For stores that take one; none means each store's own default.",
            default=_SUITE.serializers,
        ),
        "strategy": Choice(
            words=get_args(Strategy),
            doc="Which combinations of the matrix are run: all of them, or fewer.",
            default=_SUITE.strategy,
        ),
        "timeout": Number(
            unit="seconds",
            above=True,
            maximum=86400,
            doc="Seconds for one case.",
            default=_SUITE.timeout,
        ),
        "waiver": WAIVER,
    },
    elsewhere={
        "waivers": "each one is a table of its own, [[suite.waiver]].",
        "postgres": "servers are listed in [servers].",
        "redis": "servers are listed in [servers].",
    },
)

FILE = Table(
    doc="A matrix of environments and servers for memory-matrix.",
    keys={
        "axes": AXES,
        "exclude": EXCLUDE,
        "environment": ENVIRONMENT,
        "compat": COMPAT,
        "known": KNOWN,
        "servers": SERVERS,
        "suite": SUITE,
    },
    one_of=("axes", "environment", "suite"),
    nothing=(
        'it names no environment; add axes, such as python = ["3.11", "3.13"] in [axes], or an '
        "[[environment]] with a name for each environment; only [suite] can do without, and then runs in "
        "this Python"
    ),
    elsewhere={
        "environments": "each one is a table of its own, [[environment]].",
        "tool": "[tool.memory-matrix] is for pyproject.toml; here, leave tool.memory-matrix out.",
        "python": "it belongs in [axes].",
        "packages": "it belongs in [axes].",
        "serializers": "it belongs in [compat].",
        "payloads": "it belongs in [compat].",
        "stores": "it belongs in [suite].",
        "strategy": "it belongs in [suite].",
        "waiver": "each one is a table of [suite], [[suite.waiver]].",
    },
)
