"""Say in Markdown what the built-in corpus holds.

`python -m memory_matrix.payloads.catalogue FILE` writes it between the two marks in FILE.
"""

import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Iterator, List

from memory_matrix.payloads import builtin

START = "<!-- payloads: made by python -m memory_matrix.payloads.catalogue -->\n"
END = "<!-- end of payloads -->\n"


def markdown() -> str:
    """Return a heading and a table of payloads for each theme of the corpus."""
    return "\n".join(_section(theme) for theme in builtin.THEMES)


def refreshed(text: str) -> str:
    """Return `text` with what is between the marks made anew.

    Raises:
        ValueError: a mark is missing.
    """
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError("the marks of the catalogue are missing")
    return before + start + "\n" + markdown() + "\n" + end + after


def _section(theme: ModuleType) -> str:
    rows: List[str] = ["### " + (theme.__doc__ or "").splitlines()[0].rstrip("."), ""]
    rows += ["| payload | feature | compared by |", "| --- | --- | --- |"]
    rows.extend(_rows(theme))
    return "\n".join(rows) + "\n"


def _rows(theme: ModuleType) -> Iterator[str]:
    for name, function in vars(theme).items():
        if name.startswith("payload_"):
            short = name[len("payload_") :]
            probe = vars(theme).get("probe_" + short)
            how = "" if probe is None else "probe: " + _sentence(probe)
            yield "| `{}` | {} | {} |".format(short, _sentence(function), how)


def _sentence(function: object) -> str:
    return " ".join((inspect.getdoc(function) or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(refreshed(file.read_text(encoding="utf-8")), encoding="utf-8")
