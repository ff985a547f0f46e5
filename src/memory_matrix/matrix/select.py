"""`--select EXPR`: a part of the matrix, such as `python=3.12 serializer=pickle,serializer=json`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memory_matrix.errors import UsageError
from memory_matrix.matrix.expand import axis_key
from memory_matrix.matrix.model import EnvironmentSpec, Known, Matrix
from memory_matrix.matrix.patterns import matches, matches_store
from memory_matrix.matrix.problems import did_you_mean, listed, show

Part = Literal["compat", "suite"]
"""What a selection can be about: compat's cells or the suite's."""

PARTS: tuple[Part, ...] = ("compat", "suite")

KEYS = (
    *("environment", "python", "app", "writer", "reader", "serializer", "payload", "server"),
    *("store", "case"),
)
"""What can be selected by, besides the projects among the axes."""

_ABOUT: Mapping[str, Part] = {
    **dict.fromkeys(("writer", "reader", "payload"), PARTS[0]),
    **dict.fromkeys(("store", "case"), PARTS[1]),
}
"""Keys that speak about one part alone."""

_NOT_OF_ENVIRONMENTS = {*KEYS} - {"environment", "python", "app"}
"""Keys that do not say of an environment alone whether it stays."""
_LATER = ("payload", "case")
"""Keys whose values are known only when the run has loaded them."""

_TERM = re.compile(r"(?P<key>[A-Za-z0-9._-]+?)(?P<value>(?:=|[<>!~]=|[<>]).+)", re.DOTALL)


@dataclass(frozen=True)
class Term:
    """One `key=glob`. A specifier may follow its project as it is: `pydantic==1.10.*`."""

    key: str
    patterns: tuple[str, ...]
    """What `text` may mean: any of these globs."""
    text: str

    def allows(self, value: str) -> bool:
        """Return whether the term lets `value` in."""
        fits = matches_store if self.key == "store" else matches
        return any(fits(value, pattern) for pattern in self.patterns)


@dataclass(frozen=True)
class Selection:
    """Terms: those of one key are alternatives, and every key must hold. Without terms, everything."""

    terms: tuple[Term, ...] = ()

    def allows(self, key: str, value: str) -> bool:
        """Return whether a thing stays in whose `key` (`payload`, `writer`, ...) is `value`."""
        terms = [term for term in self.terms if term.key == key]
        return not terms or any(term.allows(value) for term in terms)

    def allows_pair(self, writer: str, reader: str) -> bool:
        """Return whether cells of this pair stay; a writer that stays is also read by itself."""
        return self.allows("writer", writer) and (writer == reader or self.allows("reader", reader))

    def allows_on(self, servers: Iterable[str], serializer: str | None) -> bool:
        """Return whether suite cells stay that run on these servers with this serializer.

        One of the servers has to be selected; None, a store's own serializer, never is.
        """
        on_server = any(self.allows("server", server) for server in servers)
        with_serializer = serializer is not None and self.allows("serializer", serializer)
        return (on_server or not self.patterns("server")) and (
            with_serializer or not self.patterns("serializer")
        )

    def about(self, part: Part) -> Selection:
        """Return the selection without the terms that speak about another part alone."""
        return Selection(tuple(term for term in self.terms if _speaks(term.key, part)))

    def patterns(self, key: str) -> list[str]:
        """Return the globs of `key`, any of which lets a value in; none lets everything in."""
        return [pattern for term in self.terms if term.key == key for pattern in term.patterns]

    def __str__(self) -> str:
        return " ".join(_quoted(term.text) for term in self.terms)


def _quoted(text: str) -> str:
    """Return a term as both a shell and `parse` take it for one; a comma ends a term for `parse` alone."""
    quoted = shlex.quote(text)
    return f"'{text}'" if quoted == text and "," in text else quoted


def parse(text: str) -> Selection:
    """Return the selection that `text` says: `key=glob` terms, separated by commas or spaces.

    Which keys there are depends on the matrix, so `narrow` checks them.

    Raises:
        UsageError: a term is no `key=glob`, or a quote is not closed.
    """
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace += ","
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.escape = ""
    try:
        return Selection(tuple(map(_term, lexer)))
    except ValueError:
        raise UsageError(f"--select {show(text)}: a quote is not closed; close it.") from None


def narrow(matrix: Matrix, selection: Selection, part: Part = "compat") -> Matrix:
    """Return what `part` needs of the matrix; payloads and cases are selected when they are known.

    Raises:
        UsageError: there is no such key, or it speaks about another part; a term matches nothing, or
            all terms together leave nothing.
    """
    _check(selection, matrix, (part,))
    return _NARROWED[part](matrix, selection)


def narrow_parts(matrix: Matrix, selection: Selection) -> dict[Part, Matrix]:
    """Return what each part needs of the matrix, for a run of all of them.

    A term that speaks about several parts has to match something in one of them. Where it matches
    nothing in another one, that part is left without serializers or cells.

    Raises:
        UsageError: there is no such key, a term matches nothing, or all terms together leave nothing.
    """
    _check(selection, matrix, PARTS)
    return {part: _NARROWED[part](matrix, selection.about(part)) for part in PARTS}


def _for_compat(matrix: Matrix, selection: Selection) -> Matrix:
    """Return the matrix with the environments that are writers or readers of what is selected.

    Expected breaks that nothing left can show are left out.
    """
    serializers = tuple(
        name for name in matrix.compat.serializers if selection.allows("serializer", name)
    )
    narrowed = replace(
        matrix,
        environments=_environments(matrix, selection),
        compat=replace(matrix.compat, serializers=serializers),
        servers=tuple(each for each in matrix.servers if selection.allows("server", each.name)),
    )
    return replace(narrowed, known=tuple(_possible(narrowed, selection)))


def _for_suite(matrix: Matrix, selection: Selection) -> Matrix:
    """Return the matrix with the stores, serializers and environments that are selected.

    Where no server of a kind is selected, all of that kind stay, for stores that need both kinds.
    """
    suite = replace(
        matrix.suite,
        stores=tuple(each for each in matrix.suite.stores if selection.allows("store", each)),
        serializers=tuple(
            each for each in matrix.suite.serializers if selection.allows("serializer", each)
        ),
    )
    named = {each for each in matrix.servers if selection.allows("server", each.name)}
    kinds = {each.kind for each in named}
    servers = tuple(each for each in matrix.servers if each in named or each.kind not in kinds)
    environments = _environments(matrix, selection)
    return replace(matrix, environments=environments, suite=suite, servers=servers)


_NARROWED: Mapping[Part, Callable[[Matrix, Selection], Matrix]] = {
    "compat": _for_compat,
    "suite": _for_suite,
}


def _environments(matrix: Matrix, selection: Selection) -> tuple[EnvironmentSpec, ...]:
    if not selection.terms:
        return matrix.environments
    environments = tuple(each for each in matrix.environments if _needed(each, selection))
    if matrix.environments and not environments:
        names = listed(_values(matrix, "environment", ()))
        raise UsageError(f"--select {selection} leaves no environment; there are {names}.")
    return environments


def _term(text: str) -> Term:
    parts = _TERM.fullmatch(text)
    if parts is None:
        raise UsageError(
            f"--select {show(text)}: this is no key=glob, such as python=3.12; quote a value that has "
            f"commas or spaces in it. Keys are {', '.join(KEYS)} and the projects among the axes."
        )
    value = parts["value"]
    patterns = [value[1:]] if value.startswith("=") else []
    patterns += [value] if not patterns or value.startswith("==") else []
    return Term(axis_key(parts["key"]), tuple(patterns), text)


def _check(selection: Selection, matrix: Matrix, parts: Sequence[Part]) -> None:
    known = [*KEYS, *_projects(matrix)]
    keys = [key for key in known if any(_speaks(key, part) for part in parts)]
    for term in selection.terms:
        if term.key not in keys:
            raise UsageError(_no_such_key(term, known, keys, parts))
        values = _values(matrix, term.key, parts)
        if term.key not in _LATER and not any(map(term.allows, values)):
            there_are = f"there are {listed(values)}" if values else "the matrix has none"
            raise UsageError(
                f"--select {show(term.text)} matches no {term.key}; {there_are}."
                f"{did_you_mean(term.patterns[0], values)}"
            )


def _no_such_key(
    term: Term, known: Sequence[str], keys: Sequence[str], parts: Sequence[Part]
) -> str:
    there_are = f"there are {', '.join(keys)}"
    if term.key in known:
        what = f"{term.key} speaks about {_ABOUT[term.key]} only; for {' and '.join(parts)}"
        return f"--select {show(term.text)}: {what}, {there_are}."
    hint = did_you_mean(term.key, keys)
    return f"--select {show(term.text)}: there is no key {show(term.key)}; {there_are}.{hint}"


def _speaks(key: str, part: Part) -> bool:
    """Return whether terms of this key say something about `part`."""
    return _ABOUT.get(key, part) == part


def _projects(matrix: Matrix) -> list[str]:
    keys = dict.fromkeys(key for each in matrix.environments for key, _ in each.values)
    return [key for key in keys if key not in KEYS]


def _values(matrix: Matrix, key: str, parts: Sequence[Part]) -> list[str]:
    """Return what there is to select from by `key`, each once, in the order of the matrix."""
    if key == "serializer":
        serializers = {"compat": matrix.compat.serializers, "suite": matrix.suite.serializers}
        return list(dict.fromkeys(name for part in parts for name in serializers[part]))
    if key == "store":
        return list(matrix.suite.stores)
    if key == "server":
        return [server.name for server in matrix.servers]
    key = "environment" if key in {"writer", "reader"} else key
    facts = map(_facts, matrix.environments)
    return list(dict.fromkeys(each[key] for each in facts if key in each))


def _facts(spec: EnvironmentSpec) -> dict[str, str]:
    """Return what an environment can be selected by."""
    app = {} if spec.app is None else {"app": spec.app}
    return {**dict(spec.values), **app, "environment": spec.name, "python": spec.python}


def _needed(spec: EnvironmentSpec, selection: Selection) -> bool:
    facts = _facts(spec)
    keys = {term.key for term in selection.terms} - _NOT_OF_ENVIRONMENTS
    if not all(key in facts and selection.allows(key, facts[key]) for key in keys):
        return False
    return selection.allows("writer", spec.name) or selection.allows("reader", spec.name)


def _possible(matrix: Matrix, selection: Selection) -> Iterator[Known]:
    names = [spec.name for spec in matrix.environments]
    writers = [name for name in names if selection.allows("writer", name)]
    readers = [name for name in names if selection.allows("reader", name)]
    for entry in matrix.known:
        if (
            any(matches(name, entry.writer) for name in writers)
            and any(matches(name, entry.reader) for name in readers)
            and any(matches(name, entry.serializer) for name in matrix.compat.serializers)
            and (_is_glob(entry.payload) or selection.allows("payload", entry.payload))
        ):
            yield entry


def _is_glob(text: str) -> bool:
    return any(character in text for character in "*?[")
