"""Bring the artifacts whose names match the pattern, in one folder each."""

import os
import re
import shutil
from fnmatch import fnmatchcase
from pathlib import Path

kept, target = Path(os.environ["STAND_IN_ARTIFACTS"]), Path(os.environ["TARGET"])


def alternatives(pattern: str) -> list[str]:
    found = re.fullmatch(r"(.*?)\{(.*?)\}(.*)", pattern)
    return [found[1] + each + found[3] for each in found[2].split(",")] if found else [pattern]


target.mkdir(parents=True, exist_ok=True)
patterns = alternatives(os.environ["PATTERN"])
for artifact in sorted(kept.iterdir()) if kept.is_dir() else []:
    if any(fnmatchcase(artifact.name, pattern) for pattern in patterns):
        shutil.copytree(artifact, target / artifact.name)
