"""Faults of real libraries: the table of what is expected, what runs it, and the page that shows it.

`PYTHONPATH=tests python -m support.libraries` writes the table of docs/libraries.md anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from memory_matrix.matrix.read import read
from memory_matrix.toml import tomllib

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "tests" / "integration" / "stores" / "libraries.toml"
PAGE = ROOT / "docs" / "libraries.md"
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"


@dataclass(frozen=True)
class Fault:
    """One fault of a library, by the case that names it."""

    what: str
    matrix: str
    library: str
    store: str
    case: str
    says: str
    """What the case's sentence holds where it fails."""
    outcomes: Mapping[str, str]
    """The outcome at each release."""
    setting: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    by: str = ""
    """The project whose releases decide, where that is not the library but its client."""
    large: bool = False
    """Whether its environments take so much room that it is run only where that is asked for."""

    def expected(self) -> Iterator[tuple[str, str, str]]:
        """Yield each store and release that the case is run on, with its outcome."""
        mended = False
        for release, outcome in self.outcomes.items():
            yield self.store, release, outcome
            mended = mended or release == self.setting.get("since", release)
            if self.setting:
                yield self.setting["store"], release, "passed" if mended else "failed"

    def environment(self, release: str) -> str:
        """Return the name of the one environment of the matrix that pins the release."""
        pinned = f"{self.by or self.library}=={release}"
        (name,) = (name for name, packages in pins(self.matrix).items() if pinned in packages)
        return name


@dataclass(frozen=True)
class SuiteRun:
    """What one command runs: the faults whose stores, releases and cases belong together."""

    matrix: str
    faults: tuple[Fault, ...]

    @property
    def name(self) -> str:
        """Its stores."""
        return "-".join(dict.fromkeys(fault.store for fault in self.faults))

    @property
    def large(self) -> bool:
        """Whether its environments take much room."""
        return self.faults[0].large

    def arguments(self) -> list[str]:
        """Return what follows `memory-matrix`."""
        terms = [
            *(f"store=*:{store}" for fault in self.faults for store, _, _ in fault.expected()),
            *(f"environment={name}" for fault in self.faults for name in _environments(fault)),
            *(f"case={fault.case}" for fault in self.faults),
        ]
        selection = " ".join(dict.fromkeys(terms))
        return ["suite", "-q", "-c", str(ROOT / "matrix" / self.matrix), "--select", selection]

    def problems(self, report: Mapping[str, Any]) -> Iterator[str]:
        """Yield what came otherwise than expected."""
        found = {
            (each["store"].rpartition(":")[2], each["environment"], each["case"]): each
            for each in report["suite"]
        }
        for fault in self.faults:
            for store, release, outcome in fault.expected():
                result = found.get((store, fault.environment(release), fault.case))
                if result is None:
                    yield f"{store} {release} {fault.case}: it was not run"
                elif result["outcome"] != outcome or (
                    outcome == "failed" and fault.says not in result["reason"]
                ):
                    yield f"{store} {release} {fault.case}: {result['outcome']}: {result['reason']}"


def faults() -> list[Fault]:
    """Return the table."""
    return [Fault(**each) for each in tomllib.loads(TABLE.read_text(encoding="utf-8"))["fault"]]


@cache
def pins(matrix: str) -> Mapping[str, tuple[str, ...]]:
    """Return what each environment of a matrix has, by its name."""
    return {each.name: each.packages for each in read(ROOT / "matrix" / matrix).environments}


def runs() -> list[SuiteRun]:
    """Return the runs that the table takes: faults of a matrix together, by their releases."""
    rows: dict[tuple[str, bool, tuple[str, ...]], list[Fault]] = {}
    for each in sorted(faults(), key=lambda fault: -len(fault.outcomes)):
        kind = (each.matrix, each.large)
        among = (key for key in rows if key[:2] == kind and {*each.outcomes} <= {*key[2]})
        rows.setdefault(next(among, (*kind, tuple(each.outcomes))), []).append(each)
    return [SuiteRun(matrix, tuple(found)) for (matrix, _, _), found in rows.items()]


def table(rows: Iterable[Fault]) -> str:
    """Return the table in Markdown."""
    lines = [
        "| library and store | case | fault | outcome by release |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row.library}<br>`{row.store}` | `{row.case}` | {_what(row)} | {_outcomes(row)} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def page(text: str, rows: Sequence[Fault]) -> str:
    """Return the page with the table in its place."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table(rows)}\n{END}{after}"


def _environments(row: Fault) -> list[str]:
    return [row.environment(release) for release in row.outcomes]


def _what(row: Fault) -> str:
    return f"{row.what} ({row.note})" if row.note else row.what


def _outcomes(row: Fault) -> str:
    by = f"{row.by} " if row.by else ""
    lines = [f"{by}{release} {_marked(outcome)}" for release, outcome in row.outcomes.items()]
    if row.setting:
        newest = [*row.outcomes][-1]
        setting = f"`{row.setting['store']}` ({row.setting['with']})"
        lines.append(f"{newest} as {setting} {_marked('passed')}")
    return "<br>".join(lines)


def _marked(outcome: str) -> str:
    return f"**{outcome}**" if outcome == "failed" else outcome


def main() -> None:
    """Write the page."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page(text, faults()), encoding="utf-8")


if __name__ == "__main__":
    main()
