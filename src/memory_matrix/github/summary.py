"""A report as a job summary: what was found first, what is long folded away, the rest pointed to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from memory_matrix.report import markdown
from memory_matrix.report.appending import append_whole
from memory_matrix.report.markup import Section, code, fitted, prose, size
from memory_matrix.report.model import Report

LIMIT = 1_000_000
"""Bytes of a step's summary: GitHub refuses the whole of one above 1 MiB."""
LEAST = 4_000
"""Bytes that the verdict needs."""
MOST_ITEMS = 10
"""Items of a section that are not folded away."""
MOST_ROWS = 40
"""Rows of a table that are not folded away."""
_TITLE = 200
_PATH = 400


@dataclass(frozen=True)
class Pointer:
    """Where the whole report is."""

    folder: str
    artifact: str = ""
    """The name of the artifact that the workflow makes of the folder; empty for none."""
    artifacts: str = ""
    """The page with the artifacts of this run; empty where it is not known."""

    @classmethod
    def of(cls, folder: Path, artifact: str, environ: Mapping[str, str]) -> Pointer:
        """Return where the report in `folder` is found, as the runner's variables say."""
        names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
        server, repository, run = (environ.get(name, "") for name in names)
        known = server.startswith("https://") and repository and run
        page = f"{server}/{quote(repository)}/actions/runs/{quote(run)}#artifacts"
        return cls(str(folder), artifact, page if known else "")

    def in_markdown(self) -> str:
        """Return a sentence on it."""
        where = f"The whole report is in the folder {code(self.folder, _PATH)}"
        if not self.artifact:
            return f"\n{where}.\n"
        of_run = f"[artifact]({self.artifacts})" if self.artifacts else "artifact"
        return f"\n{where} and in the {of_run} {code(self.artifact, _TITLE)} of this run.\n"


def render(report: Report, pointer: Pointer, *, title: str = "", limit: int = LIMIT) -> str:
    """Return the summary as GitHub-flavoured Markdown of at most `limit` bytes, at least `LEAST`."""
    heading = f"# {prose(title, _TITLE)}\n\n" if title else ""
    head, foot = f"{heading}{markdown.head(report)}", pointer.in_markdown()
    compat, suite, packages = markdown.sections(report)
    (compat, rest), (suite, suite_rest) = _shortened(compat), _shortened(suite)
    asides = [each for each in (*rest, *suite_rest, *packages) if each.aside]
    others = [each for each in (*rest, *suite_rest) if not each.aside]
    room = limit - len(f"{head}{foot}".encode(errors="replace"))
    first = fitted(compat, room - min(size(suite), room // 2))
    last = [replace(each, is_folded=True) for each in (*others, *asides)]
    return head + first + fitted([*suite, *last], room - len(first.encode())) + foot


def _shortened(sections: Sequence[Section]) -> tuple[list[Section], list[Section]]:
    """Return the sections as they are read, and what of them is to be folded away."""
    asides = [each for each in sections if each.aside]
    parts = [_parted(each) for each in sections if not each.aside]
    rests = chain.from_iterable(rest for _, rest in parts)
    return [first for first, _ in parts], [*rests, *asides]


def _parted(section: Section) -> tuple[Section, list[Section]]:
    most = MOST_ROWS if section.columns else MOST_ITEMS
    rest = section.items[most:]
    if not rest:
        return section, []
    title = f"{section.title}: {len(rest):,} more"
    return replace(section, items=section.items[:most]), [replace(section, title=title, items=rest)]


def room_in(path: Path) -> int:
    """Return the bytes that may be added to the summary at `path`."""
    return LIMIT - (path.stat().st_size if path.exists() else 0)


def append(path: Path, text: str) -> None:
    """Add `text` to the summary at `path`: whole, or not at all.

    Raises:
        OSError: it cannot be written.
    """
    with path.open("ab", buffering=0) as file:
        append_whole(file.fileno(), f"{text}\n".encode(errors="backslashreplace"))
