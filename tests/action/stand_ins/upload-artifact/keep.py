"""Keep a folder as an artifact: hidden files are left out, a name can be used once."""

import os
import re
import shutil
import sys
from pathlib import Path

kept = Path(os.environ["STAND_IN_ARTIFACTS"])
name, folder = os.environ["NAME"], Path(os.environ["FOLDER"])


def visible(path: Path) -> bool:
    return not any(part.startswith(".") for part in (folder.name, *path.relative_to(folder).parts))


if name in os.environ.get("STAND_IN_LOST", "").split():
    sys.exit(f"::error::the runner of {name} was lost")
if not name or re.search(r'["<>:|*?\r\n\\/]', name):
    sys.exit(f"::error::the artifact name is not valid: {name!r}")
files = [path for path in sorted(folder.rglob("*")) if path.is_file() and visible(path)]
if not files:
    print(f"::{os.environ['WHERE_EMPTY']}::no files in {folder}")
    sys.exit(os.environ["WHERE_EMPTY"] == "error")
try:
    (kept / name).mkdir(parents=True)
except FileExistsError:
    sys.exit(f"::error::(409) Conflict: this run has an artifact {name!r} already")
for path in files:
    target = kept / name / path.relative_to(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
number = len(list(kept.iterdir()))
with Path(os.environ["GITHUB_OUTPUT"]).open("a") as outputs:
    print(f"artifact-id={number}", file=outputs)
    print(f"artifact-url=https://example.invalid/artifacts/{number}", file=outputs)
