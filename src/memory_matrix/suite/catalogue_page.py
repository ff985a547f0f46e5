"""Say in Markdown what the memory test suite checks, and what a store can declare.

`python -m memory_matrix.suite.catalogue_page FILE` writes it to FILE.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import groupby
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from memory_matrix.stores.policy import Policy
from memory_matrix.suite.catalogue import CaseInfo, cases

INTRODUCTION = """\
# The memory test suite

Cases that a store of agent memory should pass on the server that production runs. Each has a name that
stays the same, and says in one sentence what must hold. A case runs on a place of its own (a Postgres
schema, a Redis key prefix), in any order, and depends on no other.

<!-- made by python -m memory_matrix.suite.catalogue_page docs/suite.md -->

```sh
memory-matrix suite                                            # the matrix file's stores, or the reference stores
memory-matrix suite --store app/memory.py:adapter              # your store: see your-store.md
memory-matrix suite --store app/memory.py:adapter --select 'case=ttl_*'
memory-matrix suite --store app/memory.py:adapter --select 'case=text_nul_in_content'    # one case alone
```

The first line of a failed case says what was expected and what came; below it stands the command that
runs that case alone. Cases run in a new random order each time; `--seed N` repeats an order.

[Your own store](your-store.md) is tested through an adapter of some thirty lines.

## What becomes of a case

| outcome | meaning |
| --- | --- |
| `passed` | the store did what the case expects |
| `failed` | it did something else, raised an error that its callers do not know, or did not come back in time |
| `not-offered` | the adapter lacks a call, or its policy rules the case out; never counted as passed |
| `waived` | it failed, and a waiver in the matrix file expects that until a date |
| `skipped` | what it needs cannot be had here, such as a server that may be restarted |
| `error` | the suite itself failed; that says nothing of the store, and the run does not succeed |

**A waiver** needs a reason and a last day. Once that has passed, or the case fails no more, the run says so:

```toml
[[suite.waiver]]
store = "ChatAdapter"
case = "re_timeout_bounded"
reason = "the driver waits for ever; fixed by its next release"
until = 2027-01-31
```

**Across versions**, the suite runs in every environment and on every server of
[the matrix file](matrix-file.md). `--strategy full` runs every combination, `pairwise` few that hold every
pair of values, `axis-star` the newest of everything and each other value once.

**What can be restarted, stopped or filled up is a server of the case's own**, never the run's, and never
one that was given by URL.

## What a store declares

Where more than one answer is right, a store says which is its own: `policy` of its adapter, a
`memory_matrix.stores.Policy` or a mapping of some of these names. What is not declared is the default. The
report lists every answer, so that one which changes between two releases shows although all cases pass; a
failed case says by which answers it was judged.
"""


def markdown() -> str:
    """Return the page."""
    groups = [
        (letter, list(of_it)) for letter, of_it in groupby(cases(), key=lambda case: case.group)
    ]
    count = sum(len(of_it) for _, of_it in groups)
    return "\n".join(
        [
            INTRODUCTION,
            _policy_table(),
            f"## The cases\n\n{count} cases in {len(groups)} groups.\n",
            *(_group(letter, of_it) for letter, of_it in groups),
        ]
    )


def _policy_table() -> str:
    hints, defaults = get_type_hints(Policy), Policy().lines()
    rows = [
        f"| `{each.name}` | {_answers(hints[each.name])} | {defaults[each.name]} "
        f"| {each.metadata['doc']} |"
        for each in fields(Policy)
    ]
    header = ["| name | answers | default | about |", "| --- | --- | --- | --- |"]
    return "\n".join([*header, *rows]) + "\n"


def _answers(hint: Any) -> str:
    """Return the answers that a type allows, in words."""
    if get_origin(hint) is Literal:
        return ", ".join(f"`{each}`" for each in get_args(hint))
    if NoneType in get_args(hint):
        return f"{_answers(get_args(hint)[0])}, or none"
    if get_origin(hint) is tuple:
        return "least and most" if get_args(hint) == (float, float) else "a list"
    if get_origin(hint) is Mapping:
        return f"for each: {_answers(get_args(hint)[1])}"
    return {bool: "yes, no", int: "a number", float: "a number", str: "a text"}[hint]


def _group(letter: str, of_it: Sequence[CaseInfo]) -> str:
    titles = dict.fromkeys(_title(sys.modules[case.run.__module__].__doc__ or "") for case in of_it)
    lines = [f"- `{case.name}`: {_plain(case.text)}" for case in of_it]
    return "\n".join([f"### {letter}: {'; '.join(titles)}\n", *lines, ""])


def _title(doc: str) -> str:
    """Return what a module's docstring says after the group's letter."""
    return doc.splitlines()[0].partition(": ")[2].rstrip(".")


def _plain(text: str) -> str:
    """Return a sentence on one line, in which nothing is markup but what is in backticks."""
    parts = " ".join(text.split()).split("`")
    parts[::2] = [re.sub(r"([*_\[\]<>])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(markdown(), encoding="utf-8")
